"""Insects, spiders, snails."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.countenance import eyes, mouth, single_eye
from penstock.studio.concept.draft import Draft


@subject(
    "spider|tarantula|black widow|arachnid|giant spider",
    stance="crawler",
    fur="charcoal|brown|purple",
    spots="red|amber|lime",
    eyes="red|lime",
)
def spider(d: Draft) -> None:
    for n, (knee, foot) in enumerate(
        (((34, -62), (50, -46)), ((46, -46), (62, -14)), ((44, -28), (56, 0)), ((30, -18), (34, 2)))
    ):
        for _ in d.sides(f"leg{n}", (12, -30)):
            d.limb("fur-", ((10, -32 + 3 * n), knee, foot), 6, 5, 1.6)
    d.oval("fur", 0, -46, 27, 24)
    d.poly("spots", (-6, -60), (6, -60), (-5, -42), (5, -42)) if d.words & {"widow"} else d.star(
        "spots", 0, -56, 8, 4, 4
    )
    with d.part("head", (0, -26)):
        d.oval("fur+", 0, -22, 18, 15)
        for x, y, r in ((6, -24, 5), (14, -28, 3), (3, -32, 2.6)):
            for _ in d.sides():
                d.oval("white", x, y, r)
                d.dot("eyes", x - 0.4, y + 0.4, r * 0.62)
                d.dot("black", x - 0.4, y + 0.4, r * 0.34)
        for _ in d.sides():
            d.poly("ivory", (2.6, -11), (7.4, -12), (5.4, -2))
    d.anchor("head", 0, -66, 20)
    d.anchor("face", 0, -24, 6)


@subject(
    "bee|bumblebee|wasp|hornet|honeybee|fly|mosquito|firefly|dragonfly",
    stance="flyer",
    fur="yellow|amber",
    spots="black",
    wings="sky|white",
    eyes="brown",
)
def bee(d: Draft) -> None:
    for which, x, turn in (("wing_l", 6, 16), ("wing_r", -4, -14)):
        with d.part(which, (x, -22)), d.at(x, -20, turn=turn):
            d.blob("wings", (0, 0), (-16, -26), (-8, -46), (8, -46), (14, -24))
            d.mark("wings-", (0, -4), (0, -36), width=1)
    d.poly("spots", (-34, -6), (-50, -2), (-34, 4))
    for x in (-8, 4, 16):
        d.limb("spots", ((x, 14), (x + 3, 24), (x + 7, 26)), 3)
    d.blob("fur", (-36, 0), (-24, -18), (0, -23), (20, -16), (24, 0), (18, 15), (-4, 20), (-26, 14))
    for x, top, low in ((-22, -18, 15), (-6, -22, 19), (10, -20, 17)):
        d.pool("spots", (x - 4, top + 2), (x + 4, top), ((x + 6), 0), (x + 4, low), (x - 4, low + 1), (x - 2, 0))
    with d.part("head", (22, -4)):
        for turn in (0, 22):
            with d.at(34, -16, turn=turn):
                d.limb("spots", ((0, 0), (4, -12), (11, -15)), 2.2)
                d.oval("spots", 12, -15, 2.8)
        d.oval("fur", 33, -2, 17)
        single_eye(d, 39, -4, 5.6, d.mood)
        d.mark("charcoal", (40, 8), (44, 8.6), (47, 6), width=1.3)
    d.anchor("head", 32, -18, 13)
    d.anchor("face", 39, -4, 6)
    d.anchor("neck", 22, 6, 14)


@subject(
    "butterfly|moth|monarch",
    stance="flyer",
    wings="orange|sky|violet|magenta",
    spots="yellow|white",
    fur="charcoal|brown",
)
def butterfly(d: Draft) -> None:
    for _ in d.sides("wing", (3, -40)):
        d.blob("wings-", (4, -34), (28, -34), (38, -16), (26, 0), (10, -10))
        d.blob("wings", (4, -42), (16, -72), (42, -86), (54, -68), (44, -44), (22, -32))
        d.pool("spots", (14, -50), (24, -66), (38, -70), (36, -54), (22, -42))
        d.dot("spots", 24, -18, 6)
        for x, y in ((47, -74), (49, -64), (44, -52)):
            d.dot("white", x, y, 2)
    for _ in d.sides():
        d.limb("fur", ((1, -64), (8, -80), (16, -84)), 1.8)
        d.oval("fur", 16.4, -84, 2.4)
    d.limb("fur", ((0, -58), (0, -8)), 9, 8, 4)
    d.oval("fur", 0, -62, 7.6)
    eyes(d, 3.4, -63, 2.2, d.mood)
    d.anchor("head", 0, -69, 8)


@subject(
    "ladybug|ladybird|beetle|bug|scarab|cockroach|ant|insect|stag beetle|termite",
    stance="crawler",
    shell="red|emerald|navy",
    spots="black",
    fur="charcoal",
    eyes="brown",
)
def beetle(d: Draft) -> None:
    for n, (x, y) in enumerate(((40, -62), (46, -34), (38, -6))):
        for _ in d.sides(f"leg{n}", (20, -36)):
            d.limb("fur", ((20, -42 + 10 * n), (x - 4, y - 6), (x + 4, y + 4)), 5, 4, 2.4)
    with d.part("head", (0, -62)):
        for _ in d.sides():
            d.limb("fur", ((6, -76), (12, -90), (20, -94)), 2.6)
            d.oval("fur", 20, -94, 3)
        d.oval("fur", 0, -68, 19, 15)
        eyes(d, 9, -71, 5.4, d.mood)
    d.oval("shell", 0, -32, 33, 35)
    d.mark("spots", (0, -66), (0, 2), width=2)
    if d.words & {"ladybug", "ladybird"} or d.chance(0.5):
        for _ in d.sides():
            for x, y, r in ((13, -48, 5.6), (20, -28, 5), (11, -12, 5)):
                d.dot("spots", x, y, r)
    d.anchor("head", 0, -82, 16)
    d.anchor("face", 0, -71, 9)


@subject("snail|slug", stance="crawler", shell="copper|coral|violet", fur="sand|lime", eyes="brown")
def snail(d: Draft) -> None:
    with d.part("head", (26, -12)):
        for x in (38, 48):
            d.limb("fur", ((x, -24), (x + 4, -44)), 4)
            d.oval("white", x + 4, -48, 6)
            d.dot("black", x + 5.4, -48, 3.2)
    d.blob("fur", (-48, 0), (-30, -10), (10, -12), (28, -20), (36, -32), (52, -32), (56, -18), (48, -4), (30, 0))
    d.mark("charcoal", (55, -16), (50, -13), (45, -15), width=1.4)
    d.oval("shell", -6, -34, 33, 31)
    for r, turn in ((24, 0), (15, 0), (7, 0)):
        d.oval("shell" + ("-" if r == 15 else "+"), -4 + (24 - r) * 0.2, -32 + turn, r, r * 0.92)
    d.anchor("head", 46, -34, 10)


@subject("scorpion", stance="crawler", fur="rust|charcoal|amber", eyes="lime")
def scorpion(d: Draft) -> None:
    with d.part("tail", (0, -40)):
        d.limb("fur", ((0, -34), (0, -58), (14, -80), (32, -86), (38, -70)), 15, 13, 11, 9, 7)
        d.poly("charcoal", (32, -72), (46, -68), (36, -52))
    for n, (x, y) in enumerate(((44, -32), (48, -14), (42, 0))):
        for _ in d.sides(f"leg{n}", (14, -26)):
            d.limb("fur-", ((14, -30 + 5 * n), (x - 10, y - 12), (x, y)), 4.6, 3.8, 1.6)
    for _ in d.sides("arm", (14, -14)):
        d.limb("fur", ((12, -14), (30, -4), (34, 10)), 7)
        d.blob("fur", (28, 8), (26, 24), (32, 34), (35, 22), (40, 34), (46, 22), (42, 8))
    d.oval("fur", 0, -24, 20, 24)
    for y in (-36, -27, -18):
        d.mark("fur--", (-17, y), (0, y + 3), (17, y), width=1.4)
    eyes(d, 6, -8, 4, d.mood or "angry")


@subject("caterpillar|centipede|larva|millipede", stance="crawler", fur="lime|green", spots="yellow", boots="orange")
def caterpillar(d: Draft) -> None:
    for n in range(5):
        x, y = -44 + 17 * n, -13 - 7 * (n % 2)
        with d.part(f"leg{n}", (x, -8)):
            d.limb("boots", ((x, -8), (x + 1, -1)), 5)
        d.oval("fur" if n % 2 else "fur+", x, y, 14)
        d.dot("spots", x, y - 4, 4)
    with d.part("head", (34, -18)):
        for x in (36, 46):
            d.limb("charcoal", ((x, -36), (x + 3, -50)), 2)
            d.oval("boots", x + 3, -51, 3.4)
        d.oval("fur", 41, -24, 18)
        with d.at(42, -26):
            eyes(d, 7, 0, 5, d.mood)
            mouth(d, 0, 9, 5, d.mood)
    d.anchor("head", 41, -41, 14)
