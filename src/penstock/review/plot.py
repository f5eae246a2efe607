"""Curves for a viewer: columns of numbers with their units, thinned so that a browser draws them at once.

Thinning keeps what the eye would miss: of each stretch of a curve its first and last point, its lowest and its highest.
So a narrow line of a spectrum, and the one bright night of a light curve, are there at any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from math import isfinite
from typing import Any

MOST_POINTS = 20_000
"Of all series of a plot together."
MOST_SERIES = 200
_OF_A_STRETCH = 4
_DIGITS = 12
"Significant ones: a Julian date is told to a second."


class AxisScale(StrEnum):
    """How an axis is meant to be drawn first; whoever looks may choose otherwise."""

    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"


@dataclass(frozen=True, slots=True)
class PlotAxis:
    """An axis: what it shows, in which unit, and how."""

    label: str
    unit: str = ""
    scale: AxisScale = AxisScale.LINEAR
    inverted: bool = False
    "Small values are at the top, as those of magnitudes are."


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """One curve. All columns have one length; where nothing is known, None stands."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    error: Sequence[float | None] | None = None
    "One standard deviation of y, in its unit."
    limit: Sequence[bool] | None = None
    "Where it is true, the true value lies beyond: it was not seen."
    unit: str = ""
    "Of y, where it is another than the axis says."
    total: int = 0
    "Points before they were thinned."


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """Curves on common axes."""

    kind: str
    "spectrum or light_curve."
    title: str
    x: PlotAxis
    y: PlotAxis
    series: tuple[PlotSeries, ...]
    assumptions: tuple[str, ...] = ()
    "What the file does not say and was supplied."

    def thinned(self, most: int = MOST_POINTS) -> CurvePlot:
        """With at most so many points, the extremes among them; each series keeps its share."""
        shown = self.series[:MOST_SERIES]
        total = sum(len(each.x) for each in shown)
        if total <= most:
            return replace(self, series=tuple(_whole(each) for each in shown))
        shares = [max(2 * _OF_A_STRETCH, most * len(each.x) // total) for each in shown]
        while sum(shares) > most and max(shares) > 2 * _OF_A_STRETCH:  # many small ones have taken more than theirs
            shares[shares.index(max(shares))] -= min(sum(shares) - most, max(shares) - 2 * _OF_A_STRETCH)
        return replace(self, series=tuple(_thinned(each, share) for each, share in zip(shown, shares, strict=True)))

    def to_json(self) -> dict[str, Any]:
        """As plain values, each number with as many digits as can be seen."""
        told = asdict(self)
        for series in told["series"]:
            for column in ("x", "y", "error"):
                if series[column] is not None:
                    series[column] = [_rounded(value) for value in series[column]]
        return told


def _rounded(value: float | None) -> float | None:
    if value is None or not isfinite(value):
        return None
    return float(f"{float(value):.{_DIGITS}g}") if value else 0.0


def _whole(series: PlotSeries) -> PlotSeries:
    return replace(series, total=len(series.x))


def _thinned(series: PlotSeries, most: int) -> PlotSeries:
    chosen = kept_points([_known(y) for y in series.y], most)
    return replace(
        series,
        x=[series.x[n] for n in chosen],
        y=[series.y[n] for n in chosen],
        error=None if series.error is None else [series.error[n] for n in chosen],
        limit=None if series.limit is None else [series.limit[n] for n in chosen],
        total=len(series.x),
    )


def _known(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def kept_points(values: Sequence[float | None], most: int) -> list[int]:
    """Which points of a curve are kept, in order: of each stretch the ends, the lowest, the highest, and a gap."""
    count = len(values)
    if count <= most:
        return list(range(count))
    stretches = max(1, most // _OF_A_STRETCH)
    chosen: list[int] = []
    for stretch in range(stretches):
        begin, end = stretch * count // stretches, (stretch + 1) * count // stretches
        known = [(value, n) for n in range(begin, end) if (value := values[n]) is not None]
        extremes = {min(known)[1], max(known)[1]} if known else set()
        chosen += sorted({begin, end - 1, *extremes})
    return chosen
