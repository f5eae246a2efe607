"""What is worn and carried, put on whatever has a head, a neck, a back or hands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from penstock.studio.concept.catalogue import Subject, subjects
from penstock.studio.concept.draft import Anchor, Draft
from penstock.studio.concept.headwear import HEADWEAR
from penstock.studio.drawing.colour import NAMED

HELD_AS = {"gun": "blaster", "rifle": "rifle", "cutlass": "sword", "katana": "katana", "lightsaber": "sword"}
LENGTHS = {"staff": 86.0, "spear": 88.0, "trident": 66.0, "scythe": 82.0, "broom": 76.0, "bow": 52.0, "shield": 30.0}
LENGTHS |= {"wand": 24.0, "dagger": 24.0, "potion": 22.0, "book": 20.0, "key": 20.0, "blaster": 17.0, "rifle": 20.0}
LENGTHS |= {"pitchfork": 66.0, "flag": 60.0, "guitar": 46.0, "mug": 18.0, "gem": 18.0, "heart": 18.0, "sack": 30.0}
LENGTHS |= {"apple": 16.0, "skull": 18.0, "bomb": 20.0, "lantern": 26.0, "torch": 32.0, "spoon": 32.0, "scepter": 40.0}
LENGTHS |= {"magnifying glass": 26.0, "flower": 30.0, "candle": 22.0, "umbrella": 46.0, "balloon": 46.0, "fish": 20.0}
AT_GRIP = frozenset(
    [
        "sword",
        "katana",
        "cutlass",
        "staff",
        "wand",
        "axe",
        "spear",
        "hammer",
        "trident",
        "scythe",
        "mace",
        "shovel",
        "pickaxe",
        "broom",
        "dagger",
        "torch",
        "flag",
        "wrench",
        "pitchfork",
        "scepter",
        "club",
        "spoon",
        "fishing rod",
        "umbrella",
        "guitar",
        "blaster",
        "rifle",
        "gun",
        "bow",
        "magnifying glass",
        "lantern",
        "balloon",
        "flower",
        "lightsaber",
        "crossbow",
    ]
)
"Drawn around the place where they are held; other things are held by their middle."


def scarf(d: Draft, at: Anchor) -> None:
    ink, s = d.slot("scarf", "red"), at.size
    with d.part("tail_scarf", (at.x + s * 0.3, at.y)):
        d.limb(
            ink + "-",
            ((at.x + s * 0.35, at.y + s * 0.2), (at.x + s * 0.75, at.y + s * 0.95), (at.x + s * 0.62, at.y + s * 1.6)),
            s * 0.42,
            s * 0.5,
            s * 0.56,
        )
    d.limb(
        ink,
        ((at.x - s, at.y - s * 0.08), (at.x, at.y + s * 0.3), (at.x + s, at.y - s * 0.08)),
        s * 0.4,
        s * 0.58,
        s * 0.4,
    )
    d.oval(ink + "+", at.x + s * 0.42, at.y + s * 0.3, s * 0.25)


def cape(d: Draft, at: Anchor) -> None:
    ink, s = d.slot("cape", "red"), at.size
    with d.behind(-2), d.part("cape", (at.x, at.y)):
        low = at.y + s * 2.0
        d.blob(
            ink,
            (at.x - s * 0.4, at.y - s * 0.16),
            (at.x + s * 0.4, at.y - s * 0.16),
            (at.x + s * 0.62, at.y + s * 0.9),
            (at.x + s * 0.78, low),
            (at.x + s * 0.3, low - s * 0.1),
            (at.x - s * 0.3, low + s * 0.05),
            (at.x - s * 0.78, low),
            (at.x - s * 0.62, at.y + s * 0.9),
        )
    for side in (-1, 1):
        d.oval("gold", at.x + side * s * 0.3, at.y + s * 0.02, s * 0.07)


def backpack(d: Draft, at: Anchor) -> None:
    ink, s = d.slot("bag", "brown"), at.size
    with d.behind(-2):
        d.block(ink, at.x, at.y + s * 0.42, s * 0.66, s * 0.58, s * 0.2)
    for side in (-1, 1):
        d.limb(
            ink + "-", ((at.x + side * s * 0.3, at.y - s * 0.06), (at.x + side * s * 0.33, at.y + s * 0.5)), s * 0.09
        )


def wings(d: Draft, at: Anchor) -> None:
    ink, s = d.slot("wings", "white"), at.size
    bat = d.words & {"demon", "devil", "dragon", "bat", "imp"}
    for sign, side in ((1, "r"), (-1, "l")):
        with d.behind(-2), d.part(f"wing_{side}", (at.x, at.y)), d.at(at.x, at.y, s, flip=sign < 0):
            if bat:
                d.poly(
                    ink,
                    (0.1, 0.2),
                    (0.5, -0.75),
                    (1.5, -1.0),
                    (1.3, -0.4),
                    (1.42, 0.15),
                    (1.0, -0.02),
                    (0.85, 0.45),
                    (0.5, 0.2),
                )
            else:
                d.blob(ink, (0.1, 0.1), (0.5, -0.8), (1.4, -1.0), (1.5, -0.5), (1.2, 0.05), (0.5, 0.35))
                d.blob(ink + "+", (0.1, 0.25), (0.6, 0.1), (1.2, 0.2), (1.0, 0.75), (0.5, 0.7))


def glasses(d: Draft, at: Anchor) -> None:
    ink, s = d.slot("glasses", "charcoal"), at.size
    for side in (-1, 1):
        d.hoop(ink, at.x + side * s, at.y, s * 0.72, s * 0.17)
    d.mark(ink, (at.x - s * 0.3, at.y), (at.x + s * 0.3, at.y), width=s * 0.17)


def sunglasses(d: Draft, at: Anchor) -> None:
    ink, s = d.slot("glasses", "black"), at.size
    for side in (-1, 1):
        d.block(ink, at.x + side * s * 0.95, at.y, s * 0.82, s * 0.56, s * 0.3)
        d.mark("steel", (at.x + side * s - s * 0.4, at.y + s * 0.1), (at.x + side * s, at.y - s * 0.3), width=s * 0.12)
    d.mark(ink, (at.x - s * 0.5, at.y - s * 0.2), (at.x + s * 0.5, at.y - s * 0.2), width=s * 0.2)


def goggles(d: Draft, at: Anchor) -> None:
    s = at.size
    y = at.y - s * 1.25
    d.limb(
        "leather" if "leather" in d.inks else "brown",
        ((at.x - s * 2.2, y + s * 0.1), (at.x, y - s * 0.15), (at.x + s * 2.2, y + s * 0.1)),
        s * 0.5,
    )
    for side in (-1, 1):
        d.oval(d.slot("glasses", "bronze"), at.x + side * s * 0.85, y, s * 0.76)
        d.dot("cyan", at.x + side * s * 0.85, y, s * 0.48)
        d.dot("white", at.x + side * s * 0.7, y - s * 0.18, s * 0.14)


def bow_tie(d: Draft, at: Anchor) -> None:
    ink, s = d.slot("bow", "crimson"), at.size * 0.8
    for side in (-1, 1):
        d.poly(ink, (at.x, at.y + s * 0.4), (at.x + side * s * 0.7, at.y), (at.x + side * s * 0.7, at.y + s * 0.8))
    d.oval(ink + "-", at.x, at.y + s * 0.4, s * 0.16)


def necklace(d: Draft, at: Anchor) -> None:
    s = at.size
    d.limb("gold", ((at.x - s * 0.8, at.y), (at.x, at.y + s * 0.5), (at.x + s * 0.8, at.y)), s * 0.14)
    d.oval(d.slot("gem", "crimson"), at.x, at.y + s * 0.66, s * 0.22)


def eyepatch(d: Draft, at: Anchor) -> None:
    s = at.size
    d.mark("black", (at.x - s * 2, at.y - s * 1.3), (at.x + s * 2.2, at.y - s * 0.2), width=s * 0.2)
    d.oval("black", at.x + s * 0.95, at.y, s * 0.75)


def badge(d: Draft, at: Anchor) -> None:
    d.star(d.slot("star", "gold"), at.x, at.y, at.size * 0.42, at.size * 0.18, 5)


def devil_tail(d: Draft, at: Anchor) -> None:
    ink, s = d.slot("tail", "burgundy") if "tail" in d.inks or "skin" not in d.inks else "skin-", at.size
    with d.behind(-1), d.part("tail", (at.x, at.y)):
        d.limb(
            ink,
            (
                (at.x, at.y),
                (at.x + s * 2.0, at.y + s * 0.7),
                (at.x + s * 2.9, at.y - s * 0.5),
                (at.x + s * 2.6, at.y - s * 1.3),
            ),
            s * 0.34,
            s * 0.24,
            s * 0.2,
        )


def saddle(d: Draft, at: Anchor) -> None:
    ink, s = d.slot("saddle", "brown"), at.size
    d.blob(
        ink,
        (at.x - s * 0.3, at.y - s * 0.12),
        (at.x, at.y - s * 0.02),
        (at.x + s * 0.3, at.y - s * 0.14),
        (at.x + s * 0.24, at.y + s * 0.3),
        (at.x - s * 0.24, at.y + s * 0.3),
    )


_ON: Mapping[str, tuple[str, Callable[[Draft, Anchor], None]]] = {
    "scarf": ("neck", scarf),
    "cape": ("back", cape),
    "backpack": ("back", backpack),
    "wings": ("back", wings),
    "glasses": ("face", glasses),
    "sunglasses": ("face", sunglasses),
    "goggles": ("face", goggles),
    "eyepatch": ("face", eyepatch),
    "bow tie": ("neck", bow_tie),
    "necklace": ("neck", necklace),
    "star": ("chest", badge),
    "tail": ("seat", devil_tail),
    "saddle": ("back", saddle),
}
_ORDER = (
    "cape",
    "backpack",
    "wings",
    "tail",
    "saddle",
    "star",
    "necklace",
    "bow tie",
    "scarf",
    "eyepatch",
    "glasses",
    "sunglasses",
    "goggles",
)


def wear(d: Draft, names: Sequence[str]) -> None:
    """Put on all that there is a place for; what is worn on the head comes last."""
    for name in _ORDER:
        place, put = _ON[name]
        if name in names and place in d.anchors:
            with d.part("head" if place == "face" else "body"):
                put(d, d.anchors[place])
    top = d.anchors.get("head")
    for name in names:
        if top is not None and name in HEADWEAR:
            with d.part("head"), d.at(top.x, top.y, top.size):
                HEADWEAR[name](d)


def aflame(d: Draft) -> None:
    """Set whatever it is on fire, from behind."""
    left, top, right, bottom = d.bounds()
    wide, tall = right - left, bottom - top
    ink = d.slot("flame", "orange")
    with d.behind(-3), d.at(left + wide / 2, bottom):
        for scale, tone in ((1.0, ink), (0.86, ink + "++")):
            w, t = wide * 0.64 * scale, tall * 1.32 * scale
            d.blob(
                tone,
                (0, 0),
                (-w * 0.8, -t * 0.08),
                (-w, -t * 0.45),
                (-w * 0.74, -t * 0.8),
                (-w * 0.56, -t * 0.62),
                (-w * 0.2, -t * 0.98),
                (w * 0.06, -t * 0.78),
                (w * 0.34, -t * 1.02),
                (w * 0.6, -t * 0.66),
                (w * 0.86, -t * 0.78),
                (w, -t * 0.42),
                (w * 0.8, -t * 0.08),
            )


def hold(d: Draft, things: Sequence[str]) -> None:
    """Put things into the hands; the first is more often seen on the right."""
    known = subjects()
    hands = ("hand_r", "hand_l") if d.chance(0.6) else ("hand_l", "hand_r")
    for name, hand in zip(things, hands, strict=False):
        at, found = d.anchors.get(hand), known.get(HELD_AS.get(name, name))
        if at is None or found is None:
            continue
        held = alone(d, found)
        left, top, right, bottom = held.bounds()
        tall = max(bottom - top, right - left)
        scale = LENGTHS.get(name, 44.0) / tall
        lean = 10 if hand == "hand_r" else -10
        x, y = (0.0, 0.0) if name in AT_GRIP else ((left + right) / 2, (top + bottom) / 2)
        part = f"arm_{hand[-1]}"
        depth = 0 if name not in {"staff", "spear", "scythe", "broom", "trident", "pitchfork", "bow"} else -1
        if name == "shield":
            lean = 0
        with d.behind(depth):
            d.take(held, at.x - x * scale, at.y - y * scale, scale, lean, part)


def alone(d: Draft, found: Subject) -> Draft:
    """A thing drawn by itself, in the colours that were asked for it."""
    inks = {ink: NAMED[choices.split("|")[0]] for ink, choices in found.inks.items()}
    inks |= {ink: colour for ink, colour in d.inks.items() if ink in {"blade", "grip", "gem", "liquid", "flame"}}
    asked = f"held {found.name}"
    if asked in d.inks:
        inks[next(iter(found.inks))] = d.inks[asked]
    alone = Draft(inks, d.rng, words=d.words)
    found.draw(alone)
    return alone
