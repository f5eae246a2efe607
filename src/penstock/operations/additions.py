"""Additions: a number grows and shrinks within its field's bounds, by a condition in the very write.

Nothing is read for it, and an addition that cannot leave the bounds carries no condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penstock.errors import OutOfBounds
from penstock.operations.conditions import Compare, Condition, Missing, Present
from penstock.operations.updates import Add, Update, exact_sum
from penstock.schema.documents import decimal
from penstock.schema.kinds import INTEGER_LIMIT, FieldShape, Kind
from penstock.schema.number_bounds import Bounds
from penstock.schema.shape import EntityShape


def within_bounds(shape: EntityShape, updates: Iterable[Update]) -> list[Condition]:
    """That no addition leaves the bounds of its field; nothing where none could."""
    return [c for u in updates if type(u) is Add and u.field in shape.bounded for c in _within(shape, u)]


def left_bounds(shape: EntityShape, updates: Iterable[Update], found: Mapping[str, Any]) -> str | None:
    """The bound that an addition to this record would leave, in words; None where all stay within theirs."""
    for update in updates:
        if type(update) is Add and (bounds := shape.fields[update.field].bounds) is not None:
            standing = found.get(update.field)
            after = exact_sum(_start(shape.fields[update.field], standing), update.amount)
            if bounds.is_below(after) and (update.amount < 0 or standing is None):
                return _below(update.field, bounds)
            if bounds.is_above(after) and (update.amount > 0 or standing is None):
                return _beyond(update.field, bounds)
    return None


def _within(shape: EntityShape, add: Add) -> Iterator[Condition]:
    field, bounds = shape.fields[add.field], shape.fields[add.field].bounds
    assert bounds is not None
    condition: Condition | None = None
    if add.amount < 0 and bounds.low is not None:
        needed = _needed(shape, add, bounds.low, _below(add.field, bounds))
        condition = Compare(add.field, ">" if bounds.open_low else ">=", needed)
    elif add.amount > 0 and bounds.high is not None:
        needed = _needed(shape, add, bounds.high, _beyond(add.field, bounds))
        condition = Compare(add.field, "<" if bounds.open_high else "<=", needed)
    if not field.optional:
        if condition is not None:
            yield condition
        return
    first = exact_sum(_start(field, None), add.amount)
    if bounds.is_below(first) or bounds.is_above(first):
        yield condition or Present(add.field)  # a comparison needs a value anyway
    elif condition is not None:
        yield condition | Missing(add.field)


def _needed(shape: EntityShape, add: Add, end: Any, words: str) -> Any:
    """What the number must be before the addition to reach just this end of its bounds."""
    if shape.fields[add.field].kind is Kind.DECIMAL:
        return decimal(exact_sum(end, -add.amount))
    needed = end - add.amount
    if not -INTEGER_LIMIT <= needed < INTEGER_LIMIT:
        raise OutOfBounds(f"{shape.name}: {words}")
    return needed


def _start(field: FieldShape, value: Any) -> Any:
    """What an addition begins with: a missing number counts as its default, or as nothing."""
    if value is None:
        value = field.counted_as
    return field.python(0) if value is None else value


def _below(name: str, bounds: Bounds) -> str:
    least = f"more than {bounds.low}" if bounds.open_low else f"at least {bounds.low}"
    return f"an addition would take {name} out of its bounds; it must be {least}"


def _beyond(name: str, bounds: Bounds) -> str:
    most = f"less than {bounds.high}" if bounds.open_high else f"at most {bounds.high}"
    return f"an addition would take {name} out of its bounds; it must be {most}"
