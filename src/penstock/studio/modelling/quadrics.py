"""Quadrics: how far a place is from all the planes that once met at a vertex, as one polynomial (Garland, Heckbert)."""

from __future__ import annotations

import numpy as np

from penstock.studio.modelling.model import Doubles, Whole
from penstock.studio.modelling.topology import face_normals


def quadrics_of(points: Doubles, faces: Whole) -> Doubles:
    """For each vertex the sum of the planes around it, by their areas, as ten numbers; the eleventh is the area."""
    normals = face_normals(points, faces)
    areas = np.linalg.norm(normals, axis=1) / 2
    planes = plane_quadrics(unit(normals), points[faces[:, 0]], areas / 3)
    return np.stack(
        [np.bincount(faces.ravel(), weights=np.repeat(column, 3), minlength=len(points)) for column in planes.T], axis=1
    )


def plane_quadrics(normal: Doubles, point: Doubles, weight: Doubles) -> Doubles:
    """The squared distance from a plane, by its weight, as ten numbers; the eleventh is the weight."""
    x, y, z = normal.T
    d = -(normal * point).sum(axis=1)
    return (
        np.stack([x * x, x * y, x * z, y * y, y * z, z * z, x * d, y * d, z * d, d * d, np.ones_like(d)], axis=1)
        * weight[:, None]
    )


def best_places(q: Doubles, pull: Doubles, middle: Doubles) -> Doubles:
    """The place of the least error, drawn a little to the middle: by Cramer's rule, for all at once."""
    a, b, c, d, e, f = q[:, 0] + pull, q[:, 1], q[:, 2], q[:, 3] + pull, q[:, 4], q[:, 5] + pull
    right = pull[:, None] * middle - q[:, 6:9]
    first, second, third = d * f - e * e, c * e - b * f, b * e - c * d
    whole = a * first + b * second + c * third
    rows = (
        (first, second, third),
        (second, a * f - c * c, b * c - a * e),
        (third, b * c - a * e, a * d - b * b),
    )
    x, y, z = right.T
    found = np.stack([row[0] * x + row[1] * y + row[2] * z for row in rows], axis=1)
    safe = np.abs(whole) > 1e-40
    return np.where(safe[:, None], found / np.where(safe, whole, 1.0)[:, None], middle)


def errors_at(q: Doubles, place: Doubles) -> Doubles:
    """How far each place is from the planes of its quadric: the sum of the squares."""
    x, y, z = place.T
    squares = q[:, 0] * x * x + q[:, 3] * y * y + q[:, 5] * z * z
    mixed = q[:, 1] * x * y + q[:, 2] * x * z + q[:, 4] * y * z
    found: Doubles = squares + 2 * (mixed + q[:, 6] * x + q[:, 7] * y + q[:, 8] * z) + q[:, 9]
    return np.maximum(found, 0.0)


def unit(vectors: Doubles) -> Doubles:
    """Of length 1; what has none stays as it is."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Doubles = vectors / np.where(length > 0, length, 1.0)
    return found
