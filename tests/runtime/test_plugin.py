"""What a plugin brings, and that the service runs it by itself: feed handlers, retention."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from penstock import ANYTHING, Domain, Entity, IndexKey, Range, RetainFor, Store, Table, UtcSeconds, key, pattern
from penstock.errors import DeclarationError
from penstock.events import feed as feeds
from penstock.kernel.idempotency import Claim
from penstock.operations.feed_entry import FeedEntry
from penstock.plugin import ConsoleHints, DomainPlugin, FeedHandler
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.work import Pipeline, PipelineStep, StepResult, Tasks
from penstock.work.domain_context import DomainContext

TABLE = Table("Kites", partition="PK", sort="SK", feed=True)
BY_DAY = TABLE.index("by-day", partition="GSI1PK", sort="GSI1SK")
SOON = 30.0
"Seconds that any of it may take, on a machine with much else to do."


class Kite(Entity, table=TABLE, lifetimes=(RetainFor(timedelta(days=30), since="flown_at"),)):
    name: str
    flown_at: UtcSeconds

    @key("KITE#{name}", "KITE")
    def at(self, *, name: str) -> None: ...

    flown = IndexKey(BY_DAY, "KITES", "{flown_at}")

    @pattern(flown)
    def by_day(self, *, flown_at: Range[datetime] = ANYTHING) -> None:
        """Kites in the order in which they were flown."""


KITES = Domain("kites", Kite)


def kite(name: str, *, age: timedelta = timedelta(0)) -> Kite:
    return Kite(name=name, flown_at=(datetime.now(UTC) - age).replace(microsecond=0))


class Seen:
    """What a handler was handed, and a way to wait for it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._more = threading.Condition()

    def note(self, entry: FeedEntry, claim: Claim) -> None:
        with self._more:
            self.names.append(entry.new.name)
            self._more.notify_all()

    def wait(self, count: int) -> list[str]:
        with self._more:
            assert self._more.wait_for(lambda: len(self.names) >= count, SOON), self.names
            return list(self.names)


def inserts(handle: Callable[[FeedEntry, Claim], None]) -> Callable[[DomainContext], Sequence[FeedHandler]]:
    return lambda context: [FeedHandler(Kite, ["insert"], handle)]


def settings(folder: Path) -> Settings:
    return Settings(
        store=f"sqlite:///{folder}/s.db",
        objects=f"files:///{folder}/objects",
        archive=str(folder / "archive"),
        secret="of the tests, and long enough",
        workers="none",
    )


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Starts services on one store, and ends them."""
    started: list[Service] = []

    def run(*plugins: DomainPlugin) -> Service:
        service = Service(settings(tmp_path), plugins)
        started.append(service)
        service.start()
        return service

    yield run
    for service in started:
        service.stop(grace=timedelta(seconds=1))


def test_the_service_follows_the_feed_of_a_domain(start: Callable[..., Service]) -> None:
    seen = Seen()
    store = start(DomainPlugin(KITES, feed=inserts(seen.note))).context.store
    for name in ("red", "blue", "green"):
        store.create(kite(name))
    assert seen.wait(3) == ["red", "blue", "green"]


def test_of_several_processes_one_follows_and_another_takes_over(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "_OFF_DUTY", 0.1)
    seen = Seen()
    first = start(DomainPlugin(KITES, feed=inserts(seen.note)))
    first.context.store.create(kite("red"))
    seen.wait(1)
    second = start(DomainPlugin(KITES, feed=inserts(seen.note)))
    first.stop(grace=timedelta(seconds=1))
    second.context.store.create(kite("blue"))
    assert seen.wait(2) == ["red", "blue"], "each once"


def test_a_handler_that_fails_stops_no_other_domain_and_leaves_a_letter(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "_IDLE", 0.01)

    def tear(entry: FeedEntry, claim: Claim) -> None:
        raise ValueError("it is torn")

    seen = Seen()

    # Another domain may follow the records of this one.
    class Wind(Entity, table=Table("Winds", partition="PK")):
        day: str

        @key("WIND#{day}")
        def at(self, *, day: str) -> None: ...

    other = DomainPlugin(Domain("winds", Wind), feed=inserts(seen.note))
    service = start(DomainPlugin(KITES, feed=inserts(tear)), other)
    service.context.store.create(kite("red"))
    assert seen.wait(1) == ["red"]
    told = _await(lambda: [letter.error for letter in service.feeds["kites"].letters()])
    assert told == ["ValueError: it is torn"]


def test_the_service_lets_leave_what_was_kept_for_its_time(
    start: Callable[..., Service], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where the domain says when; and what is not due stays."""
    old = Service(settings(tmp_path), [DomainPlugin(KITES)])
    old.context.store.ensure(*old.domains)
    old.context.store.put_many([kite("old", age=timedelta(days=31)), kite("new")])
    old.run_retention()
    assert old.context.store.lookup(Kite.at(name="old")) is not None
    plugin = DomainPlugin(KITES, retention="* * * * *")
    begin_long_ago(old.context.store, plugin, old.context)
    old.stop()
    service = start(plugin)
    _await(lambda: service.context.store.lookup(Kite.at(name="old")) is None)
    assert service.context.store.lookup(Kite.at(name="new")) is not None
    assert list((tmp_path / "archive").rglob("*")), "it was archived first"


