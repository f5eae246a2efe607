"""What people ride, drive, sail and fly in, from the side."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft


def _wheel(d: Draft, x: float, y: float, r: float) -> None:
    with d.part("wheel" if x < 0 else "wheel2", (x, y)):
        d.oval(d.slot("wheels", "charcoal"), x, y, r)
        d.oval("silver", x, y, r * 0.52)
        for turn in (0, 60, 120):
            with d.at(x, y, turn=turn):
                d.mark("grey", (-r * 0.4, 0), (r * 0.4, 0), width=r * 0.12)
        d.dot("steel", x, y, r * 0.16)


@subject(
    "car|sports car|race car|racing car|sedan|automobile|taxi|cab|police car|buggy|jeep|suv|convertible|kart|go kart",
    paint="red|blue|yellow|emerald",
    windows="sky",
    trim="silver",
    flame="lemon",
)
def car(d: Draft) -> None:
    paint = "paint"
    if d.words & {"taxi", "cab", "police"}:
        d.usual("paint", "white" if "police" in d.words else "yellow")
    if "police" in d.words:
        d.block("red", -6, -52, 5, 4, 2)
        d.block("blue", 4, -52, 5, 4, 2)
    elif d.words & {"taxi", "cab"}:
        d.block("amber", 0, -51, 9, 4, 1)
    d.blob(paint, (-36, -26), (-24, -46), (0, -50), (20, -46), (36, -26))
    d.poly("windows", (-29, -27), (-20, -42), (-3, -45), (-3, -27))
    d.poly("windows", (2, -27), (2, -45), (17, -42), (29, -27))
    d.blob(paint, (-60, -8), (-60, -22), (-40, -29), (0, -30), (40, -29), (58, -24), (63, -8), (40, -5), (-40, -5))
    if "police" in d.words:
        d.block("navy", 0, -17, 20, 11, 1)
        d.star("gold", -9, -17, 6, 3, 5)
    if d.words & {"race", "racing", "sports"}:
        d.poly(paint, (-60, -24), (-70, -40), (-52, -40), (-46, -26))
        d.dot("white", 0, -18, 9)
        d.mark("black", (0, -23), (0, -13), width=2.4)
    d.mark(paint + "--", (0, -28), (0, -8), width=1.4)
    d.block("silver", 6, -22, 3.4, 1.2, 1)
    d.oval("flame", 58, -18, 4, 4.6)
    d.block("red", -59, -19, 2.6, 4, 1)
    d.block("trim", 0, -5, 62, 3, 2)
    for x in (-36, 37):
        _wheel(d, x, -4, 13)


@subject(
    (
        "truck|lorry|pickup|fire truck|fire engine|van|bus|school bus|ambulance|garbage truck"
        "|monster truck|delivery van|camper|tractor|bulldozer|excavator"
    ),
    paint="red|blue|amber|emerald",
    windows="sky",
    load="sand|silver",
    flame="lemon",
)
def truck(d: Draft) -> None:
    if d.words & {"bus"}:
        paint = d.usual("paint", "amber") if "school" in d.words else "paint"
        d.block(paint, 0, -36, 66, 28, 7)
        for x in (-48, -26, -4, 18):
            d.block("windows", x, -44, 9, 9, 2)
        d.block("windows", 50, -38, 11, 15, 2)
        d.mark("charcoal", (-64, -24), (36, -24), width=3)
        d.oval("flame", 64, -18, 4)
        for x in (-38, 40):
            _wheel(d, x, -6, 14)
        return
    if d.words & {"tractor", "bulldozer", "excavator"}:
        d.limb("charcoal", ((34, -40), (34, -64)), 5)
        d.block("paint", 26, -30, 30, 14, 4)
        d.block("paint", -18, -46, 20, 26, 3)
        d.block("windows", -18, -56, 15, 13, 2)
        d.block("paint-", -18, -73, 25, 4, 2)
        d.oval("flame", 56, -34, 4)
        _wheel(d, -24, -4, 26)
        _wheel(d, 40, 6, 16)
        return
    if d.words & {"fire"} or d.words & {"ambulance", "van", "delivery", "camper"}:
        d.block("paint" if "fire" in d.words else "white", -22, -36, 44, 26, 3)
        if "fire" in d.words:
            d.block("silver", -22, -68, 46, 3, 1)
            d.block("silver", -22, -76, 46, 3, 1)
            for x in range(-62, 24, 12):
                d.block("silver", x, -72, 1.4, 5, 0)
            d.block("white", -22, -32, 44, 4, 0)
        elif "ambulance" in d.words:
            d.block("red", -22, -38, 4, 13, 0)
            d.block("red", -22, -38, 13, 4, 0)
    else:
        d.block("load", -24, -40, 42, 28, 2)
        for x in (-50, -34, -18, -2):
            d.mark("load--", (x, -64), (x, -16), width=1.6)
    if d.words >= {"ice", "cream"}:
        d.poly("copper", (-34, -86), (-14, -86), (-24, -64))
        d.oval("pink", -24, -92, 12)
        d.oval("red", -24, -105, 4)
    d.blob("paint", (22, -10), (22, -52), (32, -58), (48, -57), (56, -36), (66, -30), (67, -10))
    d.poly("windows", (30, -36), (31, -52), (45, -52), (52, -36))
    d.block("charcoal", 0, -10, 66, 4, 2)
    d.oval("flame", 63, -22, 4)
    for x in (-46, -20, 44):
        _wheel(d, x, -5, 13 if "monster" not in d.words else 19)


@subject("bicycle|bike|motorcycle|motorbike|scooter|tricycle", paint="red|teal|amber", wheels="charcoal", trim="silver")
def bicycle(d: Draft) -> None:
    thick = 9 if d.words & {"motorcycle", "motorbike", "scooter"} else 4.6
    for x in (-36, 38):
        line = 24 if thick < 6 else 20
        d.hoop("wheels", x, -26, line, 5 if thick < 6 else 11)
        for turn in (0, 45, 90, 135):
            with d.at(x, -26, turn=turn):
                d.mark("silver", (-line, 0), (line, 0), width=1)
    d.limb("paint", ((-36, -26), (-12, -58), (26, -58), (-2, -28), (-36, -26)), thick)
    d.limb("paint", ((-2, -28), (-14, -64)), thick)
    d.limb("paint", ((38, -26), (26, -58), (23, -72)), thick)
    d.limb("charcoal", ((23, -72), (34, -76), (38, -70)), 4)
    d.blob("charcoal", (-26, -66), (-2, -66), (-8, -60), (-22, -60))
    d.oval("trim", -2, -28, 7)
    if thick > 6:
        d.blob("paint+", (-6, -54), (16, -62), (24, -50), (2, -42))
        d.oval("lemon", 34, -62, 6)


@subject(
    "rocket|missile|rocketship|rocket ship|space rocket",
    hull="white|silver",
    paint="red|orange|teal",
    windows="cyan",
    flame="amber",
)
def rocket(d: Draft) -> None:
    with d.part("tail", (0, 8)):
        d.blob("flame", (-11, 6), (11, 6), (15, 24), (0, 48), (-15, 24))
        d.pool("lemon", (-5, 8), (5, 8), (7, 20), (0, 34), (-7, 20))
    for _ in d.sides():
        d.blob("paint", (16, -34), (36, -8), (38, 14), (24, 4), (14, 0))
    d.blob("hull", (0, -104), (15, -78), (22, -44), (16, 4), (-16, 4), (-22, -44), (-15, -78))
    d.blob("paint", (0, -104), (11, -87), (14, -76), (0, -72), (-14, -76), (-11, -87))
    d.oval("paint", 0, -50, 12)
    d.oval("windows", 0, -50, 8.4)
    d.dot("white", -3, -53, 2.6)
    d.block("paint", 0, 4, 14, 4, 2)
    d.block("paint", 0, -20, 3, 17, 2)


@subject(
    (
        "spaceship|spacecraft|starship|starfighter|space ship|fighter jet|jet|airplane|plane"
        "|aeroplane|aircraft|space shuttle|shuttle|glider|biplane"
    ),
    hull="silver|steel|white",
    paint="red|blue|violet|orange",
    windows="cyan",
    flame="cyan|orange",
)
def spaceship(d: Draft) -> None:
    if d.words & {"airplane", "plane", "aeroplane", "biplane", "aircraft", "glider"}:
        d.poly("paint", (-52, -34), (-66, -66), (-50, -66), (-34, -38))
        d.poly("hull-", (-2, -30), (-34, -62), (-20, -62), (20, -32))
        d.blob("hull", (-64, -30), (-30, -40), (20, -42), (54, -36), (68, -24), (54, -14), (10, -12), (-40, -18))
        for x in (-22, -8, 6, 20):
            d.oval("windows", x, -30, 4)
        d.poly("windows", (40, -38), (52, -36), (60, -29), (42, -29))
        d.poly("paint", (6, -22), (-36, 12), (-18, 12), (26, -22))
        d.poly("paint", (-48, -26), (-64, -14), (-54, -14), (-38, -24))
        return
    for _ in d.sides():
        d.blob("flame", (10, 20), (18, 20), (17, 38), (14, 46), (11, 38))
        d.poly("paint", (12, -26), (52, 14), (56, 34), (40, 22), (12, 18))
        d.block("hull-", 52, 6, 3, 22, 2)
        d.poly("hull-", (10, 4), (22, 4), (20, 24), (8, 24))
    d.blob("hull", (0, -92), (9, -66), (17, -20), (14, 22), (-14, 22), (-17, -20), (-9, -66))
    d.blob("windows", (0, -62), (7, -44), (7, -26), (0, -22), (-7, -26), (-7, -44))
    d.pool("white", (-4, -44), (0, -56), (0, -40))
    d.block("paint", 0, -2, 6, 14, 3)
    d.mark("hull--", (-12, 10), (12, 10), width=1.6)


@subject("ufo|flying saucer|saucer|alien ship", hull="silver|steel", glass="cyan|lime", flame="lime|lemon")
def ufo(d: Draft) -> None:
    d.pie("glass", 0, -14, 26, 34, 180, 360)
    d.oval("lime", 0, -26, 8, 9)
    for _ in d.sides():
        d.dot("black", 3.4, -27, 2.4, 3.6)
    d.oval("hull", 0, -4, 62, 18)
    d.oval("hull+", 0, -11, 38, 8)
    for x in (-44, -22, 0, 22, 44):
        d.oval("flame", x, 2 + 5 * (1 - abs(x) / 44), 4.4)
    d.blob("hull-", (-22, 12), (22, 12), (14, 21), (-14, 21))


@subject(
    (
        "boat|longship|viking longship|sailboat"
        "|sailing boat|ship|pirate ship|raft|yacht|galleon|viking ship|rowboat|canoe"
        "|submarine|steamboat|ferry|warship"
    ),
    wood="brown|copper",
    sail="cream|white|crimson",
    flag="red",
    windows="amber",
)
def boat(d: Draft) -> None:
    if "submarine" in d.words:
        d.limb("charcoal", ((4, -50), (4, -68), (14, -68)), 5)
        d.block("amber", 2, -44, 14, 10, 4)
        d.blob("amber", (-56, -20), (-40, -36), (10, -40), (46, -34), (60, -16), (46, 2), (0, 6), (-42, 0))
        for x in (-22, 4, 30):
            d.oval("charcoal", x, -18, 9)
            d.oval("sky", x, -18, 6)
        d.poly("red", (-54, -22), (-68, -36), (-68, -2), (-54, -12))
        return
    pirate = bool(d.words & {"pirate", "galleon"})
    d.limb("wood-", ((-2, -10), (-2, -104)), 5)
    sail = d.usual("sail", "charcoal") if "pirate" in d.words else "sail"
    if pirate or d.words & {"ship", "viking", "warship", "longship"}:
        d.blob(sail, (-34, -88), (30, -88), (40, -60), (34, -34), (-30, -34), (-24, -60))
        if "viking" in d.words:
            for x in (-20, 2, 24):
                d.patch("red", (x - 5, -87), (x + 5, -87), (x + 8, -36), (x - 3, -36))
        if "pirate" in d.words:
            d.dot("ivory", 4, -64, 11)
            d.dot("ivory", 4, -53, 7, 5)
            for x in (0, 8):
                d.dot("charcoal", x, -64, 3)
        d.poly("cream", (36, -90), (62, -32), (36, -34))
    else:
        d.poly(sail, (2, -98), (44, -26), (2, -26))
        d.poly("sail-", (-6, -88), (-34, -26), (-6, -26))
    d.poly("flag", (-2, -114), (-2, -102), (-22, -108))
    d.blob("wood", (-62, -26), (-40, -18), (0, -16), (40, -18), (66, -28), (50, 6), (36, 12), (-36, 12), (-50, 6))
    d.mark("wood--", (-54, -8), (0, -2), (56, -8), width=1.8)
    if pirate:
        for x in (-28, -6, 16, 38):
            d.oval("black", x, 0, 4.4)
    with d.behind(1):
        d.blob(
            "sky",
            (-72, 10),
            (-54, 4),
            (-36, 10),
            (-18, 4),
            (0, 10),
            (18, 4),
            (36, 10),
            (54, 4),
            (72, 10),
            (60, 20),
            (-60, 20),
        )


@subject(
    "skateboard|surfboard|snowboard|skis|magic carpet|carpet",
    board="coral|teal|violet",
    trim="amber",
    wheels="charcoal",
)
def board(d: Draft) -> None:
    if d.words & {"carpet"}:
        d.poly("board", (-60, -8), (36, -22), (62, 8), (-34, 22))
        d.poly("trim", (-42, -5), (32, -15), (45, 5), (-29, 15))
        d.poly("board-", (-28, -1), (22, -8), (30, 2), (-20, 9))
        for x, y in ((-60, -8), (-34, 22), (62, 8), (36, -22)):
            d.limb("trim", ((x, y), (x * 1.14, y + 7)), 4, 2)
        return
    if d.words & {"surfboard", "snowboard", "skis"}:
        d.blob("board", (0, -60), (15, -30), (17, 14), (9, 52), (-9, 52), (-17, 14), (-15, -30))
        d.mark("trim", (0, -52), (0, 48), width=4)
        return
    d.limb("board", ((-60, -22), (-40, -12), (0, -11), (40, -12), (60, -22)), 8)
    d.limb("trim", ((-30, -12), (30, -12)), 3)
    for x in (-34, 34):
        d.block("silver", x, -5, 5, 4, 1)
        _wheel(d, x, 3, 8)


@subject("hot air balloon|airship|zeppelin|blimp", balloon="red|violet|teal", second="cream|amber", basket="brown")
def airship(d: Draft) -> None:
    if d.words & {"airship", "zeppelin", "blimp"}:
        d.blob("balloon", (-64, -40), (-40, -62), (10, -66), (48, -56), (66, -40), (48, -24), (10, -14), (-40, -18))
        for y in (-54, -26):
            d.mark("second", (-56, -40 + (y + 40) * 0.4), (0, y), (58, -40 + (y + 40) * 0.3), width=2.4)
        d.poly("second", (-54, -46), (-76, -66), (-70, -40), (-76, -14), (-54, -34))
        d.block("basket", 4, -6, 24, 7, 3)
        return
    for x in (-14, 14):
        d.mark("basket-", (x, -26), (x * 0.7, 2), width=1.8)
    d.blob(
        "balloon", (0, -110), (34, -98), (44, -70), (30, -40), (14, -24), (-14, -24), (-30, -40), (-44, -70), (-34, -98)
    )
    d.pool("second", (0, -109), (13, -96), (16, -68), (6, -24), (-6, -24), (-16, -68), (-13, -96))
    for _ in d.sides():
        d.pool("second", (34, -97), (43, -70), (30, -41), (24, -34), (32, -66))
    d.block("basket", 0, 10, 13, 9, 2)
    for y in (7, 13):
        d.mark("basket--", (-12, y), (12, y), width=1.4)


@subject("tank|battle tank|war machine|armored vehicle", paint="olive|steel|sand", wheels="charcoal", trim="charcoal")
def tank(d: Draft) -> None:
    d.limb("paint-", ((14, -46), (72, -54)), 7)
    d.block("paint-", 70, -54, 5, 5, 1)
    d.blob("paint", (-28, -36), (-24, -56), (10, -60), (24, -48), (26, -36))
    d.block("paint-", -8, -61, 9, 4, 2)
    d.poly("paint", (-58, -22), (-46, -38), (46, -38), (60, -22))
    d.block("wheels", 0, -12, 60, 13, 13)
    for x in (-44, -22, 0, 22, 44):
        d.oval("paint-", x, -12, 9)
        d.dot("silver", x, -12, 3)
    d.star("white", -2, -46, 6, 2.6, 5)


@subject(
    "train|locomotive|steam train|steam engine|tram|subway|mine cart|minecart",
    paint="crimson|emerald|navy",
    trim="gold",
    wheels="charcoal",
    windows="sky",
)
def train(d: Draft) -> None:
    if d.words & {"cart", "minecart"}:
        d.poly("steel", (-44, -50), (44, -50), (32, -10), (-32, -10))
        for n in range(5):
            d.oval("gold", -28 + 14 * n, -52, 10)
        d.block("steel+", 0, -49, 47, 4, 2)
        for x in (-22, 22):
            _wheel(d, x, -4, 11)
        return
    d.poly("charcoal", (30, -54), (44, -54), (48, -82), (26, -82))
    for x, y, r in ((36, -88, 9), (24, -100, 12), (6, -108, 14)):
        d.oval("silver", x, y, r)
    d.oval("trim", 8, -54, 8)
    d.block("paint", 16, -36, 42, 18, 8)
    for x in (0, 24):
        d.block("trim", x, -36, 2, 18.4, 0)
    d.block("paint", -40, -46, 22, 30, 2)
    d.block("windows", -40, -56, 13, 11, 2)
    d.block("charcoal", -40, -78, 27, 4, 2)
    d.oval("lemon", 60, -40, 5)
    d.poly("red", (48, -14), (74, 4), (44, 4))
    d.block("charcoal", -2, -15, 58, 5, 1)
    for x, r in ((-42, 14), (-8, 11), (20, 11), (42, 9)):
        _wheel(d, x, 4 - r + 2, r)
    d.limb("silver", ((-42, -8), (20, -4)), 3.4)


@subject("helicopter|chopper|drone|quadcopter", paint="red|olive|blue|amber", windows="sky", trim="charcoal")
def helicopter(d: Draft) -> None:
    d.poly("paint", (-6, -44), (-66, -48), (-66, -40), (-6, -26))
    d.poly("paint-", (-58, -46), (-72, -66), (-62, -66), (-52, -46))
    with d.part("wheel", (-66, -56)):
        d.oval("silver", -66, -56, 9)
        d.oval("trim", -66, -56, 3)
    d.block("trim", 12, -62, 3, 8, 1)
    with d.part("head", (12, -70)):
        d.block("trim", 12, -70, 62, 2.4, 2)
    d.blob("paint", (-24, -34), (-14, -54), (14, -58), (40, -50), (52, -34), (44, -18), (14, -12), (-14, -16))
    d.blob("windows", (16, -54), (36, -48), (48, -34), (40, -30), (16, -32))
    for x in (-6, 26):
        d.limb("trim", ((x, -14), (x + 2, -2)), 3)
    d.limb("trim", ((-22, -4), (0, 0), (36, 0), (46, -5)), 4)


@subject(
    "wagon|cart|carriage|chariot|wheelbarrow|sled|sleigh|horse cart",
    wood="brown|copper",
    cloth="cream|crimson",
    wheels="brown",
)
def wagon(d: Draft) -> None:
    d.blob("cloth", (-50, -34), (-52, -74), (-26, -88), (26, -88), (52, -74), (50, -34))
    for x in (-24, 0, 24):
        d.mark("cloth--", (x, -86), (x, -38), width=2)
    d.block("wood", 0, -26, 54, 11, 2)
    d.mark("wood--", (-52, -26), (52, -26), width=1.6)
    d.limb("wood-", ((52, -20), (78, -14)), 5)
    for x in (-34, 34):
        d.hoop("wheels", x, -6, 17, 5)
        for turn in (0, 45, 90, 135):
            with d.at(x, -6, turn=turn):
                d.mark("wood-", (-15, 0), (15, 0), width=3)
        d.oval("gold", x, -6, 4)
