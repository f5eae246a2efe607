"""Rescue: work whose worker died is found and goes on."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from threading import Event
from typing import TYPE_CHECKING

from penstock.conditions import Compare
from penstock.declare.pattern import until as up_to
from penstock.errors import Conflict, PenstockError
from penstock.work.errors import WorkerLost
from penstock.work.failing import record_failure
from penstock.work.lanes import wake_lanes
from penstock.work.registry import Tasks, by_name
from penstock.work.task import Outcome, Task, TaskStatus, attempt_at

if TYPE_CHECKING:
    from penstock.store import Store

log = logging.getLogger("penstock.rescue")

_RESCUE, _WAKE = 5.0, 1800.0
"Seconds between looks for lost work, at most, and for lanes that nobody looks at."


def rescue(store: Store, tasks: Iterable[Tasks], *, chance: Callable[[], float] = random.random) -> int:
    """Put work back in line whose lease has ended; how many there were. Any number of processes may do so at once.

    What this process does not know is left to one that does: only that one knows what follows from a last failure.
    """
    known = by_name(tasks)
    rescued = 0
    # Read page after page, also while each is full.
    for task in store.find(Task.by_status(status=TaskStatus.RUNNING, due_at=up_to(store.clock.now()))):
        if task.name not in known:
            continue
        lost = WorkerLost(f"{task.lease_owner} died, or outlived its lease")
        attempt = attempt_at(task, Outcome.LOST, at=store.clock.now(), error=lost)
        not_renewed = Compare("due_at", "=", task.due_at)
        try:
            record_failure(store, known[task.name], task, attempt, lost, chance=chance, when=not_renewed)
        except Conflict:
            continue  # its worker has just finished or renewed, or another rescuer was faster
        except PenstockError:
            log.exception("%r could not be put back in line; the others go on", task.ref)
            continue
        rescued += 1
    return rescued


def keep_rescuing(store: Store, tasks: Iterable[Tasks], stop: Event, *, lease: timedelta) -> None:
    """Rescue several times in the life of a lease, until told to stop. A database that is away is tried again."""
    known = list(tasks)
    woken_at = time.monotonic()
    while not stop.wait(min(_RESCUE, lease.total_seconds() / 4)):
        try:
            rescue(store, known)
            if time.monotonic() - woken_at >= _WAKE:
                woken_at = time.monotonic()
                wake_lanes(store)
        except Exception:
            log.exception("lost work could not be looked for; trying again")
