"""Directions, turns and surfaces, reckoned for many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.studio.modelling.model import Doubles, Whole


def unit(vectors: NDArray[Any]) -> Doubles:
    """Each of them with length 1; those that have it stay as they are, and what has none points along its last axis."""
    vectors = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    last = np.zeros(vectors.shape[-1])
    last[-1] = 1.0
    known = np.abs(lengths - 1) < 1e-6
    return np.where(lengths > 1e-12, vectors / np.where(known, 1.0, np.maximum(lengths, 1e-12)), last)


def welded(positions: NDArray[Any]) -> Whole:
    """For each vertex the number of its place, which it shares with those that were split from it at a seam."""
    # Zero has two signs, and the bytes are compared.
    rows = np.ascontiguousarray(positions.astype(np.float32) + np.float32(0))
    _, places = np.unique(rows.view(np.dtype((np.void, rows.itemsize * 3))).ravel(), return_inverse=True)
    return places.astype(np.int64)


def summed(values: NDArray[Any], places: Whole, count: int) -> Doubles:
    """The rows that belong to each place, added up."""
    return np.stack([np.bincount(places, column, minlength=count) for column in values.T], axis=1)


def vertex_normals(positions: NDArray[Any], faces: NDArray[Any]) -> Doubles:
    """Smooth ones: large triangles count more, and a seam of the texture is not seen."""
    a, b, c = (positions[faces[:, n]].astype(np.float64) for n in range(3))
    crosses = np.cross(b - a, c - a)
    places = welded(positions)
    count = int(places.max()) + 1
    total = sum(summed(crosses, places[faces[:, n]], count) for n in range(3))
    return unit(np.asarray(total))[places]


def multiplied(one: NDArray[Any], other: NDArray[Any]) -> Doubles:
    """Quaternions: first the other turn, then the one."""
    ax, ay, az, aw = np.moveaxis(np.asarray(one, dtype=np.float64), -1, 0)
    bx, by, bz, bw = np.moveaxis(np.asarray(other, dtype=np.float64), -1, 0)
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def inverse(turns: NDArray[Any]) -> Doubles:
    """The turns back."""
    return np.asarray(np.asarray(turns) * np.array([-1.0, -1.0, -1.0, 1.0]), dtype=np.float64)


def turn(axis: NDArray[Any], angles: NDArray[Any] | float) -> Doubles:
    """Quaternions about an axis by angles in radians, counterclockwise as seen from its tip."""
    half = np.asarray(angles, dtype=np.float64)[..., None] / 2
    return np.concatenate([np.sin(half) * unit(axis), np.cos(half)], axis=-1)


def turn_from(start: NDArray[Any], end: NDArray[Any]) -> Doubles:
    """The shortest turns that bring one direction to the other."""
    start, end = np.broadcast_arrays(unit(start), unit(end))
    cosine = (start * end).sum(axis=-1, keepdims=True)
    # Straight back has no shortest way: any axis that stands across will do.
    across = np.cross(start, np.where(np.abs(start[..., :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    axis = np.where(cosine > -0.999999, np.cross(start, end), unit(across))
    return unit(np.concatenate([axis, np.where(cosine > -0.999999, 1 + cosine, 0.0)], axis=-1))


def rotated(turns: NDArray[Any], vectors: NDArray[Any]) -> Doubles:
    """Vectors, turned."""
    turns, vectors = np.asarray(turns, dtype=np.float64), np.asarray(vectors, dtype=np.float64)
    axis, real = turns[..., :3], turns[..., 3:]
    across = 2 * np.cross(axis, vectors)
    return np.asarray(vectors + real * across + np.cross(axis, across))


def matrices(turns: NDArray[Any]) -> Doubles:
    """Quaternions as matrices, (…, 3, 3)."""
    return np.stack([rotated(turns, axis) for axis in np.eye(3)], axis=-1)


def between(one: NDArray[Any], other: NDArray[Any], share: float | Doubles) -> Doubles:
    """Turns on the way from one to the other, as players go it: evenly, and the shorter way round."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    cosine = (one * other).sum(axis=-1, keepdims=True)
    other, cosine = np.where(cosine < 0, -other, other), np.abs(cosine)
    angle = np.arccos(np.clip(cosine, -1, 1))
    small = angle < 1e-4
    sine = np.where(small, 1.0, np.sin(angle))
    first = np.where(small, 1 - share, np.sin((1 - share) * angle) / sine)
    return unit(first * one + np.where(small, share, np.sin(share * angle) / sine) * other)
