"""Drawing the head of a character: a robot's, an animal's or a human's, looking at us with its mouth closed.

The unit is the height of the head; the origin is its middle.
"""

from __future__ import annotations

import math

from PIL import Image

from penstock.studio.drawing.canvas import Sketch
from penstock.studio.drawing.character import Character
from penstock.studio.drawing.colour import INK, WHITE, darker, lighter, mix

HEAD = (2.3, 2.3)
"Size of the picture of a head."
NECK = 0.47
"The neck is so far below the middle of the head."

MOUTHS: dict[str, float] = {"robot": 0.25, "person": 0.265, "astronaut": 0.255, "alien": 0.29}
"How far below the middle of the head the mouth is."
MUZZLE = 0.27


def mouth_of(character: Character) -> float:
    return MOUTHS.get(character.kind, MUZZLE)


def head(character: Character, unit: float, *, blink: bool = False, glance: float = 0.0) -> Image.Image:
    """A head with its mouth closed; ``glance`` is where it looks, from -1 to 1."""
    sketch = Sketch(*HEAD, unit)
    if character.kind == "robot":
        _robot_head(sketch, character, blink, glance)
    elif character.furry:
        _furry_head(sketch, character, blink, glance)
    else:
        _human_head(sketch, character, blink, glance)
    _worn(sketch, character)
    return sketch.done()


def _robot_head(sketch: Sketch, who: Character, blink: bool, glance: float) -> None:
    metal, shadow = who.skin, darker(who.skin, 0.28)
    if "antenna" in who.extras:
        sketch.limb([(0, -0.45), (0, -0.68)], 0.035, shadow)
        sketch.oval(0, -0.73, 0.075, 0.075, who.trim)
        sketch.oval(-0.02, -0.75, 0.025, 0.025, lighter(who.trim, 0.6))
    for side in (-1, 1):
        sketch.block(side * 0.56, 0.0, 0.08, 0.16, 0.05, shadow)
        sketch.oval(side * 0.62, 0.0, 0.05, 0.09, who.trim)
    sketch.block(0, 0, 0.54, 0.46, 0.19, shadow)
    sketch.block(0, -0.015, 0.53, 0.445, 0.18, metal)
    sketch.block(-0.04, -0.26, 0.42, 0.13, 0.12, lighter(metal, 0.28))
    sketch.block(0, -0.03, 0.44, 0.21, 0.17, (34, 40, 54))
    for side in (-1, 1):
        x = side * 0.2 + glance * 0.05
        if blink:
            sketch.limb([(x - 0.08, -0.03), (x + 0.08, -0.03)], 0.03, who.eyes)
            continue
        sketch.oval(x, -0.03, 0.125, 0.145, darker(who.eyes, 0.55))
        sketch.oval(x, -0.03, 0.095, 0.115, who.eyes)
        sketch.oval(x - 0.03, -0.07, 0.035, 0.04, lighter(who.eyes, 0.75))
    sketch.block(0, MOUTHS["robot"], 0.2, 0.075, 0.05, darker(metal, 0.14))
    sketch.limb([(-0.07, MOUTHS["robot"]), (0.07, MOUTHS["robot"])], 0.022, INK)
    for x, y in ((-0.44, 0.32), (0.44, 0.32), (-0.44, -0.32), (0.44, -0.32)):
        sketch.oval(x, y, 0.022, 0.022, shadow)


def _human_head(sketch: Sketch, who: Character, blink: bool, glance: float) -> None:
    skin, blush = who.skin, mix(who.skin, (226, 92, 92), 0.32)
    if who.kind == "astronaut":
        sketch.oval(0, 0, 0.74, 0.74, (214, 220, 230))
        sketch.oval(0, 0.0, 0.66, 0.66, (64, 84, 116))
    hair = who.tresses
    if who.kind == "person":
        if who.hair == "long":
            sketch.oval(0, -0.03, 0.56, 0.56, darker(hair, 0.2))
            sketch.block(0, 0.28, 0.55, 0.42, 0.2, darker(hair, 0.2))
        elif who.hair == "curly":
            for n in range(15):
                turn = math.pi * (0.86 + 1.28 * n / 14)
                sketch.oval(0.5 * math.cos(turn), -0.08 + 0.46 * math.sin(turn), 0.17, 0.17, hair)
    if who.kind == "alien":
        for side in (-1, 1):
            sketch.limb([(side * 0.14, -0.4), (side * 0.26, -0.7)], 0.035, darker(skin, 0.15))
            sketch.oval(side * 0.27, -0.73, 0.07, 0.07, who.trim)
        sketch.oval(0, -0.07, 0.5, 0.44, skin)
        sketch.oval(0, 0.16, 0.36, 0.34, skin)
    else:
        for side in (-1, 1):
            sketch.oval(side * 0.43, 0.04, 0.085, 0.12, darker(skin, 0.1))
        sketch.oval(0, 0, 0.43, 0.48, darker(skin, 0.07))
        sketch.oval(-0.012, -0.012, 0.415, 0.465, skin)
    for side in (-1, 1):
        sketch.oval(side * 0.26, 0.17, 0.085, 0.06, blush)
    _eyes(sketch, who, blink, glance)
    if who.kind != "alien":
        sketch.limb([(0.0, 0.06), (0.025, 0.13), (-0.01, 0.145)], 0.022, darker(skin, 0.25))
    y = mouth_of(who)
    sketch.limb([(-0.07, y), (0.0, y + 0.018), (0.07, y)], 0.026, mix(darker(skin, 0.4), (150, 48, 56), 0.5))
    if who.kind == "person":
        _hair_on_top(sketch, who)
    if who.kind == "astronaut":
        sketch.arc(0, 0, 0.6, 200, 255, (236, 244, 255), 0.035)
        sketch.block(0, 0.66, 0.5, 0.1, 0.08, (190, 198, 212))


