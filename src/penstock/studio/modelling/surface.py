"""A textured surface that is asked for its nearest point: where in the texture is what lies beside this place?"""

from __future__ import annotations

import numpy as np

from penstock.studio.modelling.model import Doubles, Whole
from penstock.studio.modelling.topology import spread

_AT_ONCE = 1 << 19
"Pairs of a place and something near it that are compared at a time."
_NEIGHBOURS = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])


class Surface:
    """Triangles with texture coordinates, each in one of the texture's charts."""

    def __init__(self, points: Doubles, faces: Whole, uv: Doubles, charts: Whole) -> None:
        """``uv`` are coordinates of corners: (triangles, 3, 2)."""
        self._corners, self._uv, self._charts = points[faces], uv, charts
        # Triangles around each vertex, for the nearest point is on one of those beside the nearest vertex.
        flat = faces.ravel()
        self._beside = np.argsort(flat, kind="stable") // 3
        self._counts = np.bincount(flat, minlength=len(points))
        self._starts = np.cumsum(self._counts) - self._counts
        self._faces = faces
        self._middles = self._corners.mean(axis=1)

    def charts_at(self, places: Doubles) -> Whole:
        """The chart of the triangle that is nearest to each place."""
        found = _nearest(
            self._middles, places, np.zeros(len(self._middles), dtype=np.int64), 0 * places[:, 0].astype(np.int64)
        )
        return self._charts[found]

    def uv_at(self, places: Doubles, charts: Whole) -> Doubles:
        """The texture coordinates of the point of that chart which is nearest to each place."""
        near = _nearest(self._middles, places, self._charts, charts)
        found = np.empty((len(places), 2))
        step = max(1, _AT_ONCE // 64)
        for first in range(0, len(places), step):
            part = slice(first, first + step)
            found[part] = self._exactly(places[part], charts[part], near[part])
        return found

    def _exactly(self, places: Doubles, charts: Whole, near: Whole) -> Doubles:
        """Of all triangles that touch the near one, the nearest point."""
        vertices = self._faces[near].ravel()
        counts = self._counts[vertices]
        which = np.repeat(np.repeat(np.arange(len(places)), 3), counts)
        faces = self._beside[spread(self._starts[vertices], counts)]
        mine = self._charts[faces] == charts[which]
        which, faces = which[mine], faces[mine]
        parts = _closest(self._corners[faces], places[which])
        spots = (self._corners[faces] * parts[..., None]).sum(axis=1)
        away = ((spots - places[which]) ** 2).sum(axis=1)
        order = np.lexsort((faces, away, which))
        best = order[np.flatnonzero(np.diff(which[order], prepend=-1))]
        found: Doubles = (self._uv[faces[best]] * parts[best][..., None]).sum(axis=1)
        return found


def _closest(triangles: Doubles, places: Doubles) -> Doubles:
    """The point of each triangle that is nearest to a place, as parts of its three corners."""
    a, b, c = (triangles[:, n] for n in range(3))
    normal = np.cross(b - a, c - a)
    square = (normal**2).sum(axis=1)
    flat = square > 0
    whole = np.where(flat, square, 1.0)
    v = (np.cross(places - a, c - a) * normal).sum(axis=1) / whole
    w = (np.cross(b - a, places - a) * normal).sum(axis=1) / whole
    inside = flat & (v >= 0) & (w >= 0) & (v + w <= 1)
    best = np.stack([1 - v - w, v, w], axis=1)
    least = np.where(inside, -1.0, np.inf)
    for n in range(3):
        here, there = triangles[:, n], triangles[:, (n + 1) % 3]
        along = there - here
        length = np.maximum((along**2).sum(axis=1), 1e-30)
        part = np.clip(((places - here) * along).sum(axis=1) / length, 0.0, 1.0)
        away = ((here + along * part[:, None] - places) ** 2).sum(axis=1)
        nearer = away < least
        least = np.where(nearer, away, least)
        ends = np.zeros_like(best)
        ends[:, n], ends[:, (n + 1) % 3] = 1 - part, part
        best = np.where(nearer[:, None], ends, best)
    return best


def _nearest(there: Doubles, places: Doubles, kinds: Whole, wanted: Whole) -> Whole:
    """For each place the nearest of the points ``there`` that is of the kind that is wanted.

    Points are sorted into cells, and looked for in the cells around a place; where there are none, in larger cells.
    """
    found = np.full(len(places), -1)
    left = np.arange(len(places))
    low = np.minimum(there.min(axis=0), places.min(axis=0))
    size = float((np.maximum(there.max(axis=0), places.max(axis=0)) - low).max()) or 1.0
    # A surface has about as many points in a cell as there are cells along its size, squared.
    cells = max(1.0, np.sqrt(len(there) / 4))
    while len(left):
        index = _Cells(there, kinds, low, size / cells)
        found[left] = index.nearest(places[left], wanted[left])
        left = left[found[left] < 0]
        if cells <= 1.0:
            break
        cells = max(1.0, cells / 4)
    if len(left):
        raise AssertionError("a chart that no triangle belongs to was asked for")
    return found


class _Cells:
    """Points by the cell of space they lie in."""

    def __init__(self, there: Doubles, kinds: Whole, low: Doubles, size: float) -> None:
        self._there, self._low, self._size = there, low - 2 * size, size
        keys = self._key(np.floor((there - self._low) / size).astype(np.int64), kinds)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def nearest(self, places: Doubles, wanted: Whole) -> Whole:
        """The nearest in the cells around each place; -1 where one in a farther cell may be nearer."""
        cell = np.floor((places - self._low) / self._size).astype(np.int64)
        best, least = np.full(len(places), -1), np.full(len(places), np.inf)
        for offset in _NEIGHBOURS:
            keys = self._key(cell + offset, wanted)
            first, last = (np.searchsorted(self._keys, keys, side=side) for side in ("left", "right"))
            for n in range(int((last - first).max(initial=0))):
                which = np.flatnonzero(last - first > n)
                point = self._order[first[which] + n]
                away = ((self._there[point] - places[which]) ** 2).sum(axis=1)
                nearer = away < least[which]
                best[which[nearer]], least[which[nearer]] = point[nearer], away[nearer]
        return np.where(least <= self._size**2, best, -1) if self._size < np.ptp(self._there, axis=0).max() else best

    def _key(self, cell: Whole, kinds: Whole) -> Whole:
        inside = np.clip(cell, 0, (1 << 14) - 1)
        found: Whole = ((kinds * (1 << 14) + inside[:, 0]) * (1 << 14) + inside[:, 1]) * (1 << 14) + inside[:, 2]
        return found
