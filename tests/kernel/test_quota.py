"""Quotas: what is taken is within the limit, whoever else takes, and comes back however it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Domain, FrozenClock, Store
from penstock.errors import Conflict, InvalidValue
from penstock.kernel.lease import end_second
from penstock.kernel.quota import (
    EVERYBODY,
    BeyondQuota,
    Quota,
    QuotaExceeded,
    QuotaHold,
    QuotaUse,
    Share,
    prolong,
    usage,
)
from penstock.kernel.quota_movements import check, settle_many, settle_overdue
from penstock.operations.reads import Range
from penstock.ports.engine import Engine
from penstock.testing.entities import SUITE, Counter
from penstock.testing.promises.concurrency import THREADS, at_once

JOBS = Quota("test.jobs", "jobs", retry=timedelta(seconds=90))
SECONDS = Quota("test.seconds", "seconds of work", per=timedelta(hours=1))
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def clock() -> FrozenClock:
    """Ten o'clock tomorrow: DynamoDB Local removes, by the machine's clock, what has expired by that."""
    return FrozenClock(datetime.now(UTC).replace(hour=10, minute=0, second=0, microsecond=0) + timedelta(days=1))


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    return (SUITE,)


@pytest.fixture
def quotas(store: Store) -> Store:
    return store


def reserve(store: Store, hold: str, *shares: Share, lasting: timedelta = MINUTE) -> None:
    with store.change() as change:
        change.quotas.reserve(hold, *shares, until=store.clock.now() + lasting)


def settle(store: Store, hold: str, **spent: int) -> None:
    with store.change() as change:
        change.quotas.settle(hold, spent={f"test.{name}": amount for name, amount in spent.items()})


def one(whose: str = EVERYBODY, *, limit: int | None = 2, amount: int = 1) -> Share:
    return Share(JOBS, whose, amount, limit)


def test_what_is_taken_is_counted_and_comes_back(quotas: Store) -> None:
    reserve(quotas, "a", one())
    reserve(quotas, "b", one())
    assert usage(quotas, JOBS) == 2
    with pytest.raises(QuotaExceeded):
        reserve(quotas, "c", one())
    settle(quotas, "a")
    assert usage(quotas, JOBS) == 1
    reserve(quotas, "c", one())
    assert usage(quotas, JOBS) == 2


def test_a_refusal_tells_what_is_used_what_is_allowed_and_when_to_come_back(quotas: Store) -> None:
    reserve(quotas, "a", one(amount=2))
    with pytest.raises(QuotaExceeded) as told:
        reserve(quotas, "b", Share(JOBS, EVERYBODY, 1, 2, "for all guests"))
    refused = told.value
    assert (refused.used, refused.limit, refused.amount, refused.retry_after) == (2, 2, 1, 90)
    assert str(refused) == (
        "2 of 2 jobs are in use for all guests, and 1 more would be too many; try again in 90 seconds"
    )


def test_a_refusal_undoes_the_whole_change(quotas: Store) -> None:
    """Nothing begins without its share, and no share is taken for what does not begin."""
    reserve(quotas, "a", one("full"), one("full2", limit=1))
    with pytest.raises(QuotaExceeded), quotas.change() as change:
        change.create(Counter(name="never"))
        change.quotas.reserve("b", one("full"), one("full2", limit=1), until=quotas.clock.now() + MINUTE)
    assert quotas.lookup(Counter.at(name="never")) is None
    assert (usage(quotas, JOBS, "full"), usage(quotas, JOBS, "full2")) == (1, 1)
    quotas.create(Counter(name="there"))
    with pytest.raises(Conflict), quotas.change() as change:
        change.create(Counter(name="there"))
        change.quotas.reserve("b", one("full"), until=quotas.clock.now() + MINUTE)
    assert usage(quotas, JOBS, "full") == 1
    assert quotas.lookup(QuotaHold.at(hold_id="b")) is None


def test_what_can_never_fit_is_told_so(quotas: Store) -> None:
    """Waiting would not help."""
    with pytest.raises(BeyondQuota, match="it takes up to 3 jobs, and at most 2 are allowed"):
        reserve(quotas, "a", one(amount=3))
    with pytest.raises(BeyondQuota):
        check(quotas, one(amount=3))
    with pytest.raises(BeyondQuota), quotas.change() as change:
        for hold in ("a", "b"):
            change.quotas.reserve(hold, one(amount=2), until=quotas.clock.now() + MINUTE)
    with pytest.raises(InvalidValue, match="-1 is no amount"):
        reserve(quotas, "a", one(amount=-1))
    assert usage(quotas, JOBS) == 0


def test_everybody_has_a_counter_of_their_own(quotas: Store) -> None:
    reserve(quotas, "a", one("ann", limit=1), one(limit=2))
    with pytest.raises(QuotaExceeded):
        reserve(quotas, "b", one("ann", limit=1), one(limit=2))
    reserve(quotas, "b", one("bob", limit=1), one(limit=2))
    assert [usage(quotas, JOBS, whose) for whose in ("ann", "bob", EVERYBODY)] == [1, 1, 2]


def test_an_amount_without_a_limit_is_counted_and_not_refused(quotas: Store) -> None:
    reserve(quotas, "a", one(limit=None, amount=5))
    with pytest.raises(QuotaExceeded):
        reserve(quotas, "b", one())
    assert usage(quotas, JOBS) == 5


# Ends


def test_a_hold_is_settled_once(quotas: Store) -> None:
    """By whoever comes first; it never goes below zero."""
    reserve(quotas, "a", one())
    reserve(quotas, "b", one())
    for _ in range(3):
        settle(quotas, "a")
    settle(quotas, "never there")
    assert usage(quotas, JOBS) == 1


def test_the_true_amount_stays_counted_of_what_is_spent(quotas: Store, clock: FrozenClock) -> None:
    """An estimate is taken, and what was not needed comes back; what was spent does not, until its hour is over."""
    clock.set(clock.now().replace(minute=15))
    reserve(quotas, "a", Share(SECONDS, "ann", 100, 120))
    with pytest.raises(QuotaExceeded) as told:
        reserve(quotas, "b", Share(SECONDS, "ann", 50, 120))
    assert told.value.retry_after == 45 * 60, "until the hour is over"
    settle(quotas, "a", seconds=40)
    assert usage(quotas, SECONDS, "ann") == 40
    reserve(quotas, "b", Share(SECONDS, "ann", 50, 120))
    settle(quotas, "b", seconds=70)
    assert usage(quotas, SECONDS, "ann") == 110, "more than was estimated is counted as well"
    clock.advance(timedelta(minutes=45))
    assert usage(quotas, SECONDS, "ann") == 0


def test_what_is_spent_already_needs_no_hold(quotas: Store, clock: FrozenClock) -> None:
    for _ in range(2):
        with quotas.change() as change:
            change.quotas.spend(Share(SECONDS, "ann", 50, 120))
    with pytest.raises(QuotaExceeded), quotas.change() as change:
        change.quotas.spend(Share(SECONDS, "ann", 50, 120))
    assert usage(quotas, SECONDS, "ann") == 100
    assert list(quotas.find(QuotaHold.by_end())) == []
    with pytest.raises(InvalidValue, match="is held, and not spent"), quotas.change() as change:
        change.quotas.spend(one())


def test_what_ends_in_another_hour_changes_only_the_hour_it_began_in(quotas: Store, clock: FrozenClock) -> None:
    reserve(quotas, "a", Share(SECONDS, "ann", 100, 120), lasting=3 * HOUR)
    clock.advance(HOUR)
    reserve(quotas, "b", Share(SECONDS, "ann", 30, 120))
    settle(quotas, "a", seconds=10)
    assert usage(quotas, SECONDS, "ann") == 30


def test_some_of_a_hold_can_be_kept(quotas: Store, clock: FrozenClock) -> None:
    """Settled and reserved in one change, it is one sum: there is no moment at which another could take it."""
    reserve(quotas, "a", one(amount=2))
    with quotas.change() as change:
        change.quotas.settle("a")
        change.quotas.reserve("a", one(), until=clock.now() + HOUR)
    assert usage(quotas, JOBS) == 1
    with quotas.change() as change:
        change.quotas.settle("a")
        change.quotas.reserve("b", one(amount=2), until=clock.now() + HOUR)
    assert usage(quotas, JOBS) == 2
    settle(quotas, "b")
    assert usage(quotas, JOBS) == 0


def test_a_name_is_held_once(quotas: Store) -> None:
    reserve(quotas, "a", one())
    with pytest.raises(Conflict) as refused:
        reserve(quotas, "a", one())
    assert not isinstance(refused.value, QuotaExceeded)
    assert usage(quotas, JOBS) == 1


def test_what_a_part_of_a_change_took_goes_with_it(quotas: Store) -> None:
    """A handler that fails leaves the rest of the change as it was, its quotas too."""
    with quotas.change() as change:
        change.create(Counter(name="stays"))
        with pytest.raises(ZeroDivisionError), change.attempt():
            change.quotas.reserve("a", one(), until=quotas.clock.now() + MINUTE)
            raise ZeroDivisionError
    assert quotas.get(Counter.at(name="stays"))
    assert usage(quotas, JOBS) == 0


def test_the_dead_hold_nothing_for_ever(quotas: Store, clock: FrozenClock) -> None:
    """Whoever would be refused because of them gives it back, and gets it."""
    reserve(quotas, "a", one(amount=2))
    clock.advance(MINUTE - timedelta(seconds=1))
    with pytest.raises(QuotaExceeded):
        reserve(quotas, "b", one())
    with pytest.raises(QuotaExceeded):
        check(quotas, one())
    clock.advance(timedelta(seconds=1))
    check(quotas, one())
    reserve(quotas, "b", one())
    assert usage(quotas, JOBS) == 1
    settle(quotas, "a")
    assert usage(quotas, JOBS) == 1, "one who wakes up gives nothing back that is another's by now"


def test_the_dead_are_found_by_whoever_reserves(quotas: Store, clock: FrozenClock) -> None:
    reserve(quotas, "a", one(amount=2))
    clock.advance(MINUTE)
    reserve(quotas, "b", one(amount=2))
    assert usage(quotas, JOBS) == 2


def test_a_sweep_gives_back_what_the_dead_held(quotas: Store, clock: FrozenClock) -> None:
    """What they may have spent stays counted: nobody knows how much it was."""
    for name in "abc":
        reserve(quotas, name, one(limit=9), Share(SECONDS, EVERYBODY, 10, 100))
    reserve(quotas, "alive", one(limit=9), lasting=HOUR)
    assert settle_overdue(quotas) == 0
    clock.advance(MINUTE)
    assert settle_overdue(quotas, most=2) == 2
    assert settle_overdue(quotas) == 1
    assert (usage(quotas, JOBS), usage(quotas, SECONDS)) == (1, 30)
    assert [hold.hold_id for hold in quotas.find(QuotaHold.by_end())] == ["alive"]


def test_a_clock_that_is_ahead_settles_nothing_before_its_time(
    open_engine: Callable[[], Engine], clock: FrozenClock
) -> None:
    clock.skew = timedelta(minutes=5)
    store = Store(open_engine(), clock=clock)
    store.ensure()
    reserve(store, "a", one())
    clock.advance(timedelta(minutes=5))
    assert settle_overdue(store) == 0
    clock.advance(MINUTE)
    assert settle_overdue(store) == 1


def test_a_hold_is_prolonged_while_it_stands(quotas: Store, clock: FrozenClock) -> None:
    reserve(quotas, "a", one())
    assert prolong(quotas, "a", until=clock.now() + HOUR)
    clock.advance(2 * MINUTE)
    assert settle_overdue(quotas) == 0
    clock.advance(HOUR)
    assert settle_overdue(quotas) == 1
    assert not prolong(quotas, "a", until=clock.now() + HOUR)


def test_many_are_settled_together(quotas: Store) -> None:
    names = [f"{n}" for n in range(70)]
    for name in names:
        reserve(quotas, name, one(limit=100), one(f"of {name}"))
    settle_many(quotas, [*names, "never there"])
    assert usage(quotas, JOBS) == 0
    assert list(quotas.find(QuotaHold.by_end())) == []


# Records


def test_counters_are_forgotten(quotas: Store, clock: FrozenClock) -> None:
    """None stays for good; and none goes while something is held on it."""
    reserve(quotas, "a", one(), Share(SECONDS, EVERYBODY, 10, 100), lasting=JOBS.longest)
    clock.advance(JOBS.longest - MINUTE)
    assert usage(quotas, JOBS) == 1
    with pytest.raises(InvalidValue, match=r"test\.jobs is held 7 days, 0:00:00 at most"):
        reserve(quotas, "b", one(), lasting=JOBS.longest + timedelta(days=1))
    clock.advance(timedelta(days=40))
    assert usage(quotas, JOBS) == 0
    assert quotas.lookup(QuotaHold.at(hold_id="a")) is None
    settle(quotas, "a")
    reserve(quotas, "b", one())
    assert usage(quotas, JOBS) == 1


def test_a_counter_that_was_lost_is_owed_nothing(quotas: Store) -> None:
    """Whatever has happened to it, work can end, and it does not go below zero."""
    for name in "abc":
        reserve(quotas, name, one(limit=9))
    ref = QuotaUse.at(quota=JOBS.name, whose=EVERYBODY, period="held")
    with quotas.change() as change:
        use = change.get(ref)
        use.used = 0
        change.save(use)
    settle(quotas, "a")
    assert usage(quotas, JOBS) == 0
    quotas.delete(ref)
    settle(quotas, "b")
    settle(quotas, "c")
    assert usage(quotas, JOBS) == 0


def test_a_project_sees_its_own_quotas_only(quotas: Store) -> None:
    """A store that is bound to a project counts for it."""
    mine, other = quotas.scoped("p1", enforce=False), quotas.scoped("p2", enforce=False)
    reserve(mine, "a", one("p1"))
    assert (usage(mine, JOBS, "p1"), usage(other, JOBS, "p1")) == (1, 0)
    settle(other, "a")
    assert usage(quotas, JOBS, "p1") == 1
    settle(mine, "a")
    assert usage(mine, JOBS, "p1") == 0


def test_what_others_count_for_a_project_counts_for_those_who_are_bound_to_it(quotas: Store) -> None:
    """An administrator or a worker, who is bound to none, may be the first to count."""
    mine, other = quotas.scoped("p1", enforce=False), quotas.scoped("p2", enforce=False)
    reserve(quotas, "a", replace(one("p1"), project="p1"))
    reserve(mine, "b", replace(one("p1"), project="p1"))
    assert (usage(mine, JOBS, "p1"), usage(other, JOBS, "p1")) == (2, 0)
    settle(mine, "a")
    settle(quotas, "b")
    assert usage(quotas, JOBS, "p1") == 0


# Many at once


def test_eight_writers_never_pass_the_limit(open_engine: Callable[[], Engine], clock: FrozenClock) -> None:
    """Each with its own engine; all that was allowed is given out, and all of it comes back."""
    stores = [Store(open_engine(), clock=clock) for _ in range(THREADS)]
    stores[0].ensure()

    def take(number: int) -> list[str]:
        got = []
        for turn in range(6):
            name = f"{number}-{turn}"
            try:
                reserve(stores[number], name, one(limit=20), one(f"w{number}", limit=9))
            except QuotaExceeded:
                continue
            got.append(name)
        return got

    got = [name for names in at_once(take) for name in names]
    assert len(got) == usage(stores[0], JOBS) == 20

    def give_back(number: int) -> None:
        for name in got[number::THREADS]:
            settle(stores[number], name)

    at_once(give_back)
    assert usage(stores[0], JOBS) == 0


def test_eight_settle_one_hold_once(open_engine: Callable[[], Engine], clock: FrozenClock) -> None:
    stores = [Store(open_engine(), clock=clock) for _ in range(THREADS)]
    stores[0].ensure()
    for turn in range(3):
        reserve(stores[0], f"stays {turn}", one(limit=99))
        reserve(stores[0], f"goes {turn}", one(limit=99))
        at_once(lambda number, turn=turn: settle(stores[number], f"goes {turn}"))  # type: ignore[misc]
        assert usage(stores[0], JOBS) == turn + 1


TAKER = """
import sys
from datetime import timedelta
from penstock import open_store
from penstock.kernel.quota import Quota, QuotaExceeded, Share
store, name, got = open_store(sys.argv[1]), sys.argv[2], 0
sys.stdin.readline()
for turn in range(10):
    try:
        with store.change() as change:
            until = store.clock.now() + timedelta(hours=1)
            change.quotas.reserve(f"{name}-{turn}", Share(Quota("test.jobs", "jobs"), "all", 1, 25), until=until)
        got += 1
    except QuotaExceeded:
        pass
