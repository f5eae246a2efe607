"""Which places in space a body fills, as cubes: what is inside, how thick it is, what lies between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.studio.modelling.model import Doubles, Mask, Whole
from penstock.studio.modelling.scan import covered, planes

_FEWEST = 8
_LONGEST = 160
"Cells along one axis at most: a ribbon of a body gets larger ones."


@dataclass(frozen=True)
class Occupancy:
    """A body in cells, with an empty one around it on every side."""

    origin: Doubles
    "The lower corner of the first cell."
    cell: float
    filled: Mask
    "(x, y, z)"

    @cached_property
    def centres(self) -> Doubles:
        """The middles of all that is filled."""
        return self.origin + (np.argwhere(self.filled) + 0.5) * self.cell

    @cached_property
    def depths(self) -> Whole:
        """How many cells each place of ``centres`` lies below the surface."""
        depth = np.zeros(self.filled.shape, dtype=np.int64)
        left = self.filled
        while left.any():
            depth += left
            left = _shrunk(left)
        return depth[self.filled]

    def places(self, points: NDArray[Any]) -> Whole:
        """The cells points lie in, within the grid."""
        cells = np.floor((points - self.origin) / self.cell).astype(np.int64)
        return np.clip(cells, 0, np.array(self.filled.shape) - 1)

    def holds(self, points: NDArray[Any]) -> Mask:
        """Which points are inside."""
        cells = self.places(points)
        return self.filled[cells[..., 0], cells[..., 1], cells[..., 2]]

    def beneath(self, points: Doubles, inward: Doubles) -> Doubles:
        """Points of the surface, moved inward as far as it takes to be inside; a little, where that is in vain."""
        found = points + 0.5 * self.cell * inward
        for depth in (2.0, 1.5, 1.0, 0.5):
            moved = points + depth * self.cell * inward
            found = np.where(self.holds(moved)[:, None], moved, found)
        return found

    def steps(self, points: Doubles, bones: list[Doubles]) -> Whole:
        """How many cells the way through the body is from each of up to 32 bones to each point; -1 if there is none.

        Every other step may go askew. All bones go at once, each in a bit of its own; they stop a while after every
        point has been reached by one, for what is much farther than another does not matter.
        """
        seen = np.zeros(self.filled.shape, dtype=np.uint32)
        for n, bone in enumerate(bones):
            seen[tuple(self.places(bone).T)] |= np.uint32(1 << n)
        seen[~self.filled] = 0
        cells, back = np.unique(np.ravel_multi_index(tuple(self.places(points).T), seen.shape), return_inverse=True)
        bits = np.uint32(1) << np.arange(len(bones), dtype=np.uint32)
        inside = self.filled.ravel()[cells]
        found = np.full((len(cells), len(bones)), -1, dtype=np.int64)
        count, last = 0, sum(self.filled.shape)
        while count <= last:
            there = (seen.ravel()[cells][:, None] & bits) > 0
            found[there & (found < 0)] = count
            if last == sum(self.filled.shape) and there.any(axis=1)[inside].all():
                last = round(1.3 * count) + 12
            grown = _spread(seen, askew=count % 2 == 0)
            grown[~self.filled] = 0
            if (grown == seen).all():
                break
            seen, count = grown, count + 1
        return found[back]

    def brought_inside(self, points: Doubles) -> Doubles:
        """The points, those outside moved to where the body is near and not too thin."""
        # Deep places draw: a joint at the surface would tear it.
        pull = (np.minimum(self.depths, 4) * 0.5 * self.cell) ** 2
        away = ((points[:, None] - self.centres[None]) ** 2).sum(axis=2) - pull
        nearest = self.centres[away.argmin(axis=1)]
        return np.where(self.holds(points)[:, None], points, nearest)


def occupied(positions: NDArray[Any], faces: NDArray[Any], *, rows: int) -> Occupancy:
    """The cells inside a surface, so many of them from its foot to its top."""
    positions = positions.astype(np.float64)
    low, high = positions.min(axis=0), positions.max(axis=0)
    cell = max(float(high[1] - low[1]) / max(rows, _FEWEST), float((high - low).max()) / _LONGEST, 1e-9)
    shape = np.ceil((high - low) / cell).astype(np.int64) + 3
    origin = (low + high) / 2 - shape * cell / 2
    corners = ((positions - origin) / cell)[faces.astype(np.int64)]
    filled = _between(corners, shape)
    if not filled.any():
        # As thin as a line between two rows of cells.
        x, y, z = np.clip(corners.reshape(-1, 3).astype(np.int64), 0, shape - 1).T
        filled[x, y, z] = True
    return Occupancy(origin, cell, filled)


def _between(corners: Doubles, shape: Whole) -> Mask:
    """The cells between where a line along z enters and where it leaves; all from first to last if that is unclear."""
    width, height, depth = (int(n) for n in shape)
    pixels = covered(corners[:, :, :2], width, height)
    plane = planes(corners[:, :, :2], corners[:, :, 2])[pixels.triangles]
    z = plane[:, 0] * (pixels.x + 0.5) + plane[:, 1] * (pixels.y + 0.5) + plane[:, 2]
    column = pixels.x * height + pixels.y
    order = np.lexsort((z, column))
    column, z = column[order], np.clip(z[order], 0, depth - 1)
    counts = np.bincount(column, minlength=width * height)
    starts = np.cumsum(counts) - counts
    number = np.arange(len(column)) - starts[column]
    odd = counts[column] % 2 == 1
    enters = np.where(odd, number == 0, number % 2 == 0)
    leaves = np.where(odd, number == counts[column] - 1, number % 2 == 1)
    first, last = np.round(z[enters]).astype(np.int64), np.round(z[leaves]).astype(np.int64)
    change = np.zeros((width * height, depth + 1), dtype=np.int64)
    np.add.at(change, (column[enters], first), 1)
    # Thinner than a cell is a cell.
    np.add.at(change, (column[leaves], np.maximum(last, first + 1)), -1)
    inside: Mask = change.cumsum(axis=1)[:, :depth] > 0
    return inside.reshape(width, height, depth)


def _spread(bits: NDArray[np.uint32], *, askew: bool) -> NDArray[np.uint32]:
    """Each cell with what its neighbours have, those askew included or not."""
    grown = bits.copy()
    for axis in range(3):
        source = grown.copy() if askew else bits
        ahead, behind = np.moveaxis(grown, axis, 0), np.moveaxis(source, axis, 0)
        ahead[1:] |= behind[:-1]
        ahead[:-1] |= behind[1:]
    return grown


def _shrunk(filled: Mask) -> Mask:
    """Without what lies at the surface."""
    left = filled.copy()
    for axis in range(filled.ndim):
        for step in (1, -1):
            left &= np.roll(filled, step, axis=axis)
    return left
