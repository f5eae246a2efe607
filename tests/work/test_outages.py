"""Outages of our own parts cost work time, and never an attempt."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kombu.exceptions import OperationalError

from penstock import FrozenClock, Store
from penstock.errors import BROKER, OBJECTS, Unanswered, Unavailable
from penstock.kernel.outages import outages_of
from penstock.objects.local import LocalObjects
from penstock.work import Outcome, Pipeline, PipelineStep, Retry, StepContext, StepResult, TaskContext, Tasks, Terminal
from penstock.work.domain_context import DomainContext
from penstock.work.job import JobStatus
from penstock.work.rescue import Rescuer
from penstock.work.runner import Runner
from penstock.work.task import Task, TaskAttempt, TaskStatus
from penstock.work.told_task import ToldTask
from penstock.workers.celery import celery_app
from penstock.workers.celery_broker import RUN
from penstock.workers.dispatcher import Dispatcher
from penstock.workers.inline import InlineWorkers
from penstock.workers.manual import ManualWorkers
from penstock.workers.pool_process import PoolProcess
from tests.servers import Valkey, free_port
from tests.work.plant import TASKS, Order, look, stamp, stamps
from tests.work.soon import soon
from tests.work.test_recovery import Paper
from tests.work.test_tasks import announce, attempts, own, stamped, the_task

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


class Files(LocalObjects):
    """Files on a disk that may be taken away."""

    away = False
    asked = 0

    @contextmanager
    def _root(self, *, make: bool = False) -> Iterator[int]:
        self.asked += 1
        if self.away:
            raise Unavailable("the disk is gone", part=OBJECTS)
        with super()._root(make=make) as root:
            yield root


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "files")


def workers_with(store: Store, files: Files, tasks: Tasks) -> ManualWorkers:
    return ManualWorkers(store, [tasks], context=DomainContext(store, files, lambda name: None))


def plainly(files: Any, name: str) -> None:
    files.put(name, b"made")


def wrapped(files: Any, name: str) -> None:
    try:
        files.put(name, b"made")
    except Unavailable as away:
        raise Terminal("it could not be made") from away


def in_passing(files: Any, name: str) -> None:
    try:
        files.put(name, b"made")
    except Exception:
        raise ValueError("synthesis failed")  # noqa: B904 - as careless code has it


def in_a_group(files: Any, name: str) -> None:
    try:
        files.put(name, b"made")
    except Exception as error:
        raise ExceptionGroup("several", [ValueError("another"), error]) from None


@pytest.mark.parametrize("put", [plainly, wrapped, in_passing, in_a_group])
def test_files_that_are_away_cost_a_task_no_attempt_however_it_says_so(
    store: Store, clock: FrozenClock, files: Files, put: Callable[[Any, str], None]
) -> None:
    failed: list[BaseException] = []

    def make(work: TaskContext, input: Order) -> None:
        put(work.objects, input.name)

    tasks, task = own(make, retry=Retry(attempts=2), classes={Unavailable: Outcome.TERMINAL})
    task.failed(lambda change, order, error: failed.append(error))
    workers = workers_with(store, files, tasks)
    ids = [announce(store, task, name=f"file{n}") for n in range(6)]
    files.away = True
    assert workers.run_one() is Outcome.HANDED_BACK, "which is how it is counted"
    for _ in range(24):
        workers.drain()
        clock.advance(HOUR)
    assert {(t.status, t.attempts, t.waits_for) for t in workers.waiting()} == {(TaskStatus.WAITING, 0, OBJECTS)}
    assert [len(attempts(store, i)) for i in ids] == [1] * 6, "a day of outage leaves one attempt of each task"
    files.away = False
    workers.drain()
    done = [the_task(store, i) for i in ids]
    assert {(t.status, t.attempts, t.waits_for, t.error) for t in done} == {(TaskStatus.DONE, 1, None, None)}
    assert [[a.outcome for a in attempts(store, i)] for i in ids] == [[Outcome.HANDED_BACK, Outcome.DONE]] * 6
    assert failed == []


def test_what_waits_goes_on_as_soon_as_the_part_is_back(store: Store, clock: FrozenClock, files: Files) -> None:
    def make(work: TaskContext, input: Order) -> None:
        work.objects.put(input.name, b"made")

    tasks, task = own(make)
    workers = workers_with(store, files, tasks)
    ids = [announce(store, task, name=f"file{n}") for n in range(3)]
    files.away = True
    for _ in range(30):
        workers.drain()
        clock.advance(timedelta(minutes=1))
    workers.drain()
    files.away = False
    clock.advance(4 * SECOND)
    workers.drain()
    assert {the_task(store, i).status for i in ids} == {TaskStatus.DONE}


def test_work_that_needs_nothing_of_what_is_away_goes_on(store: Store, clock: FrozenClock, files: Files) -> None:
    def make(work: TaskContext, input: Order) -> None:
        if input.name != "nothing":
            work.objects.put(input.name, b"made")

    tasks, task = own(make)
    workers = workers_with(store, files, tasks)
    files.away = True
    stuck = [announce(store, task, name=f"file{n}") for n in range(30)]
    workers.drain()
    clock.advance(HOUR)
    asked = files.asked
    other = announce(store, task, name="nothing")
    workers.drain()
    assert the_task(store, other).status is TaskStatus.DONE
    assert files.asked - asked <= 2, "one asks for all"
    assert {the_task(store, i).status for i in stuck} == {TaskStatus.WAITING}


def test_a_service_elsewhere_has_the_rules_that_its_task_declares(store: Store, clock: FrozenClock) -> None:
    def ask(work: TaskContext, input: Order) -> None:
        raise Unanswered("example.org: nobody is there")

    tasks, task = own(ask, retry=Retry(attempts=2))
    workers = ManualWorkers(store, [tasks])
    task_id = announce(store, task)
    for _ in range(3):
        workers.drain()
        clock.advance(HOUR)
    assert the_task(store, task_id).status is TaskStatus.FAILED


def test_a_failure_that_is_one_task_s_alone_ends_it_after_some_days(
    store: Store, clock: FrozenClock, files: Files
) -> None:
    """The part answers whenever it is asked."""

    def make(work: TaskContext, input: Order) -> None:
        raise Unavailable("just this one", part=OBJECTS)

    tasks, task = own(make, retry=Retry(attempts=2))
    workers = workers_with(store, files, tasks)
    task_id = announce(store, task)
    for _ in range(7):
        workers.drain()
        clock.advance(10 * HOUR)
    assert the_task(store, task_id).status is TaskStatus.WAITING
    for _ in range(20):
        workers.drain()
        clock.advance(10 * HOUR)
    assert the_task(store, task_id).status is TaskStatus.FAILED
    assert len(attempts(store, task_id)) <= 5


def test_a_step_of_a_pipeline_waits_as_well(store: Store, clock: FrozenClock, files: Files) -> None:
    tasks = Tasks("own")

    def make(work: TaskContext, context: StepContext[Any, Any]) -> StepResult:
        work.objects.put("film", b"made")
        return StepResult(artifacts=["film"])

    film = Pipeline(tasks, "film", [PipelineStep("make", make, retry=Retry(attempts=1))])
    workers = workers_with(store, files, tasks)
    with store.change(by="ann") as change:
        job = film.start(change, {}, project="p1")
    files.away = True
    for _ in range(10):
        workers.drain()
        clock.advance(HOUR)
    assert store.get(job.ref).status is JobStatus.RUNNING
    files.away = False
    workers.drain()
    assert store.get(job.ref).status is JobStatus.DONE


# The store itself


class Cable:
    """What leads to a store: while it is cut, every call fails as one does whose database is away."""

    NAMES = ("get", "find", "commit", "load", "patch", "expire", "changes", "feed_end")

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cut = False
        self.asked = 0
        for name in self.NAMES:
            monkeypatch.setattr(store.engine, name, self._through(getattr(store.engine, name)))

    def _through(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def passed(*args: Any, **more: Any) -> Any:
            if self.cut:
                self.asked += 1
                raise Unavailable("nobody answers")
            return call(*args, **more)

        return passed


@pytest.fixture
def cable(store: Store, monkeypatch: pytest.MonkeyPatch) -> Cable:
    return Cable(store, monkeypatch)


def pressing(cable: Cable) -> tuple[Tasks, Any]:
    """A task whose last attempt is in the middle of it when the store goes away."""
    cut = iter([True])

    def press(work: TaskContext, input: Order) -> None:
        cable.cut = next(cut, cable.cut)
        with work.finish() as change:
            stamp(change, input.name)

    return own(press, retry=Retry(attempts=1))


def test_a_store_that_is_away_for_a_day_costs_no_attempt(store: Store, clock: FrozenClock, cable: Cable) -> None:
    tasks, press = pressing(cable)
    workers = ManualWorkers(store, [tasks])
    stamped(store, "a")
    task_id = announce(store, press)
    assert workers.run_one() is Outcome.HANDED_BACK
    for _ in range(24):
        with pytest.raises(Unavailable):
            workers.drain()
        assert workers.rescue() == 0
        clock.advance(HOUR)
    cable.cut = False
    assert workers.rescue() == 0, "whoever lives may write down first what has become of it"
    workers.drain()
    clock.advance(SECOND)
    workers.drain()
    done = the_task(store, task_id)
    assert (done.status, done.attempts) == (TaskStatus.DONE, 1)
    assert stamps(store, "a") == {"a": 1}


def test_a_worker_that_dies_while_the_store_is_away_costs_no_attempt(
    store: Store, clock: FrozenClock, cable: Cable
) -> None:
    tasks, press = pressing(cable)
    stamped(store, "a")
    task_id = announce(store, press)
    ManualWorkers(store, [tasks]).run_one()
    others = Rescuer(store, [tasks], lease=timedelta(seconds=60))
    for _ in range(3):
        clock.advance(HOUR)
        assert others.run_once() == 0
    cable.cut = False
    clock.advance(HOUR)
    assert others.run_once() == 0, "whoever lives may renew its lease first"
    clock.advance(timedelta(seconds=61))
    assert others.run_once() == 1
    assert (the_task(store, task_id).status, the_task(store, task_id).attempts) == (TaskStatus.WAITING, 0)
    clock.advance(HOUR)
    ManualWorkers(store, [tasks]).drain()
    assert the_task(store, task_id).status is TaskStatus.DONE


def test_threads_sit_an_outage_out_with_what_they_have_done(
    store: Store, clock: FrozenClock, cable: Cable, caplog: pytest.LogCaptureFixture
) -> None:
    """The work is not done again: its commit is tried until the store is back."""
    ran, cut = [], threading.Event()

    def press(work: TaskContext, input: Order) -> None:
        ran.append(work.lease.epoch)
        with work.finish() as change:
            stamp(change, input.name)
            cable.cut = True
            cut.set()

    tasks, task = own(press, limit=SECOND)
    stamped(store, "a")
    task_id = announce(store, task)
    workers = InlineWorkers(store, [tasks], threads=2)
    workers.start()
    try:
        assert cut.wait(30)
        soon(lambda: outages_of(store).store.away)
        asked = cable.asked
        clock.advance(timedelta(minutes=5))
        soon(lambda: cable.asked > asked)
        cable.cut = False
        soon(lambda: the_task(store, task_id).status is TaskStatus.DONE)
    finally:
        workers.stop()
    assert (ran, stamps(store, "a")) == ([1], {"a": 1})
    told = [r.getMessage() for r in caplog.records if r.name == "penstock.outage"]
    assert [line.split(",")[0] for line in told] == ["store is away", "store is back"]
    assert not [r for r in caplog.records if r.exc_info], "an outage is told once, and not by everybody who meets it"


def test_the_time_of_an_outage_is_none_of_the_tasks_also_for_whoever_keeps_its_lease(
    store: Store, clock: FrozenClock, cable: Cable
) -> None:
    """The heartbeat may reach the store again before the task hears that it is back."""
    cut = iter([True])

    def press(work: TaskContext, input: Order) -> None:
        clock.advance(SECOND)
        with work.finish() as change:
            stamp(change, input.name)
            cable.cut = next(cut, False)

    def sit_out(error: BaseException) -> bool:
        clock.advance(HOUR)
        cable.cut = False
        assert runner.renew([work]) == []
        return True

    tasks, task = own(press, limit=2 * SECOND)
    stamped(store, "a")
    task_id = announce(store, task)
    runner = Runner(store, [tasks], owner="w", sit_out=sit_out)
    (work,) = runner.take()
    assert (runner.run(work), work.is_over()) == (Outcome.DONE, False)
    clock.advance(SECOND)
    assert work.is_over(), "it has its own time, and no more"
    assert (the_task(store, task_id).status, stamps(store, "a")) == (TaskStatus.DONE, {"a": 1})


def test_a_task_that_a_broker_told_of_runs_as_soon_as_the_store_is_back(
    store: Store, cable: Cable, valkey_server: Valkey
) -> None:
    """Else it would wait until the broker counts as having lost it, which takes two minutes."""
    stamped(store, "a")
    task_id = announce(store)
    app = celery_app(store, [TASKS], broker=valkey_server.url)
    cable.cut = True
    worker = threading.Thread(target=lambda: app.tasks[RUN](task_id, None), daemon=True)
    worker.start()
    soon(lambda: outages_of(store).store.away)
    assert worker.is_alive(), "it waits, and the message is not acknowledged"
    cable.cut = False
    worker.join(5)
    assert the_task(store, task_id).status is TaskStatus.DONE


def test_a_process_of_a_pool_that_is_told_to_end_waits_for_the_store_no_longer(
    store: Store, cable: Cable, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, press = pressing(cable)
    stamped(store, "a")
    task_id = announce(store, press)
    one = PoolProcess(store, [tasks], lease=HOUR, context=None, in_pool=False, tell_another=lambda tasks, limit: None)
    ended = list[int]()
    monkeypatch.setattr("penstock.workers.pool_process.os._exit", ended.append)
    worker = threading.Thread(target=one.work_on, args=(task_id, None), daemon=True)
    worker.start()
    try:
        soon(lambda: outages_of(store).store.away)
        one._drop()
        worker.join(5)
        assert (worker.is_alive(), ended) == (False, [0])
    finally:
        cable.cut = False
        one._heartbeat.stop()
    assert stamps(store, "a") == {"a": 0}


def test_one_that_was_put_off_and_taken_by_another_is_not_ended_by_the_first(store: Store, clock: FrozenClock) -> None:
    """Also where it has no effect but its result, and of the wait no second attempt is kept."""
    announce(store, look)
    first, other = (Runner(store, [TASKS], owner=name) for name in ("first", "other"))
    (work,) = first.take()
    told = {"at": clock.now(), "due_at": clock.now(), "error": "the disk is gone", "error_class": "Unavailable"}
    store.modify(work.task.ref, lambda task: task.put_off(part=OBJECTS, **told))
    (taken,) = other.take()
    assert first.run(work) is Outcome.LOST
    assert (store.get(work.task.ref).status, store.get(work.task.ref).lease_owner) == (TaskStatus.RUNNING, "other")
    assert other.run(taken) is Outcome.DONE


def test_what_was_taken_without_an_answer_is_put_back_as_soon_as_the_store_answers(
    store: Store, workers: ManualWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody here knows of it, and everybody else takes it for running until its lease is over."""
    ids = {announce(store, look) for _ in range(3)}
    commit, lost = store.engine.commit, iter([True])

    def losing(*args: Any, **more: Any) -> None:
        commit(*args, **more)
        if next(lost, False):
            raise Unavailable("the answer is lost")

    monkeypatch.setattr(store.engine, "commit", losing)
    with pytest.raises(Unavailable):
        workers.runner.take(3)
    assert {the_task(store, i).status for i in ids} == {TaskStatus.RUNNING}
    assert {work.task.task_id for work in workers.runner.take(3)} == ids
    assert {the_task(store, i).attempts for i in ids} == {1}, "the first was none"


