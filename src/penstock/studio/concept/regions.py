"""Connected regions of a mask, without anything but NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def regions(mask: Mask) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """A number for each pixel by the region it is in, 0 outside of all, and how many pixels have each number.

    Runs of pixels in a row are joined with those they touch in the row above, so that it takes as long as there are
    runs, and not pixels.
    """
    rows, starts, stops = _runs(mask)
    parents = list(range(len(rows) + 1))

    def root(n: int) -> int:
        while parents[n] != n:
            parents[n] = parents[parents[n]]
            n = parents[n]
        return n

    first = np.searchsorted(rows, np.arange(mask.shape[0] + 1))
    for row in range(1, mask.shape[0]):
        above, here = int(first[row - 1]), int(first[row])
        end_above, end = here, int(first[row + 1])
        while above < end_above and here < end:
            if stops[above] > starts[here] and stops[here] > starts[above]:
                one, other = root(above + 1), root(here + 1)
                parents[max(one, other)] = min(one, other)
            if stops[above] < stops[here]:
                above += 1
            else:
                here += 1
    roots = np.array([root(n) for n in range(len(parents))], dtype=np.int64)
    _, numbers = np.unique(roots, return_inverse=True)
    labels = np.zeros(mask.shape, dtype=np.int32)
    for n in range(len(rows)):
        labels[rows[n], starts[n] : stops[n]] = numbers[n + 1]
    return labels, np.bincount(labels.ravel(), minlength=int(numbers.max()) + 1)


def _runs(mask: Mask) -> tuple[NDArray[np.int64], list[int], list[int]]:
    """Row, beginning and end of each run, in order."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), dtype=np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    _, stops = np.nonzero(steps == -1)
    return rows, starts.tolist(), stops.tolist()
