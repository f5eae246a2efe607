"""What can be done with each kind of rig: stand, walk, wave, wag, turn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from penstock.studio.modelling.geometry import between, multiplied, turn, turn_from, unit
from penstock.studio.modelling.model import Clip, Doubles, Model
from penstock.studio.modelling.movement import UP, Movement
from penstock.studio.modelling.skeletons import ENDS, HUMANOID, QUADRUPED, SIDES
from penstock.studio.modelling.stride import Leg, leg_length, reach_for, step

_AHEAD = np.array([0.0, 0.0, 1.0])
_LEGS = {side: Leg(f"{side}UpperLeg", f"{side}LowerLeg", f"{side}Foot") for side in SIDES}
_FOUR = {
    (side, end): Leg(f"{side}{end}UpperLeg", f"{side}{end}LowerLeg", f"{side}{end}Foot", 1 if end == "Front" else -1)
    for side in SIDES
    for end in ENDS
}


def motions(model: Model, kind: str, notes: Mapping[str, bool]) -> list[Clip]:
    """The clips of a kind of rig, made for the bones of a model; ``notes`` are what its rigger has said."""
    if kind == HUMANOID:
        return [_idle(model, notes), _walk(model, notes), _wave(model, notes)]
    if kind == QUADRUPED:
        return [_idle_animal(model), _walk_animal(model, notes), _wag(model)]
    return [_turntable(model)]


def _started(model: Model, *, seconds: float, keys: int, forward: Doubles = _AHEAD) -> Movement:
    assert model.skeleton is not None
    return Movement(model.skeleton, forward, seconds=seconds, keys=keys)


def _idle(model: Model, notes: Mapping[str, bool]) -> Clip:
    """Breathes, and looks around a little."""
    movement = _started(model, seconds=4.0, keys=33)
    breath = movement.wave(2)
    movement.pitch("spine", 0.012 * breath)
    movement.pitch("chest", -0.03 * breath)
    movement.yaw("neck", 0.05 * movement.wave(1))
    movement.pitch("head", 0.025 * movement.wave(2, 0.15))
    movement.yaw("head", 0.09 * movement.wave(1))
    for side, sign in (("left", 1), ("right", -1)):
        _relax(movement, side, sign, notes, swing=0.02 * movement.wave(2, 0.2), out=0.03 * breath)
    _stand(movement)
    return movement.clip("idle")


def _walk(model: Model, notes: Mapping[str, bool]) -> Clip:
    """A step with each foot, on the spot."""
    movement = _started(model, seconds=1.0, keys=25)
    long = _leg(movement)
    free = notes.get("legsFree", True)
    stride = (0.62 if free else 0.25) * long
    movement.shift[:, 1] = -0.035 * long - 0.02 * long * np.cos(4 * np.pi * movement.phase)
    movement.yaw("hips", 0.1 * movement.wave(1, -0.25))
    movement.yaw("spine", -0.08 * movement.wave(1, -0.25))
    movement.yaw("chest", -0.12 * movement.wave(1, -0.25))
    movement.pitch("spine", 0.03 + 0.015 * movement.wave(2))
    movement.yaw("head", 0.1 * movement.wave(1, -0.25))
    movement.pitch("head", 0.02 * movement.wave(2, 0.2))
    for n, (side, sign) in enumerate((("left", 1), ("right", -1))):
        step(movement, _LEGS[side], delay=0.5 * n, length=stride, lift=0.17 * long if free else 0.06 * long)
        ahead = -movement.wave(1, -0.25 + 0.5 * n)
        _relax(movement, side, sign, notes, swing=0.5 * ahead, out=0.0, bend=0.25 + 0.18 * ahead)
    movement.grounded(model)
    return movement.clip("walk")


def _wave(model: Model, notes: Mapping[str, bool]) -> Clip:
    """Lifts a hand and waves it, and lets it sink again."""
    movement = _started(model, seconds=2.4, keys=49)
    side, sign = ("left", 1) if _ease(notes, "left") > _ease(notes, "right") else ("right", -1)
    other = "left" if side == "right" else "right"
    beside = _beside_head(model, side)
    raised = _smooth_step(movement.phase / 0.22) * _smooth_step((1 - movement.phase) / 0.22)
    beat = np.sin(2 * np.pi * 3.5 * np.clip((movement.phase - 0.2) / 0.6, 0, 1)) * raised
    movement.roll("spine", -0.04 * sign * raised)
    movement.roll("head", -0.1 * sign * raised + 0.03 * beat)
    movement.pitch("chest", -0.02 * raised)
    _relax(movement, other, -sign, notes, swing=0.03 * raised, out=0.04 * raised)
    _relax(movement, side, sign, notes, swing=0.0, out=0.0)
    hanging = {part: movement.world(side + part) for part in ("Shoulder", "UpperArm", "LowerArm", "Hand")}
    sideways = sign * movement.left
    movement.set(f"{side}Shoulder", turn(movement.forward, 0.18 * sign * raised))
    lifted = sideways * 0.9 + UP * 0.3 + movement.forward * 0.25
    swung = np.outer(0.3 + beside + 0.42 * beat, sideways) + UP * (0.95 - 0.3 * beside) + movement.forward * 0.2
    for joint, tip, further in (("UpperArm", "LowerArm", lifted), ("LowerArm", "Hand", swung)):
        # Over the side always: straight from below to above there is no telling which way round.
        aside = turn_from(movement.rest(side + tip) - movement.rest(side + joint), lifted)
        there = multiplied(turn_from(lifted, further), aside)
        movement.set(side + joint, between(hanging[joint], there, raised[:, None]))
    _stand(movement)
    return movement.clip("wave")


def _ease(notes: Mapping[str, bool], side: str) -> int:
    """How easily an arm is lifted."""
    return int(notes.get(f"{side}ArmFree", True)) - int(notes.get(f"{side}Holds", False))


def _beside_head(model: Model, side: str) -> float:
    """How far to the side a hand must wave, so as not to go into a head that is wider than the shoulders: 0 to 1."""
    assert model.skeleton is not None
    assert model.joints is not None
    names, places = model.skeleton.names, model.skeleton.positions
    head, shoulder, hand = (names.index(name) for name in ("head", f"{side}UpperArm", f"{side}Hand"))
    there = model.positions[model.joints[:, 0] == head]
    if not len(there):
        return 0.0
    wide = float(np.abs(there[:, 0] - places[head, 0]).max())
    off = abs(float(places[shoulder, 0] - places[head, 0]))
    arm = max(float(np.linalg.norm(places[hand] - places[shoulder])), 1e-6)
    return float(np.clip((wide - off) / arm, 0, 1))


def _relax(
    movement: Movement,
    side: str,
    sign: int,
    notes: Mapping[str, bool],
    *,
    swing: Doubles | float,
    out: Doubles | float,
    bend: Doubles | float = 0.0,
) -> None:
    """Let an arm hang, however it was modelled; it swings forward, a little out, and bends at the elbow."""
    free, holds = notes.get(f"{side}ArmFree", True), notes.get(f"{side}Holds", False)
    upper, lower = movement.rest(f"{side}UpperArm"), movement.rest(f"{side}LowerArm")
    steep = float(unit(lower - upper)[1])
    hangs = not free or holds or steep < -0.75
    if not hangs:
        # Held out to the side, as models often are, or up.
        down = unit(movement.left * sign * 0.42 - UP)
        movement.point(f"{side}UpperArm", f"{side}LowerArm", down)
        movement.point(f"{side}LowerArm", f"{side}Hand", unit(movement.left * sign * 0.22 - UP))
    scale = 1.0 if free and not holds else 0.3
    turned = turn(movement.left, -np.asarray(swing) * scale * np.ones(movement.keys))
    movement.add(f"{side}UpperArm", turned)
    movement.add(f"{side}UpperArm", turn(movement.forward, np.asarray(out) * scale * sign * np.ones(movement.keys)))
    if not hangs:
        movement.add(f"{side}LowerArm", turned)
    movement.add(f"{side}LowerArm", turn(movement.left, -np.asarray(bend) * scale * np.ones(movement.keys)))
    if holds:
        # A staff stays upright, and a sword points where it points.
        movement.set(f"{side}Hand", np.array([0.0, 0.0, 0.0, 1.0]))


def _leg(movement: Movement) -> float:
    return float(np.mean([leg_length(movement, leg) for leg in _LEGS.values()]))


def _stand(movement: Movement) -> None:
    """Both feet stay where they are, whatever the hips do."""
    still = np.zeros(movement.keys)
    if np.abs(movement.shift).max() > 0:
        for leg in _LEGS.values():
            reach_for(movement, leg, still, still, still)


def _smooth_step(values: Doubles) -> Doubles:
    values = np.clip(values, 0, 1)
    return values * values * (3 - 2 * values)


def _ahead(model: Model) -> Doubles:
    """Which way an animal looks: from its hips to its chest, along the axis that is nearest."""
    assert model.skeleton is not None
    names = model.skeleton.names
    way = model.skeleton.positions[names.index("chest")] - model.skeleton.positions[names.index("hips")]
    return (
        np.array([np.sign(way[0]), 0.0, 0.0])
        if abs(way[0]) > abs(way[2])
        else np.array([0.0, 0.0, np.sign(way[2]) or 1.0])
    )


def _idle_animal(model: Model) -> Clip:
    """Breathes, looks around, and lets its tail hang about."""
    movement = _started(model, seconds=4.0, keys=33, forward=_ahead(model))
    breath = movement.wave(2)
    movement.pitch("neck", 0.03 * breath)
    movement.yaw("neck", 0.08 * movement.wave(1))
    movement.pitch("head", 0.05 * movement.wave(2, 0.2))
    movement.yaw("head", 0.12 * movement.wave(1, 0.05))
    movement.yaw("tail", 0.12 * movement.wave(1))
    movement.yaw("tailTip", 0.14 * movement.wave(1, 0.1))
    return movement.clip("idle")


def _walk_animal(model: Model, notes: Mapping[str, bool]) -> Clip:
    """Four steps one after the other; legs that were modelled as one go together."""
    movement = _started(model, seconds=1.2, keys=29, forward=_ahead(model))
    long = float(np.mean([leg_length(movement, leg) for leg in _FOUR.values()]))
    movement.shift[:, 1] = -0.03 * long + 0.012 * long * movement.wave(2)
    movement.pitch("neck", 0.06 * movement.wave(2, 0.1))
    movement.pitch("head", 0.04 * movement.wave(2, 0.25))
    movement.yaw("tail", 0.15 * movement.wave(1))
    movement.yaw("tailTip", 0.18 * movement.wave(1, 0.12))
    for (side, end), leg in _FOUR.items():
        free = notes.get(f"{end.lower()}LegsFree", True)
        beat = {"left": 0.0, "right": 0.5 if free else 0.12}[side] + (0.25 if end == "Front" else 0.0)
        beat += 0.25 if end == "Front" and not free else 0.0
        step(movement, leg, delay=beat, length=(0.5 if free else 0.36) * long, lift=0.16 * long)
    movement.grounded(model)
    return movement.clip("walk")


def _wag(model: Model) -> Clip:
    """Wags its tail, and its hips a little with it."""
    movement = _started(model, seconds=1.0, keys=25, forward=_ahead(model))
    movement.yaw("tail", 0.5 * movement.wave(2))
    movement.yaw("tailTip", 0.45 * movement.wave(2, 0.1))
    movement.roll("head", 0.08 * movement.wave(1))
    movement.pitch("neck", -0.06 + 0.02 * movement.wave(2))
    return movement.clip("wag")


def _turntable(model: Model) -> Clip:
    """Turns once around itself, slowly."""
    movement = _started(model, seconds=8.0, keys=17)
    root = movement.skeleton.names[0]
    movement.set(root, turn(UP, 2 * np.pi * movement.phase))
    clip = movement.clip("idle")
    # Round once, a quaternion is its own opposite: the same turn, and the short way from the key before.
    clip.rotations[-1, 0] = -clip.rotations[0, 0]
    return clip
