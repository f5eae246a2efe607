"""What those write down who find a lease over and may not end it for that: three of them, each long after the other."""

from __future__ import annotations

from datetime import timedelta

from penstock import FrozenClock, Store
from penstock.work import Task
from penstock.work.doubted_lease import is_believed, note
from penstock.work.runner import Runner
from tests.work.plant import TASKS, look
from tests.work.test_tasks import announce, the_task

APART = timedelta(minutes=2)
SECOND = timedelta(seconds=1)


def running(store: Store) -> Task:
    announce(store, look)
    (work,) = Runner(store, [TASKS], owner="w").take()
    return work.task


def times(store: Store, task: Task) -> int:
    doubts = the_task(store, task.task_id).doubts
    return 0 if doubts is None else doubts["times"]


def noted(store: Store, task: Task, clock: FrozenClock) -> int:
    """How often it was found over, after somebody has noted that now."""
    note(store, the_task(store, task.task_id), clock.now(), apart=APART)
    return times(store, task)


def test_the_third_believes_it_and_only_so_long_after_the_second(store: Store, clock: FrozenClock) -> None:
    task = running(store)
    assert noted(store, task, clock) == 1
    clock.advance(APART - SECOND)
    assert noted(store, task, clock) == 1, "of those who look at once only one counts"
    clock.advance(SECOND)
    assert noted(store, task, clock) == 2
    assert not is_believed(the_task(store, task.task_id), clock.now(), apart=APART)
    clock.advance(APART - SECOND)
    assert not is_believed(the_task(store, task.task_id), clock.now(), apart=APART)
    clock.advance(SECOND)
    assert is_believed(the_task(store, task.task_id), clock.now(), apart=APART)


def test_what_was_noted_by_a_clock_ahead_is_noted_anew(store: Store, clock: FrozenClock) -> None:
    """Else nobody would note anything until that moment has come; nor does one of whom that is known count."""
    task = running(store)
    note(store, task, clock.now() + timedelta(days=1), apart=APART)
    assert noted(store, task, clock) == 1
    clock.advance(APART)
    assert noted(store, task, clock) == 2


def test_a_doubt_of_a_former_lease_says_nothing_of_the_one_there_is(store: Store) -> None:
    """The next may end at the very same moment, where it was taken by a clock that stands."""
    announce(store, look)
    first, second = (Runner(store, [TASKS], owner=name) for name in ("first", "second"))
    (work,) = first.take()
    found = work.task.model_copy()
    first.hand_back(work)
    (now,) = second.take()
    assert now.task.due_at == found.due_at
    note(store, found, store.clock.now(), apart=APART)
    assert the_task(store, found.task_id).doubts is None
