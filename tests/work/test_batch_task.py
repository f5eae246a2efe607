"""Batch tasks: a hundred items in one task and one commit, and none of them hurt by another."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from pydantic import BaseModel

from penstock import FrozenClock, Store, the
from penstock.errors import Conflict, DeclarationError
from penstock.kernel.audit import SystemAudit
from penstock.kernel.change import Change
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.work import Outcome, Retry, Runner, Task, Tasks, TaskStatus, Terminal, batch_task
from tests.work.plant import Stamp, stamps
from tests.work.test_tasks import attempts, stamped, the_task

SECOND = timedelta(seconds=1)
MILL = Tasks("mill")
GROUND: list[str] = []
"Whose function was called, in order."


class Grain(BaseModel):
    name: str
    bad: str | None = None
    writes: int = 1


@batch_task(MILL, "grind", size=100, retry=Retry(attempts=2, first=SECOND))
def grind(change: Change, input: Grain) -> None:
    GROUND.append(input.name)
    change.patch(Stamp.at(name=input.name), the(Stamp.count).add(1))
    if input.bad == "error":
        raise ValueError("a stone")
    if input.bad == "terminal":
        raise Terminal("a rock")
    for number in range(1, input.writes):
        change.put(Stamp(name=f"{input.name}-{number}"))
    if input.bad == "refused":
        change.patch(Stamp.at(name="nowhere"), the(Stamp.count).add(1))


@grind.failed
def tell(change: Change, input: Grain, error: BaseException) -> None:
    change.put(Stamp(name=f"failed-{input.name}"))


def enqueue(store: Store, *grains: Grain, key: str | None = None) -> list[str]:
    GROUND.clear()
    with store.change(by="ann") as change:
        return grind.enqueue(change, grains, project="p1", key=key)


def run_all(store: Store, clock: FrozenClock, *, most: int = 50) -> list[Outcome]:
    """Until nothing is left to do, now or later."""
    runner, outcomes = Runner(store, [MILL], chance=lambda: 0.0), []
    for _ in range(most):
        for work in runner.take(10):
            outcomes.append(runner.run(work))
        if not list(store.find(Task.by_status(status=TaskStatus.WAITING))):
            return outcomes
        clock.advance(SECOND)
    raise AssertionError("it does not come to an end")


def test_a_hundred_items_are_one_task_one_commit_and_one_attempt(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"n{number}" for number in range(60)]
    stamped(store, *names)
    (task_id,) = enqueue(store, *(Grain(name=name) for name in names))
    commits = 0
    commit: Callable[..., None] = store.engine.commit

    def counted(*args: object, **more: object) -> None:
        nonlocal commits
        commits += 1
        commit(*args, **more)

    runner = Runner(store, [MILL])
    (work,) = runner.take()
    monkeypatch.setattr(store.engine, "commit", counted)
    assert runner.run(work) is Outcome.DONE
    assert commits == 1
    assert set(stamps(store, *names).values()) == {1}
    assert the_task(store, task_id).result == {"done": 60}
    assert [a.outcome for a in attempts(store, task_id)] == [Outcome.DONE]
    lines = [line.actor for line in store.find(SystemAudit.of_project(project_id="p1"))]
    assert "task:mill.grind" in lines


def test_more_than_goes_into_a_batch_is_several_and_a_key_is_enqueued_once(store: Store) -> None:
    grains = [Grain(name=f"n{number}") for number in range(250)]
    ids = enqueue(store, *grains, key="harvest")
    assert [len(the_task(store, task_id).input["items"]) for task_id in ids] == [100, 100, 50]
    with pytest.raises(Conflict):
        enqueue(store, *grains, key="harvest")
    assert enqueue(store) == []


def test_an_item_that_fails_is_set_apart_and_the_others_are_done(store: Store, clock: FrozenClock) -> None:
    stamped(store, "a", "b", "c", "d")
    grains = [Grain(name="a"), Grain(name="b", bad="error"), Grain(name="c"), Grain(name="d", bad="terminal")]
    (task_id,) = enqueue(store, *grains)
    outcomes = run_all(store, clock)
    assert stamps(store, "a", "b", "c", "d") == {"a": 1, "b": 0, "c": 1, "d": 0}, "and nothing of what has failed"
    done = the_task(store, task_id)
    assert (done.status, done.result and done.result["done"]) == (TaskStatus.DONE, 2)
    apart = {the_task(store, t).input["items"][0]["name"]: the_task(store, t) for t in done.result["apart"]}  # type: ignore[index]
    assert {name: (t.status, t.attempts, t.error_class) for name, t in apart.items()} == {
        "b": (TaskStatus.FAILED, 2, "ValueError"),
        "d": (TaskStatus.FAILED, 1, "Terminal"),
    }
    assert store.lookup(Stamp.at(name="failed-b")) is not None
    assert len(outcomes) == 4
    told = [m.type for m in store.find(SystemMessage.by_status(status=MessageStatus.PENDING))]
    assert told.count("task.failed") == 2


def test_of_a_batch_whose_commit_is_refused_only_the_one_to_blame_is_left(store: Store, clock: FrozenClock) -> None:
    names = [f"n{number}" for number in range(8)]
    stamped(store, *names)
    enqueue(store, *(Grain(name=name, bad="refused" if name == "n5" else None) for name in names))
    run_all(store, clock)
    assert stamps(store, *names) == {name: int(name != "n5") for name in names}, "each of the others once"
    (failed,) = store.find(Task.by_status(status=TaskStatus.FAILED))
    assert failed.input["items"] == [{"name": "n5", "bad": "refused", "writes": 1}]


def test_what_does_not_go_into_one_commit_goes_on_in_the_next(store: Store, clock: FrozenClock) -> None:
    names = [f"n{number}" for number in range(10)]
    stamped(store, *names)
    (task_id,) = enqueue(store, *(Grain(name=name, writes=30) for name in names))
    assert set(run_all(store, clock)) == {Outcome.DONE}
    assert set(stamps(store, *names).values()) == {1}
    assert GROUND.count("n0") == 1
    assert (the_task(store, task_id).result or {})["done"] == 3


def test_a_batch_that_ended_in_the_middle_is_halved_first(store: Store, clock: FrozenClock) -> None:
    """A worker that dies of one item dies alone with it in the end."""
    stamped(store, "a", "b", "c")
    (task_id,) = enqueue(store, Grain(name="a"), Grain(name="b"), Grain(name="c"))
    runner = Runner(store, [MILL], chance=lambda: 0.0)
    (work,) = runner.take()
    runner._failed(grind.task, work, RuntimeError("as if the worker were gone"))
    clock.advance(10 * SECOND)
    (again,) = runner.take()
    assert runner.run(again) is Outcome.DONE
    assert GROUND == []
    halves = (the_task(store, task_id).result or {})["halves"]
    assert [len(the_task(store, half).input["items"]) for half in halves] == [1, 2]
    run_all(store, clock)
    assert stamps(store, "a", "b", "c") == {"a": 1, "b": 1, "c": 1}


def test_a_worker_that_lost_its_lease_changes_nothing(store: Store, clock: FrozenClock) -> None:
    stamped(store, "a", "b")
    enqueue(store, Grain(name="a"), Grain(name="b"))
    slow, swift = Runner(store, [MILL], owner="slow"), Runner(store, [MILL], owner="swift")
    (work,) = slow.take()
    slow.hand_back(work)
    work.lost = False  # as one who stood still meanwhile
    (other,) = swift.take()
    assert slow.run(work) is Outcome.LOST
    assert stamps(store, "a", "b") == {"a": 0, "b": 0}
    assert swift.run(other) is Outcome.DONE
    assert stamps(store, "a", "b") == {"a": 1, "b": 1}


def test_an_item_whose_input_no_longer_fits_waits_for_a_person_alone(store: Store, clock: FrozenClock) -> None:
    stamped(store, "a")
    (task_id,) = enqueue(store, Grain(name="a"), Grain(name="b"))
    task = the_task(store, task_id)
    task.input["items"][1] = {"nothing": "like it"}
    store.put(task)
    run_all(store, clock)
    assert stamps(store, "a") == {"a": 1}
    assert len(list(store.find(Task.by_status(status=TaskStatus.QUARANTINED)))) == 1


@pytest.mark.parametrize("size", [0, 1001])
def test_a_batch_has_some_items_and_not_too_many(size: int) -> None:
    with pytest.raises(DeclarationError, match="1 to 1000"):
        batch_task(MILL, "sized", size=size)


def test_the_type_of_an_input_must_be_known() -> None:
    def untyped(change: Change, input) -> None:  # type: ignore[no-untyped-def]
        """Without a type."""

    with pytest.raises(DeclarationError, match="the type of input is missing"):
        batch_task(Tasks("other"), "untyped")(untyped)
