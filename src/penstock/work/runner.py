"""The runner: takes tasks under leases, runs them, and writes down what became of them.

Every way out is a fenced commit: done with its effect, back in the queue for another attempt, dead, put aside for a
person, or handed back. A worker that stalled and woke up changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from penstock.errors import Conflict, InvalidValue, NotFound, PenstockError, TooLarge, Unavailable
from penstock.kernel.batch import BatchRefused
from penstock.kernel.change import Change
from penstock.kernel.lease import Lease
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.operations.updates import Set
from penstock.ports.spans import spans
from penstock.ports.worker_name import worker_name
from penstock.work import queue_hints
from penstock.work.concurrency import free_slots, keep_slot, leave_slot, take_slot
from penstock.work.context import TaskContext
from penstock.work.domain_context import DomainContext
from penstock.work.errors import TimeOver
from penstock.work.failing import record_failure, tell_attempt
from penstock.work.fair_queue import Chosen, FairQueue
from penstock.work.put_off import PutOffTasks, postpone
from penstock.work.registry import TaskOf, Tasks, by_name
from penstock.work.task import LEASE, Outcome, Task, TaskStatus, as_read
from penstock.work.told_task import ToldTask
from penstock.work.worker_presence import Presence

log = logging.getLogger("penstock.work")

_FULL = timedelta(seconds=1)
"A task whose project has no concurrency slot left, though a broker was told of it, is looked at again after this time."


_ROUNDS, _FURTHER = 20, 100
"Where all that is due waits for a part of the system one looks further, so often and at so many."
_RACES = 10
"How often another may take the very concurrency slot that was about to be taken."
LEFT = (Exception, SystemExit, asyncio.CancelledError)
"All by which a task's function may be left without its thread, or its process, being meant to end."


class Runner:
    """Runs the tasks of some domains in one process."""

    def __init__(
        self,
        store: Store,
        tasks: Iterable[Tasks],
        *,
        owner: str | None = None,
        lease: timedelta = LEASE,
        chance: Callable[[], float] = random.random,
        context: DomainContext | None = None,
        sit_out: Callable[[BaseException], bool] = lambda error: False,
        asks: bool = True,
    ) -> None:
        """``sit_out`` waits for a part of the system that is away, where somebody may wait; False where not. With
        ``asks`` such a part is asked by whoever takes tasks."""
        self.store = store
        self.owner = owner or worker_name()
        self.lease = lease
        self._tasks = by_name(tasks)
        self.presence = Presence(store, self.owner, self._tasks)
        self._queue = FairQueue(store, self._tasks)
        self._chance = chance
        self._context = context
        self._sit_out = sit_out
        self.outages = outages_of(store)
        if context is not None:
            self.outages.watch_objects(context.objects)
        self.put_off = PutOffTasks(store, self.outages, asks=asks)
        self._unwritten: list[tuple[TaskContext, BaseException]] = []
        "Attempts whose end could not be written down, as the store was away."
        self._in_doubt: list[tuple[Lease, str | None]] = []
        "Taken, perhaps: the store went away before it answered."

    # Taking

    def take(self, most: int = 1) -> list[TaskContext]:
        """Take up to so many tasks that are due, of each project in turn."""
        try:
            self._catch_up()
            for _ in range(_ROUNDS):
                chosen = self._queue.next(max(most, _FURTHER) if self.outages.away else most)
                if fit := self.put_off.without_waiting(chosen):
                    return self._start(fit[:most])
                if not chosen:
                    break
        except Unavailable as error:
            self.outages.met(error)
            raise
        return []

    def _catch_up(self) -> None:
        """What an outage has left behind is settled first."""
        self.put_off.catch_up()
        while self._in_doubt:
            self._let_go(*self._in_doubt[-1])
            self._in_doubt.pop()
        if self._unwritten:
            self._write_ends()

    def _let_go(self, lease: Lease, slot: str | None) -> None:
        """Put a task back that was taken without anybody here knowing: nobody else would before its lease is over."""
        found = self.store.lookup(Task.at(task_id=lease.ref.key["task_id"]))
        if found is not None and (found.lease_owner, found.lease_epoch) == (self.owner, lease.epoch):
            self.hand_back(self._at_hand(found, slot))

    def take_unread(self, told: ToldTask) -> TaskContext | None:
        """Take a certain task of which a broker has told, in one request where that can be."""
        declared = self._tasks.get(told.name)
        if declared is None or declared.concurrency is not None or self.outages.away:
            return self.take_one(told.task_id, told.epoch)
        self._catch_up()
        return self._start_unread(told)

    def take_one(self, task_id: str, epoch: int | None) -> TaskContext | None:
        """Take a certain task of which a broker has told; None if it is not to be run, or not now.

        ``epoch`` is its last lease at the time the broker was told: a message that comes late or twice, when the task
        was taken since, is about something that is over.
        """
        self._catch_up()
        for _ in range(_RACES):
            task = self._waiting(task_id, epoch)
            if task is not None and not self.put_off.without_waiting([Chosen(task, None)]):
                return None
            declared = None if task is None else self._tasks.get(task.name)
            if task is None or declared is None:
                return None
            if declared.concurrency is None:
                return next(iter(self._start([Chosen(task, None)])), None)
            free = free_slots(self.store, task.name, task.project_id, declared.concurrency)
            if not free:
                break
            # Others who were told of tasks at the same moment see the same slots, and one takes each.
            slot = free[int(self._chance() * len(free)) % len(free)]
            if begun := self._start([Chosen(task, slot)]):
                return begun[0]
        else:
            task = self._waiting(task_id, epoch)  # each try to start it has changed what was read
        if task is not None:
            postpone(self.store, [task], self.store.clock.now() + _FULL)  # the broker has forgotten it by now
        return None

    def take_told(
        self, told: Mapping[str, int | None], *, pass_on: Callable[[list[Task]], list[Task]]
    ) -> list[TaskContext]:
        """Take tasks of which a broker has told together, by their ids and last leases, all in one go.

        ``pass_on`` is given those that are still to be done, and says which of them are to be taken here. None of them
        needs a concurrency slot.
        """
        self._catch_up()
        found = self.store.get_many([Task.at(task_id=task_id) for task_id in told])
        waiting = [task for task in found if task is not None and _waits(task, told[task.task_id])]
        known = [task for task in waiting if task.name in self._tasks]
        fit = self.put_off.without_waiting([Chosen(task, None) for task in known])
        here = pass_on([chosen.task for chosen in fit])
        return self._start([Chosen(task, None) for task in here])

    def _waiting(self, task_id: str, epoch: int | None) -> Task | None:
        """A task, if it still waits and was not taken since a certain lease."""
        task = self.store.lookup(Task.at(task_id=task_id))
        return task if task is not None and _waits(task, epoch) else None

    def _start(self, chosen: Sequence[Chosen]) -> list[TaskContext]:
        """Make the tasks ours, all in one go; whoever was faster keeps his."""
        if not chosen:
            return []
        now = self.store.clock.now()
        begun: list[TaskContext] = []
        try:
            with self.store.batch() as batch:
                for one in chosen:
                    with batch.change() as change:
                        begun.append(self._begin(change, one, now))
        except Unavailable:
            self._in_doubt += [(work.lease, work.slot) for work in begun]
            raise
        except BatchRefused as refused:
            for position, why in refused.refused.items():
                if isinstance(why, TooLarge):  # whoever is faster says nothing, but nobody will ever start this one
                    log.error("%r cannot be started: %s", begun[position].task.ref, why)
            begun = [work for position, work in enumerate(begun) if position not in refused.refused]
        return begun

    def _start_unread(self, told: ToldTask) -> TaskContext | None:
        """Make a task ours, if it is still as it was told."""
        now = self.store.clock.now()
        lease = told.lease(self.owner, now + self.lease)
        try:
            updates, given = told.started(lease, at=now), told.as_read()
            # Nobody else is its owner under this lease, since this moment.
            begun = self.store.patch(lease.ref, *updates, when=told.waits(), given=given, witness=True)
            return self._at_hand(begun, None)
        except (Conflict, NotFound):
            return None
        except TooLarge as error:
            log.error("%r cannot be started: %s", lease.ref, error)
            return None
        except Unavailable:
            self._in_doubt.append((lease, None))
            raise

    def _begin(self, change: Change, chosen: Chosen, now: datetime) -> TaskContext:
        task, until = chosen.task, now + self.lease
        change.track(task)
        unchanged = as_read(task)
        # Whoever takes a task counts its lease up, so that this alone tells whether another was faster.
        change.overwrite(task.start(owner=self.owner, until=until, at=now), when=unchanged)
        if chosen.slot is not None:
            take_slot(change, chosen.slot, task, until=until)
        return self._at_hand(task, chosen.slot)

    def _at_hand(self, task: Task, slot: str | None) -> TaskContext:
        declared = self._tasks[task.name]
        return TaskContext(
            self.store,
            task,
            limit=declared.limit,
            slot=slot,
            context=self._context,
            on_end=lambda change, attempt: tell_attempt(change, declared, task, attempt),
            sit_out=self._sit_out,
        )

    # Running

    def run(self, work: TaskContext) -> Outcome:
        """Run a task that was taken, to whichever end it comes."""
        began = self.store.clock.monotonic()
        with spans().span(work.task.name, parent=work.task.trace) as tell:
            tell("penstock.task.id", work.task.task_id)
            tell("penstock.task.attempt", work.task.attempts)
            outcome = self._run(work)
            tell("penstock.task.outcome", outcome.value)
        self.presence.count(work.task.name, outcome, seconds=self.store.clock.monotonic() - began)
        return outcome

    def _run(self, work: TaskContext) -> Outcome:
        try:
            return self._attempt(self._tasks[work.task.name], work)
        except Conflict as refused:
            # Its lease was lost, it was cancelled, or its time was over and another has it.
            log.warning("%s is not ours any more: %s", work.task.name, refused)
            return Outcome.LOST
        finally:
            self._leave(work)

    def _attempt(self, task: TaskOf[Any], work: TaskContext) -> Outcome:
        work.begin()
        try:
            result = task.body(work, task.load(work.task.input))
            if not work.finished:
                work.end(result)
        except LEFT as error:
            if not work.finished:
                return self._failed(task, work, error)
            # What it did is committed; whatever went wrong after that is no reason to do it again.
            work.log.exception("%s has failed after it was finished", task.name)
        return Outcome.DONE

    def _failed(self, task: TaskOf[Any], work: TaskContext, error: BaseException) -> Outcome:
        if work.lost:
            return Outcome.LOST
        while True:
            try:
                return self._record_without_metrics(task, work, error)
            except Unavailable as away:
                if self.outages.met(away) is None:
                    raise
                if not work.sit_out(away):
                    # Written down once the store is back; until then the lease stands, or another has it.
                    self._unwritten.append((work, error))
                    return Outcome.HANDED_BACK

    def _record_without_metrics(self, task: TaskOf[Any], work: TaskContext, error: BaseException) -> Outcome:
        """Write it down with its metrics, if they can be stored."""
        try:
            return self._record(task, work, error)
        except (InvalidValue, ValidationError):
            if not work.metrics:
                raise
            # How it ended matters more than its numbers.
            log.exception("the metrics of %s cannot be stored; they are left out", task.name)
            work.metrics = {}
            return self._record(task, work, error)

    def _record(self, task: TaskOf[Any], work: TaskContext, error: BaseException) -> Outcome:
        attempt, part = work.attempt(Outcome.RETRYABLE, error), self.put_off.reason(work.task, error)
        return record_failure(self.store, task, work.task, attempt, error, chance=self._chance, part=part)

    def _write_ends(self) -> None:
        """Write down how attempts ended while the store was away."""
        left, self._unwritten = self._unwritten, []
        for position, (work, error) in enumerate(left):
            try:
                self._record_without_metrics(self._tasks[work.task.name], work, error)
            except Conflict:
                pass  # another has it
            except Unavailable:
                self._unwritten += left[position:]
                raise
            self._leave(work)

    def _leave(self, work: TaskContext) -> None:
        if work.slot is not None:
            leave_slot(self.store, work.slot, work.task)

    # Keeping, and giving back

    def renew(self, works: Iterable[TaskContext]) -> list[TaskContext]:
        """Hold the leases of tasks longer; those that have had their time, and fail for it, though they still run."""
        now = self.store.clock.now()
        over = []
        for work in works:
            if work.lost or work.finished:
                continue
            try:
                if work.is_over():
                    self._give_up(work)
                    over.append(work)  # not before that is written down, or nobody would try it again
                elif self._is_to_renew(work, now):
                    self._renew(work, now + self.lease)
            except PenstockError as error:
                if self.outages.met(error) is not None:
                    break  # nor could any other be; what runs goes on
                log.exception("the lease of %s could not be renewed; trying again", work.task.name)
        return over

    def _is_to_renew(self, work: TaskContext, now: datetime) -> bool:
        """After a third of its life; also if the clock was set forward and others here take it for over."""
        held = timedelta(seconds=self.store.clock.monotonic() - work.held_since)
        return held >= self.lease / 3 or work.lease.expires_at - now <= self.lease * (2 / 3)

    def _renew(self, work: TaskContext, until: datetime) -> None:
        asked = self.store.clock.monotonic()
        try:
            held = self.store.patch(work.lease.ref, Set("due_at", until), when=work.lease.holds(), given=work.task)
        except Conflict:
            work.lost = not work.finished
            return
        work.task = held
        work.lease = replace(work.lease, expires_at=until)
        work.held_since = asked
        if work.slot is not None:
            keep_slot(self.store, work.slot, work.task, until=until)
        work.tell_log()

    def _give_up(self, work: TaskContext) -> None:
        task = self._tasks[work.task.name]
        over = TimeOver(f"{task.name} has taken longer than {task.limit}, and still runs")
        with suppress(Conflict):  # it has just ended by itself
            self._record_without_metrics(task, work, over)
        work.lost = True

    def hand_back(self, work: TaskContext) -> None:
        """Let another do it; what is still running here will change nothing."""
        work.lost = True
        try:
            with self.store.change(under=work.lease) as change:
                attempt = work.attempt(Outcome.HANDED_BACK)
                # The lease is the guard: the heartbeat may just have prolonged it.
                change.overwrite(change.track(work.task.model_copy()).hand_back(at=attempt.ended_at))
                change.create(attempt)
                tell_attempt(change, self._tasks[work.task.name], work.task, attempt)
        except Conflict:
            return  # it has just ended
        except PenstockError:
            log.exception("%s could not be handed back; its lease will end", work.task.name)
            return
        self._leave(work)
        queue_hints.touch(self.store, work.task.project_id, work.task.name)


def _waits(task: Task, epoch: int | None) -> bool:
    """Does a task still wait, and was not taken since a certain lease?"""
    return task.status is TaskStatus.WAITING and task.lease_epoch == epoch
