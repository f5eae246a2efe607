"""A yard of jobs, and the processes that work in it: what is killed, restarted and counted in the tests of crashes."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any, cast

from penstock import Count, Domain, Entity, IndexKey, Store, SystemClock, Table, key, move, open_store, pattern, the
from penstock.errors import Conflict, Unavailable
from penstock.events.relay import Relay
from penstock.kernel.lease import Lease, Leased, release, renew, take
from penstock.operations.reads import Ref
from penstock.ports.engine import Engine
from penstock.ports.sink import Envelope
from penstock.runtime.system_records import SYSTEM_RECORDS

PERIOD = timedelta(seconds=1)
PAUSE = 0.02
PROJECT = "yard"
SINK = "sink.jsonl"
"What was told, in the folder of a crew."
TABLE = Table("penstock_yard", partition="PK", sort="SK")
BY_STATUS = TABLE.index("GSI1", partition="GSI1PK", sort="GSI1SK")


class Status(StrEnum):
    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"


class Job(Leased, table=TABLE, relation="jobs"):
    """Work that is claimed, done and accepted once."""

    project_id: str = PROJECT
    number: Count
    status: Status = Status.WAITING
    attempts: Count = 0
    result: str | None = None

    @key("PROJECT#{project_id}", "JOB#{number:06d}")
    def at(self, *, number: int, project_id: str = PROJECT) -> None: ...

    stated = IndexKey(BY_STATUS, "JOBS#{status}", "{number:06d}")

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """All jobs."""

    @pattern(stated)
    def by_status(self, *, status: Status) -> None:
        """Jobs in a state, the first first."""

    @move(Status.WAITING, Status.WORKING, to=Status.WORKING)
    def claim(self) -> None:
        """Somebody works on it, perhaps after another who died."""
        self.attempts += 1

    @move(Status.WORKING, to=Status.DONE)
    def finish(self, *, result: str) -> None:
        self.result = result


class Yard(Entity, table=TABLE, relation="yards"):
    """What was counted."""

    project_id: str = PROJECT
    announced: Count = 0
    claimed: Count = 0
    done: Count = 0

    @key("PROJECT#{project_id}", "YARD")
    def at(self, *, project_id: str = PROJECT) -> None: ...


YARD = Domain("penstock_yard", Job, Yard)
HERE: Ref[Yard] = Yard.at(project_id=PROJECT)


def announce(store: Store, numbers: Sequence[int]) -> None:
    """New jobs, in one change."""
    with store.change(by="announcer") as change:
        for number in numbers:
            change.emit("job.announced", change.create(Job(number=number)))
        change.patch(HERE, the(Yard.announced).add(len(numbers)))


def result_of(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def work(store: Store, owner: str, tick: Callable[[str], None]) -> None:
    """Claim jobs and complete them, until somebody puts an end to it."""
    while True:
        try:
            if not work_once(store, owner):
                tick("idle")
                time.sleep(PAUSE)
        except Unavailable:
            tick("waits")


def work_once(store: Store, owner: str) -> int:
    """Do the next jobs that nobody is at; how many."""
    return sum(_attempt(store, job.ref, owner) for status in _OPEN for job in _some(store, status))


_OPEN = (Status.WORKING, Status.WAITING)


def _some(store: Store, status: Status) -> list[Job]:
    return store.page(Job.by_status(status=status), limit=5).records


def _attempt(store: Store, ref: Ref[Job], owner: str) -> bool:
    """Do a job, unless another is at it."""
    lease = take(store, ref, owner=owner, period=PERIOD)
    if lease is None:
        return False
    try:
        return _do(store, ref, owner, lease)
    except Conflict:
        return False  # it took too long, and another has it


def _do(store: Store, ref: Ref[Job], owner: str, lease: Lease) -> bool:
    with store.change(by=owner, under=lease) as change:
        job = change.get(ref)
        if job.status is Status.DONE:
            return False
        change.save(job.claim())
        change.patch(HERE, the(Yard.claimed).add(1))
        change.emit("job.claimed", job, attempt=job.attempts)
    lease = renew(store, lease, period=PERIOD)
    with store.change(by=owner, under=lease) as change:
        job = change.get(ref)
        if job.status is Status.DONE:
            return False  # it stood still for so long that another took it over, and was quicker
        change.save(job.finish(result=result_of(job.number)))
        change.patch(HERE, the(Yard.done).add(1))
        change.emit("job.done", job)
    release(store, lease)
    return True


class FileSink:
    """Appends what it is told to a file, whole lines at a time, so that a kill loses none that was written."""

    def __init__(self, path: str, tick: Callable[[str], None]) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._tick = tick

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        for message in messages:
            line = json.dumps({"id": message.id, "type": message.type, "about": message.aggregate})
            os.write(self._file, line.encode() + b"\n")
            self._tick("told")
        return [None for _ in messages]


def tell(store: Store, owner: str, path: str, tick: Callable[[str], None]) -> None:
    """Relay messages, until somebody puts an end to it."""
    relay = Relay(store, FileSink(path, tick), owner=owner, period=PERIOD, batch=20)
    while True:
        try:
            if not relay.run_once().total:
                tick("idle")
                time.sleep(PAUSE)
        except Unavailable:
            tick("waits")


def tell_once(store: Store, owner: str, path: str) -> None:
    relay = Relay(store, FileSink(path, lambda _: None), owner=owner)
    relay.run_once()
    relay.close()


class Ticking:
    """An engine, or an object store, that says when it begins to write and when it has written."""

    def __init__(
        self, real: Any, tick: Callable[[str], None], writes: frozenset[str] = frozenset({"commit", "patch"})
    ) -> None:
        self._real, self._tick, self._writes = real, tick, writes

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name not in self._writes:
            return found

        def call(*args: Any, **options: Any) -> Any:
            self._tick("writes")
            outcome = found(*args, **options)
            self._tick("wrote")
            return outcome

        return call


def open_yard(place: str | Engine, tick: Callable[[str], None] | None = None) -> Store:
    """The store at a URL, or on an engine. All processes are on one machine, so their clocks do not differ."""
    clock = SystemClock(skew=timedelta(0))
    engine = open_store(place).engine if isinstance(place, str) else place
    return Store(engine if tick is None else cast(Engine, Ticking(engine, tick)), clock=clock, own=SYSTEM_RECORDS)


def prepared(url: str, folder: str) -> Callable[[str, str, Callable[[str], None]], None]:
    """What a process of the yard does, after a job was done and told of here."""
    engine, path = open_yard(url).engine, f"{folder}/{SINK}"
    work_once(open_yard(engine), "nursery")
    tell_once(open_yard(engine), "nursery", path)

    def live(role: str, name: str, tick: Callable[[str], None]) -> None:
        store = open_yard(engine, tick)
        if role == "worker":
            work(store, name, tick)
        else:
            tell(store, name, path, tick)

    return live
