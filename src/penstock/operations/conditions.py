"""Conditions on a record, as values; and what they mean, in plain Python.

DynamoDB's meaning holds on every engine: a comparison with a missing field is false, except ``differs``, which is true.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct


class Condition(Struct, frozen=True):
    """Something that must hold of the record a write meets. Combine with ``&``, ``|`` and ``~``."""

    def __and__(self, other: Condition) -> Condition:
        return All((self, other))

    def __or__(self, other: Condition) -> Condition:
        return Any_((self, other))

    def __invert__(self) -> Condition:
        return Not(self)


class Compare(Condition, frozen=True):
    """A field against a value: ``= <> < <= > >=``."""

    field: str
    operator: str
    value: Any


class Between(Condition, frozen=True):
    """A field within two values, both ends included."""

    field: str
    low: Any
    high: Any


class OneOf(Condition, frozen=True):
    """A field equal to one of some values."""

    field: str
    values: tuple[Any, ...]


class Present(Condition, frozen=True):
    """A field that has a value; without a field: the record stands."""

    field: str | None = None


class Missing(Condition, frozen=True):
    """A field that has no value; without a field: no record stands."""

    field: str | None = None


class All(Condition, frozen=True):
    """Every one of the conditions holds."""

    conditions: tuple[Condition, ...]


class Any_(Condition, frozen=True):  # noqa: N801 - typing.Any has the plain name
    """At least one of the conditions holds."""

    conditions: tuple[Condition, ...]


class Not(Condition, frozen=True):
    """The condition does not hold."""

    condition: Condition


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def both(first: Condition | None, second: Condition | None) -> Condition | None:
    """The conjunction of two conditions, either of which may be none."""
    if first is None or second is None:
        return first or second
    return All((first, second))


def holds(condition: Condition | None, record: Mapping[str, Any] | None) -> bool:
    """Does the condition hold of this record (None: no record stands)? Strings compare by their UTF-8 bytes."""
    values = record or {}
    match condition:
        case None:
            return True
        case Compare(name, operator, wanted):
            found = values.get(name)
            if found is None:
                return operator == "<>"
            return COMPARISONS[operator](comparable(found), comparable(wanted))
        case Between(name, low, high):
            found = values.get(name)
            return found is not None and comparable(low) <= comparable(found) <= comparable(high)
        case OneOf(name, wanted):
            return values.get(name) in wanted and values.get(name) is not None
        case Present(name):
            return record is not None if name is None else values.get(name) is not None
        case Missing(name):
            return record is None if name is None else values.get(name) is None
        case All(parts):
            return all(holds(p, record) for p in parts)
        case Any_(parts):
            return any(holds(p, record) for p in parts)
        case Not(inner):
            return not holds(inner, record)
    raise TypeError(f"not a condition: {condition!r}")


def needs_record(condition: Condition) -> bool:
    """Is it part of the condition, whatever its other parts say, that a record stands?"""
    if isinstance(condition, All):
        return any(needs_record(part) for part in condition.conditions)
    return isinstance(condition, Present) and condition.field is None


def comparable(value: Any) -> Any:
    """A value that orders as every engine orders it."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def fields_of(condition: Condition | None) -> frozenset[str]:
    """Every field a condition speaks of."""
    match condition:
        case Compare(name) | Between(name) | OneOf(name):
            return frozenset({name})
        case Present(name) | Missing(name):
            return frozenset({name} if name else ())
        case All(parts) | Any_(parts):
            return frozenset().union(*(fields_of(p) for p in parts))
        case Not(inner):
            return fields_of(inner)
    return frozenset()


def is_of_fields(condition: Condition) -> bool:
    """Does it speak of fields only, and not of whether a record stands at all?"""
    match condition:
        case Present(None) | Missing(None):
            return False
        case All(parts) | Any_(parts):
            return bool(parts) and all(is_of_fields(p) for p in parts)
        case Not(inner):
            return is_of_fields(inner)
    return True


def speaks_of(condition: Condition, names: Collection[str]) -> bool:
    """Does a condition speak of any of these fields? As `fields_of` tells, but quickly: every commit asks."""
    if isinstance(condition, All | Any_):
        for part in condition.conditions:  # noqa: SIM110 - a generator would cost more than what it asks
            if speaks_of(part, names):
                return True
        return False
    if isinstance(condition, Not):
        return speaks_of(condition.condition, names)
    return condition.field in names  # type: ignore[attr-defined] # which all others have


def describe(condition: Condition | None) -> str:
    """The condition as a short sentence for an error message. Values are named, not shown: they may be private."""
    match condition:
        case None:
            return "nothing"
        case Compare(name, operator, _):
            return f"{name} {operator} the value given"
        case Between(name):
            return f"{name} between the values given"
        case OneOf(name):
            return f"{name} one of the values given"
        case Present(None):
            return "a record there"
        case Missing(None):
            return "no record there"
        case Present(name):
            return f"a value of {name}"
        case Missing(name):
            return f"no value of {name}"
        case All(parts):
            return " and ".join(describe(p) for p in parts)
        case Any_(parts):
            return "(" + " or ".join(describe(p) for p in parts) + ")"
        case Not(inner):
            return f"not ({describe(inner)})"
    return repr(condition)
