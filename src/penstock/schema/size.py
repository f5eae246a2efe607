"""How large a record is, by DynamoDB's rules: the measure of the common limit, and of cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from penstock.schema.kinds import FieldShape, Kind, key_text
from penstock.schema.shape import EntityShape


def record_size(shape: EntityShape, values: Mapping[str, Any], keys: Mapping[str, str] | None = None) -> int:
    """Bytes of the whole item: names and values of its attributes, its key and its index keys.

    ``keys`` are its `key_attributes`, if they are known already.
    """
    total = sum(
        len(f.attribute.encode()) + value_size(f, values[f.name])
        for f in shape.fields.values()
        if f.stored and values.get(f.name) is not None
    )
    keys = key_attributes(shape, values) if keys is None else keys
    total += sum(len(name.encode()) + len(text.encode()) for name, text in keys.items())
    if shape.table.tag and shape.tag:
        total += len(shape.table.tag.encode()) + len(shape.tag.encode())
    return total


def key_attributes(shape: EntityShape, values: Mapping[str, Any]) -> dict[str, str]:
    """The attributes that an item has for its key and its index keys, beside those of its fields; each once."""
    natives = {f.attribute for f in shape.fields.values() if f.stored and values.get(f.name) is not None}
    found: dict[str, str] = {}
    for key in (shape.key, *(i.key for i in shape.indexes.values() if i.holds(values))):
        for attribute, template in ((key.partition_attribute, key.partition), (key.sort_attribute, key.sort)):
            if attribute is not None and template is not None and attribute.name not in natives | found.keys():
                found[attribute.name] = template.encode(values)
    return found


def value_size(field: FieldShape, value: Any) -> int:
    """Bytes of one value."""
    kind = field.kind
    if kind in (Kind.TEXT, Kind.CHOICE, Kind.IDENTIFIER, Kind.INSTANT, Kind.DAY):
        return len(key_text(field, value).encode())
    if kind in (Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL):
        return number_size(value)
    if kind is Kind.FLAG:
        return 1
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
