"""What runs tasks in one process of a pool that a broker tells of them, one task or several at a time.

Several are taken in one go, and only where those of their names were short here lately. Of the others one is taken, and
the broker is told of the rest anew, each for itself: other processes may be idle. What is not begun after a short while
is handed back.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import compress
from typing import Any, Protocol, TypeVar

from penstock.errors import PenstockError, Unavailable
from penstock.kernel.store import Store
from penstock.work.context import TaskContext
from penstock.work.domain_context import DomainContext
from penstock.work.heartbeat import Heartbeat
from penstock.work.registry import Tasks, by_name
from penstock.work.runner import Runner
from penstock.work.task import Task
from penstock.work.told_task import ToldTask

log = logging.getLogger("penstock.workers")

STUCK = 1.0
"Seconds after which tasks that were taken together are handed back, as far as they are not begun."
_SHORT = 0.1
"Seconds that tasks take which are taken together."


T = TypeVar("T")


class TellAnother(Protocol):
    """Tells another worker of tasks."""

    def __call__(self, tasks: list[Task], *, limit: timedelta) -> None: ...


class PoolProcess:
    """Takes tasks of which it is told, and runs one after the other."""

    def __init__(
        self,
        store: Store,
        tasks: list[Tasks],
        *,
        lease: timedelta,
        context: DomainContext | None,
        in_pool: bool,
        tell_another: TellAnother,
    ) -> None:
        self._ending = threading.Event()
        self._monotonic = store.clock.monotonic
        self._runner = Runner(store, tasks, lease=lease, context=context, sit_out=self._sit_out)
        self._heartbeat = Heartbeat(self._runner)
        # Whoever has put tasks off knows when they can go on, and nobody may tell it of a task before.
        asking = self._runner.put_off.keep_asking
        threading.Thread(target=asking, args=(self._ending,), name="penstock-ask", daemon=True).start()
        self._to_listen = in_pool
        self._tasks, self._tell_another = by_name(tasks), tell_another
        self._seconds: dict[str, float] = {}
        "What tasks of a name have taken here lately, on average."

    def work_on(self, task_id: str, epoch: int | None, *more: Any) -> None:
        """Run a task, if it is still to be done; what more was told of it saves reading it first."""
        self._listen()
        told = ToldTask(task_id, epoch, *more) if more else None
        take = self._runner.take_unread
        work = self._once_there(lambda: take(told) if told else self._runner.take_one(task_id, epoch))
        if work is not None:
            self._run(deque([work]))

    def work_on_several(self, told: Mapping[str, int | None]) -> None:
        """Run those of some tasks that are still to be done, as far as they are short."""
        self._listen()
        works = deque(self._once_there(lambda: self._runner.take_told(told, pass_on=self._share)) or ())
        timer = threading.Timer(STUCK, self._hand_back, (works,))
        timer.daemon = True
        timer.start()
        try:
            self._run(works)
        finally:
            timer.cancel()
            self._hand_back(works)

    # One after the other

    def _run(self, works: deque[TaskContext]) -> None:
        for taken in works:
            self._heartbeat.hold(taken)
        while (work := _first_of(works)) is not None:
            began = self._monotonic()
            try:
                self._runner.run(work)
            finally:
                self._heartbeat.let_go(work)
            name, seconds = work.task.name, self._monotonic() - began
            self._seconds[name] = seconds + (self._seconds.get(name, seconds) - seconds) * 7 / 8

    def _share(self, tasks: list[Task]) -> list[Task]:
        """Those that are taken here; others are told of the rest."""
        short = [self._seconds.get(task.name, STUCK) < _SHORT for task in tasks]
        if not any(short):
            short[:1] = [True for _ in tasks[:1]]
        for task, here in zip(tasks, short, strict=True):
            if not here:
                self._pass_on(task)
        return list(compress(tasks, short))

    def _pass_on(self, task: Task) -> None:
        try:
            self._tell_another([task], limit=self._tasks[task.name].limit)
        except PenstockError as error:
            # The dispatcher sees that nobody has taken it, and tells of it again.
            log.warning("nobody could be told of %r: %s", task.ref, error)

    def _hand_back(self, works: deque[TaskContext]) -> None:
        while (work := _first_of(works)) is not None:
            self._heartbeat.let_go(work)
            self._runner.hand_back(work)

    # While the store is away, and on the way out

    def _once_there(self, take: Callable[[], T]) -> T | None:
        """Take it once the store is there: the dispatcher tells of it again only when the broker's time is over."""
        while not self._ending.is_set():
            try:
                return take()
            except Unavailable as away:
                if not self._runner.outages.sit_out(away, self._ending):
                    raise
        return None  # it still waits, and its dispatcher tells of it again

    def _sit_out(self, error: BaseException) -> bool:
        return self._runner.outages.sit_out(error, self._ending) and not self._ending.is_set()

    def _listen(self) -> None:
        """Hear of the end: no sooner, as the pool has the last word on signals while a process begins."""
        if self._to_listen:
            # Celery's own way out would make an error of it in the middle of the task.
            signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=self._drop).start())
            self._to_listen = False

    def _drop(self) -> None:
        """Hand back what is running, and end. From another thread: the first one may be amidst anything."""
        self._ending.set()
        try:
            for work in self._heartbeat.held:
                if not work.is_over():
                    self._runner.hand_back(work)
            self._runner.presence.leave()
        finally:
            os._exit(0)


def _first_of(works: deque[TaskContext]) -> TaskContext | None:
    """The next of those that nobody else has taken from there."""
    try:
        return works.popleft()
    except IndexError:
        return None
