"""Clocks that differ: within the skew nobody is robbed of their time, and beyond it nothing false is written either."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from penstock import FrozenClock, Store, SystemClock, open_store
from penstock.domains.musicvideo.model import DOMAIN, Project, ProjectStatus
from penstock.errors import Conflict, InvalidValue
from penstock.events.relay import Relay
from penstock.kernel.idempotency import Claim, InProgress, Replay, SystemOnce, begin
from penstock.kernel.lease import Duty, Lease, LeaseLost, NamedLease, renew, take, take_named
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.kernel.seals import seal
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.lifecycle.reaper import Reaper
from penstock.lifecycle.retention import Retention
from penstock.operations.reads import Ref
from penstock.ports.clock import SKEW
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.entities import SUITE, Session
from tests.kernel.shelf import PAPERS, Paper
from tests.kernel.test_outbox import Listener

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
STEP = timedelta(seconds=10)
WITHIN = [SKEW, -SKEW]
BEYOND = [timedelta(minutes=6), timedelta(minutes=-6), timedelta(days=400), timedelta(days=-400)]


def minutes(time: timedelta) -> str:
    return f"{time // MINUTE:+d}min"


class Two(NamedTuple):
    """Two processes on one store, the second with another clock. Time passes for both."""

    mine: Store
    other: Store

    def wait(self, time: timedelta) -> None:
        for store in self:
            store.clock.advance(time)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def engines(shared_engine: Callable[[], Engine]) -> tuple[Engine, Engine]:
    first, second = shared_engine(), shared_engine()
    Store(first, own=SYSTEM_RECORDS).ensure(DOMAIN, SUITE, PAPERS)
    return first, second


@pytest.fixture
def apart(engines: tuple[Engine, Engine], clock: FrozenClock) -> Callable[[timedelta], Two]:
    """Two processes whose clocks differ by so much; both admit the skew that is tolerated."""

    def open_two(ahead: timedelta) -> Two:
        # In the middle of a second, where a bound that is cut off instead of rounded up is noticed.
        now = clock.now() + timedelta(milliseconds=700)
        clocks = FrozenClock(now, skew=SKEW), FrozenClock(now + ahead, skew=SKEW)
        return Two(*(Store(e, clock=c, own=SYSTEM_RECORDS) for e, c in zip(engines, clocks, strict=True)))

    return open_two


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """What a test calls its records."""
    return str(request.node.name)


def a_project(store: Store) -> Project:
    now = store.clock.now()
    record = Project(project_id=uuid4(), concept_prompt="a", character_description="b", created_at=now, updated_at=now)
    store.create(record)
    return record


def granted(lease: Lease | None) -> Lease:
    assert lease is not None
    return lease


def duties(two: Two, name: str) -> tuple[Duty, Duty]:
    """The same duty, for each of them."""
    return Duty(two.mine, name, owner="a", period=MINUTE), Duty(two.other, name, owner="b", period=MINUTE)


# Leases


@pytest.mark.parametrize("ahead", WITHIN, ids=minutes)
def test_within_the_skew_a_lease_is_nobody_elses_before_its_time(
    apart: Callable[[timedelta], Two], ahead: timedelta
) -> None:
    """NC-24, F-NC-4, F-MV-10: nor long after it."""
    two = apart(ahead)
    record = a_project(two.mine)
    start = two.mine.clock.now()
    granted(take(two.mine, record.ref, owner="a", period=MINUTE))
    while take(two.other, record.ref, owner="b", period=MINUTE) is None:
        two.wait(STEP)
    passed = two.mine.clock.now() - start
    assert MINUTE <= passed <= MINUTE + 2 * SKEW + STEP


@pytest.mark.parametrize("ahead", WITHIN, ids=minutes)
def test_within_the_skew_an_owner_that_renews_is_never_robbed(
    apart: Callable[[timedelta], Two], ahead: timedelta
) -> None:
    two = apart(ahead)
    record = a_project(two.mine)
    held = granted(take(two.mine, record.ref, owner="a", period=MINUTE))
    for _ in range(24):
        two.wait(MINUTE / 2)
        assert take(two.other, record.ref, owner="b", period=MINUTE) is None
        held = renew(two.mine, held, period=MINUTE)


@pytest.mark.parametrize("ahead", [*WITHIN, *BEYOND], ids=minutes)
def test_at_any_skew_a_fenced_out_owner_changes_nothing(apart: Callable[[timedelta], Two], ahead: timedelta) -> None:
    """F-NC-4: epochs decide, and no clock is asked."""
    two = apart(ahead)
    record = a_project(two.mine)
    old = granted(take(two.mine, record.ref, owner="a", period=MINUTE))
    two.wait(timedelta(days=401))
    new = granted(take(two.other, record.ref, owner="a", period=MINUTE))
    assert new.epoch == old.epoch + 1

    def queue(store: Store, lease: Lease) -> None:
        with store.change(by="a", under=lease) as change:
            change.save(change.get(record.ref).queue())
            change.emit("project.queued", record)

    with pytest.raises(LeaseLost):
        queue(two.mine, old)
    with pytest.raises(LeaseLost):
        renew(two.mine, old, period=MINUTE)
    assert two.mine.get(record.ref).status is ProjectStatus.PENDING
    queue(two.other, new)
    told = two.mine.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    assert [m.type for m in told if m.aggregate == repr(record.ref)] == ["project.queued"]


def test_whoever_died_on_duty_is_relieved_after_a_period_however_far_ahead_its_clock_was(
    apart: Callable[[timedelta], Two], name: str
) -> None:
    """Its successor has watched the lease, and compares no clocks: else it would wait for more than a year."""
    two = apart(timedelta(days=-400))
    dead = Duty(two.mine, name, owner="dead", period=MINUTE)
    successor = Duty(two.other, name, owner="next", period=MINUTE)
    granted(dead.hold())
    for _ in range(6):
        assert successor.hold() is None
        two.wait(STEP)
    assert granted(successor.hold()).epoch == 2


@pytest.mark.parametrize("ahead", WITHIN, ids=minutes)
def test_whoever_is_on_duty_and_renews_is_not_relieved(
    apart: Callable[[timedelta], Two], ahead: timedelta, name: str
) -> None:
    two = apart(ahead)
    mine, other = duties(two, name)
    held = granted(mine.hold())
    for _ in range(45):
        assert other.hold() is None
        two.wait(2 * STEP)
        held = granted(mine.hold())
    assert held.epoch == 1
    while other.hold() is None:
        two.wait(STEP)
    rested = two.mine.clock.now() - held.expires_at
    assert -SECOND < rested <= MINUTE, "by the holder's own clock"
    assert mine.hold() is None, "it hears that it was relieved"


def test_whoever_stood_still_counts_from_when_it_saw_the_lease(
    apart: Callable[[timedelta], Two], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not from when it began to ask: in between, the holder may have been heard of any number of times."""
    two = apart(timedelta(0))
    holder, successor = duties(two, name)
    granted(holder.hold())
    lookup = two.other.lookup

    def slow(ref: Ref[NamedLease]) -> NamedLease | None:
        two.wait(MINUTE)
        granted(holder.hold())
        return lookup(ref)

    with monkeypatch.context() as standstill:
        standstill.setattr(two.other, "lookup", slow)
        assert successor.hold() is None
    two.wait(SECOND)
    assert successor.hold() is None


