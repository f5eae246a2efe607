"""A record as JSON has it: one rendering, by the kinds of its fields, for every door."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from typing import Any

from penstock.declare.entity import Entity
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape


def rendered_fields(shape: EntityShape, values: Mapping[str, Any], shown: Collection[str]) -> dict[str, Any]:
    """Some fields of a record of which no more is known, as JSON has them."""
    hidden = frozenset(n for n in shape.fields if n not in shown or n not in values)
    return rendered(shape.build(dict(values)), hidden=hidden)


def rendered(record: Entity, *, hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A record as JSON has it, without the fields that are hidden from whom it is for."""
    shape = record.__shape__
    raw = {f.name for f in shape.fields.values() if f.kind is Kind.BYTES}
    values = record.model_dump(mode="json", exclude=raw | hidden)
    for name in raw - hidden:
        value = getattr(record, name)
        values[name] = None if value is None else base64.b64encode(value).decode()
    for field in shape.fields.values():
        if field.kind is Kind.TEXTS and values.get(field.name) is not None:
            values[field.name] = sorted(values[field.name])  # a set has an order of its own in each process
    return values
