"""The dispatcher: tells a broker of what is due, a little at a time, and again of what the broker has lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import BROKER, Unavailable
from penstock.work import Runner, Task, TaskStatus, runner
from penstock.work import concurrency as slots
from penstock.work.put_off import postpone
from penstock.workers.dispatcher import Dispatcher
from penstock.workers.manual import ManualWorkers
from tests.work.plant import TASKS, Order, look, press, roll
from tests.work.soon import soon
from tests.work.test_fairness import announce as announce_many
from tests.work.test_recovery import Paper
from tests.work.test_tasks import announce, the_task

MINUTE = timedelta(minutes=1)


def dispatcher(store: Store, broker: Paper, *, depth: int = 100) -> Dispatcher:
    return Dispatcher(store, [TASKS], broker, owner="d", redelivery=MINUTE, depth=depth)


def test_the_broker_is_told_once_of_what_is_due(store: Store, clock: FrozenClock) -> None:
    first = announce(store, look)
    with store.change() as change:
        later = look.enqueue(change, Order(), after=2 * MINUTE)
    broker = Paper()
    at_work = dispatcher(store, broker)
    assert (at_work.run_once(), at_work.run_once()) == (1, 0)
    assert broker.told == [(first, None)]
    clock.advance(2 * MINUTE)
    at_work.run_once()
    assert (later, None) in broker.told


def test_a_broker_that_lost_its_memory_is_refilled_from_the_store(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    ids = {announce(store, look) for _ in range(3)}
    broker = Paper()
    at_work = dispatcher(store, broker)
    at_work.run_once()
    taken = Runner(store, [TASKS]).take_one(*broker.told[0])
    assert taken is not None
    broker.told.clear()
    clock.advance(timedelta(seconds=4))
    assert at_work.run_once() == 0, "a worker may just be about to take them"
    clock.advance(timedelta(seconds=1))
    assert at_work.run_once() == 2, "the broker has nothing left to tell, and nobody has taken them"
    assert {t for t, _ in broker.told} == ids - {taken.task.task_id}, "of what is running it need not be told"


def test_what_a_broker_does_not_tell_in_time_is_told_again(store: Store, clock: FrozenClock) -> None:
    task_id = announce(store, look)
    broker = Paper()
    at_work = dispatcher(store, broker)
    at_work.run_once()
    broker.waiting = 1
    clock.advance(MINUTE - timedelta(seconds=1))
    assert at_work.run_once() == 0, "it may still tell of it"
    clock.advance(timedelta(seconds=1))
    assert at_work.run_once() == 1
    assert broker.told == [(task_id, None)] * 2


def test_the_next_attempt_is_told_as_another(store: Store, clock: FrozenClock) -> None:
    task_id = announce(store, press, fails="error", until=2)
    broker = Paper()
    at_work, worker = dispatcher(store, broker), Runner(store, [TASKS])
    at_work.run_once()
    work = worker.take_one(*broker.told[-1])
    assert work is not None
    worker.run(work)
    clock.advance(MINUTE)
    at_work.run_once()
    assert broker.told == [(task_id, None), (task_id, 1)]


def test_one_that_a_worker_takes_before_it_is_noted_is_his(store: Store, clock: FrozenClock) -> None:
    task_id = announce(store, look)
    worker = Runner(store, [TASKS])

    class Swift(Paper):
        def send(self, tasks: Sequence[Task], *, limit: timedelta) -> None:
            (task,) = tasks
            assert worker.take_one(task.task_id, task.lease_epoch) is not None

    assert dispatcher(store, Swift()).run_once() == 1
    running = the_task(store, task_id)
    assert (running.status, running.due_at) == (TaskStatus.RUNNING, clock.now() + worker.lease)


def test_the_broker_knows_few_tasks_at_a_time_and_of_each_project_in_turn(store: Store) -> None:
    announce_many(store, look, "a", 50)
    announce_many(store, look, "b", 2)
    broker = Paper()
    at_work = dispatcher(store, broker, depth=6)
    broker.waiting = 2
    assert at_work.run_once() == 4
    told = [the_task(store, t).project_id for t, _ in broker.told]
    assert sorted(told) == ["a", "a", "b", "b"]
    broker.waiting = 6
    assert at_work.run_once() == 0
    broker.waiting = 9
    assert at_work.run_once() == 0


def test_no_more_of_a_project_are_told_of_than_may_run(store: Store) -> None:
    announce_many(store, roll, "a", 5)
    broker = Paper()
    assert dispatcher(store, broker).run_once() == 2


def test_one_dispatcher_is_at_work_and_another_takes_over(
    store: Store, open_plant: Callable[[], Store], clock: FrozenClock
) -> None:
    first, second = Paper(), Paper()
    one = Dispatcher(store, [TASKS], first, owner="one")
    other = Dispatcher(open_plant(), [TASKS], second, owner="other")
    announce(store, look)
    assert (one.run_once(), other.run_once()) == (1, 0)
    announce(store, look)
    one.close()
    assert (other.run_once(), one.run_once()) == (1, 0)


def test_it_goes_on_when_the_broker_is_away(store: Store, clock: FrozenClock) -> None:
    class Away(Paper):
        asked = 0

        def queued(self) -> int:
            self.asked += 1
            if self.asked < 3:
                raise ConnectionError("away")
            return 0

    broker, stop = Away(), threading.Event()
    announce(store, look)
    at_work = dispatcher(store, broker)
    thread = threading.Thread(target=at_work.run, args=(_Impatient(stop),))
    thread.start()
    soon(lambda: len(broker.told) == 1)
    stop.set()
    thread.join(30)
    assert not thread.is_alive()


def test_a_broker_that_does_not_say_how_much_it_has_is_told_as_away(store: Store) -> None:
    class Away(Paper):
        def queued(self) -> int:
            raise ConnectionError("no route")

    announce(store, look)
    with pytest.raises(Unavailable, match="the broker cannot be reached: no route") as told:
        dispatcher(store, Away()).run_once()
    assert told.value.part == BROKER


class _Impatient(threading.Event):
    """An event for which nobody waits long."""

    def __init__(self, real: threading.Event) -> None:
        super().__init__()
        self._real = real

    def is_set(self) -> bool:
        return self._real.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._real.wait(0.01)


def test_of_two_who_see_the_same_slot_the_second_takes_another(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both were told by the broker, which will not tell again for a long time."""
    first, second = announce(store, roll), announce(store, roll)
    slow, swift = Runner(store, [TASKS], chance=lambda: 0.0), Runner(store, [TASKS], chance=lambda: 0.0)
    seen = slots.free_slots

    def overtaken(*asked: Any) -> list[str]:
        free = seen(*asked)
        monkeypatch.setattr(runner, "free_slots", seen)
        assert swift.take_one(second, None) is not None
        return free

    monkeypatch.setattr(runner, "free_slots", overtaken)
    assert slow.take_one(first, None) is not None


