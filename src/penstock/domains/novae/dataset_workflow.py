"""The work on a dataset, step by step: brought here, judged, made into products, and recorded; for spectra and for
photometry alike.

Each step may be on another machine, so whatever one hands on lies in the object store. Each write is refused once the
run has lost its lease on the dataset, and once the attempt has lost its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar
from uuid import UUID

from penstock.astronomy.judgement import FileVerdict
from penstock.domains.novae import dataset_lease
from penstock.domains.novae.bringing import Brought, bring
from penstock.domains.novae.data_records import DatasetVerdict
from penstock.domains.novae.dataset_files import FileKeeper
from penstock.domains.novae.dataset_lease import HeldDataset, LeaseHeartbeat
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_science import DatasetScience, JudgedFile, fingerprint_of, science_of
from penstock.domains.novae.datasets import find_dataset, lookup_dataset
from penstock.domains.novae.discovery_date import note_observation
from penstock.domains.novae.first_detection import first_detection
from penstock.domains.novae.laying_aside import lay_aside
from penstock.domains.novae.model import Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_files import DERIVED
from penstock.domains.novae.object_checking import object_checked, once_more
from penstock.domains.novae.providers.provider import UnusableAnswer
from penstock.domains.novae.run_bookkeeping import Doubtful, note_doubt
from penstock.domains.novae.run_records import JobRun
from penstock.domains.novae.runs import followed, nova_at_work, still_stands
from penstock.domains.novae.states import DatasetType, ProcessingStatus, RunStatus, ValidationStatus
from penstock.domains.novae.storable import storable_verdict
from penstock.domains.novae.verdicts import DatasetOutcome, record, settle, status_of, told_finding
from penstock.domains.novae.workflow import NovaInput, NovaStep
from penstock.kernel.change import Change
from penstock.kernel.lease import LeaseLost
from penstock.work import RetryLater, StepResult, TaskContext
from penstock.work.errors import Terminal
from penstock.work.workspace import Workspace, workspace_of

MOST_FAILURES = 8
"After so many in a row, which take five days, a dataset is given up until it is published anew."
DUPLICATE = "SKIPPED_DUPLICATE"
SKIPPED = {
    ProcessingStatus.COMPLETED: DUPLICATE,
    ProcessingStatus.QUARANTINED: "SKIPPED_QUARANTINED",
    ProcessingStatus.FAILED_TERMINAL: "SKIPPED_TERMINAL",
}
"What a run has come to that found the work done."
RESTING, LEASED = "SKIPPED_RESTING", "SKIPPED_LEASED"


class DatasetInput(NovaInput):
    """A request about a dataset of a nova."""

    identity: ClassVar[tuple[str, ...]] = ("nova_id", "dataset_id")
    dataset_id: UUID
    locator: str | None = None
    "Where its file is; else as the dataset says."


@dataclass(frozen=True, slots=True)
class DatasetWork:
    """What lies ready for one attempt at one step."""

    work: TaskContext
    context: NovaStep
    catalogue: NovaCatalogue
    dataset: Dataset
    held: HeldDataset
    science: DatasetScience

    @property
    def run_id(self) -> UUID:
        return self.context.job.job_run_id

    @property
    def heartbeat(self) -> LeaseHeartbeat:
        return LeaseHeartbeat(self.work, self.held)

    @property
    def keeper(self) -> FileKeeper:
        return FileKeeper(self.work, self.catalogue, self.dataset, self.held)

    @property
    def title(self) -> str:
        """What pictures are called: the nova's name."""
        nova = self.work.store.lookup(Nova.at(nova_id=self.dataset.nova_id))
        return nova.preferred_name if nova is not None else str(self.dataset.nova_id)

    def judged(self, workspace: Workspace, key: str) -> tuple[Path, JudgedFile]:
        """A file of the dataset, and what it proves to be."""
        path = workspace.fetch(key)
        if self.dataset.file_name is not None:  # what it is called tells something, too
            path = path.rename(_folder(workspace) / self.dataset.file_name)
        judged = storable_verdict(self.science.judge(path, self.dataset))
        self.heartbeat()
        if judged.verdict is FileVerdict.RETRYABLE_ERROR:
            why = judged.finding.message if judged.finding is not None else "the file could not be judged here"
            raise RetryLater(why, after=_SOON)
        return path, judged


_SOON = dataset_lease.PERIOD / 40


def _folder(workspace: Workspace) -> Path:
    """A new folder, whatever files are called."""
    return Path(mkdtemp(dir=workspace.folder))


# The steps