def begin_long_ago(store: Store, plugin: DomainPlugin, context: DomainContext) -> None:
    """As if the schedule had been known for an hour, so that a period of it is over."""
    from penstock.events.schedule import ScheduleState

    (schedule,) = plugin.all_schedules(context)
    store.create(ScheduleState(name=schedule.name, first_seen_at=datetime.now(UTC) - timedelta(hours=1)))


def test_retention_is_one_of_the_schedules_that_are_watched(tmp_path: Path) -> None:
    service = Service(settings(tmp_path), [DomainPlugin(KITES, retention="17 3 * * *")])
    assert [(s.name, s.cron) for s in service.schedules] == [("kites-retention", "17 3 * * *")]
    service.stop()


def test_a_running_handler_does_not_keep_the_service_from_ending(start: Callable[..., Service]) -> None:
    begun, never = threading.Event(), threading.Event()

    def hang(entry: FeedEntry, claim: Claim) -> None:
        begun.set()
        never.wait(60)

    service = start(DomainPlugin(KITES, feed=inserts(hang)))
    service.context.store.create(kite("red"))
    assert begun.wait(SOON)
    ended = threading.Thread(target=service.stop, kwargs={"grace": timedelta(seconds=1)}, daemon=True)
    ended.start()
    ended.join(SOON)
    assert not ended.is_alive()
    never.set()


def test_what_a_plugin_says_of_itself_is_checked() -> None:
    tasks = Tasks("kites")
    flying = Pipeline(tasks, "flying", [PipelineStep("fly", lambda work, step: StepResult())])
    wrong: Any = [1]
    with pytest.raises(DeclarationError, match="begins with a Domain, not with str"):
        DomainPlugin(cast(Any, "kites"))
    with pytest.raises(DeclarationError, match=r"the tasks of kites are the Tasks they were declared with, not \[1\]"):
        DomainPlugin(KITES, tasks=wrong)
    with pytest.raises(DeclarationError, match=r"routes of kites is a function of its DomainContext, not \[1\]"):
        DomainPlugin(KITES, routes=wrong)
    with pytest.raises(DeclarationError, match="'daily' is not a cron expression"):
        DomainPlugin(KITES, retention="daily")
    with pytest.raises(DeclarationError, match="kites has pipelines and no tasks"):
        DomainPlugin(KITES, pipelines=[flying])
    with pytest.raises(DeclarationError, match=r"no pattern Kite.by_colour for the console; there are Kite.by_day"):
        DomainPlugin(KITES, console=ConsoleHints("Kites", first="Kite.by_colour"))
    plugin = DomainPlugin(KITES, tasks=tasks, pipelines=[flying], console=ConsoleHints("Kites", first="Kite.by_day"))
    assert plugin.pipelines == [flying]


def _await(ask: Callable[[], object]) -> object:
    pause = threading.Event()
    for _ in range(int(SOON / 0.05)):
        if answer := ask():
            return answer
        pause.wait(0.05)
    raise AssertionError("it did not come")
