"""Birds, and whatever else flies by itself."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.countenance import eyes, single_eye
from penstock.studio.concept.draft import Draft


@subject(
    "bird|sparrow|robin|canary|bluebird|finch|crow|raven|pigeon|dove|magpie|hummingbird|songbird|phoenix",
    stance="flyer",
    fur="sky|red|yellow|teal",
    belly="cream|white",
    beak="orange",
    eyes="brown",
)
def bird(d: Draft) -> None:
    with d.part("tail", (-26, -34)):
        d.poly("fur-", (-22, -40), (-54, -30), (-50, -22), (-56, -16), (-22, -24))
    for x, which in ((-4, "far"), (8, "near")):
        with d.part(f"leg_{which}", (x, -16)):
            d.limb("beak", ((x, -16), (x + 1, -2)), 2.6)
            for toe in (-5, 1, 7):
                d.limb("beak", ((x + 1, -2), (x + 1 + toe, 0)), 2.0)
    d.blob("fur", (-32, -32), (-12, -46), (8, -64), (26, -66), (36, -54), (32, -34), (16, -17), (-12, -15), (-28, -24))
    d.pool("belly", (33, -44), (28, -30), (14, -18), (-6, -17), (6, -30), (20, -42))
    with d.part("wing_r", (8, -42)):
        d.blob("fur--", (10, -44), (-6, -46), (-26, -38), (-44, -34), (-30, -24), (-8, -22), (8, -30))
        d.mark("fur---", (-28, -31), (-8, -30), width=1)
        d.mark("fur---", (-32, -36), (-10, -36), width=1)
    with d.part("head", (20, -50)):
        d.poly("beak", (34, -62), (52, -55), (35, -50))
        d.mark("charcoal", (36, -56), (48, -55), width=0.8)
        d.anchor("mouth", 42, -55, 4)
        single_eye(d, 25, -58, 4.2, d.mood)
    d.anchor("head", 20, -66, 12)
    d.anchor("face", 26, -58, 5)
    d.anchor("neck", 20, -42, 15)


@subject(
    "owl|owlet|barn owl|snowy owl",
    stance="hopper",
    fur="brown|copper|grey|white",
    belly="cream",
    beak="amber",
    eyes="amber|lime",
)
def owl(d: Draft) -> None:
    for side in d.sides("leg", (9, -6)):
        for toe in (-4, 0, 4):
            d.limb("beak", ((9, -6), (9 + toe + side * 0, 0)), 3.4)
    for _ in d.sides("wing", (24, -58)):
        d.blob("fur-", (22, -62), (33, -46), (34, -24), (26, -8), (20, -24))
    d.blob("fur", (0, -96), (24, -90), (30, -62), (28, -26), (14, -4), (-14, -4), (-28, -26), (-30, -62), (-24, -90))
    d.oval("belly", 0, -30, 18, 25)
    for row in range(3):
        for n in range(3 - row % 2):
            x = (n - 1 + (row % 2) * 0.5) * 10
            d.mark("fur-", (x - 3.4, -42 + row * 11), (x, -38 + row * 11), (x + 3.4, -42 + row * 11), width=1.6)
    with d.part("head", (0, -62)):
        for _ in d.sides():
            d.poly("fur-", (10, -88), (30, -104), (25, -78))
        for _ in d.sides():
            d.oval("belly", 12.4, -74, 13.4)
            d.oval("eyes", 12, -74, 8.6)
            d.dot("black", 12, -74, 5.2)
            d.dot("white", 10, -76.5, 2)
            if d.mood == "angry":
                d.patch("fur-", (1, -80), (24, -92), (2, -88))
        d.poly("beak", (-4.4, -70), (4.4, -70), (0, -59))
        d.anchor("mouth", 0, -62, 3)
    d.anchor("head", 0, -95, 22)
    d.anchor("face", 0, -74, 13)
    d.anchor("neck", 0, -56, 22)
    d.anchor("back", 0, -58, 40)


@subject("penguin|puffin", stance="hopper", fur="charcoal|navy", belly="white", beak="orange", eyes="brown")
def penguin(d: Draft) -> None:
    for _ in d.sides("leg", (9, -4)):
        d.blob("beak", (3, 0), (5, -6), (12, -7), (19, -2), (19, 0))
    for side in d.sides("arm", (24, -56)):
        d.blob("fur-", (20, -60), (30, -52), (39, -32), (40, -20), (32, -28), (24, -38))
        d.anchor("hand_r" if side > 0 else "hand_l", 39, -22, 7)
    d.blob("fur", (0, -98), (20, -90), (25, -66), (29, -34), (18, -5), (-18, -5), (-29, -34), (-25, -66), (-20, -90))
    d.blob("belly", (0, -58), (16, -56), (21, -34), (13, -8), (-13, -8), (-21, -34), (-16, -56))
    with d.part("head", (0, -62)):
        for _ in d.sides():
            d.dot("belly", 8, -74, 9.4, 10.4)
        eyes(d, 8, -76, 4.4, d.mood)
        d.blob("beak", (-7, -67), (0, -71), (7, -67), (0, -60))
    d.anchor("head", 0, -97, 19)
    d.anchor("face", 0, -76, 8)
    d.anchor("neck", 0, -57, 20)
    d.anchor("back", 0, -56, 40)


@subject(
    "chicken|hen|rooster|cock|turkey|chick",
    stance="hopper",
    fur="white|rust|cream",
    comb="red",
    beak="amber",
    tail="charcoal",
)
def chicken(d: Draft) -> None:
    with d.part("tail", (-26, -44)):
        for turn in (-30, 0, 26):
            with d.at(-24, -40, turn=turn):
                d.blob(d.slot("tail", "charcoal"), (4, -4), (-12, -22), (-26, -24), (-18, -8), (0, 6))
    for x, which in ((-6, "far"), (10, "near")):
        with d.part(f"leg_{which}", (x, -18)):
            d.limb("beak", ((x, -20), (x + 1, -3)), 3.4)
            for toe in (-6, 2, 9):
                d.limb("beak", ((x + 1, -3), (x + 1 + toe, 0)), 2.8)
    d.blob(
        "fur",
        (-32, -42),
        (-14, -36),
        (8, -48),
        (16, -78),
        (32, -76),
        (36, -50),
        (30, -28),
        (10, -16),
        (-16, -17),
        (-30, -28),
    )
    with d.part("wing_r", (6, -38)):
        d.blob("fur-", (12, -40), (-12, -38), (-24, -30), (-12, -22), (8, -24))
    with d.part("head", (22, -60)):
        for x, y, r in ((15, -82, 5), (22, -87, 6), (29, -83, 5)):
            d.oval("comb", x, y, r)
        d.oval("fur", 23, -72, 13)
        d.poly("beak", (33, -75), (47, -69), (33, -65))
        d.blob("comb", (33, -66), (38, -62), (36, -53), (31, -56))
        single_eye(d, 26, -74, 3.6, d.mood)
    d.anchor("head", 22, -86, 12)
    d.anchor("face", 27, -74, 5)
    d.anchor("neck", 24, -56, 13)


@subject(
    "duck|duckling|goose|swan|rubber duck|mallard", stance="hopper", fur="yellow|white", beak="orange", wing="amber"
)
def duck(d: Draft) -> None:
    if d.words & {"rubber", "duckling"}:
        d.usual("fur", "yellow")
    for x, which in ((-4, "far"), (10, "near")):
        with d.part(f"leg_{which}", (x, -10)):
            d.limb("beak", ((x, -12), (x, -3)), 4)
            d.blob("beak", (x - 5, 0), (x, -5), (x + 12, -2), (x + 12, 0))
    d.blob("fur", (-46, -46), (-36, -38), (-6, -40), (16, -36), (34, -38), (40, -24), (26, -9), (-10, -8), (-34, -18))
    with d.part("wing_r", (4, -34)):
        d.blob("fur-", (14, -34), (-12, -36), (-28, -30), (-12, -18), (10, -20))
    with d.part("head", (20, -40)):
        d.limb("fur", ((22, -36), (22, -56)), 20, 18)
        d.oval("fur", 24, -64, 17)
        d.blob("beak", (36, -66), (48, -64), (58, -58), (48, -54), (36, -56))
        d.mark("charcoal", (40, -59), (52, -59), width=0.9)
        single_eye(d, 29, -68, 4, d.mood)
    d.anchor("head", 23, -79, 14)
    d.anchor("face", 29, -68, 6)
    d.anchor("neck", 22, -46, 13)


@subject(
    "eagle|hawk|falcon|vulture|griffin|gryphon|seagull|parrot|toucan|macaw",
    stance="flyer",
    fur="brown|copper|red",
    head="white|cream",
    beak="amber",
    wings="brown|charcoal",
    eyes="amber",
)
def eagle(d: Draft) -> None:
    for _ in d.sides("wing", (9, -52)):
        d.poly(
            "wings",
            (6, -58),
            (28, -80),
            (60, -86),
            (70, -78),
            (62, -72),
            (68, -64),
            (58, -60),
            (60, -50),
            (48, -50),
            (44, -40),
            (30, -42),
            (8, -36),
        )
        d.poly("wings+", (8, -56), (28, -72), (46, -76), (40, -62), (24, -50), (9, -44))
    d.poly("head", (-12, -14), (12, -14), (16, 4), (6, 0), (0, 6), (-6, 0), (-16, 4))
    for _ in d.sides("leg", (7, -14)):
        for toe in (-4, 0, 4):
            d.limb("beak", ((7, -16), (8 + toe, -4)), 3)
    d.blob("fur", (-14, -58), (14, -58), (17, -36), (8, -12), (-8, -12), (-17, -36))
    with d.part("head", (0, -56)):
        d.blob("head", (0, -86), (13, -78), (14, -62), (7, -52), (-7, -52), (-14, -62), (-13, -78))
        eyes(d, 6, -72, 3.4, d.mood or "angry")
        d.blob("beak", (-5, -69), (0, -72), (5, -69), (3, -60), (0, -55), (-3, -60))
    d.anchor("head", 0, -86, 12)
    d.anchor("face", 0, -72, 6)
    d.anchor("neck", 0, -54, 12)


@subject(
    "flamingo|stork|heron|crane bird|ostrich|emu", stance="hopper", fur="pink|rose", beak="charcoal", boots="coral"
)
def flamingo(d: Draft) -> None:
    for x, which in ((-4, "far"), (6, "near")):
        with d.part(f"leg_{which}", (x, -42)):
            d.limb("boots", ((x, -42), (x - 2, -22), (x, -1)), 2.8)
            d.limb("boots", ((x, -1), (x + 8, 0)), 2.6)
    d.blob("fur", (-34, -56), (-10, -66), (16, -62), (22, -50), (8, -40), (-16, -42))
    with d.part("wing_r", (6, -56)):
        d.blob("fur-", (10, -58), (-12, -60), (-34, -50), (-14, -44), (8, -48))
    with d.part("head", (16, -56)):
        d.limb("fur", ((14, -54), (28, -66), (16, -82), (22, -98), (32, -98)), 9, 7, 6, 7)
        d.oval("fur", 31, -98, 8)
        d.blob("beak", (36, -102), (47, -96), (47, -86), (41, -90), (36, -94))
        single_eye(d, 32, -100, 2.6, d.mood)
    d.anchor("head", 30, -106, 7)
    d.anchor("neck", 22, -84, 7)


@subject(
    "bat|vampire bat|fruit bat", stance="flyer", fur="purple|charcoal|brown", wings="violet|navy", eyes="yellow|red"
)
def bat(d: Draft) -> None:
    for _ in d.sides("wing", (14, -42)):
        d.poly(
            "wings", (10, -50), (36, -74), (66, -70), (58, -56), (62, -36), (48, -42), (42, -26), (30, -36), (14, -28)
        )
        for tip in ((62, -36), (42, -26)):
            d.limb("wings--", ((36, -73), tip), 2, 1)
    for _ in d.sides():
        d.limb("fur-", ((7, -16), (8, -8)), 4)
    d.oval("fur", 0, -40, 22, 25)
    d.oval("fur+", 0, -30, 12, 12)
    with d.part("head", (0, -50)):
        for _ in d.sides():
            d.poly("fur", (4, -58), (18, -84), (20, -50))
            d.patch("pink", (9, -60), (16, -76), (16, -56))
        eyes(d, 8.6, -47, 5.4, d.mood)
        d.pie("burgundy", 0, -37, 6.4, 5, 0, 180)
        for _ in d.sides():
            d.poly("white", (1.6, -37), (5.4, -37), (3.4, -31))
    d.anchor("head", 0, -64, 17)
    d.anchor("face", 0, -47, 8.6)
    d.anchor("neck", 0, -28, 16)


@subject("pterodactyl|pteranodon|flying dinosaur", stance="flyer", fur="teal|copper", wings="amber")
def pterodactyl(d: Draft) -> None:
    for _ in d.sides("wing", (8, -46)):
        d.poly("wings", (6, -54), (34, -76), (72, -62), (50, -52), (40, -34), (24, -36), (10, -24))
    d.blob("fur", (-9, -54), (9, -54), (10, -34), (4, -14), (-4, -14), (-10, -34))
    with d.part("head", (0, -52)):
        d.poly("fur", (-6, -66), (-26, -84), (4, -72))
        d.oval("fur", 2, -62, 10)
        d.poly("fur+", (8, -68), (44, -58), (8, -54))
        single_eye(d, 4, -64, 3)
    d.anchor("head", 0, -72, 9)
