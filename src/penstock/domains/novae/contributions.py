"""Contributions: files that people send for a nova, to a signed URL, and what becomes of them.

Somebody announces a file; its record is there before its bytes, so that also an event of the store finds whose they
are. What was sent is verified, and only then is there a dataset, which is worked on like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.domains.novae.bringing import OBJECT, plain_name
from penstock.domains.novae.data_records import Contribution, ContributionStatus
from penstock.domains.novae.dataset_files import file_record
from penstock.domains.novae.dataset_records import Dataset, FileObject
from penstock.domains.novae.dataset_runs import begin_for, begin_for_within
from penstock.domains.novae.datasets import add_dataset, find_dataset, lookup_dataset
from penstock.domains.novae.describing import description_of
from penstock.domains.novae.errors import NoSuchDataset
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_files import RAW
from penstock.domains.novae.nova_table import dataset_identity, file_identity
from penstock.domains.novae.providers.paper_reading import is_bibcode
from penstock.domains.novae.quarantine import checked_hints
from penstock.domains.novae.run_records import JobRun
from penstock.domains.novae.runs import Origin, active, find_run, followed, still_stands
from penstock.domains.novae.states import DatasetType, ProcessingStatus
from penstock.domains.novae.verdicts import leave_desk
from penstock.errors import Conflict, InvalidValue
from penstock.files.intake import Intake, ReservedUpload
from penstock.files.upload import Upload
from penstock.files.uploads import FileTooLarge
from penstock.kernel.change import Change
from penstock.kernel.idempotency import new_id

UPLOAD = "upload"
"The provider of all that people send."
REMEMBERED = timedelta(days=30)
"So long one can ask what became of a file."
LONGEST_TICKET = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """What is said of a file before it is there."""

    dataset_type: DatasetType
    file_name: str
    size: int
    content_type: str = "application/octet-stream"
    sha256: str
    ticket: str | None = None
    metadata: str | None = None
    "The table that a ticket of spectra is about, which has a line for this one."
    bibcode: str | None = None
    hints: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ReservedFile:
    """What was announced, and where to send it; nowhere once all of it is there."""

    contribution: Contribution
    where: ReservedUpload | None

    def without_place(self) -> ReservedFile:
        """The same for somebody who is not to send it."""
        return ReservedFile(self.contribution, None)


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What there is of a file already."""

    dataset: Dataset | None = None
    contribution: Contribution | None = None
    "One that can still be sent."
    says_more: bool = False
    "More is said of it now, and it is looked at again with that."


def known(catalogue: NovaCatalogue, nova_id: UUID, wanted: NewFile) -> KnownFile:
    """What there is of a file for a nova; whoever was interrupted goes on with that."""
    nova = followed(catalogue.store, nova_id)
    dataset = _dataset(catalogue, nova.nova_id, wanted, wanted.sha256.lower())
    there = lookup_dataset(catalogue.store, nova.nova_id, dataset.dataset_id)
    said = {"ticket": wanted.ticket, "said": dataset.said, "description": dataset.description}
    said["bibcode"] = _bibcode(wanted.bibcode)
    if there is not None:
        return KnownFile(there, says_more=bool(_more(there, said)))
    file_id = file_identity(catalogue.bucket, _place(dataset, wanted))
    ref = FileObject.at(nova_id=nova.nova_id, dataset_id=dataset.dataset_id, file_id=file_id)
    record = catalogue.store.lookup(ref)
    if record is None or record.contribution_id is None:
        return KnownFile()
    awaited = catalogue.store.lookup(Contribution.at(contribution_id=record.contribution_id))
    same = awaited is not None and all(told is None or told == _told_with(awaited)[name] for name, told in said.items())
    return KnownFile(contribution=awaited if awaited is not None and same and _is_open(catalogue, awaited) else None)


def _is_open(catalogue: NovaCatalogue, contribution: Contribution) -> bool:
    if contribution.status is not ContributionStatus.AWAITED:
        return False
    upload = catalogue.store.lookup(Upload.at(upload_id=contribution.upload_id))
    return upload is not None and Intake(catalogue.store, catalogue.objects).is_open(upload)


