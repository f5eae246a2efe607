"""What stands in a room."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft


@subject("chair|stool|wooden chair|armchair|seat", wood="brown|copper", cushion="crimson|teal|olive")
def chair(d: Draft) -> None:
    if d.words & {"armchair", "cozy", "comfy"}:
        d.blob("cushion", (-36, 0), (-34, -48), (-20, -58), (20, -58), (34, -48), (36, 0))
        d.block("cushion+", 0, 10, 28, 14, 6)
        for _ in d.sides():
            d.block("cushion-", 38, 8, 11, 26, 9)
            d.limb("wood", ((36, 34), (37, 44)), 7, 4)
        d.block("cushion-", 0, 28, 36, 8, 3)
        return
    for x in (-24, 32):
        d.limb("wood--", ((x, 2), (x + 2, 38)), 6)
    for x in (-32, 24):
        d.limb("wood", ((x, 6), (x, 48)), 7)
    for x in (-27, 27):
        d.limb("wood", ((x, -54), (x, 4)), 7)
    for y in (-48, -32, -16):
        d.block("wood", 0, y, 27, 4.4, 2)
    d.poly("wood", (-28, -2), (30, -2), (38, 10), (-38, 10))
    d.poly("cushion", (-24, -6), (26, -6), (32, 4), (-32, 4))


@subject("throne|royal throne|king's chair", gold="gold|steel", cushion="crimson|purple", gem="cyan|crimson")
def throne(d: Draft) -> None:
    d.poly("gold", (-30, 40), (-34, -50), (-20, -66), (0, -78), (20, -66), (34, -50), (30, 40))
    d.blob("cushion", (-22, 10), (-24, -46), (0, -60), (24, -46), (22, 10))
    d.block("cushion+", 0, 14, 27, 8, 4)
    d.block("gold", 0, 30, 30, 10, 2)
    for _ in d.sides():
        d.block("gold", 36, 6, 8, 6, 3)
        d.block("gold-", 36, 28, 6, 20, 2)
        d.oval("gold+", 33, -54, 6)
    d.oval("gem", 0, -68, 7)


@subject("table|desk|workbench|wooden table|altar|dining table", wood="brown|copper|sand", trim="steel")
def table(d: Draft) -> None:
    for x in (-38, 40):
        d.limb("wood--", ((x, -8), (x, 26)), 8)
    for x in (-46, 46):
        d.limb("wood", ((x, 0), (x, 40)), 9)
    d.poly("wood", (-46, -24), (46, -24), (60, -4), (-60, -4))
    for x in (-20, 0, 20):
        d.mark("wood--", (x * 0.84, -22), (x * 1.2, -6), width=1.4)
    d.block("wood-", 0, 1, 60, 6, 2)


@subject("bed|cot|bunk", wood="brown", cloth="blue|crimson|teal", pillow="white")
def bed(d: Draft) -> None:
    d.block("wood", -52, -10, 6, 34, 3)
    d.block("wood", 54, 2, 5, 22, 3)
    d.block("wood-", 0, 12, 54, 10, 1)
    d.block("white", 0, -2, 50, 9, 4)
    d.blob("cloth", (-18, -14), (20, -15), (50, -12), (51, 10), (-18, 12))
    d.blob("pillow", (-46, -10), (-40, -24), (-22, -22), (-18, -10))


@subject(
    "lamp|desk lamp|street lamp|lamp post|lamppost|streetlight|floor lamp|light bulb|bulb",
    metal="charcoal|bronze",
    flame="lemon|amber",
    shade="coral|cream",
)
def lamp(d: Draft) -> None:
    if d.words & {"street", "lamppost", "post", "streetlight"}:
        d.block("metal", 0, 60, 14, 6, 2)
        d.limb("metal", ((0, 56), (0, -38)), 8, 5)
        d.poly("flame", (-10, -40), (10, -40), (16, -70), (-16, -70))
        d.mark("metal", (0, -40), (0, -70), width=1.6)
        d.poly("metal", (-20, -70), (20, -70), (0, -88))
        d.block("metal", 0, -39, 12, 3, 1)
        return
    if d.words & {"bulb"}:
        d.blob("flame", (-12, 18), (-30, -6), (-26, -38), (0, -50), (26, -38), (30, -6), (12, 18))
        d.mark("amber", (-8, 16), (-6, -10), (0, -2), (6, -10), (8, 16), width=2)
        for y in (22, 30, 38):
            d.block("silver", 0, y, 12, 4, 2)
        return
    d.blob("metal", (-26, 48), (-18, 40), (18, 40), (26, 48))
    d.limb("metal", ((0, 42), (0, -10)), 6)
    d.oval("flame", 0, -4, 9)
    d.poly("shade", (-18, -52), (18, -52), (38, -6), (-38, -6))


@subject("lantern|oil lamp|magic lamp|paper lantern", metal="charcoal|bronze|steel", flame="amber|lemon")
def lantern(d: Draft) -> None:
    d.limb("metal", ((-12, 20), (-17, -4), (0, -12), (17, -4), (12, 20)), 3.6)
    d.poly("metal", (-15, 24), (-8, 12), (8, 12), (15, 24))
    d.block("lemon", 0, 48, 20, 24, 4)
    d.blob("flame", (0, 30), (9, 46), (7, 60), (-7, 60), (-9, 46))
    d.dot("white", 0, 54, 4, 6)
    for x in (-20, 0, 20):
        if x:
            d.block("metal", x, 48, 2.6, 25, 1)
    d.block("metal", 0, 25, 25, 4, 2)
    d.block("metal", 0, 74, 26, 6, 2)


@subject("torch|campfire|bonfire|fire|flame|fireplace|fireball", wood="brown", flame="orange")
def torch(d: Draft) -> None:
    if d.words & {"campfire", "bonfire", "fire", "fireplace"}:
        for turn in (16, -16):
            with d.at(0, 30, turn=turn):
                d.limb("wood", ((-42, 0), (42, 0)), 13)
                d.oval("sand", -43, 0, 4, 6.4)
        for x in (-46, -28, 28, 46):
            d.oval("grey", x, 44, 10, 8)
    elif not d.words & {"flame", "fireball"}:
        d.limb("wood", ((0, 40), (0, -2)), 9, 11)
        d.block("steel", 0, -6, 11, 6, 2)
    with d.at(0, 22 if d.words & {"campfire", "bonfire", "fire"} else -8):
        d.blob(
            "flame",
            (0, 2),
            (-24, -8),
            (-26, -32),
            (-14, -48),
            (-12, -36),
            (-2, -70),
            (12, -50),
            (16, -38),
            (20, -46),
            (27, -24),
            (20, -4),
        )
        d.blob("flame++", (0, 0), (-13, -8), (-12, -24), (-2, -42), (8, -26), (13, -12))
        d.dot("lemon", 0, -10, 7, 9)


@subject("candle|candlestick|candelabra", wax="cream|ivory", flame="amber", metal="bronze|gold")
def candle(d: Draft) -> None:
    d.oval("metal", 0, 46, 34, 8)
    d.limb("metal", ((28, 44), (44, 38), (36, 30)), 4)
    d.block("wax", 0, 14, 15, 32, 4)
    d.pool("wax+", (-15, -14), (0, -18), (15, -14), (13, 0), (8, -6), (2, 8), (-4, -6), (-12, 4))
    d.limb("charcoal", ((0, -18), (1, -26)), 2.4)
    d.blob("flame", (0, -22), (-9, -32), (0, -58), (9, -32))
    d.dot("lemon", 0, -31, 4, 7)


@subject("bookshelf|shelf|bookcase|wardrobe|cabinet|cupboard|closet|dresser", wood="brown|copper", trim="gold")
def bookshelf(d: Draft) -> None:
    d.block("wood", 0, 0, 40, 58, 2)
    if d.words & {"wardrobe", "cabinet", "cupboard", "closet", "dresser"}:
        for _ in d.sides():
            d.block("wood+", 19, 0, 17, 50, 1)
            d.oval("trim", 5, 0, 2.6)
        return
    for row in range(3):
        y = -36 + 36 * row
        d.block("wood---", 0, y, 35, 16, 1)
        x = -32.0
        while x < 27:
            wide = float(d.rng.uniform(2.6, 4.4))
            tall = float(d.rng.uniform(9, 14))
            ink = ("crimson", "teal", "amber", "indigo", "olive", "rose")[int(d.rng.integers(6))]
            d.block(ink, x + wide, y + 15.4 - tall, wide, tall, 0.6)
            x += 2 * wide + 0.6


@subject(
    "door|wooden door|gate|portal|trapdoor",
    wood="brown|burgundy|teal",
    stone="grey",
    trim="steel|gold",
    gem="violet|cyan",
)
def door(d: Draft) -> None:
    d.blob("stone", (-42, 56), (-43, -18), (-28, -50), (0, -62), (28, -50), (43, -18), (42, 56))
    if "portal" in d.words:
        d.blob("gem", (-30, 54), (-31, -16), (-18, -38), (0, -47), (18, -38), (31, -16), (30, 54))
        d.pool("gem++", (-18, 40), (-20, -10), (0, -32), (16, -8), (4, 20), (-6, 0))
        return
    d.blob("wood", (-31, 55), (-32, -16), (-19, -38), (0, -47), (19, -38), (32, -16), (31, 55))
    for x in (-16, 0, 16):
        d.mark("wood--", (x, -42 + abs(x) * 0.4), (x, 54), width=1.8)
    for y in (-10, 34):
        d.block("trim", -6, y, 25, 3.6, 1)
    d.oval("trim", 20, 14, 5)


@subject(
    "clock|grandfather clock|alarm clock|watch|pocket watch|hourglass|sundial",
    trim="gold|bronze",
    face="ivory",
    sand="amber",
)
def clock(d: Draft) -> None:
    if "hourglass" in d.words:
        d.poly("sky", (-24, -42), (24, -42), (4, 0), (24, 42), (-24, 42), (-4, 0))
        d.patch("sand", (-15, -22), (15, -22), (2, -1), (-2, -1))
        d.patch("sand", (-19, 40), (19, 40), (0, 20))
        for y in (-46, 46):
            d.block("trim", 0, y, 32, 5.4, 2)
        for x in (-27, 27):
            d.limb("trim", ((x, -42), (x, 42)), 4)
        return
    for x in (-24, 24):
        d.limb("trim", ((x, 34), (x * 1.3, 48)), 6)
        d.pie("trim", x, -36, 15, 14, 180, 360)
    d.oval("trim", 0, 0, 45)
    d.oval("face", 0, 0, 36)
    for n in range(12):
        with d.at(0, 0, turn=30 * n):
            d.mark("charcoal", (0, -31), (0, -26), width=2.4)
    d.mark("charcoal", (0, 0), (0, -22), width=3.4)
    d.mark("charcoal", (0, 0), (15, 8), width=3.4)
    d.dot("red", 0, 0, 3)


@subject("mirror|magic mirror|painting|picture frame|window", gold="gold|bronze", glass="sky|cyan")
def mirror(d: Draft) -> None:
    d.oval("gold", 0, 0, 36, 50)
    d.oval("glass", 0, 0, 28, 41)
    for x in (-12, -2):
        d.mark("white", (x - 6, 10), (x + 12, -24), width=3)
    d.star("gold+", 0, -50, 12, 6, 5)


@subject(
    (
        "tv|television|computer|laptop|monitor|arcade|arcade machine|game console|radio|phone"
        "|smartphone|tablet|camera|server"
    ),
    body="charcoal|steel|coral",
    screen="cyan|sky",
    trim="amber|red",
)
def television(d: Draft) -> None:
    if d.words & {"arcade"}:
        d.poly("body", (-34, 60), (-34, -60), (34, -60), (34, 60))
        d.block("trim", 0, -52, 34, 10, 2)
        d.block("screen", 0, -18, 26, 20, 3)
        d.poly("body+", (-38, 14), (38, 14), (34, 30), (-34, 30))
        d.limb("charcoal", ((-16, 20), (-16, 10)), 3)
        d.oval("red", -16, 8, 5)
        for x in (4, 16):
            d.oval("trim", x, 21, 4)
        return
    if d.words & {"laptop", "computer", "monitor", "server"}:
        d.block("body", 0, -14, 48, 34, 4)
        d.block("screen", 0, -14, 42, 28, 2)
        for n in range(4):
            d.mark("white", (-34, -32 + 10 * n), (-34 + 18 + 9 * (n % 3), -32 + 10 * n), width=2.6)
        d.poly("body-", (-50, 22), (50, 22), (62, 40), (-62, 40))
        for n in range(3):
            d.mark("silver", (-46 - 3 * n, 26 + 5 * n), (46 + 3 * n, 26 + 5 * n), width=2)
        return
    if d.words & {"phone", "smartphone", "tablet"}:
        d.block("body", 0, 0, 27, 52, 8)
        d.block("screen", 0, -2, 22, 42, 2)
        for x in (-11, 0, 11):
            for y in (-28, -16, -4):
                d.block(("trim", "lime", "white")[(x + y) % 3], x, y, 3.8, 3.8, 1)
        return
    if d.words & {"camera"}:
        d.block("body", 0, 4, 48, 30, 6)
        d.block("body-", -10, -28, 16, 8, 3)
        d.oval("silver", 4, 6, 22)
        d.oval("screen", 4, 6, 14)
        d.dot("white", 0, 0, 4)
        d.oval("trim", 34, -16, 4)
        return
    for _ in d.sides():
        d.limb("steel", ((2, -34), (24, -62)), 3)
        d.limb("body-", ((26, 38), (32, 50)), 6)
    d.block("body", 0, 4, 54, 38, 8)
    d.block("screen", -10, 4, 36, 28, 8)
    d.mark("white", (-36, -4), (-24, -16), width=4)
    for y in (-10, 6):
        d.oval("trim", 40, y, 5)
    d.mark("black", (34, 20), (46, 20), width=2)
    d.mark("black", (34, 26), (46, 26), width=2)
