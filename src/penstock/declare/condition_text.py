"""Conditions as people write them at a door: ``views>=100``, ``status!=done``, ``title`` (it has one), ``!title``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from penstock.declare.attr import Attr
from penstock.declare.entity import Entity
from penstock.errors import InvalidValue
from penstock.operations.conditions import Condition
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape

_FORM = re.compile(r"(?P<no>!?)(?P<name>\w+)(?:(?P<operator>!=|<=|>=|=|<|>)(?P<value>.*))?", re.DOTALL)
_OPERATORS: dict[str, Callable[[Attr[Any], Any], Condition]] = {
    "=": Attr.equals,
    "!=": Attr.differs,
    "<": Attr.before,
    "<=": Attr.until,
    ">": Attr.after,
    ">=": Attr.since,
}


def filterable(shape: EntityShape) -> tuple[str, ...]:
    """The fields that a condition may compare: those with a single value."""
    return tuple(f.name for f in shape.fields.values() if f.kind not in (Kind.DOCUMENT, Kind.TEXTS))


def read_condition(entity: type[Entity], text: str) -> Condition:
    """What a condition's text says; InvalidValue for one that is of another form, or of no field."""
    shape = entity.__shape__
    read = _FORM.fullmatch(text)
    if read is None or (read["no"] and read["operator"]):
        raise InvalidValue(f"{text[:40]!r} is no condition; write field=value, !=, <, <=, > or >=, or field, or !field")
    if read["name"] not in shape.fields:
        raise InvalidValue(f"{shape.name} has no field {read['name'][:40]!r}; there are {', '.join(filterable(shape))}")
    field: Attr[Any] = Attr(entity, shape.fields[read["name"]])
    if read["operator"] is None:
        return field.absent() if read["no"] else field.exists()
    return _OPERATORS[read["operator"]](field, read["value"])


def read_field_names(entity: type[Entity], text: str) -> tuple[str, ...]:
    """The fields that a text such as ``title,views`` names."""
    shape = entity.__shape__
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if unknown := [n for n in names if n not in shape.fields]:
        raise InvalidValue(f"{shape.name} has no field {unknown[0][:40]!r}; there are {', '.join(shape.fields)}")
    return names
