"""Slots: so many tasks of one name as a project may have running at once, everywhere together.

A slot is a lease by name, taken in the commit that starts a task and held as long as the task's own.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import TYPE_CHECKING

from penstock.conditions import Compare, Condition, Missing
from penstock.errors import Conflict, PenstockError
from penstock.lease import NamedLease, is_free
from penstock.updates import Remove, Set

if TYPE_CHECKING:
    from penstock.change import Change
    from penstock.store import Store
    from penstock.work.task import Task

log = logging.getLogger("penstock.work")


def free_slots(store: Store, name: str, project_id: str, limit: int) -> list[str]:
    """Those that nobody holds just now; `take_slot` decides."""
    names = [f"task:{name}:{project_id}:{number}" for number in range(limit)]
    now = store.clock.now().timestamp()
    held = store.get_many([NamedLease.at(name=n) for n in names])
    return [
        n
        for n, lease in zip(names, held, strict=True)
        if lease is None or lease.lease_owner is None or (lease.lease_expires_at or 0) <= now
    ]


def take_slot(change: Change, slot: str, task: Task, *, now: datetime, until: datetime) -> None:
    """Take a slot for a task with the change that starts it, which is refused if another was faster."""
    lease = NamedLease(name=slot, lease_owner=_holder(task), lease_expires_at=_epoch(until))
    change.put(lease, when=Missing() | is_free(now))


def keep_slot(store: Store, slot: str, task: Task, *, until: datetime) -> None:
    """Hold it longer. One that was lost meanwhile lets another task run beside this one, which does no harm."""
    try:
        store.patch(NamedLease.at(name=slot), Set("lease_expires_at", _epoch(until)), when=_held_by(task))
    except Conflict:
        log.warning("the slot %s was lost", slot)


def leave_slot(store: Store, slot: str, task: Task) -> None:
    """Give it back."""
    try:
        store.patch(NamedLease.at(name=slot), Remove("lease_owner"), Remove("lease_expires_at"), when=_held_by(task))
    except Conflict:
        pass
    except PenstockError:
        log.exception("the slot %s could not be given back; it ends by itself", slot)


def _held_by(task: Task) -> Condition:
    return Compare("lease_owner", "=", _holder(task))


def _holder(task: Task) -> str:
    """A worker may hold several, each for one attempt."""
    return f"{task.task_id}:{task.lease_epoch}"


def _epoch(moment: datetime) -> int:
    # Rounded up, so that a slot is never free before the task's own lease has ended.
    return int(moment.timestamp()) + 1
