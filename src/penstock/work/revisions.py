"""Revisions: fenced attempts at making one thing, of which only the latest counts.

Every request for work on a record begins a new revision of it, in the commit that enqueues the task. A task belongs to
one; when another was begun meanwhile, or the record was deleted, what it makes comes too late, and is refused. What was
begun elsewhere is remembered in the record, so that a retry asks for the same job, and what it cost is charged once.

    TAKES = Revisions(Scene, number="take", wanted=(SceneStatus.PENDING, SceneStatus.PROCESSING), jobs=("film_job",))
    TAKES.begin(scene)                                    # and enqueue a task with scene.take, scene.created_at
    revision = TAKES.current(work, scene_ref, take, born=created_at)     # None if it comes too late
    revision.remember("film_job", job)
    with work.finish() as change:
        revision.save(change)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from penstock.declare.attr import the
from penstock.declare.entity import Entity
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.conditions import Condition, holds
from penstock.operations.reads import Ref
from penstock.ports.stored_object import StoredObject
from penstock.work.context import TaskContext
from penstock.work.errors import Terminal
from penstock.work.workspace import Workspace

E = TypeVar("E", bound=Entity)


class Revisions(Generic[E]):
    """How the records of an entity count the work on them: in which fields, and in which states it is still wanted."""

    def __init__(
        self,
        entity: type[E],
        *,
        number: str,
        wanted: Collection[Any],
        status: str = "status",
        born: str = "created_at",
        jobs: Sequence[str] = (),
        cost: str | None = None,
        charged: str | None = None,
    ) -> None:
        """``jobs`` are the fields for what was begun elsewhere; ``cost`` is the one for what was charged so far, and
        ``charged`` the one for the job it has last grown by.
        """
        self.entity, self.number, self.born, self.jobs = entity, number, born, tuple(jobs)
        self.status, self.wanted = status, frozenset(wanted)
        self.cost, self.charged = cost, charged

    def begin(self, record: E) -> int:
        """Begin the next revision. What an earlier one has begun elsewhere was of another, and is not gone on with."""
        number: int = (getattr(record, self.number) or 0) + 1
        setattr(record, self.number, number)
        for job in self.jobs:
            setattr(record, job, None)
        return number

    def same(self, number: int, *, born: datetime | None = None) -> Condition:
        """That nobody has begun another revision.

        ``born`` tells a record from another that was made under the key of one that was deleted.
        """
        counted = the(getattr(self.entity, self.number))
        same = counted.equals(number)
        if not number:
            same |= counted.absent()
        return same if born is None else same & the(getattr(self.entity, self.born)).equals(born)

    def lookup(self, store: Store, ref: Ref[E], number: int, *, born: datetime | None = None) -> E | None:
        """The record, if it still is of this revision."""
        record = store.lookup(ref)
        return record if record is not None and holds(self.same(number, born=born), record.__dict__) else None

    def current(
        self, work: TaskContext, ref: Ref[E], number: int, *, born: datetime | None = None
    ) -> Revision[E] | None:
        """The revision, if work on it is still wanted."""
        record = self.lookup(work.store, ref, number, born=born)
        if record is None or getattr(record, self.status) not in self.wanted:
            return None
        return Revision(self, work, record, number, born)


class Revision(Generic[E]):
    """One revision of one record, as the task sees it that works on it."""

    def __init__(
        self, revisions: Revisions[E], work: TaskContext, record: E, number: int, born: datetime | None
    ) -> None:
        self._revisions, self._work, self._number, self._born = revisions, work, number, born
        self.record = record

    def check(self) -> None:
        """Terminal, if it comes too late."""
        ref: Ref[E] = self.record.ref
        if self._revisions.current(self._work, ref, self._number, born=self._born) is None:
            raise Terminal(f"{ref!r} has moved on; revision {self._number} comes too late")

    def save(self, change: Change, *, when: Condition | None = None) -> None:
        """Save the record, as long as this is its revision; track it first, before it is changed."""
        same = self._revisions.same(self._number, born=self._born)
        change.save(self.record, when=same if when is None else same & when)

    def remember(self, field: str, job: str) -> None:
        """Note what was begun elsewhere, before anything can go wrong with it."""
        self._set(**{field: job})

    def charge(self, cost: float | None, job: str | None = None) -> None:
        """Keep what was paid before anything else can fail; a job that is gone on with was paid when it first came."""
        names = self._revisions
        if cost is None or names.cost is None:
            return
        fields: dict[str, Any] = {names.cost: (getattr(self.record, names.cost) or 0.0) + cost}
        if names.charged is not None:
            if job is not None and job == getattr(self.record, names.charged):
                return
            fields[names.charged] = job
        self._set(**fields)

    def store(self, workspace: Workspace, path: Path, key: str) -> StoredObject:
        """Put a file in its place, unless it comes too late for that."""
        self.check()
        return workspace.store(path, key)

    def _set(self, **fields: Any) -> None:
        self.check()
        with self._work.change() as change:
            change.track(self.record)
            for name, value in fields.items():
                setattr(self.record, name, value)
            self.save(change)
