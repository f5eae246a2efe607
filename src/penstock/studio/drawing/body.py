"""Drawing the body of a character: it walks, dances, sings or waits.

The unit is the height of the head; the origin is where the neck begins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PIL import Image

from penstock.studio.drawing.canvas import Point, Sketch
from penstock.studio.drawing.character import Character
from penstock.studio.drawing.colour import INK, Colour, darker, lighter, mix

BODY = 2.8
"Width of the picture of a body."
LEGS = 1.9
"How far below the neck the feet are."
ABOVE = 1.15
"How far above the neck a raised hand may be."

CYCLES = {"walk": 1.1, "run": 0.66, "dance": 1.0, "sing": 2.0, "wave": 1.2, "look": 4.0}
"Seconds until a movement begins again."
STEPS = 24
"Pictures of a movement."


@dataclass(frozen=True, slots=True)
class Pose:
    """Where the limbs are: angles from hanging down, in radians; to the viewer's right is positive."""

    left_arm: Point
    "Upper arm and forearm."
    right_arm: Point
    left_leg: Point
    right_leg: Point
    lift: float = 0.0
    "How far the whole figure is off its rest, in heads; up is positive."
    lean: float = 0.0
    "How far the head is to the side."


def pose(action: str, part: float) -> Pose:
    """The pose in a part of the movement, from 0 to 1."""
    turn = 2 * math.pi * part
    swing, other = math.sin(turn), math.cos(turn)
    match action:
        case "walk" | "run":
            wide = 0.5 if action == "walk" else 0.8
            bend = 0.5 if action == "walk" else 1.1
            legs = [
                (wide * s, wide * s - bend * max(0.15, c))
                for s, c in ((swing, math.cos(turn)), (-swing, -math.cos(turn)))
            ]
            elbow = 0.35 if action == "walk" else 1.3
            return Pose(
                left_arm=(-wide * 0.9 * swing, -wide * 0.9 * swing + elbow),
                right_arm=(wide * 0.9 * swing, wide * 0.9 * swing + elbow),
                left_leg=legs[0],
                right_leg=legs[1],
                lift=0.045 * abs(other) * (1 if action == "walk" else 1.8),
                lean=0.03 if action == "walk" else 0.1,
            )
        case "dance":
            up = 0.5 + 0.5 * swing
            return Pose(
                left_arm=(-0.7 - 1.6 * up, -1.6 - 1.3 * up),
                right_arm=(0.7 + 1.6 * (1 - up), 1.6 + 1.3 * (1 - up)),
                left_leg=(-0.22 - 0.12 * other, -0.1),
                right_leg=(0.22 - 0.12 * other, 0.1),
                lift=0.07 * abs(other),
                lean=0.08 * swing,
            )
        case "sing":
            return Pose(
                left_arm=(-0.35, 1.9 + 0.08 * swing),
                right_arm=(0.75 + 0.4 * swing, 1.7 + 0.45 * swing),
                left_leg=(-0.13, -0.05),
                right_leg=(0.13, 0.05),
                lift=0.02 * math.sin(2 * turn),
                lean=0.05 * swing,
            )
        case "wave":
            return Pose(
                left_arm=(-0.22, -0.1 + 0.04 * other),
                right_arm=(1.75, 2.75 + 0.45 * swing),
                left_leg=(-0.12, -0.04),
                right_leg=(0.12, 0.04),
                lift=0.012 * other,
                lean=0.03 * swing,
            )
    return Pose(
        left_arm=(-0.2 + 0.03 * swing, -0.1),
        right_arm=(0.2 - 0.03 * swing, 0.1),
        left_leg=(-0.11, -0.03),
        right_leg=(0.11, 0.03),
        lift=0.014 * swing,
        lean=0.025 * other,
    )


def body(who: Character, action: str, part: float, unit: float, *, down: float = LEGS) -> Image.Image:
    """A body in a pose, without its head, as far down as is asked for; its top is ``ABOVE`` the neck."""
    now = pose(action, part)
    tall = 2 * max(ABOVE, down + 0.12)
    sketch = Sketch(BODY, tall, unit, fine=2)
    sideways = action in {"walk", "run"}
    spread = 0.12 if sideways else 0.36
    shoulder, hip = 0.16, 0.86
    metal = who.kind == "robot"
    cloth = who.clothes if not metal else mix(who.skin, who.clothes, 0.55)
    if "cape" in who.extras:
        sketch.shape(
            [(-0.3, 0.06), (0.3, 0.06), (0.62, 1.5), (-0.62 - 0.1 * now.lean, 1.5)], mix((176, 30, 50), cloth, 0.2)
        )
    if who.kind in {"cat", "fox", "dog"}:
        wag = 0.2 * math.sin(2 * math.pi * part)
        curl = [(-0.2 - 0.5 * math.sin(n / 4), 0.95 - 0.06 * n + wag * 0.02 * n) for n in range(10)]
        sketch.limb(curl, 0.12, darker(who.skin, 0.1))
    behind = darker(cloth, 0.22)
    _arm(sketch, who, (-spread, shoulder), now.left_arm, behind, shade=0.22)
    if down > 1:
        _leg(sketch, who, (-0.15 if not sideways else -0.04, hip), now.left_leg, shade=0.18)
        _leg(sketch, who, (0.15 if not sideways else 0.04, hip), now.right_leg, shade=0.0)
    _torso(sketch, who, cloth)
    _arm(sketch, who, (spread, shoulder), now.right_arm, cloth, shade=0.0)
    if action == "sing":
        hand = _ends((-spread, shoulder), now.left_arm)
        sketch.limb([hand, (hand[0] + 0.03, hand[1] - 0.2)], 0.07, (40, 40, 50))
        sketch.oval(hand[0] + 0.035, hand[1] - 0.25, 0.085, 0.085, (150, 154, 166))
    sketch.shade(darker(mix(cloth, INK, 0.5), 0.3), 0.22)
    picture = sketch.done()
    top = round((tall / 2 - ABOVE) * unit)
    return picture.crop((0, max(top, 0), picture.width, min(round((tall / 2 + down) * unit), picture.height)))


