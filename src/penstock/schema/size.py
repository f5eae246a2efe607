"""How large a record is, by DynamoDB's rules: the measure of the common limit, and of cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from penstock.schema.kinds import FieldShape, Kind, instant_width, key_text
from penstock.schema.shape import EntityShape


def record_size(shape: EntityShape, values: Mapping[str, Any], keys: Mapping[str, str] | None = None) -> int:
    """Bytes of the whole item: names and values of its attributes, its key and its index keys.

    ``keys`` are its `key_attributes`, if they are known already.
    """
    total, measured = _measures(shape)
    for name, named, measure in measured:
        if (value := values.get(name)) is not None:
            total += named + measure(value)
    keys = key_attributes(shape, values) if keys is None else keys
    for name, text in keys.items():
        total += _bytes(name) + _bytes(text)
    return total


Measure = Callable[[Any], int]


def _measures(shape: EntityShape) -> tuple[int, tuple[tuple[str, int, Measure], ...]]:
    """What every record of an entity has, and of each field how long its name is and what measures its values.

    Found once for each entity: whoever meters measures every record that is read.
    """
    known = _KNOWN.get(shape)
    if known is None:
        stored = [f for f in shape.fields.values() if f.stored]
        tag = _bytes(shape.table.tag) + _bytes(shape.tag) if shape.table.tag and shape.tag else 0
        known = _KNOWN[shape] = tag, tuple((f.name, _bytes(f.attribute), _measure(f)) for f in stored)
    return known


_KNOWN: WeakKeyDictionary[EntityShape, tuple[int, tuple[tuple[str, int, Measure], ...]]] = WeakKeyDictionary()


def _measure(field: FieldShape) -> Measure:
    match field.kind:
        case Kind.TEXT:
            return _bytes
        case Kind.IDENTIFIER:
            return _always(36)
        case Kind.INSTANT:
            return _always(instant_width(field.digits))
        case Kind.INTEGER | Kind.FLOAT | Kind.DECIMAL:
            return number_size
        case Kind.FLAG:
            return _always(1)
    return partial(value_size, field)


def _always(size: int) -> Measure:
    return lambda value: size


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def key_attributes(shape: EntityShape, values: Mapping[str, Any]) -> dict[str, str]:
    """The attributes that an item has for its key and its index keys, beside those of its fields; each once."""
    natives = _natives(shape)
    found: dict[str, str] = {}
    for key in (shape.key, *(i.key for i in shape.indexes.values() if i.holds(values))):
        for attribute, template in ((key.partition_attribute, key.partition), (key.sort_attribute, key.sort)):
            if attribute is None or template is None or attribute.name in found:
                continue
            field = natives.get(attribute.name)
            if field is None or values.get(field) is None:
                found[attribute.name] = template.encode(values)
    return found


def _natives(shape: EntityShape) -> dict[str, str]:
    """The fields that are attributes of their own, by what they are called there."""
    known = _NATIVES.get(shape)
    if known is None:
        known = _NATIVES[shape] = {f.attribute: f.name for f in shape.fields.values() if f.stored}
    return known


_NATIVES: WeakKeyDictionary[EntityShape, dict[str, str]] = WeakKeyDictionary()


def value_size(field: FieldShape, value: Any) -> int:
    """Bytes of one value of a kind that may have many: no number, and nothing that always has as many."""
    kind = field.kind
    if kind in (Kind.TEXT, Kind.CHOICE, Kind.DAY):
        return len(key_text(field, value).encode())
    if kind is Kind.BYTES:
        return len(value)
    if kind is Kind.TEXTS:
        return sum(len(v.encode()) for v in value)
    return document_size(value)


def number_size(value: Any) -> int:
    """One byte for every two digits, paired from the decimal point outwards; one more, and another for a minus."""
    if not value:
        return 1
    if isinstance(value, int):
        text, exponent = str(abs(value)), 0
    else:
        _, digits, power = Decimal(repr(value) if isinstance(value, float) else value).as_tuple()
        text, exponent = "".join(map(str, digits)).lstrip("0"), int(power)
    first = exponent + len(text) - 1
    last = exponent + len(text) - len(text.rstrip("0"))
    return first // 2 - last // 2 + (3 if value < 0 else 2)


def document_size(value: Any) -> int:
    """A list or map costs three bytes, and each member one more than its own."""
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, int | float):
        return number_size(value)
    if isinstance(value, dict):
        return 3 + sum(1 + len(k.encode()) + document_size(v) for k, v in value.items())
    return 3 + sum(1 + document_size(v) for v in value)
