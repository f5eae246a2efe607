"""Which stretch of time each frame of a light curve shows, and where it stands in the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.astronomy.products.plots.brightness import Brightness
from penstock.astronomy.products.plots.calendar_axis import FIRST_JD, LAST_JD
from penstock.astronomy.products.plots.plot_canvas import HEIGHT
from penstock.astronomy.spectrum import Floats

LEFT, RIGHT, TOP, BOTTOM = 100, 980, 118, 120
_MIDDLE, _BETWEEN = 590, 30
_OFFSET = 2_400_000
_FEWEST, _CROWDED_INTO = 30, 0.3
"From so many points on, nine tenths of which lie within this part of the time, the outburst has its own frame."


@dataclass(frozen=True, slots=True)
class TimeFrame:
    """One frame: what it shows, of which time, and where."""

    group: Brightness
    ends: tuple[float, float]
    place: dict[str, int]
    highest: bool = True
    lowest: bool = True
    leftmost: bool = True
    most_ticks: int = 8
    calendar_words: str = "Calendar date (UT)"

    @property
    def dated(self) -> bool:
        """Whether its times can be Julian dates."""
        return FIRST_JD <= self.ends[0] <= self.ends[1] <= LAST_JD

    @property
    def offset(self) -> int:
        """What is taken off Julian dates, as is usual."""
        return _OFFSET if self.dated and self.ends[0] > _OFFSET else 0


def time_frames(groups: Sequence[Brightness]) -> list[TimeFrame]:
    """The frames for these groups: one under the other, or the outburst beside the whole."""
    ends = _ends(np.concatenate([group.jd for group in groups]))
    if len(groups) > 1:
        return _rows(groups, ends)
    group = groups[0]
    outburst = _outburst(group)
    if outburst is None:
        return [TimeFrame(group, ends, _place(LEFT, RIGHT))]
    return [
        TimeFrame(group, outburst, _place(LEFT, _MIDDLE), most_ticks=5, calendar_words="Outburst · calendar date (UT)"),
        TimeFrame(
            group, ends, _place(_MIDDLE + _BETWEEN, RIGHT), leftmost=False, most_ticks=4,
            calendar_words="All · calendar date (UT)",
        ),
    ]  # fmt: skip


def _place(left: int, right: int) -> dict[str, int]:
    return {"left": left, "right": right, "top": TOP, "bottom": BOTTOM}


def _rows(groups: Sequence[Brightness], ends: tuple[float, float]) -> list[TimeFrame]:
    height, last = (HEIGHT - TOP - BOTTOM) / len(groups), len(groups) - 1
    return [
        TimeFrame(
            group, ends, highest=row == 0, lowest=row == last,
            place={"left": LEFT, "right": RIGHT, "top": round(TOP + row * height + (12 if row else 0)),
                   "bottom": round(BOTTOM + (last - row) * height)},
        )
        for row, group in enumerate(groups)
    ]  # fmt: skip


def _ends(jd: Floats) -> tuple[float, float]:
    finite = jd[np.isfinite(jd)]
    if finite.size == 0:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    room = max(0.03 * (high - low) or 0.5, 1e-9 * abs(low), 1e-9 * abs(high))
    return low - room, high + room


def _outburst(group: Brightness) -> tuple[float, float] | None:
    """The time in which nine tenths of what was seen lie, if that is a small part of all; None if not."""
    jd = group.jd[np.isfinite(group.jd)]
    seen = group.jd[np.isfinite(group.jd) & ~group.limit]
    if seen.size < _FEWEST:
        return None
    low, high = (float(end) for end in np.percentile(seen, (2, 92)))
    room = 0.08 * (high - low) or 0.5
    narrow = high - low + 2 * room < _CROWDED_INTO * float(jd.max() - jd.min())
    return (low - room, high + room) if narrow else None