def test_what_a_broker_told_of_and_was_taken_without_an_answer_is_put_back_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = announce(store, look)
    runner, told = Runner(store, [TASKS], owner="w"), ToldTask.of(the_task(store, task_id))
    patch = store.engine.patch

    def losing(*args: Any, **more: Any) -> None:
        patch(*args, **more)
        raise Unavailable("the answer is lost")

    with monkeypatch.context() as patched:
        patched.setattr(store.engine, "patch", losing)
        with pytest.raises(Unavailable):
            runner.take_unread(told)
    assert the_task(store, task_id).status is TaskStatus.RUNNING
    assert runner.take_unread(told) is None, "of this lease one was told long ago"
    (taken,) = runner.take()
    assert (taken.task.task_id, taken.task.attempts) == (task_id, 1)


@pytest.mark.parametrize("fate", ["it was done", "another has it", "another has done it"])
def test_whoever_has_no_answer_to_the_end_of_a_task_finds_out_what_became_of_it(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, fate: str
) -> None:
    commit, ends = store.engine.commit, iter([True])

    def losing(writes: Any, **more: Any) -> None:
        if not any(write.shape is TaskAttempt.__shape__ for write in writes):
            return commit(writes, **more)  # that the project has an audit at all is written down before
        monkeypatch.setattr(store.engine, "commit", commit)
        if fate == "it was done":
            commit(writes, **more)
        raise Unavailable("the answer is lost")

    def press(work: TaskContext, input: Order) -> None:
        with work.finish() as change:
            stamp(change, input.name)
            if next(ends, False):
                monkeypatch.setattr(store.engine, "commit", losing)

    def sit_out(error: BaseException) -> bool:
        if fate != "it was done":
            clock.advance(HOUR)
            assert others.rescue() == 1
            for taken in others.runner.take():
                assert fate == "another has it" or others.runner.run(taken) is Outcome.DONE
        return True

    tasks, task = own(press)
    stamped(store, "a")
    task_id = announce(store, task)
    runner, others = Runner(store, [tasks], owner="w", sit_out=sit_out), ManualWorkers(store, [tasks])
    (work,) = runner.take()
    assert runner.run(work) is (Outcome.DONE if fate == "it was done" else Outcome.LOST)
    assert stamps(store, "a") == {"a": int(fate != "another has it")}
    done_by = [a.worker for a in attempts(store, task_id) if a.outcome is Outcome.DONE]
    assert done_by == {"it was done": ["w"], "another has it": [], "another has done it": ["manual"]}[fate]


