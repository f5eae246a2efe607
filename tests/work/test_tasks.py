"""Tasks: announced with the data they are about, attempted as often as declared, and ended in one of few ways."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from penstock import FrozenClock, Store
from penstock.errors import Conflict, DeclarationError, InvalidValue, TooLarge, Unavailable
from penstock.kernel.audit import SystemAudit
from penstock.kernel.change import Change
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.operations.updates import Set
from penstock.schema.size import document_size
from penstock.work import (
    InputMisfit,
    Outcome,
    PutOff,
    Retry,
    Task,
    TaskAttempt,
    TaskContext,
    TaskOf,
    Tasks,
    TaskStatus,
    Terminal,
)
from penstock.work import runner as runner_module
from penstock.work.dead_letters import retry
from penstock.work.runner import Runner
from penstock.work.task import LARGEST_INPUT, LONGEST_ERROR
from penstock.workers.manual import ManualWorkers
from tests.work.plant import TASKS, Order, Stamp, look, press, stamp, stamps

SECOND = timedelta(seconds=1)


def announce(store: Store, task: TaskOf[Order] = press, **order: Any) -> str:
    with store.change() as change:
        return task.enqueue(change, Order(**order), project="p1")


def the_task(store: Store, task_id: str) -> Task:
    return store.get(Task.at(task_id=task_id))


def attempts(store: Store, task_id: str) -> list[TaskAttempt]:
    return list(store.find(TaskAttempt.of_task(task_id=task_id)))


def stamped(store: Store, *names: str) -> None:
    for name in names:
        store.create(Stamp(name=name))


def own(body: Callable[[TaskContext, Order], dict[str, Any] | None], **options: Any) -> tuple[Tasks, TaskOf[Order]]:
    """A task of the test itself."""
    tasks = Tasks("own")
    return tasks, tasks.task("task", **options)(body)


def test_a_task_is_done_if_its_change_is_committed_and_only_then(store: Store, workers: ManualWorkers) -> None:
    stamped(store, "a")
    with pytest.raises(ZeroDivisionError), store.change() as change:
        press.enqueue(change, Order())
        raise ZeroDivisionError
    assert workers.drain() == 0
    task_id = announce(store)
    assert [t.task_id for t in workers.waiting()] == [task_id]
    assert workers.drain() == 1
    done = the_task(store, task_id)
    assert (done.status, done.result, done.attempts, done.lease_owner) == (TaskStatus.DONE, {"pressed": "a"}, 1, None)
    assert stamps(store, "a") == {"a": 1}
    assert workers.drain() == 0


def test_what_a_function_returns_is_the_result_of_one_that_changes_nothing(
    store: Store, workers: ManualWorkers
) -> None:
    task_id = announce(store, look, name="x")
    workers.drain()
    assert the_task(store, task_id).result == {"seen": "x"}


def test_each_attempt_leaves_one_record(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    """NC-25: one Attempt item per task invocation: start, end, worker, error class and message."""
    stamped(store, "a")
    task_id = announce(store, fails="error", until=3)
    began = clock.now()
    workers.drain()
    clock.advance(10 * SECOND)
    workers.drain()
    clock.advance(20 * SECOND)
    workers.drain()
    found = attempts(store, task_id)
    assert [a.outcome for a in found] == [Outcome.RETRYABLE, Outcome.RETRYABLE, Outcome.DONE]
    assert [a.started_at - began for a in found] == [0 * SECOND, 10 * SECOND, 30 * SECOND]
    assert all(a.ended_at == a.started_at and a.worker == "manual" and a.name == "plant.press" for a in found)
    assert [(a.error_class, a.error) for a in found] == [("ValueError", "no luck")] * 2 + [(None, None)]
    assert [a.epoch for a in found] == [1, 2, 3]


def test_attempts_are_counted_and_the_last_error_is_told_until_it_succeeds(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    """MV-34, MV-35, AC-4: how often it was tried, and why it failed; the error is there after a failure only."""
    stamped(store, "a")
    task_id = announce(store, fails="error", until=2)
    assert (the_task(store, task_id).attempts, the_task(store, task_id).error) == (0, None)
    workers.drain()
    failed = the_task(store, task_id)
    assert (failed.attempts, failed.error_class, failed.error) == (1, "ValueError", "no luck")
    clock.advance(10 * SECOND)
    workers.drain()
    done = the_task(store, task_id)
    assert (done.attempts, done.error_class, done.error) == (2, None, None)


def test_pauses_double_up_to_the_longest_and_are_never_all_the_same(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    stamped(store, "failed-a")
    task_id = announce(store, fails="error")
    pauses = []
    for _ in range(3):
        workers.drain()
        due_at = the_task(store, task_id).due_at
        pauses.append((due_at - clock.now()).total_seconds())
        clock.set(due_at - timedelta(microseconds=1))
        assert workers.drain() == 0, "it is not due yet"
        clock.set(due_at)
    assert pauses == [10, 20, 30]
    policy = Retry(first=8 * SECOND)
    assert [policy.pause(1, lambda chance=chance: chance) / SECOND for chance in (0.0, 0.5, 1.0)] == [4, 6, 8]  # type: ignore[misc]
    assert len({policy.pause(3) for _ in range(20)}) > 1


def test_pauses_that_are_documented_are_kept_to_the_second() -> None:
    policy = Retry(attempts=5, pauses=(2 * SECOND, 10 * SECOND, 30 * SECOND))
    assert [policy.pause(failures) / SECOND for failures in (1, 2, 3, 4)] == [2, 10, 30, 30]
    with pytest.raises(DeclarationError, match="a pause is no time before the failure"):
        Retry(pauses=(-SECOND,))


def test_after_its_last_attempt_it_is_a_dead_letter_and_its_domain_hears_of_it(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    stamped(store, "failed-a")
    task_id = announce(store, fails="error")
    for _ in range(10):
        workers.drain()
        clock.advance(30 * SECOND)
    dead = the_task(store, task_id)
    assert (dead.status, dead.attempts, dead.error) == (TaskStatus.FAILED, 4, "no luck")
    assert [a.outcome for a in attempts(store, task_id)] == [Outcome.RETRYABLE] * 3 + [Outcome.TERMINAL]
    assert stamps(store, "failed-a") == {"failed-a": 1}
    told = store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    assert [(m.type, m.payload["task_id"]) for m in told] == [("task.failed", task_id)]
    lines = store.find(SystemAudit.of_project(project_id="p1"))
    assert [line.actor for line in lines] == ["task:plant.press"], "what is tried again is no news"


@pytest.mark.parametrize(
    ("fails", "status", "outcome"),
    [
        ("error", TaskStatus.WAITING, Outcome.RETRYABLE),
        ("terminal", TaskStatus.FAILED, Outcome.TERMINAL),
        ("quarantine", TaskStatus.QUARANTINED, Outcome.QUARANTINE),
        ("melted", TaskStatus.FAILED, Outcome.TERMINAL),
        ("rusty", TaskStatus.QUARANTINED, Outcome.QUARANTINE),
    ],
)
def test_an_error_says_how_it_is_to_be_taken_or_the_task_does(
    store: Store, workers: ManualWorkers, fails: str, status: TaskStatus, outcome: Outcome
) -> None:
    stamped(store, "failed-a")
    task_id = announce(store, fails=fails)
    assert workers.run_one() is outcome
    assert the_task(store, task_id).status is status
    assert [a.outcome for a in attempts(store, task_id)] == [outcome]
    told = [m.type for m in store.find(SystemMessage.by_status(status=MessageStatus.PENDING))]
    assert told == ([] if status is TaskStatus.WAITING else [f"task.{status.value}"])
    assert workers.drain() == 0


def test_a_task_may_say_when_it_wants_to_be_tried_again(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    task_id = announce(store, fails="later")
    workers.drain()
    assert the_task(store, task_id).due_at == clock.now() + timedelta(hours=2)


def test_what_could_not_even_be_tried_counts_as_no_attempt_however_often(store: Store, clock: FrozenClock) -> None:
    ways: list[Exception | None] = [PutOff("others have their turn first", after=SECOND)] * 3
    ways += [None]

    def body(work: TaskContext, input: Order) -> None:
        if (error := ways.pop(0)) is not None:
            raise error

    tasks, task = own(body, retry=Retry(attempts=1))
    task_id, workers = announce(store, task), ManualWorkers(store, [tasks])
    for _ in range(3):
        assert workers.run_one() is Outcome.RETRYABLE
        waiting = the_task(store, task_id)
        assert (waiting.status, waiting.attempts) == (TaskStatus.WAITING, 0), "though it has a single attempt"
        assert waiting.due_at == clock.now() + SECOND
        clock.advance(SECOND)
    assert workers.run_one() is Outcome.DONE
    assert the_task(store, task_id).attempts == 1
    assert [a.outcome for a in attempts(store, task_id)] == [Outcome.HANDED_BACK] * 3 + [Outcome.DONE]


def test_long_errors_are_cut(store: Store) -> None:
    def fail(work: TaskContext, input: Order) -> None:
        raise ValueError("é" * 3000)

    tasks, task = own(fail)
    task_id = announce(store, task)
    ManualWorkers(store, [tasks]).drain(most=1)
    assert the_task(store, task_id).error == "é" * LONGEST_ERROR
    assert attempts(store, task_id)[0].error == "é" * LONGEST_ERROR


def test_an_error_that_no_store_can_hold_is_kept_as_far_as_possible(store: Store) -> None:
    def fail(work: TaskContext, input: Order) -> None:
        work.log.info("a NUL \x00")
        raise ValueError("a NUL \x00 and half a character \ud800")

    tasks, task = own(fail)
    task_id = announce(store, task)
    ManualWorkers(store, [tasks]).drain(most=1)
    assert the_task(store, task_id).error == "a NUL \N{REPLACEMENT CHARACTER} and half a character ?"
    assert [a.log_tail for a in attempts(store, task_id)] == [["INFO a NUL \N{REPLACEMENT CHARACTER}"]]


def test_the_log_has_what_a_task_does_not_tell_of_an_error_and_nothing_that_it_does(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(work: TaskContext, input: Order) -> None:
        raise FileNotFoundError(2, "No such file", "/mnt/x") if input.name == "file" else ValueError("no luck")

    tasks, task = own(fail)
    ids = [announce(store, task, name=name) for name in ("file", "luck")]
    ManualWorkers(store, [tasks]).drain()
    assert [the_task(store, task_id).error for task_id in ids] == ["No such file", "no luck"]
    (line,) = [record for record in caplog.records if record.name == "penstock.work"]
    assert (line.levelname, "/mnt/x" in line.getMessage()) == ("WARNING", True)


def test_the_last_lines_of_its_log_and_its_numbers_are_kept(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    def talk(work: TaskContext, input: Order) -> None:
        work.log.debug("nobody wants to know")
        for number in range(60):
            work.log.info("line %d", number)
        work.log.warning("wrong format %d", "x")
        work.log.error("x" * 1000)
        work.metrics["frames"] = 7

    tasks, task = own(talk)
    task_id = announce(store, task)
    logging.raiseExceptions, before = False, logging.raiseExceptions
    ManualWorkers(store, [tasks]).drain()
    logging.raiseExceptions = before
    (attempt,) = attempts(store, task_id)
    assert len(attempt.log_tail) == 50
    assert attempt.log_tail[0] == "INFO line 12"
    assert attempt.log_tail[-2] == "WARNING wrong format %d"
    assert attempt.log_tail[-1] == "ERROR " + "x" * 494
    assert attempt.metrics == {"frames": 7}
    assert caplog.records[-1].pathname == __file__, "who logs is found behind the task's own log"


UNKEPT: dict[str, dict[Any, Any]] = {
    "not a number": {"mean": float("nan")},
    "a set": {"seen": {1, 2}},
    "no name": {1: 2},
    "too much": {"all": "x" * 500_000},
}


def test_numbers_that_cannot_be_kept_do_not_hide_how_it_ended(store: Store) -> None:
    def count(work: TaskContext, input: Order) -> None:
        work.metrics.update(UNKEPT[input.name])
        if input.fails is not None:
            raise Terminal("the voice does not exist")

    tasks, task = own(count, retry=Retry(attempts=1))
    failed = [announce(store, task, name=name, fails="yes") for name in UNKEPT]
    ended = [announce(store, task, name=name) for name in UNKEPT]
    ManualWorkers(store, [tasks]).drain()
    for task_id in failed:
        dead = the_task(store, task_id)
        assert (dead.status, dead.error) == (TaskStatus.FAILED, "the voice does not exist")
        assert [(a.outcome, a.metrics) for a in attempts(store, task_id)] == [(Outcome.TERMINAL, {})]
    for task_id in ended:
        dead = the_task(store, task_id)
        assert dead.status is TaskStatus.FAILED
        assert "Attempt" in (dead.error or ""), "it is told what is at fault"


def test_an_attempt_has_its_time(store: Store, clock: FrozenClock) -> None:
    stamped(store, "a")

    def dawdle(work: TaskContext, input: Order) -> None:
        clock.advance(59 * SECOND)
        work.check()
        clock.advance(1 * SECOND)
        with work.finish() as change:
            change.delete(Stamp.at(name="a"))

    tasks, task = own(dawdle, limit=60 * SECOND)
    task_id = announce(store, task)
    assert ManualWorkers(store, [tasks]).run_one() is Outcome.TERMINAL
    dead = the_task(store, task_id)
    assert (dead.status, dead.error_class) == (TaskStatus.FAILED, "TimeOver")
    assert store.lookup(Stamp.at(name="a")) is not None, "what it did too late is not done"


def test_one_that_still_runs_when_its_time_is_over_is_ended_by_the_heartbeat(store: Store, clock: FrozenClock) -> None:
    tasks, task = own(_nothing, limit=60 * SECOND)
    task_id = announce(store, task)
    runner = Runner(store, [tasks], owner="w")
    (work,) = runner.take()
    work.begin()
    clock.advance(59 * SECOND)
    assert runner.renew([work]) == []
    clock.advance(1 * SECOND)
    assert runner.renew([work]) == [work]
    dead = the_task(store, task_id)
    assert (dead.status, dead.error_class) == (TaskStatus.FAILED, "TimeOver")
    assert [a.outcome for a in attempts(store, task_id)] == [Outcome.TERMINAL]
    with pytest.raises(Conflict), work.finish():
        pass


def test_a_time_limit_that_met_a_database_in_trouble_is_looked_at_again(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, task = own(_nothing, limit=60 * SECOND)
    task_id = announce(store, task)
    runner = Runner(store, [tasks], owner="w")
    (work,) = runner.take()
    work.begin()
    clock.advance(60 * SECOND)

    def away(*args: object, **more: object) -> None:
        raise Unavailable("it restarts just now")

    with monkeypatch.context() as patch:
        patch.setattr(store.engine, "commit", away)
        assert runner.renew([work]) == [], "its end is not written down"
    assert runner.renew([work]) == [work]
    assert the_task(store, task_id).error_class == "TimeOver"


def test_one_that_loses_every_race_for_a_slot_is_looked_at_later(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, task = own(_nothing, concurrency=1)
    first, second = announce(store, task), announce(store, task)
    runner = Runner(store, [tasks], owner="w")
    taken = runner.take_one(first, None)
    assert taken is not None
    # Each look shows the slot free, and each time another is faster.
    monkeypatch.setattr(runner_module, "free_slots", lambda *args: [taken.slot])
    assert runner.take_one(second, None) is None
    waiting = the_task(store, second)
    assert (waiting.status, waiting.due_at) == (TaskStatus.WAITING, clock.now() + SECOND)


def _nothing(work: TaskContext, input: Order) -> None:
    return None


def test_an_input_that_no_longer_fits_waits_for_a_person(store: Store) -> None:
    task_id = announce(store, look, name="x")
    changed = Tasks("plant")

    @changed.task("look")
    def look_again(work: TaskContext, input: Changed) -> dict[str, Any] | None:
        return {"seen": "again"}

    assert ManualWorkers(store, [changed]).run_one() is Outcome.QUARANTINE
    aside = the_task(store, task_id)
    assert (aside.status, aside.error_class) == (TaskStatus.QUARANTINED, InputMisfit.__name__)
    assert "weight" in (aside.error or "")
    retry(store, [TASKS], task_id, by="ann")
    ManualWorkers(store, [TASKS]).drain()
    assert the_task(store, task_id).status is TaskStatus.DONE


class Changed(BaseModel):
    weight: float


def test_the_same_key_is_announced_once(store: Store, workers: ManualWorkers) -> None:
    with store.change() as change:
        first = look.enqueue(change, Order(name="x"), key="monday")
    with pytest.raises(Conflict), store.change() as change:
        change.create(Stamp(name="beside"))
        look.enqueue(change, Order(name="x"), key="monday")
    assert store.lookup(Stamp.at(name="beside")) is None, "the whole change is refused"
    with store.change() as change:
        other = look.enqueue(change, Order(name="x"), key="tuesday")
    assert {t.task_id for t in workers.waiting()} == {first, other}
    workers.drain()
    with pytest.raises(Conflict), store.change() as change:
        look.enqueue(change, Order(name="x"), key="monday")


def test_a_task_can_be_announced_for_later(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    with store.change() as change:
        look.enqueue(change, Order(), after=timedelta(hours=3))
    clock.advance(timedelta(hours=3) - SECOND)
    assert workers.drain() == 0
    clock.advance(SECOND)
    assert workers.drain() == 1


def test_what_is_handed_back_is_done_by_another_and_counts_as_no_attempt(store: Store, clock: FrozenClock) -> None:
    stamped(store, "a")
    task_id = announce(store)
    leaving, other = Runner(store, [TASKS], owner="leaving"), Runner(store, [TASKS], owner="other")
    (work,) = leaving.take()
    clock.advance(SECOND)
    leaving.hand_back(work)
    assert (the_task(store, task_id).status, the_task(store, task_id).attempts) == (TaskStatus.WAITING, 0)
    assert leaving.run(work) is Outcome.LOST, "it may still run here, but changes nothing"
    (again,) = other.take()
    assert other.run(again) is Outcome.DONE
    assert stamps(store, "a") == {"a": 1}
    assert the_task(store, task_id).attempts == 1
    assert [(a.worker, a.outcome) for a in attempts(store, task_id)] == [
        ("leaving", Outcome.HANDED_BACK),
        ("other", Outcome.DONE),
    ]


def test_an_attempt_begins_when_it_is_begun_and_not_when_it_was_taken(store: Store, clock: FrozenClock) -> None:
    task_id = announce(store, look)
    runner = Runner(store, [TASKS], owner="w")
    (work,) = runner.take()
    clock.advance(9 * SECOND)
    began = clock.now()
    assert runner.run(work) is Outcome.DONE
    assert [attempt.started_at for attempt in attempts(store, task_id)] == [began]


def test_what_goes_wrong_after_the_end_is_no_reason_to_do_it_again(store: Store) -> None:
    stamped(store, "a")

    def stumble(work: TaskContext, input: Order) -> None:
        with work.finish() as change:
            change.delete(Stamp.at(name="a"))
        raise ValueError("too late")

    tasks, task = own(stumble)
    task_id = announce(store, task)
    assert ManualWorkers(store, [tasks]).run_one() is Outcome.DONE
    assert the_task(store, task_id).status is TaskStatus.DONE


@pytest.mark.parametrize("way", [SystemExit(3), asyncio.CancelledError()], ids=["exit", "cancelled"])
def test_one_that_leaves_the_interpreter_has_failed(store: Store, way: BaseException) -> None:
    """Also one whose asynchronous call was cancelled: neither is an Exception, and both end no more than the task."""

    def leave(work: TaskContext, input: Order) -> None:
        raise way

    tasks, task = own(leave)
    announce(store, task)
    assert ManualWorkers(store, [tasks]).run_one() is Outcome.RETRYABLE


def test_a_task_of_the_largest_input_can_be_run_can_fail_and_is_tried_again(store: Store, clock: FrozenClock) -> None:
    """Workers write beside the input, and no engine takes a record that has grown too large for that."""
    seen = []

    def fail_if_large(work: TaskContext, input: Order) -> None:
        seen.append(work.project)
        if input.name != "small":
            raise ValueError("🐟" * LONGEST_ERROR)

    tasks, task = own(fail_if_large)
    room = LARGEST_INPUT - document_size(task.dump(Order(name="")))
    task_id = announce(store, task, name="x" * room)
    with store.change() as change:
        task.enqueue(change, Order(name="small"), project="p2")
    with pytest.raises(TooLarge, match=r"own\.task has 393217 bytes; at most 393216 \(384 KB\)"):
        announce(store, task, name="x" * (room + 1))
    runner = Runner(store, [tasks], owner="w" * 100)
    outcomes = {work.project: runner.run(work) for work in runner.take(8)}
    assert outcomes == {"p1": Outcome.RETRYABLE, "p2": Outcome.DONE}
    clock.advance(timedelta(minutes=10))
    assert [runner.run(work) for work in runner.take(8)] == [Outcome.RETRYABLE]
    assert seen.count("p1") == 2
    assert the_task(store, task_id).error == "🐟" * LONGEST_ERROR


@pytest.mark.parametrize("mistake", ["raises", "is refused"])
def test_a_mistake_of_what_follows_from_a_failure_does_not_keep_the_task_alive(store: Store, mistake: str) -> None:
    stamped(store, "taken", "heard", "attempted")
    tries = 0

    def fail(work: TaskContext, input: Order) -> None:
        raise ValueError

    tasks, task = own(fail, retry=Retry(attempts=1))

    @task.failed
    def wrong(change: Change, input: Order, error: BaseException) -> None:
        nonlocal tries
        tries += 1
        change.create(Stamp(name="taken" if mistake == "is refused" else "free"))
        if mistake == "raises":
            raise RuntimeError

    @task.failed
    def hear(change: Change, input: Order, error: BaseException) -> None:
        stamp(change, "heard")

    @task.attempted
    def wrong_too(change: Change, input: Order, attempt: TaskAttempt) -> None:
        stamp(change, "heard")
        raise RuntimeError

    @task.attempted
    def hear_too(change: Change, input: Order, attempt: TaskAttempt) -> None:
        stamp(change, "attempted")

    task_id = announce(store, task)
    assert ManualWorkers(store, [tasks]).run_one() is Outcome.TERMINAL
    assert the_task(store, task_id).status is TaskStatus.FAILED
    others = int(mistake == "raises")
    assert stamps(store, "heard", "attempted") == {"heard": others, "attempted": others}, "it keeps no other from it"
    assert store.lookup(Stamp.at(name="free")) is None, "what it had begun to write is not written"
    assert tries == (10 if mistake == "is refused" else 1), "others may just write to the same records"


def test_a_change_on_the_way_is_fenced_and_audited_and_the_end_is_one_with_its_effect(
    store: Store, clock: FrozenClock
) -> None:
    stamped(store, "a")

    def conflict(work: TaskContext, input: Order) -> None:
        with work.change(why="on the way") as change:
            change.create(Stamp(name=f"way-{work.task.attempts}"))
        with work.finish() as change:
            change.create(Stamp(name="a"))

    tasks, task = own(conflict)
    task_id = announce(store, task)
    assert ManualWorkers(store, [tasks]).run_one() is Outcome.RETRYABLE
    assert the_task(store, task_id).status is TaskStatus.WAITING, "it is not done if its effect is refused"
    assert store.lookup(Stamp.at(name="way-1")) is not None


@pytest.mark.parametrize("ending", [Outcome.DONE, Outcome.RETRYABLE, Outcome.TERMINAL, Outcome.HANDED_BACK])
def test_a_lease_that_is_prolonged_while_its_task_ends_keeps_it_from_nothing(
    store: Store, clock: FrozenClock, ending: Outcome
) -> None:
    """The heartbeat and the end of a task write the same field, each in a thread of its own."""

    def end(work: TaskContext, input: Order) -> None:
        if ending is not Outcome.DONE:
            raise Terminal("no") if ending is Outcome.TERMINAL else ValueError("no luck")

    tasks, task = own(end)
    prolonged = []

    def prolong(change: Change, input: Order, attempt: TaskAttempt) -> None:
        due = Set("due_at", clock.now() + timedelta(minutes=9))
        prolonged.append(store.patch(work.lease.ref, due, when=work.lease.holds(), given=work.task))

    task.attempted(prolong)
    task_id = announce(store, task)
    runner = Runner(store, [tasks])
    (work,) = runner.take()
    if ending is Outcome.HANDED_BACK:
        runner.hand_back(work)
    else:
        assert runner.run(work) is ending
    assert len(prolonged) == 1
    assert [a.outcome for a in attempts(store, task_id)] == [ending]
    assert the_task(store, task_id).status is not TaskStatus.RUNNING


def test_a_store_of_one_project_announces_for_that_project(store: Store, workers: ManualWorkers) -> None:
    scoped = store.scoped("p7")
    with scoped.change(by="ann") as change:
        task_id = look.enqueue(change, Order(name="x"))
    assert workers.drain() == 1
    assert the_task(store, task_id).project_id == "p7"


def test_wrong_declarations_are_refused() -> None:
    tasks = Tasks("own")
    tasks.task("one")(_nothing)
    with pytest.raises(DeclarationError, match=r"two tasks own\.one"):
        tasks.task("one")(_nothing)
    with pytest.raises(DeclarationError, match="not of"):
        tasks.task("two")(lambda work: None)  # type: ignore[arg-type, misc]
    with pytest.raises(DeclarationError, match="the type of y is missing"):
        tasks.task("three")(lambda x, y: None)
    with pytest.raises(DeclarationError, match="never run"):
        tasks.task("four", concurrency=0)(_nothing)
    with pytest.raises(DeclarationError, match="not done"):
        tasks.task("five", classes={ValueError: Outcome.DONE})(_nothing)
    with pytest.raises(DeclarationError, match="at least one attempt"):
        Retry(attempts=0)


def test_an_input_is_a_model_or_a_map() -> None:
    tasks = Tasks("own")

    def count(work: TaskContext, input: int) -> None: ...

    with pytest.raises(InvalidValue, match="a model or a map, not a int"):
        tasks.task("count")(count).dump(3)
