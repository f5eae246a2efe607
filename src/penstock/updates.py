"""Changes to single fields of a record, as values; and what they mean, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any


class Update:
    """A change to one field. A patch carries at most one for each field."""

    __slots__ = ()
    field: str


@dataclass(slots=True, unsafe_hash=True)  # not frozen: every change makes some, and that would cost three times as much
class Set(Update):
    """The field has this value from now on."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Remove(Update):
    """The field has no value from now on."""

    field: str


@dataclass(frozen=True, slots=True)
class Add(Update):
    """The number grows by this much; a missing one counts from zero."""

    field: str
    amount: Any


@dataclass(frozen=True, slots=True)
class SetIfAbsent(Update):
    """The field gets this value unless it has one."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Append(Update):
    """The list grows at its end; a missing one starts empty."""

    field: str
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Include(Update):
    """The set gains these members."""

    field: str
    members: frozenset[str]


@dataclass(frozen=True, slots=True)
class Exclude(Update):
    """The set loses these members; one that becomes empty is removed."""

    field: str
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
