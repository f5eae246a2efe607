"""Spelling: a condition may hold of a record as it is read, and yet not of what is stored.

Other programs write to the same tables, and spell values in their own way: a moment as ``+0000`` instead of ``Z``, a
number with more digits than a float has, a document with spaces. A condition made of what was read would refuse such a
record for ever. So an engine that has refused looks at what stands there: if the condition holds of that as it is read,
it asks once more, on the condition that the fields are stored in just this form. Nobody comes in between unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from penstock.operations.conditions import All, Any_, Compare, Condition, Not, OneOf, fields_of, holds
from penstock.operations.writes import Write
from penstock.schema.documents import as_stored
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape

_encode = msgspec.json.Encoder(order="sorted").encode


class AsStored(Compare, frozen=True):
    """That a field is stored in this very form, which is the engine's own; None: that it is missing."""


def holds_as_read(write: Write, found: Mapping[str, Any] | None) -> bool:
    """Does the condition of a write that was refused hold of the record that stands there, as it is read?"""
    return found is not None and write.when is not None and holds_exactly(write.shape, write.when, found)


def holds_exactly(shape: EntityShape, condition: Condition, found: Mapping[str, Any]) -> bool:
    """Does a condition hold of a record that was read? Unlike in `holds`, documents are compared as they are stored."""
    try:
        return holds(_exact(shape, condition), _exact_values(shape, condition, found))
    except (TypeError, ValueError):  # of types that Python does not compare, or that cannot have been read
        return False


def _exact(shape: EntityShape, condition: Condition) -> Condition:
    """The condition with documents as texts: in a document 0 and False are two things, which Python takes for equal."""
    match condition:
        case Compare(name, operator, value) if shape.fields[name].kind is Kind.DOCUMENT:
            return Compare(name, operator, _encode(value))
        case OneOf(name, values) if shape.fields[name].kind is Kind.DOCUMENT:
            return OneOf(name, tuple(_encode(v) for v in values))
        case All(parts):
            return All(tuple(_exact(shape, p) for p in parts))
        case Any_(parts):
            return Any_(tuple(_exact(shape, p) for p in parts))
        case Not(inner):
            return Not(_exact(shape, inner))
    return condition


def _exact_values(shape: EntityShape, condition: Condition, found: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(found)
    for name in fields_of(condition):
        field, value = shape.fields[name], values.get(name)
        if field.kind is Kind.DOCUMENT and value is not None:
            values[name] = _encode(as_stored(field, value))
    return values
