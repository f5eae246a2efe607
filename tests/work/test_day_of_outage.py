"""A day on which everything is away for a while: all is done afterwards, in order, and nothing dies without fault."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from penstock import FrozenClock, Store
from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.errors import Unavailable
from penstock.events.relay import Relay, dead_letters, dismiss
from penstock.events.schedule import Period, Schedule, Scheduler, ScheduleState
from penstock.objects.local import LocalObjects
from penstock.objects.s3 import S3Connection, S3Objects
from penstock.ports.engine import Engine
from penstock.ports.object_store import ObjectStore
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.sinks import WebhookSink
from penstock.testing.faults.switch import Switch
from penstock.work import WORKING, Outcome, Retry, Task, TaskContext, Tasks, TaskStatus
from penstock.work.domain_context import DomainContext
from penstock.workers.celery import celery_app
from penstock.workers.celery_broker import CeleryBroker
from penstock.workers.dispatcher import Dispatcher
from penstock.workers.manual import ManualWorkers
from tests.conftest import _drop_tables, chosen_engines
from tests.servers import SeaweedFS, Valkey
from tests.servers.seaweedfs import ACCESS_KEY, SECRET_KEY
from tests.sinks import receiver as behaviours
from tests.sinks.receiver import Receiver, answers
from tests.work.plant import PLANT, Stamp, stamp
from tests.work.test_tasks import attempts

ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]
HOUR = timedelta(hours=1)
RECORDS = ("a", "b", "c")


class ToMake(BaseModel):
    record: str
    number: int


@dataclass
class Factory:
    """Makes files, tells of each, and cleans up by the hour."""

    store: Store
    clock: FrozenClock
    objects: ObjectStore
    relay: Relay
    tasks: Tasks = field(default_factory=lambda: Tasks("factory"))
    made: list[str] = field(default_factory=list)
    ordered: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    failed: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        @self.tasks.task("make", retry=Retry(attempts=1))
        def make(work: TaskContext, input: ToMake) -> None:
            work.objects.put(f"{input.record}/{input.number}", b"made")
            with work.finish() as change:
                stamp(change, input.record)

        make.failed(lambda change, input_, error: self.failed.append(error))
        self.make = make
        self.workers = ManualWorkers(
            self.store, [self.tasks], context=DomainContext(self.store, self.objects, lambda name: None)
        )
        self.scheduler = Scheduler(self.store, [Schedule("tidy", "0 * * * *", self._tidy)], owner="s")

    def _tidy(self, period: Period) -> None:
        self.objects.list("", limit=1)

    def order(self) -> None:
        """One more of each, and word of it."""
        for record in RECORDS:
            number = self.ordered[record]
            with self.store.change(by="ann") as change:
                self.make.enqueue(change, ToMake(record=record, number=number), project=record)
                change.emit("ordered", self.store.get(Stamp.at(name=record)), number=number)
            self.ordered[record] += 1

    def hour(self, *, order: bool = True) -> None:
        """All that works works for an hour; what is away is met by each."""
        for does in (self.order if order else None, self.workers.drain, self.relay.drain, self.scheduler.run_due):
            if does is not None:
                with suppress(Unavailable):
                    does()
        with suppress(Unavailable):
            self.workers.rescue()
        self.clock.advance(HOUR)


@contextmanager
def opened(name: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[Engine, Switch | None]]:
    """An engine, and the switch before its server."""
    if name == "sqlite":
        yield SqlEngine(SqliteConnector(str(folder / "factory.db"))), None
        return
    server = request.getfixturevalue(f"{name}_server")
    with Switch(server.port) as switch:
        if name == "postgres":
            url = server.create_database("factory").replace(f":{server.port}/", f":{switch.port}/")
            yield SqlEngine(PostgresConnector(url, sleep=lambda seconds: None)), switch
            return
        prefix, url = f"day{os.getpid()}_", f"http://127.0.0.1:{switch.port}"
        yield (
            DynamoEngine(
                endpoint=url,
                region="us-east-1",
                access_key="test",
                secret_key="test",
                table_prefix=prefix,
                sleep=lambda seconds: None,
            ),
            switch,
        )
        switch.on()
        _drop_tables(server.url, prefix)


def refuses_one(handler: behaviours._Handler, seen: behaviours.Seen) -> None:
    """A receiver that will never take one message: that is the message's own fault."""
    data = seen.event["data"]
    bad = (data["name"], data["number"]) == ("c", 1)
    (answers(400) if bad else behaviours.accepts)(handler, seen)


