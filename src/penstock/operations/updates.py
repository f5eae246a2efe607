"""Changes to single fields of a record, as values; and what they mean, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal
from typing import Any

from msgspec import Struct


class Update(Struct, frozen=True):
    """A change to one field. A patch carries at most one for each field."""

    field: str


class Set(Update, frozen=True):
    """The field has this value from now on."""

    value: Any


class Remove(Update, frozen=True):
    """The field has no value from now on."""


class Add(Update, frozen=True):
    """The number grows by this much; a missing one counts from zero."""

    amount: Any


class SetIfAbsent(Update, frozen=True):
    """The field gets this value unless it has one."""

    value: Any


class Append(Update, frozen=True):
    """The list grows at its end; a missing one starts empty."""

    items: tuple[Any, ...]


class Include(Update, frozen=True):
    """The set gains these members."""

    members: frozenset[str]


class Exclude(Update, frozen=True):
    """The set loses these members; one that becomes empty is removed."""

    members: frozenset[str]


REPEATABLE = (Set, Remove, SetIfAbsent, Include, Exclude)
"Applied twice, these leave what applying once leaves."


# Python's own context would round a sum to 28 digits; numbers of 38 digits lie at most 256 places apart.
_EXACT = Context(prec=300)


def exact_sum(old: Any, amount: Any) -> Any:
    """What an addition leaves: the same digits on every engine."""
    return _EXACT.add(old, Decimal(amount)) if isinstance(old, Decimal) else old + amount


def apply(updates: Iterable[Update], values: dict[str, Any]) -> dict[str, Any]:
    """The record after the updates; all of them see the record as it was."""
    after = dict(values)
    for update in updates:
        name = update.field
        old = values.get(name)
        match update:
            case Set(_, value):
                after[name] = value
            case Remove():
                after[name] = None
            case Add(_, amount):
                after[name] = amount if old is None else exact_sum(old, amount)
            case SetIfAbsent(_, value):
                after[name] = value if old is None else old
            case Append(_, items):
                after[name] = [*(old or ()), *items]
            case Include(_, members):
                after[name] = frozenset(old or ()) | members
            case Exclude(_, members):
                after[name] = (frozenset(old or ()) - members) or None
    return after
