"""Assignments: who is to look at a record, and by when; kept beside the record, whatever kind it is.

An assignment is about the record as it stood: once that has moved on, what somebody was asked to do is done, or is
another question. Nothing has to end it; whoever reads assignments leaves out what is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.pattern import pattern
from penstock.declare.units import EpochSeconds, UtcMicros, UtcSeconds
from penstock.kernel.change import Change
from penstock.kernel.record_name import name_of
from penstock.operations.reads import ANYTHING, Range, Ref
from penstock.schema.kinds import key_text
from penstock.schema.shape import Rights
from penstock.work.task import BY_STATUS, NO_PROJECT, WORK

LONGEST_NAME, LONGEST_NOTE = 100, 500
_KEPT = timedelta(days=90)
"So long after it was made, or was due, an assignment is remembered."
_COUNTERS = ("round", "revision")
"What grows when a record comes to the same state anew, by its usual names."


class Assignment(Entity, table=WORK, relation="assignments", lifetimes=(Expires("ttl"),)):
    """Somebody who is to look at a record, perhaps by a certain moment."""

    __rights__ = Rights(remove=False)
    __moved_by_work__ = True
    __traced__ = False

    about: str
    "The name (`record_name`) of the record."
    kind: str
    "What kind of record it is, such as films.Film."
    record: dict[str, str]
    "Its key."
    project_id: str = NO_PROJECT
    stood: dict[str, str]
    "The record's states when it was assigned, and which run of something it was."
    assignee: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    due_at: UtcSeconds | None = None
    due: str
    "When it is due, as a text that sorts; what is never due comes last."
    note: str | None = None
    assigned_by: str
    assigned_at: UtcMicros
    ttl: EpochSeconds

    @key("ASSIGNED#{about}", "ASSIGNED")
    def at(self, *, about: str) -> None: ...

    to_somebody = IndexKey(BY_STATUS, "ASSIGNED_TO#{assignee}", "{due}")

    @pattern(to_somebody)
    def of_assignee(self, *, assignee: str, due: Range[str] = ANYTHING) -> None:
        """What somebody is to look at, the one that is due first, first."""

    def stands_for(self, record: Entity | None) -> bool:
        """Is it still about the record as it is now?"""
        return record is not None and standing(record) == self.stood


def assign(
    change: Change, record: Entity, *, assignee: str, due_at: datetime | None, by: str, note: str | None = None
) -> Assignment:
    """Say who is to look at a record, and by when; whoever was to before is not any more."""
    now = change.store.clock.now()
    assignment = Assignment(
        about=name_of(record.ref),
        kind=record.__shape__.label,
        record=record.ref.texts(),
        project_id=_project(record),
        stood=standing(record),
        assignee=assignee,
        due_at=due_at,
        due=due_text(due_at),
        note=note,
        assigned_by=by,
        assigned_at=now,
        ttl=int((max(due_at or now, now) + _KEPT).timestamp()),
    )
    change.put(assignment)
    return assignment


def let_go(change: Change, ref: Ref[Any]) -> None:
    """Have nobody in particular look at a record."""
    change.delete(Assignment.at(about=name_of(ref)))


def standing(record: Entity) -> dict[str, str]:
    """A record's states, and which run of something it is."""
    shape = record.__shape__
    told = [f for f in shape.fields.values() if f.state or f.name in _COUNTERS]
    values = {f.name: (f, getattr(record, f.name)) for f in told}
    return {name: key_text(field, value) for name, (field, value) in values.items() if value is not None}


def due_text(due_at: datetime | None) -> str:
    """A moment as a text that sorts as moments do; never is after all of them."""
    return "9" if due_at is None else f"{int(due_at.timestamp()):012d}"


def assignment_of(found: Mapping[str, Assignment], record: Entity) -> Assignment | None:
    """The assignment of a record among those that were found, if it still stands."""
    known = found.get(name_of(record.ref))
    return known if known is not None and known.stands_for(record) else None


def _project(record: Entity) -> str:
    field = record.__shape__.project
    value = None if field is None else getattr(record, field.name)
    return NO_PROJECT if field is None or value is None else key_text(field, value)
