"""What things are kept in."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft


@subject("barrel|keg|cask|oil drum|drum barrel", wood="brown|copper", trim="steel|bronze")
def barrel(d: Draft) -> None:
    d.blob(
        "wood",
        (-30, -48),
        (30, -48),
        (38, -20),
        (40, 0),
        (38, 20),
        (30, 48),
        (-30, 48),
        (-38, 20),
        (-40, 0),
        (-38, -20),
    )
    for x in (-22, -8, 8, 22):
        d.mark("wood--", (x * 0.9, -46), (x * 1.2, 0), (x * 0.9, 46), width=1.4)
    d.oval("wood-", 0, -48, 30, 6)
    for y, half in ((-30, 37), (30, 37)):
        d.blob("trim", (-half, y - 5), (0, y - 2), (half, y - 5), (half + 1, y + 4), (0, y + 7), (-half - 1, y + 4))
    for x in (-24, 0, 24):
        d.dot("trim++", x, -29 + 3 * (x == 0), 1.6)
        d.dot("trim++", x, 31 + 3 * (x == 0), 1.6)


@subject(
    "crate|box|wooden crate|wooden box|cardboard box|package|supply crate|ammo box",
    wood="sand|brown|copper",
    trim="brown|steel",
)
def crate(d: Draft) -> None:
    d.block("wood", 0, 0, 45, 45, 2)
    for y in (-22, -7, 8, 23):
        d.mark("wood--", (-38, y), (38, y), width=1.6)
    if d.words & {"cardboard", "package", "box"} and not d.words & {"wooden", "wood"}:
        d.block("wood+", 0, 0, 8, 45, 0)
        return
    d.limb("wood-", ((-36, 36), (36, -36)), 10)
    for x, y, rx, ry in ((0, -39, 46, 7), (0, 39, 46, 7), (-39, 0, 7, 46), (39, 0, 7, 46)):
        d.block("wood+", x, y, rx, ry, 1)
    for x in (-39, 39):
        for y in (-39, 39):
            d.oval("steel", x, y, 2.6)


@subject(
    "bag|sack|money bag|pouch|backpack|satchel|purse|suitcase|briefcase|rucksack",
    bag="sand|brown|olive",
    trim="gold",
    rope="brown",
)
def sack(d: Draft) -> None:
    if d.words & {"backpack", "rucksack", "satchel", "suitcase", "briefcase"}:
        d.limb("bag-", ((-14, -46), (-10, -60), (10, -60), (14, -46)), 5)
        d.block("bag", 0, 0, 38, 46, 16)
        d.block("bag-", 0, 22, 27, 17, 6)
        d.block("bag+", 0, -26, 36, 14, 10)
        d.block("trim", 0, -12, 5, 6, 1)
        return
    d.blob("bag", (-10, -36), (10, -36), (26, -18), (40, 14), (36, 40), (0, 47), (-36, 40), (-40, 14), (-26, -18))
    d.blob("bag+", (-10, -38), (-20, -56), (-6, -50), (2, -58), (8, -50), (20, -54), (10, -38))
    d.limb("rope", ((-13, -37), (0, -34), (13, -37)), 6)
    if d.words & {"money", "gold", "coins", "coin"} or d.chance(0.5):
        d.oval("trim", 0, 10, 16)
        d.block("trim--", 0, 10, 3, 8, 1)


@subject(
    "bucket|pail|basket|picnic basket|pot|cauldron|plant pot|vase|urn|jar|jug",
    metal="steel|charcoal|rust",
    liquid="cyan|lime|violet",
    trim="brown",
)
def pot(d: Draft) -> None:
    if d.words & {"cauldron", "witch"} or not d.words & {
        "bucket",
        "pail",
        "basket",
        "vase",
        "urn",
        "jar",
        "jug",
        "picnic",
    }:
        for x in (-24, 24):
            d.limb("metal-", ((x, 30), (x * 1.16, 46)), 8, 6)
        d.blob("metal", (-36, -26), (36, -26), (46, 2), (36, 32), (0, 42), (-36, 32), (-46, 2))
        d.oval("metal+", 0, -28, 40, 10)
        d.dot("liquid", 0, -28, 33, 6.4)
        for x, y, r in ((-14, -38, 6), (4, -44, 8), (18, -36, 5), (-4, -56, 4)):
            d.oval("liquid+", x, y, r)
        for _ in d.sides():
            d.limb("metal-", ((40, -18), (52, -12), (46, 0)), 4)
        return
    if d.words & {"vase", "urn", "jar", "jug"}:
        d.blob(
            "metal",
            (-15, -48),
            (15, -48),
            (12, -34),
            (32, -8),
            (30, 22),
            (16, 46),
            (-16, 46),
            (-30, 22),
            (-32, -8),
            (-12, -34),
        )
        d.oval("metal+", 0, -48, 17, 5)
        for y in (-4, 12):
            d.mark("trim", (-31, y), (0, y + 4), (31, y), width=3)
        return
    handle = ((-34, -26), (-24, -58), (0, -66), (24, -58), (34, -26))
    d.limb("trim", handle, 4)
    d.poly("metal", (-38, -26), (38, -26), (28, 44), (-28, 44))
    d.oval("metal-", 0, -26, 38, 8)
    if "basket" in d.words:
        for n in range(4):
            d.mark("metal--", (-34 + 2 * n, -12 + 14 * n), (34 - 2 * n, -12 + 14 * n), width=2)
        for x in (-20, 0, 20):
            d.mark("metal--", (x, -18), (x * 0.8, 42), width=2)
    else:
        d.dot("liquid", 0, -26, 32, 5)


@subject(
    "bottle|wine bottle|beer bottle|water bottle|message in a bottle|soda|can",
    glass="emerald|brown|teal",
    label="cream",
    cork="sand",
    liquid="crimson",
)
def bottle(d: Draft) -> None:
    if d.words & {"can", "soda"}:
        d.block("glass", 0, 0, 27, 46, 6)
        d.oval("silver", 0, -45, 25, 6)
        d.block("label", 0, 2, 27, 15, 0)
        d.star("liquid", 0, 2, 11, 5, 5)
        return
    d.block("cork", 0, -68, 6, 7, 1)
    d.blob("glass", (-8, -62), (8, -62), (9, -36), (24, -16), (25, 44), (0, 48), (-25, 44), (-24, -16), (-9, -36))
    d.block("label", 0, 16, 24.4, 17, 1)
    d.mark("charcoal", (-14, 10), (14, 10), width=2)
    d.mark("charcoal", (-10, 20), (10, 20), width=2)
    d.mark("glass++", (-17, -10), (-12, -22), width=3)


@subject(
    "mug|cup|teacup|coffee cup|coffee mug|tankard|beer mug|beer|coffee|tea|stein",
    cup="white|coral|teal|brown",
    liquid="brown|amber",
    trim="gold",
)
def mug(d: Draft) -> None:
    d.limb("cup-", ((30, -22), (52, -22), (52, 18), (28, 22)), 9)
    d.blob("cup", (-34, -40), (34, -40), (33, 0), (29, 38), (0, 42), (-29, 38), (-33, 0))
    d.oval("cup+", 0, -40, 34, 9)
    d.dot("liquid", 0, -40, 28, 6)
    if d.words & {"beer", "tankard", "stein", "ale"}:
        for x, r in ((-24, 11), (-8, 13), (10, 12), (25, 10)):
            d.oval("ivory", x, -46, r)
    else:
        for x in (-12, 4):
            d.limb("silver", ((x, -42), (x + 6, -54), (x - 1, -64), (x + 5, -76)), 3, 5, 4, 1.4)


@subject(
    "coffin|casket|sarcophagus|tombstone|gravestone|grave|headstone|tomb", stone="grey|brown", trim="gold", moss="green"
)
def tomb(d: Draft) -> None:
    if d.words & {"coffin", "casket", "sarcophagus"}:
        d.poly("stone", (-18, -54), (18, -54), (34, -26), (20, 54), (-20, 54), (-34, -26))
        d.poly("stone+", (-14, -47), (14, -47), (27, -25), (15, 47), (-15, 47), (-27, -25))
        d.block("trim", 0, -8, 3.6, 24, 1)
        d.block("trim", 0, -16, 13, 3.6, 1)
        return
    d.blob("brown", (-44, 46), (-30, 38), (0, 35), (30, 38), (44, 46))
    d.blob("stone", (-30, 42), (-31, -20), (-20, -44), (0, -51), (20, -44), (31, -20), (30, 42))
    for n, text in enumerate((16, 20, 12)):
        d.mark("stone---", (-text, -4 + 12 * n), (text, -4 + 12 * n), width=2.4)
    d.block("stone--", 0, -24, 2.6, 11, 0.6)
    d.block("stone--", 0, -28, 7.4, 2.6, 0.6)
    d.pool("moss", (-30, 42), (-31, 24), (-24, 32), (-14, 34), (-8, 42))


@subject("present|gift|gift box|christmas present|parcel", box="red|teal|violet", bow="gold|lemon|white")
def present(d: Draft) -> None:
    d.block("box", 0, 16, 38, 30, 2)
    d.block("box+", 0, -18, 43, 11, 2)
    d.block("bow", 0, 8, 7, 39, 0)
    for _ in d.sides():
        d.blob("bow", (0, -28), (14, -50), (32, -46), (26, -30))
    d.oval("bow-", 0, -30, 7)


@subject("trash can|bin|garbage can|dumpster|mailbox|post box|letterbox", metal="steel|blue|red", trim="charcoal")
def bin_(d: Draft) -> None:
    if d.words & {"mailbox", "post", "letterbox"}:
        d.block("brown", 0, 36, 5, 26, 1)
        d.blob("metal", (-36, 12), (-36, -20), (-26, -36), (26, -36), (36, -20), (36, 12))
        d.block("trim", -6, -10, 16, 3, 1)
        d.limb("red", ((38, -4), (38, -34)), 4)
        d.block("red", 46, -32, 9, 6, 1)
        return
    d.poly("metal", (-34, -28), (34, -28), (27, 48), (-27, 48))
    for x in (-18, -6, 6, 18):
        d.mark("metal--", (x, -20), (x * 0.85, 42), width=2.4)
    d.blob("metal+", (-40, -26), (-34, -40), (0, -46), (34, -40), (40, -26))
    d.limb("trim", ((-9, -45), (-6, -53), (6, -53), (9, -45)), 4)
