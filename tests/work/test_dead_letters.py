"""Dead letters and quarantine: found, tried again or given up, one or all that match, by somebody with a name."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict, IllegalMove, InvalidValue, NotFound, Unavailable
from penstock.kernel.audit import SystemAudit
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim, ClaimLost, SystemOnce, begin
from penstock.work import Outcome, Retry, Runner, Task, TaskAttempt, TaskContext, TaskOf, Tasks, TaskStatus
from penstock.work.dead_letters import DeadLetters, cancel, cancel_all, end_cancelled, retry, retry_all, retry_some
from penstock.workers.manual import ManualWorkers
from tests.work.plant import TASKS, Order, Stamp, look, press, stamp, stamps
from tests.work.test_tasks import SECOND, attempts, the_task


def announce(store: Store, task: TaskOf[Order], project: str, **order: Any) -> str:
    with store.change() as change:
        return task.enqueue(change, Order(**order), project=project)


@pytest.fixture
def buried(store: Store, workers: ManualWorkers, clock: FrozenClock) -> dict[str, str]:
    """Dead letters of two projects and two errors, and one in quarantine."""
    for name in ("failed-a", "a"):
        store.create(Stamp(name=name))
    ids = {}
    for label, project, fails in (
        ("one", "p1", "terminal"),
        ("two", "p1", "melted"),
        ("three", "p2", "terminal"),
        ("odd", "p1", "quarantine"),
    ):
        ids[label] = announce(store, press, project, fails=fails, until=2)
        workers.drain()
        clock.advance(SECOND)
    return ids


def names(buried: dict[str, str], tasks: list[str]) -> list[str]:
    return [label for task in tasks for label, task_id in buried.items() if task_id == task]


@pytest.mark.parametrize("project", [None, "p9"])
def test_one_that_fails_again_meanwhile_is_another_letter(
    store: Store, workers: ManualWorkers, clock: FrozenClock, project: str | None
) -> None:
    """Somebody has tried it again after all were asked for, and before they were read."""
    task_id = announce(store, press, "p9", fails="terminal", until=9)
    workers.drain()

    class Meanwhile(Store):
        def find(self, *asked: Any, **options: Any) -> Any:
            clock.advance(SECOND)
            retry(store, [TASKS], task_id, by="ann")
            workers.drain()
            return super().find(*asked, **options)

    assert [t.task_id for t in DeadLetters(project=project).find(store)] == [task_id]
    slow = Meanwhile(store.engine, clock=clock)
    assert list(DeadLetters(project=project).find(slow)) == []
    assert the_task(store, task_id).status is TaskStatus.FAILED


def test_letters_are_found_by_what_is_known_of_them(store: Store, buried: dict[str, str]) -> None:
    def found(letters: DeadLetters) -> list[str]:
        return names(buried, [t.task_id for t in letters.find(store)])

    assert found(DeadLetters()) == ["one", "two", "three"]
    assert found(DeadLetters(project="p1")) == ["one", "two"]
    assert found(DeadLetters(project="p1", name="plant.press")) == ["one", "two"]
    assert found(DeadLetters(name="plant.look")) == []
    assert found(DeadLetters(error_class="Terminal")) == ["one", "three"]
    assert found(DeadLetters(error_class="Terminal", project="p2")) == ["three"]
    assert found(DeadLetters(TaskStatus.QUARANTINED)) == ["odd"]
    with pytest.raises(InvalidValue, match="not done"):
        DeadLetters(TaskStatus.DONE)


def test_letters_of_later_are_not_even_read(store: Store, buried: dict[str, str]) -> None:
    """However many fail meanwhile, perhaps again and again, whoever settles those that there are comes to an end."""
    read: list[Task] = []

    class Counting(Store):
        def find(self, *asked: Any, **options: Any) -> Any:
            for found in super().find(*asked, **options):
                read.append(found)
                yield found

    then = the_task(store, buried["two"]).due_at
    letters = list(DeadLetters().find(Counting(store.engine, clock=FrozenClock(then))))
    assert names(buried, [task.task_id for task in letters]) == ["one", "two"]
    assert read == letters


def test_one_is_tried_again_from_the_beginning_and_who_did_it_is_kept(
    store: Store, workers: ManualWorkers, buried: dict[str, str], clock: FrozenClock
) -> None:
    with pytest.raises(NotFound):
        retry(store, [TASKS], "nobody", by="ann")
    revived = retry(store, [TASKS], buried["one"], by="ann", why="the furnace is repaired")
    assert (revived.status, revived.attempts) == (TaskStatus.WAITING, 0)
    line = [a for a in store.find(SystemAudit.of_project(project_id="p1")) if a.actor == "ann"]
    assert [(a.details["why"], a.details["changes"][0]["states"]) for a in line] == [
        ("the furnace is repaired", {"status": ["failed", "waiting"]})
    ]
    with pytest.raises(IllegalMove):
        retry(store, [TASKS], buried["one"], by="ann")
    workers.drain()
    assert [a.outcome for a in attempts(store, buried["one"])] == [Outcome.TERMINAL, Outcome.TERMINAL]


def test_quarantine_ends_when_a_person_says_so(store: Store, workers: ManualWorkers, buried: dict[str, str]) -> None:
    retry(store, [TASKS], buried["odd"], by="ann")
    workers.drain()
    assert the_task(store, buried["odd"]).status is TaskStatus.QUARANTINED
    cancel(store, [TASKS], buried["odd"], by="ann")
    given_up = the_task(store, buried["odd"])
    assert (given_up.status, given_up.ttl is not None) == (TaskStatus.CANCELLED, True)
    assert stamps(store, "failed-a") == {"failed-a": 4}, "its domain hears of it, as of every end"


def test_all_that_match_are_tried_again(store: Store, workers: ManualWorkers, buried: dict[str, str]) -> None:
    settled = retry_all(store, [TASKS], DeadLetters(error_class="Terminal"), by="ann")
    assert sorted(names(buried, settled.done)) == ["one", "three"]
    assert settled.refused == {}
    assert {t.task_id for t in workers.waiting()} == {buried["one"], buried["three"]}
    settled = cancel_all(store, [TASKS], DeadLetters(), by="ann")
    assert names(buried, settled.done) == ["two"]
    assert stamps(store, "failed-a") == {"failed-a": 3}, "it had heard of that end before"


def test_one_that_is_refused_keeps_no_other_from_it(store: Store, buried: dict[str, str]) -> None:
    @press.revived
    def refuse(change: object, input: Order) -> None:
        if change.store.lookup(Stamp.at(name="refuse")) is None:  # type: ignore[attr-defined]
            change.create(Stamp(name="refuse"))  # type: ignore[attr-defined]
            raise InvalidValue("not this one")

    try:
        settled = retry_all(store, [TASKS], DeadLetters(project="p1"), by="ann")
    finally:
        press.revivals.remove(refuse)
    assert names(buried, settled.done) == []
    assert list(settled.refused.values()) == ["not this one"] * 2
    assert the_task(store, buried["one"]).status is TaskStatus.FAILED


def counted(store: Store, number: int, *, away_at: int | None = None) -> tuple[Tasks, list[Task]]:
    """Dead letters; those that are tried again are counted in one record, unless the store is away just then."""
    tasks, calls = Tasks("counted"), list[str]()

    @tasks.task("fail", retry=Retry(attempts=1))
    def fail(work: TaskContext, input: Order) -> None:
        raise ValueError

    @fail.revived
    def count(change: Change, input: Order) -> None:
        calls.append(input.name)
        if len(calls) == away_at:
            raise Unavailable("nobody answers")
        revived = change.get(Stamp.at(name="revived"))
        revived.count += 1
        change.save(revived)

    @fail.revived
    def count_too(change: Change, input: Order) -> None:
        stamp(change, "too")

    for name in ("revived", "too"):
        store.create(Stamp(name=name))
    ids = [announce(store, fail, "p") for _ in range(number)]
    ManualWorkers(store, [tasks]).drain()
    return tasks, [the_task(store, task_id) for task_id in ids]


def test_of_those_that_are_tried_again_together_each_has_what_follows_from_it(store: Store) -> None:
    """They may change the same record, and somebody may have settled one of them meanwhile."""
    tasks, letters = counted(store, 4)
    retry(store, [tasks], letters[0].task_id, by="bob")
    refused = retry_some(store, [tasks], letters, by="ann", why="mended")
    assert list(refused) == [letters[0].task_id]
    assert "Task is waiting: revive needs failed" in refused[letters[0].task_id]
    assert stamps(store, "revived", "too") == {"revived": 4, "too": 4}
    assert {store.get(letter.ref).status for letter in letters} == {TaskStatus.WAITING}
    lines = [line for line in store.find(SystemAudit.of_project(project_id="p")) if line.details.get("why") == "mended"]
    assert [line.actor for line in lines] == ["ann"] * 3


@pytest.mark.parametrize("away_at", [2, 4])
def test_a_store_that_is_away_is_no_reason_to_refuse_a_letter(store: Store, away_at: int) -> None:
    """Neither among others nor alone: whoever asked for it is told, and it is a dead letter still."""
    tasks, letters = counted(store, 3, away_at=away_at)
    with pytest.raises(Unavailable):
        retry_some(store, [tasks], letters, by="ann")
    assert store.get(letters[2].ref).status is TaskStatus.FAILED


def test_more_letters_than_a_page_are_all_settled(
    store: Store, workers: ManualWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engines.sql.engine.PAGE", 3)
    store.create(Stamp(name="failed-a"))
    for _ in range(8):
        announce(store, press, "p", fails="terminal")
    workers.drain()
    assert len(retry_all(store, [TASKS], DeadLetters(), by="ann").done) == 8


def test_what_waits_or_runs_can_be_given_up(store: Store, clock: FrozenClock) -> None:
    for name in ("failed-a", "a"):
        store.create(Stamp(name=name))
    waiting = announce(store, press, "p")
    cancel(store, [TASKS], waiting, by="ann")
    running = announce(store, press, "p")
    runner = Runner(store, [TASKS], owner="w")
    (work,) = runner.take()
    clock.advance(SECOND)
    cancel(store, [TASKS], running, by="ann")
    assert runner.run(work) is Outcome.LOST
    assert stamps(store, "a", "failed-a") == {"a": 0, "failed-a": 2}
    assert runner.take() == []
    (ended,) = attempts(store, running)
    assert (ended.outcome, ended.worker) == (Outcome.CANCELLED, "w")
    done = announce(store, look, "p")
    ManualWorkers(store, [TASKS]).drain()
    with pytest.raises(IllegalMove, match="done"):
        cancel(store, [TASKS], done, by="ann")


def test_a_task_that_a_worker_takes_just_now_is_given_up_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = announce(store, look, "p")
    runner = Runner(store, [TASKS], owner="w")
    get, taken = store.get, []

    def get_then_lose(ref: Any) -> Any:
        found = get(ref)
        taken.extend(runner.take())
        return found

    monkeypatch.setattr(store, "get", get_then_lose)
    cancel(store, [TASKS], task_id, by="ann")
    assert len(taken) == 1
    assert the_task(store, task_id).status is TaskStatus.CANCELLED
    assert [a.outcome for a in store.find(TaskAttempt.of_task(task_id=task_id))] == [Outcome.CANCELLED]


@pytest.mark.parametrize("races", [4, 5])
def test_a_task_that_others_take_and_put_back_again_and_again_is_given_up_within_five_tries(
    store: Store, monkeypatch: pytest.MonkeyPatch, races: int
) -> None:
    task_id = announce(store, look, "p")
    runner = Runner(store, [TASKS], owner="w")
    get, taken, lost = store.get, list[TaskContext](), list[str]()

    def get_then_lose(ref: Any) -> Any:
        found = get(ref)
        if len(lost) < races:
            lost.append(ref.key["task_id"])
            runner.hand_back(taken.pop()) if taken else taken.extend(runner.take())
        return found

    monkeypatch.setattr(store, "get", get_then_lose)
    if races == 5:
        with pytest.raises(Conflict):
            cancel(store, [TASKS], task_id, by="ann")
    else:
        cancel(store, [TASKS], task_id, by="ann")
    assert lost == [task_id] * races
    monkeypatch.undo()
    assert (the_task(store, task_id).status is TaskStatus.CANCELLED) == (races < 5)


def test_whose_claim_is_lost_is_told_so_at_once(store: Store, clock: FrozenClock) -> None:
    """Another cannot have it back by trying again: the task is looked at once."""
    tasks, heard = Tasks("claimed"), list[str]()

    @tasks.task("look")
    def watched(work: TaskContext, input: Order) -> None: ...

    watched.failures.append(lambda *_: heard.append("failed"))
    task_id = announce(store, watched, "p")
    now = clock.now()
    mark = SystemOnce(idempotency_key="k", created_at=now, ttl=int(now.timestamp()) + 9999)
    lost = begin(store, mark, owner="slow", period=SECOND)
    assert isinstance(lost, Claim)
    clock.advance(SECOND * 999)
    begin(store, mark, owner="other", period=SECOND)
    with pytest.raises(ClaimLost):
        cancel(store, [tasks], task_id, by="ann", once=lost)
    assert heard == ["failed"]
    assert the_task(store, task_id).status is TaskStatus.WAITING


def test_what_is_not_known_here_is_left_alone(store: Store, buried: dict[str, str]) -> None:
    with pytest.raises(InvalidValue, match=r"no task plant\.press is known here"):
        retry(store, [], buried["one"], by="ann")
    assert store.get(Task.at(task_id=buried["one"])).status is TaskStatus.FAILED


def test_whoever_cancels_what_another_has_taken_meanwhile_looks_again(store: Store) -> None:
    """What it knows of an attempt is of a former one, which may have left no record: a further wait leaves none."""
    task_id = announce(store, look, "p1")
    first, second = (Runner(store, [TASKS], owner=name) for name in ("first", "second"))
    (work,) = first.take()
    stale = the_task(store, task_id)
    first.hand_back(work)
    for left in attempts(store, task_id):
        store.delete(left.ref)
    second.take()
    with pytest.raises(Conflict), store.change() as change:
        end_cancelled(change, look, stale)
    assert the_task(store, task_id).lease_owner == "second"
