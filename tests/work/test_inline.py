"""Inline workers: threads that wake at once, and finish or hand back on the way out. By a real clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from penstock import Store, SystemClock
from penstock.errors import Unavailable
from penstock.work import Outcome, Task, TaskContext, Tasks, TaskStatus
from penstock.workers.inline import InlineWorkers
from tests.work.plant import TASKS, Order, press, stamps
from tests.work.soon import LONG, soon
from tests.work.test_tasks import announce, attempts, stamped, the_task

OWN = Tasks("own")
LIMIT = timedelta(seconds=0.2)


class Gate:
    """Where a task stops until it is let through."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Semaphore(0), threading.Event()


GATES: dict[str, Gate] = {}


def through(work: TaskContext, input: Order) -> None:
    gate = GATES[input.name]
    gate.reached.release()
    assert gate.open.wait(LONG)


passing = OWN.task("passing")(through)
limited = OWN.task("limited", limit=LIMIT)(through)


@OWN.task("quick")
def quick(work: TaskContext, input: Order) -> None: ...


@pytest.fixture
def gate() -> Iterator[Gate]:
    GATES["gate"] = Gate()
    yield GATES["gate"]
    GATES["gate"].open.set()


@pytest.fixture
def clock() -> Any:
    return SystemClock()


@pytest.fixture
def at_work(store: Store) -> Iterator[Callable[..., InlineWorkers]]:
    started: list[InlineWorkers] = []

    def start(**options: Any) -> InlineWorkers:
        started.append(InlineWorkers(store, [TASKS, OWN], **options))
        started[-1].start()
        return started[-1]

    yield start
    for gate in GATES.values():
        gate.open.set()
    for workers in started:
        workers.stop()


def done(store: Store, *ids: str) -> Callable[[], bool]:
    return lambda: all(the_task(store, i).status is TaskStatus.DONE for i in ids)


def test_idle_workers_wake_at_once(store: Store, at_work: Callable[..., InlineWorkers]) -> None:
    stamped(store, "a")
    at_work(threads=2)
    soon(done(store, announce(store, press)))
    waits = []
    for _ in range(5):
        began = time.monotonic()
        soon(done(store, announce(store, press)))
        waits.append(time.monotonic() - began)
    assert min(waits) < 0.9, "sooner than they would look by themselves"
    assert stamps(store, "a") == {"a": 6}


def test_many_short_tasks_are_all_done_once(store: Store, at_work: Callable[..., InlineWorkers]) -> None:
    stamped(store, "a")
    workers = at_work(threads=4)
    ids = [announce(store, press) for _ in range(80)]
    soon(done(store, *ids))
    soon(lambda: workers.busy == 0)
    assert stamps(store, "a") == {"a": 80}


def test_on_the_way_out_what_is_running_is_finished_and_nothing_else_begun(
    store: Store, at_work: Callable[..., InlineWorkers], gate: Gate
) -> None:
    workers = at_work(threads=1)
    running = announce(store, passing, name="gate")
    assert gate.reached.acquire(timeout=LONG)
    waiting = announce(store, quick)
    threading.Timer(0.1, gate.open.set).start()
    workers.stop()
    assert the_task(store, running).status is TaskStatus.DONE
    assert the_task(store, waiting).status is TaskStatus.WAITING


def test_what_is_not_finished_in_time_is_handed_back(
    store: Store, at_work: Callable[..., InlineWorkers], gate: Gate
) -> None:
    workers = at_work(threads=1, owner="leaving")
    running = announce(store, passing, name="gate")
    assert gate.reached.acquire(timeout=LONG)
    workers.stop(grace=timedelta(0))
    assert the_task(store, running).status is TaskStatus.WAITING
    gate.open.set()
    at_work(threads=1)
    soon(done(store, running))
    assert [a.outcome for a in attempts(store, running)] == [Outcome.HANDED_BACK, Outcome.DONE]


def test_a_lease_is_renewed_while_workers_are_leaving(
    store: Store, at_work: Callable[..., InlineWorkers], gate: Gate
) -> None:
    lease = timedelta(seconds=0.5)
    workers = at_work(threads=1, lease=lease)
    running = announce(store, passing, name="gate")
    assert gate.reached.acquire(timeout=LONG)
    leaving = threading.Thread(target=workers.stop)
    leaving.start()
    before = the_task(store, running).due_at
    soon(lambda: the_task(store, running).due_at > before + 2 * lease)
    gate.open.set()
    leaving.join(LONG)
    assert the_task(store, running).status is TaskStatus.DONE


def test_one_that_takes_too_long_takes_no_place_from_others(
    store: Store, at_work: Callable[..., InlineWorkers], gate: Gate
) -> None:
    at_work(threads=1, lease=timedelta(seconds=0.5))
    endless = announce(store, limited, name="gate")
    assert gate.reached.acquire(timeout=LONG)
    behind = announce(store, quick)
    soon(done(store, behind))
    over = the_task(store, endless)
    assert (over.status, over.error_class) == (TaskStatus.FAILED, "TimeOver")
    gate.open.set()
    soon(lambda: not any(t.name == "penstock-run-0" for t in threading.enumerate()))
    assert [a.outcome for a in attempts(store, endless)] == [Outcome.TERMINAL]


def test_what_was_taken_ahead_is_handed_back_when_nothing_moves(
    store: Store, at_work: Callable[..., InlineWorkers], gate: Gate
) -> None:
    workers = at_work(threads=1)
    workers._seconds = 0.0
    ids = [announce(store, passing, name="gate") for _ in range(5)]
    assert gate.reached.acquire(timeout=LONG)
    soon(lambda: workers.busy > 1 or all(the_task(store, i).lease_epoch for i in ids))

    def states() -> list[TaskStatus]:
        return sorted(the_task(store, i).status for i in ids)

    soon(lambda: workers.busy == 1 and states() == [TaskStatus.RUNNING] + [TaskStatus.WAITING] * 4)
    gate.open.set()
    soon(done(store, *ids))


def test_a_store_that_is_away_for_a_while_ends_no_worker(
    store: Store, at_work: Callable[..., InlineWorkers], monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = at_work(threads=1)
    take, failed = workers.runner.take, threading.Event()

    def away(most: int = 1) -> list[TaskContext]:
        if not failed.is_set():
            failed.set()
            raise Unavailable("away")
        return take(most)

    monkeypatch.setattr(workers.runner, "take", away)
    monkeypatch.setattr("penstock.workers.inline._AFTER_ERROR", 0.01)
    assert failed.wait(LONG)
    soon(done(store, announce(store, quick)))


def test_what_cannot_be_written_down_ends_no_worker(
    store: Store, at_work: Callable[..., InlineWorkers], monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = at_work(threads=1, lease=timedelta(seconds=0.4))
    run, failed = workers.runner.run, threading.Event()

    def lose(work: TaskContext) -> Outcome:
        if not failed.is_set():
            failed.set()
            raise Unavailable("away")
        return run(work)

    monkeypatch.setattr(workers.runner, "run", lose)
    task_id = announce(store, quick)
    soon(done(store, task_id))
    assert [a.outcome for a in attempts(store, task_id)] == [Outcome.LOST, Outcome.DONE], "its lease has ended"


def test_nothing_is_left_taken(store: Store, at_work: Callable[..., InlineWorkers]) -> None:
    workers = at_work(threads=3)
    for _ in range(30):
        announce(store, quick)
    workers.stop()
    assert store.first(Task.by_status(status=TaskStatus.RUNNING)) is None
