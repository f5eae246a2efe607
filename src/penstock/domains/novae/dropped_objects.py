"""Objects that have come: an event of the store, or a person, says so; whose each is, is found, and it is worked on.

The event may come before the index has caught up, before the record is committed that says whose the object is, twice,
or out of order. So its owner is looked for where its key says it is, at once, and in the index; then again a little
later. What an object is, its bytes say and not the event: whatever comes late does no work twice.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from uuid import UUID

from pydantic import BaseModel

from penstock.domains.novae.bringing import OBJECT
from penstock.domains.novae.contributions import take_dropped
from penstock.domains.novae.data_records import Contribution, ContributionStatus, StrayObject
from penstock.domains.novae.dataset_records import Dataset, FileObject
from penstock.domains.novae.dataset_runs import begin_for_within
from penstock.domains.novae.datasets import lookup_dataset
from penstock.domains.novae.errors import NoSuchNova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_files import OF_DATASETS, RAW, nova_of_key
from penstock.domains.novae.nova_table import file_identity
from penstock.domains.novae.runs import Origin, followed, still_stands
from penstock.domains.novae.states import ProcessingStatus
from penstock.domains.novae.store_events import ReadEvents, StoreEvent
from penstock.domains.novae.verdicts import leave_desk
from penstock.domains.novae.workflow import TASKS
from penstock.errors import InvalidValue, NotFound
from penstock.files.object_reads import Examined, examine
from penstock.files.upload import Upload
from penstock.kernel.idempotency import once_key
from penstock.kernel.store import Store
from penstock.ports.stored_object import is_key
from penstock.work import Retry, RetryLater, Task, TaskContext

PAUSES = tuple(timedelta(seconds=s) for s in (2, 10, 30, 120))
"Until an index has caught up, and whoever announces an object has done so."
_FORGOTTEN = timedelta(days=30)
_AT_ONCE = 20
_ROOTS = ("raw/spectra/", "raw/photometry/")
_LONGEST_BUCKET, _LONGEST_KEY = 200, 800
"Bytes of a stray's bucket and key, which together are the key of its record."


class CameObject(BaseModel):
    """An object of which somebody says that it has come."""

    bucket: str
    key: str
    etag: str | None = None
    size: int | None = None
    said: bool = False
    "A person says so: no record is on its way that could be waited for."


def receive(catalogue: NovaCatalogue, read: ReadEvents, *, by: str) -> dict[str, int]:
    """Have the objects looked at that a store tells of; how many are new, and how many were told before."""
    events, enqueued = read.events, set[str]()

    def told(received: int) -> dict[str, int]:
        return {"received": received, "repeated": len(events) - received, "ignored": read.ignored}

    def attempt() -> None:
        new = _unheard(catalogue.store, events)
        for first in range(0, len(new), _AT_ONCE):
            some, last = new[first : first + _AT_ONCE], first + _AT_ONCE >= len(new)
            with catalogue.store.change(by=by, once=catalogue.once if last else None) as change:
                for each in some:
                    came = CameObject(bucket=each.bucket, key=each.key, etag=each.etag, size=each.size)
                    take_object.enqueue(change, came, key=each.identity)
                change.result = told(len(enqueued) + len(some))
            enqueued.update(each.identity for each in some)

    catalogue.store.retried(attempt)
    return told(len(enqueued))


def _unheard(store: Store, events: tuple[StoreEvent, ...]) -> list[StoreEvent]:
    """Each event once, of which nobody was told before."""
    once = list({each.identity: each for each in events}.values())
    known = store.get_many([Task.at(task_id=once_key(take_object.name, each.identity)) for each in once])
    return [each for each, task in zip(once, known, strict=True) if task is None]


def drop(catalogue: NovaCatalogue, key: str, *, bucket: str | None = None, by: str) -> str:
    """Say that a file lies in the bucket; the task that looks at it. InvalidValue if it is no bucket of ours."""
    if bucket is not None and bucket != catalogue.bucket:
        raise InvalidValue(f"{bucket[:80]!r} is no bucket it knows; NC_BUCKET says {catalogue.bucket!r}")
    came = CameObject(bucket=bucket or catalogue.bucket, key=key, said=True)
    with catalogue.store.change(by=by, once=catalogue.once) as change:
        task_id = take_object.enqueue(change, came)
        change.result = {"task_id": task_id}
    return task_id


@TASKS.task("take_object", retry=Retry(attempts=len(PAUSES) + 1, pauses=PAUSES))
def take_object(work: TaskContext, input: CameObject) -> dict[str, str] | None:
    """Find whose an object is, and have it worked on; what is nobody's is told to people."""
    catalogue = NovaCatalogue.within(work.domain)
    record = owner_of(work.store, input.bucket, input.key)
    if record is None:
        return _stray(work, input, "no dataset has it; announce the file first, and put it where that says")
    if not any(pattern.read(record.s3_key, FileObject.__shape__.fields) for pattern in RAW.values()):
        return {"outcome": "NOT_RAW"}  # what was made here is told of, too
    try:
        found = examine(work.objects, record.s3_key, alive=work.check)
    except NotFound:
        return _stray(work, input, "its dataset is known, and the object is not there (any more)")
    dataset = lookup_dataset(work.store, record.nova_id, record.dataset_id)
    if dataset is None:
        return _announced(work, catalogue, record, found, input)
    return _taken(work, catalogue, dataset, record, found)


