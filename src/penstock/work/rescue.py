"""Rescue: work whose worker died is found and goes on.

A worker counts as dead when its lease is over by every clock that may be in use, or, sooner, when its lease is over by
the clock here and was not renewed for a whole further lease, as this process has seen: that takes no comparing of
clocks. A worker that lives renews its lease three times in that time, and loses nothing because its clock is slow.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Any

from penstock.clock import by_the_slowest
from penstock.conditions import Compare
from penstock.declare.pattern import until as up_to
from penstock.errors import Conflict, PenstockError
from penstock.work.errors import WorkerLost
from penstock.work.failing import record_failure
from penstock.work.lanes import wake_lanes
from penstock.work.registry import Tasks, by_name
from penstock.work.slots import leave_slot_of
from penstock.work.task import Outcome, Task, TaskStatus, attempt_at

if TYPE_CHECKING:
    from penstock.store import Store

log = logging.getLogger("penstock.rescue")

_RESCUE, _WAKE = 5.0, 1800.0
"Seconds between looks for lost work, at most, and for lanes that nobody looks at."


class Rescuer:
    """Puts work back in line whose worker died. Any number of processes may do so at once.

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
        self._overdue: dict[tuple[Any, ...], datetime] = {}
        "Leases that are over by the clock here, and since when this was seen."

    def run_once(self) -> int:
        """Put back in line what is lost by now; how many there were."""
        now, over = self._store.clock.now(), by_the_slowest(self._store.clock)
        overdue: dict[tuple[Any, ...], datetime] = {}
        rescued = 0
        # Read page after page, also while each is full.
        for task in self._store.find(Task.by_status(status=TaskStatus.RUNNING, due_at=up_to(now))):
            if task.name not in self._known:
                continue
            lease = (task.task_id, task.lease_epoch, task.due_at)
            since = overdue[lease] = self._overdue.get(lease, now)
            if task.due_at <= over or now - since >= self._lease:
                rescued += self._rescue(task)
        self._overdue = overdue
        return rescued

    def _rescue(self, task: Task) -> bool:
        declared = self._known[task.name]
        lost = WorkerLost(f"{task.lease_owner} died, or outlived its lease")
        attempt = attempt_at(task, Outcome.LOST, at=self._store.clock.now(), error=lost)
        not_renewed = Compare("due_at", "=", task.due_at)
        try:
            record_failure(self._store, declared, task, attempt, lost, chance=self._chance, when=not_renewed)
            if declared.concurrency is not None:
                leave_slot_of(self._store, task, declared.concurrency)
        except Conflict:
            return False  # its worker has just finished or renewed, or another rescuer was faster
        except PenstockError:
            log.exception("%r could not be put back in line; the others go on", task.ref)
            return False
        return True


def keep_rescuing(store: Store, tasks: Iterable[Tasks], stop: Event, *, lease: timedelta) -> None:
    """Rescue several times in the life of a lease, until told to stop. A database that is away is tried again."""
    rescuer = Rescuer(store, tasks, lease=lease)
    woken_at = time.monotonic()
    while not stop.wait(min(_RESCUE, lease.total_seconds() / 4)):
        try:
            rescuer.run_once()
            if time.monotonic() - woken_at >= _WAKE:
                woken_at = time.monotonic()
                wake_lanes(store)
        except Exception:
            log.exception("lost work could not be looked for; trying again")
