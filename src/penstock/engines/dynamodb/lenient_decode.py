"""The slow way to read an item: one that another client wrote in its own way, or that is damaged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from penstock.engines.dynamodb.attribute_values import python_value
from penstock.engines.dynamodb.layout import Layout, Value
from penstock.errors import DamagedRecord
from penstock.operations.reads import Ref, Unreadable
from penstock.schema.documents import canonical
from penstock.schema.kinds import FieldShape, Kind, key_text, parse_instant


def read_leniently(layout: Layout, item: Mapping[str, Value]) -> dict[str, Any]:
    """The values of an item after full validation; DamagedRecord where it does not fit the declaration."""
    given = dict(key_fields(layout, item) or {})
    for field in layout.fields:
        value = item.get(field.attribute)
        if value is not None and "NULL" not in value:
            given[field.name] = _converted(field, value)
        elif field.optional:
            given[field.name] = None
    try:
        record = layout.shape.check(given)
    except ValueError as error:
        why = _complaint(layout, item, error)
        raise DamagedRecord(why, unreadable=[_unreadable(layout, item, why)]) from None
    return dict(vars(record))


def read_partly(layout: Layout, item: Mapping[str, Value]) -> dict[str, Any]:
    """What can be read of an item that does not fit, field by field; None for what cannot be."""
    found: dict[str, Any] = dict.fromkeys(layout.shape.fields)
    found.update(key_fields(layout, item) or {})
    for field in layout.fields:
        value = item.get(field.attribute)
        if value is not None and found[field.name] is None:
            found[field.name] = _of_kind(field, value)
    return found


def _unreadable(layout: Layout, item: Mapping[str, Value], why: str) -> Unreadable:
    """An item that cannot be read, as it is told beside the others."""
    shape = layout.shape
    key = key_fields(layout, item)
    name = repr(Ref(shape, key)) if key is not None else f"{shape.name}({_where(layout, item)})"
    project = read_partly(layout, item)[shape.project.name] if shape.project is not None else None
    text = None if project is None or shape.project is None else key_text(shape.project, project)
    return Unreadable(shape, name, why, key, text)


def _of_kind(field: FieldShape, value: Value) -> Any:
    """A value, if it is one that the field could have by its kind alone."""
    found = _converted(field, value)
    try:
        if field.kind is Kind.IDENTIFIER:
            return UUID(found)
        if field.kind is Kind.CHOICE:
            return field.python(found)
        if field.kind is Kind.DAY:
            return date.fromisoformat(found)
        if field.kind is Kind.TEXTS:
            return frozenset(found)
    except (ValueError, TypeError, AttributeError):
        return None
    expected = _PYTHON.get(field.kind)
    return found if expected is None or isinstance(found, expected) else None


_PYTHON: dict[Kind, type | tuple[type, ...]] = {
    Kind.TEXT: str,
    Kind.INTEGER: int,
    Kind.FLOAT: (int, float),
    Kind.DECIMAL: Decimal,
    Kind.FLAG: bool,
    Kind.BYTES: bytes,
    Kind.INSTANT: datetime,
}


def key_fields(layout: Layout, item: Mapping[str, Value]) -> dict[str, Any] | None:
    """The fields an item's key was made of, or None when this entity's templates did not make it."""
    found: dict[str, Any] = {}
    for part in layout.key:
        text = item.get(part.name, {}).get(part.kind)
        fields = part.template.parse(text) if isinstance(text, str) else None
        if fields is None:
            return None
        found.update(fields)
    return found


_LARGEST_POWER = 125


def is_own(layout: Layout, item: Mapping[str, Value]) -> bool:
    """Is the item a record of this entity, by its key and its tag?"""
    tag = layout.shape.table.tag
    tagged = item.get(tag, {}).get("S") if tag else None
    return tagged in (None, layout.shape.tag) and key_fields(layout, item) is not None


def _converted(field: FieldShape, value: Value) -> Any:
    """The value in the form closest to the field's; what is hopeless is left for validation to refuse."""
    kind = next(iter(value), "M")
    try:
        if field.kind is Kind.INSTANT and kind == "S":
            return parse_instant(value["S"])
        if field.kind is Kind.DECIMAL and kind == "N":
            return canonical(Decimal(value["N"]))
        if field.kind is Kind.INTEGER and kind == "N":
            return _whole(Decimal(value["N"]))
        if field.kind is Kind.DOCUMENT and kind == "S" and field.python is not str:
            return msgspec.json.decode(value["S"])
        return python_value(value)
    except (ValueError, ArithmeticError):
        return value.get("S")


def _whole(value: Decimal) -> Any:
    if value.adjusted() > _LARGEST_POWER:  # no number of DynamoDB's; its digits alone would take minutes
        raise OverflowError
    return int(value) if value == value.to_integral_value() else value


def _complaint(layout: Layout, item: Mapping[str, Value], error: ValueError) -> str:
    """Names the entity, the key and the attributes; never a value, which may be private."""
    return f"{layout.shape.label} at {_where(layout, item)} does not fit its declaration: {_problems(layout, error)}"


def _where(layout: Layout, item: Mapping[str, Value]) -> str:
    return ", ".join(f"{p.name}={item.get(p.name, {}).get(p.kind)!r}" for p in layout.key)


def _problems(layout: Layout, error: ValueError) -> str:
    details = getattr(error, "errors", None)
    if details is None:
        return type(error).__name__
    found = []
    for detail in details():
        name = str(detail["loc"][0]) if detail["loc"] else ""
        field = layout.shape.fields.get(name)
        found.append(f"{field.attribute if field else name or 'the record'} ({detail['type']})")
    return ", ".join(found)
