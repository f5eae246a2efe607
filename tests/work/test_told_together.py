"""What is told together: many tasks in few messages, the broker seldom asked, and each task still a worker's own."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import pytest

from penstock import FrozenClock, Store
from penstock.errors import PenstockError
from penstock.work import Outcome, Runner, Task, TaskContext, Tasks, TaskStatus
from penstock.work.told_task import ToldTask
from penstock.work.worker_presence import WorkerPresence
from penstock.workers import pool_process
from penstock.workers.dispatcher import Dispatcher
from penstock.workers.pool_process import PoolProcess, TellAnother
from tests.work.plant import TASKS, Order, look, roll
from tests.work.test_fairness import announce as announce_many
from tests.work.test_recovery import Paper
from tests.work.test_tasks import announce, attempts, the_task

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


class Asked(Paper):
    """Counts how often it was asked how much it has."""

    asked = 0

    def queued(self) -> int:
        self.asked += 1
        return super().queued()


def waiting(store: Store) -> list[Task]:
    return list(store.find(Task.by_status(status=TaskStatus.WAITING)))


# The dispatcher


def test_where_much_is_due_several_tasks_are_in_a_message_and_few_are_alone(store: Store) -> None:
    broker = Asked()
    at_work = Dispatcher(store, [TASKS], broker, owner="d")
    announce_many(store, look, "a", 4)
    assert at_work.run_once() == 4
    assert broker.sizes == [1] * 4, "others may be idle"
    announce_many(store, look, "a", 30)
    announce_many(store, roll, "b", 2)
    assert at_work.run_once() == 32
    assert sorted(broker.sizes[4:]) == [1, 1] + [6] * 5, "and one that takes a slot is alone"
    assert len({task_id for task_id, _ in broker.told}) == 36


def test_a_broker_is_asked_how_much_it_has_only_when_it_may_have_enough(store: Store) -> None:
    broker = Asked()
    at_work = Dispatcher(store, [TASKS], broker, owner="d", depth=10)
    for _ in range(5):
        announce(store, look)
        assert at_work.run_once() == 1
    assert broker.asked == 1
    announce(store, look)
    assert at_work.run_once() == 1
    assert broker.asked == 1, "five more are no more than half of what it may have"
    broker.waiting = 6
    announce(store, look)
    assert (at_work.run_once(), broker.asked) == (0, 2), "not before it has done half of it"
    broker.waiting = 5
    assert (at_work.run_once(), broker.asked) == (1, 3)


def test_the_messages_that_a_broker_has_count_as_many_as_they_may_tell_of(store: Store) -> None:
    broker = Asked()
    at_work = Dispatcher(store, [TASKS], broker, owner="d", depth=60)
    announce_many(store, look, "a", 100)
    assert at_work.run_once() == 60
    broker.waiting = len(broker.sizes)
    assert at_work.run_once() == 0
    taken = Runner(store, [TASKS]).take_told(dict(broker.told[:30]), pass_on=lambda tasks: tasks)
    broker.waiting -= 3
    assert (at_work.run_once(), len(taken)) == (30, 30)


def test_what_a_worker_takes_at_once_is_never_noted_as_told(store: Store, clock: FrozenClock) -> None:
    """It would cost a write for each task; what nobody takes within a second is noted."""
    ids = [announce(store, look) for _ in range(3)]
    broker = Paper()
    at_work = Dispatcher(store, [TASKS], broker, owner="d", redelivery=MINUTE)
    due = {task.task_id: task.due_at for task in waiting(store)}
    assert (at_work.run_once(), at_work.run_once()) == (3, 0), "it knows of what it has told"
    assert {task.task_id: task.due_at for task in waiting(store)} == due
    broker.waiting = 2
    assert Runner(store, [TASKS]).take_one(ids[0], None) is not None
    told_at = clock.now()
    clock.advance(SECOND)
    assert at_work.run_once() == 0
    assert {task.task_id: task.due_at for task in waiting(store)} == dict.fromkeys(ids[1:], told_at + MINUTE)


def test_one_that_is_tried_again_later_is_not_taken_for_lost(store: Store, clock: FrozenClock) -> None:
    task_id = announce(store, fails="error")
    broker = Paper()
    at_work = Dispatcher(store, [TASKS], broker, owner="d")
    assert at_work.run_once() == 1
    runner = Runner(store, [TASKS], chance=lambda: 1.0)
    work = runner.take_one(task_id, None)
    assert work is not None
    clock.advance(5 * SECOND)
    assert runner.run(work) is Outcome.RETRYABLE
    due_at = the_task(store, task_id).due_at
    assert due_at > clock.now()
    assert at_work.run_once() == 0
    assert the_task(store, task_id).due_at == due_at, "its pause is its own"


# Taking without reading


def test_a_task_is_taken_in_one_request_and_stands_as_if_it_had_been_read(store: Store, clock: FrozenClock) -> None:
    read, unread = (the_task(store, announce(store, look)) for _ in range(2))
    runner = Runner(store, [TASKS])
    one, other = runner.take_one(read.task_id, None), runner.take_unread(ToldTask.of(unread))
    assert one is not None
    assert other is not None
    apart = {"task_id", "created_at", "due_at", "started_at"}
    assert one.task.model_dump(exclude=apart) == other.task.model_dump(exclude=apart)
    assert other.task == the_task(store, unread.task_id)
    assert {t.task_id for t in store.find(Task.by_status(status=TaskStatus.RUNNING))} == {read.task_id, unread.task_id}
    assert runner.run(other) is Outcome.DONE


def test_a_message_that_comes_late_or_twice_takes_nothing(store: Store) -> None:
    told = ToldTask.of(the_task(store, announce(store, look)))
    runner, other = Runner(store, [TASKS]), Runner(store, [TASKS], owner="other")
    work = runner.take_unread(told)
    assert work is not None
    assert other.take_unread(told) is None
    runner.hand_back(work)
    assert other.take_unread(told) is None, "it waits again, after another lease"
    assert other.take_unread(ToldTask.of(the_task(store, told.task_id))) is not None
    assert other.take_unread(told._replace(task_id="nobody")) is None
    assert Runner(store, []).take_unread(told) is None


def test_one_that_needs_a_slot_is_read_first(store: Store) -> None:
    told = [ToldTask.of(the_task(store, announce(store, roll))) for _ in range(3)]
    runner = Runner(store, [TASKS])
    works = [runner.take_unread(each) for each in told]
    assert [work is not None and work.slot is not None for work in works] == [True, True, False]


# One process of a pool


SHOP = Tasks("shop")
RAN: list[str] = []


@SHOP.task("short")
def short(work: TaskContext, input: Order) -> None:
    RAN.append(input.name)


@SHOP.task("stuck")
def stuck(work: TaskContext, input: Order) -> None:
    RAN.append(input.name)
    assert UNBEGUN_GIVEN_BACK.wait(30)


UNBEGUN_GIVEN_BACK = threading.Event()


class Others:
    """Those who are told of what is not taken here."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __call__(self, tasks: Sequence[Task], *, limit: timedelta) -> None:
        self.told += [task.task_id for task in tasks]


