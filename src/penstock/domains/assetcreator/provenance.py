"""Provenance: where a version comes from, kept with it and inside its files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.domains.assetcreator.model import Job, Project, Step
from penstock.domains.assetcreator.orders import request_of
from penstock.schema.kinds import instant_text


def provenance_of(project: Project, job: Job, version: int, runs: Sequence[Step]) -> dict[str, Any]:
    """All that led to a version of an asset: what was asked for, who made each part, and who was content with it.

    The runs come in the order of their stages.
    """
    request = request_of(job)
    return {
        "generator": "penstock",
        "project_id": job.project_id,
        "job_id": job.job_id,
        "asset_id": job.asset_id,
        "asset_type": job.asset_type.value,
        "version": version,
        "parent_version": request.parent,
        "prompt": request.prompt.model_dump(),
        "constraints": request.constraints.model_dump(mode="json"),
        "style_profile": project.style_profile,
        "seed": request.seed,
        "notes": request.notes,
        "steps": [_run(step) for step in runs],
    }


def _run(step: Step) -> dict[str, Any]:
    told: dict[str, Any] = {
        "step": step.step_name.value,
        "run": step.round,
        "at": instant_text(step.ts, 6),
        "maker": step.metrics.get("maker"),
        "maker_version": step.metrics.get("maker_version"),
        "seed": step.metrics.get("seed"),
        "status": step.status.value,
    }
    if step.approved_by is not None and step.decided_at is not None:
        told |= {"decided_by": step.approved_by, "decided_at": instant_text(step.decided_at, 0), "notes": step.notes}
    return told