def owner_of(store: Store, bucket: str, key: str) -> FileObject | None:
    """The record of an object: where its key says, which is true at once, or else as the index has it."""
    known = _by_path(store, bucket, _ours(key))
    if known is not None or not is_key(key):
        return known
    found = list(store.find(FileObject.by_object(bucket=bucket, s3_key=key)))
    return found[0] if len(found) == 1 else None  # of two that claim it nobody knows whose it is


def _by_path(store: Store, bucket: str, key: str) -> FileObject | None:
    told = next((read for pattern in OF_DATASETS if (read := pattern.read(key, FileObject.__shape__.fields))), None)
    nova_id = nova_of_key(key)
    if told is None or nova_id is None:
        return None
    try:
        here = followed(store, nova_id).nova_id
    except NoSuchNova:
        return None
    dataset_id: UUID = told["dataset_id"]
    ref = FileObject.at(nova_id=here, dataset_id=dataset_id, file_id=file_identity(bucket, key))
    return store.lookup(ref)


def _ours(key: str) -> str:
    """A key without what a deployment puts before all of its keys."""
    places = [at for root in _ROOTS if (at := key.find(root)) > 0 and key[at - 1] == "/"]
    return key[min(places) :] if places else key


def _taken(
    work: TaskContext, catalogue: NovaCatalogue, dataset: Dataset, record: FileObject, found: Examined
) -> dict[str, str] | None:
    """Work on a dataset whose file has come, unless that is known, or somebody does already."""
    same = found.sha256 in (record.sha256, dataset.sha256)
    settled = dataset.processing_status in _SETTLED
    if dataset.processing_status is ProcessingStatus.IN_PROGRESS or (settled and same):
        return {"outcome": "KNOWN", "dataset_id": str(dataset.dataset_id)}
    with work.finish({"outcome": "TAKEN", "dataset_id": str(dataset.dataset_id)}, why="its file has come") as change:
        still_stands(change, dataset.nova_id)
        change.track(record)
        record.sha256, record.byte_length, record.etag = found.sha256, found.size, found.etag
        record.updated_at = change.store.clock.now()
        change.save(record)
        change.track(dataset)
        if settled:
            leave_desk(change, dataset)
            dataset.reopen()
        dataset.next_eligible_attempt_at = None  # what has come need not rest for what had not
        change.save(dataset)
        locator = f"{OBJECT}{record.s3_key}"
        begin_for_within(change, catalogue, dataset, locator=locator, origin=Origin())
        change.delete(StrayObject.at(**_listed(record.bucket, record.s3_key)))
    return None


_SETTLED = (ProcessingStatus.COMPLETED, ProcessingStatus.QUARANTINED, ProcessingStatus.FAILED_TERMINAL)


def _announced(
    work: TaskContext, catalogue: NovaCatalogue, record: FileObject, found: Examined, input: CameObject
) -> dict[str, str] | None:
    """A file that somebody has announced, and put in its place without saying so."""
    ref = None if record.contribution_id is None else Contribution.at(contribution_id=record.contribution_id)
    contribution = None if ref is None else work.store.lookup(ref)
    if contribution is None or contribution.status is not ContributionStatus.AWAITED:
        return _stray(work, input, "a file was announced for it, and no dataset came of that")
    told = _promised(work.store, contribution)
    if told is not None and told != found.sha256:
        return _stray(work, input, "its bytes have another SHA-256 than was announced; send the file again")
    work.check()
    run = take_dropped(catalogue, contribution, sha256=found.sha256, size=found.size, by="novae.take_object")
    return {"outcome": "TAKEN", "dataset_id": str(record.dataset_id), "job_run_id": str(run.job_run_id)}


def _promised(store: Store, contribution: Contribution) -> str | None:
    upload = store.lookup(Upload.at(upload_id=contribution.upload_id))
    return None if upload is None else upload.sha256


def _stray(work: TaskContext, input: CameObject, reason: str) -> dict[str, str] | None:
    """Look again a little later, and in the end tell people: nothing is tried for ever."""
    attempt = work.task.attempts
    if attempt <= len(PAUSES) and not input.said:
        raise RetryLater(f"{input.bucket}/{input.key}: {reason}", after=PAUSES[attempt - 1])
    now = work.store.clock.now()
    stray = StrayObject(
        **_listed(input.bucket, input.key),
        seen_at=now,
        reason=reason,
        etag=input.etag,
        byte_length=input.size,
        ttl=int((now + _FORGOTTEN).timestamp()),
    )
    with work.finish({"outcome": "UNKNOWN", "reason": reason}, why="nobody's object") as change:
        change.put(stray)
        change.emit("object.unknown", stray, bucket=input.bucket, key=input.key, reason=reason)
    return None


def _listed(bucket: str, key: str) -> dict[str, str]:
    """Where an object is, as the list of strays has it: a store may have keys that no record can have."""
    return {"bucket": _spelled(bucket, _LONGEST_BUCKET), "s3_key": _spelled(key, _LONGEST_KEY)}


def _spelled(name: str, longest: int) -> str:
    """A name with what cannot be seen spelled out; one that is too long is cut, and stays apart from others."""
    seen = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name).encode()
    if len(seen) <= longest:
        return seen.decode()
    return f"{seen[: longest - 20].decode('utf-8', 'ignore')}…{hashlib.sha256(seen).hexdigest()[:16]}"
