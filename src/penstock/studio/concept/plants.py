"""What grows, and the stones between it."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.countenance import eyes, mouth
from penstock.studio.concept.draft import Draft


@subject(
    "tree|oak|maple|old tree|apple tree|willow|bonsai|cherry tree|birch",
    leaves="green|emerald|lime|orange",
    trunk="brown",
    fruit="red",
)
def tree(d: Draft) -> None:
    d.blob(
        "trunk",
        (-16, 2),
        (-8, -14),
        (-8, -42),
        (-20, -56),
        (-10, -52),
        (0, -60),
        (10, -52),
        (20, -56),
        (8, -42),
        (8, -14),
        (16, 2),
        (0, -3),
    )
    d.mark("trunk--", (-2, -10), (-3, -34), width=1.4)
    for x, y, r in ((-28, -58, 21), (28, -58, 21), (-18, -82, 22), (18, -82, 22), (0, -62, 24), (0, -96, 20)):
        d.oval("leaves" if y > -70 else "leaves+", x, y, r, r * 0.92)
    d.pool("leaves", (-34, -62), (-16, -84), (0, -92), (16, -84), (34, -62), (16, -52), (-16, -52))
    for x, y in ((-22, -66), (-6, -78), (14, -70), (4, -56), (-12, -92), (24, -84)):
        if d.words & {"apple", "fruit", "cherry"}:
            d.oval("fruit", x, y, 4.4)
        else:
            d.mark("leaves--", (x - 5, y), (x, y + 3), (x + 5, y), width=1.6)


@subject(
    "pine|pine tree|fir|christmas tree|spruce|conifer|evergreen|xmas tree",
    leaves="emerald|green",
    trunk="brown",
    star="gold",
    flame="red",
)
def pine(d: Draft) -> None:
    d.block("trunk", 0, -6, 8, 10, 2)
    for n, (y, half) in enumerate(((-12, 40), (-36, 33), (-60, 25), (-82, 16))):
        d.blob(
            "leaves" + "+" * (n % 2),
            (0, y - 38),
            (half * 0.5, y - 16),
            (half, y),
            (half * 0.4, y + 3),
            (0, y + 4),
            (-half * 0.4, y + 3),
            (-half, y),
            (-half * 0.5, y - 16),
        )
    if d.words & {"christmas", "xmas", "decorated"}:
        for x, y, ink in (
            (-18, -18, "red"),
            (14, -24, "gold"),
            (-8, -44, "cyan"),
            (12, -54, "red"),
            (-5, -72, "gold"),
            (26, -10, "magenta"),
        ):
            d.oval(ink, x, y, 4.4)
        d.star("star", 0, -122, 12, 5, 5)


@subject("palm|palm tree|coconut tree|coconut", leaves="green|emerald", trunk="copper", fruit="brown")
def palm(d: Draft) -> None:
    d.limb("trunk", ((-8, 0), (-2, -40), (10, -84)), 15, 11, 8)
    for n in range(6):
        d.mark("trunk--", (-12 + 3.4 * n, -10 - 12 * n), (2 + 2.4 * n, -12 - 12 * n), width=1.6)
    for points in (
        ((10, -86), (34, -104), (56, -86)),
        ((10, -86), (-14, -104), (-38, -88)),
        ((10, -86), (40, -88), (52, -62)),
        ((10, -86), (-20, -88), (-32, -62)),
        ((10, -86), (16, -112), (30, -120)),
    ):
        d.limb("leaves", points, 6, 13, 2)
    for x, y in ((5, -80), (14, -79)):
        d.oval("fruit", x, y, 6)
    d.blob(d.slot("sand", "sand"), (-34, 6), (-20, -4), (6, -6), (28, 0), (36, 6))


@subject("bush|shrub|hedge|berry bush|fern|grass|leaf|ivy|vine|bamboo", leaves="green|emerald|lime", fruit="red|violet")
def bush(d: Draft) -> None:
    for x, y, r in ((-34, -14, 18), (34, -14, 18), (-20, -32, 20), (20, -32, 20), (0, -40, 20), (0, -16, 24)):
        d.oval("leaves", x, y, r)
    d.pool("leaves", (-36, -10), (-20, -34), (0, -42), (20, -34), (36, -10), (0, 2))
    for x, y in ((-24, -24), (-8, -36), (12, -26), (26, -12), (-14, -8), (4, -14)):
        d.oval("fruit", x, y, 3.6)


@subject(
    "flower|rose|tulip|daisy|sunflower|lily|poppy|orchid|lotus|blossom|flowers|bouquet|dandelion",
    petals="red|pink|yellow|violet|white",
    leaves="green",
    middle="amber|brown",
)
def flower(d: Draft) -> None:
    d.limb("leaves", ((0, 30), (3, -4), (0, -40)), 5)
    for _ in d.sides("arm", (0, 4)):
        d.blob("leaves", (1, 8), (14, -10), (34, -16), (24, 2))
    with d.part("head", (0, -40)), d.at(0, -62):
        if "tulip" in d.words:
            d.blob("petals", (0, 24), (-20, 14), (-22, -20), (-10, -8), (0, -26), (10, -8), (22, -20), (20, 14))
        elif "rose" in d.words:
            d.oval("petals", 0, 0, 25, 24)
            for x, y, r in ((-11, 7, 15), (11, 7, 15), (0, -4, 15)):
                d.oval("petals+", x, y, r, r * 0.86)
            d.oval("petals-", 0, -6, 8)
            d.mark("petals---", (-5, -6), (0, -11), (5, -5), (0, -1), width=1.6)
        else:
            count = 14 if d.words & {"sunflower", "daisy", "dandelion"} else 6
            ink = d.usual("petals", "yellow") if "sunflower" in d.words else "petals"
            for n in range(count):
                with d.at(0, 0, turn=360 * n / count):
                    d.oval(ink, 0, -20, 30 / count + 4.4, 13)
            d.oval("middle", 0, 0, 14 if count > 6 else 11)
            for x, y in ((-4, -3), (3, -4), (0, 4), (5, 3)):
                d.dot("middle--", x, y, 1.4)
    d.anchor("head", 0, -88, 20)


@subject("cactus|cacti|saguaro|succulent", leaves="green|emerald", petals="pink|yellow", pot="rust")
def cactus(d: Draft) -> None:
    potted = bool(d.words & {"pot", "potted", "succulent"})
    for _ in d.sides("arm", (10, -40)):
        d.limb("leaves", ((8, -36), (30, -36), (31, -64)), 13, 13, 13)
    d.limb("leaves", ((0, -2), (0, -84)), 27, 27)
    for x in (-7, 0, 7):
        d.mark("leaves--", (x, -6), (x, -86), width=1.4)
    for x, y in ((-10, -70), (4, -54), (-4, -30), (9, -76), (8, -20), (31, -56), (-31, -50), (-10, -46)):
        d.mark("white", (x - 2, y - 2), (x + 2, y + 2), width=1)
    for n in range(5):
        with d.at(0, -97, turn=72 * n):
            d.oval("petals", 0, -6, 4, 6)
    d.oval("amber", 0, -97, 4)
    if potted:
        d.poly("pot", (-26, -14), (26, -14), (19, 26), (-19, 26))
        d.block("pot-", 0, -14, 29, 6, 2)
    else:
        d.blob(d.slot("sand", "sand"), (-44, 8), (-24, -5), (0, -8), (24, -5), (44, 8))


@subject(
    "mushroom|toadstool|fungus|shroom|mushroom man|mushroom creature",
    stance="hopper",
    cap="red|violet|teal",
    spots="white|cream",
    trunk="cream",
    eyes="black",
)
def mushroom(d: Draft) -> None:
    d.blob("trunk", (-16, -36), (16, -36), (18, -16), (25, 2), (0, 6), (-25, 2), (-18, -16))
    d.blob("trunk-", (-34, -38), (0, -46), (34, -38), (20, -31), (-20, -31))
    d.blob(
        "cap",
        (-54, -36),
        (-48, -66),
        (-22, -90),
        (0, -95),
        (22, -90),
        (48, -66),
        (54, -36),
        (28, -44),
        (0, -47),
        (-28, -44),
    )
    for x, y, r in ((-28, -62, 9), (2, -76, 11), (30, -62, 8), (-8, -55, 5), (14, -54, 5), (-44, -48, 4), (43, -47, 4)):
        d.dot("spots", x, y, r, r * 0.86)
    if d.words & {
        "man",
        "creature",
        "cute",
        "happy",
        "angry",
        "character",
        "friendly",
        "walking",
        "warrior",
        "hero",
        "monster",
        "face",
        "eyes",
    }:
        for _ in d.sides():
            d.dot("eyes", 8, -20, 3.2, 5)
            d.dot("white", 7, -22, 1.2)
            d.dot("pink", 14, -12, 3, 1.8)
        mouth(d, 0, -12, 4, d.mood)
    d.anchor("head", 0, -94, 28)
    d.anchor("face", 0, -20, 8)
    d.anchor("neck", 0, -32, 20)


@subject(
    "rock|boulder|stone|rocks|ore|asteroid|meteor|pebble|coal|geode",
    stone="grey|steel|brown",
    moss="green",
    gem="cyan|amber|violet",
)
def rock(d: Draft) -> None:
    d.poly("stone", (-50, 0), (-54, -22), (-40, -44), (-18, -60), (10, -62), (36, -46), (52, -20), (50, 0))
    d.patch("stone+", (-40, -43), (-18, -59), (9, -61), (-6, -40), (-26, -32))
    d.patch("stone-", (50, -1), (51, -20), (36, -45), (20, -28), (26, -1))
    d.mark("stone---", (-10, -38), (-2, -24), (-12, -12), width=1.6)
    d.mark("stone---", (20, -28), (8, -18), width=1.6)
    if d.words & {"ore", "geode", "crystal", "gold"}:
        for x, y in ((-26, -18), (2, -44), (14, -14), (34, -26)):
            d.poly("gem", (x, y - 9), (x + 7, y), (x, y + 8), (x - 7, y))
    elif d.words & {"mossy", "moss"} or d.chance(0.4):
        d.pool("moss", (-42, -40), (-18, -61), (8, -62), (14, -54), (-4, -50), (-14, -42), (-28, -42))


@subject("stump|tree stump|log|wood log|firewood", wood="brown|copper", rings="sand", moss="green")
def stump(d: Draft) -> None:
    d.blob("wood", (-34, -42), (34, -42), (35, -12), (54, 4), (28, 2), (0, 8), (-28, 2), (-54, 4), (-35, -12))
    for x in (-20, -4, 14):
        d.mark("wood--", (x, -32), (x - 1, -6), width=1.6)
    d.oval("rings", 0, -42, 34, 12)
    for share in (0.7, 0.4):
        d.oval("rings-", 0, -42, 34 * share, 12 * share)


@subject("carrot man|talking tree|treant|tree monster|ent", stance="biped", trunk="brown", leaves="green", eyes="amber")
def treant(d: Draft) -> None:
    for _ in d.sides("leg", (10, -20)):
        d.blob("trunk", (2, -26), (17, -26), (18, -8), (28, 0), (2, 0))
    for side in d.sides("arm", (16, -52)):
        d.limb("trunk", ((14, -54), (34, -48), (46, -30)), 11, 9, 6)
        for x, y in ((52, -22), (46, -18), (54, -32)):
            d.limb("trunk", ((45, -31), (x, y)), 4, 1.4)
        d.anchor("hand_r" if side > 0 else "hand_l", 47, -28, 7)
    d.blob("trunk", (-20, -72), (20, -72), (19, -44), (22, -20), (-22, -20), (-19, -44))
    for x, y, r in ((-24, -78, 17), (24, -78, 17), (-10, -94, 18), (12, -94, 18), (0, -80, 18)):
        d.oval("leaves", x, y, r)
    eyes(d, 8, -56, 5, d.mood)
    mouth(d, 0, -38, 7, d.mood)
    d.anchor("head", 0, -108, 20)
    d.anchor("neck", 0, -34, 20)