def announce(catalogue: NovaCatalogue, nova_id: UUID, wanted: NewFile, *, by: str) -> ReservedFile:
    """Announce a file for a nova. Whoever does sends it, and then says that it is there.

    The same bytes for the same nova are the same dataset, however often they are sent.
    """
    if not 1 <= wanted.size <= catalogue.options.largest_file:
        raise FileTooLarge(
            f"a file has 1 to {catalogue.options.largest_file:,} bytes, as NC_LARGEST_FILE says; this one has "
            f"{wanted.size:,}"
        )
    if wanted.ticket is not None and len(wanted.ticket) > LONGEST_TICKET:
        raise InvalidValue(f"a ticket has at most {LONGEST_TICKET} characters; this one {len(wanted.ticket)}")
    nova, now = active(followed(catalogue.store, nova_id)), catalogue.store.clock.now()
    digest = wanted.sha256.lower()
    dataset = _dataset(catalogue, nova.nova_id, wanted, digest)
    key = _place(dataset, wanted)
    intake = Intake(catalogue.store, catalogue.objects)
    record = file_record(dataset, bucket=catalogue.bucket, key=key, now=now, size=wanted.size)
    # Before the announcement: an upload that nobody has heard of is given up after its time.
    announced: dict[str, Any] = {"size": wanted.size, "content_type": wanted.content_type, "sha256": digest}
    where = intake.reserve(record, key, **announced, by=by)
    contribution = Contribution(
        contribution_id=new_id(catalogue.once, "contribution"),
        nova_id=nova.nova_id,
        dataset_id=dataset.dataset_id,
        dataset_type=wanted.dataset_type,
        provider=UPLOAD,
        file_name=plain_name(wanted.file_name),
        s3_key=key,
        upload_id=where.upload.upload_id,
        ticket=wanted.ticket,
        bibcode=_bibcode(wanted.bibcode),
        said={"hints": dataset.said, "description": dataset.description},
        sent_by=by,
        ttl=int((now + REMEMBERED).timestamp()),
        created_at=now,
        updated_at=now,
    )
    with catalogue.store.change(by=by, once=catalogue.once) as change:
        still_stands(change, nova.nova_id)
        change.create(contribution)
        _keep_record(change, record.model_copy(update={"contribution_id": contribution.contribution_id}))
        change.result = {"contribution_id": str(contribution.contribution_id)}
    return ReservedFile(contribution, where)


def contribution_of(catalogue: NovaCatalogue, contribution_id: UUID) -> ReservedFile:
    """What was announced, and where to send what is missing of it; NoSuchDataset if it is none."""
    contribution = _contribution(catalogue, contribution_id)
    if contribution.status is not ContributionStatus.AWAITED:
        return ReservedFile(contribution, None)
    intake = Intake(catalogue.store, catalogue.objects)
    return ReservedFile(contribution, intake.where(_upload(catalogue, contribution)))


def send(catalogue: NovaCatalogue, contribution: Contribution, path: Path, *, sent: Callable[[int], None]) -> None:
    """Send what is missing of a file of this machine; ``sent`` is told how many bytes are on their way."""
    Intake(catalogue.store, catalogue.objects).send(_upload(catalogue, contribution), path, sent=sent)


def complete(catalogue: NovaCatalogue, contribution_id: UUID, *, by: str) -> Contribution:
    """Say that a file is there: it is verified, becomes a dataset, and that is worked on. UploadRefused if it is not.

    Said again, it is the same.
    """
    # The same bytes may have been announced several times: whoever is second finds the dataset of the first.
    return catalogue.store.retried(lambda: _completed(catalogue, contribution_id, by=by))


def _completed(catalogue: NovaCatalogue, contribution_id: UUID, *, by: str) -> Contribution:
    contribution = _contribution(catalogue, contribution_id)
    if contribution.status is not ContributionStatus.AWAITED:
        return contribution
    intake = Intake(catalogue.store, catalogue.objects)
    told: dict[str, Any] = {"by": by, "once": catalogue.once, "typed": False}
    try:
        with intake.finalize(_upload(catalogue, contribution), inspect=lambda path: None, **told) as (arrived, _):
            run = _take(catalogue, arrived.change, contribution, size=arrived.size, sha256=arrived.sha256)
            arrived.change.save(arrived.change.track(contribution).take(run=run.job_run_id))
            arrived.change.result = {"contribution_id": str(contribution_id)}
    except Conflict:
        there = _contribution(catalogue, contribution_id)
        if there.status is ContributionStatus.AWAITED:
            raise
        return there  # another has said it just now
    return contribution


def take_dropped(catalogue: NovaCatalogue, contribution: Contribution, *, sha256: str, size: int, by: str) -> JobRun:
    """A file that was announced lies in its place, though nobody has said so: it was put there past its signed URL."""
    run: JobRun | None = None
    with catalogue.store.change(by=by) as change:
        run = _take(catalogue, change, contribution, size=size, sha256=sha256)
        change.save(change.track(contribution).take(run=run.job_run_id))
    return run


def _take(catalogue: NovaCatalogue, change: Change, contribution: Contribution, *, size: int, sha256: str) -> JobRun:
    """The dataset of a file that is there, and the run that works on it."""
    nova = followed(catalogue.store, contribution.nova_id)
    still_stands(change, nova.nova_id)
    dataset = lookup_dataset(catalogue.store, nova.nova_id, contribution.dataset_id)
    if dataset is None:
        dataset = add_dataset(change, _new_dataset(change, nova.nova_id, contribution))
        change.emit("product.discovered", dataset, provider=UPLOAD, dataset_id=str(dataset.dataset_id))
    else:
        _say_more(change, dataset, contribution)
    key, now = contribution.s3_key, change.store.clock.now()
    record = file_record(dataset, bucket=catalogue.bucket, key=key, now=now, size=size)
    told = {"sha256": sha256, "contribution_id": contribution.contribution_id}
    change.put(record.model_copy(update=told))
    return begin_for_within(change, catalogue, dataset, locator=f"{OBJECT}{key}", origin=Origin())


