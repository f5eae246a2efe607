"""A record as JSON has it: one rendering, by the kinds of its fields, for every door."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

import msgspec

from penstock.declare.entity import Entity
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape


def rendered_fields(shape: EntityShape, values: Mapping[str, Any], shown: Collection[str]) -> dict[str, Any]:
    """Some fields of a record of which no more is known, as JSON has them."""
    hidden = frozenset(n for n in shape.fields if n not in shown or n not in values)
    return rendered(shape.build(dict(values)), hidden=hidden)


def rendered(record: Entity, *, hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A record as JSON has it, without the fields that are hidden from whom it is for."""
    raw, sets = _kept_otherwise(type(record))
    values = record.model_dump(mode="json", exclude={*raw, *hidden})
    for name in raw - hidden:
        value = getattr(record, name)
        values[name] = None if value is None else base64.b64encode(value).decode()
    for name in sets:
        if values.get(name) is not None:
            values[name] = sorted(values[name])  # a set has an order of its own in each process
    return values


def rendered_json(record: Entity, *, hidden: frozenset[str] = frozenset()) -> bytes:
    """The text of what `rendered` gives; where nothing has to be put right in between, straight from the record."""
    if any(_kept_otherwise(type(record))):
        return msgspec.json.encode(rendered(record, hidden=hidden))
    return record.__pydantic_serializer__.to_json(record, exclude=set(hidden) or None)


@cache
def _kept_otherwise(entity: type[Entity]) -> tuple[frozenset[str], frozenset[str]]:
    """The fields of bytes and those of sets of texts: neither is kept as JSON has it."""
    fields = entity.__shape__.fields.values()
    return tuple(frozenset(f.name for f in fields if f.kind is kind) for kind in (Kind.BYTES, Kind.TEXTS))  # type: ignore[return-value]
