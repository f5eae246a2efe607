"""Very many points as what is behind each column of pixels: the least, the median and the greatest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.spectrum import Floats

CROWDED = 3.0
"A line of more points than this for each column of pixels is drawn as what is behind the columns."


@dataclass(frozen=True, slots=True)
class PixelColumns:
    """The middle of each column along the axis, and what is behind it; NaN where that is no finite number.

    A column that no point falls into is not there: where points are sparse, a line leads from one to the next.
    """

    middle: Floats
    least: Floats
    median: Floats
    greatest: Floats
    error: Floats | None
    "The median of the uncertainties."


def is_crowded(points: int, columns: int) -> bool:
    """Whether a line of so many points would be a slab."""
    return points > CROWDED * columns


def pixel_columns(
    wavelength: Floats, flux: Floats, error: Floats | None, ends: tuple[float, float], *, columns: int, log: bool
) -> PixelColumns:
    """What is behind each of so many columns between two ends of an axis."""
    edges = np.geomspace(*ends, columns + 1) if log else np.linspace(*ends, columns + 1)
    good = np.flatnonzero(np.isfinite(flux) & np.isfinite(wavelength))
    column = np.clip(np.searchsorted(edges, wavelength[good], side="right") - 1, 0, columns - 1)
    least, greatest = np.full(columns, np.inf), np.full(columns, -np.inf)
    np.minimum.at(least, column, flux[good])
    np.maximum.at(greatest, column, flux[good])
    there = np.histogram(wavelength[np.isfinite(wavelength)], edges)[0] > 0
    return PixelColumns(
        ((edges[:-1] + edges[1:]) / 2)[there],
        np.where(np.isfinite(least), least, np.nan)[there],
        _medians(column, flux[good], columns)[there],
        np.where(np.isfinite(greatest), greatest, np.nan)[there],
        None if error is None else _medians_of_known(column, error[good], columns)[there],
    )


def _medians_of_known(column: NDArray[np.int64], values: Floats, columns: int) -> Floats:
    known = np.isfinite(values)
    return _medians(column[known], values[known], columns)


def _medians(column: NDArray[np.int64], values: Floats, columns: int) -> Floats:
    """The median of the values of each column; NaN for a column without."""
    ordered = values[np.lexsort((values, column))]
    counts = np.bincount(column, minlength=columns)
    some = counts > 0
    starts = (np.cumsum(counts) - counts)[some]
    lower, upper = starts + (counts[some] - 1) // 2, starts + counts[some] // 2
    found = np.full(columns, np.nan)
    found[some] = ordered[lower] / 2 + ordered[upper] / 2
    return found
