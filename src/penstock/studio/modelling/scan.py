"""Which pixels triangles cover, for all of them at once: row by row, then along each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.studio.modelling.model import Floats, Whole

_MOST_PIXELS = 60_000_000
"So many are looked at a time: a picture has fewer, however often it is covered."


@dataclass(frozen=True, slots=True)
class Covered:
    """Pixels of triangles; one that several triangles cover is there once for each."""

    triangles: Whole
    x: Whole
    y: Whole


def covered(corners: NDArray[Any], width: int, height: int) -> Covered:
    """The pixels whose middle lies in a triangle, (triangles, 3, 2); of two that share an edge only one has a pixel."""
    corners = np.asarray(corners, dtype=np.float64)
    y = corners[:, :, 1]
    first = np.clip(np.ceil(y.min(axis=1) - 0.5), 0, height).astype(np.int64)
    last = np.clip(np.ceil(y.max(axis=1) - 0.5), 0, height).astype(np.int64)
    triangles, rows = _counted(first, last)
    left, right = _ends(corners, triangles, rows + 0.5)
    first = np.clip(np.ceil(left - 0.5), 0, width).astype(np.int64)
    last = np.clip(np.ceil(right - 0.5), first, width).astype(np.int64)
    if int((last - first).sum()) > _MOST_PIXELS:
        raise MemoryError("more pixels than can be looked at")
    spans, columns = _counted(first, last)
    return Covered(triangles[spans], columns, rows[spans])


def _counted(first: Whole, last: Whole) -> tuple[Whole, Whole]:
    """All numbers from each first to before each last, and which pair each belongs to."""
    counts = np.maximum(last - first, 0)
    owners = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    return owners, np.arange(len(owners)) - starts[owners] + first[owners]


def _ends(corners: NDArray[np.float64], triangles: Whole, y: NDArray[Any]) -> tuple[Any, Any]:
    """Where a line of constant y enters and leaves each triangle."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for one, other in ((0, 1), (1, 2), (2, 0)):
        a, b = corners[:, one], corners[:, other]
        # From the upper end always, so that both triangles of an edge reckon alike.
        swap = (a[:, 1] > b[:, 1]) | ((a[:, 1] == b[:, 1]) & (a[:, 0] > b[:, 0]))
        a, b = np.where(swap[:, None], b, a), np.where(swap[:, None], a, b)
        rise = b[:, 1] - a[:, 1]
        slope = np.where(rise > 0, (b[:, 0] - a[:, 0]) / np.where(rise > 0, rise, 1), 0)
        x = a[triangles, 0] + (y - a[triangles, 1]) * slope[triangles]
        crossed = (a[triangles, 1] <= y) & (y < b[triangles, 1])
        left, right = np.where(crossed, np.minimum(left, x), left), np.where(crossed, np.maximum(right, x), right)
    empty = ~np.isfinite(left)
    return np.where(empty, 0, left), np.where(empty, 0, right)


def planes(corners: NDArray[Any], values: NDArray[Any]) -> Floats:
    """What values at corners are elsewhere: (triangles, 3) that are multiplied by x, y and 1."""
    corners = np.asarray(corners, dtype=np.float64)
    (ax, ay), (bx, by), (cx, cy) = (corners[:, n].T for n in range(3))
    a, b, c = np.asarray(values, dtype=np.float64).T
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    area = np.where(np.abs(area) < 1e-12, 1e-12, area)
    by_x = ((b - a) * (cy - ay) - (c - a) * (by - ay)) / area
    by_y = ((c - a) * (bx - ax) - (b - a) * (cx - ax)) / area
    return np.stack([by_x, by_y, a - by_x * ax - by_y * ay], axis=1).astype(np.float32)
