"""Days since an outburst was discovered, or first seen, along a second axis of a light curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from penstock.astronomy.light_curve import LightCurve
from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.calendar_axis import FIRST_JD, LAST_JD, calendar_day
from penstock.astronomy.products.plots.time_frame import TimeFrame

DAYS_HEIGHT = 52
"Pixels that the second axis needs below the first."
_DOWN = 58.0
_LONGEST_WAIT = 100.0
"Days from a discovery to the first point, beyond which the points are those of another outburst."


@dataclass(frozen=True, slots=True)
class DayCount:
    """From when days are counted, and what that was."""

    zero: float
    words: str


def day_count(curve: LightCurve, began: float | None) -> DayCount | None:
    """From the discovery if the points begin soon after it, else from the first that was seen; None without dates."""
    seen = [one.jd for one in curve.measurements if not one.upper_limit and FIRST_JD <= one.jd <= LAST_JD]
    if len(seen) < 2 or max(seen) == min(seen):
        return None
    first = min(seen)
    if began is not None and -_LONGEST_WAIT < first - began < _LONGEST_WAIT:
        return DayCount(began, f"Days since discovery ({calendar_day(began)})")
    return DayCount(first, f"Days since the first point ({calendar_day(first)})")


def put_days(axes: Axes, frame: TimeFrame, days: DayCount | None) -> None:
    """Draw the second axis below the first one of a frame, whose place must be final."""
    if days is None:
        return
    zero = days.zero - frame.offset
    ways: Any = (lambda at: at - zero, lambda day: day + zero)
    below = axes.secondary_xaxis(-_DOWN / axes.get_window_extent().height, functions=ways)
    low, high = (end - days.zero for end in frame.ends)
    canvas.put_ticks(below.xaxis, low, high, most=frame.most_ticks)
    below.grid(visible=False)
    below.tick_params(
        which="both", direction="out", color=canvas.QUIET, labelcolor=canvas.INK, length=3, width=0.8, pad=3.5,
        bottom=True, labelbottom=True, top=False, labeltop=False,
    )  # fmt: skip
    below.spines["bottom"].set(color=canvas.QUIET, linewidth=0.8)
    below.set_xlabel(days.words, color=canvas.QUIET, labelpad=3, **canvas.words("foot"))
