"""The quarantine desk: what waits for a person, the evidence, and what they decide: cleared with a hint, or rejected.

Each decision is one commit with all that follows from it; its line in the audit trail says who has decided, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.astronomy.judgement import FileFinding
from penstock.declare.attr import the
from penstock.domains.novae.bringing import OBJECT
from penstock.domains.novae.data_records import DatasetVerdict, QuarantineEntry
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_runs import begin_for_within
from penstock.domains.novae.dataset_science import Replayed, canonical, science_of
from penstock.domains.novae.datasets import find_dataset, lookup_dataset
from penstock.domains.novae.discovery_date import date_anew
from penstock.domains.novae.errors import NoSuchNova, NotInQuarantine
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.run_records import Attempt, JobRun
from penstock.domains.novae.runs import Origin, find_run, followed, still_stands
from penstock.domains.novae.states import DatasetType, NovaStatus, ProcessingStatus
from penstock.domains.novae.verdicts import leave_desk
from penstock.errors import InvalidValue
from penstock.files.object_reads import fetch, lookup
from penstock.files.scratch import scratch_folder
from penstock.kernel.change import Change

SPECTRUM_HINTS = ("unit", "flux_unit", "profile", "aperture", "target", "medium", "frame", "member", "object")
"What may be said of a spectrum; `member` names the file that is meant of an archive, `object` the nova it is of."
WITHDRAWN = "WITHDRAWN"
"Why a dataset is refused that was valid."
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Waiting:
    """A dataset that waits for a person."""

    entry: QuarantineEntry
    dataset: Dataset


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that somebody needs who decides about a dataset."""

    dataset: Dataset
    verdicts: list[DatasetVerdict]
    "The latest first."
    attempts: list[Attempt]
    "Of the run that came to the present verdict."

    @property
    def latest(self) -> DatasetVerdict | None:
        """The verdict that the dataset has now."""
        present = (each for each in self.verdicts if each.fingerprint == self.dataset.fingerprint)
        return next(present, None)


@dataclass(frozen=True, slots=True)
class Cleared:
    """A dataset that is tried again, and the run that does so."""

    dataset: Dataset
    run: JobRun


def waiting(catalogue: NovaCatalogue, *, limit: int, cursor: str | None = None) -> tuple[list[Waiting], str | None]:
    """What waits for a person, the longest first, whichever nova it is of; and the cursor of the next ones."""
    page = catalogue.store.page(QuarantineEntry.waiting(), limit=limit, cursor=cursor)
    found = [(entry, _dataset_of(catalogue, entry)) for entry in page.records]
    return [Waiting(entry, dataset) for entry, dataset in found if dataset is not None], page.cursor


def _dataset_of(catalogue: NovaCatalogue, entry: QuarantineEntry) -> Dataset | None:
    try:
        nova = followed(catalogue.store, entry.nova_id)
    except NoSuchNova:
        return None
    if nova.status is NovaStatus.DEPRECATED:
        return None  # it waits until that is taken back
    dataset = lookup_dataset(catalogue.store, nova.nova_id, entry.dataset_id)
    quarantined = dataset is not None and dataset.processing_status is ProcessingStatus.QUARANTINED
    return dataset if quarantined else None


def evidence(catalogue: NovaCatalogue, nova_id: UUID, dataset_id: UUID) -> Evidence:
    """What is known of a dataset: its verdict and all former ones, and what was tried; NoSuchDataset if it is none."""
    store, here = catalogue.store, followed(catalogue.store, nova_id).nova_id
    dataset = find_dataset(store, here, dataset_id)
    verdicts = list(store.find(DatasetVerdict.of_dataset(nova_id=here, dataset_id=dataset_id)))
    found = Evidence(dataset, sorted(verdicts, key=lambda each: each.judged_at, reverse=True), [])
    latest = found.latest
    if latest is not None and latest.job_run_id is not None:
        found.attempts.extend(_attempts(catalogue, latest.job_run_id))
    return found


