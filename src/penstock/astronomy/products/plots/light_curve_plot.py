"""A picture of a light curve: brightness over time, a colour and a sign for each band."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from penstock.astronomy.light_curve import LightCurve
from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.band_marks import BandMark, band_marks
from penstock.astronomy.products.plots.brightness import Brightness, brightness_by_unit
from penstock.astronomy.products.plots.calendar_axis import calendar_ticks
from penstock.astronomy.products.plots.plot_range import padded, shown_exponent, value_range
from penstock.astronomy.products.plots.plot_words import flux_words, printable
from penstock.astronomy.products.plots.thinning import DRAWN_POINTS, spread_points
from penstock.astronomy.products.plots.time_frame import RIGHT, TOP, TimeFrame, time_frames
from penstock.astronomy.spectrum import Floats

_MOST_UNITS, _MOST_NAMED = 2, 18
_CROWDED = 2_000
"So many points in one frame lose the white rims that set them apart: there would be nothing else left."
_BEYOND = "#b3121d"


def plot_light_curve(curve: LightCurve, path: Path, *, title: str, subtitle: str = "") -> None:
    """Draw a light curve into a PNG of 1200 × 700 pixels. Magnitudes grow downwards, limits are open triangles."""
    canvas.save_picture(light_curve_figure(curve, title=title, subtitle=subtitle), path, title=title)


def light_curve_figure(curve: LightCurve, *, title: str, subtitle: str = "") -> Figure:
    """The picture before it is saved.

    Each unit has a frame of its own, the two most frequent ones at most. Where most of a long time has hardly any
    points, the outburst gets a frame of its own to the left of all of it.
    """
    figure = canvas.blank_picture(title=title, subtitle=subtitle)
    groups = brightness_by_unit(curve)
    shown = groups[:_MOST_UNITS] or [Brightness.nothing()]
    marks = band_marks(one for group in shown for one in group.names)
    notes: list[str] = []
    for frame in time_frames(shown):
        axes = canvas.add_plot(figure, **frame.place)
        _set_time(axes, frame, curve.time_system)
        notes += _draw_group(axes, frame, marks)
    _draw_legend(figure, shown, marks)
    canvas.add_footnotes(figure, list(dict.fromkeys([*_told(curve, groups, shown), *notes])))
    return figure


def _set_time(axes: Axes, frame: TimeFrame, system: str) -> None:
    """Julian dates below, without their first digits, and days of the calendar above."""
    low, high = (end - frame.offset for end in frame.ends)
    axes.set_xlim(low, high)
    canvas.put_ticks(axes.xaxis, low, high, most=frame.most_ticks)
    if frame.lowest:
        words = printable(system)[:40] or "JD"
        axes.set_xlabel(
            f"{words} − 2\u2009400\u2009000 (days)" if frame.offset else f"{words} (days)",
            color=canvas.INK, labelpad=6, **canvas.words("label"),
        )  # fmt: skip
    else:
        axes.tick_params(axis="x", labelbottom=False)
    if frame.highest and frame.dated:
        _set_calendar(axes, frame)


def _set_calendar(axes: Axes, frame: TimeFrame) -> None:
    above = axes.twiny()
    canvas.frame_axes(above, top=True)
    above.grid(visible=False)
    above.set_xlim(*frame.ends)
    ticks = calendar_ticks(*frame.ends, most=max(3, frame.most_ticks - 1))
    canvas.put_labels(above.xaxis, [jd for jd, _ in ticks], [words for _, words in ticks])
    above.set_xlabel(frame.calendar_words, color=canvas.QUIET, labelpad=4, **canvas.words("foot"))


def _draw_group(axes: Axes, frame: TimeFrame, marks: dict[str, BandMark]) -> list[str]:
    group = frame.group
    low, high, exponent = _set_brightness(axes, frame)
    jd, value, error = group.jd - frame.offset, group.value / 10.0**exponent, group.error / 10.0**exponent
    inside = np.flatnonzero((group.jd >= frame.ends[0]) & (group.jd <= frame.ends[1]) & np.isfinite(value))
    kinds = np.unique(group.band[inside], return_inverse=True)[1] * 2 + group.limit[inside]
    drawn = inside[spread_points(jd[inside], np.clip(value[inside], low, high), kinds, most=DRAWN_POINTS)]
    for name, mark in marks.items():
        here = drawn[group.band[drawn] == name]
        seen, limit = here[~group.limit[here]], here[group.limit[here]]
        _draw_errors(axes, jd[seen], value[seen], error[seen], mark)
        axes.plot(jd[seen], value[seen], label=name, zorder=3, **mark.seen(crowded=inside.size > _CROWDED))
        axes.plot(jd[limit], value[limit], zorder=2.5, **mark.limit())
    beyond = _mark_beyond(axes, group, jd, value, (low, high))
    return _remarks(beyond, drawn.size, inside.size)


def _set_brightness(axes: Axes, frame: TimeFrame) -> tuple[float, float, int]:
    """Range, direction and words of the axis; how far it goes, and the power of ten it is divided by."""
    group = frame.group
    low, high = value_range(group.value) or (0.0, 1.0)
    exponent = 0 if group.magnitudes else shown_exponent(low, high)
    if group.magnitudes:
        room = 0.06 * (high - low) or 0.5
        low, high = low - room, high + room
        axes.set_ylim(high, low)
        words = f"Magnitude ({group.unit})"
    else:
        low, high = padded(low / 10.0**exponent, high / 10.0**exponent)
        axes.set_ylim(low, high)
        words = flux_words(group.unit, exponent)
    canvas.put_ticks(axes.yaxis, low, high, most=8)
    if frame.leftmost:
        axes.set_ylabel(printable(words), color=canvas.INK, labelpad=8, **canvas.words("label"))
    else:
        axes.tick_params(axis="y", labelleft=False)
    return low, high, exponent


def _draw_errors(axes: Axes, jd: Floats, value: Floats, error: Floats, mark: BandMark) -> None:
    known = np.isfinite(error) & (error > 0)
    if known.any():
        axes.vlines(
            jd[known], value[known] - error[known], value[known] + error[known], color=mark.colour, linewidth=0.8,
            alpha=0.55, linestyle="-", zorder=2.8,
        )  # fmt: skip


def _mark_beyond(axes: Axes, group: Brightness, jd: Floats, value: Floats, ends: tuple[float, float]) -> int:
    """Small arrows on the frame where values lie above or below it; how many there are."""
    beyond = np.flatnonzero((value < ends[0]) | (value > ends[1]))
    for place in beyond[:40]:
        up = bool(value[place] > ends[1]) != group.magnitudes
        axes.plot(
            [jd[place]], [0.985 if up else 0.015], marker="^" if up else "v", markersize=5, color=_BEYOND, linestyle="",
            transform=axes.get_xaxis_transform(), zorder=5,
        )  # fmt: skip
    return int(beyond.size)


def _remarks(beyond: int, drawn: int, possible: int) -> list[str]:
    told = []
    if beyond:
        told.append(f"{beyond:,} point{'s lie' if beyond > 1 else ' lies'} beyond the range shown (red arrows)")
    if drawn < possible:
        told.append(f"{drawn:,} of {possible:,} points are drawn; the others lie among them")
    return told


def _draw_legend(figure: Figure, groups: Sequence[Brightness], marks: dict[str, BandMark]) -> None:
    """Bands with their numbers of points, and the sign of upper limits, to the right of the frame."""
    handles = [mark.handle(f"{name} ({_count(groups, name):,})") for name, mark in list(marks.items())[:_MOST_NAMED]]
    if len(marks) > _MOST_NAMED:
        handles.append(BandMark.nothing().handle(f"… {len(marks) - _MOST_NAMED} more"))
    if any(group.limit.any() for group in groups):
        handles.append(BandMark.any_limit().handle("upper limit", limit=True))
    if not handles:
        return
    place: dict[str, Any] = {
        "loc": "upper left",
        "bbox_to_anchor": ((RIGHT + 14) / canvas.WIDTH, 1 - TOP / canvas.HEIGHT),
    }
    look = {**canvas.LEGEND, "handlelength": 1.2, "borderaxespad": 0, "alignment": "left"}
    canvas.set_legend(
        figure.legend(handles=handles, title="Band (points)", prop=canvas.font("legend"), **place, **look)
    )


def _count(groups: Sequence[Brightness], name: str) -> int:
    return sum(int(np.count_nonzero(group.band == name)) for group in groups)


def _told(curve: LightCurve, groups: Sequence[Brightness], shown: Sequence[Brightness]) -> list[str]:
    told = [f"Assumed: {one.about.replace('_', ' ')} = {one.value} ({one.why})" for one in curve.assumptions]
    if curve.unread:
        told.append(f"{len(curve.unread):,} rows of the table could not be read and are not shown")
    if len(groups) > len(shown):
        told.append("not shown: values in " + ", ".join(group.unit or "no unit" for group in groups[len(shown) :]))
    return told
