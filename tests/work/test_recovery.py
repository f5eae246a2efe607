"""What has gone wrong elsewhere when work was recovered, and does not here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store, SystemClock, open_store
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.errors import Unavailable
from penstock.kernel.lease import LeaseLost
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work import Outcome, Runner, Task, TaskAttempt, TaskContext, Tasks, TaskStatus
from penstock.work.heartbeat import Heartbeat
from penstock.work.rescue import Rescuer, keep_rescuing
from penstock.work.working import WORKING
from penstock.workers.dispatcher import Dispatcher
from penstock.workers.inline import InlineWorkers
from penstock.workers.manual import ManualWorkers
from tests.servers import Postgres, require
from tests.work.plant import PLANT, TASKS, Order, Stamp, look, press, stamps
from tests.work.soon import soon
from tests.work.test_tasks import announce, attempts, stamped, the_task

SECOND = timedelta(seconds=1)
LEASE = timedelta(seconds=60)


def rescue(store: Store, tasks: list[Tasks]) -> int:
    """By a process that has only just begun to look."""
    return Rescuer(store, tasks, lease=LEASE).run_once()


class Paper:
    """A broker on paper: notes of what it was told, and refuses what it is told to refuse."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int | None]] = []
        self.sizes: list[int] = []
        self.refuses: set[str] = set()
        self.waiting = 0

    def send(self, tasks: Sequence[Task], *, limit: timedelta) -> None:
        if any(task.task_id in self.refuses for task in tasks):
            raise ConnectionError("no such luck")
        self.sizes.append(len(tasks))
        self.told += [(task.task_id, task.lease_epoch) for task in tasks]

    def queued(self) -> int:
        return self.waiting


def test_one_dispatch_raising_strands_nobody(store: Store, clock: FrozenClock) -> None:
    ids = [announce(store, look) for _ in range(5)]
    broker = Paper()
    broker.refuses = {ids[2]}
    dispatcher = Dispatcher(store, [TASKS], broker, owner="d")
    assert dispatcher.run_once() == 4
    assert {t for t, _ in broker.told} == set(ids) - {ids[2]}, "those behind it are sent"
    broker.waiting = 4
    broker.refuses.clear()
    clock.advance(5 * SECOND)
    assert dispatcher.run_once() == 1
    assert broker.told[-1] == (ids[2], None), "and it is sent as well, soon"


def test_a_database_restart_during_recovery_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FrozenClock()
    with require(Postgres(durable=True)) as server:
        store = Store(SqlEngine(PostgresConnector(server.url)), clock=clock, own=SYSTEM_RECORDS)
        store.ensure(WORKING, PLANT)
        ids = [announce(store, look) for _ in range(12)]
        Runner(store, [TASKS], owner="dead").take(12)
        clock.advance(LEASE)
        commits = 0
        commit = store.commit

        def restart_amidst(writes: Any) -> None:
            nonlocal commits
            commits += 1
            if commits == 5:
                server.restart()
            commit(writes)

        monkeypatch.setattr(store, "commit", restart_amidst)
        assert rescue(store, [TASKS]) == 12
        assert all(the_task(store, i).status is TaskStatus.WAITING for i in ids)
        store.close()


def test_a_database_that_is_away_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    clock = FrozenClock()
    stop, failed = threading.Event(), threading.Event()
    with require(Postgres(durable=True)) as server:
        store = Store(
            SqlEngine(PostgresConnector(server.url, sleep=lambda _: failed.set())), clock=clock, own=SYSTEM_RECORDS
        )
        store.ensure(WORKING, PLANT)
        task_id = announce(store, look)
        Runner(store, [TASKS], owner="dead").take()
        clock.advance(LEASE)
        server.kill()
        with pytest.raises(Unavailable):
            rescue(store, [TASKS])
        failed.clear()
        often = {"lease": timedelta(seconds=0.04)}
        rescuer = threading.Thread(target=keep_rescuing, args=(store, [TASKS], stop), kwargs=often)
        rescuer.start()
        assert failed.wait(30)
        server.start()
        soon(lambda: the_task(store, task_id).status is TaskStatus.WAITING)
        stop.set()
        rescuer.join(30)
        store.close()


