"""Defaults: a missing field reads as its default, so it is as good as its default in conditions and updates too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from penstock.operations.conditions import Compare, Condition, holds
from penstock.schema.documents import as_stored
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape

_encode = msgspec.json.Encoder(order="sorted").encode


def stored_defaults(shape: EntityShape) -> Mapping[str, Any]:
    """What a missing value is as good as, in the form it is stored in, of the fields where it is anything."""
    return {
        f.name: as_stored(f, f.counted_as) if f.kind is Kind.DOCUMENT else f.counted_as
        for f in shape.fields.values()
        if f.stored and f.counted_as is not None
    }


def default_holds(field: FieldShape, default: Any, condition: Condition) -> bool:
    """Does a comparison hold of a record whose field has its default?"""
    if field.kind is Kind.DOCUMENT and isinstance(condition, Compare):
        # In a document 0 and False are two things, which Python takes for equal.
        return (_encode(default) == _encode(condition.value)) is (condition.operator == "=")
    return holds(condition, {field.name: default})
