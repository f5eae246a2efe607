"""What lives in water, and frogs and snakes, which look at home there."""

from __future__ import annotations

from penstock.studio.concept import figure
from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.countenance import eyes, hair, mouth, single_eye
from penstock.studio.concept.draft import Draft


@subject(
    "fish|goldfish|clownfish|tuna|salmon|trout|piranha|koi|carp|tropical fish|angler fish|anglerfish",
    stance="swimmer",
    fur="orange|sky|yellow|coral",
    fin="amber|rose",
    belly="cream",
    eyes="brown",
)
def fish(d: Draft) -> None:
    with d.part("tail", (-30, 0)):
        d.blob("fin", (-28, 0), (-44, -14), (-60, -26), (-54, 0), (-60, 26), (-44, 14))
    d.blob("fin", (-18, -20), (-8, -38), (14, -36), (20, -20))
    d.blob("fin", (-6, 20), (-12, 34), (6, 30), (10, 18))
    d.blob("fur", (-34, 0), (-12, -22), (16, -26), (40, -14), (48, 2), (38, 16), (14, 25), (-12, 20))
    d.pool("belly", (44, 8), (34, 17), (12, 23), (-10, 18), (10, 12))
    for row, x in ((-6, -6), (4, -12), (-14, -2), (2, 4), (-8, 8)):
        d.mark("fur-", (x, row - 4), (x + 3, row), (x, row + 4), width=1.3)
    d.mark("fur--", (22, -16), (17, 0), (22, 15), width=1.6)
    with d.part("wing_r", (8, 6)):
        d.blob("fin", (10, 4), (-2, 2), (-10, 12), (0, 15))
    d.mark("charcoal", (46, 6), (40, 9), (36, 7), width=1.4)
    d.anchor("mouth", 41, 8, 4)
    single_eye(d, 32, -6, 6, d.mood)
    d.anchor("head", 24, -24, 14)
    d.anchor("face", 32, -6, 7)
    d.anchor("neck", 14, 0, 20)


@subject("shark|orca|killer whale|swordfish", stance="swimmer", fur="steel|grey", belly="white", eyes="black")
def shark(d: Draft) -> None:
    with d.part("tail", (-50, -2)):
        d.poly("fur", (-46, -6), (-74, -34), (-68, -4), (-76, 18), (-46, 4))
    d.poly("fur-", (-8, -16), (-6, -44), (18, -18))
    d.blob("fur", (-54, -2), (-20, -16), (16, -22), (50, -12), (66, 0), (50, 14), (16, 20), (-20, 12))
    d.pool("belly", (63, 4), (48, 14), (16, 19), (-20, 11), (-40, 4), (10, 6), (44, 4))
    with d.part("wing_r", (8, 10)):
        d.poly("fur-", (18, 8), (-12, 38), (2, 10))
    for x in (18, 23, 28):
        d.mark("fur--", (x, -6), (x - 2, 4), width=1.2)
    d.pie("burgundy", 48, 6, 12, 8, 0, 180)
    d.anchor("mouth", 48, 9, 6)
    for n in range(5):
        d.patch("white", (37 + 4.4 * n, 6), (41 + 4.4 * n, 6), (39 + 4.4 * n, 11))
    d.oval("white", 44, -5, 3.4)
    d.dot("eyes", 45, -5, 2.1)
    d.mark("charcoal", (39, -11), (49, -8), width=1.6)
    d.anchor("head", 36, -18, 14)
    d.anchor("neck", 14, 0, 20)


@subject(
    "whale|blue whale|dolphin|narwhal|beluga|porpoise|manatee", stance="swimmer", fur="blue|sky|steel", belly="cream"
)
def whale(d: Draft) -> None:
    with d.part("tail", (-44, -6)):
        d.blob("fur", (-38, -2), (-52, -14), (-60, -34), (-74, -36), (-64, -20), (-70, -8), (-56, -2), (-40, 8))
    d.limb(d.slot("liquid", "cyan"), ((24, -26), (24, -44), (12, -54)), 5, 4, 3)
    d.limb("liquid", ((24, -26), (24, -44), (36, -54)), 5, 4, 3)
    d.blob("fur", (-48, -4), (-26, -12), (0, -26), (34, -30), (58, -16), (60, 8), (42, 26), (4, 28), (-26, 18))
    d.pool("belly", (60, 6), (42, 25), (4, 27), (-18, 20), (6, 14), (36, 12))
    for n in range(4):
        d.mark("fur-", (4 + 11 * n, 17), (2 + 10 * n, 25), width=1)
    with d.part("wing_r", (12, 14)):
        d.blob("fur-", (16, 12), (0, 30), (-8, 34), (2, 12))
    d.mark("charcoal", (58, 8), (46, 12), (36, 8), width=1.6)
    d.anchor("mouth", 48, 11, 6)
    single_eye(d, 36, -4, 4.6, d.mood)
    d.anchor("head", 38, -28, 16)
    d.anchor("face", 36, -4, 6)