@contextmanager
def process(store: Store, others: TellAnother) -> Iterator[PoolProcess]:
    RAN.clear()
    one = PoolProcess(store, [SHOP], lease=MINUTE, context=None, in_pool=False, tell_another=others)
    yield one
    one._heartbeat.stop()


def told(store: Store, *names: str) -> dict[str, int | None]:
    ids = []
    for name in names:
        with store.change() as change:
            ids.append((stuck if name == "stuck" else short).enqueue(change, Order(name=name), project="p1"))
    return dict.fromkeys(ids)


def test_short_tasks_are_taken_together_once_they_are_known_to_be_short(store: Store) -> None:
    others = Others()
    with process(store, others) as one:
        first = told(store, "a", "b", "c")
        one.work_on_several(first)
        assert (RAN, others.told) == (["a"], list(first)[1:]), "who knows how long they take"
        second = told(store, "d", "e", "f")
        one.work_on_several(second)
        assert (RAN, len(others.told)) == (["a", "d", "e", "f"], 2)
        assert all(the_task(store, task_id).status is TaskStatus.DONE for task_id in second)
        one.work_on_several({**second, **told(store, "g")})
        assert RAN[4:] == ["g"], "what is done is not done again"


def test_what_is_not_begun_soon_is_handed_back_and_not_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_process, "STUCK", 0.01)
    UNBEGUN_GIVEN_BACK.clear()
    others = Others()
    with process(store, others) as one:
        one._seconds = {"shop.short": 0.0, "shop.stuck": 0.0}
        ids = told(store, "stuck", "x", "y")
        unbegun, handed_back = list(ids)[1:], one._runner.hand_back

        def hand_back(work: TaskContext) -> None:
            handed_back(work)
            if work.task.task_id == unbegun[-1]:
                UNBEGUN_GIVEN_BACK.set()

        monkeypatch.setattr(one._runner, "hand_back", hand_back)
        one.work_on_several(ids)
        assert RAN == ["stuck"]
        for task_id in unbegun:
            task = the_task(store, task_id)
            assert (task.status, task.attempts) == (TaskStatus.WAITING, 0)
            assert [a.outcome for a in attempts(store, task_id)] == [Outcome.HANDED_BACK]


