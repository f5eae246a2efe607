"""Work through Celery, for many machines: its broker carries the news of tasks, the store decides who does them.

A dispatcher tells the broker which tasks are due; a Celery worker takes such a task under a lease, as any worker does.
What the broker forgets is told again, what it tells twice or late is not done twice: a task runs if the store says so.

Schedules are Celery beat's entries, which only say when to look. The scheduler does what is due, once for each period.
One that has a task of its own is sent by that name; whoever else sends it has the schedule run at once.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from celery import Celery
from celery.beat import Scheduler as MemoryScheduler
from celery.beat import Service as Beat
from celery.schedules import BaseSchedule, schedstate
from celery.signals import worker_process_init
from cronsim import CronSim
from kombu.exceptions import ChannelError, OperationalError

from penstock.errors import BROKER, Conflict, DeclarationError, Unavailable
from penstock.events.schedule import Schedule, Scheduler
from penstock.kernel.store import Store
from penstock.net.per_process import PerProcess
from penstock.ports.worker_name import worker_name
from penstock.work.domain_context import DomainContext
from penstock.work.heartbeat import Heartbeat
from penstock.work.registry import TaskOf, Tasks
from penstock.work.rescue import keep_rescuing
from penstock.work.runner import Runner
from penstock.work.task import Task
from penstock.workers.dispatcher import Dispatcher
from penstock.workers.processes import Processes, end_with_parent

RUN, LOOK = "penstock.run", "penstock.schedule"
_CONNECTING = 4.0
"Seconds within which a broker answers, or is away."


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
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        rescuer = partial(keep_rescuing, self.store, self.tasks, stop, lease=self.lease)
        threading.Thread(target=rescuer, name="penstock-rescue", daemon=True).start()
        self.dispatcher().run(stop)

    def run_beat(self) -> None:
        """Have schedules looked at whenever one of them is due, until SIGTERM."""
        app = self.app()
        for schedule in self.schedules:
            # What became due while nobody looked.
            app.send_task(LOOK, (schedule.name,))
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
) -> Celery:
    """A Celery application that runs tasks of the store; nothing is connected before it is used, in each process."""
    known, named = list(tasks), {s.name: s for s in schedules}
    app = Celery("penstock", broker=broker, set_as_current=False)
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
        broker_transport_options={"max_retries": 1, "interval_start": 0, "socket_connect_timeout": _CONNECTING},
        enable_utc=True,
        timezone="UTC",
        beat_schedule={s.name: _entry(s, queue) for s in schedules},
    )
    hands = PerProcess(lambda: _Hands(store, known, lease=lease, context=context, in_pool=in_pool.is_set()))
    in_pool = threading.Event()

    def run(task_id: str, epoch: int | None) -> None:
        hands.get().work_on(task_id, epoch)

    def look(name: str) -> None:
        # That one first; then the others, whose own messages a broker may have lost.
        in_order = [named[name], *(s for s in schedules if s.name != name)] if name in named else schedules
        Scheduler(store, in_order, owner=worker_name()).run_due()

    # Not shared with every other application of the process, as Celery would have it.
    app.task(run, name=RUN, shared=False)
    app.task(look, name=LOOK, shared=False)
    for task_name, schedule in _own_tasks(schedules):
        app.task(_own_task(store, schedule, look, task_name), name=task_name, shared=False)

    def begin(**_: Any) -> None:
        in_pool.set()
        end_with_parent(os.getppid())

    worker_process_init.connect(begin, weak=False, dispatch_uid=str(id(app)))
    return app


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


class _Hands:
    """What runs tasks in one process of Celery's pool."""

    def __init__(
        self, store: Store, tasks: list[Tasks], *, lease: timedelta, context: DomainContext | None, in_pool: bool
    ) -> None:
        self._ending = threading.Event()
        self._runner = Runner(store, tasks, lease=lease, context=context, sit_out=self._sit_out)
        self._heartbeat = Heartbeat(self._runner)
        if in_pool:
            # Celery's own way out would make an error of it in the middle of the task.
            signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=self._drop).start())

    def work_on(self, task_id: str, epoch: int | None) -> None:
        try:
            work = self._runner.take_one(task_id, epoch)
        except Unavailable as away:
            if self._runner.outages.met(away) is None:
                raise
            return  # it still waits, and its dispatcher tells of it again
        if work is not None:
            with self._heartbeat.holding(work):
                self._runner.run(work)

    def _sit_out(self, error: BaseException) -> bool:
        return self._runner.outages.sit_out(error, self._ending) and not self._ending.is_set()

    def _drop(self) -> None:
        """Hand back what is running, and end. From another thread: the first one may be amidst anything."""
        self._ending.set()
        try:
            for work in self._heartbeat.held:
                if not work.is_over():
                    self._runner.hand_back(work)
        finally:
            os._exit(0)


class CeleryBroker:
    """The broker, as the dispatcher sees it."""

    def __init__(self, app: Celery, *, killed_after: timedelta = timedelta(seconds=30)) -> None:
        self._app, self._queue, self._killed_after = app, app.conf.task_default_queue, killed_after

    def send(self, task: Task, declared: TaskOf[Any]) -> None:
        """Tell a worker; its process is killed if the task still runs so long after its time is over."""
        longest = (declared.limit + self._killed_after).total_seconds()
        with self._reaching():
            self._app.send_task(RUN, (task.task_id, task.lease_epoch), time_limit=longest)

    def queued(self) -> int:
        with self._reaching(), self._app.pool.acquire(block=True) as connection:
            try:
                return int(connection.default_channel.queue_declare(self._queue, passive=True).message_count)
            except ChannelError:
                return 0  # there is none yet, or the broker has lost its memory

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """What each of Celery's transports says of a broker that is away, in our own words."""
        try:
            yield
        except Exception as error:
            if not isinstance(error, (OperationalError, OSError, *self._app.connection_for_write().connection_errors)):
                raise
            raise Unavailable(f"the broker cannot be reached: {error}", part=BROKER) from error


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
