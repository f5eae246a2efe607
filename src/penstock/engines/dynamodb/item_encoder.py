"""From a record's values to the attributes of its item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from penstock.engines.dynamodb.layout import Layout, Value
from penstock.schema.generated import defined, expressed
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
        return {"L": [{"S": v} if type(v) is str else document(v) for v in value]}
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)  # all digits, so that it comes back equal
    return {"N": number(value)}


_FORMS: Mapping[Kind, str] = {
    Kind.TEXT: "{'S': x}",
    Kind.CHOICE: "{'S': getattr(x, 'value', x)}",
    Kind.IDENTIFIER: "{'S': x}",
    Kind.DAY: "{'S': x}",
    Kind.INTEGER: "{'N': str(x)}",
    Kind.FLOAT: "{'N': repr(float(x))}",
    Kind.DECIMAL: "{'N': str(x)}",
    Kind.FLAG: "{'BOOL': x}",
    Kind.BYTES: "{'B': x}",
    Kind.TEXTS: "{'SS': sorted(x)}",
}
"The values of a field, as expressions of x; other kinds need more than one."

_ENCODERS: Mapping[Kind, Encode] = {
    **{kind: expressed("encode", "x", form, about=kind.value) for kind, form in _FORMS.items()},
    Kind.DOCUMENT: document,
}


class ItemEncoder:
    """Writes the items of one entity."""

    def __init__(self, layout: Layout) -> None:
        self._fields = _generated(layout)
        self._indexes = layout.indexes

    def item(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """The whole item; a field without value has no attribute, and so has an index without its fields."""
        item = self._fields(values)
        for index, parts in self._indexes:
            if index.holds(values):
                for part in parts:
                    item[part.name] = part.value(values)
        return item


def _generated(layout: Layout) -> Callable[[Mapping[str, Any]], dict[str, Value]]:
    """Generate what makes the key and the fields: it runs with every write, half as long as a loop over them would."""
    names: dict[str, Any] = {}
    lines = []
    for part in layout.own_key:
        lines.append(f"item[{part.name!r}] = {{{part.kind!r}: {part.template.expression('v', names)}}}")
    if layout.shape.table.tag:
        lines.append(f"item[{layout.shape.table.tag!r}] = {{'S': {layout.shape.tag!r}}}")
    for field in layout.fields:
        names[f"encode_{field.name}"] = encoder(field)
        form = _FORMS.get(field.kind, f"encode_{field.name}(x)")
        lines.append(f"if (x := v.get({field.name!r})) is not None: item[{field.attribute!r}] = {form}")
    body = "".join(f"    {line}\n" for line in lines)
    made: Callable[[Mapping[str, Any]], dict[str, Value]] = defined(
        "fields", f"def fields(v):\n    item = {{}}\n{body}    return item\n", about=layout.shape.name, names=names
    )
    return made
