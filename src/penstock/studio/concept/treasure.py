"""What is found at the end of a dungeon."""

from __future__ import annotations

import math

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.headwear import royal


@subject(
    "chest|treasure chest|loot chest|treasure|loot box|mimic|strongbox",
    wood="brown|copper|burgundy",
    trim="gold|steel|bronze",
)
def chest(d: Draft) -> None:
    opened = bool(d.words & {"open", "opened", "full", "overflowing", "gold", "coins", "mimic"})
    if opened:
        d.blob("wood-", (-46, -40), (-44, -72), (-30, -84), (30, -84), (44, -72), (46, -40))
        d.blob("black", (-39, -42), (-38, -66), (-26, -76), (26, -76), (38, -66), (39, -42))
        if "mimic" in d.words:
            for n in range(6):
                d.poly("ivory", (-36 + 13 * n, -70), (-25 + 13 * n, -70), (-30 + 13 * n, -54))
            for _ in d.sides():
                d.oval("lemon", 16, -56, 7)
                d.dot("black", 15, -55, 3)
            d.blob("crimson", (-10, -44), (10, -44), (14, -10), (0, 0), (-14, -10))
        else:
            for n in range(9):
                d.oval("gold", -34 + 8.5 * n, -43 - 9 * math.sin(math.pi * n / 8) - 3 * (n % 2), 7)
            d.star("cyan", 12, -56, 8, 6, 4)
    d.block("wood", 0, -20, 46, 22, 3)
    for y in (-27, -13):
        d.mark("wood--", (-44, y), (44, y), width=1.2)
    if not opened:
        d.blob("wood", (-46, -42), (-45, -60), (-32, -72), (0, -75), (32, -72), (45, -60), (46, -42))
        d.mark("wood--", (-43, -58), (0, -64), (43, -58), width=1.2)
    for x in (-34, 34):
        d.block("trim", x, -20, 5.4, 22.4, 1)
        if not opened:
            d.poly(
                "trim",
                (x - 5, -42),
                (x - 5 + (3 if x < 0 else -1), -69),
                (x + 5 - (3 if x > 0 else -1), -71),
                (x + 5, -42),
            )
    d.block("trim", 0, -41, 48, 4, 2)
    d.block("trim", 0, -34, 9, 10, 3)
    d.dot("black", 0, -36, 3)
    d.patch("black", (-1.4, -36), (1.4, -36), (2.4, -28), (-2.4, -28))


@subject("coin|coins|gold coin|token|medal|doubloon|penny", gold="gold", star="amber")
def coin(d: Draft) -> None:
    d.oval("gold-", 4, 2, 44)
    d.oval("gold", 0, 0, 44)
    d.oval("gold+", 0, 0, 35)
    d.star("star", 0, 0, 24, 10, 5) if d.chance(0.6) else d.block("star", 0, 0, 8, 20, 3)


@subject(
    "gem|jewel|diamond|ruby|sapphire|emerald|amethyst|crystal|gemstone|topaz|opal|crystals",
    gem="cyan|crimson|emerald|violet|magenta",
)
def gem(d: Draft) -> None:
    if d.words & {"crystal", "crystals", "amethyst", "cluster"}:
        for x, tall, lean, ink in (
            (-22, 52, -22, "gem-"),
            (24, 56, 20, "gem-"),
            (0, 92, 0, "gem"),
            (-12, 40, -10, "gem+"),
            (14, 36, 12, "gem+"),
        ):
            with d.at(x * 0.5, 0, turn=lean):
                d.poly(ink, (-10, 0), (-11, -tall * 0.75), (0, -tall), (11, -tall * 0.75), (10, 0))
                d.patch(ink + "+", (-9, -2), (-10, -tall * 0.74), (0, -tall + 3), (-2, -2))
        d.blob("grey", (-36, 4), (-24, -8), (0, -11), (24, -8), (36, 4))
        return
    d.poly("gem", (-44, -14), (-24, -40), (24, -40), (44, -14), (0, 44))
    d.patch("gem+", (-42, -14), (-23, -38), (-12, -14))
    d.patch("gem++", (-23, -38), (0, -38), (-12, -14))
    d.patch("gem+", (0, -38), (23, -38), (12, -14), (-12, -14))
    d.patch("gem-", (23, -38), (42, -14), (12, -14))
    d.patch("gem+", (-41, -12), (-12, -12), (0, 41))
    d.patch("gem-", (-12, -12), (12, -12), (0, 41))
    d.patch("gem--", (12, -12), (41, -12), (0, 41))
    d.star("white", -20, -26, 9, 2, 4)


