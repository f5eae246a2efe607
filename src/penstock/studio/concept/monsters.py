"""Creatures that nobody has met."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.countenance import eyes, mouth, single_eye
from penstock.studio.concept.draft import Draft


@subject(
    "slime|blob|jelly|ooze|gelatinous cube|pudding|goo",
    stance="hopper",
    fur="lime|cyan|violet|pink|green",
    eyes="black",
)
def slime(d: Draft) -> None:
    d.blob(
        "fur", (-48, -2), (-46, -26), (-30, -54), (0, -66), (30, -54), (46, -26), (48, -2), (30, 1), (0, 2), (-30, 1)
    )
    d.pool("fur+", (-36, -24), (-24, -46), (-8, -56), (-14, -46), (-26, -32))
    for x, y, r in ((24, -44, 3.4), (30, -32, 2.2), (-30, -12, 3), (16, -54, 2)):
        d.dot("fur++", x, y, r)
    for _ in d.sides():
        d.dot("black", 15, -30, 5.4, 7.6)
        d.dot("white", 13, -33, 2)
        d.dot("pink", 26, -19, 4.6, 2.6)
        if d.mood == "angry":
            d.mark("black", (6, -40), (22, -44), width=2.4)
    mouth(d, 0, -20, 7, d.mood or "happy")
    d.anchor("head", 0, -64, 26)
    d.anchor("face", 0, -30, 15)
    d.anchor("neck", 0, -10, 40)


@subject(
    "ghost|spirit|phantom|spectre|specter|wraith|poltergeist|spook|banshee",
    stance="flyer",
    fur="white|lavender|ivory",
    eyes="black",
)
def ghost(d: Draft) -> None:
    for side in d.sides("arm", (26, -48)):
        d.blob("fur", (22, -58), (40, -58), (52, -66), (54, -56), (44, -42), (26, -38))
        d.anchor("hand_r" if side > 0 else "hand_l", 50, -60, 7)
    d.blob(
        "fur",
        (0, -98),
        (22, -90),
        (32, -66),
        (34, -30),
        (38, -4),
        (26, 4),
        (16, -6),
        (6, 5),
        (-6, 5),
        (-16, -6),
        (-26, 4),
        (-38, -4),
        (-34, -30),
        (-32, -66),
        (-22, -90),
    )
    for _ in d.sides():
        d.dot("eyes", 11, -66, 6.4, 9.4)
        d.dot("white", 8.6, -70, 2.4)
        d.dot("pink", 21, -54, 5, 3)
        if d.mood == "angry":
            d.mark("charcoal", (3, -78), (20, -84), width=2.6)
    d.dot("eyes", 0, -47, 6, 7.4)
    d.anchor("mouth", 0, -47, 6)
    d.anchor("head", 0, -97, 24)
    d.anchor("face", 0, -66, 11)
    d.anchor("neck", 0, -38, 28)


@subject(
    "eyeball monster|beholder|eye monster|floating eye|eyeball|eye",
    stance="flyer",
    fur="violet|crimson|green",
    eyes="cyan|amber|lime",
    horns="ivory",
)
def eyeball(d: Draft) -> None:
    for n, turn in enumerate((-60, -30, 0, 30, 60)):
        with d.part(f"stalk{n}", (0, -60)), d.at(0, -44, turn=turn):
            d.limb("fur-", ((0, -34), (4, -46), (0, -54)), 6, 4.6)
            d.oval("white", 0, -57, 6.4)
            d.dot("black", 0, -57, 3)
    d.oval("fur", 0, -44, 40)
    d.oval("white", 0, -50, 24)
    d.oval("eyes", 0, -49, 14)
    d.dot("black", 0, -49, 7.4)
    d.dot("white", -5, -55, 3.6)
    d.pie("burgundy", 0, -20, 22, 12, 0, 180)
    for x in (-15, -5, 5, 15):
        d.patch("white", (x - 4, -20), (x + 4, -20), (x, -12))
    d.anchor("head", 0, -83, 26)


@subject(
    "dinosaur|t-rex|t rex|trex|tyrannosaurus|raptor|velociraptor|godzilla|kaiju|dino",
    stance="biped",
    fur="green|teal|olive|orange",
    belly="lemon",
    spots="emerald|rust",
    eyes="amber",
)
def dinosaur(d: Draft) -> None:
    with d.part("leg_l", (10, -38)):
        d.blob("fur--", (2, -44), (20, -42), (22, -22), (18, -8), (30, -4), (32, 0), (8, 0), (8, -20))
    with d.part("tail", (-24, -40)):
        d.limb("fur", ((-8, -42), (-34, -34), (-58, -18), (-78, -22)), 32, 20, 10, 2)
        for x, y in ((-34, -44), (-46, -34), (-58, -25)):
            d.poly("spots", (x - 5, y + 2), (x - 1, y - 8), (x + 5, y - 1))
    d.blob("fur", (-28, -44), (-18, -62), (2, -74), (20, -80), (34, -66), (30, -46), (18, -30), (-8, -24), (-24, -30))
    d.pool("belly", (34, -64), (29, -46), (17, -32), (0, -27), (12, -42), (22, -58))
    for x, y in ((-20, -60), (-8, -70), (4, -78)):
        d.poly("spots", (x - 6, y + 3), (x - 3, y - 8), (x + 6, y - 2))
    with d.part("leg_r", (-8, -36)):
        d.blob(
            "fur",
            (-24, -44),
            (-6, -50),
            (8, -40),
            (4, -24),
            (-4, -12),
            (10, -6),
            (14, 0),
            (-16, 0),
            (-16, -14),
            (-24, -26),
        )
        for x in (2, 7, 12):
            d.patch("ivory", (x - 2, 0), (x, -4), (x + 3, 0))
    with d.part("arm_r", (24, -54)):
        d.limb("fur-", ((24, -54), (36, -48), (42, -52)), 7, 6, 4)
        for y in (-56, -51):
            d.limb("ivory", ((42, -52), (47, y)), 2)
    with d.part("head", (22, -72)):
        d.poly("fur-", (26, -76), (62, -74), (58, -66), (32, -62), (20, -66))
        for n in range(5):
            d.patch("white", (34 + 5.4 * n, -76), (38.4 + 5.4 * n, -76), (36.2 + 5.4 * n, -69))
        d.blob(
            "fur", (10, -76), (12, -96), (26, -106), (44, -102), (64, -92), (70, -82), (62, -75), (36, -76), (22, -70)
        )
        d.dot("charcoal", 64, -88, 1.6)
        single_eye(d, 32, -93, 5, d.mood or "angry")
    d.anchor("head", 28, -105, 14)
    d.anchor("face", 36, -93, 6)
    d.anchor("neck", 18, -72, 16)
    d.anchor("hand_r", 45, -53, 6)


@subject(
    (
        "monster|creature|beast|mutant|critter|minion|abomination|boss|chimera|pokemon|pet"
        "|companion|furry monster|bogeyman"
    ),
    stance="biped",
    fur="violet|teal|orange|lime|magenta",
    belly="lavender|mint|peach",
    horns="ivory|amber",
    eyes="amber|cyan|lime",
)
def monster(d: Draft) -> None:
    """No two are alike."""
    eyes_of = int(d.rng.integers(1, 4))
    for _ in d.sides("leg", (13, -16)):
        d.blob("fur", (4, -22), (22, -22), (24, -6), (28, 0), (4, 0))
        for x in (10, 16, 22):
            d.patch("horns", (x - 2, 0), (x, -4), (x + 2, 0))
    for side in d.sides("arm", (30, -54)):
        d.limb("fur-", ((28, -56), (44, -44), (48, -26)), 12, 11, 11)
        for x in (43, 48, 53):
            d.limb("horns", ((x, -24), (x + 0.6, -17)), 3, 1)
        d.anchor("hand_r" if side > 0 else "hand_l", 49, -24, 8)
    if d.chance(0.5):
        with d.behind(), d.part("tail", (20, -20)):
            d.limb("fur-", ((16, -18), (40, -8), (56, -16)), 12, 8, 2)
    kind = int(d.rng.integers(3))
    for _ in d.sides():
        if kind == 0:
            d.limb("horns", ((16, -82), (30, -92), (30, -108)), 9, 7, 1.6)
        elif kind == 1:
            d.blob("fur", (12, -86), (30, -108), (36, -96), (26, -76))
        else:
            d.limb("fur-", ((10, -88), (14, -104)), 3.4)
            d.oval("horns", 14, -106, 5)
    d.blob("fur", (-24, -84), (0, -94), (24, -84), (34, -58), (34, -26), (22, -10), (-22, -10), (-34, -26), (-34, -58))
    d.oval("belly", 0, -28, 21, 17)
    if eyes_of == 1:
        d.oval("white", 0, -68, 14)
        d.dot("eyes", 0, -67, 8.4)
        d.dot("black", 0, -67, 5)
        d.dot("white", -3, -71, 2.4)
    else:
        eyes(d, 12, -68, 7, d.mood)
        if eyes_of == 3:
            d.oval("white", 0, -82, 6)
            d.dot("black", 0, -81, 3.2)
    d.pie("burgundy", 0, -51, 15, 11, 0, 180)
    for x in (-8, 8):
        d.patch("white", (x - 4, -51), (x + 4, -51), (x, -43))
    d.anchor("head", 0, -93, 22)
    d.anchor("face", 0, -68, 12)
    d.anchor("neck", 0, -44, 32)
    d.anchor("back", 0, -60, 52)


@subject(
    "carnivorous plant|piranha plant|plant monster|venus flytrap|flytrap|man eating plant",
    stance="hopper",
    fur="red|magenta",
    leaves="green",
    trunk="green",
    pot="rust",
    spots="white",
)
def flytrap(d: Draft) -> None:
    d.poly("pot", (-22, -26), (22, -26), (16, 0), (-16, 0))
    d.block("pot-", 0, -28, 25, 5, 2)
    d.limb("trunk", ((0, -26), (1, -44), (0, -66)), 10)
    for _ in d.sides("arm", (2, -36)):
        d.blob("leaves", (1, -36), (20, -54), (42, -52), (30, -38))
    with d.part("head", (0, -62)):
        d.oval("fur", 0, -82, 30, 27)
        d.pool("burgundy", (-4, -84), (30, -100), (32, -82), (28, -66))
        for x, y in ((6, -88), (14, -91), (22, -95), (8, -80), (16, -76), (23, -71)):
            d.patch("white", (x - 3, y), (x + 4, y - 1), (x + 2, y + (6 if y < -84 else -6)))
        for x, y, r in ((-14, -94, 5), (-18, -78, 4), (-6, -68, 3.6), (-2, -102, 4)):
            d.dot("spots", x, y, r)
    d.anchor("head", 0, -108, 24)


@subject(
    "snow golem|gingerbread man|gingerbread|cookie man",
    stance="biped",
    fur="copper",
    frosting="white",
    spots="red|lime",
)
def gingerbread(d: Draft) -> None:
    for _ in d.sides("leg", (10, -30)):
        d.limb("fur", ((10, -34), (18, -8)), 19, 18)
        d.mark("frosting", (10, -8), (18, -12), (25, -7), width=2)
    for _ in d.sides("arm", (16, -56)):
        d.limb("fur", ((14, -56), (40, -46)), 17, 17)
        d.mark("frosting", (38, -55), (36, -48), (39, -40), width=2)
    d.blob("fur", (-18, -62), (18, -62), (20, -44), (18, -26), (-18, -26), (-20, -44))
    for y in (-52, -42, -32):
        d.dot("spots", 0, y, 3)
    with d.part("head", (0, -62)):
        d.oval("fur", 0, -80, 23)
        for _ in d.sides():
            d.dot("frosting", 8, -84, 3.6)
            d.dot("charcoal", 8, -84, 1.6)
        d.mark("frosting", (-10, -74), (0, -69), (10, -74), width=2.2)
    d.anchor("head", 0, -102, 20)
    d.anchor("neck", 0, -60, 18)
