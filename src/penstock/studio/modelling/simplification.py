"""Fewer triangles for the same shape: edges are collapsed where that changes it least (quadric error metrics).

Many edges that lie apart from each other are collapsed at a time, so that it takes arrays instead of a queue. Nothing
is torn: a mesh that is closed stays closed, holes and handles stay, and what lies along a seam stays along it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import count

import numpy as np

from penstock.studio.modelling.model import Doubles, Mask, Whole
from penstock.studio.modelling.quadrics import best_places, errors_at, plane_quadrics, quadrics_of, unit
from penstock.studio.modelling.topology import Edges, edges_of, face_normals, is_closed, spread

_CHEAP = 0.4
"The part of all edges, the cheapest, among which those to be collapsed are looked for."
_PASSES = 4
_EVEN = 1e-3
"How much the length of an edge counts against its error: in what is flat, the short ones go first."
_STEADY = 1e-3
"How strongly a new vertex is drawn to the middle of its edge: in what is flat it could be anywhere."
_SEAM = 0.3
"How much what lies along a seam or an open edge counts, beside the triangles there."
_LEAST_SHAPE = 0.04
"Of a triangle: 1 is equilateral, 0 has no area."
_TURNED = 0.25
"The cosine by which a triangle may turn at most."
_MOST_AROUND = 14
"Triangles around a vertex."


@dataclass(frozen=True, slots=True)
class Mesh:
    """Triangles, each of which belongs to a chart of the texture."""

    points: Doubles
    faces: Whole
    charts: Whole

    def without_charts(self) -> Mesh:
        """The same as if its texture had no seams."""
        return replace(self, charts=np.zeros_like(self.charts))


def simplified(mesh: Mesh, *, target: int) -> Mesh:
    """The same shape with at most so many triangles, or as few as can be without tearing what is closed."""
    if len(mesh.faces) <= target:
        return mesh
    # In lengths of its own, so that no bound depends on how large it is.
    low = mesh.points.min(axis=0)
    size = float((mesh.points.max(axis=0) - low).max()) or 1.0
    work = _Work((mesh.points - low) / size, mesh.faces.copy(), mesh.charts.copy())
    ways = [(_CHEAP, _Care.FOLDS), (1.0, _Care.FOLDS), (1.0, _Care.TEARS)]
    # What is open, or was never a surface, has nothing that could be torn.
    for cheap, care in ways if is_closed(mesh.faces) else [*ways, (1.0, _Care.NOTHING)]:
        while len(work.faces) > target and work.round(target, cheap, care):
            pass
    used, faces = np.unique(work.faces, return_inverse=True)
    return Mesh(work.points[used] * size + low, faces.reshape(-1, 3).astype(np.int64), work.charts)


class _Care(IntEnum):
    """What an edge must not cause that is collapsed; each includes the ones before it."""

    NOTHING = 0
    TEARS = 1
    FOLDS = 2


@dataclass(frozen=True, slots=True)
class _Ways:
    """Edges that may be collapsed, the cheapest first: which, whereto, and which of its ends stays."""

    edge: Whole
    place: Doubles


class _Work:
    """A mesh while it is simplified."""

    def __init__(self, points: Doubles, faces: Whole, charts: Whole) -> None:
        self.points, self.faces, self.charts = points, faces, charts
        self.quadrics = quadrics_of(points, faces)
        self._add_seams(edges_of(faces, len(points)))

    def round(self, target: int, cheap: float, care: _Care) -> bool:
        """Collapse some edges that lie apart; False if none could be."""
        edges = edges_of(self.faces, len(self.points))
        ways = self._ways(edges, cheap, care)
        around = _Around(self.faces, edges, len(self.points))
        wanted = (len(self.faces) - target + 1) // 2
        rank = np.arange(len(ways.edge))
        free, chosen = np.ones(len(rank), dtype=bool), np.zeros(len(rank), dtype=bool)
        for number in count():
            picked = _apart(edges.pairs[ways.edge[free]], edges.pairs, len(self.points))
            picked = rank[free][picked]
            # As long as nothing was found to collapse, something else may be.
            if not len(picked) or (number >= _PASSES and chosen.any()):
                break
            free[picked] = False
            good = picked[self._fine(edges, ways, picked, around, care)]
            chosen[good] = True
            free &= ~around.touched(edges.pairs[ways.edge[good]])[edges.pairs[ways.edge]].any(axis=1)
            if chosen.sum() >= wanted:
                break
        self._collapse(edges.pairs[ways.edge[chosen]][:wanted], ways.place[chosen][:wanted])
        return bool(chosen.any())

    def _ways(self, edges: Edges, cheap: float, care: _Care) -> _Ways:
        seam = self._seams(edges) & (care >= _Care.TEARS)
        degree = np.bincount(edges.pairs[seam].ravel(), minlength=len(self.points))
        fixed = (degree != 0) & (degree != 2)
        tangled = (edges.uses > 2) & (care >= _Care.TEARS)
        fixed[edges.pairs[tangled]] = True
        a, b = edges.pairs.T
        on_seam = degree > 0
        allowed = (seam | ~(on_seam[a] & on_seam[b])) & ~(fixed[a] & fixed[b]) & ~tangled
        which = np.flatnonzero(allowed)
        a, b = a[which], b[which]
        stays_a = fixed[a] | (on_seam[a] & ~on_seam[b])
        stays_b = ~stays_a & (fixed[b] | (on_seam[b] & ~on_seam[a]))
        place, cost = self._best(a, b, stays_a, stays_b)
        many = max(int(len(which) * cheap), min(len(which), 256))
        if many < len(which):
            first = np.argpartition(cost, many - 1)[:many]
            first = first[np.lexsort((which[first], cost[first]))]
        else:
            first = np.lexsort((which, cost))
        return _Ways(which[first], place[first])

    def _best(self, a: Whole, b: Whole, stays_a: Mask, stays_b: Mask) -> tuple[Doubles, Doubles]:
        """Where the vertex that is left should be, and what that costs."""
        q = self.quadrics[a] + self.quadrics[b]
        here, there = self.points[a], self.points[b]
        middle = (here + there) / 2
        pull = _STEADY * q[:, 10] + 1e-15
        place = best_places(q, pull, middle)
        length = ((here - there) ** 2).sum(axis=1)
        # Far away lies only what two nearly parallel planes make of a rounding.
        far = ((place - middle) ** 2).sum(axis=1) > length
        place = np.where(far[:, None], middle, place)
        place = np.where(stays_a[:, None], here, np.where(stays_b[:, None], there, place))
        return place, errors_at(q, place) + _EVEN * q[:, 10] * length

    def _seams(self, edges: Edges) -> Mask:
        """Edges at which the mesh ends, or one chart of the texture does."""
        one, other = self.charts[edges.sides[:, 0]], self.charts[edges.sides[:, 1]]
        found: Mask = (edges.uses != 2) | (one != other)
        return found

    def _add_seams(self, edges: Edges) -> None:
        """Planes that stand upright on the triangles along a seam, so that it keeps its course."""
        normals = face_normals(self.points, self.faces)
        seam = self._seams(edges) & (edges.uses <= 2)
        pairs, sides = edges.pairs[seam], edges.sides[seam]
        along = self.points[pairs[:, 1]] - self.points[pairs[:, 0]]
        upright = np.cross(along, unit(normals[sides[:, 0]]))
        planes = plane_quadrics(unit(upright), self.points[pairs[:, 0]], _SEAM * (along**2).sum(axis=1))
        planes[:, 10] = 0
        for end in (0, 1):
            np.add.at(self.quadrics, pairs[:, end], planes)

    def _fine(self, edges: Edges, ways: _Ways, picked: Whole, around: _Around, care: _Care) -> Mask:
        """Which of these can be collapsed without a tear, a fold or a needle."""
        pairs = edges.pairs[ways.edge[picked]]
        good = np.ones(len(picked), dtype=bool)
        if care >= _Care.TEARS:
            good &= around.common(pairs) == edges.uses[ways.edge[picked]]
        if care >= _Care.FOLDS:
            good &= around.valence(pairs) <= _MOST_AROUND
        for end in (0, 1):
            which, faces = around.faces_of(pairs[:, end])
            corners = self.faces[faces]
            stays = ~(corners == pairs[which, 1 - end][:, None]).any(axis=1)
            which, corners = which[stays], corners[stays]
            before = self.points[corners]
            moved = (corners == pairs[which, end][:, None])[..., None]
            after = np.where(moved, ways.place[picked][which][:, None], before)
            bad = _spoilt(before, after, care)
            good &= np.bincount(which[bad], minlength=len(picked)) == 0
        return good

    def _collapse(self, pairs: Whole, place: Doubles) -> None:
        stays, goes = pairs.T
        self.points[stays] = place
        self.quadrics[stays] += self.quadrics[goes]
        renamed = np.arange(len(self.points))
        renamed[goes] = stays
        faces = renamed[self.faces]
        left = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        self.faces, self.charts = faces[left], self.charts[left]


class _Around:
    """What lies around each vertex."""

    def __init__(self, faces: Whole, edges: Edges, vertices: int) -> None:
        self._vertices = vertices
        self._faces = np.argsort(faces.ravel(), kind="stable") // 3
        self._counts = np.bincount(faces.ravel(), minlength=vertices)
        self._starts = np.cumsum(self._counts) - self._counts
        both = np.concatenate([edges.pairs, edges.pairs[:, ::-1]])
        order = np.argsort(both[:, 0], kind="stable")
        self._neighbours = both[order, 1]
        self._degrees = np.bincount(both[:, 0], minlength=vertices)
        self._firsts = np.cumsum(self._degrees) - self._degrees

    def faces_of(self, vertices: Whole) -> tuple[Whole, Whole]:
        """The triangles around each of these vertices, and which of them each is around."""
        counts = self._counts[vertices]
        return np.repeat(np.arange(len(vertices)), counts), self._faces[spread(self._starts[vertices], counts)]

    def common(self, pairs: Whole) -> Whole:
        """How many vertices are neighbours of both ends."""
        keys = []
        for end in (0, 1):
            counts = self._degrees[pairs[:, end]]
            others = self._neighbours[spread(self._firsts[pairs[:, end]], counts)]
            keys.append(np.repeat(np.arange(len(pairs)), counts) * self._vertices + others)
        both = np.sort(np.concatenate(keys))
        twice = both[1:][both[1:] == both[:-1]]
        return np.bincount(twice // self._vertices, minlength=len(pairs))

    def valence(self, pairs: Whole) -> Whole:
        """How many neighbours the vertex has that is left of an edge."""
        found: Whole = self._degrees[pairs].sum(axis=1) - 4
        return found

    def touched(self, pairs: Whole) -> Mask:
        """Which vertices are ends of these edges, or beside one."""
        found = np.zeros(self._vertices, dtype=bool)
        ends = pairs.ravel()
        found[ends] = True
        found[self._neighbours[spread(self._firsts[ends], self._degrees[ends])]] = True
        return found


def _apart(pairs: Whole, beside: Whole, vertices: int) -> Whole:
    """Which of these edges, the best first, are better than every other within reach: none of them touch each other."""
    rank = np.arange(len(pairs))
    best = np.full(vertices, len(pairs))
    for end in (1, 0):
        np.minimum.at(best, pairs[:, end], rank)
    near = best.copy()
    for end in (0, 1):
        np.minimum.at(near, beside[:, end], best[beside[:, 1 - end]])
    return np.flatnonzero((near[pairs[:, 0]] == rank) & (near[pairs[:, 1]] == rank))


def _spoilt(before: Doubles, after: Doubles, care: _Care) -> Mask:
    """Triangles that would turn over, or become needles."""
    old, new = (np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]) for t in (before, after))
    long_old, long_new = np.linalg.norm(old, axis=1), np.linalg.norm(new, axis=1)
    bad: Mask = (long_new < 1e-14) & (care > _Care.NOTHING)
    if care < _Care.FOLDS:
        return bad
    shape_old, shape_new = (_shape(t, area) for t, area in ((before, long_old), (after, long_new)))
    bad |= (old * new).sum(axis=1) < _TURNED * long_old * long_new
    bad |= (shape_new < _LEAST_SHAPE) & (shape_new < shape_old)
    return bad


def _shape(triangles: Doubles, twice_area: Doubles) -> Doubles:
    sides = ((triangles - np.roll(triangles, 1, axis=1)) ** 2).sum(axis=(1, 2))
    found: Doubles = 2 * np.sqrt(3) * twice_area / np.maximum(sides, 1e-30)
    return found