@subject(
    "octopus|squid|kraken|jellyfish|cthulhu|cuttlefish",
    stance="hopper",
    fur="purple|coral|rose|teal",
    spots="pink|lavender",
    eyes="brown|amber",
)
def octopus(d: Draft) -> None:
    for n, (x, y) in enumerate(((46, -4), (34, 0), (14, 0))):
        for _ in d.sides("arm" if n == 0 else "leg" if n == 1 else "leg_mid", (8, -38)):
            tip = (x + 9, y - 12 if n < 2 else y - 4)
            d.limb("fur", ((7 + 5 * (2 - n), -40), (x * 0.66 + 5, -20), (x, y - 2), tip), 13, 11, 8, 4)
            for t in (0.4, 0.6, 0.8):
                d.dot("spots", x * t + 6 * (1 - t), -30 + 27 * t, 2.0)
    d.blob("fur", (0, -98), (26, -88), (32, -64), (22, -44), (16, -32), (-16, -32), (-22, -44), (-32, -64), (-26, -88))
    for x, y, r in ((-14, -84, 4.4), (-4, -90, 3), (17, -80, 3.6)):
        d.dot("spots", x, y, r)
    eyes(d, 11, -56, 7, d.mood)
    mouth(d, 0, -41, 5, d.mood)
    d.anchor("head", 0, -97, 22)
    d.anchor("face", 0, -56, 11)
    d.anchor("neck", 0, -34, 20)


@subject(
    "crab|lobster|hermit crab|crayfish|shrimp", stance="crawler", shell="red|coral|orange", eyes="brown", belly="peach"
)
def crab(d: Draft) -> None:
    for n, (x, y) in enumerate(((46, -2), (40, 0), (32, 2))):
        for _ in d.sides(f"leg{n}", (20, -22)):
            d.limb("shell-", ((18, -22 + 3 * n), (x, -18 + 5 * n), (x + 2, y)), 5.4, 4.4, 1.6)
    for side in d.sides("arm", (24, -32)):
        d.limb("shell", ((22, -30), (38, -38), (42, -52)), 8, 8)
        d.blob("shell", (36, -52), (34, -68), (42, -80), (44, -66), (50, -80), (58, -66), (54, -52), (46, -48))
        d.anchor("hand_r" if side > 0 else "hand_l", 46, -66, 8)
    for _ in d.sides():
        d.limb("shell", ((9, -42), (10, -56)), 3.6)
        d.oval("white", 10, -59, 6.4)
        d.dot("eyes", 9.4, -58.4, 4)
        d.dot("black", 9.4, -58.4, 2.4)
    d.blob("shell", (-32, -26), (-22, -42), (0, -46), (22, -42), (32, -26), (20, -9), (0, -6), (-20, -9))
    d.pool("belly", (-18, -14), (0, -17), (18, -14), (8, -8), (-8, -8))
    mouth(d, 0, -24, 7, d.mood)
    d.anchor("head", 0, -46, 22)
    d.anchor("face", 0, -59, 10)
    d.anchor("neck", 0, -16, 22)


@subject("frog|toad|bullfrog|tree frog", stance="hopper", fur="green|lime|emerald", belly="lemon", eyes="amber")
def frog(d: Draft) -> None:
    for _ in d.sides("leg", (24, -18)):
        d.blob("fur-", (14, -28), (34, -32), (44, -16), (34, -4), (16, -8))
        d.blob("fur", (24, -8), (40, -7), (54, 0), (24, 0))
    d.blob("fur", (-26, -44), (26, -44), (30, -22), (20, -4), (-20, -4), (-30, -22))
    d.oval("belly", 0, -18, 19, 15)
    for _ in d.sides("arm", (16, -22)):
        d.limb("fur", ((17, -26), (20, -12), (16, -2)), 8, 7, 6)
        d.blob("fur", (10, 0), (12, -5), (20, -5), (25, 0))
    with d.part("head", (0, -40)):
        for _ in d.sides():
            d.oval("fur", 18, -68, 13)
        d.blob("fur", (-36, -48), (-28, -64), (0, -68), (28, -64), (36, -48), (24, -34), (0, -30), (-24, -34))
        for _ in d.sides():
            d.oval("white", 18, -70, 9)
            d.dot("eyes", 17.4, -69.4, 6.4)
            d.dot("black", 17.4, -69.4, 5, 3)
            d.dot("white", 15, -72, 1.6)
        d.mark("charcoal", (-26, -46), (0, -40), (26, -46), width=1.8)
        for _ in d.sides():
            d.dot("charcoal", 3, -54, 0.9)
    d.anchor("head", 0, -68, 20)
    d.anchor("face", 0, -70, 18)
    d.anchor("neck", 0, -34, 26)
    d.anchor("back", 0, -36, 40)


