"""The work at hand, as a task's function sees it: the store, the lease it works under, and how to finish."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

from penstock.errors import Conflict, Misconfigured, Unavailable
from penstock.kernel.change import Change
from penstock.kernel.lease import Lease, LeaseLost
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare, Missing
from penstock.ports.object_store import ObjectStore
from penstock.work.attempt_log import LINES, log_of
from penstock.work.domain_context import DomainContext
from penstock.work.errors import TimeOver
from penstock.work.log_line import log_line
from penstock.work.task import (
    Outcome,
    Progress,
    Task,
    TaskAttempt,
    TaskStatus,
    actor,
    attempt_at,
    audited_project,
    forgotten_at,
)

_BETWEEN_PROGRESS = 1.0


class TaskContext:
    """One attempt at one task."""

    def __init__(
        self,
        store: Store,
        task: Task,
        *,
        limit: timedelta,
        slot: str | None = None,
        context: DomainContext | None = None,
        on_end: Callable[[Change, TaskAttempt], None] = lambda change, attempt: None,
        sit_out: Callable[[BaseException], bool] = lambda error: False,
    ) -> None:
        self.store, self.task, self.limit = store, task, limit
        self.slot = slot
        "The concurrency slot it takes among those its project has."
        self._domain, self._on_end, self._sit_out = context, on_end, sit_out
        self.project = task.project_id
        self.metrics: dict[str, Any] = {}
        "Numbers worth keeping; they are stored with the attempt."
        self.log = TaskLog(task.name)
        "Its last lines are stored with the attempt."
        self.lease = Lease(task.ref, task.lease_owner or "", task.lease_epoch or 0, task.due_at)
        self.held_since = store.clock.monotonic()
        "When its lease was taken or last renewed, by the clock that nobody sets."
        self.began_at: datetime | None = None
        "When it was begun, which may be some time after it was taken."
        self._ends: float | None = None
        self._waiting = False
        "For a part of the system that is away: its time stands still."
        self.finished = self.lost = False
        self._told: float | None = None
        self._logged = 0
        "So many of its lines others can read."

    # What a task's function uses

    @property
    def domain(self) -> DomainContext:
        """The system it runs in: where files are, and what is set."""
        if self._domain is None:
            raise Misconfigured(f"{self.task.name} needs files or settings; give the runner its context")
        return self._domain

    @property
    def objects(self) -> ObjectStore:
        """Where files are."""
        return self.domain.objects

    def change(self, *, why: str | None = None) -> Change:
        """A change on the way, which is refused once the lease is lost. A further attempt will come by it again."""
        self.check()
        return self._change(why)

    @contextmanager
    def finish(self, result: dict[str, Any] | None = None, *, why: str | None = None) -> Iterator[Change]:
        """The change that makes the task's effect true and the task done, together: neither happens twice."""
        self.check()
        with self._change(why).hand_to(self._commit) as change:
            yield change
            self._end(change, result)
        self.finished = True

    def progress(self, fraction: float, note: str | None = None) -> None:
        """Tell how far it has come; also the moment to hear that it is not wanted any more."""
        self.check()
        now, passed = self.store.clock.now(), self.store.clock.monotonic()
        if self._told is not None and passed - self._told < _BETWEEN_PROGRESS and fraction < 1:
            return
        self._told = passed
        told = Progress(
            task_id=self.task.task_id,
            project_id=self.project,
            epoch=self.lease.epoch,
            fraction=min(max(fraction, 0.0), 1.0),
            note=note,
            about=self.task.about,
            told_at=now,
            ttl=forgotten_at(now),
        )
        try:
            self.store.put(told, when=Missing() | Compare("epoch", "<=", self.lease.epoch))
        except Conflict:
            self.lost = True
            self.check()
        self.tell_log()

    def check(self) -> None:
        """Stop here if the time is over or the lease is lost."""
        if self.lost:
            raise LeaseLost(f"{self.task.ref!r}: the lease of {self.lease.owner} is lost; nothing more is written")
        if self.is_over():
            raise TimeOver(f"{self.task.name} has taken longer than {self.limit}")

    # What the runner uses

    def begin(self) -> None:
        """From now on its time runs."""
        self.began_at = self.store.clock.now()
        self._ends = self.store.clock.monotonic() + self.limit.total_seconds()

    def is_over(self) -> bool:
        """Has it had its time? A clock that is set meanwhile gives and takes none."""
        return self._ends is not None and not self._waiting and self.store.clock.monotonic() >= self._ends

    def end(self, result: dict[str, Any] | None) -> None:
        """Done, without any effect on other records: the attempt tells it all, and the audit trail need not."""
        self.check()
        with self.store.change(under=self.lease).hand_to(self._commit) as change:
            self._end(change, result)
        self.finished = True

    def sit_out(self, error: BaseException) -> bool:
        """Wait until the part of the system is back of whose failure an error tells, if anybody can wait for it here.

        That is no time of the task's.
        """
        began, self._waiting = self.store.clock.monotonic(), True
        try:
            return self._sit_out(error)
        finally:
            if self._ends is not None:
                self._ends += self.store.clock.monotonic() - began
            self._waiting = False

    def tell_log(self) -> None:
        """Let others read what it has logged up to now, if that is more than they know."""
        if (number := self.log.number) == self._logged:
            return
        task, lines, now = self.task, list(self.log.lines), self.store.clock.now()
        told = log_of(task.task_id, self.lease.epoch, self.project, lines, now=now)
        with suppress(Conflict):  # another attempt tells its own by now
            self.store.put(told, when=Missing() | Compare("epoch", "<=", self.lease.epoch))
        self._logged = number

    def attempt(self, outcome: Outcome, error: BaseException | None = None) -> TaskAttempt:
        """What is known at the end."""
        now = self.store.clock.now()
        began, lines = self.began_at or self.task.started_at, list(self.log.lines)
        return attempt_at(
            self.task, outcome, at=now, error=error, started_at=began, metrics=self.metrics, log_tail=lines
        )

    def _change(self, why: str | None) -> Change:
        project = audited_project(self.task)
        return self.store.change(by=actor(self.task), why=why, project=project, under=self.lease)

    def _commit(self, change: Change) -> None:
        """Make its end true, however long the store is away: what was done is not done again for that."""
        again = False
        while True:
            try:
                return change.commit()
            except Unavailable as away:
                if not self.sit_out(away):
                    raise
                again = True
            except Conflict:
                # The answer to an earlier try may have been lost.
                if again and self._is_done():
                    return None
                raise

    def _is_done(self) -> bool:
        found = self.store.lookup(self.task.ref)
        return found is not None and (found.status, found.lease_epoch) == (TaskStatus.DONE, self.lease.epoch)

    def _end(self, change: Change, result: dict[str, Any] | None) -> None:
        task, attempt = change.track(self.task.model_copy()), self.attempt(Outcome.DONE)
        # The lease is the guard: whoever holds it also prolongs it meanwhile, which is no reason to refuse.
        change.overwrite(task.finish(result=result, at=attempt.ended_at))
        change.create(attempt)
        self._on_end(change, attempt)


class TaskLog(logging.LoggerAdapter[logging.Logger]):
    """The log of a task, which also keeps the last lines, whether or not somebody prints them."""

    def __init__(self, task: str) -> None:
        super().__init__(logging.getLogger(f"penstock.task.{task}"), None)
        self.lines: deque[str] = deque(maxlen=LINES)
        self.number = 0
        "How many lines there were in all."

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if level >= logging.INFO:
            self.lines.append(log_line(level, msg, args))
            self.number += 1
        # One frame further up is who logs.
        super().log(level, msg, *args, **{**kwargs, "stacklevel": kwargs.get("stacklevel", 1) + 1})

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        return msg, kwargs
