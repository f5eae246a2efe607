"""Tools, instruments, toys and other things with a use."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft


@subject("pickaxe|pick|mattock", metal="steel|silver", grip="brown")
def pickaxe(d: Draft) -> None:
    d.limb("grip", ((0, -54), (0, 30)), 7)
    d.blob("metal", (-46, -38), (-24, -58), (0, -64), (24, -58), (46, -38), (22, -48), (0, -52), (-22, -48))
    d.block("metal-", 0, -57, 7, 8, 2)


@subject("shovel|spade|trowel", metal="steel", grip="brown")
def shovel(d: Draft) -> None:
    d.limb("grip", ((0, 40), (0, -30)), 6)
    d.limb("grip-", ((-9, 40), (9, 40)), 5)
    d.blob("metal", (-17, -34), (17, -34), (18, -60), (0, -86), (-18, -60))


@subject("wrench|spanner|screwdriver|pliers|tool|tools", metal="steel|silver", grip="red|blue")
def wrench(d: Draft) -> None:
    d.limb("metal", ((0, 30), (0, -36)), 11)
    d.poly(
        "metal",
        (-18, -44),
        (-16, -66),
        (-7, -70),
        (-7, -52),
        (7, -52),
        (7, -70),
        (16, -66),
        (18, -44),
        (7, -30),
        (-7, -30),
    )
    d.oval("metal", 0, 36, 13)
    d.dot("charcoal", 0, 36, 6)


@subject("saw|chainsaw|scissors|shears|drill", metal="silver", grip="orange|red|brown")
def saw(d: Draft) -> None:
    teeth = [(x, 12 + (6 if n % 2 else 0)) for n, x in enumerate(range(58, -22, -5))]
    d.poly("metal", (-22, -22), (58, -2), *((float(x), float(y)) for x, y in teeth))
    d.blob("grip", (-22, -26), (-46, -24), (-56, -4), (-48, 20), (-22, 18))
    d.dot("charcoal", -38, -2, 8, 11)


@subject("broom|broomstick|mop|brush|paintbrush|rake", grip="brown", straw="amber|sand", trim="crimson|purple")
def broom(d: Draft) -> None:
    d.limb("grip", ((0, 46), (0, -40)), 5)
    d.blob("straw", (-7, -38), (7, -38), (19, -62), (22, -90), (8, -86), (0, -92), (-8, -86), (-22, -90), (-19, -62))
    for x in (-10, -3, 4, 11):
        d.mark("straw--", (x * 0.4, -44), (x, -84), width=1.4)
    d.block("trim", 0, -42, 9, 4, 2)


@subject("fishing rod|fishing pole", grip="brown", metal="steel")
def fishing_rod(d: Draft) -> None:
    d.limb("grip", ((0, 30), (2, -20), (14, -90)), 6, 4, 1.6)
    d.limb("silver", ((14, -88), (34, -50), (36, -8)), 2.4)
    d.limb("metal", ((36, -10), (36, 2), (30, 2), (30, -3)), 2)
    d.oval("metal", 6, 8, 6)


@subject(
    "guitar|lute|ukulele|violin|banjo|bass|electric guitar|harp|cello",
    wood="copper|crimson|amber",
    neck="brown",
    metal="charcoal",
)
def guitar(d: Draft) -> None:
    d.block("neck", 0, -44, 4.6, 34, 1)
    d.poly("neck-", (-7, -76), (7, -76), (9, -96), (-9, -96))
    for _ in d.sides():
        for y in (-80, -87, -94):
            d.oval("silver", 9, y, 2.4)
    d.blob(
        "wood",
        (-14, -16),
        (0, -12),
        (14, -16),
        (24, -4),
        (18, 12),
        (30, 30),
        (20, 50),
        (0, 55),
        (-20, 50),
        (-30, 30),
        (-18, 12),
        (-24, -4),
    )
    d.oval("metal", 0, 14, 10)
    d.block("neck-", 0, 38, 12, 3, 1)
    for x in (-2, 0, 2):
        d.mark("ivory", (x, -76), (x, 38), width=0.7)


@subject("drum|trumpet|horn|flute|piano|saxophone|bell|microphone|megaphone", metal="gold|red", trim="cream|silver")
def drum(d: Draft) -> None:
    if d.words & {"bell"}:
        d.oval("metal-", 0, 40, 9)
        d.blob("metal", (-9, -44), (9, -44), (24, -26), (28, 10), (42, 32), (0, 40), (-42, 32), (-28, 10), (-24, -26))
        d.oval("metal", 0, -46, 7)
        return
    if d.words & {"microphone"}:
        d.limb("charcoal", ((0, -4), (0, 54)), 15, 9)
        d.oval("silver", 0, -26, 25)
        for n in (-12, 0, 12):
            d.mark("steel", (-22 + abs(n) * 0.4, -26 + n), (22 - abs(n) * 0.4, -26 + n), width=1.6)
            d.mark("steel", (n, -48 + abs(n) * 0.3), (n, -4 - abs(n) * 0.3), width=1.6)
        d.block("metal", 0, -1, 14, 4, 2)
        return
    if d.words & {"trumpet", "horn", "saxophone", "megaphone", "flute"}:
        d.poly("metal", (-54, -4), (18, -8), (52, -32), (52, 32), (18, 8), (-54, 4))
        d.oval("metal-", 52, 0, 8, 32)
        for x in (-16, -4, 8):
            d.limb("metal-", ((x, -4), (x, -20)), 5)
            d.oval("trim", x, -23, 4.4)
        return
    d.block("metal", 0, 6, 42, 34, 4)
    for x in (-42, -14, 14):
        d.mark("trim", (x, 38), (x + 14, -26), (x + 28, 38), width=2)
    d.oval("trim", 0, -28, 44, 12)
    d.block("trim-", 0, 40, 44, 4, 3)
    for turn in (-40, 30):
        with d.at(0, -36, turn=turn):
            d.limb("brown", ((0, 4), (0, -44)), 4)
            d.oval("sand", 0, -46, 5)


@subject(
    "flag|banner|pennant|sign|signpost|billboard|pirate flag", flag="crimson|blue|emerald", grip="brown", star="gold"
)
def flag(d: Draft) -> None:
    if d.words & {"sign", "signpost", "billboard"}:
        d.limb("grip", ((0, 50), (0, -50)), 9)
        for y, flip in ((-32, 1), (-4, -1)):
            d.poly(
                "sand",
                (-38 * flip, y - 11),
                (34 * flip, y - 11),
                (48 * flip, y),
                (34 * flip, y + 11),
                (-38 * flip, y + 11),
            )
            d.mark("brown", (-26, y), (20, y), width=2.4)
        return
    d.limb("grip", ((0, 50), (0, -62)), 5)
    d.oval("star", 0, -65, 5)
    with d.part("tail", (2, -40)):
        d.blob("flag", (2, -60), (24, -64), (44, -56), (64, -60), (64, -22), (44, -18), (24, -26), (2, -22))
        d.star("star", 32, -41, 12, 5, 5)


@subject("umbrella|parasol|parachute", cloth="crimson|violet|teal", grip="brown")
def umbrella(d: Draft) -> None:
    d.limb("grip", ((0, -70), (0, 6), (4, 14), (11, 10)), 4)
    d.blob(
        "cloth",
        (-50, -34),
        (-42, -62),
        (0, -80),
        (42, -62),
        (50, -34),
        (34, -40),
        (17, -32),
        (0, -40),
        (-17, -32),
        (-34, -40),
    )
    for x in (-26, 26):
        d.mark("cloth--", (0, -79), (x * 0.7, -34), width=1.4)
    d.oval("grip", 0, -82, 3)


@subject("balloon|balloons|party balloon", balloon="red|cyan|violet|amber", rope="grey")
def balloon(d: Draft) -> None:
    d.mark("rope", (0, -14), (4, 6), (-3, 26), (0, 44), width=1.6)
    d.blob("balloon", (0, -86), (24, -78), (32, -54), (20, -28), (0, -16), (-20, -28), (-32, -54), (-24, -78))
    d.poly("balloon-", (0, -18), (6, -10), (-6, -10))
    d.dot("balloon++", -13, -64, 6, 10, 20)


@subject(
    "ball|soccer ball|football|basketball|beach ball|tennis ball|bowling ball|baseball",
    ball="orange|red|white",
    spots="charcoal|white",
)
def ball(d: Draft) -> None:
    soccer = d.words & {"soccer", "football"}
    if soccer:
        d.usual("ball", "white")
        d.usual("spots", "charcoal")
    d.oval("ball", 0, 0, 44)
    if soccer:
        d.star("spots", 0, 0, 16, 13, 5)
        for n in range(5):
            with d.at(0, 0, turn=72 * n):
                d.patch("spots", (-10, -42), (10, -42), (6, -32), (-6, -32))
                d.mark("spots", (0, -16), (0, -32), width=2)
    else:
        d.mark("spots", (0, -44), (0, 44), width=3)
        d.mark("spots", (-44, 0), (44, 0), width=3)
        d.mark("spots", (-32, -30), (-16, 0), (-32, 30), width=3)
        d.mark("spots", (32, -30), (16, 0), (32, 30), width=3)


@subject(
    "teddy bear|teddy|plush|plushie|toy bear|doll|toy",
    stance="biped",
    fur="copper|sand|pink",
    belly="cream",
    eyes="black",
    bow="red",
)
def teddy(d: Draft) -> None:
    for _ in d.sides("leg", (14, -20)):
        d.limb("fur", ((13, -22), (25, -9)), 21, 20)
        d.oval("belly", 28, -7, 7.4)
    for _ in d.sides("arm", (20, -48)):
        d.limb("fur", ((18, -50), (38, -36)), 16, 15)
    d.oval("fur", 0, -34, 25, 26)
    d.oval("belly", 0, -32, 15, 16)
    with d.part("head", (0, -58)):
        for _ in d.sides():
            d.oval("fur", 21, -100, 10.4)
            d.dot("belly", 21, -100, 5.4)
        d.oval("fur", 0, -80, 29, 26)
        d.oval("belly", 0, -71, 13, 10)
        d.oval("charcoal", 0, -75, 5, 3.6)
        d.mark("charcoal", (0, -72), (0, -68), width=1.6)
        d.mark("charcoal", (-5, -66), (0, -68), (5, -66), width=1.6)
        for _ in d.sides():
            d.dot("black", 11, -84, 3.6)
            d.dot("white", 10, -85.4, 1.2)
    for _ in d.sides():
        d.poly("bow", (0, -56), (13, -63), (13, -49))
    d.oval("bow-", 0, -56, 4)
    d.anchor("head", 0, -105, 24)
    d.anchor("neck", 0, -56, 22)
    d.anchor("face", 0, -84, 11)


@subject(
    "magnifying glass|telescope|spyglass|microscope|compass|binoculars", metal="gold|bronze", glass="sky", grip="brown"
)
def magnifier(d: Draft) -> None:
    if "compass" in d.words:
        d.oval("metal", 0, 0, 44)
        d.oval("ivory", 0, 0, 35)
        d.poly("red", (0, -30), (7, 0), (-7, 0))
        d.poly("steel", (0, 30), (7, 0), (-7, 0))
        d.oval("metal", 0, -48, 8)
        return
    if d.words & {"telescope", "spyglass", "microscope", "binoculars"}:
        with d.at(0, -20, turn=-28):
            for x, half in ((-36, 10), (-4, 14), (32, 18)):
                d.block("metal", x, 0, 19, half, 2)
                d.block("grip", x + 15, 0, 4, half + 2, 2)
            d.oval("glass", 51, 0, 4, 16)
        for x in (-24, 0, 24):
            d.limb("grip", ((0, -12), (x, 44)), 5)
        return
    d.limb("grip", ((0, 24), (0, -14)), 9)
    d.oval("metal", 0, -44, 32)
    d.oval("glass", 0, -44, 24)
    d.mark("white", (-14, -48), (-4, -58), width=4)


@subject("anvil|furnace|forge|stove|oven", metal="charcoal|steel", flame="orange", wood="brown")
def anvil(d: Draft) -> None:
    if d.words & {"furnace", "forge", "stove", "oven"}:
        d.block("metal", 0, 0, 40, 46, 4)
        d.block("metal-", 22, -58, 9, 16, 1)
        d.pie("black", 0, 30, 26, 34, 180, 360)
        d.blob("flame", (-16, 30), (-12, 12), (-2, 20), (4, 4), (14, 18), (17, 30))
        return
    d.block("wood", 0, 40, 30, 14, 2)
    d.poly(
        "metal",
        (-20, 28),
        (-11, 6),
        (-22, -8),
        (-54, -18),
        (-50, -26),
        (44, -26),
        (44, -8),
        (22, -4),
        (11, 6),
        (20, 28),
    )
    d.patch("metal++", (-49, -25), (43, -25), (43, -20), (-40, -20))


@subject("magnet|gear|cog|battery|engine|machine part|spring", metal="red|steel|bronze", trim="silver")
def gear(d: Draft) -> None:
    if "magnet" in d.words:
        d.limb("metal", ((-26, 36), (-28, -12), (0, -40), (28, -12), (26, 36)), 21)
        for x in (-26, 26):
            d.block("trim", x, 38, 11, 10, 1)
        return
    if "battery" in d.words:
        d.block("trim", 0, -50, 10, 6, 2)
        d.block("charcoal", 0, 0, 26, 46, 5)
        d.block("metal", 0, -28, 26, 18, 5)
        d.poly("lemon", (6, -14), (-12, 12), (-1, 12), (-6, 34), (13, 4), (2, 4))
        return
    d.star("metal", 0, 0, 48, 36, 12)
    d.oval("metal+", 0, 0, 34)
    d.oval("charcoal", 0, 0, 13)


@subject("dice|die|cube|chess piece|pawn|card|playing card|puzzle|rubik", body="white|red|violet", spots="charcoal")
def dice(d: Draft) -> None:
    if d.words & {"card"}:
        d.block("body", 0, 0, 32, 46, 5)
        with d.at(0, 0, 0.4):
            d.pool("crimson", (0, 46), (-46, -6), (-18, -38), (0, -22), (18, -38), (46, -6))
        return
    if d.words & {"chess", "pawn"}:
        d.blob("body", (-30, 48), (-26, 36), (26, 36), (30, 48))
        d.blob("body", (-22, 36), (-10, 6), (-12, -8), (12, -8), (10, 6), (22, 36))
        d.block("body", 0, -9, 16, 4, 3)
        d.oval("body", 0, -28, 18)
        return
    d.poly("body+", (0, -50), (42, -28), (0, -6), (-42, -28))
    d.poly("body", (-42, -28), (0, -6), (0, 46), (-42, 22))
    d.poly("body-", (42, -28), (0, -6), (0, 46), (42, 22))
    d.dot("spots", 0, -28, 8, 5)
    for x, y in ((-31, -10), (-21, 9), (-11, 28)):
        d.dot("spots", x, y, 4, 5.4)
    for x, y in ((12, 6), (30, -4), (12, 30), (30, 20)):
        d.dot("spots", x, y, 4, 5.4)


@subject(
    "sponge|soap|toothbrush|comb|pencil|pen|crayon|eraser|quill|feather", body="amber|sky|coral", trim="charcoal|rose"
)
def pencil(d: Draft) -> None:
    if d.words & {"quill", "feather"}:
        d.blob("body", (-40, 44), (-10, 0), (0, -34), (34, -60), (36, -30), (22, 4), (-8, 20))
        d.mark("body--", (-44, 50), (-10, 10), (32, -54), width=2.4)
        return
    with d.at(0, 0, turn=30):
        d.poly("sand", (-11, 26), (11, 26), (0, 56))
        d.patch("trim", (-4, 46), (4, 46), (0, 55))
        d.block("body", 0, -8, 11, 35, 1)
        d.mark("body--", (-4, -42), (-4, 26), width=1.6)
        d.block("silver", 0, -46, 11.4, 5, 1)
        d.block("rose", 0, -56, 11, 7, 4)