def _eyes(sketch: Sketch, who: Character, blink: bool, glance: float) -> None:
    tall = 0.155 if who.kind == "alien" else 0.098
    wide = 0.115 if who.kind == "alien" else 0.08
    for side in (-1, 1):
        x, y = side * 0.175, -0.02
        if blink:
            sketch.limb([(x - 0.07, y), (x, y + 0.02), (x + 0.07, y)], 0.022, INK)
        elif who.kind == "alien":
            sketch.oval(x, y, wide, tall, (22, 22, 34))
            sketch.oval(x - 0.03, y - 0.06, 0.035, 0.045, WHITE)
        else:
            sketch.oval(x, y, wide, tall, (252, 252, 250))
            sketch.oval(x + glance * 0.02, y + 0.008, 0.055, 0.068, darker(who.eyes, 0.4))
            sketch.oval(x + glance * 0.022, y + 0.008, 0.032, 0.042, INK)
            sketch.oval(x + glance * 0.02 - 0.02, y - 0.026, 0.018, 0.02, WHITE)
        if who.kind != "alien":
            brow = darker(who.tresses, 0.1)
            sketch.limb([(x - 0.075, -0.155 + 0.01), (x, -0.175), (x + 0.07, -0.155)], 0.028, brow)


def _hair_on_top(sketch: Sketch, who: Character) -> None:
    hair, shine = who.tresses, lighter(who.tresses, 0.16)
    match who.hair:
        case "bald":
            sketch.oval(-0.14, -0.33, 0.1, 0.045, lighter(who.skin, 0.3))
        case "mohawk":
            spikes = [
                (-0.14, -0.4),
                (-0.13, -0.74),
                (-0.04, -0.6),
                (0.02, -0.82),
                (0.07, -0.6),
                (0.15, -0.72),
                (0.15, -0.4),
            ]
            sketch.shape(spikes, hair)
        case "curly":
            for x, y in ((-0.34, -0.3), (-0.2, -0.42), (-0.02, -0.46), (0.17, -0.43), (0.33, -0.31), (0.06, -0.34)):
                sketch.oval(x, y, 0.15, 0.13, hair)
            sketch.oval(-0.16, -0.45, 0.06, 0.035, shine)
        case _:
            crown = [(0.46 * math.cos(a / 12), -0.12 - 0.42 * math.sin(a / 12)) for a in range(-2, 40)]
            hairline = [(-0.4, -0.04), (-0.36, -0.2), (-0.2, -0.27), (0.02, -0.3), (0.2, -0.25), (0.36, -0.18)]
            sketch.shape([*crown, *hairline, (0.4, -0.04)], hair)
            sketch.arc(-0.02, -0.06, 0.34, 225, 285, shine, 0.045)
            if who.hair == "long":
                for side in (-1, 1):
                    sketch.limb([(side * 0.44, -0.12), (side * 0.47, 0.2), (side * 0.43, 0.52)], 0.11, hair)


