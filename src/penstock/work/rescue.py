"""Rescue: work whose worker died is found and goes on.

A worker counts as dead when its lease is over by every clock that may be in use, or, sooner, when its lease is over by
the clock here and was not renewed for a whole further lease, as this process has seen: that takes no comparing of
clocks. A worker that lives renews its lease three times in that time, and loses nothing because its clock is slow.

One whose process is proven dead, which only others on its machine can find out (`worker_name`), is not waited for at
all: whatever clocks say, nobody is left to renew its leases.

A clock that was set, here or there, makes leases look over that are not. So one that is found over is believed only
where it cannot come from that: the clock here has run evenly, and the lease was not over yet when this process looked
last. Whoever has only come and never looked believes it too, but buries nobody for it: a last attempt is lost only to
one who has watched, or to the third who finds the same lease over, where processes come and go (`doubted_lease`).
"""

from __future__ import annotations

import logging
import random
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from threading import Event
from typing import Any, NamedTuple

from penstock.declare.pattern import starting_with
from penstock.declare.pattern import until as up_to
from penstock.errors import STORE, Conflict, PenstockError, Unavailable
from penstock.kernel.outages import outages_of
from penstock.kernel.readable import readable
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare
from penstock.ports.worker_name import is_proven_dead
from penstock.work import doubted_lease
from penstock.work.concurrency import leave_slot_of
from penstock.work.errors import WorkerLost
from penstock.work.failing import record_failure
from penstock.work.queue_hints import wake_queues
from penstock.work.registry import Tasks, by_name
from penstock.work.task import Outcome, Task, TaskStatus, attempt_at
from penstock.work.worker_presence import WorkerPresence

log = logging.getLogger("penstock.rescue")

_RESCUE, _WAKE = 5.0, 1800.0
"Seconds between looks for lost work, at most, and for queues that nobody looks at."
_MOURNED = 3
"So many times one who has died is looked for."
_UNEVEN = 1.0
"Seconds by which a clock that nobody has set may differ from the time that has passed."


class _Overdue(NamedTuple):
    """A lease that is over by the clock here."""

    since: float
    "When that was first seen."
    believed: bool
    "It is not over because a clock was set."


