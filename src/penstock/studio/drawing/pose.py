"""What somebody does, moment by moment: how arms, legs and head are while they walk, sing, sit or swim."""

from __future__ import annotations

import math
from dataclasses import dataclass

from penstock.studio.concept.joints import Bend, Bones
from penstock.studio.drawing.canvas import Point

CYCLES = {
    "walk": 1.1,
    "run": 0.66,
    "dance": 1.0,
    "sing": 2.0,
    "wave": 1.2,
    "stand": 4.0,
    "look": 4.0,
    "sit": 4.0,
    "jump": 1.2,
    "swim": 2.0,
    "fly": 2.0,
    "skate": 1.6,
    "play": 1.0,
}
"Seconds until a movement begins again."
STEPS = {"stand": 4, "look": 4, "sit": 4, "sing": 6, "wave": 6, "skate": 6, "play": 6}
"Pictures of a movement; of what is not named there are more."
MOST_STEPS = 10
TRAVELS = frozenset({"walk", "run", "skate", "swim", "fly"})
"Movements that go somewhere."


@dataclass(frozen=True, slots=True)
class _Limbs:
    """Angles of upper and lower bone: arms and legs, to the viewer's left and right."""

    left_arm: Point = (-0.3, -0.18)
    right_arm: Point = (0.3, 0.18)
    left_leg: Point = (-0.1, -0.05)
    right_leg: Point = (0.1, 0.05)
    lift: float = 0.0
    nod: float = 0.0
    turn: float = 0.0
    sway: float = 0.0

    def bend(self) -> Bend:
        limbs = {
            "arm_l": self.left_arm,
            "arm_r": self.right_arm,
            "leg_l": self.left_leg,
            "leg_r": self.right_leg,
        }
        return Bend(limbs, nod=self.nod, lift=self.lift, turn=self.turn, sway=self.sway)


def pose(action: str, part: float, limbs: dict[str, Bones]) -> Bend:
    """The pose in a part of the movement, from 0 to 1, of somebody with such limbs."""
    now = _POSES.get(action, _look)(2 * math.pi * part)
    bend = now.bend()
    if "leg_l" in limbs and "leg_r" not in limbs:
        # A tail: it swings, and never walks.
        swing = math.sin(2 * math.pi * part)
        bend = Bend(
            {**bend.limbs, "leg_l": (0.12 * swing, 0.36 * math.sin(2 * math.pi * part - 0.8))},
            nod=bend.nod,
            lift=0.02 * (1 + swing) if action != "jump" else bend.lift,
            turn=bend.turn if action in {"swim", "fly"} else 0.0,
            sway=bend.sway,
        )
    return bend


def _walk(turn: float) -> _Limbs:
    return _strides(turn, wide=0.42, knee=0.5, elbow=0.35)


def _run(turn: float) -> _Limbs:
    return _strides(turn, wide=0.72, knee=1.1, elbow=1.3)


def _strides(turn: float, *, wide: float, knee: float, elbow: float) -> _Limbs:
    swing, other = math.sin(turn), math.cos(turn)
    return _Limbs(
        left_arm=(-wide * 0.9 * swing - 0.12, -wide * 0.9 * swing + elbow * 0.6),
        right_arm=(wide * 0.9 * swing + 0.12, wide * 0.9 * swing + elbow),
        left_leg=(wide * swing, wide * swing - knee * max(0.15, other)),
        right_leg=(-wide * swing, -wide * swing - knee * max(0.15, -other)),
        lift=0.022 * abs(other) * (1 + elbow),
        nod=0.04 * swing,
        sway=8 * swing,
    )


def _dance(turn: float) -> _Limbs:
    swing, other = math.sin(turn), math.cos(turn)
    up = 0.5 + 0.5 * swing
    return _Limbs(
        left_arm=(-0.9 - 1.5 * up, -1.7 - 1.2 * up),
        right_arm=(0.9 + 1.5 * (1 - up), 1.7 + 1.2 * (1 - up)),
        left_leg=(-0.3 - 0.16 * other, -0.02),
        right_leg=(0.3 - 0.16 * other, 0.02),
        lift=0.035 * abs(other),
        nod=-0.14 * swing,
        sway=12 * swing,
    )