def _furry_head(sketch: Sketch, who: Character, blink: bool, glance: float) -> None:
    fur, inner, pale = who.skin, (240, 170, 170), mix(who.skin, (255, 248, 238), 0.72)
    for side in (-1, 1):
        match who.kind:
            case "cat" | "fox":
                tip = (side * 0.5, -0.72)
                sketch.shape([(side * 0.48, -0.08), tip, (side * 0.1, -0.4)], fur)
                sketch.shape([(side * 0.41, -0.2), (side * 0.455, -0.58), (side * 0.2, -0.38)], inner)
            case "rabbit":
                sketch.oval(side * 0.2, -0.74, 0.12, 0.38, fur)
                sketch.oval(side * 0.2, -0.72, 0.065, 0.28, inner)
            case "dog":
                sketch.oval(side * 0.46, -0.02, 0.14, 0.36, darker(fur, 0.32))
            case _:
                sketch.oval(side * 0.36, -0.36, 0.17, 0.17, fur)
                sketch.oval(side * 0.36, -0.36, 0.09, 0.09, darker(fur, 0.3))
    sketch.oval(0, 0.02, 0.53, 0.45, darker(fur, 0.1))
    sketch.oval(-0.012, 0.005, 0.515, 0.435, fur)
    if who.kind in {"cat", "fox"}:
        for x in (-0.12, 0.0, 0.12):
            sketch.limb([(x, -0.41), (x * 0.75, -0.27)], 0.045, darker(fur, 0.3))
    if who.kind == "fox":
        for side in (-1, 1):
            sketch.shape([(side * 0.5, 0.1), (side * 0.06, 0.12), (side * 0.12, 0.42), (side * 0.3, 0.37)], pale)
    sketch.oval(0, MUZZLE - 0.01, 0.24, 0.17, pale)
    for side in (-1, 1):
        x, y = side * 0.2, -0.045
        if blink:
            sketch.limb([(x - 0.075, y), (x, y + 0.02), (x + 0.075, y)], 0.024, INK)
            continue
        sketch.oval(x, y, 0.1, 0.115, (252, 252, 246))
        sketch.oval(x + glance * 0.025, y + 0.01, 0.075, 0.092, mix(who.eyes, (70, 90, 60), 0.35))
        sketch.oval(x + glance * 0.03, y + 0.01, 0.04 if who.kind == "cat" else 0.055, 0.075, INK)
        sketch.oval(x - 0.03, y - 0.03, 0.024, 0.026, WHITE)
        for whisker in (-0.03, 0.03):
            start = (side * 0.2, MUZZLE - 0.06 + whisker)
            sketch.limb([start, (side * 0.54, MUZZLE - 0.1 + whisker * 2.6)], 0.008, lighter(fur, 0.6))
    sketch.shape([(-0.06, 0.125), (0.06, 0.125), (0.0, 0.185)], INK if who.kind != "rabbit" else (214, 120, 130))
    sketch.limb([(0, 0.18), (0, 0.225)], 0.016, INK)
    sketch.limb([(-0.06, MUZZLE - 0.015), (0, MUZZLE), (0.06, MUZZLE - 0.015)], 0.02, INK)


def _worn(sketch: Sketch, who: Character) -> None:
    """Hats and glasses."""
    top = -0.3
    if "headphones" in who.extras:
        sketch.arc(0, -0.06, 0.56, 180, 360, INK, 0.06)
        for side in (-1, 1):
            sketch.block(side * 0.54, 0.02, 0.085, 0.15, 0.07, who.trim)
    if "beard" in who.extras and who.kind == "person":
        sketch.pie(0, 0.12, 0.42, 0.45, 20, 160, who.tresses)
        sketch.oval(0, MOUTHS["person"], 0.12, 0.065, who.skin)
        sketch.limb([(-0.07, MOUTHS["person"]), (0.07, MOUTHS["person"])], 0.024, darker(who.skin, 0.5))
    if "sunglasses" in who.extras and who.kind != "robot":
        for side in (-1, 1):
            sketch.block(side * 0.19, -0.02, 0.155, 0.105, 0.06, (26, 26, 34))
            sketch.limb([(side * 0.19 - 0.07, -0.05), (side * 0.19 - 0.01, -0.08)], 0.022, (150, 160, 180))
        sketch.limb([(-0.06, -0.05), (0.06, -0.05)], 0.03, (26, 26, 34))
    elif "glasses" in who.extras:
        for side in (-1, 1):
            sketch.arc(side * 0.185, -0.02, 0.14, 0, 360, INK, 0.026)
        sketch.limb([(-0.05, -0.03), (0.05, -0.03)], 0.024, INK)
    if "cowboy hat" in who.extras:
        felt = (146, 98, 60)
        sketch.oval(0, top - 0.06, 0.84, 0.14, darker(felt, 0.2))
        sketch.shape([(-0.84, top - 0.06), (-0.72, top - 0.2), (-0.4, top - 0.06)], darker(felt, 0.2))
        sketch.shape([(0.84, top - 0.06), (0.72, top - 0.2), (0.4, top - 0.06)], darker(felt, 0.2))
        sketch.block(0, top - 0.24, 0.4, 0.22, 0.13, felt)
        sketch.oval(0, top - 0.46, 0.16, 0.06, darker(felt, 0.25))
        sketch.block(0, top - 0.1, 0.405, 0.05, 0.02, (70, 44, 32))
    elif "hat" in who.extras:
        sketch.oval(0, top - 0.02, 0.64, 0.09, darker(who.clothes, 0.5))
        sketch.block(0, top - 0.22, 0.37, 0.22, 0.06, darker(who.clothes, 0.4))
        sketch.block(0, top - 0.08, 0.372, 0.05, 0.01, who.trim)
    elif "cap" in who.extras:
        sketch.pie(0, top + 0.08, 0.47, 0.36, 180, 360, who.clothes)
        sketch.block(0.3, top + 0.07, 0.34, 0.045, 0.04, darker(who.clothes, 0.25))
    if "crown" in who.extras:
        gold = (240, 196, 76)
        points = [(-0.34, top - 0.04), (-0.38, top - 0.32), (-0.18, top - 0.17), (0, top - 0.38), (0.18, top - 0.17)]
        sketch.shape([*points, (0.38, top - 0.32), (0.34, top - 0.04)], gold)
        sketch.oval(0, top - 0.12, 0.05, 0.05, (214, 60, 80))
