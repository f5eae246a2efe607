"""Weather, heavenly bodies and effects: what a game shows without it being a thing."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.countenance import mouth
from penstock.studio.concept.draft import Draft


@subject("sun|smiling sun", sun="yellow|amber", flame="orange")
def sun(d: Draft) -> None:
    d.star("flame", 0, 0, 52, 36, 12)
    d.oval("sun", 0, 0, 34)
    for _ in d.sides():
        d.dot("charcoal", 11, -6, 3.4, 5)
        d.dot("coral", 19, 5, 5, 3)
    mouth(d, 0, 7, 8, d.mood or "happy")


@subject("moon|crescent|crescent moon|full moon", moon="lemon|ivory|silver")
def moon(d: Draft) -> None:
    if "full" in d.words:
        d.oval("moon", 0, 0, 46)
        for x, y, r in ((-16, -14, 9), (14, 8, 12), (-10, 22, 6), (20, -22, 6)):
            d.dot("moon-", x, y, r)
        return
    d.blob("moon", (14, -48), (-18, -42), (-42, -10), (-38, 26), (-8, 48), (28, 42), (4, 26), (-8, 0), (-2, -28))


@subject("planet|earth|world|globe|saturn|mars|jupiter", planet="sky|coral|violet|teal", second="green|amber|cream")
def planet(d: Draft) -> None:
    d.oval("planet", 0, 0, 42)
    if d.words & {"earth", "world", "globe"}:
        d.pool("green", (-34, -18), (-14, -36), (4, -26), (-4, -8), (-20, 2), (-26, 16))
        d.pool("green", (8, -4), (30, -14), (38, 8), (20, 28), (6, 18))
        return
    for y, half in ((-18, 36), (4, 40), (22, 33)):
        d.mark("second", (-half, y - 2), (0, y + 4), (half, y - 2), width=6)
    with d.behind(-1):
        d.oval("second-", 0, 2, 70, 17, -14)
    d.limb("second", ((-67, 16), (-30, 24), (20, 14), (67, -16)), 6)


@subject("cloud|rain cloud|storm cloud|thundercloud", cloud="white|silver|steel", flame="yellow", liquid="sky")
def cloud(d: Draft) -> None:
    if d.words & {"storm", "thunder", "thundercloud", "lightning"}:
        d.poly("flame", (4, 8), (-14, 36), (-2, 34), (-10, 58), (16, 26), (4, 28), (14, 8))
    elif "rain" in d.words:
        for x, y in ((-26, 26), (-4, 34), (20, 26)):
            d.blob("liquid", (x, y - 10), (x + 6, y + 4), (x, y + 10), (x - 6, y + 4))
    for x, y, r in ((-34, 0, 20), (34, 0, 20), (-14, -18, 24), (16, -14, 22)):
        d.oval("cloud", x, y, r)
    d.block("cloud", 0, 4, 46, 16, 14)
    d.pool("cloud", (-44, 6), (-16, -22), (16, -18), (44, 6), (0, 16))


@subject("lightning|lightning bolt|bolt|thunderbolt|explosion|blast|spark", flame="yellow|amber|cyan")
def lightning(d: Draft) -> None:
    if d.words & {"explosion", "blast"}:
        d.star("red", 0, 0, 54, 34, 11)
        d.star("orange", 0, 0, 41, 25, 11)
        d.star("lemon", 0, 0, 26, 15, 9)
        return
    d.poly("flame", (8, -58), (-30, 8), (-6, 8), (-18, 58), (30, -14), (6, -14), (26, -58))


@subject("snowflake|raindrop|water drop|drop|droplet|tear|bubble", ice="sky|cyan")
def drop(d: Draft) -> None:
    if "snowflake" in d.words:
        for turn in (0, 60, 120):
            with d.at(0, 0, turn=turn):
                d.limb("ice", ((0, -50), (0, 50)), 6)
                for y in (-32, 32):
                    for x in (-12, 12):
                        d.limb("ice", ((0, y), (x, y * 1.34)), 5)
        d.star("ice", 0, 0, 15, 11, 6)
        return
    d.blob("ice", (0, -56), (16, -26), (34, 8), (26, 36), (0, 46), (-26, 36), (-34, 8), (-16, -26))
    d.pool("ice++", (-22, 10), (-14, -8), (-6, -16), (-12, 4), (-14, 22))


@subject(
    "island|floating island|volcano|mountain|hill|waterfall|glacier|iceberg",
    stone="brown|grey",
    leaves="green|lime",
    flame="orange",
    liquid="sky",
)
def island(d: Draft) -> None:
    if "volcano" in d.words:
        for x, y, r in ((-10, -70, 10), (6, -84, 14), (22, -74, 10)):
            d.oval("grey", x, y, r)
        d.poly("stone", (-62, 30), (-22, -48), (22, -48), (62, 30))
        d.blob("flame", (-22, -48), (0, -56), (22, -48), (18, -20), (10, -30), (4, 6), (-4, -26), (-14, -10))
        return
    if d.words & {"mountain", "hill", "glacier", "iceberg"}:
        d.poly("stone", (-64, 34), (-30, -14), (-18, 0), (10, -58), (64, 34))
        d.poly("white", (10, -58), (-6, -24), (2, -30), (8, -18), (16, -30), (25, -27))
        d.poly("white", (-30, -14), (-40, 0), (-30, -3), (-22, 2), (-19, -2))
        return
    d.poly("stone", (-56, 0), (56, 0), (34, 26), (14, 36), (4, 60), (-10, 40), (-32, 28))
    d.patch("stone-", (10, 2), (54, 2), (33, 25), (14, 35), (5, 56))
    d.blob("leaves", (-60, 0), (-30, -14), (0, -17), (30, -14), (60, 0), (30, 9), (12, 4), (-4, 10), (-28, 5))
    d.limb("brown", ((14, -8), (14, -34)), 6)
    for x, y, r in ((4, -40, 13), (24, -40, 13), (14, -54, 14)):
        d.oval("leaves-", x, y, r)


@subject("rainbow", cloud="white")
def rainbow(d: Draft) -> None:
    for n, ink in enumerate(("red", "orange", "yellow", "green", "blue", "violet")):
        d.pie(ink, 0, 20, 60 - 6.4 * n, 60 - 6.4 * n, 180, 360)
    d.pie("sky", 0, 20, 21, 21, 180, 360)
    for x in (-42, 42):
        for dx, dy, r in ((-14, 0, 13), (14, 0, 13), (0, -8, 15)):
            d.oval("cloud", x + dx, 22 + dy, r)
