"""Fairness: projects are served in turn, and no more of one task run at once than its project may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.work import Outcome, Task, TaskContext, TaskOf, Tasks, TaskStatus
from penstock.work.dead_letters import retry, retry_some
from penstock.work.fair_queue import FairQueue, interleaved
from penstock.work.queue_hints import active, rest_if_idle, touch, wake_queues
from penstock.work.registry import by_name
from penstock.work.runner import Runner
from penstock.workers.manual import ManualWorkers
from tests.work.plant import TASKS, Order, Stamp, look, press, roll

MINUTE = timedelta(minutes=1)


def announce(store: Store, task: TaskOf[Order], project: str, times: int = 1) -> None:
    """The first as ever; further ones as copies of it, which is much faster."""
    with store.change() as change:
        task_id = task.enqueue(change, Order(), project=project)
    one = store.get(Task.at(task_id=task_id)).model_dump()
    store.put_many(Task(**{**one, "task_id": f"{task_id}-{number}"}) for number in range(1, times))


def projects(works: Iterable[TaskContext]) -> list[str]:
    return [work.project for work in works]


def test_a_thousand_tasks_of_one_project_do_not_starve_another(store: Store, clock: FrozenClock) -> None:
    announce(store, look, "a", 1000)
    clock.advance(MINUTE)
    announce(store, look, "b", 3)
    runner = Runner(store, [TASKS])
    assert sorted(projects(runner.take(2))) == ["a", "b"]
    assert sorted(projects(runner.take(1) + runner.take(1))) == ["a", "b"]
    assert Counter(projects(runner.take(20))) == {"a": 19, "b": 1}
    assert projects(runner.take(5)) == ["a"] * 5


def test_many_projects_all_have_their_turn_also_with_one_place(store: Store) -> None:
    for project in "abcdef":
        announce(store, look, project, 4)
    runner = Runner(store, [TASKS])
    served = [project for _ in range(12) for project in projects(runner.take(1))]
    assert Counter(served[:6]) == Counter(served[6:]) == Counter("abcdef")


def test_a_project_with_many_sorts_of_tasks_has_one_turn_as_the_others(store: Store) -> None:
    for task in (look, press, roll):
        announce(store, task, "a", 5)
    announce(store, look, "b", 5)
    works = Runner(store, [TASKS]).take(4)
    assert Counter(projects(works)) == {"a": 2, "b": 2}
    assert len({w.task.name for w in works if w.project == "a"}) == 2


def test_tasks_that_others_run_do_not_hide_ours(store: Store, clock: FrozenClock) -> None:
    foreign = Tasks("foreign")

    def other(work: TaskContext, input: Order) -> None: ...

    announce(store, foreign.task("task")(other), "a", 150)
    clock.advance(MINUTE)
    announce(store, look, "a")
    assert [w.task.name for w in Runner(store, [TASKS]).take(1)] == ["plant.look"]


def test_so_many_of_a_project_run_at_once(store: Store, clock: FrozenClock) -> None:
    for project in ("a", "b"):
        announce(store, roll, project, 5)
    one, other = Runner(store, [TASKS]), Runner(store, [TASKS])
    works = one.take(3) + other.take(10)
    assert Counter(projects(works)) == {"a": 2, "b": 2}, "everywhere together"
    assert one.take(10) == []
    done = works.pop(0)
    one.run(done)
    assert projects(one.take(10)) == [done.project]


def test_a_project_that_has_enough_running_does_not_hide_others(store: Store, clock: FrozenClock) -> None:
    announce(store, roll, "a", 150)
    runner = Runner(store, [TASKS])
    assert len(runner.take(10)) == 2
    clock.advance(MINUTE / 10)
    announce(store, look, "a")
    announce(store, look, "b")
    assert Counter(projects(runner.take(1) + runner.take(1))) == {"a": 1, "b": 1}


def test_a_slot_is_held_as_long_as_the_task_and_free_when_its_worker_has_died(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    announce(store, roll, "a", 4)
    runner = Runner(store, [TASKS], lease=MINUTE)
    alive, dead = runner.take(10)
    clock.advance(MINUTE * 0.7)
    runner.renew([alive])
    clock.advance(MINUTE * 0.4)
    assert workers.rescue() == 1
    clock.advance(MINUTE * 0.1)
    assert [w.task.task_id == dead.task.task_id for w in runner.take(10)] == [True], "before those that came later"
    assert runner.take(10) == []


def test_a_task_that_a_broker_tells_of_waits_for_a_slot(store: Store, clock: FrozenClock) -> None:
    announce(store, roll, "a", 3)
    runner = Runner(store, [TASKS])
    first, second, third = store.find(Task.by_status(status=TaskStatus.WAITING))
    works = [runner.take_one(t.task_id, t.lease_epoch) for t in (first, second)]
    assert all(works)
    assert runner.take_one(third.task_id, third.lease_epoch) is None
    assert store.get(third.ref).due_at > clock.now(), "the broker will be told again, and soon"
    runner.run(works[0])  # type: ignore[arg-type]
    assert runner.take_one(third.task_id, third.lease_epoch) is not None


def hinted(store: Store) -> set[tuple[str, str]]:
    return {(hint.project_id, hint.name) for hint in active(store)}


def test_a_hint_rests_when_its_queue_has_long_been_empty(
    store: Store, open_plant: Callable[[], Store], clock: FrozenClock
) -> None:
    announce(store, look, "a")
    announce(store, press, "b")
    with store.change() as change:
        look.enqueue(change, Order(), project="c", after=timedelta(days=1))
    ManualWorkers(store, [TASKS]).drain(most=1)
    Runner(store, [TASKS]).take(1)
    clock.advance(19 * MINUTE)
    for hint in list(active(store)):
        rest_if_idle(store, hint)
    assert hinted(store) == {("a", "plant.look"), ("b", "plant.press"), ("c", "plant.look")}
    clock.advance(MINUTE)
    for hint in list(active(store)):
        rest_if_idle(store, hint)
    assert hinted(store) == {("b", "plant.press"), ("c", "plant.look")}, (
        "where something runs or will be due, none rests"
    )
    touch(open_plant(), "a", "plant.look")
    assert ("a", "plant.look") in hinted(store)


def test_a_hint_that_rests_though_something_is_due_is_woken(store: Store, clock: FrozenClock) -> None:
    """A change may have stayed open for longer than anybody waits for it."""
    announce(store, look, "a", 3)
    for hint in list(active(store)):
        with store.change() as change:
            change.save(change.track(hint).rest(at=store.clock.now()))
    clock.advance(10 * MINUTE)
    wake_queues(store)
    assert hinted(store) == {("a", "plant.look")}


def test_a_hint_touched_since_it_was_read_does_not_rest(
    store: Store, open_plant: Callable[[], Store], clock: FrozenClock
) -> None:
    touch(store, "a", "plant.look")
    (hint,) = active(store)
    clock.advance(30 * MINUTE)
    touch(open_plant(), "a", "plant.look")
    rest_if_idle(store, hint)
    assert hinted(store) == {("a", "plant.look")}


def test_a_hint_is_not_written_for_each_task(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    announce(store, look, "a")
    monkeypatch.setattr(store, "put", None)
    announce(store, look, "a", 5)
    scoped = store.scoped("a", enforce=False)
    with scoped.change() as change:
        look.enqueue(change, Order())


def test_when_little_is_due_one_look_is_enough(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for project in "abcdef":
        announce(store, look, project)
    looks = 0
    find = store.engine.find

    def count(*args: Any, **more: Any) -> Any:
        nonlocal looks
        looks += 1
        return find(*args, **more)

    monkeypatch.setattr(store.engine, "find", count)
    assert len(FairQueue(store, by_name([TASKS])).next(10)) == 6
    assert looks == 1


def test_the_first_of_each_comes_before_the_second_of_any() -> None:
    assert list(interleaved(["abc", "", "d", "ef"])) == ["a", "d", "e", "b", "f", "c"]


@pytest.mark.parametrize("way", ["fails", "is handed back", "is tried again", "is tried again with others"])
def test_a_task_that_is_put_back_is_looked_for_though_its_queue_has_rested(
    open_plant: Callable[[], Store], clock: FrozenClock, way: str
) -> None:
    """Where many are due, only queues are looked at that somebody has hinted at."""
    store = open_plant()
    store.create(Stamp(name="failed-a"))
    for project in "ab":
        with store.change() as change:
            press.enqueue(change, Order(fails="terminal" if "again" in way else "error"), project=project)
    runner, another = Runner(open_plant(), [TASKS]), open_plant()  # who know nothing of what others have hinted at
    works = runner.take(2)
    if "again" in way:
        assert [runner.run(work) for work in works] == [Outcome.TERMINAL] * 2
    for hint in list(active(store)):
        store.modify(hint.ref, lambda hint: hint.rest(at=clock.now()))
    match way:
        case "fails":
            assert [runner.run(work) for work in works] == [Outcome.RETRYABLE] * 2
        case "is handed back":
            for work in works:
                runner.hand_back(work)
        case "is tried again":
            for work in works:
                retry(another, [TASKS], work.task.task_id, by="ann")
        case _:
            assert retry_some(another, [TASKS], [store.get(work.task.ref) for work in works], by="ann") == {}
    assert [(hint.project_id, hint.name) for hint in active(store)] == [("a", "plant.press"), ("b", "plant.press")]
