"""Who lies beside whom in a mesh of triangles: its edges, its pieces, whether it is closed, and which way is out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.studio.modelling.model import Doubles, Mask, Whole

_STEPS = 1 << 20
"Vertices that differ by less than this part of the mesh's size are at the same place."


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of a mesh, each once, from the vertex of the lower number to the other."""

    pairs: Whole
    "(edges, 2): the vertices."
    uses: Whole
    "(edges,): how many triangles have it; two, in a closed mesh."
    sides: Whole
    "(edges, 2): the first two triangles that have it; -1 where there is none."


def edges_of(faces: Whole, vertices: int) -> Edges:
    """The edges of triangles, in the order of their vertices."""
    half = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    keys = half.min(axis=1) * vertices + half.max(axis=1)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    uses = np.diff(np.append(first, len(keys)))
    second = np.where(uses > 1, order[np.minimum(first + 1, len(order) - 1)] // 3, -1)
    pairs = np.stack([keys[first] // vertices, keys[first] % vertices], axis=1)
    return Edges(pairs, uses, np.stack([order[first] // 3, second], axis=1))


def merged(points: Doubles, *also: Doubles) -> tuple[Whole, Whole]:
    """Which vertices are the same: the number of one of each, and for every vertex which of these it is.

    They are the same where they are at the same place, and agree in ``also`` (arrays with a row for each vertex).
    """
    same = np.zeros(len(points), dtype=np.int64)
    for values in (points, *also):
        low = values.min(axis=0, initial=0.0)
        size = float((values.max(axis=0, initial=0.0) - low).max(initial=0.0)) or 1.0
        for column in np.rint((values - low) / size * _STEPS).astype(np.int64).T:
            _, same = np.unique(same * (_STEPS + 1) + column, return_inverse=True)
    _, kept, which = np.unique(same, return_index=True, return_inverse=True)
    return kept, which.astype(np.int64)


def without_slivers(faces: Whole) -> Mask:
    """Which triangles have three different vertices."""
    a, b, c = faces.T
    found: Mask = (a != b) & (b != c) & (c != a)
    return found


def is_closed(faces: Whole) -> bool:
    """Does every edge have one triangle on either side, and do all of them agree which side is out?"""
    if not len(faces):
        return False
    half = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    many = int(faces.max()) + 1
    there, back = (np.sort(half[:, i] * many + half[:, 1 - i]) for i in (0, 1))
    return bool((np.diff(there) > 0).all() and (there == back).all())


def pieces(count: int, pairs: Whole) -> Whole:
    """For each of so many things which piece it belongs to, if these pairs of them are joined; pieces count from 0."""
    label = np.arange(count)
    a, b = pairs.T
    while True:
        low = np.minimum(label[a], label[b])
        new = label.copy()
        np.minimum.at(new, label[a], low)
        np.minimum.at(new, label[b], low)
        while True:
            further = new[new]
            if (further == new).all():
                break
            new = further
        if (new == label).all():
            return np.unique(label, return_inverse=True)[1].astype(np.int64)
        label = new


def face_pieces(faces: Whole, vertices: int) -> Whole:
    """For each triangle which piece it belongs to: those that share an edge belong together."""
    edges = edges_of(faces, vertices)
    return pieces(len(faces), edges.sides[edges.uses > 1])


def face_normals(points: Doubles, faces: Whole) -> Doubles:
    """The normal of each triangle, as long as twice its area."""
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    return np.cross(b - a, c - a)


def vertex_normals(points: Doubles, faces: Whole) -> Doubles:
    """The mean normal of the triangles around each vertex, by their areas; of length 1."""
    normals = face_normals(points, faces)
    total = np.stack(
        [
            np.bincount(faces.ravel(), weights=np.repeat(normals[:, axis], 3), minlength=len(points))
            for axis in range(3)
        ],
        axis=1,
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    # A vertex whose triangles cancel each other out still needs a direction.
    return np.where(length > 0, total / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])


def volume(points: Doubles, faces: Whole) -> float:
    """Of a closed mesh; negative if it is inside out."""
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    return float((a * np.cross(b, c)).sum() / 6)


def spread(starts: Whole, counts: Whole) -> Whole:
    """The numbers of all that lies in ranges: for each of them ``start``, ``start + 1`` … as many as it counts."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