def _attempts(catalogue: NovaCatalogue, job_run_id: UUID) -> list[Attempt]:
    try:
        run = find_run(catalogue.store, job_run_id)
    except NoSuchNova:
        return []  # it is forgotten by now
    if not isinstance(run, JobRun):
        return []
    return list(catalogue.store.find(Attempt.of_run(nova_id=run.nova_id, job_run_id=job_run_id)))


def clear(
    catalogue: NovaCatalogue,
    nova_id: UUID,
    dataset_id: UUID,
    *,
    hints: Mapping[str, Any] | None = None,
    ticket: str | None = None,
    note: str | None = None,
    by: str,
) -> Cleared:
    """Have a dataset judged again, with what somebody says of it: one that waits; or with a hint, a ticket or a note
    also one that was refused, or that is valid and should be read otherwise. NotInQuarantine of any other.

    The file that is here is judged again, where there is one: nothing is downloaded for that.
    """

    def attempt() -> Cleared:
        dataset = _asked(catalogue, nova_id, dataset_id, _JUDGED if hints or ticket or note else _WAITS)
        said = {**(dataset.said or {}), **checked_hints(dataset.dataset_type, hints or {})}
        verdict = dataset.fingerprint
        with catalogue.store.change(by=by, why=note or "cleared for retry", once=catalogue.once) as change:
            still_stands(change, dataset.nova_id)
            change.track(dataset)
            leave_desk(change, dataset)
            dataset.reopen()
            dataset.said, dataset.updated_at = said or None, change.store.clock.now()
            dataset.ticket = ticket if ticket is not None else dataset.ticket
            change.save(dataset)
            if verdict is not None:
                _decide(change, dataset, verdict, by=by, note=note)
            locator = f"{OBJECT}{dataset.raw_key}" if _is_here(catalogue, dataset) else None
            run = begin_for_within(change, catalogue, dataset, locator=locator, origin=Origin())
            change.emit("dataset.cleared", dataset, by=by, hints=said, note=note)
            change.result = {"job_run_id": str(run.job_run_id)}
        return Cleared(dataset, run)

    return catalogue.store.retried(attempt)


def reject(catalogue: NovaCatalogue, nova_id: UUID, dataset_id: UUID, *, reason: str, by: str) -> Dataset:
    """Say that a dataset is of no use, and why: one that waits, or one that is valid and is withdrawn by that.

    It leaves the light curve and the bundle, and comes back when it is cleared. NotInQuarantine of any other.
    """
    if not reason.strip():
        raise InvalidValue("say why it is rejected: others will ask")

    def attempt() -> Dataset:
        dataset = _asked(catalogue, nova_id, dataset_id, _REJECTABLE)
        withdrawn = dataset.processing_status is ProcessingStatus.COMPLETED
        with catalogue.store.change(by=by, why=reason, once=catalogue.once) as change:
            change.track(dataset)
            leave_desk(change, dataset)
            details = {**(dataset.quarantine_details or {}), "rejected": reason, "by": by}
            dataset.reject(code=WITHDRAWN if withdrawn else dataset.quarantine_reason_code, details=details)
            dataset.quarantine_details = details
            dataset.quarantined_at = dataset.quarantined_for = None
            dataset.updated_at = change.store.clock.now()
            change.save(dataset)
            if dataset.fingerprint is not None:
                _decide(change, dataset, dataset.fingerprint, by=by, note=reason)
            date_anew(change, followed(change.store, dataset.nova_id), dataset_id)
            change.emit("dataset.withdrawn" if withdrawn else "dataset.rejected", dataset, by=by, reason=reason)
            change.result = {"dataset_id": str(dataset_id)}
        return dataset

    return catalogue.store.retried(attempt)


