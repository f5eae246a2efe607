"""Subjects for words that nobody has drawn: of the family a word seems to be of, in a form made from its letters."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from functools import cache

import numpy as np

from penstock.studio.concept.accessories import wear
from penstock.studio.concept.beasts import BEASTS
from penstock.studio.concept.catalogue import Subject, subjects
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.outfits import OUTFITS
from penstock.studio.concept.people import dressed
from penstock.studio.concept.quadrupeds import beast
from penstock.studio.concept.wish import SOMEBODY, Wish
from penstock.studio.vocabulary import Meanings, told

Form = Callable[[Draft, np.random.Generator], None]

_HUES = "red|orange|amber|lime|emerald|teal|cyan|blue|indigo|violet|magenta|rose|coral|brown|steel"
_HINTS: Meanings = {
    "person": "he|she|wearing|dressed|outfit|beard|hair|robe|armor|armour|boots|gloves|guild|royal|profession",
    "animal": "animal|legs|fur|furry|paws|tail|hooves|fangs|claws|wild|pack|snout|mammal|species",
    "creature": "creature|monster|beast|eyes|scary|evil|alien|magical|tentacles|spirit|elemental|boss|enemy",
    "plant": "plant|grows|leaf|leaves|flower|petals|seed|root|roots|herb|garden|vine|fruit",
    "machine": (
        "machine|device|engine|electric|robotic|mechanical|gears|circuit|laser|futuristic|sci-fi"
        "|computer|generator|wheels"
    ),
    "vessel": "bottle|filled|container|glass|jar|liquid|holds|storage|box",
    "tool": "tool|weapon|handle|blade|sharp|wield|craft|instrument|held|sharpened",
    "building": "building|roof|walls|door|windows|structure|architecture|rooms|floors",
}


def imagined(wish: Wish, kind: str, rig: str) -> Subject:
    """The subject that is spelled almost the same, or one that nobody has seen."""
    near = get_close_matches(wish.noun, _spelled(), n=1, cutoff=0.84) if len(wish.noun) > 3 else []
    if near:
        return _spelled()[near[0]]
    inside = [word for word in _spelled() if len(word) > 3 and wish.noun.endswith(word)]
    if inside:
        # A treehouse is a house of some kind.
        return _spelled()[max(inside, key=len)]
    noun = wish.noun or wish.text or "thing"
    family = told(wish.text, _HINTS) or _guessed(noun, kind, rig)
    if kind in {"character", "sprite"} and family not in {"person", "animal", "creature", "machine"}:
        family = "creature"
    form, stance = _FORMS[family]
    order = _rng(noun).permutation(_HUES.split("|"))
    inks = {"main": str(order[0]), "second": str(order[1]), "trim": str(order[2]), "eyes": "amber|cyan|lime"}

    def draw(d: Draft) -> None:
        form(d, _rng(noun))

    return Subject(noun, noun, "unknown", inks, draw, stance)


@cache
def _spelled() -> dict[str, Subject]:
    return {word: each for each in subjects().values() for word in each.words.split("|")}


def _rng(noun: str) -> np.random.Generator:
    return np.random.default_rng(list(hashlib.sha256(noun.encode()).digest()[:16]))


def _guessed(noun: str, kind: str, rig: str) -> str:
    if noun.endswith(SOMEBODY) and kind in {"character", "sprite"}:
        return "person"
    if kind in {"character", "sprite"}:
        return "animal" if rig == "QUADRUPED" else "creature"
    families = ("machine", "vessel", "tool", "plant", "idol")
    return families[int(_rng(noun).integers(len(families)))]


def _person(d: Draft, rng: np.random.Generator) -> None:
    """Dressed in the clothes of one trade, with the hat and the tool of others."""
    clothes, hat, held = (OUTFITS[int(n)] for n in rng.integers(0, 30, 3))
    plain = clothes.clothes if clothes.clothes not in {"bones", "wraps", "fur"} else "coat"
    d.inks.setdefault("clothes", d.inks["main"])
    d.inks.setdefault("hat", d.inks["second"])
    hats = hat.hat if hat.hat not in {"helm", "bubble"} else "straw hat"
    dressed(d, replace(clothes, clothes=plain, hat=hats, face="", held=held.held, inks={}))


def _animal(d: Draft, rng: np.random.Generator) -> None:
    """The body of one animal with the head, the tail and the coat of others."""
    body, head, tail = (BEASTS[int(n)] for n in rng.integers(0, len(BEASTS), 3))
    d.inks.setdefault("fur", d.inks["main"])
    for ink, from_ink in (
        ("belly", "second"),
        ("spots", "trim"),
        ("hair", "trim"),
        ("shell", "second"),
        ("horns", "second"),
        ("skin", "second"),
    ):
        d.inks.setdefault(ink, d.inks[from_ink])
    more = tuple(dict.fromkeys((*body.more[:1], *head.more)))
    beast(
        d,
        replace(body, head=head.head, snout=head.snout, ears=head.ears, tail=tail.tail, more=more, inks={"belly": ""}),
    )


def _creature(d: Draft, rng: np.random.Generator) -> None:
    """The body of one creature with what others have on their heads."""
    d.rng = rng
    for ink in ("fur", "stone", "trunk", "skin", "cap", "shell"):
        d.inks.setdefault(ink, d.inks["main"])
    for ink in ("belly", "spots", "leaves", "moss", "clothes"):
        d.inks.setdefault(ink, d.inks["second"])
    bodies = (
        "monster",
        "slime",
        "monster",
        "octopus",
        "golem",
        "eyeball monster",
        "frog",
        "monster",
        "ghost",
        "mushroom",
    )
    d.inks.setdefault("horns", d.inks["trim"])
    d.mood = d.mood or ("happy", "angry", "surprised")[int(rng.integers(3))]
    subjects()[bodies[int(rng.integers(len(bodies)))]].draw(d)
    extras = ("horns", "antenna", "flower", "wings", "headphones", "scarf", "horns", "necklace")
    wear(d, [extras[int(n)] for n in rng.choice(len(extras), 2, replace=False)])


def _machine(d: Draft, rng: np.random.Generator) -> None:
    wide, tall = float(rng.uniform(28, 46)), float(rng.uniform(26, 44))
    for _ in d.sides():
        d.limb("second", ((wide * 0.6, tall), (wide * 0.8, tall + 16)), 8)
        if rng.random() < 0.5:
            d.limb("second", ((wide, 0), (wide + 16, -8), (wide + 18, -26)), 8)
            d.oval("trim", wide + 18, -28, 8)
    for n in range(int(rng.integers(1, 4))):
        x = float(rng.uniform(-0.7, 0.7)) * wide
        d.limb("second", ((x, -tall), (x, -tall - 14 - 6 * n)), 6)
        d.oval("eyes", x, -tall - 18 - 6 * n, 6)
    d.block("main", 0, 0, wide, tall, float(rng.uniform(2, 18)))
    if rng.random() < 0.5:
        d.star("second", -wide * 0.4, 0, 17, 12, int(rng.integers(7, 12)))
        d.oval("trim", -wide * 0.4, 0, 6)
    else:
        d.block("charcoal", -wide * 0.36, -tall * 0.2, wide * 0.4, tall * 0.4, 4)
        d.mark(
            "eyes",
            (-wide * 0.66, -tall * 0.2),
            (-wide * 0.5, -tall * 0.45),
            (-wide * 0.3, 0),
            (-wide * 0.08, -tall * 0.3),
            width=2.4,
        )
    for n in range(3):
        d.oval(("red", "lime", "lemon")[n], wide * (0.26 + 0.22 * n), -tall * 0.3, 4.4)
    d.block("trim", wide * 0.48, tall * 0.4, wide * 0.3, tall * 0.16, 2)


def _vessel(d: Draft, rng: np.random.Generator) -> None:
    """Turned on a wheel."""
    halves = [float(rng.uniform(12, 40)) for _ in range(5)]
    heights = [-48.0, -26.0, -2.0, 22.0, 44.0]
    right = list(zip(halves, heights, strict=True))
    left = [(-x, y) for x, y in reversed(right)]
    if rng.random() < 0.6:
        for _ in d.sides():
            d.limb("second", ((halves[1], -26), (halves[1] + 20, -16), (halves[2] + 14, 4), (halves[3], 14)), 6)
    d.blob("main", *right, *left)
    d.oval("second", 0, -48, halves[0] + 3, 7)
    for n in (1, 2, 3):
        d.mark(
            "trim", (-halves[n], heights[n]), (0, heights[n] + 5), (halves[n], heights[n]), width=4 if n == 2 else 2.4
        )
    d.oval("trim", 0, heights[2] + 4, 8)


def _tool(d: Draft, rng: np.random.Generator) -> None:
    d.limb("second", ((0, 46), (float(rng.uniform(-5, 5)), 10), (0, -40)), 7, 6)
    d.oval("trim", 0, 50, 7)
    match int(rng.integers(4)):
        case 0:
            d.star("main", 0, -54, 30, float(rng.uniform(9, 22)), int(rng.integers(4, 9)))
        case 1:
            d.blob(
                "main",
                (0, -38),
                (float(rng.uniform(20, 40)), -50),
                (float(rng.uniform(8, 30)), -84),
                (-14, -72),
                (-24, -48),
            )
        case 2:
            for _ in d.sides():
                d.limb("main", ((0, -40), (float(rng.uniform(18, 34)), -58), (10, -84)), 9, 7, 3)
        case _:
            d.block("main", 0, -56, float(rng.uniform(18, 38)), float(rng.uniform(12, 24)), float(rng.uniform(1, 12)))
    d.oval("trim", 0, -54, 8)
    d.block("trim", 0, -34, 8, 5, 2)


def _plant(d: Draft, rng: np.random.Generator) -> None:
    bend = float(rng.uniform(-10, 10))
    d.limb("green", ((0, 30), (bend, -8), (0, -44)), 7, 5)
    for n in range(int(rng.integers(2, 5))):
        for _ in d.sides():
            y = 22.0 - 16 * n
            d.blob("green", (bend * 0.5, y), (16, y - 16), (float(rng.uniform(26, 40)), y - 18), (20, y - 2))
    count = int(rng.integers(4, 10))
    for n in range(count):
        with d.at(0, -58, turn=360 * n / count):
            d.blob(
                "main", (-5, 0), (float(rng.uniform(-14, -6)), -18), (0, float(rng.uniform(-36, -22))), (9, -18), (5, 0)
            )
    d.oval("second", 0, -58, 11)
    for x, y in ((-4, -61), (4, -60), (0, -53)):
        d.dot("trim", x, y, 2.6)
    d.poly("rust", (-24, 28), (24, 28), (17, 60), (-17, 60))


def _idol(d: Draft, rng: np.random.Generator) -> None:
    """Something carved that means something to somebody."""
    d.block("second", 0, 44, 34, 9, 2)
    points = [(float(rng.uniform(16, 36)), y) for y in (36.0, 14.0, -10.0, -34.0)]
    d.blob("main", *points, (0, float(rng.uniform(-70, -50))), *((-x, y) for x, y in reversed(points)))
    for _ in d.sides():
        d.dot("eyes", 9, -20, 5, 7)
        d.limb(
            "trim",
            ((points[3][0] * 0.7, -40), (points[3][0] + 10, -54), (points[3][0] + float(rng.uniform(-6, 12)), -72)),
            7,
            2,
        )
    d.star("trim", 0, 10, 13, 6, int(rng.integers(4, 8)))


def _building(d: Draft, rng: np.random.Generator) -> None:
    wide, tall = float(rng.uniform(30, 50)), float(rng.uniform(36, 70))
    d.block("main", 0, -tall / 2, wide, tall / 2, 1)
    if rng.random() < 0.5:
        d.pie("second", 0, -tall, wide + 4, float(rng.uniform(20, 46)), 180, 360)
    else:
        d.poly(
            "second",
            (-wide - 6, -tall),
            (float(rng.uniform(-14, 14)), -tall - float(rng.uniform(20, 50))),
            (wide + 6, -tall),
        )
    for x in (-wide * 0.5, wide * 0.5):
        d.block("lemon", x, -tall * 0.62, 6, 8, float(rng.uniform(0, 6)))
    d.block("trim", 0, -12, 9, 12, 4)


_FORMS: dict[str, tuple[Form, str]] = {
    "person": (_person, "biped"),
    "animal": (_animal, "quadruped"),
    "creature": (_creature, "biped"),
    "machine": (_machine, "thing"),
    "vessel": (_vessel, "thing"),
    "tool": (_tool, "thing"),
    "plant": (_plant, "thing"),
    "idol": (_idol, "thing"),
    "building": (_building, "thing"),
}