def _ends(start: Point, angles: Point, upper: float = 0.36, lower: float = 0.34) -> Point:
    x, y = start[0] + upper * math.sin(angles[0]), start[1] + upper * math.cos(angles[0])
    return x + lower * math.sin(angles[1]), y + lower * math.cos(angles[1])


def _arm(sketch: Sketch, who: Character, start: Point, angles: Point, colour: Colour, *, shade: float) -> None:
    elbow = (start[0] + 0.36 * math.sin(angles[0]), start[1] + 0.36 * math.cos(angles[0]))
    hand = _ends(start, angles)
    skin = darker(who.skin, shade)
    if who.kind == "robot":
        sketch.limb([start, elbow, hand], 0.11, darker(skin, 0.22))
        sketch.oval(*start, 0.12, 0.12, skin)
        sketch.oval(*elbow, 0.085, 0.085, darker(who.trim, 0.15 + shade))
        sketch.oval(*hand, 0.1, 0.1, skin)
        return
    sketch.limb([start, elbow], 0.2, colour)
    sketch.limb([elbow, hand], 0.17, colour)
    sketch.oval(*hand, 0.1, 0.1, skin if who.kind != "astronaut" else (200, 206, 216))


def _leg(sketch: Sketch, who: Character, start: Point, angles: Point, *, shade: float) -> None:
    knee = (start[0] + 0.44 * math.sin(angles[0]), start[1] + 0.44 * math.cos(angles[0]))
    foot = (knee[0] + 0.46 * math.sin(angles[1]), knee[1] + 0.46 * math.cos(angles[1]))
    if who.kind == "robot":
        sketch.limb([start, knee, foot], 0.13, darker(who.skin, 0.25 + shade))
        sketch.oval(*knee, 0.1, 0.1, darker(who.trim, 0.2 + shade))
        sketch.block(foot[0] + 0.05, foot[1] + 0.06, 0.19, 0.085, 0.07, darker(who.skin, 0.05 + shade))
        return
    cloth = who.clothes if who.kind == "astronaut" else who.trousers
    sketch.limb([start, knee, foot], 0.22, darker(cloth, shade))
    shoe = darker(who.skin, 0.1) if who.furry else darker(mix(cloth, who.trim, 0.3), 0.45)
    sketch.block(foot[0] + 0.05, foot[1] + 0.07, 0.18, 0.08, 0.075, darker(shoe, shade))


def _torso(sketch: Sketch, who: Character, cloth: Colour) -> None:
    if who.kind == "robot":
        sketch.block(0, 0.02, 0.13, 0.08, 0.03, darker(who.skin, 0.35))
        sketch.block(0, 0.47, 0.41, 0.42, 0.16, darker(cloth, 0.25))
        sketch.block(-0.01, 0.46, 0.395, 0.405, 0.15, cloth)
        sketch.block(0, 0.4, 0.22, 0.17, 0.06, (40, 46, 62))
        for n, x in enumerate((-0.12, 0.0, 0.12)):
            sketch.oval(x, 0.35, 0.032, 0.032, (who.trim, who.eyes, lighter(who.clothes, 0.3))[n])
        sketch.limb([(-0.14, 0.47), (0.14, 0.47)], 0.03, who.eyes)
        sketch.block(0, 0.76, 0.26, 0.05, 0.03, darker(cloth, 0.35))
    else:
        sketch.block(0, 0.04, 0.115, 0.12, 0.04, darker(who.skin, 0.14))
        shoulders = [(-0.16, 0.06), (0.16, 0.06), (0.4, 0.2), (0.33, 0.92), (-0.33, 0.92), (-0.4, 0.2)]
        sketch.shape(shoulders, cloth)
        for side in (-1, 1):
            sketch.oval(side * 0.32, 0.2, 0.125, 0.13, cloth)
        sketch.block(0, 0.88, 0.34, 0.09, 0.06, cloth)
        sketch.pie(0, 0.06, 0.15, 0.11, 0, 180, darker(who.skin, 0.06))
        if who.kind == "astronaut":
            sketch.block(0, 0.48, 0.2, 0.15, 0.04, (150, 160, 176))
            sketch.oval(-0.1, 0.45, 0.035, 0.035, (226, 76, 70))
            sketch.oval(0.0, 0.45, 0.035, 0.035, (90, 200, 130))
            sketch.block(0.1, 0.53, 0.06, 0.02, 0.01, (240, 240, 240))
        elif who.furry:
            sketch.oval(0, 0.55, 0.2, 0.28, lighter(cloth, 0.14))
        else:
            sketch.limb([(0, 0.2), (0, 0.84)], 0.015, darker(cloth, 0.22))
            sketch.block(0.16, 0.4, 0.075, 0.06, 0.015, lighter(cloth, 0.12))
    if "scarf" in who.extras:
        sketch.block(0, 0.1, 0.27, 0.09, 0.08, who.trim)
        sketch.limb([(0.14, 0.14), (0.2, 0.5)], 0.13, darker(who.trim, 0.12))
    if "bow tie" in who.extras:
        for side in (-1, 1):
            sketch.shape([(0, 0.16), (side * 0.15, 0.09), (side * 0.15, 0.23)], INK)
