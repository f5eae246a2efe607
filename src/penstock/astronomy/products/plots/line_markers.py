"""Names of lines above a spectrum, none on top of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.nova_lines import SpectralLine

COLOUR = "#6b6b6b"
_APART = 14.0
"Pixels between the names of two lines."


def mark_lines(axes: Axes, lines: Sequence[SpectralLine]) -> None:
    """Draw a dotted line at each wavelength and its name above it; names that would touch are moved apart."""
    box = axes.get_window_extent()
    places = [axes.transData.transform((line.wavelength, axes.get_ylim()[0]))[0] for line in lines]
    spread = moved_apart(places, low=box.x0 + 8, high=box.x1 - 8, apart=_APART)
    for line, name_place in zip(lines, spread, strict=True):
        at = (name_place - box.x0) / box.width
        _mark(axes, line, (axes.transData.transform((line.wavelength, axes.get_ylim()[0]))[0] - box.x0) / box.width, at)


def _mark(axes: Axes, line: SpectralLine, true: float, at: float) -> None:
    across = axes.transAxes
    axes.plot([true, true], [0, 0.875], transform=across, color=COLOUR, alpha=0.45, lw=0.8, ls=":", marker="", zorder=2)
    axes.plot(
        [true, at], [0.875, 0.895], transform=across, color=COLOUR, alpha=0.7, lw=0.8, ls="-", marker="", zorder=2
    )
    place: dict[str, Any] = {"rotation": 90, "ha": "center", "va": "bottom", "transform": across, "zorder": 6}
    halo = [withStroke(linewidth=2.5, foreground="white")]
    axes.text(at, 0.9, line.name, color="#444444", path_effects=halo, **place, **canvas.words("line"))


def moved_apart(places: Sequence[float], *, low: float, high: float, apart: float) -> list[float]:
    """The same places, in order, at least so far apart and within the two ends, each moved as little as is simple."""
    if len(places) > 1:
        apart = min(apart, (high - low) / (len(places) - 1))
    groups: list[list[float]] = []  # where a group's middle would be, how many it has
    for place in places:
        groups.append([place, 1.0])
        while len(groups) > 1 and _touch(groups[-2], groups[-1], apart):
            (first, m), (second, n) = groups[-2:]
            groups[-2:] = [[(first * m + second * n) / (m + n), m + n]]
    found = [middle + (i - (count - 1) / 2) * apart for middle, count in groups for i in range(int(count))]
    return _within(found, low, high, apart)


def _touch(left: Sequence[float], right: Sequence[float], apart: float) -> bool:
    return left[0] + (left[1] - 1) / 2 * apart + apart > right[0] - (right[1] - 1) / 2 * apart


def _within(places: list[float], low: float, high: float, apart: float) -> list[float]:
    for number, place in enumerate(places):
        places[number] = max(place, low + number * apart)
    for number, place in enumerate(reversed(places)):
        places[-1 - number] = min(place, high - number * apart)
    return places
