"""Concurrency slots: so many tasks of one name as a project may have running at once, everywhere together.

A slot is a lease by name, taken in the commit that starts a task and held as long as the task's own. That of a worker
that died is given back by whoever rescues the task, and ends by itself when it is over by every clock. Its holder is
the attempt, so it needs no epoch, and one that nobody has taken for long is forgotten: projects come and go.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from penstock.errors import Conflict, PenstockError
from penstock.kernel.change import Change
from penstock.kernel.lease import NamedLease, is_free
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare, Condition, Missing, holds
from penstock.operations.updates import Remove, Set
from penstock.ports.clock import by_the_slowest
from penstock.work.task import Task, forgotten_at

log = logging.getLogger("penstock.work")


def free_slots(store: Store, name: str, project_id: str, limit: int) -> list[str]:
    """Those that nobody holds just now; `take_slot` decides."""
    free = is_free(by_the_slowest(store.clock))
    slots = _slots(store, name, project_id, limit)
    return [slot for slot, lease in slots.items() if lease is None or holds(free, lease.__dict__)]


def held_slots(store: Store, name: str, project_id: str, limit: int) -> dict[str, datetime]:
    """Those that somebody holds: by the task that does, until when it holds it unless that is prolonged."""
    free = is_free(by_the_slowest(store.clock))
    held = [s for s in _slots(store, name, project_id, limit).values() if s and not holds(free, s.__dict__)]
    return {
        (s.lease_owner or "").rpartition(":")[0]: datetime.fromtimestamp(s.lease_expires_at or 0, UTC) for s in held
    }


def take_slot(change: Change, slot: str, task: Task, *, until: datetime) -> None:
    """Take a slot for a task with the change that starts it, which is refused if another was faster."""
    lease = NamedLease(name=slot, lease_owner=_holder(task), lease_expires_at=_epoch(until), ttl=forgotten_at(until))
    change.put(lease, when=Missing() | is_free(by_the_slowest(change.store.clock)))


def keep_slot(store: Store, slot: str, task: Task, *, until: datetime) -> None:
    """Hold it longer. One that was lost meanwhile lets another task run beside this one, which does no harm."""
    try:
        later = Set("lease_expires_at", _epoch(until)), Set("ttl", forgotten_at(until))
        store.patch(NamedLease.at(name=slot), *later, when=_held_by(task))
    except Conflict:
        log.warning("the concurrency slot %s was lost", slot)


def leave_slot(store: Store, slot: str, task: Task) -> None:
    """Give it back."""
    try:
        store.patch(NamedLease.at(name=slot), Remove("lease_owner"), Remove("lease_expires_at"), when=_held_by(task))
    except Conflict:
        pass
    except PenstockError:
        log.exception("the concurrency slot %s could not be given back; it ends by itself", slot)


def leave_slot_of(store: Store, task: Task, limit: int) -> None:
    """Give back the slot of an attempt whose worker has died."""
    for slot, lease in _slots(store, task.name, task.project_id, limit).items():
        if lease is not None and lease.lease_owner == _holder(task):
            leave_slot(store, slot, task)


def _slots(store: Store, name: str, project_id: str, limit: int) -> dict[str, NamedLease | None]:
    """A project's concurrency slots for tasks of a name, and their leases."""
    names = [f"task:{name}:{project_id}:{number}" for number in range(limit)]
    return dict(zip(names, store.get_many([NamedLease.at(name=n) for n in names]), strict=True))


def _held_by(task: Task) -> Condition:
    return Compare("lease_owner", "=", _holder(task))


def _holder(task: Task) -> str:
    """A worker may hold several, each for one attempt."""
    return f"{task.task_id}:{task.lease_epoch}"


def _epoch(moment: datetime) -> int:
    # Rounded up, so that a slot is never free before the task's own lease has ended.
    return int(moment.timestamp()) + 1