class _Swift(Paper):
    """A broker whose worker is at it while the dispatcher still tells of the next."""

    def __init__(self, meanwhile: Callable[[str], object]) -> None:
        super().__init__()
        self._meanwhile = meanwhile

    def send(self, tasks: Sequence[Task], *, limit: timedelta) -> None:
        super().send(tasks, limit=limit)
        for task in tasks:
            self._meanwhile(task.task_id)


def test_what_a_worker_has_put_off_is_due_when_he_says_and_not_when_it_would_be_told_again(
    store: Store, clock: FrozenClock
) -> None:
    """He was told of it, and could not take it, before the dispatcher notes that it has told of it."""
    task_id = announce(store, look)
    broker = _Swift(lambda sent: postpone(store, [the_task(store, sent)], clock.now() + timedelta(seconds=1)))
    assert dispatcher(store, broker).run_once() == 1
    assert the_task(store, task_id).due_at == clock.now() + timedelta(seconds=1)


@pytest.mark.parametrize("is_noted", [False, True], ids=["told", "told and noted"])
def test_what_a_worker_puts_off_just_when_it_is_taken_for_lost_is_due_when_he_says(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, is_noted: bool
) -> None:
    task_id, broker = announce(store, look), Paper()
    at_work = dispatcher(store, broker)
    assert at_work.run_once() == 1
    broker.told.clear()
    if is_noted:
        clock.advance(timedelta(seconds=2))
        assert at_work.run_once() == 0
        assert the_task(store, task_id).due_at > clock.now(), "the store knows that it has been told of"
    clock.advance(timedelta(seconds=5))
    put_off = clock.now() + timedelta(seconds=30)

    def overtaken(there: Store, tasks: list[Task], until: Any, **options: Any) -> None:
        if tasks and firstly:
            firstly.clear()
            postpone(there, [the_task(store, task_id)], put_off)
        postpone(there, tasks, until, **options)

    firstly = [True]
    monkeypatch.setattr("penstock.workers.dispatcher.postpone", overtaken)
    at_work.run_once()
    assert the_task(store, task_id).due_at == put_off


def test_what_cannot_be_sent_is_tried_again_after_a_while(store: Store, clock: FrozenClock) -> None:
    task_id, broker = announce(store, look), Paper()
    broker.refuses = {task_id}
    at_work = dispatcher(store, broker)
    assert at_work.run_once() == 0
    assert the_task(store, task_id).due_at == clock.now() + timedelta(seconds=5), "others are told of first"
    broker.refuses = set()
    clock.advance(timedelta(seconds=5))
    assert at_work.run_once() == 1


def test_one_that_found_no_slot_is_due_when_its_worker_says(store: Store, clock: FrozenClock) -> None:
    """Also when the dispatcher notes only later that it has told of it."""
    taken = [Runner(store, [TASKS]).take_one(announce(store, roll), None) for _ in range(roll.concurrency or 0)]
    assert all(taken)
    sent = the_task(store, announce(store, roll))
    assert Runner(store, [TASKS]).take_one(sent.task_id, sent.lease_epoch) is None
    postpone(store, [sent], clock.now() + MINUTE, unless_postponed=True)
    assert the_task(store, sent.task_id).due_at == clock.now() + timedelta(seconds=1)
