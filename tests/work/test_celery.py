"""Celery: the same work through a real broker and real processes; schedules are beat's entries."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from celery.beat import Scheduler as MemoryScheduler
from celery.signals import worker_init, worker_process_init

from penstock import Store, open_store
from penstock.events.schedule import Schedule, ScheduleState
from penstock.work import WORKING, Outcome, TaskStatus
from penstock.work.worker_presence import WorkerPresence
from penstock.workers.celery import CeleryWorkers, Cron, celery_app
from penstock.workers.celery_broker import LOOK, RUN, CeleryBroker
from tests.forked import forked, mortal
from tests.servers import Valkey
from tests.work.nursery import Nursery, children, kill, lives
from tests.work.plant import PLANT, TASKS, limp, look, press, sleep, stamps
from tests.work.soon import soon
from tests.work.test_tasks import announce, attempts, stamped, the_task


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/plant.db"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = open_store(url)
    store.ensure(WORKING, PLANT)
    yield store
    store.close()


@pytest.fixture
def broker(valkey_server: Valkey) -> Valkey:
    valkey_server.flush()
    return valkey_server


@pytest.fixture
def nursery(url: str, broker: Valkey, tmp_path: Path) -> Iterator[Nursery]:
    with Nursery(url, broker=broker.url, log=tmp_path / "log") as nursery:
        yield nursery


def done(store: Store, *ids: str) -> Callable[[], bool]:
    return lambda: all(the_task(store, i).status is TaskStatus.DONE for i in ids)


def test_tasks_run_through_celery_and_what_is_running_is_handed_back_on_the_way_out(
    store: Store, nursery: Nursery, broker: Valkey
) -> None:
    """One command runs all of it: worker, dispatcher, each in processes of its own."""
    stamped(store, "a")
    everything = nursery.start("all")
    told = [announce(store, press) for _ in range(5)]
    soon(done(store, *told))
    assert stamps(store, "a") == {"a": 5}
    made = [attempt for task_id in told for attempt in attempts(store, task_id)]
    assert len(made) == 5
    assert all(attempt.worker not in (None, "manual") for attempt in made)
    running = announce(store, sleep)
    soon(lambda: the_task(store, running).status is TaskStatus.RUNNING)
    family = [p for child in children(everything) for p in (child, *children(child))]
    os.kill(everything, signal.SIGTERM)
    soon(lambda: not any(lives(p) for p in (everything, *family)))
    assert the_task(store, running).status is TaskStatus.WAITING
    assert [a.outcome for a in attempts(store, running)] == [Outcome.HANDED_BACK]


def test_a_process_of_the_pool_that_is_born_while_its_worker_dies_ends_too(store: Store, tmp_path: Path) -> None:
    born = tmp_path / "born"

    def be_born(worker: int) -> None:
        soon(lambda: os.getppid() != worker)
        (tmp_path / "pid").write_text(str(os.getpid()))
        (tmp_path / "pid").rename(born)
        worker_process_init.send(sender=None)
        signal.pause()

    def work() -> None:
        worker_init.receivers, worker_process_init.receivers = [], []  # of other tests' applications
        celery_app(store, [TASKS], broker="memory://")
        worker_init.send(sender=None)
        worker = os.getpid()
        if os.fork() == 0:
            mortal()
            be_born(worker)

    assert forked(work) == 0
    soon(born.exists)
    soon(lambda: not lives(int(born.read_text())), seconds=30)


def test_a_part_that_dies_is_started_again_and_all_end_with_the_first(store: Store, nursery: Nursery) -> None:
    everything = nursery.start("all")
    soon(done(store, announce(store, look)))
    parts = children(everything)
    assert len(parts) == 2
    for part in parts:
        kill(part)
    soon(lambda: len(set(children(everything)) - set(parts)) == 2)
    soon(done(store, announce(store, look)))
    family = [p for child in children(everything) for p in (child, *children(child))]
    kill(everything)
    soon(lambda: not any(lives(p) for p in family))


def test_a_task_that_takes_too_long_is_ended_and_its_process_killed(store: Store, nursery: Nursery) -> None:
    nursery.start("dispatcher")
    worker = nursery.start("worker")
    soon(done(store, announce(store, look)))
    pool = set(children(worker))
    stuck = announce(store, limp)
    soon(lambda: the_task(store, stuck).status is TaskStatus.FAILED)
    assert the_task(store, stuck).error_class == "TimeOver"
    soon(lambda: bool(pool - set(children(worker))))
    soon(done(store, announce(store, look)))


def test_messages_of_a_broker_say_which_attempt_and_how_long_it_may_take(store: Store, broker: Valkey) -> None:
    task_id = announce(store, press)
    workers = CeleryWorkers(store, [TASKS], broker.url, queue="said")
    dispatcher, app = workers.dispatcher(), workers.app()
    assert CeleryBroker(app).queued() == 0, "also before the first message"
    assert dispatcher.run_once() == 1
    assert CeleryBroker(app).queued() == 1
    with app.connection_for_read() as connection, connection.SimpleQueue(app.amqp.queues["said"]) as queue:
        message = queue.get(timeout=10)
    assert message.headers["task"] == RUN
    assert message.payload[0] == [task_id, None, "plant.press", "p1", 0]
    assert message.headers["timelimit"] == [330.0, None]
    broker.flush()
    assert CeleryBroker(app).queued() == 0
    announce(store, press)
    assert dispatcher.run_once() == 1, "one that has forgotten its queues is told all the same"
    assert CeleryBroker(app).queued() == 1
    app.close()


def test_a_message_is_acknowledged_late_and_leaves_no_result(store: Store, broker: Valkey) -> None:
    app = celery_app(store, [TASKS], broker=broker.url)
    assert {RUN, LOOK} <= set(app.tasks)
    assert app.tasks[RUN].acks_late
    assert app.tasks[RUN].ignore_result
    assert app.conf.worker_prefetch_multiplier == 1
    task_id = announce(store, look)
    app.tasks[RUN](task_id, None)
    assert the_task(store, task_id).status is TaskStatus.DONE
    app.tasks[RUN](task_id, None)
    assert len(attempts(store, task_id)) == 1, "a message that comes twice does nothing"


NIGHTLY = Schedule("plant.nightly", "30 2 * * *", lambda period: None)
WEEKLY = Schedule("plant.weekly", "0 6 * * MON", lambda period: None, overdue=timedelta(days=8))


def test_schedules_are_entries_of_beat_by_their_names(store: Store, broker: Valkey) -> None:
    app = CeleryWorkers(store, [TASKS], broker.url, schedules=[NIGHTLY, WEEKLY]).app()
    entries = MemoryScheduler(app).schedule
    assert {name: (e.task, e.args, repr(e.schedule)) for name, e in entries.items()} == {
        "plant.nightly": (LOOK, ("plant.nightly",), "<cron 30 2 * * *, UTC>"),
        "plant.weekly": (LOOK, ("plant.weekly",), "<cron 0 6 * * MON, UTC>"),
    }


@pytest.mark.parametrize(
    ("cron", "last", "now", "due", "seconds"),
    [
        ("30 2 * * *", (15, 2, 30), (16, 2, 29), False, 60),
        ("30 2 * * *", (15, 2, 30), (16, 2, 30), True, 86400),
        ("30 2 * * *", (15, 2, 30), (16, 3, 0), True, 84600),
        # The fifteenth, or a Monday: both, as the scheduler takes it.
        ("0 0 15 * MON", (13, 0, 0), (15, 0, 0), True, 86400),
    ],
)
def test_moments_are_those_of_the_scheduler_in_utc(
    cron: str, last: tuple[int, int, int], now: tuple[int, int, int], due: bool, seconds: float
) -> None:
    before, moment = (datetime(2037, 11, day, hour, minute, tzinfo=UTC) for day, hour, minute in (last, now))
    found = Cron(cron, nowfun=lambda: moment).is_due(before)
    assert (found.is_due, found.next) == (due, seconds)
    assert Cron(cron, nowfun=lambda: moment).remaining_estimate(moment).total_seconds() == seconds


def test_a_look_runs_every_period_once_and_makes_up_for_lost_ones(store: Store, broker: Valkey) -> None:
    ran: list[str] = []
    often = Schedule("plant.often", "* * * * *", lambda period: ran.append("often"), catch_up="one")
    seldom = Schedule("plant.seldom", "* * * * *", lambda period: ran.append("seldom"), catch_up="one")
    app = celery_app(store, [TASKS], broker=broker.url, schedules=[seldom, often])
    now = store.clock.now()
    for schedule in (often, seldom):
        store.put(ScheduleState(name=schedule.name, first_seen_at=now - timedelta(minutes=5)))
    app.tasks[LOOK]("plant.often")
    app.tasks[LOOK]("plant.often")
    assert ran[:2] == ["often", "seldom"], "the one it is about first, and what another message was lost for"
    assert len(ran) <= 4, "once, unless a minute has just ended"
    app.tasks[LOOK]("gone")


def test_beat_tells_workers_when_to_look(store: Store, nursery: Nursery) -> None:
    nursery.start("worker")
    nursery.start("beat")
    soon(lambda: store.lookup(ScheduleState.at(name="plant.minutely")) is not None)


def test_a_process_of_celery_shares_no_connection_with_its_parent(store: Store, broker: Valkey) -> None:
    """What a pool's process inherits is not used there: each has a runner of its own."""
    app = celery_app(store, [TASKS], broker=broker.url)
    app.tasks[RUN](announce(store, look), None)
    task_id = announce(store, look)
    # A thread that is amidst SQLite when its process forks leaves a lock behind that nobody opens.
    soon(lambda: store.first(WorkerPresence.all_there_are()) is not None)

    def run_it_here() -> bool:
        app.tasks[RUN](task_id, None)
        (attempt,) = attempts(store, task_id)
        return f":{os.getpid()}:" in attempt.worker

    assert forked(run_it_here) == 0
    assert len(attempts(store, task_id)) == 1


def test_a_connection_that_has_failed_is_not_used_again(
    store: Store, broker: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = CeleryBroker(celery_app(store, [TASKS], broker=broker.url))
    assert told.look("noon") is None
    kept = told._outlets.get()
    assert told.look("noon") is None
    assert told._outlets.get() is kept

    def cut(*message: object) -> None:
        raise ConnectionError("cut")

    monkeypatch.setattr(kept, "put", cut)
    assert "cut" in str(told.look("noon"))
    assert told.look("noon") is None
    assert told._outlets.get() is not kept
