"""Work through Celery, for many machines: its broker carries the news of tasks, the store decides who does them.

A dispatcher tells the broker which tasks are due; a Celery worker takes such a task under a lease, as any worker does.
What the broker forgets is told again, what it tells twice or late is not done twice: a task runs if the store says so.

Schedules are Celery beat's entries, which only say when to look. The scheduler does what is due, once for each period.
One that has a task of its own is sent by that name; whoever else sends it has the schedule run at once.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from celery import Celery
from celery.app.amqp import AMQP
from celery.beat import Scheduler as MemoryScheduler
from celery.beat import Service as Beat
from celery.schedules import BaseSchedule, schedstate
from celery.signals import setup_logging, worker_init, worker_process_init
from cronsim import CronSim
from kombu.connection import Connection

from penstock.errors import BROKER, Conflict, DeclarationError
from penstock.events.schedule import Schedule, Scheduler
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.net.per_process import PerProcess
from penstock.ports.worker_name import worker_name
from penstock.work.domain_context import DomainContext
from penstock.work.registry import Tasks
from penstock.work.rescue import keep_rescuing
from penstock.workers.celery_broker import LOOK, RUN, RUN_SEVERAL, CeleryBroker
from penstock.workers.dispatcher import Dispatcher
from penstock.workers.pool_process import PoolProcess
from penstock.workers.processes import Processes, end_with_parent

_CONNECTING = 4.0
"Seconds within which a broker answers, or is away."
_ASKING = 2.0
"Seconds after which a worker asks it again."


@dataclass(frozen=True)
class CeleryWorkers:
    """Workers, dispatcher and beat on one broker, each in processes of their own."""

    store: Store
    tasks: Sequence[Tasks]
    broker: str
    schedules: Sequence[Schedule] = ()
    context: DomainContext | None = None
    processes: int = 4
    lease: timedelta = timedelta(seconds=60)
    depth: int = 100
    "How many tasks the broker knows of at most that no worker has taken."
    redelivery: timedelta = timedelta(minutes=2)
    "A task that no worker has taken by then is told again."
    queue: str = "penstock"
    log: Callable[[], object] | None = None
    "Sets up how its processes log; without it they log as Celery does."

    def run(self, *, grace: timedelta = timedelta(seconds=30)) -> None:
        """Work until SIGTERM or Ctrl-C; then finish what is running within the grace, and hand back the rest.

        The processes are forked here: call it before any thread is started.
        """
        # SQLite believes that locks are inherited, which they are not.
        self.store.close()
        parts: dict[str, Callable[[], object]] = {"worker": self.run_worker, "dispatcher": self.run_dispatcher}
        if self.schedules:
            parts["beat"] = self.run_beat
        Processes(parts).run(grace=grace.total_seconds())

    def run_worker(self) -> None:
        """Take tasks of which the broker tells, until SIGTERM. Celery's own command can do it as well."""
        options = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING"]
        self.app().worker_main(["--quiet", "worker", f"--concurrency={self.processes}", "--pool=prefork", *options])

    def run_dispatcher(self) -> None:
        """Tell the broker of tasks that are due, and rescue what was lost anywhere, until SIGTERM."""
        stop = threading.Event()
        # From another thread: this one may be interrupted while it holds the lock of the event.
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=stop.set).start())
        rescuer = partial(keep_rescuing, self.store, self.tasks, stop, lease=self.lease)
        threading.Thread(target=rescuer, name="penstock-rescue", daemon=True).start()
        self.dispatcher().run(stop)

    def run_beat(self) -> None:
        """Have schedules looked at whenever one of them is due, until SIGTERM."""
        app = self.app()
        broker, outages, never = CeleryBroker(app), outages_of(self.store), threading.Event()
        outages.lookout(BROKER, probe=broker.queued)
        for schedule in self.schedules:
            # What became due while nobody looked.
            while (away := broker.look(schedule.name)) is not None:
                outages.sit_out(away, never)
        Beat(app, scheduler_cls=MemoryScheduler).start()

    def dispatcher(self) -> Dispatcher:
        """What tells the broker of tasks."""
        return Dispatcher(
            self.store,
            self.tasks,
            # Its heartbeat has noticed by then that its time is over.
            CeleryBroker(self.app(), killed_after=self.lease / 2),
            owner=worker_name(),
            depth=self.depth,
            redelivery=self.redelivery,
            period=self.lease / 4,
        )

    def app(self) -> Celery:
        """The Celery application, for Celery's own commands too."""
        return celery_app(
            self.store,
            self.tasks,
            broker=self.broker,
            schedules=self.schedules,
            context=self.context,
            lease=self.lease,
            queue=self.queue,
            log=self.log,
        )