def _keep_record(change: Change, record: FileObject) -> None:
    """The record of a file that is to come; one whose file is here already stays as it is."""
    there = change.store.lookup(record.ref)
    if there is None or there.sha256 is None:
        change.put(record)


def _say_more(change: Change, dataset: Dataset, contribution: Contribution) -> None:
    """The same bytes once more: if more is said of them they are judged again, whatever they proved to be before."""
    more = _more(dataset, _told_with(contribution))
    if not more:
        return
    if dataset.processing_status is ProcessingStatus.IN_PROGRESS:
        raise Conflict(f"dataset {dataset.dataset_id} is being judged just now; say it again when that is over")
    change.track(dataset)
    if dataset.processing_status in _JUDGED:
        leave_desk(change, dataset)
        dataset.reopen()
    for name, value in more.items():
        setattr(dataset, name, value)
    dataset.updated_at = change.store.clock.now()
    change.save(dataset)


_JUDGED = (ProcessingStatus.QUARANTINED, ProcessingStatus.FAILED_TERMINAL, ProcessingStatus.COMPLETED)


def _told_with(contribution: Contribution) -> dict[str, Any]:
    said = contribution.said or {}
    told = {"ticket": contribution.ticket, "said": said.get("hints"), "description": said.get("description")}
    return {**told, "bibcode": contribution.bibcode}


def _more(dataset: Dataset, told: Mapping[str, Any]) -> dict[str, Any]:
    """What is said beyond what was known; of hints, those that were said before stay."""
    said = {**(dataset.said or {}), **(told.get("said") or {})} or None
    whole = {**told, "said": said}
    return {name: value for name, value in whole.items() if value is not None and value != getattr(dataset, name)}


def _bibcode(told: str | None) -> str | None:
    """The paper that somebody names; InvalidValue if it is none."""
    if told is None or not told.strip():
        return None
    if not is_bibcode(told.strip()):
        raise InvalidValue(f"{told[:40]!r} is no bibcode; one has 19 characters, such as 2018A&A...611A...3C")
    return told.strip()


def run_of(catalogue: NovaCatalogue, contribution: Contribution) -> JobRun | None:
    """The run that takes a file up."""
    run = None if contribution.job_run_id is None else find_run(catalogue.store, contribution.job_run_id)
    return run if isinstance(run, JobRun) else None


def work_again(catalogue: NovaCatalogue, nova_id: UUID, dataset_id: UUID, *, by: str) -> JobRun:
    """Have a dataset worked on that waits for it."""
    dataset = find_dataset(catalogue.store, followed(catalogue.store, nova_id).nova_id, dataset_id)
    return begin_for(catalogue, dataset, by=by).run


# Its place, and what is known of it


def _dataset(catalogue: NovaCatalogue, nova_id: UUID, wanted: NewFile, sha256: str) -> Dataset:
    """The dataset that a file is to be; not stored yet."""
    now = catalogue.store.clock.now()
    name = plain_name(wanted.file_name)
    described = wanted.dataset_type is DatasetType.SPECTRA and wanted.ticket and wanted.metadata
    return Dataset(
        nova_id=nova_id,
        dataset_type=wanted.dataset_type,
        provider=UPLOAD,
        dataset_id=dataset_identity(UPLOAD, f"{wanted.dataset_type.value}:{nova_id}:{sha256}"),
        provider_identity=f"sha256:{sha256}",
        said=checked_hints(wanted.dataset_type, wanted.hints or {}) or None,
        description=description_of(wanted.ticket or "", wanted.metadata or "", name) if described else None,
        created_at=now,
        updated_at=now,
    )


def _place(dataset: Dataset, wanted: NewFile) -> str:
    name = plain_name(wanted.file_name)
    if dataset.dataset_type is DatasetType.SPECTRA:
        ending = Path(name).suffix.lower()
        name = f"primary{ending if ending in ('.csv', '.txt', '.dat') else '.fits'}"
    return RAW[dataset.dataset_type].key(str(dataset.nova_id), name, dataset_id=dataset.dataset_id)


def _new_dataset(change: Change, nova_id: UUID, contribution: Contribution) -> Dataset:
    now, said = change.store.clock.now(), contribution.said or {}
    return Dataset(
        nova_id=nova_id,
        dataset_type=contribution.dataset_type,
        provider=UPLOAD,
        dataset_id=contribution.dataset_id,
        provider_identity=str(contribution.dataset_id),
        locators=[f"{OBJECT}{contribution.s3_key}"],
        hints={"sent_by": contribution.sent_by},
        said=said.get("hints"),
        ticket=contribution.ticket,
        description=said.get("description"),
        bibcode=contribution.bibcode,
        file_name=contribution.file_name,
        created_at=now,
        updated_at=now,
    )


def _contribution(catalogue: NovaCatalogue, contribution_id: UUID) -> Contribution:
    found = catalogue.store.lookup(Contribution.at(contribution_id=contribution_id))
    if found is None:
        raise NoSuchDataset(f"nobody has announced a file {contribution_id}, or it was a month ago")
    return found


def _upload(catalogue: NovaCatalogue, contribution: Contribution) -> Upload:
    return catalogue.store.get(Upload.at(upload_id=contribution.upload_id))
