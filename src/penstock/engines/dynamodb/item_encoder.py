"""From a record's values to the attributes of its item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from penstock.engines.dynamodb.layout import Layout, Value
from penstock.schema.kinds import FieldShape, Kind, instant_text

Encode = Callable[[Any], Value]

_EXACT = 2**63
"Beyond this a document's whole number can only have been a float."


def encoder(field: FieldShape) -> Encode:
    """How values of this field are written. UUIDs, days and bytes are left to the JSON encoder, which is faster."""
    if field.kind is Kind.INSTANT:
        return _whole_second if field.digits == 0 else _fraction(field.digits)
    return _ENCODERS[field.kind]


def _whole_second(value: datetime) -> Value:
    # The JSON encoder's own form is the same, as long as there is no fraction to cut.
    if value.tzinfo is UTC and not value.microsecond:
        return {"S": value}
    return {"S": instant_text(value, 0)}


def _fraction(digits: int) -> Encode:
    def encode(value: datetime) -> Value:
        return {"S": instant_text(value, digits)}

    return encode


def number(value: Any) -> str:
    """A number as DynamoDB takes it; a float in its shortest form, which comes back as the same float."""
    return repr(value) if isinstance(value, float) else str(value)


def document(value: Any) -> Value:
    """Plain JSON values, each under its type."""
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, dict):
        return {"M": {name: document(v) for name, v in value.items()}}
    if isinstance(value, list | tuple):
        return {"L": [document(v) for v in value]}
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)  # all digits, so that it comes back equal
    return {"N": number(value)}


_ENCODERS: Mapping[Kind, Encode] = {
    Kind.TEXT: lambda v: {"S": v},
    Kind.CHOICE: lambda v: {"S": getattr(v, "value", v)},
    Kind.IDENTIFIER: lambda v: {"S": v},
    Kind.DAY: lambda v: {"S": v},
    Kind.INTEGER: lambda v: {"N": str(v)},
    Kind.FLOAT: lambda v: {"N": repr(float(v))},
    Kind.DECIMAL: lambda v: {"N": str(v)},
    Kind.FLAG: lambda v: {"BOOL": v},
    Kind.BYTES: lambda v: {"B": v},
    Kind.TEXTS: lambda v: {"SS": sorted(v)},
    Kind.DOCUMENT: document,
}


class ItemEncoder:
    """Writes the items of one entity."""

    def __init__(self, layout: Layout) -> None:
        self._key = [(p.name, p.kind, p.template.encode) for p in layout.own_key]
        self._fields = [(f.attribute, f.name, encoder(f)) for f in layout.fields]
        self._indexes = layout.indexes
        self._tag = {layout.shape.table.tag: {"S": layout.shape.tag}} if layout.shape.table.tag else {}

    def item(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """The whole item; a field without value has no attribute, and so has an index without its fields."""
        item: dict[str, Value] = {name: {kind: encode(values)} for name, kind, encode in self._key}
        item.update(self._tag)
        for attribute, name, to_value in self._fields:
            value = values.get(name)
            if value is not None:
                item[attribute] = to_value(value)
        for index, parts in self._indexes:
            if index.holds(values):
                for part in parts:
                    item[part.name] = part.value(values)
        return item
