"""How somebody on two legs bends: each arm and leg in two bones, the head on its neck, and all of it together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from penstock.studio.concept.contours import Points
from penstock.studio.concept.draft import Draft
from penstock.studio.drawing.canvas import Point

LIMBS = ("arm_r", "arm_l", "leg_r", "leg_l")
_SOFT = 0.16
"How much of a limb bends around a joint."


@dataclass(frozen=True, slots=True)
class Bones:
    """A limb at rest."""

    root: Point
    middle: Point
    end: Point

    @property
    def lengths(self) -> Point:
        return math.dist(self.root, self.middle), math.dist(self.middle, self.end)

    @property
    def angles(self) -> Point:
        return _angle(self.root, self.middle), _angle(self.middle, self.end)

    def reach(self, target: Point, *, outwards: float) -> Point:
        """The angles with which its end is at a point, or as near as it gets; the joint is on one side."""
        upper, lower = self.lengths
        away = min(max(math.dist(self.root, target), abs(upper - lower) + 1e-3), upper + lower - 1e-3)
        straight = _angle(self.root, target)
        inner = math.acos(min(max((upper**2 + away**2 - lower**2) / (2 * upper * away), -1.0), 1.0))
        first = straight + outwards * inner
        elbow = (self.root[0] + upper * math.sin(first), self.root[1] + upper * math.cos(first))
        return first, _angle(elbow, target)


@dataclass(frozen=True, slots=True)
class Bend:
    """A moment of somebody's movement: angles from hanging down, in radians, to the viewer's right positive."""

    limbs: Mapping[str, Point] = field(default_factory=dict)
    "Upper and lower angle by limb."
    nod: float = 0.0
    "How far the head is turned on its neck."
    lift: float = 0.0
    "How far all of it is off the ground, in parts of its height."
    turn: float = 0.0
    "How far all of it is turned: lying on the right side is a quarter."
    before: frozenset[str] = frozenset()
    "Limbs that are seen in front of the body."
    sway: float = 0.0
    "Degrees that a tail or what hangs behind goes to a side."


def bones(draft: Draft) -> dict[str, Bones]:
    """The limbs of a draft; none where it has none that bend."""
    found = {}
    for part in LIMBS:
        root = draft.pivots.get(part)
        own = [shape.points for shape in draft.shapes if shape.part == part]
        if root is None or not own:
            continue
        points = np.concatenate(own)
        hand = draft.anchors.get(f"hand_{part[-1]}") if part.startswith("arm") else None
        if hand is not None:
            end = (hand.x, hand.y)
        else:
            low = points[points[:, 1] > points[:, 1].max() - 4]
            end = (float(low[:, 0].mean()), float(points[:, 1].max() - 3))
        found[part] = Bones(root, ((root[0] + end[0]) / 2, (root[1] + end[1]) / 2), end)
    return found


def bent(draft: Draft, bend: Bend) -> Draft:
    """A draft in a pose; what can be put on it moves along."""
    own = bones(draft)
    left, top, right, bottom = draft.bounds()
    middle, tall = np.array([(left + right) / 2, (top + bottom) / 2]), bottom - top
    moved = Draft(dict(draft.inks), draft.rng, draft.traits, words=draft.words, mood=draft.mood)

    def there(points: Points, part: str) -> Points:
        if part in own and part in bend.limbs:
            points = _folded(points, own[part], bend.limbs[part])
        elif part == "head" and bend.nod and "head" in draft.pivots:
            points = _rotated(points, draft.pivots["head"], bend.nod)
        elif part.startswith(("tail", "cape", "wing")) and part in draft.pivots:
            sign = -1 if part.endswith("_l") else 1
            points = _rotated(points, draft.pivots[part], sign * math.radians(bend.sway))
        if bend.turn:
            points = _rotated(points, (float(middle[0]), float(middle[1])), bend.turn)
        return points - (0.0, bend.lift * tall)

    for shape in draft.shapes:
        depth = 3 if shape.part in bend.before else shape.depth
        moved.shapes.append(replace(shape, points=there(shape.points, shape.part), depth=depth))
    for name, at in draft.anchors.items():
        x, y = there(np.array([[at.x, at.y]]), at.part)[0]
        moved.anchors[name] = replace(at, x=float(x), y=float(y))
    return moved


def _folded(points: Points, limb: Bones, angles: Point) -> Points:
    """Points of a limb in other angles: those behind the joint go with the lower bone, those near it with both."""
    rest = limb.angles
    root, middle = np.array(limb.root), np.array(limb.middle)
    upper = _rotated(points, limb.root, angles[0] - rest[0])
    elbow = _rotated(middle[None, :], limb.root, angles[0] - rest[0])[0]
    lower = _rotated(points, limb.middle, angles[1] - rest[1]) + (elbow - middle)
    axis = np.array(limb.end) - root
    along = ((points - root) @ axis) / max(float(axis @ axis), 1e-9)
    share = ((along - 0.5) / _SOFT * 0.5 + 0.5).clip(0, 1)[:, None]
    return np.asarray(upper * (1 - share) + lower * share)


def _rotated(points: Points, around: Point, by: float) -> Points:
    """Around a point; a positive angle brings what hangs down to the right."""
    cosine, sine = math.cos(by), math.sin(by)
    away = points - around
    return np.asarray(
        np.stack([away[:, 0] * cosine + away[:, 1] * sine, away[:, 1] * cosine - away[:, 0] * sine], axis=1) + around
    )


def _angle(start: Point, stop: Point) -> float:
    return math.atan2(stop[0] - start[0], stop[1] - start[1])