@subject("key|golden key|skeleton key|keys", metal="gold|bronze|silver", gem="crimson|cyan")
def key(d: Draft) -> None:
    d.hoop("metal", 0, -34, 17, 9)
    d.limb("metal", ((0, -14), (0, 48)), 8)
    d.block("metal-", 0, -12, 7, 4, 1.6)
    d.block("metal", 12, 42, 10, 4, 1)
    d.block("metal", 9, 29, 7, 4, 1)
    d.oval("gem", 0, -52, 4)


@subject("crown|tiara|diadem", crown="gold|silver", gem="crimson|cyan|emerald")
def crown(d: Draft) -> None:
    with d.at(0, 0, 50):
        royal(d)


@subject("ring|magic ring|wedding ring|one ring", gold="gold|silver", gem="crimson|cyan|violet")
def ring(d: Draft) -> None:
    d.hoop("gold", 0, 0, 30, 10)
    with d.at(0, -42, 0.5):
        d.poly("gem", (-44, -14), (-24, -40), (24, -40), (44, -14), (0, 36))
        d.patch("gem+", (-42, -14), (-23, -38), (0, -38), (-12, -14), (0, 33))
        d.star("white", -16, -26, 12, 3, 4)


@subject("amulet|necklace|pendant|medallion|locket", gold="gold|silver", gem="emerald|crimson|violet")
def amulet(d: Draft) -> None:
    d.limb("gold", ((-34, -60), (-30, -20), (0, 6), (30, -20), (34, -60)), 4)
    d.oval("gold", 0, 26, 24)
    d.oval("gem", 0, 26, 16)
    d.dot("white", -6, 19, 4)


@subject(
    "potion|potion bottle|elixir|flask|vial|magic potion|health potion|mana potion|poison|phial",
    liquid="crimson|cyan|violet|lime|magenta",
    glass="sky|mint",
    cork="sand",
    trim="gold",
)
def potion(d: Draft) -> None:
    d.block("cork", 0, -62, 9, 8, 2)
    d.poly("glass", (-9, -54), (9, -54), (10, -32), (-10, -32))
    d.oval("glass", 0, 0, 39)
    d.pool(
        "liquid", (-35, -6), (-18, -10), (0, -5), (18, -9), (35, -6), (33, 14), (18, 32), (0, 36), (-18, 32), (-33, 14)
    )
    d.pool("liquid+", (-35, -6), (-18, -10), (0, -5), (18, -9), (35, -6), (18, -4), (0, 0), (-18, -5))
    for x, y, r in ((-10, 10, 4), (8, 20, 3), (14, 4, 2.6), (-2, -14, 2), (-16, 22, 2)):
        d.dot("liquid++", x, y, r)
    d.limb("trim", ((-12, -53), (12, -53)), 6)
    d.pool("white", (-30, -8), (-24, -24), (-12, -32), (-18, -22), (-25, -6))
    if d.words & {"poison", "toxic", "deadly"}:
        d.dot("ivory", 0, 12, 10)
        d.dot("ivory", 0, 21, 6, 4)
        for x in (-4, 4):
            d.dot("black", x, 12, 2.6)
    elif d.words & {"health", "heart", "love", "healing"}:
        with d.at(0, 14, 0.26):
            d.pool("white", (0, 36), (-38, -2), (-22, -34), (0, -16), (22, -34), (38, -2))


@subject("skull|skull and bones|cranium|jolly roger", bone="ivory|cream", eyes="black")
def skull(d: Draft) -> None:
    if d.words & {"bones", "crossbones", "jolly"}:
        for turn in (24, -24):
            with d.at(0, 26, turn=turn):
                d.limb("bone", ((-54, 0), (54, 0)), 9)
                for x in (-56, 56):
                    for y in (-6, 6):
                        d.oval("bone", x, y, 8)
    d.block("bone-", 0, 36, 20, 15, 6)
    d.blob("bone", (-42, -8), (-32, -40), (0, -52), (32, -40), (42, -8), (32, 16), (24, 27), (-24, 27), (-32, 16))
    for _ in d.sides():
        d.dot("black", 17, -2, 12, 13)
        if d.colour("eyes") != d.colour("black"):
            d.dot("eyes", 17, -1, 5)
    d.patch("black", (0, 8), (6, 18), (-6, 18))
    for x in (-12, -4, 4, 12):
        d.mark("bone---", (x, 28), (x, 48), width=1.6)


@subject("heart|love|life|health", heart="red|crimson|pink")
def heart(d: Draft) -> None:
    d.blob(
        "heart",
        (0, 46),
        (-28, 22),
        (-46, -6),
        (-38, -34),
        (-18, -38),
        (0, -22),
        (18, -38),
        (38, -34),
        (46, -6),
        (28, 22),
    )
    d.pool("heart++", (-34, -8), (-30, -26), (-18, -30), (-24, -20))


