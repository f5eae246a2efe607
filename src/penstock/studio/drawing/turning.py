"""Somebody seen from the side: what is on the head moves around it, and the body gets narrower."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from penstock.studio.concept.contours import Points
from penstock.studio.concept.draft import Draft
from penstock.studio.drawing.puppet import Puppet, mouth_of

_TURNS = {"three-quarter": 0.42, "side": 0.8}
"Radians that somebody is turned to the right."
_SMALL = 0.62
"What is smaller than this part of the head lies on its surface."
_FACE = 3.4
"Half a face's width, in half a mouth's."
_INNER = 0.72
"What is farther from the middle, as ears and tails of hair, stands off it."


def turned_view(puppet: Puppet, view: str) -> Puppet:
    """The same puppet from another side; one that is seen from the side anyway looks the other way."""
    turn = _TURNS.get(view)
    if turn is None:
        return puppet
    if not puppet.upright:
        return _changed(puppet, lambda draft: _mirrored(draft, 0.9 if view == "side" else 0.72))
    return _changed(puppet, lambda draft: _around(draft, turn))


def _changed(puppet: Puppet, change: object) -> Puppet:
    assert callable(change)
    figure = replace(puppet.figure, draft=change(puppet.figure.draft))
    return Puppet(figure, change(puppet.blinking), puppet.action, puppet.props)


def _around(draft: Draft, turn: float) -> Draft:
    """Features go around the head as on a ball, everything else is squeezed towards the middle."""
    head = [shape.points for shape in draft.shapes if shape.part == "head"]
    largest = max((_span(points) for points in head), default=1.0)
    # Of the face, and not of a helmet around it.
    radius = min(largest / 2, _FACE * mouth_of(draft).size)
    narrow = 0.55 + 0.45 * math.cos(turn)

    def moved(points: Points, part: str) -> Points:
        x = points[:, 0]
        if part == "head" and _span(points) < _SMALL * largest and abs(float(x.mean())) < _INNER * radius:
            angle = np.arcsin((x / radius).clip(-1, 1)) + turn
            # What goes out of sight stays at the edge, as thin as it is seen there.
            across = radius * np.sin(angle.clip(-1.45, 1.45))
        elif part == "head":
            across = x * (0.85 + 0.15 * math.cos(turn)) - 0.06 * radius * math.sin(turn)
        else:
            across = x * narrow
        return np.asarray(np.stack([across, points[:, 1]], axis=1))

    return _mapped(draft, moved)


def _mirrored(draft: Draft, narrow: float) -> Draft:
    return _mapped(draft, lambda points, part: np.asarray(points * (-narrow, 1.0)))


def _mapped(draft: Draft, moved: object) -> Draft:
    assert callable(moved)
    shapes = [replace(shape, points=moved(shape.points, shape.part)) for shape in draft.shapes]
    anchors = {}
    for name, at in draft.anchors.items():
        x, y = moved(np.array([[at.x, at.y]]), at.part)[0]
        anchors[name] = replace(at, x=float(x), y=float(y))
    pivots = {}
    for name, (px, py) in draft.pivots.items():
        x, y = moved(np.array([[px, py]]), name)[0]
        pivots[name] = (float(x), float(y))
    return replace(draft, shapes=shapes, anchors=anchors, pivots=pivots)


def _span(points: Points) -> float:
    return float(points[:, 0].max() - points[:, 0].min())
