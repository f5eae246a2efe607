"""A mill that works day and night, for tests of what its store holds afterwards: traffic of every sort, and duties.

Its processes come and go: each hour has a service of its own, some of which die between two writes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
from pydantic import BaseModel

from penstock import Domain, Entity, FrozenClock, ObjectKey, Store, Table, key
from penstock.auth.rate_limit import take_token
from penstock.engines.dynamodb.lenient_decode import is_own
from penstock.events.relay import Relay, dead_letters, revive
from penstock.events.schedule import Schedule
from penstock.files.deletion import delete_with_files
from penstock.files.uploads import Uploads
from penstock.kernel.idempotency import Claim, SystemOnce, begin, once_key
from penstock.kernel.quota import Quota, Share
from penstock.operations.feed_entry import FeedEntry
from penstock.plugin import DomainPlugin, FeedHandler
from penstock.ports.engine import Engine
from penstock.ports.object_store import ObjectStore
from penstock.ports.sink import Envelope, Undeliverable
from penstock.runtime.composition import open_objects
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work import (
    FanOut,
    JobStatus,
    Pipeline,
    PipelineJob,
    PipelineStep,
    Retry,
    StepContext,
    StepResult,
    StepRun,
    TaskContext,
    Tasks,
)
from penstock.work.dead_letters import DeadLetters, cancel_all
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from penstock.workers.manual import ManualWorkers
from tests.faults.mortal import ENGINE, OBJECTS, Killed, Life, Mortal

TABLE = Table("penstock_test_mill", partition="PK", sort="SK", feed=True)
HELD, SPENT = Quota("mill.sacks", "sacks"), Quota("mill.seconds", "seconds", per=timedelta(hours=1))
PHOTO = b"\x89PNG\r\n\x1a\n" + bytes(100)
KEPT_HOURS = 3


class Sack(Entity, table=TABLE):
    project_id: str
    number: int
    photo: ObjectKey | None = None

    @key("PROJECT#{project_id}", "SACK#{number:06d}")
    def at(self, *, project_id: str, number: int) -> None: ...


MILL = Domain("mill", Sack, files=["mill/{project_id}/{number:06d}.png"])
TASKS = Tasks("mill")


class Grist(BaseModel):
    number: int
    bad: bool = False


@TASKS.task("grind", concurrency=1, retry=Retry(attempts=2))
def grind(work: TaskContext, input: Grist) -> dict[str, Any] | None:
    work.progress(0.5)
    if input.bad:
        raise PermissionError("a stone")
    return {"ground": input.number}


def share(work: TaskContext, context: StepContext[PipelineJob, StepRun]) -> list[dict[str, Any]]:
    return [{"part": number} for number in range(3)]


def sift(work: TaskContext, context: StepContext[PipelineJob, StepRun], input: dict[str, Any]) -> StepResult:
    return StepResult(metrics=input)


def bake(work: TaskContext, context: StepContext[PipelineJob, StepRun]) -> StepResult:
    if context.input["bad"]:
        raise PermissionError("burnt")
    return StepResult()


BREAD = Pipeline(
    TASKS,
    "bread",
    [PipelineStep("sift", FanOut(share, sift)), PipelineStep("bake", bake, retry=Retry(attempts=1))],
)


SCALES = {"broken": True}


def weigh(entry: FeedEntry, claim: Claim) -> None:
    if SCALES["broken"] and entry.kind == "insert" and entry.new.number % 8 == 3:
        raise ValueError("too heavy")


HOURLY = Schedule("mill-hourly", "0 * * * *", lambda period: None, catch_up="one")
PLUGIN = DomainPlugin(
    MILL,
    tasks=TASKS,
    pipelines=[BREAD],
    feed=lambda context: [FeedHandler(Sack, ["insert", "remove"], weigh)],
    schedules=lambda context: [HOURLY],
)


class Sink:
    """Takes all messages but those of one type."""

    def __init__(self, refused: str | None) -> None:
        self._refused = refused

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        return [Undeliverable("no such address") if m.type == self._refused else None for m in messages]


class Mill:
    """The store of the mill, and the processes that use it."""

    def __init__(self, open_engine: Callable[[], Engine], folder: Path, clock: FrozenClock) -> None:
        # One for all processes: what each of them would compile anew is not looked at here.
        self.engine, self.clock = open_engine(), clock
        self.settings = Settings(
            store=f"sqlite:///{folder}/unused.db",
            objects=f"files:///{folder}/objects",
            archive=str(folder / "archive"),
            secret="of the tests, and long enough",
            audit_days=1,
            feed_hours=KEPT_HOURS,
        )
        self.refused: str | None = "sack.lost"
        self.numbers = 0
        SCALES["broken"] = True
        self.projects = 0
        self.process().context.store.ensure(MILL, WORKING)

    def process(self, life: Life | None = None) -> Service:
        """A service as another process has it; it may die with a write."""
        service = Service(self.settings, [PLUGIN])
        engine: Any = self.engine
        objects: Any = open_objects(self.settings.objects, settings=self.settings, clock=self.clock)
        if life is not None:
            alive, really, files = life, engine, objects
            engine = Mortal(lambda: really, lambda: alive, ENGINE)
            objects = Mortal(lambda: files, lambda: alive, OBJECTS)
        store = Store(cast(Engine, engine), clock=self.clock, secret=b"of the tests", own=SYSTEM_RECORDS)
        service.context = replace(service.context, store=store, objects=cast(ObjectStore, objects))
        return service

    # What others do

    def work(self, *, dies_after: int | None = None) -> bool:
        """Some traffic, and the duties behind it; has the process lived?"""
        life = Life(writes=dies_after)
        service = self.process(life)
        try:
            self._traffic(service.context)
            self.duties(service)
        except Killed:
            return False
        return True

    def _traffic(self, context: DomainContext) -> None:
        store, project = context.store, f"p{self.projects}"
        self.projects += 1  # always a customer who never comes back
        for _ in range(3):
            self.numbers += 1
            sack = Sack(project_id=project, number=self.numbers)
            with store.change(by="miller") as change:
                change.create(sack)
                change.emit("sack.lost" if self.numbers % 7 == 0 else "sack.made", sack)
                grind.enqueue(change, Grist(number=self.numbers, bad=self.numbers % 11 == 0), project=project)
                change.quotas.spend(Share(SPENT, project, 1))
        with store.change(by="miller") as change:
            BREAD.start(change, {"bad": self.numbers % 5 == 0}, project=project)
            until = self.clock.now() + timedelta(minutes=30)
            change.quotas.reserve(f"hold-{self.numbers}", Share(HELD, project, 1), until=until)
        self._answer(store, project)
        take_token(store, f"address-{project}", per_minute=2)
        self._photograph(context, sack)

    def _answer(self, store: Store, project: str) -> None:
        """What is asked with an Idempotency-Key, and asked again."""
        for _ in range(2):
            now = self.clock.now()
            ttl = int((now + timedelta(days=1)).timestamp())
            mark = SystemOnce(idempotency_key=once_key("http", project), created_at=now, ttl=ttl)
            claim = begin(store, mark, owner="a", period=timedelta(seconds=30))
            if isinstance(claim, Claim):
                with store.change(once=claim) as change:
                    change.result = {"status": 201}

    def _photograph(self, context: DomainContext, sack: Sack) -> None:
        """One photograph is begun and never sent, one comes; then the sack goes, and its file with it."""
        uploads = Uploads(context.store, context.objects)
        place = f"mill/{sack.project_id}/{sack.number:06d}.png"
        sha256 = hashlib.sha256(PHOTO).hexdigest()
        for sent in (False, True):
            upload = uploads.reserve(sack, place, size=len(PHOTO), content_type="image/png", sha256=sha256)
            if sent:
                context.objects.put(upload.staging, PHOTO)
                with uploads.finalize(upload.upload_id) as arrived:
                    held = arrived.change.get(sack.ref)
                    held.photo = place
                    arrived.change.save(held)
        with context.store.change(by="miller") as change:
            delete_with_files(context.store, change, change.get(sack.ref))

    # What a service does

    def duties(self, service: Service) -> None:
        """All that a service does in the background, once."""
        store = service.context.store
        workers = ManualWorkers(store, [TASKS], context=service.context)
        workers.rescue()
        workers.drain()
        relay = Relay(store, Sink(self.refused), owner=service.owner, attempts=2)
        relay.drain()
        for feed in service.feeds.values():
            feed.drain()
            feed.close()
        relay.close()
        service.run_schedules()
        service.reaper().run_once()
        service.settle_quotas()
        service.sweep().run()
        service.seal()
        service.change_log().run_once()
        service.forget_work()
        service.audit_archive().run()

    def settle(self) -> None:
        """A person looks at all that waits for one."""
        service = self.process()
        store = service.context.store
        self.refused = None
        SCALES["broken"] = False
        for message in list(dead_letters(store)):
            revive(store, message, by="ann")
        for feed in service.feeds.values():
            for letter in list(feed.letters()):
                feed.retry(letter)
        cancel_all(store, [TASKS], DeadLetters(), by="ann")
        for job in list(store.find(PipelineJob.by_status(status=JobStatus.FAILED))):
            BREAD.cancel(store, job, by="ann")

    # What is there

    def census(self) -> Counter[str]:
        """How many records there are of each kind, expired ones too where they are the reaper's."""
        engine: Any = self.process().context.store.engine
        entities = (*SYSTEM_RECORDS.entities, *WORKING.entities)
        if not engine.features.native_expiry:
            sizes = engine.sizes([e.__shape__ for e in entities])
            return Counter({s.entities[0]: s.records for s in sizes if s.entities})
        found: Counter[str] = Counter()
        for entity in entities:
            item = engine._type_of(entity.__shape__)
            for image in _scanned(engine, item.table):
                ends = int(image["ttl"]["N"]) if "ttl" in image else None
                if is_own(item.layout, image) and (ends is None or ends > self.clock.now().timestamp()):
                    found[entity.__shape__.label] += 1
        return found


def _scanned(engine: Any, table: str) -> Iterator[dict[str, Any]]:
    """Every item of a table, also those whose time is over."""
    request: dict[str, Any] = {"TableName": table}
    while True:
        answer = msgspec.json.decode(engine._calls.call("Scan", msgspec.json.encode(request)).body)
        yield from answer["Items"]
        if not answer.get("LastEvaluatedKey"):
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