def acquire(work: TaskContext, context: NovaStep) -> StepResult:
    """Load the dataset and lease it; bring its file here, and store it as it came, unless its verdict is known."""
    catalogue, nova_id = NovaCatalogue.within(work.domain), nova_at_work(work, context)
    dataset = find_dataset(work.store, nova_id, UUID(context.input["dataset_id"]))
    owner = str(context.job.job_run_id)
    if (skipped := _needless(work, dataset, owner)) is not None:
        return _ended(skipped)
    held = dataset_lease.taken_or_kept(work, dataset, owner=owner)
    if held is None:
        return _ended(LEASED)
    dataset = work.store.get(dataset.ref)
    at_hand = DatasetWork(work, context, catalogue, dataset, held, science_of(dataset.dataset_type))
    with workspace_of(work) as workspace:
        try:
            brought = bring(at_hand.keeper, dataset, context.input.get("locator"), workspace, at_hand.heartbeat)
        except UnusableAnswer as unusable:
            return _unusable(at_hand, unusable)
        return _brought(at_hand, brought)


def validate(work: TaskContext, context: NovaStep) -> StepResult:
    """Judge the file; what is doubtful is laid aside for a person, with the reason."""
    at_hand, brought = _continued(work, context)
    with workspace_of(work) as workspace:
        path, judged = at_hand.judged(workspace, brought.primary_key)
        judged = object_checked(work.store, at_hand.dataset, path, judged)
        if judged.verdict is FileVerdict.VALID:
            return StepResult(metrics={"verdict": judged.verdict.value, **judged.summary})
        aside, outcome = _folder(workspace), _outcome(at_hand, brought, judged)
        outcome = lay_aside(at_hand.keeper, at_hand.science, path, judged, outcome, folder=aside)
    return _recorded(at_hand, outcome, _word(outcome))


def normalize(work: TaskContext, context: NovaStep) -> StepResult:
    """Make products of a valid file: normalised, in open formats, and drawn."""
    at_hand, brought = _continued(work, context)
    with workspace_of(work) as workspace:
        _, judged = at_hand.judged(workspace, brought.primary_key)
        if judged.verdict is not FileVerdict.VALID:
            raise Terminal("the file was valid and is not any more: the software has changed; ask for it again")
        products = at_hand.science.products(judged, at_hand.dataset, _folder(workspace), title=at_hand.title)
        pattern, keeper = DERIVED[at_hand.dataset.dataset_type], at_hand.keeper
        kept: list[str] = []
        for product in products:
            at_hand.heartbeat()
            kept.append(keeper.keep(product.path, pattern, product.name).s3_key)
    remarks = context.made("validate").metrics.get("remarks")
    summary = {**judged.summary, **first_detection(judged), **({"remarks": remarks} if remarks else {})}
    told: dict[str, Any] = {"selection": judged.selection, "summary": summary}
    told |= {"header_signature": judged.header_signature, "fits_checksum": judged.fits_checksum}
    return StepResult(metrics={"kept": kept, "judged": told})


def store_products(work: TaskContext, context: NovaStep) -> StepResult:
    """Have the dataset be valid, with its products; the lease ends with that."""
    at_hand, brought = _continued(work, context)
    made = context.made("normalize").metrics
    told, kept = made["judged"], tuple(made["kept"])
    outcome = DatasetOutcome(
        ValidationStatus.VALID,
        brought.fingerprint,
        selection=told["selection"],
        summary=told["summary"],
        file={
            **brought.file,
            "header_signature": told["header_signature"],
            "fits_checksum": told["fits_checksum"],
        },
        artifacts=kept,
    )
    word = "VALIDATED" if at_hand.dataset.dataset_type is DatasetType.SPECTRA else "INGESTED"
    return _recorded(at_hand, outcome, word)


# Between the steps


def _needless(work: TaskContext, dataset: Dataset, owner: str) -> str | None:
    """Why there is nothing to do; None where there is."""
    if dataset.processing_status in SKIPPED:
        return SKIPPED[dataset.processing_status]
    return RESTING if dataset.rests(work.store.clock.now()) and dataset.lease_owner != owner else None


def _ended(outcome: str, **metrics: Any) -> StepResult:
    return StepResult(then=(), outcome=outcome, metrics=metrics)


def _brought(at_hand: DatasetWork, brought: Brought) -> StepResult:
    """Go on with a file, unless the same bytes were judged before, and in the same way."""
    dataset = at_hand.dataset
    fingerprint = fingerprint_of(dataset, brought.primary_sha256, version=at_hand.science.version)
    known = _verdict(at_hand, fingerprint)
    if known is not None and (anew := once_more(at_hand.work.store, dataset, known)) is not None:
        fingerprint, known = anew, _verdict(at_hand, anew)
    if known is not None:
        return _known(at_hand, known)
    told = brought.told() | {"fingerprint": fingerprint, "lease_epoch": at_hand.held.epoch}

    def note(change: Change) -> None:
        at_hand.held.fence(change)
        still_stands(change, dataset.nova_id)

    return StepResult(metrics=told, change=note)


def _verdict(at_hand: DatasetWork, fingerprint: str) -> DatasetVerdict | None:
    dataset = at_hand.dataset
    place = {"nova_id": dataset.nova_id, "dataset_id": dataset.dataset_id, "fingerprint": fingerprint}
    return at_hand.work.store.lookup(DatasetVerdict.at.of(place))