def _sing(turn: float) -> _Limbs:
    swing = math.sin(turn)
    return _Limbs(
        right_arm=(0.85 + 0.3 * swing, 1.5 + 0.4 * swing),
        lift=0.006 * (1 + math.sin(2 * turn)),
        nod=-0.05 * swing,
        sway=4 * swing,
    )


def _wave(turn: float) -> _Limbs:
    swing = math.sin(turn)
    return _Limbs(right_arm=(1.9, 2.75 + 0.4 * swing), lift=0.005 * (1 + swing), nod=0.04 * swing, sway=4 * swing)


def _look(turn: float) -> _Limbs:
    swing = math.sin(turn)
    return _Limbs(
        left_arm=(-0.3 - 0.02 * swing, -0.18),
        right_arm=(0.3 + 0.02 * swing, 0.18),
        nod=0.03 * math.cos(turn),
        sway=5 * swing,
    )


def _sit(turn: float) -> _Limbs:
    """Knees apart and to the front, shins down, hands on the thighs."""
    swing = math.sin(turn)
    return _Limbs(
        left_arm=(-0.35, 0.25),
        right_arm=(0.35, -0.25),
        left_leg=(-0.95, 0.06),
        right_leg=(0.95, -0.06),
        nod=0.03 * swing,
        sway=4 * swing,
    )


def _jump(turn: float) -> _Limbs:
    up = abs(math.sin(turn / 2))
    return _Limbs(
        left_arm=(-0.6 - 1.9 * up, -0.4 - 2.3 * up),
        right_arm=(0.6 + 1.9 * up, 0.4 + 2.3 * up),
        left_leg=(-0.2 - 0.55 * up, 0.1 - 0.15 + 0.9 * up),
        right_leg=(0.2 + 0.55 * up, 0.05 - 0.9 * up),
        lift=0.3 * up,
    )


def _swim(turn: float) -> _Limbs:
    """Lying in the water, head to the right, one arm ahead."""
    swing = math.sin(turn)
    return _Limbs(
        left_arm=(-2.5 + 0.5 * swing, -2.8 + 0.3 * swing),
        right_arm=(0.5 + 0.5 * swing, 0.3 + 0.4 * swing),
        left_leg=(-0.1 + 0.24 * swing, 0.1 + 0.3 * swing),
        right_leg=(0.1 - 0.24 * swing, -0.1 - 0.3 * swing),
        lift=0.02 * math.sin(turn + 1),
        nod=-0.25,
        turn=-1.05,
        sway=10 * swing,
    )


def _fly(turn: float) -> _Limbs:
    """Through the air, head ahead, both arms stretched."""
    swing = math.sin(turn)
    return _Limbs(
        left_arm=(-2.7, -2.9 + 0.06 * swing),
        right_arm=(0.5 + 0.1 * swing, 0.3),
        left_leg=(-0.12, -0.05 + 0.1 * swing),
        right_leg=(0.12, 0.3 - 0.1 * swing),
        lift=0.03 * swing,
        nod=-0.25,
        turn=-1.0 + 0.05 * swing,
        sway=16 * swing,
    )


def _skate(turn: float) -> _Limbs:
    swing = math.sin(turn)
    return _Limbs(
        left_arm=(-1.35 + 0.15 * swing, -1.2),
        right_arm=(1.35 + 0.15 * swing, 1.5),
        left_leg=(-0.5, 0.1),
        right_leg=(0.5, -0.1),
        nod=-0.06 * swing,
        turn=-0.05 + 0.05 * swing,
        sway=8,
    )


def _play(turn: float) -> _Limbs:
    """To the beat of what is played; where the hands are, the instrument tells."""
    swing = math.sin(turn)
    return _Limbs(lift=0.008 * (1 + math.sin(2 * turn)), nod=0.1 * swing, sway=6 * swing)


_POSES = {
    "walk": _walk,
    "run": _run,
    "dance": _dance,
    "sing": _sing,
    "wave": _wave,
    "look": _look,
    "stand": _look,
    "sit": _sit,
    "jump": _jump,
    "swim": _swim,
    "fly": _fly,
    "skate": _skate,
    "play": _play,
}