@subject(
    "snake|serpent|cobra|viper|python|worm|eel|basilisk",
    stance="crawler",
    fur="green|lime|olive|purple",
    belly="lemon",
    spots="emerald|amber",
    eyes="amber",
)
def snake(d: Draft) -> None:
    d.limb("fur-", ((-58, -4), (-44, -8), (-24, -6), (8, -8), (34, -8)), 2, 9, 15, 17, 17)
    d.limb("fur", ((34, -8), (44, -20), (24, -27), (-14, -25), (-30, -30)), 17, 17, 17, 17)
    d.limb("fur", ((-30, -30), (-34, -40), (-14, -44), (10, -46), (18, -62), (10, -80)), 17, 16, 16, 16, 15)
    for x, y in ((-16, -7), (6, -8), (22, -27), (0, -26), (-16, -44), (4, -45)):
        d.dot("spots", x, y, 5, 3.4)
    with d.part("head", (14, -66)):
        if d.words & {"cobra", "basilisk"}:
            d.blob("fur-", (10, -92), (28, -82), (26, -60), (12, -52), (-2, -60), (-6, -82))
        d.limb("red", ((28, -84), (42, -82)), 1.8)
        d.limb("red", ((42, -82), (47, -86)), 1.6)
        d.limb("red", ((42, -82), (47, -78)), 1.6)
        d.blob("fur", (-4, -86), (6, -97), (24, -95), (34, -86), (26, -78), (6, -76))
        single_eye(d, 14, -89, 4.4, d.mood)
        d.mark("charcoal", (33, -85), (20, -82), width=1)
    d.anchor("head", 10, -96, 13)
    d.anchor("face", 15, -89, 5)
    d.anchor("neck", 14, -68, 12)


@subject(
    "mermaid|merman|siren|triton|naga",
    stance="biped",
    tail="teal|emerald|violet",
    skin="peach|sand|copper",
    hair="ginger|magenta|blonde",
    clothes="lavender|coral",
    eyes="green|blue",
)
def mermaid(d: Draft) -> None:
    b = figure.build_of(d)
    with d.part("leg_l", (0, b.hip)):
        d.blob("tail", (0, -6), (-14, -10), (-26, 0), (-12, 3), (0, -1), (12, 3), (26, 0), (14, -10))
        d.blob(
            "tail",
            (-b.waist, b.hip - 4),
            (b.waist, b.hip - 4),
            (b.waist * 0.9, b.hip * 0.6),
            (3.6, -6),
            (-3.6, -6),
            (-b.waist * 0.9, b.hip * 0.6),
        )
        for row in range(3):
            for n in (-1, 0, 1):
                d.mark(
                    "tail-",
                    (n * 5 - 2, b.hip * (0.85 - 0.17 * row)),
                    (n * 5, b.hip * (0.85 - 0.17 * row) + 2),
                    (n * 5 + 2, b.hip * (0.85 - 0.17 * row)),
                    width=0.8,
                )
    figure.arms(d, b, "skin", "skin")
    figure.neck(d, b, "skin")
    figure.torso(d, b, "skin")
    for _ in d.sides():
        d.oval("clothes", b.broad * 0.4, b.shoulder + 8, b.broad * 0.38)
    d.limb("tail+", ((-b.waist, b.hip - 3), (0, b.hip), (b.waist, b.hip - 3)), 4)
    with d.part("head", (0, b.chin)), d.at(0, b.chin - b.head * 0.96, b.head):
        d.blob(
            "skin",
            (-0.92, -0.1),
            (-0.74, -0.78),
            (0, -1.0),
            (0.74, -0.78),
            (0.92, -0.1),
            (0.78, 0.58),
            (0.34, 0.96),
            (-0.34, 0.96),
            (-0.78, 0.58),
        )
        eyes(d, 0.38, 0, 0.25, d.mood)
        mouth(d, 0, 0.56, 0.26, d.mood)
        hair(d, "long")
        d.star("coral", 0.62, -0.7, 0.26, 0.12, 5)
    d.anchor("head", 0, b.chin - 1.96 * b.head, b.head * 0.96)
    d.anchor("face", 0, b.chin - 0.9 * b.head, b.head * 0.4)
    figure.anchors(d, b)


@subject(
    "starfish|sea star|seahorse|coral|sea shell|seashell|clam|shell",
    stance="thing",
    fur="coral|orange|rose",
    spots="peach",
    eyes="brown",
)
def starfish(d: Draft) -> None:
    if d.words & {"shell", "seashell", "clam"}:
        d.pie("fur", 0, 0, 44, 50, 180, 360)
        for x in (-30, -15, 0, 15, 30):
            d.mark("fur-", (x * 0.2, 0), (x, -42 + abs(x) * 0.3), width=2)
        d.block("fur-", 0, 3, 16, 6, 4)
        return
    d.star("fur", 0, 0, 50, 23, 5)
    for n in range(5):
        with d.at(0, 0, turn=72 * n):
            for y in (-34, -24, -14):
                d.dot("spots", 0, y, 2.6)
    eyes(d, 8, -4, 5.4, d.mood)
    mouth(d, 0, 8, 6, d.mood or "happy")
