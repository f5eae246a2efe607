"""What can be worn, lying there by itself."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.headwear import HEADWEAR

_HATS = (
    ("wizard hat", {"wizard", "witch", "magic", "pointed", "pointy"}),
    ("cowboy hat", {"cowboy", "western", "stetson", "sheriff"}),
    ("top hat", {"top", "magician", "gentleman"}),
    ("santa hat", {"santa", "christmas"}),
    ("party hat", {"party", "birthday"}),
    ("tricorn", {"pirate", "tricorn"}),
    ("chef hat", {"chef", "cook"}),
    ("straw hat", {"straw", "sun", "farmer"}),
    ("cap", {"cap", "baseball"}),
    ("beanie", {"beanie", "winter", "wool", "knit"}),
)


@subject(
    "hat|cap|beanie|wizard hat|cowboy hat|top hat|pirate hat|witch hat|party hat|santa hat|chef hat|straw hat",
    hat="indigo|brown|crimson|teal",
    trim="gold",
    belt="charcoal",
)
def hat(d: Draft) -> None:
    kind = next((name for name, words in _HATS if words & d.words), "cowboy hat")
    with d.at(0, 0, 46):
        HEADWEAR[kind](d)


@subject(
    "helmet|knight helmet|viking helmet|space helmet|helm",
    metal="silver|steel|gold",
    plume="crimson|blue",
    hat="steel|white",
)
def helmet(d: Draft) -> None:
    kind = (
        "horned helmet" if d.words & {"viking", "horned"} else "bubble" if d.words & {"space", "astronaut"} else "helm"
    )
    with d.at(0, 0, 44):
        if kind == "bubble":
            d.oval("sky", 0, 0.86, 1.24)
        HEADWEAR[kind](d)


@subject(
    "boots|boot|shoe|shoes|sneaker|sneakers|sandals|slipper",
    leather="brown|crimson|sky",
    sole="cream|charcoal",
    trim="gold",
)
def boots(d: Draft) -> None:
    for x, ink in ((-22, "leather-"), (20, "leather")):
        with d.at(x, 0 if x > 0 else -6):
            if d.words & {"sneaker", "sneakers", "shoe", "shoes"}:
                d.blob(ink, (-22, 20), (-22, -12), (-4, -10), (8, 2), (34, 8), (36, 22))
                for n in range(3):
                    d.mark("white", (2 + 6 * n, -1 + 3 * n), (8 + 6 * n, -6 + 4 * n), width=2)
            else:
                d.blob(ink, (-20, 20), (-17, -44), (11, -44), (10, -4), (32, 4), (36, 20))
                d.block(ink + "+", -3, -42, 16, 6, 3)
                d.block("trim", -2, -8, 5, 5, 1)
            d.block("sole", 7, 23, 30, 5, 2)


@subject(
    "armor|armour|breastplate|chestplate|tunic|shirt|jacket|robe|dress|coat|vest|t-shirt",
    cloth="steel|crimson|blue",
    trim="gold",
)
def armour(d: Draft) -> None:
    for _ in d.sides():
        d.blob("cloth-", (24, -46), (44, -40), (52, -18), (34, -12))
    d.blob(
        "cloth",
        (-30, -48),
        (-12, -50),
        (0, -40),
        (12, -50),
        (30, -48),
        (36, -14),
        (26, 14),
        (28, 46),
        (0, 50),
        (-28, 46),
        (-26, 14),
        (-36, -14),
    )
    d.mark("trim", (0, -38), (0, 48), width=2.4)
    d.mark("trim", (-24, 12), (0, 18), (24, 12), width=2.4)
    d.oval("trim", 0, -14, 7)


@subject("glove|gloves|gauntlet|gauntlets|hand|fist", leather="brown|steel|peach", trim="gold")
def glove(d: Draft) -> None:
    for x, top in ((-18, -36), (-6, -46), (6, -46), (18, -38)):
        d.limb("leather", ((x * 0.9, 0), (x, top)), 13)
    d.limb("leather", ((20, 12), (40, -8)), 14)
    d.blob("leather", (-25, -6), (25, -6), (26, 16), (18, 32), (-18, 32), (-26, 16))
    d.block("trim", 0, 38, 22, 8, 3)


@subject("glasses|sunglasses|goggles|mask|theatre mask|eyepatch", frame="charcoal|gold|crimson", glass="sky|navy")
def spectacles(d: Draft) -> None:
    if d.words & {"mask"}:
        d.blob("frame", (-46, -30), (0, -20), (46, -30), (44, 6), (22, 36), (0, 46), (-22, 36), (-44, 6))
        for _ in d.sides():
            d.dot("black", 19, -4, 12, 7, -12)
        d.pie("black", 0, 18, 15, 10, 0, 180)
        return
    for _ in d.sides():
        d.limb("frame", ((48, -12), (60, -18)), 5)
        d.oval("frame", 27, 0, 25, 22)
        d.oval("glass", 27, 0, 19, 16)
        d.mark("white", (18, 2), (27, -8), width=3)
    d.limb("frame", ((-5, -4), (0, -8), (5, -4)), 5)


@subject("scarf|cape|cloak|ribbon|tie|bow tie|sock|socks", cloth="crimson|teal|violet", trim="gold")
def scarf(d: Draft) -> None:
    d.limb("cloth", ((-12, -10), (-16, 26), (-10, 54)), 20, 22, 24)
    d.limb("cloth-", ((16, -8), (26, 20), (22, 40)), 20, 22, 22)
    d.limb("cloth", ((-34, -34), (-20, -14), (4, -10), (28, -16), (38, -36)), 18, 24, 22, 18)
    d.limb("cloth+", ((-38, -34), (0, -50), (38, -34)), 14, 12, 14)
    for y in (36, 46):
        d.mark("trim", (-24, y), (0, y + 1), width=2.6)
