"""The points of a light curve inside one frame: limits behind, bands with few points before those with many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from penstock.astronomy.products.plots.band_marks import BandMark
from penstock.astronomy.products.plots.brightness import Brightness
from penstock.astronomy.products.plots.edge_arrows import draw_arrows
from penstock.astronomy.products.plots.thinning import DRAWN_POINTS, one_of_each_cell, spread_points
from penstock.astronomy.products.plots.time_frame import TimeFrame
from penstock.astronomy.spectrum import Floats

_CROWDED = 2_000
"So many points in one frame lose the white rims that set them apart: there would be nothing else left."
_LIMIT_CELL = (8.0, 8.0)
"Pixels of a cell in which one limit of a band stands for all."
_FRAME_HEIGHT = 450.0


@dataclass(frozen=True, slots=True)
class DrawnPoints:
    """How many of which points of a frame are drawn."""

    seen: int
    of_seen: int
    limits: int
    of_limits: int
    beyond: int

    def words(self) -> list[str]:
        """What is to be said below the picture."""
        told = []
        if self.beyond:
            verb = "points lie" if self.beyond > 1 else "point lies"
            told.append(f"{self.beyond:,} {verb} beyond the range shown (red arrows)")
        if self.seen < self.of_seen:
            told.append(f"{self.seen:,} of {self.of_seen:,} points are drawn; the others lie among them")
        if self.limits < self.of_limits:
            told.append(f"{self.limits:,} of {self.of_limits:,} limits are drawn; the others lie among them")
        return told


def draw_points(
    axes: Axes, frame: TimeFrame, marks: dict[str, BandMark], ends: tuple[float, float], exponent: int
) -> DrawnPoints:
    """Draw what a frame shows of its group, whose values are divided by this power of ten."""
    group = frame.group
    jd, value, error = group.jd - frame.offset, group.value / 10.0**exponent, group.error / 10.0**exponent
    inside = np.flatnonzero((group.jd >= frame.ends[0]) & (group.jd <= frame.ends[1]) & np.isfinite(value))
    seen, limits = inside[~group.limit[inside]], inside[group.limit[inside]]
    kinds = np.unique(group.band[seen], return_inverse=True)[1].astype(np.int64)
    chosen = seen[spread_points(jd[seen], np.clip(value[seen], *ends), kinds, most=DRAWN_POINTS)]
    drawn_limits = 0
    for turn, name in enumerate(_many_first(group, seen, marks)):
        here, limit = chosen[group.band[chosen] == name], limits[group.band[limits] == name]
        few = limit[_thinned_limits(axes, jd[limit], np.clip(value[limit], *ends), ends)]
        drawn_limits += few.size
        axes.plot(jd[few], value[few], zorder=2.2, **marks[name].limit())
        _draw_errors(axes, jd[here], value[here], error[here], marks[name])
        look = marks[name].seen(crowded=seen.size > _CROWDED)
        axes.plot(jd[here], value[here], label=name, zorder=3 + turn / 1000, **look)
    beyond = _mark_beyond(axes, group, jd, value, ends)
    return DrawnPoints(chosen.size, seen.size, drawn_limits, limits.size, beyond)


def _many_first(group: Brightness, seen: NDArray[np.intp], marks: dict[str, BandMark]) -> list[str]:
    found, counts = np.unique(group.band[seen], return_counts=True)
    count = dict(zip(found.tolist(), counts.tolist(), strict=True))
    return sorted(marks, key=lambda name: (-count.get(name, 0), name))


def _thinned_limits(axes: Axes, jd: Floats, value: Floats, ends: tuple[float, float]) -> NDArray[np.intp]:
    """One of those that would stand on top of each other; cells are counted over what the limits span."""
    if jd.size == 0:
        return np.arange(0)
    box, (first, last) = axes.get_window_extent(), axes.get_xlim()
    across = float(np.ptp(jd)) / ((last - first) or 1.0) * box.width
    down = float(np.ptp(value)) / ((ends[1] - ends[0]) or 1.0) * _FRAME_HEIGHT
    columns, rows = max(1, round(across / _LIMIT_CELL[0])), max(1, round(down / _LIMIT_CELL[1]))
    return one_of_each_cell(jd, value, columns=columns, rows=rows)


def _draw_errors(axes: Axes, jd: Floats, value: Floats, error: Floats, mark: BandMark) -> None:
    known = np.isfinite(error) & (error > 0)
    if known.any():
        axes.vlines(
            jd[known], value[known] - error[known], value[known] + error[known], color=mark.colour, linewidth=0.8,
            alpha=0.55, linestyle="-", zorder=2.8,
        )  # fmt: skip


def _mark_beyond(axes: Axes, group: Brightness, jd: Floats, value: Floats, ends: tuple[float, float]) -> int:
    """Small arrows on the frame wherever values lie above or below it; how many there are."""
    low, high = axes.get_xlim()
    here = (jd >= low) & (jd <= high)
    less, more = here & (value < ends[0]), here & (value > ends[1])
    draw_arrows(axes, jd[less], up=group.magnitudes)
    draw_arrows(axes, jd[more], up=not group.magnitudes)
    return int(np.count_nonzero(less) + np.count_nonzero(more))
