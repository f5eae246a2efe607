"""Clocks that are set by hours while work runs: nothing fails for it, and every effect is applied once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, SystemClock, open_store
from penstock.kernel.lease import Duty
from penstock.ports.clock import SKEW
from penstock.work import WORKING, Outcome, Runner, TaskContext, Tasks, TaskStatus
from penstock.work.rescue import Rescuer
from penstock.work.task import Progress
from penstock.workers.inline import InlineWorkers
from tests.work.plant import PLANT, TASKS, Order, look, press, stamp, stamps
from tests.work.soon import soon
from tests.work.test_tasks import announce, attempts, own, stamped, the_task

LEASE = timedelta(seconds=60)
STEP = LEASE / 6
HOURS = timedelta(hours=2)
JUMPS = [HOURS, -HOURS]


def hours(time: timedelta) -> str:
    return f"{time // timedelta(hours=1):+d}h"


@pytest.fixture
def apart(open_plant: Callable[[], Store], clock: FrozenClock) -> Callable[[], tuple[Store, Store]]:
    """Two processes, each with a clock of its own, which agree."""
    return lambda: tuple(  # type: ignore[return-value]
        Store(open_plant().engine, clock=FrozenClock(clock.now(), skew=SKEW)) for _ in range(2)
    )


def clock_of(store: Store) -> FrozenClock:
    assert isinstance(store.clock, FrozenClock)
    return store.clock


def on_its_last_attempt(store: Store, *, owner: str = "w") -> tuple[str, Runner, TaskContext]:
    """A task that is running and must not be lost once more."""
    task_id = announce(store, press, fails="error", until=4)
    runner = Runner(store, [TASKS], owner=owner, lease=LEASE)
    for _ in range(3):
        runner.run(runner.take()[0])
        clock_of(store).advance(timedelta(minutes=1))
    (work,) = runner.take()
    assert work.task.attempts == work.task.most_attempts
    return task_id, runner, work


@pytest.mark.parametrize("jump", JUMPS, ids=hours)
def test_a_task_whose_clock_is_set_meanwhile_is_done(store: Store, clock: FrozenClock, jump: timedelta) -> None:
    stamped(store, "a")
    rescuers: list[Rescuer] = []

    def body(work: TaskContext, input: Order) -> None:
        clock.jump(jump)
        for _ in range(12):
            clock.advance(STEP)
            runner.renew([work])
            assert rescuers[0].run_once() == 0
        work.check()
        with work.finish() as change:
            stamp(change, "a")

    tasks, task = own(body, limit=timedelta(minutes=5))
    task_id = announce(store, task)
    runner = Runner(store, [tasks], owner="w", lease=LEASE)
    rescuers.append(Rescuer(store, [tasks], lease=LEASE))
    assert runner.run(runner.take()[0]) is Outcome.DONE
    assert [a.outcome for a in attempts(store, task_id)] == [Outcome.DONE]
    assert stamps(store, "a") == {"a": 1}


def test_a_lease_is_renewed_at_once_when_the_clock_was_set_forward(store: Store, clock: FrozenClock) -> None:
    """Others here take it for over soon, though it was taken a moment ago."""
    announce(store, look)
    runner = Runner(store, [TASKS], owner="w", lease=LEASE)
    (work,) = runner.take()
    taken = work.lease.expires_at
    clock.jump(LEASE / 4)
    runner.renew([work])
    assert work.lease.expires_at == taken, "it has most of its time"
    clock.jump(LEASE / 4)
    runner.renew([work])
    assert work.lease.expires_at == clock.now() + LEASE


@pytest.mark.parametrize("jump", JUMPS, ids=hours)
def test_a_task_has_its_time_and_no_more_whatever_becomes_of_the_clock(
    store: Store, clock: FrozenClock, jump: timedelta
) -> None:
    def body(work: TaskContext, input: Order) -> None:
        clock.jump(jump)
        clock.advance(timedelta(seconds=59))
        work.check()
        clock.advance(timedelta(seconds=1))
        work.check()

    tasks, task = own(body, limit=timedelta(seconds=60))
    task_id = announce(store, task)
    runner = Runner(store, [tasks], owner="w")
    assert runner.run(runner.take()[0]) is Outcome.TERMINAL
    assert the_task(store, task_id).error_class == "TimeOver"


@pytest.mark.parametrize("jump", JUMPS, ids=hours)
@pytest.mark.parametrize("whose", ["the worker's", "the rescuer's"])
def test_a_last_attempt_is_not_buried_because_a_clock_was_set(
    apart: Callable[[], tuple[Store, Store]], jump: timedelta, whose: str
) -> None:
    mine, other = apart()
    stamped(mine, "a", "failed-a")
    task_id, runner, work = on_its_last_attempt(mine)
    clock_of(other).set(mine.clock.now())
    rescuer = Rescuer(other, [TASKS], lease=LEASE)
    rescuer.run_once()
    clock_of(mine if whose == "the worker's" else other).jump(jump)
    for _ in range(60):
        for store in (mine, other):
            clock_of(store).advance(STEP)
        runner.renew([work])
        assert rescuer.run_once() == 0
    assert runner.run(work) is Outcome.DONE
    assert the_task(mine, task_id).status is TaskStatus.DONE
    assert stamps(mine, "a", "failed-a") == {"a": 1, "failed-a": 0}


def test_whoever_comes_with_a_clock_that_is_ahead_buries_nobody_who_lives(
    apart: Callable[[], tuple[Store, Store]],
) -> None:
    mine, other = apart()
    stamped(mine, "a", "failed-a")
    task_id, runner, work = on_its_last_attempt(mine)
    clock_of(other).set(mine.clock.now() + HOURS)
    for _ in range(6):
        rescuer = Rescuer(other, [TASKS], lease=LEASE)
        for _ in range(6):
            assert rescuer.run_once() == 0
            for store in (mine, other):
                clock_of(store).advance(STEP)
            runner.renew([work])
    assert runner.run(work) is Outcome.DONE
    assert stamps(mine, "a", "failed-a") == {"a": 1, "failed-a": 0}
    assert the_task(mine, task_id).status is TaskStatus.DONE


def test_whoever_is_robbed_by_a_clock_that_is_ahead_is_tried_again_and_done_once(
    apart: Callable[[], tuple[Store, Store]],
) -> None:
    mine, other = apart()
    stamped(mine, "a")
    task_id = announce(mine)
    runner = Runner(mine, [TASKS], owner="robbed", lease=LEASE)
    (work,) = runner.take()
    clock_of(other).jump(HOURS)
    assert Rescuer(other, [TASKS], lease=LEASE).run_once() == 1, "it has only come, and cannot know better"
    assert runner.run(work) is Outcome.LOST
    clock_of(mine).advance(HOURS + LEASE)
    assert [runner.run(again) for again in runner.take()] == [Outcome.DONE]
    assert the_task(mine, task_id).status is TaskStatus.DONE
    assert stamps(mine, "a") == {"a": 1}


@pytest.mark.parametrize("jump", JUMPS, ids=hours)
def test_a_worker_that_died_is_still_missed_after_its_rescuers_clock_was_set_forward(
    apart: Callable[[], tuple[Store, Store]], jump: timedelta
) -> None:
    mine, other = apart()
    task_id = announce(mine)
    rescuer = Rescuer(other, [TASKS], lease=LEASE)
    rescuer.run_once()
    Runner(mine, [TASKS], owner="dead", lease=LEASE).take()
    clock_of(other).jump(jump)
    passed = timedelta(0)
    while not rescuer.run_once():
        clock_of(other).advance(STEP)
        passed += STEP
        assert passed <= 2 * LEASE + max(-jump, timedelta(0))
    assert passed >= LEASE
    assert the_task(mine, task_id).status is TaskStatus.WAITING


def test_a_last_attempt_is_missed_though_no_process_lives_as_long_as_a_lease(
    apart: Callable[[], tuple[Store, Store]],
) -> None:
    mine, other = apart()
    stamped(mine, "a", "failed-a")
    task_id, _, _ = on_its_last_attempt(mine, owner="dead")
    clock_of(other).set(mine.clock.now())
    found = []
    for _ in range(40):
        clock_of(other).advance(LEASE / 2)
        found.append(Rescuer(other, [TASKS], lease=LEASE).run_once())
    assert sum(found) == 1
    assert found.index(1) * LEASE / 2 <= 3 * (LEASE + SKEW)
    assert the_task(mine, task_id).status is TaskStatus.FAILED
    assert stamps(mine, "a", "failed-a") == {"a": 0, "failed-a": 1}


@pytest.mark.parametrize("jump", [timedelta(0), HOURS], ids=hours)
def test_a_last_attempt_that_is_renewed_now_and_then_is_not_missed_by_those_who_come_and_go(
    apart: Callable[[], tuple[Store, Store]], jump: timedelta
) -> None:
    """An outage that lasts longer than a lease lets nobody renew; whoever comes first after it buries nobody."""
    mine, other = apart()
    stamped(mine, "a")
    _, runner, work = on_its_last_attempt(mine)
    clock_of(other).set(mine.clock.now())
    clock_of(other).jump(jump)
    for _ in range(8):
        for _ in range(2):
            for store in (mine, other):
                clock_of(store).advance(LEASE + SKEW)
            assert Rescuer(other, [TASKS], lease=LEASE).run_once() == 0
        runner.renew([work])
    assert runner.run(work) is Outcome.DONE


def test_progress_is_told_after_the_clock_was_set_back(store: Store, clock: FrozenClock) -> None:
    def body(work: TaskContext, input: Order) -> None:
        work.progress(0.1)
        clock.jump(-HOURS)
        clock.advance(timedelta(seconds=2))
        work.progress(0.5)

    tasks, task = own(body)
    task_id = announce(store, task)
    runner = Runner(store, [tasks], owner="w")
    runner.run(runner.take()[0])
    assert store.get(Progress.at(task_id=task_id)).fraction == 0.5


@pytest.mark.parametrize(("whose", "jump"), [("the holder's", HOURS), ("the other's", -HOURS)])
def test_whoever_is_on_duty_and_renews_is_not_relieved_because_a_clock_was_set(
    apart: Callable[[], tuple[Store, Store]], whose: str, jump: timedelta
) -> None:
    """The other way round the lease looks over to the other, and is taken; whoever had it is fenced out."""
    mine, other = apart()
    holder, next_one = Duty(mine, "d", owner="a", period=LEASE), Duty(other, "d", owner="b", period=LEASE)
    assert holder.hold()
    for step in range(24):
        if step == 3:
            clock_of(mine if whose == "the holder's" else other).jump(jump)
        held = holder.hold()
        assert held is not None
        assert held.epoch == 1
        assert next_one.hold() is None
        for store in (mine, other):
            clock_of(store).advance(STEP)


def test_whoever_is_on_duty_renews_after_its_clock_was_set_back(apart: Callable[[], tuple[Store, Store]]) -> None:
    mine, _ = apart()
    holder = Duty(mine, "d", owner="a", period=LEASE)
    first = holder.hold()
    clock_of(mine).jump(-HOURS)
    clock_of(mine).advance(LEASE * 0.6)
    second = holder.hold()
    assert first is not None
    assert second is not None
    assert second.expires_at < first.expires_at, "it was written anew, by the clock as it is now"


class Jumpy(SystemClock):
    """The machine's clock, and somebody who sets it."""

    off = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.off


