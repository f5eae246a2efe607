"""How drafts move: parts turn around their pivots, and the whole bobs, leans and is squashed; all in loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from penstock.studio.concept.contours import Points, rotated
from penstock.studio.concept.draft import Draft


@dataclass(frozen=True, slots=True)
class Posture:
    """A moment of a movement, in parts of the height of whoever moves."""

    turns: Mapping[str, float] = field(default_factory=dict)
    "Degrees by part; a name may end in a star."
    lifts: Mapping[str, float] = field(default_factory=dict)
    bob: float = 0.0
    "How far everything but the legs goes up."
    lean: float = 0.0
    squash: float = 0.0
    "How much lower and wider it gets."
    hop: float = 0.0


Movement = Callable[[float], Posture]
"From the part of a loop that is over to a pose."

_LEGS = ("leg", "hind", "fore")


def posed(draft: Draft, pose: Posture) -> Draft:
    """A draft in a pose; what can be put on it moves along."""
    left, top, right, bottom = draft.bounds()
    tall, middle = max(bottom - top, 1e-6), (left + right) / 2
    moved = Draft(dict(draft.inks), draft.rng, draft.traits, words=draft.words, mood=draft.mood)

    def there(points: Points, part: str) -> Points:
        turn = _of(pose.turns, part)
        if turn and part in draft.pivots:
            pivot = draft.pivots[part]
            points = rotated(points - pivot, turn) + pivot
        lift = _of(pose.lifts, part) + (0.0 if part.startswith(_LEGS) else pose.bob)
        return _whole(points - (0.0, lift * tall), pose, middle, bottom, tall)

    for shape in draft.shapes:
        moved.shapes.append(replace(shape, points=there(shape.points, shape.part)))
    for name, at in draft.anchors.items():
        x, y = there(np.array([[at.x, at.y]]), at.part)[0]
        moved.anchors[name] = replace(at, x=float(x), y=float(y))
    return moved


def _whole(points: Points, pose: Posture, middle: float, bottom: float, tall: float) -> Points:
    """What happens to everything: squashed on the ground, leaning from it, and off it."""
    scaled = (points - (middle, bottom)) * (1 + pose.squash * 0.6, 1 - pose.squash)
    return np.asarray(rotated(scaled, pose.lean) + np.array([middle, bottom - pose.hop * tall]))


def _of(values: Mapping[str, float], part: str) -> float:
    if part in values:
        return values[part]
    return next((value for name, value in values.items() if name.endswith("*") and part.startswith(name[:-1])), 0.0)


def _wave(part: float, shift: float = 0.0) -> float:
    return math.sin(2 * math.pi * (part + shift))


def _breathe(t: float) -> Posture:
    return Posture(
        turns={
            "arm_r": 3.0 * _wave(t),
            "arm_l": -3.0 * _wave(t),
            "head": 1.2 * _wave(t, 0.1),
            "tail*": 6 * _wave(t),
            "cape": 1.6 * _wave(t),
            "wing_r": 6 * _wave(t),
            "wing_l": -6 * _wave(t),
        },
        lifts={"head": 0.006 * _wave(t, -0.1)},
        bob=0.008 * (1 + _wave(t)),
    )


def _stride(t: float) -> Posture:
    swing = _wave(t)
    return Posture(
        turns={
            "arm_r": 17 * swing,
            "arm_l": 17 * swing,
            "leg_r": -7 * swing,
            "leg_l": -7 * swing,
            "head": -3 * swing,
            "tail*": 10 * swing,
            "cape": 4 * swing,
            "wing_r": 10 * swing,
            "wing_l": -10 * swing,
        },
        lifts={"leg_r": 0.07 * max(swing, 0.0), "leg_l": 0.07 * max(-swing, 0.0)},
        bob=0.022 * abs(_wave(t, 0.25)),
        lean=2.2 * swing,
    )


def _stand(t: float) -> Posture:
    return Posture(
        turns={
            "tail": 10 * _wave(2 * t),
            "head": 2.4 * _wave(t),
            "trunk": 6 * _wave(t),
            "wing_r": 9 * _wave(t),
            "wing_l": 9 * _wave(t),
        },
        bob=0.008 * (1 + _wave(t)),
    )


def _trot(t: float) -> Posture:
    near, far = 24 * _wave(t), -24 * _wave(t)
    return Posture(
        turns={
            "hind_near": near,
            "fore_far": near,
            "hind_far": far,
            "fore_near": far,
            "head": 3 * _wave(2 * t),
            "tail": 10 * _wave(t),
            "wing_r": 14 * _wave(t),
            "wing_l": 14 * _wave(t),
            "trunk": 8 * _wave(t),
        },
        lifts={
            "hind_near": 0.03 * max(_wave(t, 0.25), 0),
            "fore_far": 0.03 * max(_wave(t, 0.25), 0),
            "hind_far": 0.03 * max(_wave(t, 0.75), 0),
            "fore_near": 0.03 * max(_wave(t, 0.75), 0),
        },
        bob=0.018 * abs(_wave(t)),
    )


def _hover(t: float) -> Posture:
    return Posture(
        turns={
            "wing_r": 10 * _wave(t),
            "wing_l": -10 * _wave(t),
            "tail": 5 * _wave(t),
            "arm_r": 6 * _wave(t),
            "arm_l": -6 * _wave(t),
            "stalk*": 5 * _wave(t),
        },
        hop=0.02 * (1 + _wave(t)),
    )


def _fly(t: float) -> Posture:
    return Posture(
        turns={
            "wing_r": 26 * _wave(t),
            "wing_l": -26 * _wave(t),
            "tail": 8 * _wave(t, 0.2),
            "arm_r": 14 * _wave(t),
            "arm_l": -14 * _wave(t),
            "leg_near": 16 * _wave(t),
            "leg_far": -16 * _wave(t),
            "stalk*": 10 * _wave(t),
        },
        hop=0.05 * (1 + _wave(t, 0.25)),
        lean=3 * _wave(t, 0.4),
    )


def _drift(t: float) -> Posture:
    return Posture(turns={"tail": 7 * _wave(t), "wing_r": 8 * _wave(t)}, hop=0.02 * (1 + _wave(t)))


def _swim(t: float) -> Posture:
    return Posture(
        turns={"tail": 20 * _wave(t), "wing_r": 20 * _wave(t, 0.3)}, hop=0.03 * (1 + _wave(t)), lean=3.5 * _wave(t, 0.2)
    )


def _lurk(t: float) -> Posture:
    return Posture(
        turns={
            "leg0*": 2 * _wave(t),
            "leg2*": -2 * _wave(t),
            "arm_r": 5 * _wave(t),
            "arm_l": -5 * _wave(t),
            "tail": 5 * _wave(t),
            "head": 2 * _wave(t),
        },
        bob=0.012 * (1 + _wave(t)),
    )


def _scuttle(t: float) -> Posture:
    turns = {
        f"leg{n}{side}": 11 * _wave(t, 0.5 * ((n + (side == "_l")) % 2)) for n in range(5) for side in ("_r", "_l", "")
    }
    return Posture(
        turns={**turns, "arm_r": 9 * _wave(t), "arm_l": -9 * _wave(t), "tail": 9 * _wave(t), "head": 3 * _wave(t)},
        bob=0.02 * (1 + _wave(2 * t)),
        lean=1.5 * _wave(t),
    )


def _jiggle(t: float) -> Posture:
    return Posture(
        turns={
            "arm*": 4 * _wave(t),
            "wing_r": 5 * _wave(t),
            "wing_l": -5 * _wave(t),
            "head": 1.5 * _wave(t),
            "leg_mid*": 3 * _wave(t),
        },
        squash=0.035 * (1 + _wave(t)),
    )


def _bounce(t: float) -> Posture:
    up = max(_wave(t), 0.0)
    return Posture(
        turns={
            "arm_r": 14 * up,
            "arm_l": -14 * up,
            "wing_r": -18 * up,
            "wing_l": 18 * up,
            "leg_near": 14 * _wave(t),
            "leg_far": -14 * _wave(t),
        },
        hop=0.16 * up,
        squash=0.1 * max(-_wave(t), 0.0) - 0.06 * up,
        lean=3 * _wave(t, 0.25),
    )


def _rest(t: float) -> Posture:
    return Posture(
        turns={"wheel*": 30 * _wave(t), "tail": 4 * _wave(t), "head": 3 * _wave(t)},
        squash=0.018 * (1 + _wave(t)),
        hop=0.012 * (1 + _wave(t, 0.5)),
    )


def _tumble(t: float) -> Posture:
    return Posture(
        turns={"wheel*": 360 * t, "tail": 8 * _wave(t), "head": 360 * t},
        hop=0.07 * abs(_wave(t)),
        lean=7 * _wave(t),
        squash=0.05 * (1 - abs(_wave(t))),
    )


MOVEMENTS: Mapping[str, tuple[Movement, Movement]] = {
    "biped": (_breathe, _stride),
    "quadruped": (_stand, _trot),
    "flyer": (_hover, _fly),
    "swimmer": (_drift, _swim),
    "crawler": (_lurk, _scuttle),
    "hopper": (_jiggle, _bounce),
    "thing": (_rest, _tumble),
}
"Idle and walk, by stance."


def moment(n: int, count: int) -> float:
    """When a frame of a loop is: not where a swing is as far as it was, or will be, in another frame."""
    return (n + 0.3) / count


def loop(draft: Draft, stance: str, clip: str, count: int) -> list[Draft]:
    """So many drafts of one loop."""
    movement = MOVEMENTS[stance][0 if clip == "idle" else 1]
    return [posed(draft, movement(moment(n, count))) for n in range(count)]


def union(drafts: list[Draft]) -> tuple[float, float, float, float]:
    """What all of them take together."""
    every = np.array([draft.bounds() for draft in drafts])
    return float(every[:, 0].min()), float(every[:, 1].min()), float(every[:, 2].max()), float(every[:, 3].max())
