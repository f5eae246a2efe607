"""Clocks that differ: within the skew no worker is robbed of its time, and a dead one is still found soon."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from penstock import FrozenClock, Store
from penstock.kernel.readable import readable
from penstock.ports.clock import SKEW
from penstock.work import Outcome, Runner, Task, TaskStatus
from penstock.work.rescue import Rescuer
from tests.work.plant import TASKS, look, roll
from tests.work.test_fairness import announce as announce_several
from tests.work.test_tasks import announce, attempts, the_task

LEASE = timedelta(seconds=60)
STEP = timedelta(seconds=10)
WITHIN = [SKEW, -SKEW]


def minutes(time: timedelta) -> str:
    return f"{time // timedelta(minutes=1):+d}min"


class Two(NamedTuple):
    """Two processes on one store, the second with another clock. Time passes for both."""

    mine: Store
    other: Store

    def wait(self, time: timedelta) -> None:
        for store in self:
            store.clock.advance(time)  # type: ignore[attr-defined]

    def seconds_until(self, done: Callable[[], object]) -> float:
        """How long it takes, looking from time to time."""
        passed = timedelta(0)
        while not done():
            assert passed < timedelta(hours=1), "it never happens"
            self.wait(STEP)
            passed += STEP
        return passed.total_seconds()


@pytest.fixture
def apart(open_plant: Callable[[], Store], clock: FrozenClock) -> Callable[[timedelta], Two]:
    """Two processes whose clocks differ by so much; both admit the skew that is tolerated."""

    def open_two(ahead: timedelta) -> Two:
        clocks = FrozenClock(clock.now(), skew=SKEW), FrozenClock(clock.now() + ahead, skew=SKEW)
        return Two(*(Store(open_plant().engine, clock=c) for c in clocks))

    return open_two


@pytest.mark.parametrize("ahead", WITHIN, ids=minutes)
def test_a_worker_that_renews_its_lease_is_never_robbed(apart: Callable[[timedelta], Two], ahead: timedelta) -> None:
    two = apart(ahead)
    task_id = announce(two.mine, look)
    runner, rescuer = Runner(two.mine, [TASKS], lease=LEASE), Rescuer(two.other, [TASKS], lease=LEASE)
    (work,) = runner.take()
    for _ in range(72):
        two.wait(STEP)
        runner.renew([work])
        assert rescuer.run_once() == 0
    assert runner.run(work) is Outcome.DONE
    assert [a.outcome for a in attempts(two.mine, task_id)] == [Outcome.DONE]


@pytest.mark.parametrize("ahead", WITHIN, ids=minutes)
def test_a_dead_worker_is_missed_by_one_who_watches(apart: Callable[[timedelta], Two], ahead: timedelta) -> None:
    """After a lease and another one; a slow clock adds what it is behind, but a fast one takes nothing away."""
    two = apart(ahead)
    task_id = announce(two.mine, look)
    Runner(two.mine, [TASKS], owner="dead", lease=LEASE).take()
    passed = two.seconds_until(Rescuer(two.other, [TASKS], lease=LEASE).run_once)
    assert 60 <= passed <= 120 + max(-ahead, timedelta(0)).total_seconds()
    assert the_task(two.mine, task_id).status is TaskStatus.WAITING


@pytest.mark.parametrize("ahead", WITHIN, ids=minutes)
def test_a_dead_worker_is_missed_by_one_who_has_only_come(apart: Callable[[timedelta], Two], ahead: timedelta) -> None:
    two = apart(ahead)
    announce(two.mine, look)
    Runner(two.mine, [TASKS], owner="dead", lease=LEASE).take()
    passed = two.seconds_until(lambda: Rescuer(two.other, [TASKS], lease=LEASE).run_once())
    assert 60 <= passed <= 60 + 2 * SKEW.total_seconds()


def test_a_fast_clock_frees_no_slot(apart: Callable[[timedelta], Two]) -> None:
    two = apart(SKEW)
    announce_several(two.mine, roll, "a", 4)
    runner, other = Runner(two.mine, [TASKS], lease=LEASE), Runner(two.other, [TASKS], lease=LEASE)
    alive, dead = runner.take(10)
    for _ in range(36):
        two.wait(STEP)
        runner.renew([alive, dead])
        assert other.take(10) == [], "there are two slots, and two tasks run"
    runner.run(alive)
    assert len(other.take(10)) == 1


def test_a_fast_clock_takes_no_slot_that_another_was_faster_to_take(apart: Callable[[timedelta], Two]) -> None:
    two = apart(SKEW)
    announce_several(two.mine, roll, "a", 3)
    runner, other = Runner(two.mine, [TASKS], chance=lambda: 0.0), Runner(two.other, [TASKS])
    chosen = other._queue.next(1)
    last = list(two.mine.find(Task.by_status(status=TaskStatus.WAITING)))[-1]
    faster = runner.take_one(last.task_id, None)
    assert faster is not None
    assert (faster.slot, faster.task.task_id != chosen[0].task.task_id) == (chosen[0].slot, True)
    assert other._start(chosen) == []


def test_whoever_rescues_a_task_frees_its_slot(apart: Callable[[timedelta], Two]) -> None:
    two = apart(SKEW)
    announce_several(two.mine, roll, "a", 4)
    runner, other = Runner(two.mine, [TASKS], lease=LEASE), Runner(two.other, [TASKS], lease=LEASE)
    alive, _dead = runner.take(10)
    rescuer = Rescuer(two.other, [TASKS], lease=LEASE)
    rescued = 0

    def rescue() -> int:
        nonlocal rescued
        runner.renew([alive])
        assert other.take(10) == []
        rescued = rescuer.run_once()
        return rescued

    two.seconds_until(rescue)
    assert rescued == 1
    assert len(other.take(10)) == 1, "not only when its time is over by every clock"


def test_a_slot_that_nobody_gave_back_ends_by_the_slowest_clock(apart: Callable[[timedelta], Two]) -> None:
    two = apart(SKEW)
    announce_several(two.mine, roll, "a", 4)
    Runner(two.mine, [TASKS], lease=LEASE).take(10)
    other = Runner(two.other, [TASKS], lease=LEASE)
    passed = two.seconds_until(lambda: other.take(10))
    assert 60 <= passed <= 60 + SKEW.total_seconds() + STEP.total_seconds()


def test_whoever_has_stood_still_has_not_watched_meanwhile(
    apart: Callable[[timedelta], Two], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It read the clock, stood still for two leases, and only then saw a lease that is over."""
    two = apart(timedelta(0))
    announce(two.mine, look)
    Runner(two.mine, [TASKS], owner="w", lease=LEASE).take()
    two.wait(LEASE)
    rescuer = Rescuer(two.other, [TASKS], lease=LEASE)

    def late(*args: Any) -> Any:
        two.other.clock.advance(2 * LEASE)  # type: ignore[attr-defined]
        return readable(*args)

    with monkeypatch.context() as patched:
        patched.setattr("penstock.work.rescue.readable", late)
        assert rescuer.run_once() == 0
    two.wait(STEP)
    assert rescuer.run_once() == 0, "it was seen a moment ago"
    two.wait(LEASE)
    assert rescuer.run_once() == 1