print(got)
"""


def test_processes_never_pass_the_limit(tmp_path: Path) -> None:
    from penstock import open_store

    url = f"sqlite:///{tmp_path}/shared.db"
    store = open_store(url)
    store.ensure()
    takers = [
        subprocess.Popen(
            [sys.executable, "-c", TAKER, url, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in "abcd"
    ]
    got = [json.loads(taker.communicate("go\n", timeout=60)[0]) for taker in takers]
    assert sum(got) == usage(store, JOBS, "all") == 25
    store.close()


def test_counters_are_written_in_one_order_whatever_order_they_were_taken_in(quotas: Store) -> None:
    """Else two changes wait for each other in a circle, where a database locks what is written."""
    names = [Quota(f"test.{name}", name) for name in "cab"]
    change = quotas.change()
    change.quotas.reserve("h", *(Share(quota, "x", 1, 9) for quota in names), until=quotas.clock.now() + MINUTE)
    counters = [w.key["quota"] for w in change.writes() if w.shape is QuotaUse.__shape__]
    assert counters == ["test.a", "test.b", "test.c"]


def test_whoever_is_refused_settles_only_so_many_for_others(quotas: Store) -> None:
    """However many there are whose time is over: the others are the sweep's."""
    reserve(quotas, "a", one(limit=1), lasting=HOUR)
    over = end_second(quotas.clock.now() - HOUR)
    ends = end_second(quotas.clock.now() + HOUR)
    quotas.put_many(QuotaHold(hold_id=f"old{n:03d}", amounts=[], until=over, ttl=ends) for n in range(130))
    with pytest.raises(QuotaExceeded):
        reserve(quotas, "b", one(limit=1))
    assert len(list(quotas.find(QuotaHold.by_end(until=Range(high=over))))) == 30


def test_a_hold_that_is_prolonged_just_before_it_would_end_stays(
    quotas: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve(quotas, "a", one())
    clock.advance(HOUR)
    over = list(quotas.find(QuotaHold.by_end()))

    def prolonged(*asked: Any) -> list[QuotaHold]:
        assert prolong(quotas, "a", until=clock.now() + HOUR)
        return over

    with monkeypatch.context() as patched:
        patched.setattr(quotas, "find", prolonged)
        settle_overdue(quotas)
    assert (usage(quotas, JOBS), len(list(quotas.find(QuotaHold.by_end())))) == (1, 1)


def test_of_two_who_are_the_first_to_take_both_are_counted(quotas: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = quotas.get_many

    def slowly(*asked: Any) -> list[Any]:
        found = looked(*asked)
        monkeypatch.setattr(quotas, "get_many", looked)
        reserve(quotas, "quicker", one())
        return found

    monkeypatch.setattr(quotas, "get_many", slowly)
    reserve(quotas, "a", one())
    assert usage(quotas, JOBS) == 2
