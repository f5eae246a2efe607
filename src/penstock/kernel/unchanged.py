"""Unchanged: the one rule by which a record, or some of its fields, still stands as it was read.

A field stands as it was read if it has the very value that was read; one that had none, if it still has none. A missing
field reads as its default, so it is as good as the default, and as nothing else: where another value was read, somebody
has removed it since. What is made anew for each reading of a missing field, such as an id, tells nothing; there a
missing field is as good as what was read.

Documents and sets are compared whole, as they are stored. The condition of a record with many fields is long: DynamoDB
takes 4 KB of it, which is about 85 fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from penstock.declare.entity import Entity
from penstock.operations.conditions import All, Compare, Condition, Missing, Present, both
from penstock.schema.documents import as_stored
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape

_encode = msgspec.json.Encoder(order="sorted").encode


def unchanged(record: Entity, names: Iterable[str] | None = None) -> Condition:
    """That a record stands, and all its fields, or those that are named, as they were read."""
    shape, parts = record.__shape__, [Present()]  # type: tuple[EntityShape, list[Condition]]
    for name in shape.fields if names is None else names:
        if name not in shape.key.fields:
            field, value = shape.fields[name], record.__dict__[name]
            parts.append(_stands(field, stored_value(field, value), _may_be_missing(record, field, value)))
    return All(tuple(parts))


@lru_cache(maxsize=1024)
def states_unchanged(shape: EntityShape, values: tuple[Any, ...]) -> Condition | None:
    """That the states of a record are as they were read, for a write that needs the record to stand anyway."""
    condition: Condition | None = None
    for field, value in zip(shape.states, values, strict=True):
        condition = both(condition, _stands(field, value, value == field.default))
    return condition


def stored_values(shape: EntityShape, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a record that was read, as a condition compares them."""
    stored = dict(values)
    for field in shape.documents:
        stored[field.name] = stored_value(field, stored.get(field.name))
    return stored


def stored_value(field: FieldShape, value: Any) -> Any:
    return value if value is None or field.kind is not Kind.DOCUMENT else as_stored(field, value)


def _stands(field: FieldShape, value: Any, may_be_missing: bool) -> Condition:
    if value is None:
        return Missing(field.name)
    same = Compare(field.name, "=", value)
    return same | Missing(field.name) if may_be_missing else same


def _may_be_missing(record: Entity, field: FieldShape, value: Any) -> bool:
    """Does a field that another writer has left out read as this value?"""
    if value is None or field.optional:
        return False
    if field.default is not None:
        return _is_same(field, value, field.default)
    info = type(record).model_fields[field.name]
    if info.default_factory is None:
        return False
    made, again = (info.get_default(call_default_factory=True, validated_data=record.__dict__) for _ in range(2))
    return bool(made != again) or _is_same(field, value, made)


def _is_same(field: FieldShape, value: Any, other: Any) -> bool:
    if field.kind is not Kind.DOCUMENT:
        return bool(value == other)
    # In a document 0 and False are two things, which Python takes for equal.
    return _encode(as_stored(field, value)) == _encode(as_stored(field, other))
