"""What people build and live in."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft


def _window(d: Draft, x: float, y: float, rx: float = 7.0, ry: float = 8.0) -> None:
    d.block("brown", x, y, rx + 2, ry + 2, 1)
    d.block("windows", x, y, rx, ry, 0.6)
    d.mark("brown", (x, y - ry), (x, y + ry), width=1.6)
    d.mark("brown", (x - rx, y), (x + rx, y), width=1.6)


@subject(
    "house|home|cottage|hut|cabin|hovel|farmhouse|villa|building|inn|tavern|log cabin|shack|bungalow|mansion",
    wall="cream|sand|beige",
    roof="red|rust|teal|indigo",
    door="brown",
    windows="sky|lemon",
)
def house(d: Draft) -> None:
    if "mushroom" in d.words:
        _mushroom_house(d)
        return
    if d.words & {"haunted", "spooky", "creepy"}:
        for ink, colour in (("wall", "indigo"), ("roof", "charcoal"), ("windows", "lemon"), ("door", "black")):
            d.usual(ink, colour)
    d.block("rust", 26, -78, 8, 16, 1)
    d.block("grey", 26, -94, 10, 3, 1)
    d.poly("wall", (-42, 0), (-42, -46), (0, -84), (42, -46), (42, 0))
    if d.words & {"log", "cabin", "wooden", "hut"}:
        for n in range(4):
            d.mark("wall--", (-41, -10 - 10 * n), (41, -10 - 10 * n), width=1.6)
    d.poly("roof", (-56, -40), (0, -96), (56, -40), (48, -34), (0, -80), (-48, -34))
    d.block("grey", 0, -2, 45, 4, 1)
    d.block("door", -14, -18, 11, 18, 4)
    d.dot("gold", -7, -16, 1.8)
    _window(d, 21, -24, 9, 9)
    d.oval("brown", 0, -58, 8)
    d.dot("windows", 0, -58, 6)


def _mushroom_house(d: Draft) -> None:
    d.blob("cream", (-24, -40), (24, -40), (28, -16), (34, 2), (0, 6), (-34, 2), (-28, -16))
    d.blob(
        "roof", (-60, -38), (-52, -72), (-24, -98), (0, -103), (24, -98), (52, -72), (60, -38), (30, -46), (-30, -46)
    )
    for x, y, r in ((-30, -66, 9), (2, -82, 11), (32, -66, 8), (-8, -58, 5), (16, -56, 5)):
        d.dot("white", x, y, r, r * 0.86)
    d.block("door", -6, -14, 9, 16, 7)
    d.dot("gold", -1, -12, 1.6)
    _window(d, 17, -22, 5, 5)


@subject(
    "tower|watchtower|wizard tower|mage tower|castle tower|turret tower|lighthouse|silo|minaret",
    stone="grey|sand|white",
    roof="indigo|crimson|teal",
    windows="lemon|amber",
    door="brown",
    flag="red",
)
def tower(d: Draft) -> None:
    if "lighthouse" in d.words:
        d.poly("stone", (-22, 0), (-14, -84), (14, -84), (22, 0))
        for y in (-14, -42, -70):
            half = 22 + y * 0.095
            d.poly("flag", (-half, y), (half, y), (half - 1.2, y - 13), (-half + 1.2, y - 13))
        d.block("charcoal", 0, -86, 19, 3, 1)
        d.block("windows", 0, -97, 11, 9, 1)
        d.pie("flag", 0, -105, 15, 13, 180, 360)
        d.block("door", 0, -8, 6, 8, 3)
        return
    d.poly("stone", (-25, 0), (-20, -70), (20, -70), (25, 0))
    for x, y in ((-12, -12), (8, -24), (-8, -50), (12, -58), (-16, -34), (14, -42)):
        d.mark("stone--", (x - 4, y), (x + 4, y), width=1.8)
    d.poly("stone-", (-30, -70), (-30, -86), (30, -86), (30, -70), (22, -62), (-22, -62))
    if d.words & {"watchtower", "castle"}:
        for x in (-24, 0, 24):
            d.block("stone", x, -91, 7, 8, 1)
    else:
        d.blob("roof", (-36, -84), (-14, -110), (0, -140), (14, -110), (36, -84), (0, -80))
        d.limb("brown", ((0, -138), (0, -156)), 2.4)
        d.poly("flag", (1, -156), (20, -150), (1, -144))
    d.blob("door", (-9, 0), (-9, -16), (0, -23), (9, -16), (9, 0))
    for y in (-42, -76):
        d.blob("windows", (-4.6, y), (-4.6, y - 8), (0, y - 12), (4.6, y - 8), (4.6, y))


@subject(
    "castle|fortress|fort|palace|citadel|keep|stronghold|kingdom",
    stone="grey|sand|silver",
    roof="blue|crimson|purple",
    windows="amber",
    door="brown",
    flag="red",
)
def castle(d: Draft) -> None:
    def spire(x: float, wide: float, low: float, top: float) -> None:
        d.block("stone", x, (low + top) / 2, wide, (low - top) / 2, 1)
        d.poly("roof", (x - wide - 4, top), (x, top - wide * 2.4), (x + wide + 4, top))
        d.limb("brown", ((x, top - wide * 2.4), (x, top - wide * 2.4 - 9)), 1.6)
        d.poly(
            "flag", (x + 0.6, top - wide * 2.4 - 9), (x + 11, top - wide * 2.4 - 5.4), (x + 0.6, top - wide * 2.4 - 2)
        )
        d.block("windows", x, top + 12, 2.6, 5, 2)

    spire(-18, 9, 0, -66)
    spire(18, 9, 0, -66)
    spire(0, 12, 0, -84)
    d.block("stone", 0, -20, 44, 20, 1)
    for x in range(-40, 41, 16):
        d.block("stone", x, -43, 5, 5, 0.6)
    spire(-48, 12, 2, -46)
    spire(48, 12, 2, -46)
    for x, y in ((-30, -28), (26, -30), (-26, -12), (30, -14), (-48, -20), (48, -14)):
        d.mark("stone--", (x - 4, y), (x + 4, y), width=1.6)
    d.blob("door", (-13, 2), (-13, -18), (0, -29), (13, -18), (13, 2))
    for x in (-6, 0, 6):
        d.mark("door--", (x, -22 + abs(x) * 0.5), (x, 1), width=1.4)


@subject(
    "windmill|mill|watermill|wind turbine",
    wall="cream|sand",
    roof="rust|brown",
    sail="white|cream",
    door="brown",
    windows="sky",
)
def windmill(d: Draft) -> None:
    d.poly("wall", (-28, 0), (-18, -66), (18, -66), (28, 0))
    d.pie("roof", 0, -66, 23, 22, 180, 360)
    d.block("door", 0, -11, 8, 11, 3)
    _window(d, 0, -42, 5, 6)
    with d.part("wheel", (0, -72)):
        for turn in (20, 110, 200, 290):
            with d.at(0, -72, turn=turn):
                d.limb("brown", ((0, 0), (0, -50)), 3)
                d.poly("sail", (2, -14), (13, -14), (13, -48), (2, -48))
        d.oval("brown", 0, -72, 5)


@subject(
    "church|temple|cathedral|shrine|chapel|monastery|pagoda|mosque|school",
    wall="white|cream|grey",
    roof="charcoal|rust|teal",
    windows="violet|amber",
    door="brown",
)
def church(d: Draft) -> None:
    if d.words & {"pagoda", "temple", "shrine"}:
        d.block("grey", 0, -3, 46, 4, 1)
        for n, half in enumerate((34, 26, 18)):
            y = -8 - 34 * n
            d.block("wall", 0, y - 10, half - 6, 12, 1)
            for x in (-half * 0.5, 0, half * 0.5):
                d.block("door", x, y - 8, 4, 9, 1)
            d.blob(
                "roof",
                (-half - 14, y - 24),
                (-half * 0.6, y - 24),
                (0, y - 36),
                (half * 0.6, y - 24),
                (half + 14, y - 24),
                (half * 0.7, y - 18),
                (0, y - 19),
                (-half * 0.7, y - 18),
            )
        d.limb("gold", ((0, -108), (0, -126)), 3)
        return
    d.poly("wall", (-14, 0), (-14, -40), (20, -62), (50, -40), (50, 0))
    d.poly("roof", (-10, -38), (18, -70), (58, -38))
    d.block("wall", -26, -42, 16, 42, 1)
    d.poly("roof", (-46, -82), (-26, -124), (-6, -82))
    d.limb("gold", ((-26, -122), (-26, -142)), 3)
    d.limb("gold", ((-32, -135), (-20, -135)), 3)
    d.blob("door", (-34, 0), (-34, -16), (-26, -24), (-18, -16), (-18, 0))
    d.oval("windows", -26, -58, 7)
    for x in (8, 28):
        d.blob("windows", (x - 5, -10), (x - 5, -26), (x, -32), (x + 5, -26), (x + 5, -10))


@subject(
    "shop|store|market stall|stall|cafe|restaurant|bakery|market",
    wall="cream|sand",
    roof="red|teal",
    door="brown",
    windows="sky",
    sign="gold",
)
def shop(d: Draft) -> None:
    d.block("wall", 0, -36, 46, 36, 1)
    d.block("brown", 0, -76, 50, 6, 2)
    d.block("sign", 0, -90, 26, 10, 3)
    d.mark("brown", (-16, -90), (16, -90), width=3)
    d.block("windows", -16, -22, 22, 14, 1)
    d.block("door", 28, -17, 11, 17, 2)
    for n in range(6):
        x = -50 + 16.7 * n
        d.blob(
            "roof" if n % 2 == 0 else "white", (x, -70), (x + 16.7, -70), (x + 17, -50), (x + 8.4, -44), (x - 0.4, -50)
        )


@subject(
    (
        "skyscraper|office building|apartment|apartment building|factory|hotel|hospital|bank"
        "|city building|power plant|space station|base"
    ),
    wall="steel|sky|sand|coral",
    windows="lemon|cyan",
    door="charcoal",
    roof="charcoal",
)
def skyscraper(d: Draft) -> None:
    if d.words & {"factory", "power"}:
        d.block("rust", -34, -60, 8, 30, 1)
        d.block("rust", -12, -56, 8, 26, 1)
        for x in (-34, -12):
            d.oval("silver", x + 6, -96, 9)
            d.oval("silver", x + 16, -108, 12)
        d.block("wall", 0, -20, 50, 20, 1)
        d.poly("roof", (-6, -40), (-6, -60), (16, -40), (16, -60), (38, -40), (38, -60), (50, -48), (50, -40))
        for x in (-36, -16, 4, 24):
            d.block("windows", x, -24, 7, 7, 1)
        d.block("door", 40, -11, 7, 11, 1)
        return
    d.limb("charcoal", ((0, -108), (0, -132)), 2.4)
    d.oval("red", 0, -133, 3)
    d.block("roof", 0, -106, 16, 5, 1)
    d.block("wall", 0, -52, 30, 52, 2)
    for row in range(7):
        for at in (-19.0, -6.4, 6.4, 19.0):
            lit = (row * 4 + int(at)) % 5
            d.block("windows" if lit else "windows---", at, -92 + 11.6 * row, 4, 4, 0.6)
    d.block("door", 0, -7, 8, 7, 1)


@subject(
    "tent|camp|teepee|tipi|igloo|circus tent|yurt", cloth="olive|red|amber|white", trim="cream|charcoal", grip="brown"
)
def tent(d: Draft) -> None:
    if "igloo" in d.words:
        d.pie("white", 0, 0, 50, 52, 180, 360)
        for y, half in ((-16, 46), (-32, 38)):
            d.mark("sky", (-half, y), (half, y), width=2)
        for x, y in ((-30, -8), (-8, -24), (20, -24), (30, -8), (0, -42)):
            d.mark("sky", (x, y - 7), (x, y + 7), width=2)
        d.pie("white", 0, 0, 20, 26, 180, 360)
        d.pie("navy", 0, 0, 13, 19, 180, 360)
        return
    for x in (-8, 8):
        d.limb("grip", ((-x * 0.4, -72), (x, -92)), 3.4)
    d.poly("cloth", (0, -80), (52, 0), (-52, 0))
    if d.words & {"circus", "teepee", "tipi"}:
        for x in (-32, 24):
            d.patch("trim", (0, -78), (x, 0), (x + 12, 0))
    d.poly("cloth---", (0, -56), (17, 0), (-17, 0))
    d.poly("cloth+", (0, -56), (-17, 0), (-26, 0))
    d.poly("cloth+", (0, -56), (17, 0), (26, 0))


@subject(
    "bridge|wall|fence|well|wishing well|fountain|pillar|column|statue|ruins|pyramid|arch|stairs",
    stone="grey|sand|white",
    roof="rust|brown",
    liquid="sky|cyan",
    wood="brown",
)
def well(d: Draft) -> None:
    if d.words & {"pyramid"}:
        d.poly("stone", (-60, 0), (0, -76), (60, 0))
        d.patch("stone-", (0, -75), (59, -1), (16, -1))
        for y in (-16, -32, -48):
            d.mark("stone--", (-50 - y * 0.8 - 6, y), (12 - y * 0.0, y), width=1.6)
        return
    if d.words & {"bridge", "arch"}:
        d.poly(
            "stone",
            (-66, 0),
            (-66, -30),
            (-30, -42),
            (0, -46),
            (30, -42),
            (66, -30),
            (66, 0),
            (38, 0),
            (30, -18),
            (0, -28),
            (-30, -18),
            (-38, 0),
        )
        for x in range(-60, 61, 20):
            d.block("stone+", x, -44 + abs(x) * 0.18, 7, 7, 1)
        return
    if d.words & {"fence", "wall"}:
        if "fence" in d.words:
            for y in (-16, -36):
                d.block("wood-", 0, y, 56, 4, 1)
            for x in range(-48, 49, 24):
                d.poly("wood", (x - 8, 0), (x - 8, -46), (x, -56), (x + 8, -46), (x + 8, 0))
        else:
            for row in range(4):
                for n in range(4 if row % 2 else 5):
                    d.block(
                        "stone" + "+" * ((row + n) % 2),
                        -48 + 24 * n + (12 if row % 2 else 0),
                        -8 - 16 * row,
                        11.4,
                        7.4,
                        2,
                    )
        return
    if d.words & {"pillar", "column", "ruins"}:
        d.block("stone", 0, -4, 24, 5, 1)
        d.block("stone", 0, -48, 16, 40, 1)
        for x in (-9, -3, 3, 9):
            d.mark("stone--", (x, -84), (x, -12), width=1.6)
        d.block("stone", 0, -92, 25, 6, 2)
        return
    if d.words & {"fountain", "statue"}:
        d.limb("liquid", ((0, -60), (-12, -84), (-26, -56)), 5, 4, 3)
        d.limb("liquid", ((0, -60), (12, -84), (26, -56)), 5, 4, 3)
        d.poly("stone", (-7, -10), (-5, -58), (5, -58), (7, -10))
        d.blob("stone", (-30, -56), (30, -56), (16, -44), (-16, -44))
        d.blob("stone", (-50, -24), (50, -24), (44, 0), (-44, 0))
        d.oval("liquid", 0, -24, 46, 7)
        return
    for x in (-30, 30):
        d.limb("wood", ((x, -24), (x, -78)), 6)
    d.limb("wood-", ((-30, -60), (30, -60)), 5)
    d.mark("sand", (0, -60), (0, -38), width=2)
    d.poly("wood", (-8, -40), (8, -40), (6, -26), (-6, -26))
    d.poly("roof", (-46, -72), (0, -104), (46, -72))
    d.block("stone", 0, -13, 40, 14, 4)
    for row, shift in ((-20, 0), (-8, 10)):
        for x in range(-34, 35, 20):
            d.mark("stone--", (x + shift - 4, row - 4), (x + shift - 4, row + 5), width=1.6)
    d.oval("stone+", 0, -28, 43, 6)
