"""Unchanged: the one rule by which a record, or some of its fields, still stands as it was read.

A field stands as it was read if it has the very value that was read; one that had none, if it still has none. A missing
field reads as its default, so it is as good as the default, and as nothing else: where another value was read, somebody
has removed it since. What is made anew for each reading of a missing field, such as an id, tells nothing; there a
missing field is as good as what was read.

Documents and sets are compared whole, as they are stored. How many fields can be compared at once is limited by what
DynamoDB takes in one condition, and the same on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec

from penstock.declare.entity import Entity
from penstock.errors import TooLarge
from penstock.operations.conditions import All, Any_, Compare, Condition, Missing, Present, both
from penstock.operations.updates import Update
from penstock.schema.documents import as_stored
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape

COMPARED_FIELDS = 120
"So many fields of one record can be compared at once."

_encode = msgspec.json.Encoder(order="sorted").encode
_MayBeMissing = Callable[[Any, Mapping[str, Any]], bool]


class _Rule(msgspec.Struct, frozen=True, eq=False):
    """How one field is compared with what was read of it."""

    field: FieldShape
    missing: Missing
    is_document: bool
    may_be_missing: _MayBeMissing | None
    "Does it read as this value, beside those of the others, where it is missing? None: a condition knows by itself."
    is_plain: bool
    "Is it compared as it is?"


def unchanged(record: Entity, names: Iterable[str] | None = None) -> Condition:
    """That a record stands, and all its fields, or those that are named, as they were read."""
    rules, values, shape = _rules(type(record)), record.__dict__, record.__shape__
    compared = rules if names is None else [name for name in names if name not in shape.key.fields]
    _check_number(shape, len(compared))
    return All((Present(), *(_stands(rules[name], name, values[name], values) for name in compared)))


def overwritten(entity: type[Entity], before: Mapping[str, Any], changed: Sequence[Update]) -> Condition | None:
    """That the fields which a save overwrites are as they were read; None where there is nothing to compare.

    States are told by `states_unchanged`, and the moment of the last change is the kernel's own.
    """
    rules = _guarded(entity)
    parts: list[Condition] = []
    for update in changed:
        name = update.field
        rule = rules.get(name)
        if rule is not None:
            value = before[name]
            if value is not None and rule.is_plain:
                parts.append(Compare(name, "=", value))
            else:
                parts.append(_stands(rule, name, value, before))
    if len(parts) < 2:
        return parts[0] if parts else None
    _check_number(entity.__shape__, len(parts))
    return All(tuple(parts))


@lru_cache(maxsize=1024)
def states_unchanged(shape: EntityShape, values: tuple[Any, ...]) -> Condition | None:
    """That the states of a record are as they were read, for a write that needs the record to stand anyway."""
    condition: Condition | None = None
    for field, value in zip(shape.states, values, strict=True):
        condition = both(condition, Missing(field.name) if value is None else Compare(field.name, "=", value))
    return condition


def stored_values(shape: EntityShape, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a record that was read, as a condition compares them."""
    stored = dict(values)
    for field in shape.documents:
        stored[field.name] = stored_value(field, stored.get(field.name))
    return stored


def stored_value(field: FieldShape, value: Any) -> Any:
    return value if value is None or field.kind is not Kind.DOCUMENT else as_stored(field, value)


def _stands(rule: _Rule, name: str, value: Any, values: Mapping[str, Any]) -> Condition:
    """That a field has the value that was read, beside those of the others."""
    if value is None:
        return rule.missing
    if rule.is_document:
        value = stored_value(rule.field, value)
    same = Compare(name, "=", value)
    if rule.may_be_missing is None or not rule.may_be_missing(value, values):
        return same
    return Any_((same, rule.missing))


@cache
def _rules(entity: type[Entity]) -> dict[str, _Rule]:
    """Of every field that is not part of the key."""
    shape = entity.__shape__
    return {name: _rule(entity, field) for name, field in shape.fields.items() if name not in shape.key.fields}


def _rule(entity: type[Entity], field: FieldShape) -> _Rule:
    is_document, reads_as = field.kind is Kind.DOCUMENT, _missing_reads_as(entity, field)
    return _Rule(field, Missing(field.name), is_document, reads_as, not is_document and reads_as is None)


@cache
def _guarded(entity: type[Entity]) -> dict[str, _Rule]:
    """Of the fields that a save compares where it overwrites them."""
    last_modified = entity.__shape__.last_modified
    return {name: rule for name, rule in _rules(entity).items() if not rule.field.state and name != last_modified}


def _missing_reads_as(entity: type[Entity], field: FieldShape) -> _MayBeMissing | None:
    """What tells whether a field that another writer has left out reads as a value, given as it is stored.

    Of a default that is always the same every condition knows that a missing field is as good as it.
    """
    info = entity.model_fields[field.name]
    if field.optional or field.default is not None or info.default_factory is None:
        return None

    def made(values: Mapping[str, Any]) -> Any:
        return info.get_default(call_default_factory=True, validated_data=dict(values))

    def may_be_missing(value: Any, values: Mapping[str, Any]) -> bool:
        one, other = made(values), made(values)
        return bool(one != other) or _comparable(field, value) == _comparable(field, stored_value(field, one))

    return may_be_missing


def _comparable(field: FieldShape, stored: Any) -> Any:
    # In a document 0 and False are two things, which Python takes for equal.
    return _encode(stored) if field.kind is Kind.DOCUMENT else stored


def _check_number(shape: EntityShape, count: int) -> None:
    if count > COMPARED_FIELDS:
        raise TooLarge(
            f"{count} fields of {shape.name} would have to be as they were read, and at most {COMPARED_FIELDS} can be "
            f"compared at once; change fewer at a time, or say change.overwrite if whatever stands there may go"
        )