class Rescuer:
    """Puts work back in the queue whose worker died. Any number of processes may do so at once.

    Workers of one store have leases of one length. What this process does not know is left to one that does: only that
    one knows what follows from a last failure.
    """

    def __init__(
        self,
        store: Store,
        tasks: Iterable[Tasks],
        *,
        lease: timedelta,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store, self._known = store, by_name(tasks)
        self._lease, self._chance = lease, chance
        self._overdue: dict[tuple[Any, ...], _Overdue] = {}
        "Leases that are over by the clock here."
        self._came, self._came_at = store.clock.now(), store.clock.monotonic()
        self._looked: datetime | None = None
        self._even = True
        self._mourned: Counter[str] = Counter()
        "How often those were found dead whose names are still known."
        self._outages = outages_of(store)
        self._away_until: datetime | None = None
        "Leases that ended before may have ended because nobody could renew them."
        self._outages.store.on_return(self._note_return)

    def _note_return(self) -> None:
        self._away_until, self._overdue = self._store.clock.now(), {}

    def run_once(self) -> int:
        """Put back in the queue what is lost by now; how many there were."""
        store = self._outages.store
        if not store.ask():
            return 0
        try:
            inherited = self._inherit()
            if store.lately(self._lease.total_seconds()):
                return inherited  # those who live have not had the time to renew their leases
            return inherited + self._look()
        except Unavailable as error:
            self._outages.met(error)
            raise

    def _look(self) -> int:
        now, passed = self._watch_the_clock()
        rescued = 0
        over = now - self._store.clock.skew
        overdue: dict[tuple[Any, ...], _Overdue] = {}
        # Read page after page, also while each is full.
        for task in readable(self._store, Task.by_status(status=TaskStatus.RUNNING, due_at=up_to(now))):
            if task.name not in self._known:
                continue
            lease = (task.task_id, task.lease_epoch, task.due_at)
            # Read anew: this process may have stood still after it read the clock, and before it saw the lease.
            first = self._store.clock.monotonic()
            seen = overdue[lease] = self._overdue.get(lease) or _Overdue(first, self._believes(task))
            watched = passed - seen.since >= self._lease.total_seconds()
            if watched or (task.due_at <= over and self._even and (seen.believed or self._was_doubted(task, now))):
                rescued += self._rescue(task)
        self._overdue, self._looked = overdue, now
        return rescued

    def _inherit(self) -> int:
        """Put back what those had who have died on this machine; how much that was."""
        here = WorkerPresence.all_there_are(worker=starting_with(f"{socket.gethostname()}:"))
        dead = {each.worker for each in readable(self._store, here) if is_proven_dead(each.worker)}
        if not dead:
            return 0
        # An index may not have all they took just before their end: it is looked at again before they are forgotten.
        self._mourned = Counter({worker: self._mourned[worker] + 1 for worker in dead})
        left = [t for t in readable(self._store, Task.by_status(status=TaskStatus.RUNNING)) if t.lease_owner in dead]
        rescued = sum(self._rescue(task) for task in left if task.name in self._known)
        if not left:
            for worker in (each for each in dead if self._mourned[each] >= _MOURNED):
                self._store.delete(WorkerPresence.at(worker=worker))
        return rescued

    def _was_doubted(self, task: Task, now: datetime) -> bool:
        """Have others found the same lease over before? Else that is noted for those who come."""
        apart = self._lease + self._store.clock.skew
        if doubted_lease.is_believed(task, now, apart=apart):
            return True
        doubted_lease.note(self._store, task, now, apart=apart)
        return False

    def _watch_the_clock(self) -> tuple[datetime, float]:
        """The time by both clocks; whether they still go together."""
        now, passed = self._store.clock.now(), self._store.clock.monotonic()
        if abs((now - self._came).total_seconds() - (passed - self._came_at)) > _UNEVEN:
            self._even = False
        return now, passed

    def _believes(self, task: Task) -> bool:
        """Can a lease that is found over be so for no other reason than that nobody renews it?"""
        if task.due_at > (self._looked or self._came):
            return True
        return self._looked is None and task.attempts < task.most_attempts

    def _rescue(self, task: Task) -> bool:
        declared = self._known[task.name]
        lost = WorkerLost(f"{task.lease_owner} died, or outlived its lease")
        attempt = attempt_at(task, Outcome.LOST, at=self._store.clock.now(), error=lost)
        not_renewed = Compare("due_at", "=", task.due_at)
        try:
            part = STORE if self._was_away(task) else None
            record_failure(self._store, declared, task, attempt, lost, chance=self._chance, when=not_renewed, part=part)
            if declared.concurrency is not None:
                leave_slot_of(self._store, task, declared.concurrency)
        except Conflict:
            return False  # its worker has just finished or renewed, or another rescuer was faster
        except PenstockError as error:
            if self._outages.met(error) is None:
                log.exception("%r could not be put back in the queue; the others go on", task.ref)
            return False
        return True

    def _was_away(self, task: Task) -> bool:
        """Did its lease end when nobody could renew it, or no sooner than anybody could have again?"""
        return self._away_until is not None and task.due_at <= self._away_until + self._lease


def keep_rescuing(store: Store, tasks: Iterable[Tasks], stop: Event, *, lease: timedelta) -> None:
    """Rescue several times in the life of a lease, until told to stop. A database that is away is tried again."""
    rescuer, outages = Rescuer(store, tasks, lease=lease), outages_of(store)
    woken_at = time.monotonic()
    pause = 0.0  # who begins after another has died goes on with its work
    while not stop.wait(pause):
        pause = min(_RESCUE, lease.total_seconds() / 4)
        try:
            rescuer.run_once()
            if time.monotonic() - woken_at >= _WAKE:
                woken_at = time.monotonic()
                wake_queues(store)
        except Exception as error:
            if not outages.sit_out(error, stop):
                log.exception("lost work could not be looked for; trying again")