@subject("star|shooting star|sheriff badge|badge|power star", star="yellow|gold|cyan")
def star(d: Draft) -> None:
    d.star("star", 0, 0, 50, 23, 5)
    for _ in d.sides():
        d.dot("charcoal", 8, -3, 3, 7)


@subject("trophy|cup trophy|award|chalice|goblet|grail", gold="gold|silver", gem="crimson|cyan", wood="brown")
def trophy(d: Draft) -> None:
    for _ in d.sides():
        d.limb("gold", ((26, -74), (44, -72), (42, -50), (20, -40)), 5)
    d.blob("gold", (-30, -84), (30, -84), (27, -58), (14, -36), (0, -31), (-14, -36), (-27, -58))
    d.oval("gold+", 0, -84, 30, 6)
    d.poly("gold-", (-5, -34), (5, -34), (9, -16), (-9, -16))
    d.block("wood", 0, -8, 22, 8, 2)
    d.star("gold++", 0, -60, 13, 6, 5)


@subject("scroll|map|treasure map|parchment|letter|blueprint", pages="cream|sand", trim="crimson", ink="brown")
def scroll(d: Draft) -> None:
    d.poly("pages", (-40, -34), (40, -34), (40, 34), (-40, 34))
    if d.words & {"map", "treasure"}:
        d.mark("ink", (-28, 18), (-14, 6), (-4, 14), (8, -2), width=2)
        for a in (-6, 6):
            d.mark("red", (20 - 6, -10 - a), (20 + 6, -10 + a), width=3)
        d.pool("green", (-30, -12), (-20, -22), (-8, -18), (-14, -8))
        d.mark("blue", (4, 24), (14, 20), (24, 25), width=2)
    else:
        for n, half in enumerate((26, 28, 22, 28, 16)):
            d.mark("ink", (-28, -20 + 10 * n), (-28 + 2 * half, -20 + 10 * n), width=1.8)
    for y in (-36, 36):
        d.limb("pages-", ((-44, y), (44, y)), 12)
        for x in (-48, 48):
            d.oval("trim", x, y, 6)


@subject(
    "book|spellbook|spell book|tome|grimoire|magic book|notebook|diary|books|bible",
    cover="crimson|indigo|emerald|brown",
    trim="gold",
    pages="cream",
    gem="cyan|amber",
)
def book(d: Draft) -> None:
    if d.words & {"open", "opened", "reading"}:
        d.poly("cover", (-52, -26), (52, -26), (52, 32), (-52, 32))
        for _ in d.sides():
            d.blob("pages", (0, -24), (24, -33), (47, -28), (47, 24), (24, 20), (0, 28))
            for n in range(4):
                d.mark("sand", (8, -14 + 9 * n), (40, -18 + 9 * n), width=1.6)
        return
    d.poly("cover-", (-30, -46), (40, -46), (40, 46), (-30, 46))
    d.block("pages", 8, 2, 30, 40, 1)
    for y in (38, 40.5):
        d.mark("sand", (-20, y), (37, y), width=0.8)
    d.block("cover", 2, -2, 36, 44, 3)
    d.block("cover-", -29, -2, 6, 44, 2)
    for x, y in ((32, -40), (32, 36)):
        d.block("trim", x, y, 6, 6, 2)
    d.oval("trim", 6, -4, 17)
    d.oval("gem", 6, -4, 10)
    if d.words & {"spell", "spellbook", "magic", "grimoire", "tome"}:
        d.star("lemon", 6, -4, 8, 3, 5)


@subject("egg|dragon egg|easter egg", egg="cream|teal|violet", spots="amber|coral|lime")
def egg(d: Draft) -> None:
    d.blob("egg", (0, -56), (22, -40), (37, 2), (28, 36), (0, 48), (-28, 36), (-37, 2), (-22, -40))
    for x, y, r in ((-14, -20, 7), (12, -8, 9), (-12, 16, 9), (14, 26, 6), (2, -38, 4)):
        d.dot("spots", x, y, r, r * 0.9)


@subject("orb|crystal ball|magic ball|fortune ball|snow globe|pearl", gem="violet|cyan|magenta", trim="gold")
def orb(d: Draft) -> None:
    d.poly("trim", (-26, 50), (26, 50), (18, 30), (-18, 30))
    d.block("trim-", 0, 50, 30, 5, 2)
    d.oval("gem", 0, -2, 40)
    d.pool("gem++", (-20, 8), (-6, -10), (14, 2), (20, -8), (10, 16), (-4, 10))
    d.dot("white", -15, -19, 8, 6, -40)
    d.star("white", 14, -12, 6, 2, 4)
