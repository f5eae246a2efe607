"""The legend of a light curve: bands in order of wavelength, how often each was seen, and what the signs mean."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.band_marks import BandMark
from penstock.astronomy.products.plots.band_order import meaning
from penstock.astronomy.products.plots.brightness import Brightness
from penstock.astronomy.products.plots.time_frame import RIGHT, TOP
from penstock.astronomy.products.plots.uncertainty_band import percent

_MOST_NAMED, _MOST_EXPLAINED = 18, 10
_LEFT = RIGHT + 14
_WIDTH = canvas.WIDTH - _LEFT - 34
"Pixels for the words of one line."
_LETTERS = 20


def draw_curve_legend(figure: Figure, groups: Sequence[Brightness], marks: dict[str, BandMark]) -> None:
    """Bands with their numbers of detections and limits, and what else is drawn, to the right of the frame."""
    shown = list(marks.items())[:_MOST_NAMED]
    explained = len(shown) <= _MOST_EXPLAINED
    handles = [
        mark.handle(_band_words(groups, name, explained=explained), limit=not _seen(groups, name))
        for name, mark in shown
    ]
    if len(marks) > len(shown):
        handles.append(BandMark.nothing().handle(f"… {len(marks) - len(shown)} more"))
    handles += _signs(groups)
    if handles:
        _put(figure, handles)


def _put(figure: Figure, handles: list[Line2D]) -> None:
    corner = (_LEFT / canvas.WIDTH, 1 - TOP / canvas.HEIGHT)
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": corner, "title": "Band, points"}
    look = {**canvas.LEGEND, "handlelength": 1.0, "borderaxespad": 0, "borderpad": 0.0, "alignment": "left"}
    legend = figure.legend(handles=handles, prop=canvas.font("side"), **place, **look)
    canvas.set_legend(legend, role="side")
    for text in legend.get_texts():
        first, *rest = text.get_text().split("\n")
        canvas.fit(text, first, _WIDTH)
        text.set_text("\n".join([text.get_text(), *rest]))


def _band_words(groups: Sequence[Brightness], name: str, *, explained: bool) -> str:
    """Such as ``Vis. 310 + 1,639 limits``, and what the band is where its name does not say it."""
    seen = _seen(groups, name)
    limits = sum(int(np.count_nonzero((group.band == name) & group.limit)) for group in groups)
    counted = [f"{seen:,}"] if seen or not limits else []
    if limits:
        counted.append(f"{limits:,} limit{'s' if limits > 1 else ''}")
    words = f"{name}  {' + '.join(counted)}"
    told = wrap(f"({meaning(name)})", _LETTERS) if explained and meaning(name) else []
    return "\n".join([words, *told])


def _seen(groups: Sequence[Brightness], name: str) -> int:
    return sum(int(np.count_nonzero((group.band == name) & ~group.limit)) for group in groups)


def _signs(groups: Sequence[Brightness]) -> list[Line2D]:
    """Open triangles and bars, if there are any."""
    found = []
    if any(group.limit.any() for group in groups):
        found.append(BandMark.any_limit().handle("hollow: upper limit,\nin its band's colour", limit=True))
    if typical := _typical(groups):
        bar = BandMark("#333333", "|").handle(f"±1σ, typically\n{typical}")
        bar.set(markersize=11, markeredgecolor="#333333", markeredgewidth=0.8)
        found.append(bar)
    return found


def _typical(groups: Sequence[Brightness]) -> str:
    """How large errors are, in the unit of the first group that has some; as parts, where it is one of fluxes."""
    for group in groups:
        known = np.isfinite(group.error) & (group.error > 0) & ~group.limit
        if not known.any():
            continue
        if group.magnitudes:
            return f"{float(np.median(group.error[known])):.2g} {group.unit}"
        parts = group.error[known] / np.abs(group.value[known])
        return percent(float(np.median(parts[np.isfinite(parts)]))) if np.isfinite(parts).any() else "not known"
    return ""