def celery_app(
    store: Store,
    tasks: Iterable[Tasks],
    *,
    broker: str,
    schedules: Sequence[Schedule] = (),
    context: DomainContext | None = None,
    lease: timedelta = timedelta(seconds=60),
    queue: str = "penstock",
    log: Callable[[], object] | None = None,
) -> Celery:
    """A Celery application that runs tasks of the store; nothing is connected before it is used, in each process."""
    known, named = list(tasks), {s.name: s for s in schedules}
    app = Celery("penstock", broker=broker, amqp=_Amqp, set_as_current=False)
    app.conf.update(
        task_acks_late=True,
        task_ignore_result=True,
        result_expires=None,
        task_default_queue=queue,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        broker_connection_retry_on_startup=True,
        # Whether to try again is decided here, once for all, and not in each call.
        task_publish_retry=False,
        broker_connection_timeout=_CONNECTING,
        broker_connection_max_retries=None,
        broker_transport_options={
            "max_retries": 1,
            "interval_start": 0,
            "socket_connect_timeout": _CONNECTING,
            # Where acknowledging is only played (Redis), it takes two more requests for each message, to have it told
            # again an hour after its worker died. The store tells of it within seconds.
            "ack_emulation": False,
        },
        enable_utc=True,
        timezone="UTC",
        beat_schedule={s.name: _entry(s, queue) for s in schedules},
    )
    in_pool, others = threading.Event(), CeleryBroker(app, killed_after=lease / 2)
    at_work = PerProcess(
        lambda: PoolProcess(
            store, known, lease=lease, context=context, in_pool=in_pool.is_set(), tell_another=others.send
        )
    )

    def run(task_id: str, epoch: int | None, *more: Any) -> None:
        at_work.get().work_on(task_id, epoch, *more)

    def run_several(told: list[tuple[str, int | None]]) -> None:
        at_work.get().work_on_several(dict(told))

    def look(name: str) -> None:
        # That one first; then the others, whose own messages a broker may have lost.
        in_order = [named[name], *(s for s in schedules if s.name != name)] if name in named else schedules
        Scheduler(store, in_order, owner=worker_name()).run_due()

    # Not shared with every other application of the process, as Celery would have it.
    app.task(run, name=RUN, shared=False)
    app.task(run_several, name=RUN_SEVERAL, shared=False)
    app.task(look, name=LOOK, shared=False)
    for task_name, schedule in _own_tasks(schedules):
        app.task(_own_task(store, schedule, look, task_name), name=task_name, shared=False)

    # A process of the pool that asks for its parent itself may be told who came after one that has died.
    worker = list[int]()

    def begin_worker(**_: Any) -> None:
        worker[:] = [os.getpid()]

    def begin(**_: Any) -> None:
        in_pool.set()
        for parent in worker:
            if parent != os.getpid():  # as it is in a pool that has no processes of its own
                end_with_parent(parent)
        at_work.get()  # which says that a worker is there, before the first task comes

    worker_init.connect(begin_worker, weak=False, dispatch_uid=str(id(app)))
    worker_process_init.connect(begin, weak=False, dispatch_uid=str(id(app)))
    if log is not None:
        setup_logging.connect(partial(_log_alike, log), weak=False, dispatch_uid=__name__)
    return app


class _Connection(Connection):
    """Asks a broker that is away every few seconds, however long it has been so; Celery would ask ever less often."""

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        return super().ensure_connection(  # type: ignore[no-untyped-call]
            *args, **{"interval_start": _ASKING, "interval_max": _ASKING, **kwargs}
        )


class _Amqp(AMQP):  # type: ignore[misc]
    Connection = _Connection


def _log_alike(log: Callable[[], object], *, loglevel: int, **_: Any) -> None:
    """Have Celery's own lines written as all others are; how many of them, its command says."""
    log()
    logging.getLogger("celery").setLevel(loglevel)


def _entry(schedule: Schedule, queue: str) -> dict[str, Any]:
    """A schedule as beat has it."""
    sent: dict[str, Any] = {"schedule": Cron(schedule.cron), "options": {"queue": queue}}
    if schedule.task_names:
        return {"task": schedule.task_names[0], "kwargs": {"only_if_due": True}, **sent}
    return {"task": LOOK, "args": (schedule.name,), **sent}


def _own_tasks(schedules: Sequence[Schedule]) -> list[tuple[str, Schedule]]:
    """The names under which schedules are sent, each of one of them."""
    owners: dict[str, Schedule] = {}
    for schedule in schedules:
        for name in schedule.task_names:
            if name in (RUN, LOOK) or owners.setdefault(name, schedule) is not schedule:
                raise DeclarationError(f"schedule {schedule.name}: its task {name} is also another's; rename one")
    return list(owners.items())


def _own_task(store: Store, schedule: Schedule, look: Callable[[str], None], name: str) -> Callable[..., str]:
    """A schedule as a task: when it is due, as beat asks for; or at once, as anybody does who sends its name."""

    def task(*, only_if_due: bool = False) -> str:
        if only_if_due:
            look(schedule.name)
            return "looked"
        try:
            run = Scheduler(store, [schedule], owner=worker_name()).run_now(schedule.name, by=name)
        except Conflict:
            return "at work already"
        if run.outcome != "done":
            raise RuntimeError(f"{schedule.name} {run.outcome}: {run.error}")
        return "done"

    return task


class Cron(BaseSchedule):  # type: ignore[misc]
    """A schedule's moments, by the same rules as the scheduler's own; Celery's are others where two days are given."""

    def __init__(
        self, expression: str, nowfun: Callable[[], datetime] | None = None, app: Celery | None = None
    ) -> None:
        super().__init__(nowfun=nowfun, app=app)
        self.expression = expression

    def remaining_estimate(self, last_run_at: datetime) -> timedelta:
        left: timedelta = self._next(last_run_at) - self.now()
        return left

    def is_due(self, last_run_at: datetime) -> schedstate:
        now = self.now()
        due = self._next(last_run_at) <= now
        following = self._next(now if due else last_run_at)
        return schedstate(due, (following - now).total_seconds())

    def _next(self, after: datetime) -> datetime:
        return next(CronSim(self.expression, after.astimezone(UTC)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cron) and other.expression == self.expression

    def __hash__(self) -> int:
        return hash(self.expression)

    def __reduce__(self) -> tuple[type[Cron], tuple[str]]:
        # Beat keeps its entries in a file, and no application with them.
        return Cron, (self.expression,)

    def __repr__(self) -> str:
        return f"<cron {self.expression}, UTC>"
