"""The moment of a record's last change, for entities that keep one: it moves with every write, whoever writes.

It never goes back: not below what was read, and not below what this process has written. Only where a record is changed
unread by two machines can it be behind by as much as their clocks differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from penstock.declare.entity import Entity
from penstock.operations.updates import Set, Update
from penstock.schema.kinds import trim_instant
from penstock.schema.shape import EntityShape


def note_moment(record: Entity, before: Mapping[str, Any], changed: list[Update], now: datetime) -> None:
    """Add the moment to the changes of a record, and to the record itself, unless its writer has set it."""
    field = record.__shape__.last_modified
    assert field is not None
    if record.__dict__[field] == before[field]:
        setattr(record, field, now if before[field] is None else max(now, before[field]))
        changed.append(Set(field, record.__dict__[field]))


def with_moment(shape: EntityShape, updates: Sequence[Update], now: datetime) -> tuple[Update, ...]:
    """Updates of an unread record, with the moment among them."""
    if shape.last_modified is None or any(u.field == shape.last_modified for u in updates):
        return tuple(updates)
    return (*updates, Set(shape.last_modified, trim_instant(now, shape.fields[shape.last_modified].digits)))