def test_a_stale_pending_read_does_not_run(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    task_id = announce(store, look)
    stale = Runner(store, [TASKS], owner="stale")
    chosen = stale._queue.next(1)
    assert workers.drain() == 1
    assert stale._start(chosen) == []
    # Also when it waits again, for an attempt that is not due yet.
    task_id = announce(store, press, fails="error")
    chosen = stale._queue.next(1)
    workers.drain()
    assert the_task(store, task_id).status is TaskStatus.WAITING
    assert stale._start(chosen) == []
    assert len(attempts(store, task_id)) == 1


def test_a_message_that_comes_late_or_twice_does_not_run(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    task_id = announce(store, press, fails="error", until=2)
    runner = Runner(store, [TASKS])
    assert runner.take_one("nobody", None) is None
    first = runner.take_one(task_id, None)
    assert first is not None
    assert runner.take_one(task_id, None) is None, "it is running"
    runner.run(first)
    assert the_task(store, task_id).status is TaskStatus.WAITING
    assert runner.take_one(task_id, None) is None, "that attempt is over, and the next is not due"
    assert Runner(store, []).take_one(task_id, 1) is None, "others know what to do with it"
    assert runner.take_one(task_id, 1) is not None


def test_a_draining_process_with_the_same_name_does_not_reclaim(store: Store, clock: FrozenClock) -> None:
    stamped(store, "a")
    task_id = announce(store)
    old, new = Runner(store, [TASKS], owner="worker-1"), Runner(store, [TASKS], owner="worker-1")
    (before,) = old.take()
    clock.advance(LEASE)
    rescue(store, [TASKS])
    clock.advance(LEASE)
    (now,) = new.take()
    old.renew([before])
    assert before.lost, "the lease is of this name, but not its own"
    old.hand_back(before)
    assert the_task(store, task_id).status is TaskStatus.RUNNING
    with pytest.raises(LeaseLost):
        before.check()
    assert (old.run(before), new.run(now)) == (Outcome.LOST, Outcome.DONE)
    assert stamps(store, "a") == {"a": 1}


def test_a_draining_process_hands_back_what_it_was_about_to_take(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = InlineWorkers(store, [TASKS], threads=1, owner="draining")
    take, stopping = workers.runner.take, threading.Event()

    def take_while_stopping(most: int = 1) -> list[TaskContext]:
        works = take(most)
        if works:
            stopping.set()
            assert workers._stop.wait(30)
        return works

    monkeypatch.setattr(workers.runner, "take", take_while_stopping)
    task_id = announce(store, look)
    workers.start()
    assert stopping.wait(30)
    workers.stop()
    soon(lambda: the_task(store, task_id).status is TaskStatus.WAITING)
    assert [a.outcome for a in attempts(store, task_id)] == [Outcome.HANDED_BACK]


def test_a_full_rescue_page_does_not_hide_later_jobs(
    store: Store, workers: ManualWorkers, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records are so large that a page has few of them, also where its size is counted in bytes."""
    monkeypatch.setattr("penstock.engines.sql.engine.PAGE", 3)
    ids = [announce(store, look, name="x" * 300_000) for _ in range(8)]
    Runner(store, [TASKS], owner="dead").take(8)
    clock.advance(LEASE)
    assert workers.rescue() == 8
    assert all(the_task(store, i).status is TaskStatus.WAITING for i in ids)
    assert workers.rescue() == 0


def test_one_that_cannot_be_rescued_hides_no_other(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [announce(store, look) for _ in range(3)]
    Runner(store, [TASKS], owner="dead").take(3)
    clock.advance(LEASE)
    commit = store.commit

    def refuse_one(writes: Any) -> None:
        if any(getattr(w, "key", {}).get("task_id") == ids[1] for w in writes):
            raise Unavailable("just this one")
        commit(writes)

    monkeypatch.setattr(store, "commit", refuse_one)
    assert rescue(store, [TASKS]) == 2


def test_what_a_rescuer_does_not_know_is_left_to_one_that_does(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    task_id = announce(store, look)
    Runner(store, [TASKS], owner="dead").take()
    clock.advance(LEASE)
    assert rescue(store, [Tasks("other")]) == 0
    assert the_task(store, task_id).status is TaskStatus.RUNNING
    assert workers.rescue() == 1


def test_a_worker_that_dies_counts_as_an_attempt_and_the_last_one_is_the_end(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    stamped(store, "failed-a")
    task_id = announce(store)
    dying = Runner(store, [TASKS], owner="dying")
    for _ in range(4):
        assert len(dying.take()) == 1
        clock.advance(LEASE)
        assert workers.rescue() == 1
        clock.advance(LEASE)
    dead = the_task(store, task_id)
    assert (dead.status, dead.attempts, dead.error_class) == (TaskStatus.FAILED, 4, "WorkerLost")
    found = attempts(store, task_id)
    assert [(a.outcome, a.worker) for a in found] == [(Outcome.LOST, "dying")] * 4
    assert all(a.ended_at - a.started_at == LEASE for a in found)
    assert stamps(store, "failed-a") == {"failed-a": 1}


def test_what_a_lost_worker_had_comes_before_the_backlog(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    lost = announce(store, look)
    Runner(store, [TASKS], owner="dead").take(1)
    clock.advance(SECOND)
    backlog = [announce(store, look) for _ in range(20)]
    clock.advance(LEASE + clock.skew)
    assert rescue(store, [TASKS]) == 1
    (next_one,) = workers.runner.take(1)
    assert next_one.task.task_id == lost
    clock.advance(LEASE + clock.skew)
    assert rescue(store, [TASKS]) == 1
    assert the_task(store, lost).due_at > clock.now(), "one that takes its workers along may be at fault itself"
    assert {work.task.task_id for work in workers.runner.take(20)} == set(backlog)


def test_what_a_lost_worker_had_is_due_at_once_though_the_clock_of_whoever_enqueued_it_is_ahead(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    announce(store, look)
    (work,) = Runner(store, [TASKS], owner="dying").take()
    store.put(work.task.model_copy(update={"created_at": clock.now() + timedelta(hours=1)}))
    clock.advance(timedelta(minutes=10))
    assert workers.rescue() == 1
    assert workers.run_one() is Outcome.DONE


def test_a_lease_shorter_than_the_task_is_renewed(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    stamped(store, "a")
    task_id = announce(store)
    runner = Runner(store, [TASKS], owner="slow", lease=LEASE)
    (work,) = runner.take()
    for _ in range(12):
        clock.advance(LEASE / 3)
        assert runner.renew([work]) == []
        assert workers.rescue() == 0
    assert runner.run(work) is Outcome.DONE
    assert [a.outcome for a in attempts(store, task_id)] == [Outcome.DONE]
    assert stamps(store, "a") == {"a": 1}


def test_the_heartbeat_renews_by_itself(tmp_path: Any) -> None:
    """By a real clock: a task of four leases."""
    store = open_store(f"sqlite:///{tmp_path}/plant.db")
    store.ensure(WORKING, PLANT)
    tasks = Tasks("own")
    lease = timedelta(seconds=0.3)

    @tasks.task("slow")
    def slow(work: TaskContext, input: Order) -> None:
        began, ends = SystemClock().now(), {work.lease.expires_at}

        def renewed_again_and_again() -> bool:
            ends.add(work.lease.expires_at)
            return len(ends) > 12

        soon(renewed_again_and_again)
        assert SystemClock().now() - began > 3 * lease

    with store.change() as change:
        task_id = slow.enqueue(change, Order())
    runner = Runner(store, [tasks], lease=lease)
    keeper = Heartbeat(runner)
    (work,) = runner.take()
    with keeper.holding(work):
        assert runner.run(work) is Outcome.DONE
    keeper.stop()
    assert keeper.held == []
    assert the_task(store, task_id).attempts == 1
    store.close()


def test_a_worker_that_stalls_and_wakes_is_fenced_out(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    stamped(store, "a", "way")
    tasks = Tasks("plant")
    woke: list[str] = []

    @tasks.task("press")
    def stall(work: TaskContext, input: Order) -> None:
        clock.advance(LEASE)
        assert workers.rescue() == 1
        clock.advance(LEASE)
        assert workers.run_one() is Outcome.DONE
        for write in (lambda: work.change(), lambda: work.finish()):
            with pytest.raises(LeaseLost), write() as change:
                change.patch(Stamp.at(name="way"), *_one_more())
            woke.append("refused")
        with work.finish() as change:
            change.patch(Stamp.at(name="a"), *_one_more())

    task_id = announce(store)
    stalled = Runner(store, [tasks], owner="stalled", lease=LEASE)
    (work,) = stalled.take()
    assert stalled.run(work) is Outcome.LOST
    assert woke == ["refused", "refused"]
    assert stamps(store, "a", "way") == {"a": 1, "way": 0}
    assert [(a.worker, a.outcome) for a in attempts(store, task_id)] == [
        ("stalled", Outcome.LOST),
        ("manual", Outcome.DONE),
    ]


def _one_more() -> tuple[Any, ...]:
    from penstock import the

    return (the(Stamp.count).add(1),)


def test_one_whose_time_is_over_is_ended_also_where_another_has_it_by_then(store: Store, clock: FrozenClock) -> None:
    """Whoever runs it is told once that it is over, or would not be free for another."""
    tasks = Tasks("plant")

    @tasks.task("press", limit=LEASE)
    def nothing(work: TaskContext, input: Order) -> None: ...

    task_id = announce(store)
    slow, other = (Runner(store, [tasks], owner=owner, lease=LEASE) for owner in ("slow", "other"))
    (work,) = slow.take()
    work.begin()
    clock.advance(LEASE)
    assert rescue(store, [tasks]) == 1
    (again,) = other.take()
    assert (slow.renew([work]), slow.renew([work])) == ([work], [])
    assert other.run(again) is Outcome.DONE
    assert [(a.worker, a.outcome) for a in attempts(store, task_id)] == [
        ("slow", Outcome.LOST),
        ("other", Outcome.DONE),
    ]


def test_one_that_was_renewed_since_it_was_read_is_not_rescued(
    store: Store,
    clock: FrozenClock,
    open_plant: Callable[[], Store],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nor is it tried again without what its handlers write, which was not the reason."""
    task_id = announce(store, look)
    runner = Runner(open_plant(), [TASKS], owner="slow", lease=LEASE)
    (work,) = runner.take()
    clock.advance(LEASE)
    find = store.find

    def find_then_renew(query: Any, **more: Any) -> Any:
        for record in find(query, **more):
            runner.renew([work])
            yield record

    monkeypatch.setattr(store, "find", find_then_renew)
    assert rescue(store, [TASKS]) == 0
    assert "on failure was refused" not in caplog.text
    assert runner.run(work) is Outcome.DONE
    assert len(list(find(TaskAttempt.of_task(task_id=task_id)))) == 1
