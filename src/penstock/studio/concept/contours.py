"""Closed outlines of the shapes that everything is drawn with, as points."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.studio.drawing.canvas import Point

Points = NDArray[np.float64]
"One row for each point of an outline."

_ROUND = 40
"Points of a whole turn."


def ellipse(x: float, y: float, rx: float, ry: float, turn: float = 0.0) -> Points:
    """An ellipse, turned by so many degrees."""
    return sector(x, y, rx, ry, 0, 360, turn)[:-1]


def sector(x: float, y: float, rx: float, ry: float, start: float, stop: float, turn: float = 0.0) -> Points:
    """A part of an ellipse between two angles in degrees; 0 is to the right, 90 is down."""
    count = max(round(_ROUND * abs(stop - start) / 360), 6) + 1
    angles = np.radians(np.linspace(start, stop, count))
    there = np.stack([np.cos(angles) * rx, np.sin(angles) * ry], axis=1)
    return np.asarray(rotated(there, turn) + np.array([x, y]))


def rounded(x: float, y: float, rx: float, ry: float, by: float) -> Points:
    """A rectangle around a point, its corners rounded."""
    by = min(by, abs(rx), abs(ry))
    if by <= 0:
        return np.array([(x - rx, y - ry), (x + rx, y - ry), (x + rx, y + ry), (x - rx, y + ry)])
    corners = ((rx - by, ry - by, 0), (by - rx, ry - by, 90), (by - rx, by - ry, 180), (rx - by, by - ry, 270))
    return np.concatenate([sector(x + cx, y + cy, by, by, at, at + 90) for cx, cy, at in corners])


def curve(points: Sequence[Point], *, closed: bool, fine: int = 8) -> Points:
    """A smooth line through all points."""
    there = np.array(points, dtype=np.float64)
    if len(there) < 3:
        return there
    before, after = (there[-1:], there[:2]) if closed else (there[:1], there[-1:])
    line = np.concatenate([before, there, after])
    t = np.linspace(0, 1, fine, endpoint=False)[:, None]
    pieces = []
    for n in range(1, len(line) - 2):
        a, b, c, d = line[n - 1 : n + 3]
        pieces.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3))
    if not closed:
        pieces.append(there[-1:])
    return np.concatenate(pieces)


def tube(points: Sequence[Point], widths: Sequence[float], *, bent: bool = True) -> Points:
    """A thick line with round ends, as thick at each point as its width says."""
    line = curve(points, closed=False) if bent else np.array(points, dtype=np.float64)
    given = np.linspace(0, 1, len(widths))
    half = np.interp(np.linspace(0, 1, len(line)), given, widths)[:, None] / 2
    along = np.gradient(line, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    end, begin = (math.degrees(math.atan2(along[n, 1], along[n, 0])) for n in (-1, 0))
    last, first = float(half[-1, 0]), float(half[0, 0])
    return np.concatenate(
        [
            line + across * half,
            sector(float(line[-1, 0]), float(line[-1, 1]), last, last, end + 90, end - 90),
            (line - across * half)[::-1],
            sector(float(line[0, 0]), float(line[0, 1]), first, first, begin - 90, begin - 270),
        ]
    )


def annulus(x: float, y: float, r: float, width: float) -> Points:
    """A ring, as one outline that goes around it outside and back inside."""
    outside, inside = r + width / 2, r - width / 2
    return np.concatenate([sector(x, y, outside, outside, 0, 360), sector(x, y, inside, inside, 360, 0)])


def spikes(x: float, y: float, outer: float, inner: float, count: int, turn: float = -90.0) -> Points:
    """A star with so many points."""
    angles = np.radians(turn + np.arange(2 * count) * 180 / count)
    away = np.where(np.arange(2 * count) % 2 == 0, outer, inner)
    return np.stack([x + np.cos(angles) * away, y + np.sin(angles) * away], axis=1)


def rotated(points: Points, degrees: float) -> Points:
    """Points turned around the origin, clockwise as it is seen."""
    if not degrees:
        return points
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    return np.asarray(points @ np.array([[cosine, sine], [-sine, cosine]]))
