"""Masks, pixel by pixel: grown, shrunk, told apart into pieces; and colours that run on over their edge."""

from __future__ import annotations

import numpy as np

from penstock.studio.modelling.model import Doubles, Floats, Mask, Whole
from penstock.studio.modelling.topology import pieces, spread


def grown(mask: Mask, by: int) -> Mask:
    """With everything that is at most so many pixels away, in rows and columns."""
    for axis in (0, 1):
        wider = mask.copy()
        for step in range(1, by + 1):
            for shift in (step, -step):
                into, out = [slice(None)] * 2, [slice(None)] * 2
                into[axis] = slice(max(shift, 0), shift if shift < 0 else None)
                out[axis] = slice(max(-shift, 0), -shift if shift > 0 else None)
                wider[tuple(into)] |= mask[tuple(out)]
        mask = wider
    return mask


def shrunk(mask: Mask, by: int) -> Mask:
    """Without everything that is at most so many pixels away from its edge; the frame is no edge."""
    return ~grown(~mask, by)


def numbered(mask: Mask, *, diagonal: bool) -> Whole:
    """The pieces of a mask, pixel by pixel, from 1 on; 0 where it is not. They may touch ``diagonal``-ly, or not."""
    rows, columns = mask.shape
    wide = columns + 2
    flat = np.zeros((rows, wide), dtype=np.int8)
    flat[:, 1:-1] = mask
    change = np.diff(flat.ravel(), prepend=0)
    starts, ends = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    reach = 1 if diagonal else 0
    # The runs of the next row that a run touches lie between these two.
    low = np.searchsorted(ends, starts + wide - reach, side="right")
    high = np.searchsorted(starts, ends + wide + reach, side="left")
    counts = np.maximum(high - low, 0)
    touching = np.stack([np.repeat(np.arange(len(starts)), counts), spread(low, counts)], axis=1)
    label = pieces(len(starts), touching) + 1
    found = np.zeros(rows * wide, dtype=np.int64)
    found[spread(starts, ends - starts)] = np.repeat(label, ends - starts)
    return found.reshape(rows, wide)[:, 1:-1]


def pooled(values: Floats, by: int) -> Floats:
    """The mean of squares of so many pixels; what is left over at the right and below counts as 0."""
    rows, columns = (-(-side // by) for side in values.shape[:2])
    filled = np.zeros((rows * by, columns * by, *values.shape[2:]), dtype=np.float32)
    filled[: values.shape[0], : values.shape[1]] = values
    found: Floats = filled.reshape(rows, by, columns, by, *values.shape[2:]).mean(axis=(1, 3), dtype=np.float32)
    return found


def distance(mask: Mask) -> Doubles:
    """How far each pixel of a mask is from the nearest that is not of it, exactly; outside it is 0."""
    rows, columns = mask.shape
    numbers = np.arange(rows)[:, None]
    far = rows + columns
    above = np.maximum.accumulate(np.where(mask, -far, numbers), axis=0)
    below = np.minimum.accumulate(np.where(mask, 2 * far, numbers)[::-1], axis=0)[::-1]
    upright = np.minimum(numbers - above, below - numbers).astype(np.float32) ** 2
    across = (np.arange(columns)[:, None] - np.arange(columns)[None]).astype(np.float32) ** 2
    nearest = np.empty((rows, columns), dtype=np.float32)
    for row in range(rows):
        nearest[row] = (across + upright[row][None]).min(axis=1)
    return np.sqrt(nearest).astype(np.float64)


def bled(colours: Floats, known: Mask) -> Floats:
    """Colours that run on, ever softer, over all pixels where none is known."""
    levels = [(colours * known[..., None], known.astype(np.float32))]
    while max(levels[-1][1].shape) > 1 and (levels[-1][1] == 0).any():
        weighted, weight = levels[-1]
        sums, share = pooled(weighted, 2), pooled(weight, 2)
        full = np.where(share > 0, share, 1.0).astype(np.float32)
        levels.append((sums / full[..., None], (share > 0).astype(np.float32)))
    filled = levels.pop()[0]
    while levels:
        finer, weight = levels.pop()
        rows, columns = weight.shape
        under = _doubled(filled)[:rows, :columns]
        filled = np.where(weight[..., None] > 0, finer, under).astype(np.float32)
    return filled


def _doubled(values: Floats) -> Floats:
    """Twice as large, with soft steps."""
    for axis in (0, 1):
        before = np.concatenate([values.take([0], axis), values.take(range(values.shape[axis] - 1), axis)], axis)
        after = np.concatenate([values.take(range(1, values.shape[axis]), axis), values.take([-1], axis)], axis)
        both = np.stack([0.75 * values + 0.25 * before, 0.75 * values + 0.25 * after], axis=axis + 1)
        shape = list(values.shape)
        shape[axis] *= 2
        values = both.reshape(shape).astype(np.float32)
    return values
