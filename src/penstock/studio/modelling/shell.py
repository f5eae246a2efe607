"""A closed shell over a silhouette: one sheet in front and one behind, joined along its rim.

The rim is exactly the contour, the sheets share nothing but the rim, and so the shell is closed whatever the silhouette
looks like: with holes, thin limbs and all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.studio.modelling.model import Doubles, Mask, Whole
from penstock.studio.modelling.topology import edges_of

_NEAREST = 0.12
"A point of the rim is no nearer than this to a point of the grid: there would be slivers."
_LONGEST = 2.2
"Edges longer than so many steps of the grid are split."
_SPLITS = 3
_SMOOTHINGS = 6
_THIN = 2.0
"Steps of the grid: what is only so thick is not smoothed, and what is twice as thick is smoothed altogether."
_IN, _OUT = 0.5, -0.526
"Taubin's two steps: one shrinks what is rough, the other grows what is left."

# The points of a cell: its corners 0 2 4 6, clockwise from the upper left, and what lies between them 1 3 5 7.
_AROUND = tuple(range(8))
_BOTH_WAYS = 16
"The case of two opposite corners that are joined."


@dataclass(frozen=True, slots=True)
class Shell:
    """A closed mesh over a silhouette, in steps of its grid: x to the right, y up, z to the front."""

    points: Doubles
    faces: Whole
    behind: Mask
    "Which triangles are of the sheet behind."


def shell(level: Doubles, height: Doubles) -> Shell:
    """The shell where ``level``, given at the points of a grid, is positive; it rises to ``height`` on both sides.

    ``level`` must not be positive at the edge of the grid.
    """
    flat = _Grid(level)
    front = np.concatenate([flat.faces[case] for case in sorted(flat.faces)])[:, ::-1]
    corners, x, y = flat.corners, flat.x, flat.y
    rise = np.concatenate([height[level > 0], np.zeros(len(x) - corners)])
    # Points of the rim are the same behind; the others come a second time, after all in front.
    twin = np.concatenate([np.arange(corners) + len(x), np.arange(corners, len(x))])
    faces = np.concatenate([front, twin[front[:, ::-1]]])
    points = np.stack([x, -y, rise], axis=1)
    points = np.concatenate([points, points[:corners] * [1, 1, -1]])
    behind = np.arange(len(faces)) >= len(front)
    for _ in range(_SPLITS):
        points, faces, behind = _split(points, faces, behind)
    return Shell(_smoothed(points, faces, _broad(points, height)), faces, behind)


class _Grid:
    """Marching squares: the points and triangles of what is inside, flat."""

    def __init__(self, level: Doubles) -> None:
        inside = level > 0
        self.corners = int(inside.sum())
        number = np.full(level.shape, -1)
        number[inside] = np.arange(self.corners)
        across, along = inside[:, :-1] != inside[:, 1:], inside[:-1] != inside[1:]
        right, down = np.full(across.shape, -1), np.full(along.shape, -1)
        right[across] = self.corners + np.arange(int(across.sum()))
        down[along] = self.corners + int(across.sum()) + np.arange(int(along.sum()))
        y, x = np.nonzero(inside)
        yr, xr = np.nonzero(across)
        yd, xd = np.nonzero(along)
        self.x = np.concatenate([x, xr + way_to_zero(level[yr, xr], level[yr, xr + 1]), xd]).astype(np.float64)
        self.y = np.concatenate([y, yr, yd + way_to_zero(level[yd, xd], level[yd + 1, xd])]).astype(np.float64)
        upper = [number[:-1, :-1], right[:-1], number[:-1, 1:], down[:, 1:]]
        lower = [number[1:, 1:], right[1:], number[1:, :-1], down[:, :-1]]
        cells = np.stack(upper + lower, axis=-1)
        corner = (cells[..., ::2] >= 0) @ np.array([1, 2, 4, 8])
        middle = level[:-1, :-1] + level[:-1, 1:] + level[1:, 1:] + level[1:, :-1]
        corner = np.where(((corner == 5) | (corner == 10)) & (middle > 0), corner + _BOTH_WAYS, corner)
        even = np.indices(corner.shape).sum(axis=0) % 2 == 0
        self.faces: dict[tuple[int, bool], Whole] = {}
        for case in np.unique(corner):
            for turned in (False, True):
                found = cells[(corner == case) & (even == turned)]
                triangles = _triangles(int(case), turned)
                if len(triangles) and len(found):
                    self.faces[int(case), turned] = found[:, triangles].reshape(-1, 3)


def way_to_zero(here: Doubles, there: Doubles) -> Doubles:
    """Where the level is 0, as a part of the way."""
    return np.clip(here / (here - there), _NEAREST, 1 - _NEAREST)


def _triangles(case: int, turned: bool) -> list[tuple[int, int, int]]:
    """The triangles of a cell, as points around it, clockwise.

    Each is spanned from a corner, so that no edge but those of the contour joins two points of the rim.
    """
    joined, corners = case >= _BOTH_WAYS, [n for n in range(4) if case % _BOTH_WAYS >> n & 1]
    if len(corners) == 2 and (corners[1] - corners[0]) == 2 and not joined:
        return [(2 * n, (2 * n + 1) % 8, (2 * n - 1) % 8) for n in corners]
    kept = [p for p in _AROUND if _is_there(p, corners)]
    if not kept:
        return []
    apex = _apex(corners, turned)
    at = kept.index(apex)
    ring = kept[at:] + kept[:at]
    return [(ring[0], ring[n], ring[n + 1]) for n in range(1, len(ring) - 1)]


def _is_there(point: int, corners: list[int]) -> bool:
    """Corners that are inside, and what lies between one that is and one that is not."""
    if point % 2 == 0:
        return point // 2 in corners
    return ((point // 2) in corners) != ((point // 2 + 1) % 4 in corners)


def _apex(corners: list[int], turned: bool) -> int:
    """The corner that the triangles are spanned from: of three the middle one; of four in turns, as on a chessboard."""
    if len(corners) == 3:
        (missing,) = {0, 1, 2, 3} - {*corners}
        return 2 * ((missing + 2) % 4)
    return 2 * corners[1 if turned and len(corners) == 4 else 0]


def _split(points: Doubles, faces: Whole, behind: Mask) -> tuple[Doubles, Whole, Mask]:
    """Long edges, which are those that rise steeply from the rim, get a point in their middle, on the round surface."""
    edges = edges_of(faces, len(points))
    a, b = points[edges.pairs[:, 0]], points[edges.pairs[:, 1]]
    long = np.linalg.norm(a - b, axis=1) > _LONGEST
    if not long.any():
        return points, faces, behind
    a, b = a[long], b[long]
    # On a round surface it is the square of the height that grows evenly with the way from the rim.
    rise = (a[:, 2] + b[:, 2]) / 2
    squares = a[:, 2] ** 2, b[:, 2] ** 2
    steep = np.abs(squares[1] - squares[0]) > 1e-9
    part = np.where(steep, (rise**2 - squares[0]) / np.where(steep, squares[1] - squares[0], 1.0), 0.5)[:, None]
    middle = a + (b - a) * np.clip(part, 0.1, 0.9)
    middle[:, 2] = rise
    keys = edges.pairs[:, 0] * len(points) + edges.pairs[:, 1]
    ends = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 3, 2)
    which = np.searchsorted(keys, ends.min(axis=2) * len(points) + ends.max(axis=2))
    number = np.where(long, len(points) + np.cumsum(long) - 1, -1)[which]
    faces, behind = _divided(faces, number, behind)
    return np.concatenate([points, middle]), faces, behind


def _divided(faces: Whole, middles: Whole, behind: Mask) -> tuple[Whole, Mask]:
    """Triangles in two, three or four, by which of their edges have a middle."""
    split = middles >= 0
    made = [(faces[~split.any(axis=1)], behind[~split.any(axis=1)])]
    for count, turn in ((1, (0, 1, 2)), (2, (0, 1, 2)), (3, (0,))):
        for first in turn:
            wanted = [(first + n) % 3 for n in range(count)]
            there = (split.sum(axis=1) == count) & split[:, wanted].all(axis=1)
            corner = [faces[there][:, (first + n) % 3] for n in range(3)]
            middle = [middles[there][:, (first + n) % 3] for n in range(3)]
            for triangle in _PARTS[count]:
                columns = [(corner + middle)[n] for n in triangle]
                made.append((np.stack(columns, axis=1), behind[there]))
    return np.concatenate([part[0] for part in made]), np.concatenate([part[1] for part in made])


_PARTS = {
    1: ((0, 3, 2), (3, 1, 2)),
    2: ((3, 1, 4), (0, 3, 4), (0, 4, 2)),
    3: ((0, 3, 5), (3, 1, 4), (4, 2, 5), (3, 4, 5)),
}
"What a triangle becomes: 0 1 2 are its corners, 3 4 5 the middles of its edges from 0 to 1, 1 to 2 and 2 to 0."


def _broad(points: Doubles, height: Doubles) -> Doubles:
    """How much of the smoothing a point gets: all where the body is thick, nothing where it would be worn away."""
    around = height
    for axis in (0, 1):
        shifted = [np.roll(around, step, axis=axis) for step in (-2, -1, 0, 1, 2)]
        around = np.max(shifted, axis=0)
    columns, rows = np.rint(points[:, :2] * [1, -1]).astype(np.int64).T
    found: Doubles = np.clip((around[rows, columns] - _THIN) / _THIN, 0.0, 1.0)
    return found


def _smoothed(points: Doubles, faces: Whole, much: Doubles) -> Doubles:
    """Taubin's smoothing, which takes the steps of the grid away and leaves the volume."""
    pairs = edges_of(faces, len(points)).pairs
    count = np.bincount(pairs.ravel(), minlength=len(points))[:, None]
    for _ in range(_SMOOTHINGS):
        for step in (_IN, _OUT):
            sums = [
                np.bincount(pairs[:, 0], weights=column[pairs[:, 1]], minlength=len(points))
                + np.bincount(pairs[:, 1], weights=column[pairs[:, 0]], minlength=len(points))
                for column in points.T
            ]
            points = points + step * much[:, None] * (np.stack(sums, axis=1) / count - points)
    return points