def replay(catalogue: NovaCatalogue, nova_id: UUID, dataset_id: UUID) -> Replayed:
    """Make the choice of a dataset's profile again, from what was stored of it, and compare."""
    dataset = find_dataset(catalogue.store, followed(catalogue.store, nova_id).nova_id, dataset_id)
    if not dataset.profile_selection:
        raise NotInQuarantine(f"nothing was chosen for dataset {dataset_id}: it was not judged, or by no profile")
    science = science_of(dataset.dataset_type)
    if dataset.dataset_type is DatasetType.SPECTRA or dataset.raw_key is None:
        return science.replay(dataset, None)
    with scratch_folder("replay") as folder:
        return science.replay(dataset, fetch(catalogue.objects, dataset.raw_key, folder))


def checked_hints(kind: DatasetType, hints: Mapping[str, Any]) -> dict[str, Any]:
    """What may be said of a dataset; InvalidValue names what is none."""
    told = {name: value for name, value in hints.items() if value is not None}
    if len(canonical(told)) > 4000:
        raise InvalidValue("the hints have more than 4000 characters; say less")
    if kind is DatasetType.PHOTOMETRY:
        from penstock.astronomy.photometry.photometry_hints import hints_of

        own = {"object": _object(told.pop("object"))} if "object" in told else {}
        read = hints_of(told)
        if isinstance(read, FileFinding):
            raise InvalidValue(read.message)
        return {**read.record(), **own}
    for name, value in told.items():
        if name not in SPECTRUM_HINTS:
            raise InvalidValue(f"{name[:40]!r} is no hint; known are {', '.join(SPECTRUM_HINTS)}")
        if not isinstance(value, str | int) or not 0 < len(str(value)) <= _LONGEST:
            raise InvalidValue(f"the hint {name} is a short text, not {str(value)[:60]!r}")
    return {name: str(value) for name, value in told.items()}


def _object(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value.strip()) <= _LONGEST:
        raise InvalidValue(f"the hint object is a nova's name, or the word this, not {str(value)[:60]!r}")
    return value.strip()


_WAITS = (ProcessingStatus.QUARANTINED,)
_REJECTABLE = (*_WAITS, ProcessingStatus.COMPLETED)
_JUDGED = (*_REJECTABLE, ProcessingStatus.FAILED_TERMINAL)
_STATES = {
    ProcessingStatus.FAILED_TERMINAL: (
        "is refused, so nobody is asked about it; clear it with a hint, a ticket or a note to have it judged again"
    ),
    ProcessingStatus.COMPLETED: (
        "is valid, so nobody is asked about it; clear it with a hint, a ticket or a note to have it judged again"
    ),
    ProcessingStatus.READY: "waits for its turn, and nobody is asked about it before it is judged",
    ProcessingStatus.IN_PROGRESS: "is being judged; look again in a moment",
    ProcessingStatus.FAILED_RETRYABLE: "could not be judged so far, and is tried again; nobody is asked about it yet",
}


def _asked(catalogue: NovaCatalogue, nova_id: UUID, dataset_id: UUID, states: tuple[ProcessingStatus, ...]) -> Dataset:
    dataset = find_dataset(catalogue.store, followed(catalogue.store, nova_id).nova_id, dataset_id)
    if dataset.processing_status not in states:
        raise NotInQuarantine(f"dataset {dataset_id} {_STATES[dataset.processing_status]}")
    return dataset


def _is_here(catalogue: NovaCatalogue, dataset: Dataset) -> bool:
    return dataset.raw_key is not None and lookup(catalogue.objects, dataset.raw_key) is not None


def _decide(change: Change, dataset: Dataset, fingerprint: str, *, by: str, note: str | None) -> None:
    """Note with a verdict who has decided about it."""
    ref = DatasetVerdict.at(nova_id=dataset.nova_id, dataset_id=dataset.dataset_id, fingerprint=fingerprint)
    if change.store.lookup(ref) is None:
        return
    updates = [the(DatasetVerdict.decided_by).set(by)]
    if note is not None:
        updates.append(the(DatasetVerdict.note).set(note))
    change.patch(ref, *updates)
