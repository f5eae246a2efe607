"""What is in somebody's hands: each thing where it is held, the arm bent so that the hand is there, and around it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.studio.concept.accessories import alone
from penstock.studio.concept.catalogue import named
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.joints import Bend, Bones
from penstock.studio.drawing.canvas import Point
from penstock.studio.drawing.colour import NAMED

INSTRUMENTS = frozenset({"guitar", "violin", "ukulele", "banjo", "lute", "bass", "electric guitar", "cello"})
"Held across the body, with both hands."
RIDDEN = frozenset({"skateboard", "surfboard", "snowboard", "magic carpet"})
"Under the feet."


@dataclass(frozen=True, slots=True)
class Grip:
    """How a thing is held, in units of a figure that is 100 tall."""

    where: str
    "Of the figure: mouth, up, out, side, chest."
    length: float
    at: float = 0.5
    "The part of its height, from the top, where the hand is."
    turn: float = 0.0


GRIPS: Mapping[str, Grip] = {
    "microphone": Grip("mouth", 27, 0.6, -8),
    "umbrella": Grip("over", 100, 0.92, -6),
    "balloon": Grip("up", 62, 0.99),
    "sword": Grip("up", 52, 0.86, 14),
    "katana": Grip("up", 54, 0.84, 14),
    "cutlass": Grip("up", 46, 0.86, 14),
    "lantern": Grip("out", 32, 0.08),
    "torch": Grip("up", 40, 0.8, 8),
    "candle": Grip("up", 24, 0.8),
    "book": Grip("chest", 40, 0.6),
    "map": Grip("chest", 30, 0.55),
    "scroll": Grip("chest", 30, 0.55),
    "camera": Grip("chest", 22, 0.5),
    "flower": Grip("up", 40, 0.78, 8),
    "staff": Grip("side", 92, 0.55),
    "spear": Grip("side", 96, 0.55),
    "trident": Grip("side", 90, 0.55),
    "broom": Grip("side", 84, 0.5),
    "wand": Grip("up", 30, 0.88, 14),
    "flag": Grip("up", 66, 0.86),
    "shield": Grip("chest side", 34, 0.5),
    "suitcase": Grip("down", 28, 0.08),
    "basket": Grip("down", 26, 0.08),
    "bucket": Grip("down", 26, 0.08),
    "axe": Grip("up", 50, 0.8, 12),
    "scythe": Grip("side", 92, 0.6),
    "fishing rod": Grip("up", 74, 0.8, 14),
    "ice cream": Grip("up", 26, 0.8),
    "trumpet": Grip("mouth out", 36, 0.5),
    "telescope": Grip("mouth out", 36, 0.5),
    "flute": Grip("mouth out", 36, 0.5),
    "saxophone": Grip("mouth out", 36, 0.5),
}
_USUAL = Grip("up", 26, 0.7)


@dataclass(frozen=True, slots=True)
class Prop:
    """A thing that somebody has, by the word it was asked for with."""

    word: str

    @property
    def name(self) -> str:
        found = named(self.word)
        return found[0].subject.name if found else self.word

    @property
    def grip(self) -> Grip:
        return GRIPS.get(self.word) or GRIPS.get(self.name) or _USUAL

    def drawn(self, owner: Draft) -> Draft | None:
        """By itself, in the colours that were asked for it."""
        found = named(self.word)
        if not found:
            return None
        bare = replace(owner, words=frozenset(self.word.split()), shapes=[], anchors={}, pivots={})
        return _open_book(bare) if self.name == "book" else alone(bare, found[0].subject)


def _open_book(d: Draft) -> Draft:
    """As somebody holds it who reads: open, with lines on its pages."""
    d = replace(d, inks={"cover": d.inks.get("held book", NAMED["crimson"])})
    d.poly("cover", (-32, -20), (0, -14), (32, -20), (32, 22), (0, 28), (-32, 22))
    for _ in d.sides():
        d.blob("ivory", (1, -14), (14, -21), (29, -20), (29, 17), (14, 17), (1, 24))
        for y in (-11, -4, 3, 10):
            d.mark("grey", (6, y + 1), (24, y - 2), width=1.6)
    return d


def reached(bend: Bend, rest: Draft, limbs: dict[str, Bones], prop: Prop, hand: str) -> Bend:
    """A pose in which the hand, or both hands, are where a thing is held."""
    if prop.name == "guitar":
        return _both(bend, limbs, {"arm_r": _across(rest, 17.0), "arm_l": _across(rest, -7.0)})
    if prop.word in RIDDEN or hand not in limbs:
        return bend
    if prop.grip.where == "chest":
        chest = _at(rest, "chest", (0, -46))
        return _both(bend, limbs, {"arm_r": (chest[0] + 16, chest[1] + 8), "arm_l": (chest[0] - 16, chest[1] + 8)})
    side = 1 if hand.endswith("r") else -1
    target = _target(rest, limbs[hand], prop.grip.where, side)
    # A hand before the body has its elbow outside, one beside it has its elbow below.
    near = prop.grip.where.startswith("mouth")
    reach = limbs[hand].reach(target, outwards=side if near else -side)
    return replace(bend, limbs={**bend.limbs, hand: reach}, before=bend.before | {hand})


def _both(bend: Bend, limbs: dict[str, Bones], targets: Mapping[str, Point]) -> Bend:
    reach = {
        hand: limbs[hand].reach(target, outwards=1 if hand.endswith("r") else -1)
        for hand, target in targets.items()
        if hand in limbs
    }
    return replace(bend, limbs={**bend.limbs, **reach}, before=bend.before | frozenset(reach))


def _target(rest: Draft, limb: Bones, where: str, side: int) -> Point:
    mouth, shoulder = _at(rest, "mouth", (0, -74)), limb.root
    upper, lower = limb.lengths
    reach = upper + lower
    match where:
        case "mouth" | "mouth out":
            return mouth[0] + side * 4.0, mouth[1] + 23.0
        case "over":
            return shoulder[0] + side * reach * 0.42, shoulder[1] + reach * 0.12
        case "out":
            return shoulder[0] + side * reach * 0.8, shoulder[1] + reach * 0.1
        case "side":
            return shoulder[0] + side * reach * 0.7, shoulder[1] + reach * 0.5
        case "down":
            return shoulder[0] + side * reach * 0.4, shoulder[1] + reach * 0.86
    return shoulder[0] + side * reach * 0.66, shoulder[1] + reach * 0.08


def _across(rest: Draft, along: float) -> Point:
    """A point on a guitar that hangs before the belly, its neck to the right and up."""
    chest = _at(rest, "chest", (0, -46))
    return chest[0] - 4 + along * math.sin(math.radians(62)), chest[1] + 10 - along * math.cos(math.radians(62))


def put(posed: Draft, owner: Draft, prop: Prop, hand: str) -> None:
    """Put a thing into the hand of somebody in a pose: under the fingers, before the body."""
    thing = prop.drawn(owner)
    if thing is None:
        return
    left, top, right, bottom = thing.bounds()
    if prop.word in RIDDEN:
        _under(posed, thing, 62 / (right - left))
        return
    grip = prop.grip
    scale = grip.length / max(bottom - top, right - left)
    x, y = (left + right) / 2, top + grip.at * (bottom - top)
    if prop.name == "guitar":
        chest = _at(posed, "chest", (0, -46))
        scale, turn = 62 / (bottom - top), 62.0
        there = (chest[0] - 4, chest[1] + 10)
        y = top + 0.72 * (bottom - top)
    elif grip.where == "chest":
        chest = _at(posed, "chest", (0, -46))
        there, turn = (chest[0], chest[1] + 4), 0.0
    else:
        at = posed.anchors.get(hand.replace("arm", "hand"))
        if at is None:
            return
        there, turn = (at.x, at.y), grip.turn if hand.endswith("r") else -grip.turn
    radians = math.radians(turn)
    dx, dy = x * math.cos(radians) - y * math.sin(radians), x * math.sin(radians) + y * math.cos(radians)
    with posed.behind(2):
        posed.take(thing, there[0] - dx * scale, there[1] - dy * scale, scale, turn, "held")


def _under(posed: Draft, board: Draft, scale: float) -> None:
    left, _, right, bottom = posed.bounds()
    blx, bty, brx, _ = board.bounds()
    low = bottom
    with posed.behind(-1):
        posed.take(board, (left + right) / 2 - (blx + brx) / 2 * scale, low - bty * scale - 3, scale, 0.0, "held")


def _at(draft: Draft, name: str, usual: Point) -> Point:
    found = draft.anchors.get(name)
    return (found.x, found.y) if found is not None else usual
