"""Arrows on the frame where values lie beyond it: one for each place, and none on top of another."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from penstock.astronomy.spectrum import Floats

COLOUR = "#b3121d"
_APART = 12.0
"Pixels; places that are nearer to each other are one."


def draw_arrows(axes: Axes, places: Floats, *, up: bool) -> None:
    """Mark these places along the axis; a stretch of many gets one arrow, and a thin line along the frame."""
    box = axes.get_window_extent()
    across = axes.get_xaxis_transform().transform(np.column_stack([places, np.zeros(places.size)]))[:, 0]
    for first, last in merged(np.sort(across - box.x0), apart=_APART):
        _draw_arrow(axes, first / box.width, last / box.width, up=up)


def merged(pixels: Floats, *, apart: float) -> list[tuple[float, float]]:
    """The stretches that ascending places make, when those that are nearer than this are joined."""
    inside = pixels[np.isfinite(pixels)]
    if inside.size == 0:
        return []
    new = np.flatnonzero(np.diff(inside) >= apart)
    firsts, lasts = np.concatenate([[0], new + 1]), np.concatenate([new, [inside.size - 1]])
    return [(float(inside[a]), float(inside[b])) for a, b in zip(firsts, lasts, strict=True)]


def _draw_arrow(axes: Axes, first: float, last: float, *, up: bool) -> None:
    middle, edge = (first + last) / 2, 0.987 if up else 0.013
    axes.plot(
        [middle], [edge], color=COLOUR, linestyle="", marker="^" if up else "v", markersize=5.5, markeredgewidth=0.6,
        markeredgecolor="white", transform=axes.transAxes, zorder=5,
    )  # fmt: skip
    if last - first > 0.01:
        axes.plot(
            [first, last], [1.0, 1.0] if up else [0.0, 0.0], color=COLOUR, linestyle="-", linewidth=2.0, marker="",
            transform=axes.transAxes, zorder=4.9, solid_capstyle="butt", clip_on=False,
        )  # fmt: skip
