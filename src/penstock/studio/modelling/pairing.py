"""Quads of triangles: each triangle is joined with one beside it, so that as few as possible are left alone."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from penstock.studio.modelling.model import Doubles, Whole
from penstock.studio.modelling.topology import edges_of

_SHARE = 0.9
"Of the faces that should be quads before quads of a poor shape are taken, too."
_WORTH = (0.45, 0.2, 0.02, -0.5)
"What quads must be worth to be taken at all; ever less, until there are enough."
_FARTHEST = 4000
"Triangles that are looked at to find a partner for one."


@dataclass(frozen=True, slots=True)
class Quads:
    """Faces of four corners, and the triangles that are left."""

    quads: Whole
    triangles: Whole

    @property
    def share(self) -> float:
        """The part of all faces that is four-sided."""
        return len(self.quads) / max(len(self.quads) + len(self.triangles), 1)


def paired(points: Doubles, faces: Whole) -> Quads:
    """Triangles joined to quads: the best-shaped first, then others moved so that those left over find a partner.

    Triangles that do not share both vertices of an edge, as at a seam of the texture, are not joined across it.
    """
    rings, matching = _matched(points, faces)
    chosen = np.array(sorted(matching.edges()), dtype=np.int64)
    return Quads(rings[chosen].reshape(-1, 4), faces[np.array(matching.partner) < 0])


def partners(points: Doubles, faces: Whole) -> Whole:
    """The triangle that each triangle would be joined with; its own number if there is none."""
    partner = np.array(_matched(points, faces)[1].partner, dtype=np.int64)
    return np.where(partner < 0, np.arange(len(faces)), partner)


def _matched(points: Doubles, faces: Whole) -> tuple[Whole, _Matching]:
    """The quads that are possible, and which of them are made."""
    edges = edges_of(faces, len(points))
    inner = edges.uses == 2
    sides, pairs = edges.sides[inner], edges.pairs[inner]
    rings = _rings(faces, sides, pairs)
    worth = _worth(points[rings])
    matching = _Matching(len(faces))
    for least in _WORTH:
        good = np.flatnonzero(worth > least)
        order = good[np.lexsort((good, -worth[good]))]
        matching.add(sides[order].tolist(), order.tolist())
        matching.improve()
        if matching.share >= _SHARE:
            break
    return rings, matching


class _Matching:
    """Which triangle is joined with which."""

    def __init__(self, count: int) -> None:
        self.partner = [-1] * count
        self._beside: list[dict[int, int]] = [{} for _ in range(count)]

    @property
    def share(self) -> float:
        alone = self.partner.count(-1)
        quads = (len(self.partner) - alone) / 2
        return quads / max(quads + alone, 1)

    def add(self, sides: list[list[int]], numbers: list[int]) -> None:
        """More pairs that are possible, the best first; each is made if both are still alone."""
        for (a, b), number in zip(sides, numbers, strict=True):
            self._beside[a].setdefault(b, number)
            self._beside[b].setdefault(a, number)
            if self.partner[a] < 0 and self.partner[b] < 0:
                self.partner[a], self.partner[b] = b, a

    def improve(self) -> None:
        """Partners change along a row of pairs, wherever that joins two that are alone."""
        for start in range(len(self.partner)):
            if self.partner[start] < 0:
                self._look_from(start)

    def _look_from(self, start: int) -> None:
        came: dict[int, int] = {start: -1}
        line = deque([start])
        while line and len(came) < _FARTHEST:
            here = line.popleft()
            for there in self._beside[here]:
                if there in came:
                    continue
                then = self.partner[there]
                if then < 0:
                    self._change(here, there, came)
                    return
                if then not in came:
                    came[there], came[then] = here, there
                    line.append(then)

    def _change(self, here: int, there: int, came: dict[int, int]) -> None:
        """Join these two, and all on the way back anew."""
        while True:
            self.partner[here], self.partner[there] = there, here
            there = came[here]
            if there < 0:
                return
            here = came[there]

    def edges(self) -> list[int]:
        """The numbers of the pairs that were made."""
        return [self._beside[a][b] for a, b in enumerate(self.partner) if a < b]


def _rings(faces: Whole, sides: Whole, pairs: Whole) -> Whole:
    """For each pair of triangles the four corners of the quad they make, in the triangles' own direction.

    Whoever splits it again from its first corner gets the same two triangles.
    """
    one, other = faces[sides[:, 0]], faces[sides[:, 1]]
    shared = (one[:, :, None] == pairs[:, None, :]).any(axis=2)
    at = np.argmin(shared, axis=1)
    rows = np.arange(len(pairs))
    lone = one[rows, at]
    after, before = one[rows, (at + 1) % 3], one[rows, (at + 2) % 3]
    apex = other[rows, np.argmin((other[:, :, None] == pairs[:, None, :]).any(axis=2), axis=1)]
    return np.stack([after, apex, before, lone], axis=1)


def _worth(corners: Doubles) -> Doubles:
    """How good each quad is: 1 is a flat rectangle; below 0 it has a corner that points inwards, or is folded."""
    ahead, back = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    lengths = np.linalg.norm(ahead, axis=2) * np.linalg.norm(back, axis=2)
    cosine = (ahead * back).sum(axis=2) / np.maximum(lengths, 1e-30)
    turns = np.cross(ahead, back)
    normal = turns.sum(axis=1)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    straight = (turns * normal[:, None]).sum(axis=2) / np.maximum(lengths, 1e-30)
    one, other = (turns[:, n] / np.maximum(np.linalg.norm(turns[:, n], axis=1, keepdims=True), 1e-30) for n in (1, 3))
    flat: Doubles = (one * other).sum(axis=1)
    convex = (straight > 0.08).all(axis=1)
    good = (1 - np.abs(cosine).max(axis=1)) * np.clip(flat, 0.02, 1.0)
    poor: Doubles = np.minimum(flat, straight.min(axis=1)) - 0.4
    return np.where(convex & (flat > -0.3), good, poor)