def test_one_slow_task_among_short_ones_is_forgiven_and_a_second_is_not(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Others()
    with process(store, others) as one:
        one._seconds = {"shop.short": 0.0}
        run = one._runner.run
        for seconds, taken in ((0.4, 3), (0.8, 1)):

            def slowly(work: TaskContext, seconds: float = seconds) -> Outcome:
                clock.advance(seconds * SECOND)
                return run(work)

            with monkeypatch.context() as slow:
                slow.setattr(one._runner, "run", slowly)
                one.work_on_several(told(store, "slow"))
            RAN.clear()
            one.work_on_several(told(store, "a", "b", "c"))
            assert len(RAN) == taken, one._seconds


def test_the_leases_of_all_that_is_taken_are_kept_and_what_is_not_begun_in_the_end_is_handed_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with process(store, Others()) as one:
        one._seconds = {"shop.short": 0.0}
        run, held = one._runner.run, list[int]()

        def broken_off(work: TaskContext) -> Outcome:
            held.append(len(one._heartbeat.held))
            if len(held) == 2:
                raise KeyboardInterrupt
            return run(work)

        monkeypatch.setattr(one._runner, "run", broken_off)
        ids = told(store, "a", "b", "c")
        with pytest.raises(KeyboardInterrupt):
            one.work_on_several(ids)
        assert (held, one._heartbeat.held) == ([3, 2], [])
    assert [the_task(store, i).status for i in ids] == [TaskStatus.DONE, TaskStatus.RUNNING, TaskStatus.WAITING]


def test_a_broker_that_is_away_keeps_nobody_from_what_is_taken_here(store: Store) -> None:
    def nobody(tasks: Sequence[Task], *, limit: timedelta) -> None:
        raise PenstockError("nobody answers")

    with process(store, nobody) as one:
        ids = told(store, "a", "b")
        one.work_on_several(ids)
        assert (RAN, [the_task(store, i).status for i in ids]) == (["a"], [TaskStatus.DONE, TaskStatus.WAITING])


def test_a_process_that_is_told_to_end_hands_back_all_but_what_has_had_its_time(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which would be tried for ever, as what is handed back counts as no attempt."""
    ended = list[int]()
    monkeypatch.setattr("penstock.workers.pool_process.os._exit", ended.append)
    with process(store, Others()) as one:
        one._heartbeat.stop()
        ids = told(store, "a", "b", "c", "d")
        works = one._runner.take(3)
        (later,) = ids.keys() - {work.task.task_id for work in works}
        for work in works:
            one._heartbeat.hold(work)
        works[0].begin()
        clock.advance(works[0].limit)
        one._runner.presence.tell(3)
        one._drop()
        assert list(store.find(WorkerPresence.all_there_are())) == [], "it says that it is gone"
        one.work_on(later, None)
    found = [the_task(store, work.task.task_id).status for work in works]
    assert found == [TaskStatus.RUNNING, TaskStatus.WAITING, TaskStatus.WAITING]
    assert (ended, RAN) == ([0], [])
