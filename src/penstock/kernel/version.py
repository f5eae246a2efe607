"""The version of a record, for entities that keep one: it begins at 1 and grows with every write, whoever writes.

A record that is saved must have the version with which it was read, so that nothing of it has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.declare.entity import Entity
from penstock.operations.conditions import Compare, Condition
from penstock.operations.updates import Add, Set, Update
from penstock.schema.shape import EntityShape

FIRST = 1


def begin_version(record: Entity) -> None:
    """A record that is created has the first version, whatever it was copied from."""
    version = record.__shape__.version
    if version is not None:
        record.__dict__[version] = FIRST


def version_unchanged(shape: EntityShape, before: Mapping[str, Any]) -> Condition:
    """That nobody has written a record since it was read."""
    assert shape.version is not None
    return Compare(shape.version, "=", before[shape.version])


def grow_version(record: Entity, before: Mapping[str, Any], changed: list[Update]) -> None:
    """Add the next version to the changes of a record, and to the record itself."""
    version = record.__shape__.version
    assert version is not None
    record.__dict__[version] = before[version] + 1
    changed.append(Set(version, before[version] + 1))


def with_version(shape: EntityShape, updates: Sequence[Update]) -> tuple[Update, ...]:
    """Updates of an unread record, with the growth of its version among them."""
    if shape.version is None or any(u.field == shape.version for u in updates):
        return tuple(updates)
    return (*updates, Add(shape.version, 1))


def replaced(shape: EntityShape, values: Mapping[str, Any], old: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The values of a whole record that replaces another, or none."""
    if shape.version is None:
        return values
    return {**values, shape.version: FIRST if old is None else old[shape.version] + 1}