@pytest.mark.parametrize("kept_in", ENGINES)
def test_after_a_day_without_files_sink_and_store_everything_is_done_and_told_in_order(
    kept_in: str, request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock, receiver: Receiver
) -> None:
    receiver.usually = refuses_one
    with ExitStack() as stack:
        engine, to_store = stack.enter_context(opened(kept_in, request, tmp_path))
        to_sink = stack.enter_context(Switch(int(receiver.url.split(":")[2].split("/")[0])))
        store = Store(engine, clock=clock, own=SYSTEM_RECORDS)
        stack.callback(store.close)
        store.ensure(WORKING, PLANT)
        for record in RECORDS:
            store.create(Stamp(name=record))
        sink = WebhookSink(f"http://127.0.0.1:{to_sink.port}/hook", secret="s", source="/factory", clock=clock)
        stack.callback(sink.close)
        folder = tmp_path / "files"
        factory = Factory(store, clock, LocalObjects(folder), Relay(store, sink, owner="r", attempts=3))
        factory.hour()
        folder.rename(tmp_path / "kept")
        folder.write_text("no folder, where one should be")
        for _ in range(6):
            factory.hour()
        folder.unlink()
        (tmp_path / "kept").rename(folder)
        to_sink.off()
        for _ in range(6):
            factory.hour()
        to_sink.on()
        if to_store is not None:
            to_store.off()
        for _ in range(6):
            factory.hour()
        if to_store is not None:
            to_store.on()
        for _ in range(6):
            factory.hour(order=False)
        _check(factory, receiver)


def _check(factory: Factory, receiver: Receiver) -> None:
    store = factory.store
    assert factory.failed == []
    for status in (TaskStatus.WAITING, TaskStatus.RUNNING, TaskStatus.FAILED, TaskStatus.QUARANTINED):
        assert list(store.find(Task.by_status(status=status))) == []
    counts = {record: store.get(Stamp.at(name=record)).count for record in RECORDS}
    assert counts == dict(factory.ordered), "each was done, and once"
    (dead,) = dead_letters(store)
    assert (dead.payload["name"], dead.payload["number"]) == ("c", 1), "whose fault it was"
    assert _told(receiver) == {
        "a": list(range(factory.ordered["a"])),
        "b": list(range(factory.ordered["b"])),
        "c": [0],
    }
    dismiss(store, dead, by="ann")
    factory.relay.drain()
    assert _told(receiver)["c"] == [0, *range(2, factory.ordered["c"])]
    state = store.get(ScheduleState.at(name="tidy"))
    assert (state.failures, state.last_error) == (0, None)


def _told(receiver: Receiver) -> dict[str, list[int]]:
    """What was heard about each, repetitions left out."""
    heard: dict[str, list[int]] = {}
    for seen in receiver.taken:
        numbers = heard.setdefault(seen.event["data"]["name"], [])
        if seen.event["data"]["number"] not in numbers:
            numbers.append(seen.event["data"]["number"])
    return heard


def test_six_jobs_wait_for_a_bucket_that_is_away(
    tmp_path: Path, clock: FrozenClock, seaweedfs_server: SeaweedFS
) -> None:
    with Switch(seaweedfs_server.port) as switch:
        connection = S3Connection(
            seaweedfs_server.create_bucket("outage"),
            region="us-east-1",
            endpoint=f"http://127.0.0.1:{switch.port}",
            access_key=ACCESS_KEY,
            secret_key=SECRET_KEY,
        )
        store = Store(SqlEngine(SqliteConnector(str(tmp_path / "factory.db"))), clock=clock, own=SYSTEM_RECORDS)
        store.ensure(WORKING, PLANT)
        for record in RECORDS:
            store.create(Stamp(name=record))
        objects: Any = S3Objects(connection)
        factory = Factory(store, clock, objects, Relay(store, _Nowhere(), owner="r"))
        switch.off()
        factory.order()
        factory.order()
        for _ in range(3):
            factory.workers.drain()
            clock.advance(timedelta(seconds=10))
        waiting = factory.workers.waiting()
        assert {(t.attempts, t.waits_for) for t in waiting} == {(0, "objects")}
        switch.on()
        factory.workers.drain()
        ids = [t.task_id for t in waiting]
        assert [[a.outcome for a in attempts(store, i)] for i in ids] == [[Outcome.HANDED_BACK, Outcome.DONE]] * 6
        connection.close()
        store.close()


class _Nowhere:
    def deliver(self, messages: Any) -> list[Exception | None]:
        return [None for _ in messages]


def test_a_broker_that_is_away_hears_of_everything_afterwards(
    tmp_path: Path, clock: FrozenClock, valkey_server: Valkey
) -> None:
    with Switch(valkey_server.port) as switch:
        store = Store(SqlEngine(SqliteConnector(str(tmp_path / "factory.db"))), clock=clock, own=SYSTEM_RECORDS)
        store.ensure(WORKING, PLANT)
        for record in RECORDS:
            store.create(Stamp(name=record))
        factory = Factory(store, clock, LocalObjects(tmp_path / "files"), Relay(store, _Nowhere(), owner="r"))
        app = celery_app(
            store,
            [factory.tasks],
            broker=valkey_server.url.replace(f":{valkey_server.port}/", f":{switch.port}/"),
            queue="outage",
        )
        dispatcher = Dispatcher(store, [factory.tasks], CeleryBroker(app), owner="d")
        factory.order()
        assert dispatcher.run_once() == 3
        switch.off()
        factory.order()
        for _ in range(3):
            with pytest.raises(Unavailable, match="the broker cannot be reached"):
                dispatcher.run_once()
            clock.advance(8 * HOUR)
        switch.on()
        assert dispatcher.run_once() == 6, "also of what it may have forgotten"
        assert valkey_server.waiting("outage") == 9
        assert {t.attempts for t in factory.workers.waiting()} == {0}
        app.close()
        store.close()
