"""Clothes that are worn over a shirt or instead of it, and the coats and tails of animals that stand on two legs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from penstock.studio.concept import figure
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.figure import Build
from penstock.studio.concept.outfit import Outfit
from penstock.studio.drawing.colour import NAMED, Colour

RED_HAIR: Colour = (190, 74, 34)
"What is called red in hair."


def chosen(d: Draft, outfit: Outfit) -> Outfit:
    """An outfit with the clothes that somebody asks for, and the hair that goes with their years."""
    if d.inks.get("hair") in (NAMED["red"], NAMED["ginger"]) and "hair" in d.asked:
        d.inks["hair"] = RED_HAIR
    if "old" in d.looks and "hair" not in d.asked:
        d.inks["hair"] = NAMED["silver"]
    if "freckles" in d.looks and "skin" not in d.asked and outfit.face != "beast":
        d.inks["skin"] = NAMED["peach"]
    garment = d.looks.get("garment")
    if garment is None or outfit.clothes in {"bones", "wraps"}:
        return outfit
    # Whoever takes off a spacesuit for a jacket takes off the helmet, too.
    bare = outfit.clothes in {"suit", "armour"} and garment != outfit.clothes
    return replace(
        outfit,
        clothes=garment,
        hat="" if bare else outfit.hat,
        face="" if bare and outfit.face == "helmet" else outfit.face,
    )


def _jacket(d: Draft, b: Build, hands: str) -> None:
    figure.legs(d, b, "trousers", "boots")
    figure.arms(d, b, "clothes", hands)
    figure.torso(d, b, "clothes")
    _opened(d, b, d.slot("shirt", "white"), down=b.hip + 2)
    for _ in d.sides():
        d.poly(
            "clothes+", (3.0, b.shoulder - 1.6), (8.6, b.shoulder + 4), (4.6, b.shoulder + 10), (2.6, b.shoulder + 5)
        )
        d.mark("silver", (3.4, b.shoulder + 10), (4.0, b.hip + 1), width=1.0)
        d.mark("clothes--", (6.2, b.hip - 7), (9.4, b.hip - 8.6), width=1.0)
    d.limb("clothes-", ((-b.waist, b.hip + 2.4), (0, b.hip + 3.6), (b.waist, b.hip + 2.4)), 2.6)


def _tuxedo(d: Draft, b: Build, hands: str) -> None:
    d.inks["trousers"] = d.inks["clothes"]
    figure.legs(d, b, "trousers", "boots")
    figure.arms(d, b, "clothes", hands)
    figure.torso(d, b, "clothes")
    d.poly(d.slot("shirt", "white"), (-5, b.shoulder - 1.4), (5, b.shoulder - 1.4), (0, b.hip - 5))
    d.poly(
        d.slot("bow", "crimson"), (-1.5, b.shoulder + 0.6), (1.5, b.shoulder + 0.6), (2, b.hip - 10), (0, b.hip - 6.5)
    )
    for _ in d.sides():
        d.poly("clothes-", (4.4, b.shoulder - 1.6), (8.8, b.shoulder + 4), (0.4, b.hip - 4))
        d.mark("clothes--", (6, b.hip - 3.6), (9, b.hip - 3.9), width=1.0)
    for y in (b.hip - 2.6, b.hip + 0.8):
        d.dot("gold", 0, y, 0.9)


def _hoodie(d: Draft, b: Build, hands: str) -> None:
    with d.behind():
        d.blob("clothes-", (-b.broad * 0.8, b.shoulder + 3), (0, b.shoulder - 8), (b.broad * 0.8, b.shoulder + 3))
    figure.legs(d, b, "trousers", "boots")
    figure.arms(d, b, "clothes", hands)
    figure.torso(d, b, "clothes")
    d.pool("clothes-", (-6, b.shoulder - 1.6), (6, b.shoulder - 1.6), (0, b.shoulder + 5))
    d.block("clothes-", 0, b.hip - 3.4, b.waist * 0.6, 3.4, 1.6)
    for _ in d.sides():
        d.mark("white", (2.4, b.shoulder + 2.4), (2.8, b.shoulder + 9), width=0.8)


def _sweater(d: Draft, b: Build, hands: str) -> None:
    figure.legs(d, b, "trousers", "boots")
    figure.arms(d, b, "clothes", hands)
    figure.torso(d, b, "clothes")
    d.limb("clothes-", ((-5, b.shoulder - 1), (0, b.shoulder + 1), (5, b.shoulder - 1)), 3)
    for y in (b.shoulder + 7, b.shoulder + 12):
        zigzag = [(x, y + (1.4 if n % 2 else -1.4)) for n, x in enumerate((-10.0, -6.0, -2.0, 2.0, 6.0, 10.0))]
        d.mark("clothes++", *zigzag, width=1.2)
    d.limb("clothes-", ((-b.waist, b.hip + 2), (0, b.hip + 3), (b.waist, b.hip + 2)), 2.6)


def _skirt(d: Draft, b: Build, hands: str) -> None:
    figure.legs(d, b, "skin", "boots", bare="skin")
    figure.arms(d, b, "clothes", hands)
    figure.skirt(d, b, "trousers", down=0.42, flare=1.6)
    figure.torso(d, b, "clothes")
    figure.belt(d, b, "belt")


def _opened(d: Draft, b: Build, shirt: str, *, down: float) -> None:
    d.poly(shirt, (-3.6, b.shoulder - 1.4), (3.6, b.shoulder - 1.4), (4, down), (-4, down))
    d.pool("skin", (-2.6, b.shoulder - 1.4), (2.6, b.shoulder - 1.4), (0, b.shoulder + 3))


GARMENTS: Mapping[str, Callable[[Draft, Build, str], None]] = {
    "jacket": _jacket,
    "tuxedo": _tuxedo,
    "hoodie": _hoodie,
    "sweater": _sweater,
    "skirt": _skirt,
}


def tail(d: Draft, b: Build, beast: str) -> None:
    """Of an animal that stands on two legs: as thick and long as its kind has it."""
    d.slot("belly", "cream")
    ink = d.slot("tail", "brown") if "tail" in d.asked else "skin"
    match beast:
        case "bear" | "rabbit":
            with d.behind(-1):
                d.oval("belly" if beast == "rabbit" else ink, -b.waist * 0.9, b.hip + 1, 5)
            return
        case "fox" | "wolf" | "squirrel":
            widths = (6.0, 13.0, 15.0, 4.0)
        case _:
            widths = (6.0, 7.0, 7.0, 5.0)
    with d.behind(-1), d.part("tail", (0, b.hip)):
        d.limb(ink, ((0, b.hip), (-18, b.hip + 6), (-29, b.hip - 8), (-26, b.hip - 24)), *widths)
        if beast == "fox":
            d.blob("white", (-33, b.hip - 12), (-25, b.hip - 14), (-21, b.hip - 12), (-26, b.hip - 26))


def coat(d: Draft, beast: str) -> None:
    """What tells the head of one animal from another's, in units of half a head."""
    match beast:
        case "cat" | "tiger":
            dark = "skin---" if beast == "cat" else "charcoal"
            for x in (-0.22, 0.0, 0.22):
                d.mark(dark, (x, -0.94 + abs(x) * 0.2), (x * 0.8, -0.56), width=0.1)
            if beast == "tiger":
                for _ in d.sides():
                    for y in (-0.1, 0.16, 0.42):
                        d.mark(dark, (0.9, y), (0.6, y + 0.06), width=0.1)
        case "fox":
            for _ in d.sides():
                d.pool("white", (0.9, 0.12), (0.5, 0.1), (0.2, 0.5), (0.3, 0.92), (0.7, 0.66))
        case "lion":
            with d.behind():
                d.star(d.slot("mane", "rust"), 0, 0.0, 1.5, 1.2, 15)
        case "dog":
            d.pool("skin--", (0.1, -0.3), (0.34, -0.5), (0.66, -0.3), (0.6, 0.2), (0.3, 0.24))
        case "bear" if d.words & {"panda"}:
            for _ in d.sides():
                d.oval("black", 0.36, -0.06, 0.3, 0.36, 20)
