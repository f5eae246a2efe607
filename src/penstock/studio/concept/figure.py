"""Somebody who stands on two legs: facing us, arms and legs away from the body, so that all of it can move."""

from __future__ import annotations

import math
from dataclasses import dataclass

from penstock.studio.concept.draft import Draft
from penstock.studio.drawing.canvas import Point

TALL = 100.0
"Units from the ground to the top of the head."
_USUAL_HEADS = 3.2


@dataclass(frozen=True, slots=True)
class Build:
    """Measures of a figure; the ground is at 0, and what is above it is negative."""

    head: float
    "Half its height."
    chin: float
    shoulder: float
    hip: float
    broad: float
    "Half of the shoulders."
    waist: float
    limb: float
    "How thick an arm is."
    hand: Point
    foot: Point


def build_of(d: Draft) -> Build:
    """The measures that were asked for."""
    heads = d.traits.get("heads", _USUAL_HEADS) * d.trait("tall") ** 0.8
    head = TALL / heads * d.trait("head")
    slim = min(max((heads - 2.4) / 4.2, 0.0), 1.0)
    wide = d.trait("wide") * d.trait("tall") ** -0.5
    rest = TALL - head
    hip = -rest * (0.46 + 0.05 * slim)
    shoulder = -rest + rest * 0.06
    broad = (14.5 - 1.5 * slim) * wide
    reach = rest * (0.58 + 0.02 * slim)
    # Nobody stands quite like another.
    angle = math.radians(42 - 6 * slim + float(d.rng.uniform(-4, 4)))
    hand = (broad - 2 + reach * math.sin(angle), shoulder + 4 + reach * math.cos(angle))
    return Build(
        head=head / 2,
        chin=-rest,
        shoulder=shoulder,
        hip=hip,
        broad=broad,
        waist=(10.5 - 1.2 * slim) * wide,
        limb=(9.0 - 2.4 * slim) * wide**0.7,
        hand=hand,
        foot=(10.5 * wide**0.6, -3.4),
    )


def legs(d: Draft, b: Build, cloth: str, boots: str, *, bare: str | None = None) -> None:
    """Two legs, parted, in trousers and boots."""
    hip, (fx, fy) = (b.waist * 0.52, b.hip + 1), b.foot
    knee = ((hip[0] + fx) / 2 + 0.6, (hip[1] + fy) / 2)
    for _ in d.sides("leg", hip):
        d.limb(bare or cloth, (hip, knee, (fx, fy - 3)), b.limb * 1.22, b.limb * 1.06, b.limb * 0.92)
        shaft = b.hip * 0.3
        d.limb(boots, ((fx - 0.4, shaft), (fx, fy - 2)), b.limb * 1.16, b.limb * 1.16)
        d.blob(boots, (fx - 5, 0), (fx - 5.2, fy - 3), (fx + 1, fy - 4.4), (fx + 6.4, fy + 0.4), (fx + 6.6, 0))


def arms(d: Draft, b: Build, sleeve: str, hand: str, *, wide_sleeves: bool = False) -> None:
    """Two arms, away from the body, with mitten hands that can hold."""
    top, (hx, hy) = (b.broad - b.limb * 0.35, b.shoulder + b.limb * 0.6), b.hand
    elbow = ((top[0] + hx) / 2 + 1.4, (top[1] + hy) / 2 - 0.6)
    for side in d.sides("arm", top):
        d.oval(hand, hx + 1.2, hy + 1.6, b.limb * 0.6)
        d.limb(hand, ((hx - 1.4, hy), (hx - 3.2, hy + 2.2)), b.limb * 0.36)
        widths = (1.0, 1.08, 1.4) if wide_sleeves else (1.12, 1.0, 0.94)
        d.limb(sleeve, (top, elbow, (hx - 1.2, hy - 1.4)), *(b.limb * w for w in widths))
        d.anchor("hand_r" if side > 0 else "hand_l", hx + 1.4, hy + 1.8, b.limb)


def torso(d: Draft, b: Build, cloth: str) -> None:
    """Shoulders to hips."""
    d.blob(
        cloth,
        (-b.broad * 0.5, b.shoulder - 1.6),
        (b.broad * 0.5, b.shoulder - 1.6),
        (b.broad, b.shoulder + b.limb * 0.5),
        (b.waist * 0.98, b.hip - 6),
        (b.waist, b.hip + 3.2),
        (0, b.hip + 4.4),
        (-b.waist, b.hip + 3.2),
        (-b.waist * 0.98, b.hip - 6),
        (-b.broad, b.shoulder + b.limb * 0.5),
    )


def neck(d: Draft, b: Build, skin: str) -> None:
    """Between head and shoulders, so that nobody comes apart."""
    d.limb(skin, ((0, b.chin - b.head * 0.3), (0, b.shoulder + 2)), b.head * 0.62, b.head * 0.72)


def skirt(d: Draft, b: Build, cloth: str, *, down: float, flare: float) -> None:
    """From the waist down, so far towards the ground; the feet are seen below it."""
    low, top, half = b.hip * (1 - down), b.hip - 5, b.waist * flare
    d.blob(
        cloth,
        (-b.waist * 0.95, top),
        (b.waist * 0.95, top),
        (b.waist * 1.15, (top + low) / 2),
        (half, low),
        (half * 0.4, low + 1.6),
        (-half * 0.4, low + 1.6),
        (-half, low),
        (-b.waist * 1.15, (top + low) / 2),
    )


def belt(d: Draft, b: Build, ink: str, buckle: str = "gold") -> None:
    d.block(ink, 0, b.hip - 3, b.waist * 1.02, 2.1, 1)
    d.block(buckle, 0, b.hip - 3, 2.8, 2.6, 0.8)


def anchors(d: Draft, b: Build) -> None:
    """Where things are worn and carried."""
    d.anchor("neck", 0, b.chin + 1.2, b.head * 1.05)
    d.anchor("back", 0, b.shoulder + 2, b.broad * 2)
    d.anchor("chest", 0, b.shoulder + (b.hip - b.shoulder) * 0.4, b.broad)
    d.anchor("seat", 0, b.hip + 1, b.waist)
