"""Ticks of logarithmic axes: many that are named, none on top of another, and small ones between."""

from __future__ import annotations

import math
from collections.abc import Sequence

_ORDER = ((1,), (2, 5), (3,), (1.5,), (1.2, 4, 6, 8), (2.5, 7, 9))
"Multiples of powers of ten, the roundest first."
_APART = 56.0
"Pixels that a named tick needs."


def named_ticks(low: float, high: float, *, pixels: float) -> list[float]:
    """Round numbers between two ends, as many as have room side by side on so many pixels."""
    scale = pixels / math.log10(high / low)
    chosen: list[float] = []
    for multiples in _ORDER:
        for value in _multiples(multiples, low, high):
            if all(abs(math.log10(value / other)) * scale >= _APART for other in chosen):
                chosen.append(value)
    return sorted(chosen)


def small_ticks(low: float, high: float) -> list[float]:
    """Every whole multiple of each power of ten, and tenths of the first where that leaves few; not more than 200."""
    ticks = _multiples(range(1, 10), low, high)
    if high < 100 * low:
        ticks = sorted({*ticks, *_multiples([n / 10 for n in range(10, 30)], low, high)})
    return ticks[:200]


def _multiples(multiples: Sequence[float], low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    return [n * 10.0**power for power in powers for n in multiples if low <= n * 10.0**power <= high]
