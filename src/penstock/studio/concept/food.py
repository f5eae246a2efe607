"""What is eaten."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft


@subject(
    "apple|peach|plum|cherry|cherries|tomato|orange|lemon|lime|mango|fruit",
    fruit="red|lime|crimson",
    leaves="green",
    trunk="brown",
)
def apple(d: Draft) -> None:
    if d.words & {"cherry", "cherries"}:
        for x in (-22, 22):
            d.limb("leaves", ((x, 10), (x * 0.4, -24), (6, -50)), 3)
            d.oval(d.usual("fruit", "crimson"), x, 24, 21)
            d.dot("white", x - 7, 16, 4)
        d.blob("leaves", (6, -50), (22, -62), (40, -52), (22, -44))
        return
    if d.words & {"orange", "lemon", "lime", "peach", "mango", "plum", "tomato"}:
        tone = d.usual("fruit", next((word for word in ("orange", "lemon", "lime", "peach") if word in d.words), "red"))
        d.oval(tone, 0, 0, 42, 39)
        d.dot(tone + "++", -14, -14, 7, 5, -40)
        d.blob("leaves", (0, -38), (14, -54), (36, -50), (20, -38))
        d.dot("leaves-", 0, -37, 6, 3)
        return
    d.limb("trunk", ((0, -26), (3, -48)), 5)
    d.blob("leaves", (4, -38), (16, -54), (38, -50), (24, -36))
    d.blob(
        "fruit",
        (0, -28),
        (20, -36),
        (42, -22),
        (42, 10),
        (22, 42),
        (0, 38),
        (-22, 42),
        (-42, 10),
        (-42, -22),
        (-20, -36),
    )
    d.pool("fruit++", (-33, -2), (-30, -20), (-20, -26), (-25, -14))


@subject("banana|bananas|plantain", fruit="yellow", trunk="brown")
def banana(d: Draft) -> None:
    for turn in (0, -16):
        with d.at(0, 0, turn=turn):
            d.blob(
                "fruit",
                (34, -48),
                (42, -46),
                (44, -10),
                (26, 24),
                (-8, 40),
                (-40, 34),
                (-44, 26),
                (-10, 22),
                (16, 4),
                (28, -20),
            )
            d.mark("fruit--", (36, -34), (32, -8), (10, 22), (-26, 32), width=1.8)
            d.oval("trunk", 38, -49, 5)
            d.oval("trunk", -43, 30, 4)


@subject(
    "pumpkin|jack-o-lantern|jack o lantern|halloween pumpkin|gourd|squash", fruit="orange", trunk="green", flame="lemon"
)
def pumpkin(d: Draft) -> None:
    d.limb("trunk", ((0, -34), (2, -50), (12, -56)), 9, 7)
    for x, rx in ((-32, 20), (32, 20), (-17, 20), (17, 20), (0, 19)):
        d.oval("fruit", x, 2, rx, 38 - abs(x) * 0.16)
    d.limb("trunk", ((0, -36), (-10, -42), (-20, -36)), 3)
    if d.words & {"jack", "halloween", "carved", "scary", "spooky", "lantern", "face", "evil"}:
        for _ in d.sides():
            d.poly("flame", (8, -2), (18, -18), (28, -2))
        d.poly(
            "flame",
            (-28, 10),
            (-14, 14),
            (-8, 10),
            (0, 16),
            (8, 10),
            (14, 14),
            (28, 10),
            (16, 27),
            (8, 22),
            (0, 29),
            (-8, 22),
            (-16, 27),
        )


@subject(
    "cake|birthday cake|cupcake|muffin|wedding cake|pie|cheesecake",
    cake="copper|peach|cream",
    frosting="pink|white|lavender",
    fruit="red",
    flame="amber",
)
def cake(d: Draft) -> None:
    if d.words & {"cupcake", "muffin"}:
        d.poly("cake", (-30, 4), (30, 4), (21, 46), (-21, 46))
        for x in (-18, -6, 6, 18):
            d.mark("cake--", (x, 8), (x * 0.78, 44), width=1.8)
        for y, half in ((0, 38), (-16, 29), (-31, 18)):
            d.block("frosting", 0, y, half, 10, 10)
        d.oval("fruit", 0, -48, 9)
        for x, y, ink in ((-18, 0, "cyan"), (10, -4, "yellow"), (-6, -18, "lime"), (14, -18, "violet")):
            d.dot(ink, x, y, 2.4)
        return
    d.oval("silver", 0, 42, 56, 10)
    d.block("cake", 0, 22, 44, 20, 4)
    d.block("cake", 0, -15, 30, 20, 4)
    for y, half in ((4, 45), (-32, 31)):
        d.blob(
            "frosting",
            (-half, y),
            (0, y - 5),
            (half, y),
            (half, y + 10),
            (half * 0.7, y + 6),
            (half * 0.45, y + 13),
            (half * 0.2, y + 6),
            (-half * 0.1, y + 14),
            (-half * 0.4, y + 6),
            (-half * 0.7, y + 12),
            (-half, y + 8),
        )
    for x in (-16, 0, 16):
        d.block("cyan", x, -46, 2.6, 12, 1)
        d.blob("flame", (x, -55), (x - 4, -62), (x, -73), (x + 4, -62))
    for x in (-34, -12, 12, 34):
        d.oval("fruit", x, 0, 4.4)


@subject("bread|loaf|baguette|croissant|bun|toast|sandwich", crust="copper|sand", crumb="cream")
def bread(d: Draft) -> None:
    d.blob("crust", (-52, 24), (-56, -4), (-40, -24), (0, -30), (40, -24), (56, -4), (52, 24), (0, 28))
    for x in (-26, 0, 26):
        d.limb("crumb", ((x - 5, 2), (x + 7, -20)), 6)


@subject(
    "burger|hamburger|cheeseburger", crust="copper|amber", leaves="lime", meat="brown", cheese="yellow", fruit="red"
)
def burger(d: Draft) -> None:
    d.block("crust", 0, 34, 46, 11, 9)
    d.block("meat", 0, 18, 49, 8, 7)
    d.poly("cheese", (-46, 6), (46, 6), (34, 20), (24, 10), (4, 22), (-14, 10), (-30, 18))
    d.block("fruit", 0, 4, 44, 5, 4)
    d.blob("leaves", (-52, -2), (-30, -8), (0, -4), (30, -8), (52, -2), (36, 6), (18, 1), (0, 7), (-18, 1), (-36, 6))
    d.pie("crust", 0, -6, 48, 42, 180, 360)
    for x, y in ((-22, -24), (-4, -36), (16, -28), (30, -16), (4, -18), (-30, -12)):
        d.dot("cream", x, y, 3, 2, 30)


@subject("pizza|pizza slice|slice of pizza", cheese="yellow|amber", crust="copper", meat="crimson", leaves="green")
def pizza(d: Draft) -> None:
    d.poly("cheese", (-40, -30), (40, -30), (0, 54))
    d.limb("crust", ((-44, -34), (0, -44), (44, -34)), 15)
    for x, y in ((-14, -14), (14, -18), (2, 10), (-2, 32)):
        d.oval("meat", x, y, 8)
    for x, y in ((0, -26), (18, 0), (-12, 6)):
        d.dot("leaves", x, y, 4, 2, 30)


@subject(
    "ice cream|icecream|ice cream cone|popsicle|gelato|sundae",
    frosting="pink|mint|cream",
    crust="sand|copper",
    fruit="red",
    second="brown|lavender",
)
def ice_cream(d: Draft) -> None:
    d.poly("crust", (-24, -2), (24, -2), (0, 60))
    for a, b in (((-18, 10), (8, 38)), ((18, 10), (-8, 38)), ((-4, 0), (14, 22)), ((4, 0), (-14, 22))):
        d.mark("crust--", a, b, width=1.6)
    d.oval("second", 0, -16, 28, 24)
    d.oval("frosting", 0, -44, 24, 22)
    d.pool("frosting", (-26, -30), (26, -30), (18, -20), (8, -26), (0, -16), (-8, -26), (-18, -20))
    d.oval("fruit", 0, -68, 7)


@subject(
    "donut|doughnut|cookie|biscuit|pancake|waffle|bagel",
    crust="copper|sand",
    frosting="pink|brown|lavender",
    spots="white",
)
def donut(d: Draft) -> None:
    if d.words & {"cookie", "biscuit", "pancake"}:
        d.oval("crust", 0, 0, 44)
        for x, y in ((-18, -16), (12, -22), (22, 6), (-8, 8), (4, 26), (-26, 14)):
            d.dot("brown", x, y, 6, 5)
        return
    d.hoop("crust", 0, 0, 31, 31)
    d.hoop("frosting", 0, -2, 31, 23)
    for n in range(11):
        with d.at(0, -2, turn=33 * n):
            d.mark(
                ("cyan", "yellow", "lime", "white")[n % 4], (-3, -27 - 6 * (n % 2)), (3, -29 - 6 * (n % 2)), width=2.6
            )


@subject("cheese|cheese wheel|butter", cheese="yellow|amber")
def cheese(d: Draft) -> None:
    d.poly("cheese+", (-50, -8), (30, -40), (50, -10))
    d.block("cheese", 0, 14, 50, 24, 2)
    for x, y, r in ((-28, 16, 8), (4, 26, 6), (24, 8, 9), (-4, 2, 4)):
        d.dot("cheese--", x, y, r)


@subject(
    "carrot|radish|turnip|beet|corn|eggplant|pepper|chili|broccoli|potato|onion|garlic|cabbage|vegetable",
    fruit="orange|crimson|violet",
    leaves="green",
)
def carrot(d: Draft) -> None:
    with d.part("head", (0, -30)):
        for turn in (-28, 0, 28):
            with d.at(0, -30, turn=turn):
                d.blob("leaves", (-3, 2), (-9, -18), (0, -40), (9, -18), (3, 2))
    if d.words & {"corn"}:
        d.blob("yellow", (0, -44), (16, -30), (17, 10), (0, 44), (-17, 10), (-16, -30))
        for y in range(-30, 30, 9):
            d.mark("amber", (-14, y), (14, y), width=1.6)
        for _ in d.sides():
            d.blob("leaves", (2, 48), (20, 30), (24, -8), (12, 14))
        return
    d.blob("fruit", (-22, -28), (0, -34), (22, -28), (20, -4), (9, 34), (0, 56), (-9, 34), (-20, -4))
    for x, y in ((-12, -14), (8, 0), (-6, 14), (5, 28)):
        d.mark("fruit--", (x - 5, y), (x + 5, y + 1), width=1.8)


@subject(
    "meat|steak|ham|chicken leg|drumstick|roast|bacon|sausage|hot dog|hotdog|bone",
    meat="copper|brown|crimson",
    bone="ivory",
)
def meat(d: Draft) -> None:
    if d.words & {"bone"} and not d.words & {"meat"}:
        with d.at(0, 0, turn=-30):
            d.limb("bone", ((-34, 0), (34, 0)), 15)
            for x in (-38, 38):
                for y in (-9, 9):
                    d.oval("bone", x, y, 12)
            d.dot("bone", 0, 0, 32, 6)
        return
    with d.at(0, 0, turn=36):
        d.limb("bone", ((0, 24), (0, 52)), 9)
        for x in (-6, 6):
            d.oval("bone", x, 56, 7)
        d.blob("meat", (0, 36), (-18, 22), (-32, -10), (-22, -42), (0, -50), (22, -42), (32, -10), (18, 22))
        d.dot("meat++", -11, -22, 7, 11, 20)


@subject(
    "strawberry|grapes|grape|berry|berries|blueberry|raspberry|pineapple|watermelon|pear|avocado|kiwi",
    fruit="red|violet|crimson",
    leaves="green",
    spots="lemon",
)
def berry(d: Draft) -> None:
    if d.words & {"watermelon"}:
        d.pie("green", 0, -16, 54, 54, 0, 180)
        d.pie("cream", 0, -16, 47, 47, 0, 180)
        d.pie("coral", 0, -16, 43, 43, 0, 180)
        for x, y in ((-22, 0), (0, 4), (22, 0), (-10, 14), (11, 14)):
            d.dot("charcoal", x, y, 2, 3.4)
        return
    if d.words & {"grape", "grapes", "blueberry"}:
        d.limb("brown", ((0, -40), (2, -56)), 4)
        for row, count in enumerate((4, 3, 4, 3, 2, 1)):
            for n in range(count):
                d.oval(d.usual("fruit", "violet"), (n - (count - 1) / 2) * 17, -34 + 14 * row, 10)
        d.blob("leaves", (0, -42), (16, -56), (36, -46), (18, -36))
        return
    if d.words & {"pineapple"}:
        for turn in (-40, -20, 0, 20, 40):
            with d.at(0, -28, turn=turn):
                d.blob("leaves", (-5, 0), (-6, -20), (0, -40), (6, -20), (5, 0))
        d.oval("amber", 0, 12, 28, 40)
        for n in range(-2, 3):
            d.mark("rust", (-24, 12 + 14 * n - 12), (24, 12 + 14 * n + 12), width=1.6)
            d.mark("rust", (24, 12 + 14 * n - 12), (-24, 12 + 14 * n + 12), width=1.6)
        return
    if d.words & {"pear", "avocado", "kiwi"}:
        d.limb("brown", ((0, -42), (3, -56)), 4)
        d.blob(
            "lime",
            (0, -46),
            (13, -34),
            (18, -8),
            (34, 16),
            (24, 44),
            (0, 50),
            (-24, 44),
            (-34, 16),
            (-18, -8),
            (-13, -34),
        )
        return
    d.blob("fruit", (-34, -20), (-16, -30), (0, -26), (16, -30), (34, -20), (30, 10), (0, 50), (-30, 10))
    for x, y in ((-18, -10), (0, -12), (18, -10), (-10, 6), (10, 6), (0, 22), (-20, 4), (20, 4), (0, 36)):
        d.dot("spots", x, y, 2, 3)
    d.star("leaves", 0, -28, 24, 9, 6)


@subject(
    "candy|lollipop|sweet|sweets|candy cane|chocolate|chocolate bar|gumdrop",
    candy="red|magenta|cyan",
    second="white|lemon",
    grip="cream",
)
def candy(d: Draft) -> None:
    if d.words & {"lollipop"}:
        d.limb("grip", ((0, 0), (0, 56)), 5)
        d.oval("candy", 0, -24, 34)
        for r in (25, 14):
            d.hoop("second", 0, -24, r, 4)
        return
    for _ in d.sides():
        d.poly("second", (24, 0), (54, -20), (48, 0), (54, 20))
    d.oval("candy", 0, 0, 32, 26)
    for x in (-14, 0, 14):
        d.mark("second", (x - 6, -20), (x, 0), (x + 6, 20), width=4)


@subject(
    "sushi|noodles|ramen|soup|bowl|rice|salad|stew|taco|fries|popcorn",
    bowl="crimson|navy|white",
    liquid="amber",
    leaves="lime",
)
def bowl(d: Draft) -> None:
    for x in (-10, 2):
        d.limb("silver", ((x, -16), (x + 7, -34), (x, -46), (x + 6, -60)), 3, 5, 4, 1.4)
    d.oval("bowl+", 0, -8, 52, 14)
    d.dot("liquid", 0, -8, 45, 10)
    for x in (-26, -8, 10):
        d.mark("cream", (x, -10), (x + 8, -14), (x + 16, -8), width=3)
    d.oval("white", 20, -12, 9, 6)
    d.dot("amber", 20, -12, 4, 3)
    for x, y in ((-20, -6), (2, -4), (32, -5)):
        d.dot("leaves", x, y, 4, 2)
    d.blob("bowl", (-52, -8), (0, 6), (52, -8), (38, 26), (18, 36), (-18, 36), (-38, 26))
    d.block("bowl-", 0, 38, 18, 4, 2)


@subject("spoon|ladle|frying pan|pan|spatula|plate", metal="steel|charcoal", grip="brown")
def spoon(d: Draft) -> None:
    if d.words & {"pan", "frying"}:
        d.limb("grip", ((30, 0), (70, 0)), 9)
        d.oval("metal", 0, 0, 38)
        d.oval("metal+", 0, 0, 30)
        return
    d.limb("grip", ((0, 20), (0, -34)), 5)
    d.oval("grip", 0, -48, 10, 15)
    d.dot("grip--", 0, -48, 6, 11)
