"""Names and wavelengths of lines, in a strip of their own above a spectrum, none on top of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.line_evidence import NEAR, SeenFeature, feature, strong_feature
from penstock.astronomy.products.plots.nova_lines import SpectralLine
from penstock.astronomy.spectrum import Spectrum

COLOUR = "#6b6b6b"
STRIP = 100
"Pixels above the frame that the names need."
NOTE = (
    "dotted: laboratory wavelengths of lines that novae show, where the flux has a peak or a dip within 1,200 km/s "
    "(2,100 if strong); not identifications"
)
_APART, _FURTHEST, _SAME = 13.0, 26.0, 2.0
"Pixels between two names, from a name to its line, and between two lines that are drawn as one."
_LEAD = 14.0
_NEEDED = {1: 3.5, 2: 4.5, 3: 6.0}
"How many times the noise a peak must stand out to be called by a line of each rank: the rarer, the more."
_ONE_PEAK, _AS_NEAR = 0.0008, 0.0002
"Parts of a wavelength: between two places that are one peak, and between two distances that are the same."


def lines_shown(spectrum: Spectrum, lines: Sequence[SpectralLine]) -> tuple[SpectralLine, ...]:
    """Those of the lines at which the spectrum has a peak or a dip, the most usual first; one for each of these."""
    found = [(_at(spectrum, line), line) for line in lines]
    seen = [(one, line) for one, line in found if one is not None]
    apart = _one_peak(spectrum)
    nearest = [(one, line) for one, line in seen if not any(_nearer(other, (one, line), apart) for other in seen)]
    # The nearest line first: where that one is too rare for so small a peak, another is no better name for it.
    kept = [(one, line) for one, line in nearest if one.strength >= _NEEDED[line.rank]]
    return tuple(line for one, line in sorted(kept, key=lambda pair: (pair[1].rank, -pair[0].strength)))


def _at(spectrum: Spectrum, line: SpectralLine) -> SeenFeature | None:
    """A peak or a dip at a line; for lines that nearly all novae show, a strong one somewhat further away as well."""
    near = feature(spectrum.wavelength, spectrum.flux, line.wavelength)
    if near is not None or line.rank > 1:
        return near
    return strong_feature(spectrum.wavelength, spectrum.flux, line.wavelength)


def _one_peak(spectrum: Spectrum) -> float:
    """How far apart two places may be that are one peak, as a part of a wavelength: some pixels, if these are wide."""
    steps = np.diff(spectrum.wavelength) / spectrum.wavelength[1:]
    known = steps[np.isfinite(steps)]
    return max(_ONE_PEAK, min(2.5 * float(np.median(known)), NEAR)) if known.size else _ONE_PEAK


def _nearer(other: tuple[SeenFeature, SpectralLine], this: tuple[SeenFeature, SpectralLine], apart: float) -> bool:
    """Whether another line is a better name for the same peak: nearer to it, or as near and more usual."""
    (one, line), (same, own) = other, this
    if line is own or abs(one.place / same.place - 1) > apart:
        return False
    theirs, ours = abs(one.place / line.wavelength - 1), abs(same.place / own.wavelength - 1)
    if abs(theirs - ours) > _AS_NEAR:
        return theirs < ours
    return (line.rank, theirs, line.wavelength) < (own.rank, ours, own.wavelength)


def mark_lines(axes: Axes, lines: Sequence[SpectralLine]) -> None:
    """Draw a dotted line at each wavelength and its name above the frame; in this order, as long as there is room."""
    box = axes.get_window_extent()
    floor = axes.get_ylim()[0]
    places = {line: float(axes.transData.transform((line.wavelength, floor))[0]) - box.x0 for line in lines}
    for line, at in _with_room(places, box.width).items():
        _mark(axes, line, places[line] / box.width, at / box.width)


def _with_room(places: dict[SpectralLine, float], width: float) -> dict[SpectralLine, float]:
    """Where names stand: those of as many lines as can stand near them."""
    chosen: dict[SpectralLine, float] = {}
    for line in places:
        if any(abs(places[line] - places[other]) < _SAME for other in chosen):
            continue
        trial = sorted([*chosen, line], key=places.__getitem__)
        spread = moved_apart([places[one] for one in trial], low=7, high=width - 7, apart=_APART)
        if all(abs(at - places[one]) <= _FURTHEST for one, at in zip(trial, spread, strict=True)):
            chosen = dict(zip(trial, spread, strict=True))
    return chosen


def _mark(axes: Axes, line: SpectralLine, true: float, at: float) -> None:
    figure = axes.get_figure(root=True)
    assert figure is not None
    top = axes.get_position().y1
    lead = _LEAD / canvas.HEIGHT
    above = blended_transform_factory(axes.transAxes, figure.transFigure)
    thin: dict[str, Any] = {"color": COLOUR, "lw": 0.8, "marker": "", "zorder": 2}
    axes.plot([true, true], [0, 1], transform=axes.transAxes, alpha=0.45, ls=":", **thin)
    axes.plot([true, true, at], [top, top + lead / 3, top + lead], transform=above, ls="-", clip_on=False, **thin)
    place: dict[str, Any] = {"rotation": 90, "ha": "center", "va": "bottom", "transform": above, "zorder": 6}
    axes.text(at, top + lead + 2 / canvas.HEIGHT, line.words, color="#444444", **place, **canvas.words("line"))


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
