"""Fewer points that look the same: a picture has a thousand columns, however many points there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.spectrum import Floats

COLUMNS = 4_000
"A line of more than four times as many points is thinned to the least and the greatest of so many stretches."
DRAWN_POINTS = 20_000
"So many points of a light curve are drawn at most."
_JUMP = 8.0


def with_gaps(wavelength: Floats, *values: Floats) -> tuple[Floats, ...]:
    """The same, with a point of NaN where the wavelength jumps over many steps: no line is drawn across.

    A step is a jump if it is eight times as long as both of its neighbours.
    """
    if wavelength.size < 8:
        return wavelength, *values
    steps = np.diff(wavelength)
    beside = np.maximum(np.append(steps[1:], steps[-2]), np.insert(steps[:-1], 0, steps[1]))
    jumps = np.flatnonzero(steps > _JUMP * beside)
    middles = wavelength[jumps] + steps[jumps] / 2
    return np.insert(wavelength, jumps + 1, middles), *(np.insert(one, jumps + 1, np.nan) for one in values)


def thinned(wavelength: Floats, flux: Floats) -> tuple[Floats, Floats]:
    """Points whose line covers the same pixels; a stretch that has a gap keeps one."""
    if flux.size <= 4 * COLUMNS:
        return wavelength, flux
    stretches = _stretches(flux)
    finite = np.isfinite(stretches)
    least = np.where(finite, stretches, np.inf).argmin(axis=1)
    greatest = np.where(finite, stretches, -np.inf).argmax(axis=1)
    chosen = np.stack([np.minimum(least, greatest), np.maximum(least, greatest)], axis=1)
    at = chosen + np.arange(len(stretches))[:, None] * stretches.shape[1]
    at = np.minimum(at, flux.size - 1)
    gap = np.where(finite.all(axis=1), flux[at[:, 1]], np.nan)
    ys = np.column_stack([flux[at[:, 0]], flux[at[:, 1]], gap])
    xs = np.column_stack([wavelength[at[:, 0]], wavelength[at[:, 1]], wavelength[at[:, 1]]])
    return xs.ravel(), ys.ravel()


def _stretches(values: Floats) -> Floats:
    length = -(-values.size // COLUMNS)
    missing = -values.size % length
    return np.pad(values, (0, missing), mode="edge").reshape(-1, length)


def spread_points(x: Floats, y: Floats, kinds: NDArray[np.int64], *, most: int) -> NDArray[np.intp]:
    """At most so many points, as places in the arrays: one of each kind in each little cell, then evenly fewer."""
    if x.size <= most:
        return np.arange(x.size)
    cells = (kinds.astype(np.int64) * 600 + _cells(x, 600)) * 300 + _cells(y, 300)
    _, first = np.unique(cells, return_index=True)
    first.sort()
    chosen: NDArray[np.intp] = np.asarray(first, dtype=np.intp)
    return chosen if chosen.size <= most else chosen[np.linspace(0, chosen.size - 1, most).astype(np.intp)]


def one_of_each_cell(x: Floats, y: Floats, *, columns: int, rows: int) -> NDArray[np.intp]:
    """The first point in each cell of a grid over all of them, as places in the arrays."""
    if x.size == 0:
        return np.arange(0)
    _, first = np.unique(_cells(x, columns) * rows + _cells(y, rows), return_index=True)
    return np.sort(np.asarray(first, dtype=np.intp))


def _cells(values: Floats, count: int) -> NDArray[np.int64]:
    low, high = np.nanmin(values), np.nanmax(values)
    width = (high - low) or 1.0
    found: NDArray[np.int64] = np.clip(np.nan_to_num((values - low) / width) * count, 0, count - 1).astype(np.int64)
    return found