# The broker


def test_what_a_broker_or_its_worker_has_lost_is_told_again_within_seconds(store: Store, clock: FrozenClock) -> None:
    broker = Paper()
    ids = {announce(store, look) for _ in range(3)}
    dispatcher = Dispatcher(store, [TASKS], broker, owner="d")
    assert dispatcher.run_once() == 3
    broker.waiting = 3
    clock.advance(10 * SECOND)
    assert dispatcher.run_once() == 0, "it still has them to tell"
    broker.waiting = 0
    (taken,) = [Runner(store, [TASKS], owner="w").take_one(broker.told[0][0], None)]
    assert taken is not None
    assert dispatcher.run_once() == 2, "whoever was told of these has not taken them"
    assert {name for name, _ in broker.told[3:]} == ids - {broker.told[0][0]}
    clock.advance(SECOND)
    assert dispatcher.run_once() == 0


def test_workers_ask_a_broker_every_two_seconds_however_long_it_is_away(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kombu.utils.functional.sleep", lambda seconds: None)
    app = celery_app(store, [TASKS], broker=f"redis://127.0.0.1:{free_port()}/0")
    pauses: list[float] = []
    with app.connection_for_read() as connection, pytest.raises(OperationalError):
        connection.ensure_connection(lambda error, pause: pauses.append(pause), 12)
    assert (len(pauses), set(pauses)) == (12, {2.0})


def test_a_broker_that_is_away_is_asked_by_one_and_told_of_everything_afterwards(
    store: Store, clock: FrozenClock, workers: ManualWorkers
) -> None:
    class Broker(Paper):
        away = False
        asked = 0

        def queued(self) -> int:
            self.asked += 1
            if self.away:
                raise Unavailable("nobody answers", part=BROKER)
            return super().queued()

        def send(self, tasks: Sequence[Task], *, limit: timedelta) -> None:
            if len(self.told) == 2:
                self.away = True
            if self.away:
                raise Unavailable("nobody answers", part=BROKER)
            super().send(tasks, limit=limit)

    broker = Broker()
    ids = {announce(store, look) for _ in range(5)}
    at_work = Dispatcher(store, [TASKS], broker, owner="d")
    assert at_work.run_once() == 2, "it goes away in the middle"
    for _ in range(24):
        clock.advance(HOUR)
        with pytest.raises(Unavailable):
            at_work.run_once()
    broker.away = False
    broker.told = [("told before", None)] * 3
    at_work.run_once()
    assert {t for t, _ in broker.told} >= ids, "those it had heard of it may have forgotten"
    assert {the_task(store, i).attempts for i in ids} == {0}
