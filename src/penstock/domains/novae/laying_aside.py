"""Laying aside: a file that is not valid is kept for a person, with all that is known of it and a plot of what could be
read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from penstock.domains.novae.dataset_files import FileKeeper
from penstock.domains.novae.dataset_science import DatasetScience, JudgedFile
from penstock.domains.novae.nova_files import QUARANTINED
from penstock.domains.novae.verdicts import DatasetOutcome


def lay_aside(
    keeper: FileKeeper,
    science: DatasetScience,
    path: Path,
    judged: JudgedFile,
    outcome: DatasetOutcome,
    *,
    folder: Path,
) -> DatasetOutcome:
    """Put the file, its context and a picture, made in an empty folder, under quarantine/; the outcome, with where they
    lie."""
    context = folder / "context.json"
    context.write_text(json.dumps(_context(keeper, judged, outcome), indent=1, sort_keys=True, default=str))
    files = [(path, f"primary{_ending(path)}"), (context, "context.json")]
    picture = folder / "preview.png"
    if science.picture(judged, keeper.dataset, picture, title=path.name):
        files.append((picture, "preview.png"))
    # The run's own moment, so that an attempt that comes by again lays the same aside in the same place.
    moment = f"{keeper.work.task.created_at:%Y%m%dT%H%M%SZ}"
    pattern = QUARANTINED[keeper.dataset.dataset_type]
    kept = [keeper.keep(file, pattern, f"{moment}/{name}").s3_key for file, name in files]
    return replace(outcome, evidence=tuple(kept))


def _context(keeper: FileKeeper, judged: JudgedFile, outcome: DatasetOutcome) -> dict[str, object]:
    dataset = keeper.dataset
    return {
        "nova_id": dataset.nova_id,
        "dataset_id": dataset.dataset_id,
        "provider": dataset.provider,
        "provider_identity": dataset.provider_identity,
        "locators": dataset.locators,
        "hints": dataset.hints,
        "said": dataset.said,
        "validation_status": outcome.status.value,
        "code": outcome.code,
        "details": outcome.details,
        "profile_selection": judged.selection,
        "summary": judged.summary,
        "evidence": judged.evidence,
        "sha256": outcome.file.get("sha256"),
    }


def _ending(path: Path) -> str:
    return path.suffix if path.suffix else ".fits"
