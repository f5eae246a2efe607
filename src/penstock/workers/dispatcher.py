"""The dispatcher: tells a broker of tasks that are due, and again of those the broker has lost.

Any number of processes may run one; one at a time is at work. The broker is told of few tasks at a time, so that the
long queue of one project waits in the store, where projects are served in turn, and not before all others' in the
broker.

What is enqueued while nothing else is due need not be looked for, where the store's news tell of it (PostgreSQL): the
broker is told at once. News are only quicker than the next look; whatever they leave out, that one finds.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Event
from typing import Any, NamedTuple, Protocol

from penstock.declare.pattern import between
from penstock.declare.pattern import until as up_to
from penstock.errors import BROKER, PenstockError, Unavailable
from penstock.kernel.lease import Duty
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.ports.engine import Waiter
from penstock.work.fair_queue import Chosen, FairQueue
from penstock.work.put_off import postpone
from penstock.work.registry import Tasks, by_name
from penstock.work.task import Task, TaskStatus
from penstock.work.told_task import enqueued

log = logging.getLogger("penstock.workers")

_IDLE, _OFF_DUTY, _AFTER_ERROR, _FULL = 1.0, 1.0, 1.0, 0.02
"Seconds until the next look when nothing is due, another is at work, something failed, or the broker has enough."
_SEND_AGAIN = timedelta(seconds=5)
_LOST = 5.0
"Seconds after which a task still waits that a worker was told of by a broker who has nothing left to tell: it is lost."
_TAKEN = 1.0
"Seconds within which most tasks are taken that a worker was told of; of the others the store is told who has them."
_REMEMBERED = 10_000
_TOGETHER, _MESSAGES = 10, 5
"So many tasks are in one message at most; and where many are due, they are in so many messages at least."


class Broker(Protocol):
    """What carries the news of tasks to workers. It may forget, repeat and be late."""

    def send(self, tasks: Sequence[Task], *, limit: timedelta) -> None:
        """Tell one worker to take these tasks, of which none may take longer than the limit."""
        ...

    def queued(self) -> int:
        """How many messages it has that no worker has got, more or less."""
        ...


class _Told(NamedTuple):
    """A task of which the broker was told: when that was, and as it was then."""

    at: float
    epoch: int | None
    due_at: datetime

    def is_about(self, task: Task) -> bool:
        """Is it still about what is to be done now? One that was put back since is told of anew."""
        return (self.epoch, self.due_at) == (task.lease_epoch, task.due_at)


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
        self._told: dict[str, _Told] = {}
        "Of what the broker was told lately; the store need not know of what is taken within moments."
        self._left, self._largest = 0, 1
        "How many tasks it may be told of before it is asked how many it has; how many its largest message has."
        self._looked = store.clock.monotonic()
        self._outages = outages_of(store)
        self._outages.lookout(BROKER, probe=self._ask)

    def run_once(self) -> int:
        """Tell of what is due, as far as the broker has room; how many. None while another dispatcher is at work."""
        if not self._duty.hold():
            self._left = 0
            return 0
        return self._dispatch() or (self._dispatch() if self._tell_again() else 0)

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
        """Let another dispatcher take over at once, who need not tell again of what was told just now."""
        with suppress(PenstockError):  # its time ends by itself
            if self._told:
                due = Task.by_status(status=TaskStatus.WAITING, due_at=up_to(self._store.clock.now()))
                self._knows(self._store.page(due, limit=self._depth).records, taken=0.0)
            self._duty.leave()

    def _step(self, stop: Event, waiter: Waiter) -> None:
        """One look, and the time until the next."""
        if not self._duty.hold():
            self._left = 0
            waiter.busy()
            stop.wait(_OFF_DUTY)
            return
        if self._room() <= 0:
            waiter.busy()
            stop.wait(_FULL)
            return
        sent = self._dispatch()
        lost = 0 if sent else self._tell_again()
        if sent or lost:
            waiter.busy()
        if not lost and (not sent or self._queue.saw_all):
            self._listen(stop, waiter)

    def _listen(self, stop: Event, waiter: Waiter) -> None:
        """Wait until it is time to look, telling at once of what is enqueued meanwhile."""
        passed = self._store.clock.monotonic
        end = passed() + _IDLE
        while not stop.is_set() and (left := end - passed()) > 0:
            if not waiter.wait(left) or not self.pass_on(waiter.heard(Task.__shape__)):
                return

    def _room(self) -> int:
        """How many tasks the broker may be told of: none before half of what it had is done, so that many are next.

        It is asked only when it may have enough.
        """
        enough = self._depth / 2
        if self._left < enough:
            self._left = self._ask()
        return self._left if self._left >= enough else 0

    def _ask(self) -> int:
        try:
            queued = self._broker.queued()
        except OSError as error:
            raise Unavailable(f"the broker cannot be reached: {error}", part=BROKER) from error
        self._largest = self._largest if queued else 1
        return self._depth - queued * self._largest

    # Telling

    def pass_on(self, news: Iterable[Mapping[str, Any]] | None) -> bool:
        """Tell of what was just enqueued, where that is what a look would choose; False where one has to look."""
        if news is None or not self._queue.chose_all or not self._duty.hold():
            return False
        new, now = [enqueued(told) for told in news], self._store.clock.now()
        due = [task for task in new if task.name in self._tasks and task.due_at <= now and not self._is_told(task)]
        if not len(due) <= self._left >= self._depth / 2 or any(self._tasks[task.name].concurrency for task in due):
            return False  # the broker may have enough, or nobody knows of a free slot
        unsent: list[Task] = []
        try:
            for message in _messages([Chosen(task, None) for task in due]):
                self._send(message, [], unsent)
        except Unavailable:
            self._left = 0
            raise
        return not unsent

    def _is_told(self, task: Task) -> bool:
        told = self._told.get(task.task_id)
        return told is not None and told.is_about(task)

    def _dispatch(self) -> int:
        if (room := self._room()) <= 0:
            return 0
        # Those that it has been told of come first, as they are due as they were.
        known = self._depth - room + 2 * _TOGETHER if self._told else 0
        sent: list[Task] = []
        unsent: list[Task] = []
        try:
            for message in _messages(self._queue.next(room, passing_over=self._knows, known=known)):
                self._send(message, sent, unsent)
        except Unavailable as error:
            # Those it has not been told of are due as they were, and told once it is back.
            self._outages.met(error)
            self._left = 0
            if not sent:
                raise
        postpone(self._store, unsent, self._store.clock.now() + _SEND_AGAIN)
        return len(sent)

    def _send(self, message: list[Task], sent: list[Task], unsent: list[Task]) -> None:
        try:
            self._broker.send(message, limit=max(self._tasks[task.name].limit for task in message))
        except Unavailable:
            raise
        except Exception:
            # Whatever is wrong with it, or with the broker just then, is no reason not to tell of the others.
            log.exception("%r could not be sent; trying again", message[0].ref)
            unsent += message
        else:
            sent += message
            passed = self._store.clock.monotonic()
            if len(self._told) > _REMEMBERED:
                self._forget(passed)
            self._told |= {task.task_id: _Told(passed, task.lease_epoch, task.due_at) for task in message}
            self._left, self._largest = self._left - len(message), max(self._largest, len(message))

    def _knows(self, due: Sequence[Task], *, taken: float = _TAKEN) -> set[str]:
        """Those of which a worker was told already; the store is told of it where nobody has taken them at once."""
        passed, redelivery = self._store.clock.monotonic(), self._redelivery.total_seconds()
        ages: dict[str, float] = {}
        for task in due:
            told = self._told.get(task.task_id)
            if told is not None and told.is_about(task) and passed - told.at < redelivery:
                ages[task.task_id] = passed - told.at
        if slow := [task for task in due if ages.get(task.task_id, -1.0) >= taken]:
            left = self._redelivery - timedelta(seconds=max(ages[task.task_id] for task in slow))
            # One that a worker takes meanwhile is his, and one that he could not take is due when he says.
            postpone(self._store, slow, self._store.clock.now() + left, unless_postponed=True)
            self._told |= {task.task_id: self._told[task.task_id]._replace(due_at=task.due_at) for task in slow}
        return set(ages)

    def _tell_again(self) -> int:
        """Have those told of anew that the broker has lost, or a worker who died with what it was told; how many.

        Asked only where the broker has nothing left to tell: whoever was told takes a task at once.
        """
        passed = self._store.clock.monotonic()
        if not self._told or passed - self._looked < _LOST or self._ask() < self._depth:
            return 0
        now, self._looked = self._store.clock.now(), passed
        waiting = Task.by_status(status=TaskStatus.WAITING, due_at=between(now, now + self._redelivery))
        page = self._store.page(waiting, limit=self._depth).records
        lost = [task for task in page if self._was_told(task, passed - _LOST)]
        self._forget(passed)
        for task in lost:
            self._told.pop(task.task_id, None)
        postpone(self._store, lost, now, unless_postponed=True)
        return len(lost)

    def _was_told(self, task: Task, before: float) -> bool:
        """Was the broker told of a task as it stands, before a moment? One that a worker has put off is not lost."""
        told = self._told.get(task.task_id)
        return told is not None and told.is_about(task) and told.at <= before

    def _forget(self, passed: float) -> None:
        lately = passed - self._redelivery.total_seconds()
        self._told = {name: told for name, told in self._told.items() if told.at > lately}


def _messages(chosen: Sequence[Chosen]) -> Iterator[list[Task]]:
    """What is sent together: where much is due, several tasks; one that takes a concurrency slot always alone."""
    together = min(_TOGETHER, len(chosen) // _MESSAGES)
    message: list[Task] = []
    for one in chosen:
        if one.slot is not None or together < 2:
            yield [one.task]
            continue
        message.append(one.task)
        if len(message) == together:
            yield message
            message = []
    if message:
        yield message