@pytest.mark.parametrize("jump", JUMPS, ids=hours)
def test_workers_go_on_when_the_machines_clock_is_set(tmp_path: Path, jump: timedelta) -> None:
    """With threads, a keeper and a rescuer, by the real clock."""
    clock, tasks, ran = Jumpy(), Tasks("own"), threading.Event()
    store = open_store(f"sqlite:///{tmp_path}/plant.db", clock=clock)
    store.ensure(WORKING, PLANT)
    stamped(store, "a")

    @tasks.task("task", limit=timedelta(minutes=10))
    def task(work: TaskContext, input: Order) -> None:
        clock.off += jump
        ends = {work.lease.expires_at}

        def renewed() -> bool:
            ends.add(work.lease.expires_at)
            work.check()
            return len(ends) > 8

        soon(renewed)
        with work.finish() as change:
            stamp(change, "a")
        ran.set()

    with store.change() as change:
        task_id = task.enqueue(change, Order())
    workers = InlineWorkers(store, [tasks], threads=1, lease=timedelta(seconds=1))
    workers.start()
    try:
        assert ran.wait(60)
    finally:
        workers.stop()
    assert [a.outcome for a in attempts(store, task_id)] == [Outcome.DONE]
    assert stamps(store, "a") == {"a": 1}
    store.close()
