"""Looks at DynamoDB's own items: does every stored index key say what the fields of its item say?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.schema.kinds import FieldShape, Kind, from_key_text
from penstock.schema.shape import EntityShape, KeyShape


def stale_keys(item: Mapping[str, Any], shapes: Iterable[EntityShape]) -> list[str]:
    """What is wrong with the index attributes of an item, as boto3 shows it."""
    shape = next(s for s in shapes if s.table.tag is None or item[s.table.tag] == s.tag)
    values = {name: _value(field, item) for name, field in shape.fields.items() if field.stored}
    key = (shape.key.partition, shape.key.partition_attribute), (shape.key.sort, shape.key.sort_attribute)
    for template, attribute in key:
        if template is not None and attribute is not None and not attribute.number:
            values |= template.parse(item[attribute.name]) or {}
    wrong = []
    expected: dict[str, Any] = {}
    native = {f.attribute for f in shape.fields.values() if f.stored}
    for index in shape.indexes.values():
        if index.holds(values):
            expected |= _encoded(index.key, values)
    for place in shape.table.indexes.values():
        for attribute in (place.partition, place.sort):
            if attribute is not None and attribute.name not in native:
                found, wanted = item.get(attribute.name), expected.get(attribute.name)
                if found != wanted:
                    wrong.append(f"{shape.name} {attribute.name} is {found!r}, but its fields say {wanted!r}")
    return wrong


def _encoded(key: KeyShape, values: Mapping[str, Any]) -> dict[str, Any]:
    out = {key.partition_attribute.name: key.partition.encode(values)}
    if key.sort is not None and key.sort_attribute is not None:
        out[key.sort_attribute.name] = key.sort.encode(values)
    return out


def _value(field: FieldShape, item: Mapping[str, Any]) -> Any:
    raw = item.get(field.attribute)
    if raw is None or field.kind not in (Kind.TEXT, Kind.CHOICE, Kind.INTEGER, Kind.INSTANT, Kind.IDENTIFIER, Kind.DAY):
        return raw
    return int(raw) if field.kind is Kind.INTEGER else from_key_text(field, raw)