def test_whoever_is_heard_of_in_the_last_moment_is_not_relieved(
    apart: Callable[[timedelta], Two], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = apart(timedelta(0))
    holder, successor = duties(two, name)
    granted(holder.hold())
    assert successor.hold() is None
    two.wait(MINUTE)
    patch, asked = two.other.patch, list[str]()

    def late(*given: Any, **options: Any) -> Any:
        asked.append("for a lease")
        if len(asked) == 2:  # it is not free; now to relieve whoever has it
            granted(holder.hold())
        return patch(*given, **options)

    monkeypatch.setattr(two.other, "patch", late)
    assert successor.hold() is None
    assert len(asked) == 2
    assert granted(holder.hold()).epoch == 1


def test_a_lease_lasts_its_whole_period(engines: tuple[Engine, Engine], clock: FrozenClock, name: str) -> None:
    """Ends are whole seconds; the part of a second that is cut off must not be the holder's."""
    store = Store(engines[0], clock=clock, own=SYSTEM_RECORDS)
    clock.advance(timedelta(milliseconds=900))
    held = granted(take_named(store, name, owner="a", period=SECOND))
    assert held.expires_at >= clock.now() + SECOND
    clock.advance(timedelta(milliseconds=999))
    assert take_named(store, name, owner="b", period=SECOND) is None


# Once


def asked(store: Store, key: str) -> SystemOnce:
    now = store.clock.now()
    return SystemOnce(idempotency_key=key, created_at=now, ttl=int((now + timedelta(days=1)).timestamp()))


def turn_of(outcome: Claim | Replay) -> Claim:
    assert isinstance(outcome, Claim)
    return outcome


@pytest.mark.parametrize("ahead", WITHIN, ids=minutes)
def test_within_the_skew_a_turn_is_nobody_elses_before_its_time(
    apart: Callable[[timedelta], Two], ahead: timedelta, name: str
) -> None:
    """AC-40, F-AC-4: one works, and the other is told to wait until the owner's time is over by its own clock."""
    two = apart(ahead)
    start = two.mine.clock.now()
    turn_of(begin(two.mine, asked(two.mine, name), owner="a", period=MINUTE))
    while not _is_taken_over(two.other, name):
        two.wait(STEP)
    passed = two.mine.clock.now() - start
    assert MINUTE <= passed <= MINUTE + 2 * SKEW + STEP


def _is_taken_over(store: Store, name: str) -> bool:
    try:
        return isinstance(begin(store, asked(store, name), owner="b", period=MINUTE), Claim)
    except InProgress:
        return False


@pytest.mark.parametrize("ahead", [*WITHIN, *BEYOND[:2]], ids=minutes)
def test_at_any_skew_who_has_lost_its_turn_ends_nothing(
    apart: Callable[[timedelta], Two], ahead: timedelta, name: str
) -> None:
    """F-AC-4: not even under the same name, and not when the mark was forgotten and made anew."""
    two = apart(ahead)
    old = turn_of(begin(two.mine, asked(two.mine, name), owner="a", period=MINUTE))
    two.wait(MINUTE + 2 * SKEW + 2 * MINUTE)
    over = turn_of(begin(two.other, asked(two.other, name), owner="a", period=MINUTE))
    two.wait(timedelta(days=2))
    anew = turn_of(begin(two.other, asked(two.other, name), owner="a", period=MINUTE))
    for lost in (old, over):
        with pytest.raises(Conflict), two.mine.change(once=lost) as change:
            change.create(NamedLease(name=f"the effect of {name}"))
    with two.other.change(once=anew) as change:
        change.create(NamedLease(name=f"the effect of {name}"))
        change.result = {"by": "the last"}
    for store in two:
        assert begin(store, asked(store, name), owner="c", period=MINUTE) == Replay({"by": "the last"})


def test_a_clock_that_is_ahead_forgets_an_answer_earlier_by_no_more_than_that(
    apart: Callable[[timedelta], Two], name: str
) -> None:
    """AC-41: which is why a lifetime of at least 24 hours is declared longer by the skew."""
    two = apart(SKEW)
    two.mine.commit([turn_of(begin(two.mine, asked(two.mine, name), owner="a", period=MINUTE)).done({"id": 7})])
    two.wait(timedelta(days=1) - SKEW - SECOND)
    for store in two:
        assert begin(store, asked(store, name), owner="b", period=MINUTE) == Replay({"id": 7})


# Expiry


def test_a_record_expires_for_each_by_its_own_clock_and_the_reaper_waits_for_the_slowest(
    apart: Callable[[timedelta], Two], name: str
) -> None:
    """F-X-2: invisible at once, and never removed while a slower clock still sees it."""
    two = apart(SKEW)
    before = Store(two.mine.engine, clock=FrozenClock(two.mine.clock.now()), own=SYSTEM_RECORDS)
    end = int(two.mine.clock.now().timestamp()) + 600
    session = Session(user=name, session_id="s", ends_at=end)
    two.mine.put(session)
    two.wait(timedelta(seconds=600) - SKEW)
    assert two.other.lookup(session.ref) is None
    fast = Reaper(two.other, [SUITE], owner="fast")
    fast.run_once()
    assert two.mine.lookup(session.ref) == session
    two.wait(SKEW - SECOND)
    fast.run_once()
    assert two.mine.lookup(session.ref) == session
    two.wait(SECOND)
    assert two.mine.lookup(session.ref) is None
    fast.run_once()
    native = two.mine.engine.features.native_expiry
    assert before.lookup(session.ref) == (session if native else None), "removed, where that is ours to do"


def test_a_key_that_has_expired_by_one_clock_is_given_out_once(apart: Callable[[timedelta], Two], name: str) -> None:
    """The fast one may have it early; whoever comes later, by any clock, finds it taken."""
    two = apart(SKEW)
    end = int(two.mine.clock.now().timestamp()) + 60
    two.mine.put(Session(user=name, session_id="s", ends_at=end))
    new = Session(user=name, session_id="s", ends_at=end + 3600, visits=1)
    with pytest.raises(Conflict):
        two.mine.create(new)
    two.other.create(new)
    for store in two:
        with pytest.raises(Conflict):
            store.create(new.model_copy(update={"visits": 2}))
        assert store.get(new.ref).visits == 1


def test_nothing_is_archived_before_its_time_by_the_slowest_clock(
    apart: Callable[[timedelta], Two], tmp_path: Path, name: str
) -> None:
    two = apart(SKEW)
    paper = Paper(name=name, filed_at=two.mine.clock.now())
    two.mine.put(paper)
    runner = Retention(two.other, FolderArchive(tmp_path / "archive"), [PAPERS], owner="fast")
    two.wait(timedelta(days=30) - SECOND)
    assert [d.records for d in runner.plan()] == [0]
    assert [d.removed for d in runner.run()] == [0]
    two.wait(2 * SECOND)
    assert [d.removed for d in runner.run()] == [1]


def test_no_seal_leaves_less_room_than_clocks_may_differ(apart: Callable[[timedelta], Two], name: str) -> None:
    two = apart(SKEW)
    with pytest.raises(InvalidValue, match="by which clocks may differ"):
        seal(two.mine, name, by="sealer", margin=SKEW - SECOND)
    assert seal(two.mine, name, by="sealer", margin=SKEW) is None


# Messages


@pytest.mark.parametrize("ahead", WITHIN, ids=minutes)
def test_messages_of_changes_further_apart_than_clocks_are_told_in_their_order(
    apart: Callable[[timedelta], Two], ahead: timedelta
) -> None:
    """F-AC-2; see docs/kernel.md for those that are closer."""
    two = apart(ahead)
    assert two_moves_told(two, between=lambda relay: two.wait(SKEW + SECOND)) == ["queued", "composing"]


@pytest.mark.parametrize("ahead", [*WITHIN, *BEYOND], ids=minutes)
def test_at_any_skew_what_was_told_stays_first(apart: Callable[[timedelta], Two], ahead: timedelta) -> None:
    assert two_moves_told(apart(ahead), between=lambda relay: relay.drain()) == ["queued", "composing"]


def two_moves_told(two: Two, *, between: Callable[[Relay], object]) -> list[str]:
    """What is told of a record that two processes move, one after the other."""
    record = a_project(two.mine)
    listener = Listener()
    relay = Relay(two.mine, listener, owner="r")
    with two.mine.change() as change:
        change.save(change.get(record.ref).queue())
        change.emit("queued", record)
    between(relay)
    with two.other.change() as change:
        change.save(change.get(record.ref).compose())
        change.emit("composing", record)
    relay.drain()
    relay.close()
    return [m.type for m in listener.heard if m.aggregate == repr(record.ref)]


# What is assumed


def test_machines_are_five_minutes_apart_unless_somebody_knows_better(tmp_path: Path) -> None:
    assert timedelta(minutes=5) == SKEW == SystemClock().skew == open_store("postgresql://nowhere/x").clock.skew
    assert open_store("dynamodb://us-east-1").clock.skew == SKEW
    assert open_store(f"sqlite:///{tmp_path}/one.db").clock.skew == timedelta(0), "a file has one machine"
    known = SystemClock(skew=timedelta(seconds=1))
    assert open_store("postgresql://nowhere/x", clock=known).clock.skew == timedelta(seconds=1)
