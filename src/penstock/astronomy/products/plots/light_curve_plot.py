"""A picture of a light curve: brightness over time, a colour and a sign for each band."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from penstock.astronomy.light_curve import LightCurve
from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.assumption_words import assumed_words, unread_words
from penstock.astronomy.products.plots.band_marks import band_marks
from penstock.astronomy.products.plots.band_order import in_order
from penstock.astronomy.products.plots.brightness import Brightness, brightness_by_unit
from penstock.astronomy.products.plots.calendar_axis import calendar_ticks
from penstock.astronomy.products.plots.day_count import DAYS_HEIGHT, day_count, put_days
from penstock.astronomy.products.plots.light_curve_legend import draw_curve_legend
from penstock.astronomy.products.plots.light_curve_points import DrawnPoints, draw_points
from penstock.astronomy.products.plots.observation_words import curve_words
from penstock.astronomy.products.plots.plot_range import padded, shown_exponent, value_range
from penstock.astronomy.products.plots.plot_words import flux_words, printable
from penstock.astronomy.products.plots.time_frame import TimeFrame, time_frames

_MOST_UNITS = 3


def plot_light_curve(
    curve: LightCurve, path: Path, *, title: str, subtitle: str | None = None, began: float | None = None
) -> None:
    """Draw a light curve into a PNG of 1200 × 700 pixels. Magnitudes grow downwards, limits are open triangles.

    Days are counted from ``began``, the Julian date of the discovery, or from the first point.
    """
    figure = light_curve_figure(curve, title=title, subtitle=subtitle, began=began)
    canvas.save_picture(figure, path, title=title)


def light_curve_figure(
    curve: LightCurve, *, title: str, subtitle: str | None = None, began: float | None = None
) -> Figure:
    """The picture before it is saved.

    Each unit has a frame of its own, the three most frequent ones at most. Where most of a long time has hardly any
    points, the outburst gets a frame of its own to the left of all of it.
    """
    figure = canvas.blank_picture(title=title, subtitle=curve_words(curve) if subtitle is None else subtitle)
    groups = brightness_by_unit(curve)
    shown = groups[:_MOST_UNITS] or [Brightness.nothing()]
    marks = band_marks(in_order(one for group in shown for one in group.names))
    drawn: list[DrawnPoints] = []
    days = day_count(curve, began)
    lowest: list[tuple[Axes, TimeFrame]] = []
    for frame in time_frames(shown):
        axes = canvas.add_plot(figure, **frame.place)
        _set_time(axes, frame, curve.time_system)
        low, high, exponent = _set_brightness(axes, frame)
        drawn.append(draw_points(axes, frame, marks, (low, high), exponent))
        lowest += [(axes, frame)] if frame.lowest else []
    draw_curve_legend(figure, shown, marks)
    notes = [note for one in drawn[-len(shown) :] for note in one.words()]  # the last frames show all of the time
    told = list(dict.fromkeys([*notes, *_told(curve, groups, shown)]))
    canvas.add_footnotes(figure, told, room=DAYS_HEIGHT if days else 0)
    for axes, frame in lowest:
        put_days(axes, frame, days)
    return figure


def _set_time(axes: Axes, frame: TimeFrame, system: str) -> None:
    """Julian dates below, without their first digits, and days of the calendar above."""
    low, high = (end - frame.offset for end in frame.ends)
    axes.set_xlim(low, high)
    canvas.put_ticks(axes.xaxis, low, high, most=frame.most_ticks)
    if frame.lowest:
        words = printable(system)[:80] or "JD"
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


def _told(curve: LightCurve, groups: Sequence[Brightness], shown: Sequence[Brightness]) -> list[str]:
    told = [*unread_words(curve.unread), *assumed_words(curve.assumptions)]
    if len(groups) > 1:
        units = ", ".join(group.unit or "no unit" for group in groups)
        told.insert(0, f"bands in {units} are in frames of their own: their values are not comparable")
    if len(groups) > len(shown):
        told.append("not shown: values in " + ", ".join(group.unit or "no unit" for group in groups[len(shown) :]))
    return told
