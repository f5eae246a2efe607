"""Bounds of a number, as its field's annotation says them: ``Annotated[int, Field(ge=0, le=10)]``, `Count`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import annotated_types

Number: TypeAlias = int | Decimal

_LIMIT = 2**63
"What no whole number reaches, on any engine: a bound there is none."


@dataclass(frozen=True, slots=True)
class Bounds:
    """From ``low`` to ``high``, each included unless it is open; None: without end."""

    low: Number | None = None
    high: Number | None = None
    open_low: bool = False
    open_high: bool = False

    def __str__(self) -> str:
        low = "" if self.low is None else f"{'more than' if self.open_low else 'at least'} {self.low}"
        high = "" if self.high is None else f"{'less than' if self.open_high else 'at most'} {self.high}"
        return " and ".join(filter(None, (low, high)))

    def is_below(self, value: Number) -> bool:
        """Is the value less than the field may have?"""
        return self.low is not None and (value <= self.low if self.open_low else value < self.low)

    def is_above(self, value: Number) -> bool:
        """Is the value more than the field may have?"""
        return self.high is not None and (value >= self.high if self.open_high else value > self.high)


def whole_bounds(metadata: Iterable[Any]) -> Bounds | None:
    """The bounds of an integer, both included; None where there is none within 64 bits."""
    low, high = -_LIMIT, _LIMIT - 1
    for which, bound in _ends(metadata):
        if which in ("ge", "gt"):
            low = max(low, math.ceil(bound) if which == "ge" else math.floor(bound) + 1)
        else:
            high = min(high, math.floor(bound) if which == "le" else math.ceil(bound) - 1)
    if low == -_LIMIT and high == _LIMIT - 1:
        return None
    return Bounds(None if low == -_LIMIT else low, None if high == _LIMIT - 1 else high)


def exact_bounds(metadata: Iterable[Any]) -> Bounds | None:
    """The bounds of a Decimal; None where there is none."""
    ends = [
        (which, Decimal(repr(bound)) if isinstance(bound, float) else Decimal(bound))
        for which, bound in _ends(metadata)
    ]
    if not ends:
        return None
    low, open_low = max(((b, which == "gt") for which, b in ends if which[0] == "g"), default=(None, False))
    high, closed_high = min(((b, which == "le") for which, b in ends if which[0] == "l"), default=(None, True))
    return Bounds(low, high, open_low, not closed_high)


def _ends(metadata: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Each constraint that is a number, under its name: ge, gt, le or lt."""
    for constraint in _flat(metadata):
        for which in ("ge", "gt", "le", "lt"):
            bound = getattr(constraint, which, None)
            if isinstance(bound, int | float | Decimal) and not isinstance(bound, bool) and math.isfinite(bound):
                yield which, bound


def _flat(metadata: Iterable[Any]) -> Iterable[Any]:
    """Each constraint by itself; pydantic and annotated_types both know groups of them."""
    for item in metadata:
        if isinstance(item, annotated_types.GroupedMetadata):
            yield from _flat(item)
        elif isinstance(inner := getattr(item, "metadata", None), list):  # a Field within an optional type
            yield from _flat(inner)
        else:
            yield item