def _known(at_hand: DatasetWork, known: DatasetVerdict) -> StepResult:
    """The same bytes prove to be the same: no work is done twice."""
    dataset, held = at_hand.dataset, at_hand.held

    def again(change: Change) -> None:
        settle(change, dataset, held, known)
        _stand(change, dataset, known)

    told = {"fingerprint": known.fingerprint, "validation_status": known.validation_status.value, "code": known.code}
    return StepResult(then=(), outcome=DUPLICATE, metrics=told, change=again)


def _unusable(at_hand: DatasetWork, unusable: UnusableAnswer) -> StepResult:
    """What came is of no use, and a person must look at it: its bytes are another's, or it is no file at all."""
    finding = unusable.finding
    told = {"provider": at_hand.dataset.provider, "code": finding.code, **finding.details}
    fingerprint = fingerprint_of(at_hand.dataset, str(sorted(told.items())), version="unusable")
    details = told_finding(finding)
    outcome = DatasetOutcome(ValidationStatus.QUARANTINED, fingerprint, code=finding.code, details=details)
    return _recorded(at_hand, outcome, _word(outcome))


def _continued(work: TaskContext, context: NovaStep) -> tuple[DatasetWork, Brought]:
    """What a later step goes on with; LeaseLost if another run has the dataset by now."""
    catalogue, nova_id = NovaCatalogue.within(work.domain), nova_at_work(work, context)
    told = context.made("acquire").metrics
    dataset = find_dataset(work.store, nova_id, UUID(context.input["dataset_id"]))
    held = HeldDataset(dataset.ref, str(context.job.job_run_id), int(told["lease_epoch"]))
    try:
        dataset_lease.renew(work, held)
    except LeaseLost as lost:
        # The task is still this run's; it is the run that has nothing more to do.
        raise Terminal(str(lost)) from None
    science = science_of(dataset.dataset_type)
    return DatasetWork(work, context, catalogue, dataset, held, science), Brought.of(told)


def _outcome(at_hand: DatasetWork, brought: Brought, judged: JudgedFile) -> DatasetOutcome:
    return DatasetOutcome(
        status_of(judged.verdict),
        brought.fingerprint,
        code=judged.finding.code if judged.finding is not None else None,
        details=told_finding(judged.finding),
        selection=judged.selection,
        summary=judged.summary,
        file={
            **brought.file,
            "header_signature": judged.header_signature,
            "fits_checksum": judged.fits_checksum,
        },
    )


def _word(outcome: DatasetOutcome) -> str:
    return outcome.status.value


def _recorded(at_hand: DatasetWork, outcome: DatasetOutcome, word: str) -> StepResult:
    """The end of a run: what the dataset proved to be, and the run with it."""
    doubted = outcome.status is ValidationStatus.QUARANTINED
    if doubted:
        reason = str((outcome.details or {}).get("reason", ""))
        note_doubt(at_hand.work, Doubtful(outcome.code or "UNKNOWN", reason))

    def write(change: Change) -> None:
        verdict = record(change, at_hand.dataset, at_hand.held, outcome, run=at_hand.run_id)
        _stand(change, at_hand.dataset, verdict)

    told = {"code": outcome.code, **(outcome.details or {}), **(outcome.summary or {})}
    told |= {"validation_status": outcome.status.value, "artifacts": len(outcome.artifacts)}
    return StepResult(then=(), outcome=word, quarantined=doubted, metrics=told, change=write)


def _stand(change: Change, dataset: Dataset, verdict: DatasetVerdict) -> None:
    """Refuse it if the nova is merged meanwhile; what is valid may tell that it was seen earlier than was known."""
    if verdict.validation_status is not ValidationStatus.VALID or not note_observation(change, dataset):
        still_stands(change, dataset.nova_id)


# However a run ends


def let_go(change: Change, run: JobRun, made: StepResult | None) -> None:
    """A run that has failed or was cancelled gives its dataset back, which rests then; the lease ends with the run."""
    if made is not None or run.status is not RunStatus.FAILED:
        return
    found = _left(change, run)
    if found is None:
        return
    now, why = change.store.clock.now(), run.error_message
    held = HeldDataset(found.ref, str(run.job_run_id), found.lease_epoch)
    dataset = change.track(found)
    if dataset.attempt_count + 1 >= MOST_FAILURES:
        dataset.reject(code="GIVEN_UP", details={"reason": why, "failures": dataset.attempt_count + 1})
    else:
        dataset.fail(at=now, why=why)
    dataset.updated_at = now
    change.overwrite(dataset, when=held.holds())


def _left(change: Change, run: JobRun) -> Dataset | None:
    """The dataset that a run still has leased."""
    asked = (run.asked_for or {}).get("dataset_id")
    if asked is None:
        return None
    nova_id = followed(change.store, run.nova_id).nova_id
    dataset = lookup_dataset(change.store, nova_id, UUID(str(asked)))
    return dataset if dataset is not None and dataset.lease_owner == str(run.job_run_id) else None
