"""The dispatcher: tells a broker of tasks that are due, and again of those the broker has lost.

Any number of processes may run one; one at a time is at work. The broker is told of few tasks at a time, so that the
long queue of one project waits in the store, where projects are served in turn, and not before all others' in the
broker.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from threading import Event
from typing import Any, Protocol

from penstock.declare.pattern import between
from penstock.errors import BROKER, PenstockError, Unavailable
from penstock.kernel.lease import Duty
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.ports.engine import Waiter
from penstock.work.fair_queue import FairQueue
from penstock.work.put_off import postpone
from penstock.work.registry import TaskOf, Tasks, by_name
from penstock.work.task import Task, TaskStatus

log = logging.getLogger("penstock.workers")

_IDLE, _OFF_DUTY, _AFTER_ERROR, _FULL = 1.0, 1.0, 1.0, 0.05
"Seconds until the next look when nothing is due, another is at work, something failed, or the broker has enough."
_SEND_AGAIN = timedelta(seconds=5)
_LOST = 5.0
"Seconds after which a task still waits that a worker was told of by a broker who has nothing left to tell: it is lost."


class Broker(Protocol):
    """What carries the news of tasks to workers. It may forget, repeat and be late."""

    def send(self, task: Task, declared: TaskOf[Any]) -> None:
        """Tell a worker to take this task."""
        ...

    def queued(self) -> int:
        """How many tasks it knows of that no worker has taken, more or less."""
        ...


class Dispatcher:
    """Keeps a broker busy, but not more. One that dies is relieved after the ``period``."""

    def __init__(
        self,
        store: Store,
        tasks: Iterable[Tasks],
        broker: Broker,
        *,
        owner: str,
        depth: int = 100,
        redelivery: timedelta = timedelta(minutes=2),
        period: timedelta = timedelta(seconds=15),
    ) -> None:
        self._store, self._broker = store, broker
        self._tasks = by_name(tasks)
        self._queue = FairQueue(store, self._tasks)
        self._depth, self._redelivery = depth, redelivery
        self._duty = Duty(store, "dispatcher", owner=owner, period=period)
        self._told: dict[str, float] = {}
        "When the broker was told of tasks, lately."
        self._looked = store.clock.monotonic()
        self._outages = outages_of(store)
        self._outages.lookout(BROKER, probe=self._room)

    def run_once(self) -> int:
        """Tell of what is due, as far as the broker has room; how many. None while another dispatcher is at work."""
        if not self._duty.hold():
            return 0
        room = self._room()
        if room == self._depth:
            self._tell_again()
        return self._dispatch(room)

    def run(self, stop: Event) -> None:
        """Dispatch until told to stop; a store or a broker that is away is tried again."""
        waiter = self._store.engine.listen()
        try:
            while not stop.is_set():
                try:
                    self._step(stop, waiter)
                except Exception as error:
                    if not self._outages.sit_out(error, stop):
                        log.exception("nothing could be dispatched; trying again")
                        stop.wait(_AFTER_ERROR)
        finally:
            waiter.close()
            self.close()

    def close(self) -> None:
        """Let another dispatcher take over at once."""
        with suppress(PenstockError):  # its time ends by itself
            self._duty.leave()

    def _step(self, stop: Event, waiter: Waiter) -> None:
        """One look, and the time until the next."""
        if not self._duty.hold():
            stop.wait(_OFF_DUTY)
        elif (room := self._room()) <= 0:
            stop.wait(_FULL)
        elif self._dispatch(room) or (room == self._depth and self._tell_again()):
            waiter.busy()
        else:
            waiter.wait(_IDLE)

    def _room(self) -> int:
        try:
            return self._depth - self._broker.queued()
        except OSError as error:
            raise Unavailable(f"the broker cannot be reached: {error}", part=BROKER) from error

    def _dispatch(self, room: int) -> int:
        sent: list[Task] = []
        unsent: list[Task] = []
        for chosen in self._queue.next(room) if room > 0 else ():
            try:
                self._broker.send(chosen.task, self._tasks[chosen.task.name])
                sent.append(chosen.task)
            except Unavailable as error:
                # Those it has not been told of are due as they were, and told once it is back.
                self._outages.met(error)
                break
            except Exception:
                # Whatever is wrong with it, or with the broker just then, is no reason not to tell of the others.
                log.exception("%r could not be sent; trying again", chosen.task.ref)
                unsent.append(chosen.task)
        now, passed = self._store.clock.now(), self._store.clock.monotonic()
        self._told |= {task.task_id: passed for task in sent}
        # Only after it was sent, so that none is lost in between. One that a worker has taken already is his, and one
        # that he could not take is due when he says.
        postpone(self._store, sent, now + self._redelivery, unless_postponed=True)
        postpone(self._store, unsent, now + _SEND_AGAIN)
        return len(sent)

    def _tell_again(self) -> int:
        """Have those told of anew that the broker has lost, or a worker who died with what it was told; how many.

        Asked only where the broker has nothing left to tell: whoever was told takes a task at once.
        """
        passed = self._store.clock.monotonic()
        if not self._told or passed - self._looked < _LOST:
            return 0
        now, self._looked = self._store.clock.now(), passed
        waiting = Task.by_status(status=TaskStatus.WAITING, due_at=between(now, now + self._redelivery))
        page = self._store.page(waiting, limit=self._depth).records
        lost = [task for task in page if passed - self._told.get(task.task_id, passed) >= _LOST]
        lately = passed - self._redelivery.total_seconds()
        self._told = {name: at for name, at in self._told.items() if at > lately}
        for task in lost:
            self._told.pop(task.task_id, None)
        postpone(self._store, lost, now, unless_postponed=True)
        return len(lost)
