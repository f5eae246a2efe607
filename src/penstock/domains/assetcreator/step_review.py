"""How people look at the run of a stage, and at the versions of an asset."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.domains.assetcreator import jobs, reviews
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.model import Asset, AssetVersion, Job, Step
from penstock.domains.assetcreator.stages import Status
from penstock.review.reviewable import (
    ChoiceKind,
    MadeChoice,
    ReasonNeed,
    Reviewable,
    ReviewChoice,
    ReviewFile,
    in_query,
)
from penstock.work.domain_context import DomainContext


def _artifacts(context: DomainContext, step: Step) -> Iterable[ReviewFile]:
    return _by_name(step.artifacts)


def _version_files(context: DomainContext, version: AssetVersion) -> Iterable[ReviewFile]:
    return _by_name(version.files)


def _by_name(keys: list[str]) -> Iterable[ReviewFile]:
    """Files by their names, which are the same in each run; of two with one name, the first has it."""
    seen: set[str] = set()
    for key in keys:
        name = key.rpartition("/")[2]
        if name not in seen:
            seen.add(name)
            yield ReviewFile(name, key, title=name)


def _studio(made: MadeChoice) -> AssetStudio:
    return AssetStudio.within(made.context).used_by(made.caller)


def _about(made: MadeChoice) -> dict[str, Any]:
    """What a decision is about: this run, and the very files that were seen."""
    step: Step = made.record
    seen = {"round": step.round, "checksums": reviews.checksums_of(step)}
    return {**seen, "notes": made.reason, "by": made.caller.name}


def _approve(made: MadeChoice) -> None:
    reviews.approve(_studio(made), made.record.job_id, **_about(made))


def _make_again(made: MadeChoice) -> None:
    reviews.reject(_studio(made), made.record.job_id, **_about(made))


def _give_up(made: MadeChoice) -> None:
    jobs.cancel(_studio(made), made.record.job_id, by=made.caller.name, why=made.reason)


def _waits(step: Step) -> bool:
    return step.status is Status.PAUSED


def _review_route(step: Step) -> str:
    return f"POST /api/ac/jobs/{step.job_id}/review"


def _body(decision: str) -> Any:
    def told(step: Step) -> dict[str, Any]:
        return {"decision": decision, "round": step.round, "checksums": reviews.checksums_of(step)}

    return told


_CHOICES = (
    ReviewChoice(
        *(ChoiceKind.APPROVE, "Approve", _approve),
        when=_waits,
        route=_review_route,
        body=_body("approved"),
        reason_field="notes",
    ),
    ReviewChoice(
        *(ChoiceKind.REQUEST_CHANGES, "Make it again", _make_again),
        when=_waits,
        route=_review_route,
        body=_body("rejected"),
        reason_field="notes",
    ),
    ReviewChoice(
        *(ChoiceKind.REJECT, "Give the job up", _give_up),
        when=_waits,
        route=lambda step: f"POST /api/ac/jobs/{step.job_id}/cancel",
        reason=ReasonNeed.OPTIONAL,
    ),
)

REVIEWS = (
    Reviewable(
        Step,
        files=_artifacts,
        versions=lambda step: Step.of_job(job_id=step.job_id, step_name=step.step_name).reversed(),
        queue=in_query(lambda step: Step.reviews_of_project(project_id=step.project_id)),
        choices=_CHOICES,
        title=lambda step: f"{step.step_name.value}, run {step.round}",
        within=lambda step: Job.at(project_id=step.project_id, job_id=step.job_id),
    ),
    Reviewable(
        AssetVersion,
        files=_version_files,
        versions=lambda version: AssetVersion.of_asset(project_id=version.project_id, asset_id=version.asset_id),
        title=lambda version: f"version {version.version}",
        within=lambda version: Asset.at(project_id=version.project_id, asset_id=version.asset_id),
    ),
    Reviewable(Job, title=lambda job: str(((job.request or {}).get("prompt") or {}).get("core_concept") or job.job_id)),
    Reviewable(Asset, title=lambda asset: asset.name or asset.asset_id),
)
