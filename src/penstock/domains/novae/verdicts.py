"""Verdicts: what a dataset proved to be becomes true in one commit, with the line at the desk and what others are told.

Every verdict stays readable under the fingerprint of what it is about, also when other bytes take their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from penstock.astronomy.judgement import FileFinding, FileVerdict
from penstock.domains.novae.data_records import DatasetVerdict, QuarantineEntry
from penstock.domains.novae.dataset_lease import HeldDataset
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.states import DatasetType, ValidationStatus
from penstock.kernel.change import Change
from penstock.schema.documents import kept

_LONGEST = 500
_EVENTS = {
    (DatasetType.SPECTRA, ValidationStatus.VALID): "spectrum.validated",
    (DatasetType.PHOTOMETRY, ValidationStatus.VALID): "photometry.ingested",
}


@dataclass(frozen=True, slots=True)
class DatasetOutcome:
    """What a run found out about a dataset."""

    status: ValidationStatus
    fingerprint: str
    code: str | None = None
    details: dict[str, Any] | None = None
    selection: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
    file: Mapping[str, Any] = field(default_factory=dict)
    "sha256, byte_length, etag, fits_checksum, header_signature and raw_key."
    artifacts: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


def told_finding(finding: FileFinding | None) -> dict[str, Any]:
    """A finding as it is kept."""
    if finding is None:
        return {"reason": "nobody knows why"}
    return {"reason": finding.message, **finding.details}


def status_of(verdict: FileVerdict) -> ValidationStatus:
    """A verdict of science in the documents' words, which are the same."""
    return ValidationStatus(verdict.value)


def record(
    change: Change, dataset: Dataset, held: HeldDataset, outcome: DatasetOutcome, *, run: UUID
) -> DatasetVerdict:
    """End the work on a dataset with what it proved to be; refused if the lease is lost meanwhile."""
    verdict = _verdict_of(change, dataset, outcome, run)
    change.put(verdict)
    return settle(change, dataset, held, verdict)


def settle(change: Change, dataset: Dataset, held: HeldDataset, verdict: DatasetVerdict) -> DatasetVerdict:
    """Have a dataset be what a verdict says, one just made or a former one about the same bytes."""
    now = change.store.clock.now()
    change.track(dataset)
    for name in ("sha256", "byte_length", "etag", "fits_checksum", "header_signature", "raw_key", "summary"):
        setattr(dataset, name, getattr(verdict, name))
    dataset.artifacts, dataset.fingerprint = list(verdict.artifacts), verdict.fingerprint
    dataset.validated_at = dataset.updated_at = now
    if verdict.validation_status is ValidationStatus.VALID:
        dataset.accept(profile=verdict.profile_selection)
    elif verdict.validation_status is ValidationStatus.QUARANTINED:
        dataset.quarantine(
            code=verdict.code or "UNKNOWN", details=verdict.details or {}, profile=verdict.profile_selection
        )
        dataset.quarantined_at, dataset.quarantined_for = now, dataset.nova_id
        change.put(_entry_of(dataset))
    else:
        dataset.profile_selection = verdict.profile_selection
        dataset.reject(code=verdict.code or "UNKNOWN", details=verdict.details)
    # The lease is the guard; that it was renewed meanwhile is no reason to refuse.
    change.overwrite(dataset, when=held.holds())
    change.emit(_event_of(dataset, verdict), dataset, **_told(dataset, verdict))
    return verdict


def _verdict_of(change: Change, dataset: Dataset, outcome: DatasetOutcome, run: UUID) -> DatasetVerdict:
    return DatasetVerdict(
        nova_id=dataset.nova_id,
        dataset_id=dataset.dataset_id,
        fingerprint=outcome.fingerprint,
        validation_status=outcome.status,
        judged_at=change.store.clock.now(),
        job_run_id=run,
        edition=(dataset.product or {}).get("edition"),
        code=outcome.code,
        details=outcome.details,
        profile_selection=outcome.selection,
        said=dataset.said,
        summary=outcome.summary,
        artifacts=list(outcome.artifacts),
        evidence=list(outcome.evidence),
        **outcome.file,
    )


def _entry_of(dataset: Dataset) -> QuarantineEntry:
    assert dataset.quarantined_at is not None, "it was just put aside"
    return QuarantineEntry(
        quarantined_at=dataset.quarantined_at,
        dataset_id=dataset.dataset_id,
        nova_id=dataset.quarantined_for or dataset.nova_id,
        dataset_type=dataset.dataset_type,
        provider=dataset.provider,
        reason_code=dataset.quarantine_reason_code or "UNKNOWN",
        reason=kept(str((dataset.quarantine_details or {}).get("reason", "")), _LONGEST),
        file_name=kept(dataset.file_name, _LONGEST) if dataset.file_name else None,
    )


def leave_desk(change: Change, dataset: Dataset) -> None:
    """Take the line of a dataset out of what waits; before it is moved, which forgets since when it did."""
    if dataset.quarantined_at is not None:
        change.delete(
            QuarantineEntry.at(
                quarantined_at=dataset.quarantined_at,
                dataset_id=dataset.dataset_id,
                nova_id=dataset.quarantined_for or dataset.nova_id,
            )
        )


def _event_of(dataset: Dataset, verdict: DatasetVerdict) -> str:
    usual = f"dataset.{verdict.validation_status.value.lower()}"
    return _EVENTS.get((dataset.dataset_type, verdict.validation_status), usual)


def _told(dataset: Dataset, verdict: DatasetVerdict) -> dict[str, Any]:
    return {
        "nova_id": str(dataset.nova_id),
        "dataset_id": str(dataset.dataset_id),
        "provider": dataset.provider,
        "validation_status": verdict.validation_status.value,
        "code": verdict.code,
        "sha256": verdict.sha256,
        "job_run_id": None if verdict.job_run_id is None else str(verdict.job_run_id),
    }
