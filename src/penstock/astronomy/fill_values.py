"""Which points of a spectrum were never measured, though a number stands there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.spectrum import Floats

_LONG_RUN = 5
"So many zeros in a row, among numbers with fractions, were put there by a program."


def fill_values(flux: Floats, uncertainty: Floats | None) -> NDArray[np.bool_]:
    """Where a flux of exactly zero stands for none at all; nowhere, if that would be everywhere.

    It does if its error is zero or not known while others are, if it is at an end of the spectrum, and if it is one of
    several in a row. Whole numbers are counts, of which zero is one: of those only zeros at the ends are meant.
    """
    zero = np.asarray(flux) == 0
    if not zero.any() or zero.all():
        return np.zeros(zero.shape, dtype=bool)
    found: NDArray[np.bool_] = zero & _at_an_end(zero)
    if not _whole_numbers(flux):
        found |= _in_long_runs(zero)
        if uncertainty is not None and (uncertainty > 0).any():
            found |= zero & ~(uncertainty > 0)
    return found


def _at_an_end(zero: NDArray[np.bool_]) -> NDArray[np.bool_]:
    measured = np.flatnonzero(~zero)
    places = np.arange(zero.size)
    return np.asarray((places < measured[0]) | (places > measured[-1]))


def _in_long_runs(zero: NDArray[np.bool_]) -> NDArray[np.bool_]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], zero, [False]]).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    long = ends - starts >= _LONG_RUN
    change = np.zeros(zero.size + 1, dtype=np.int64)
    change[starts[long]] = 1
    change[ends[long]] = -1
    return np.asarray(np.cumsum(change)[:-1] > 0)


def _whole_numbers(flux: Floats) -> bool:
    finite = flux[np.isfinite(flux)]
    return bool((finite == np.rint(finite)).all())
