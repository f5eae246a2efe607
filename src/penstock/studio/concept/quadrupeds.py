"""Animals on four legs, seen from the side with their legs apart, drawn by their measures and features."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from penstock.studio.concept.beast import Beast
from penstock.studio.concept.beasts import BEASTS
from penstock.studio.concept.catalogue import register
from penstock.studio.concept.countenance import single_eye
from penstock.studio.concept.draft import Draft


def beast(d: Draft, b: Beast) -> None:
    """An animal that looks to the right; far legs, tail, body, near legs, neck, head."""
    fur = "fur"
    wide, tall = d.trait("wide"), d.trait("tall")
    # No two of a kind are quite alike.
    more, less = float(d.rng.uniform(0.94, 1.08)), float(d.rng.uniform(0.92, 1.06))
    long, deep, leg = b.long * d.trait("long") * more, b.deep * wide, b.leg * tall * less
    back = -(leg + deep)
    mid = -(leg + deep / 2)
    rear, fore = -long * 0.36, long * 0.34
    _legs(d, b, (rear + long * 0.22, fore + long * 0.17), leg, deep, far=True)
    with d.part("tail", (-long * 0.46, back + deep * 0.3)), d.at(-long * 0.46, back + deep * 0.3):
        _tail(d, b.tail)
    if "wings" in b.more:
        with d.behind(-1):
            _wing(d, -long * 0.02, back + 3, "wing_l", far=True)
    d.blob(
        fur,
        (-long / 2, mid - deep * 0.1),
        (-long * 0.4, back + deep * 0.08),
        (0, back + deep * 0.1),
        (long * 0.36, back),
        (long * 0.52, mid - deep * 0.06),
        (long * 0.4, -leg + 1),
        (0, -leg - deep * 0.02),
        (-long * 0.38, -leg + 1),
    )
    if "belly" in b.inks and b.feet != "hoof":
        d.pool(
            "belly",
            (long * 0.4, mid + deep * 0.16),
            (long * 0.3, -leg - 1),
            (0, -leg - deep * 0.05),
            (-long * 0.2, -leg - 2),
            (0, mid + deep * 0.26),
        )
    _coat(d, b, long, deep, back, mid)
    _legs(d, b, (rear, fore), leg, deep, far=False)
    hx, hy = long * 0.44 + b.neck[0], back + deep * 0.3 + b.neck[1]
    with d.part("head", (long * 0.4, back + deep * 0.4)):
        _neck(d, b, (long * 0.36, back + deep * 0.5), (hx, hy), deep)
        with d.at(hx, hy, b.head / 10 * d.trait("head")):
            _head(d, b)
    if "wings" in b.more:
        _wing(d, long * 0.06, back + 4, "wing_r", far=False)
    scale = b.head / 10 * d.trait("head")
    d.anchor("head", hx - scale * 1.0, hy - 9.4 * scale, b.head * 0.78 * d.trait("head"))
    d.anchor("face", hx + 3.6 * scale + b.head * 0.4, hy - 2.2 * scale, b.head * 0.4)
    d.anchor("neck", (hx + long * 0.4) / 2 - 1, (hy + back + deep * 0.5) / 2 + b.head * 0.4, b.head * 0.8)
    d.anchor("back", 0, back + 2, long * 0.6)


def _legs(d: Draft, b: Beast, at: tuple[float, float], leg: float, deep: float, *, far: bool) -> None:
    """A hind leg and a fore leg."""
    ink = "fur--" if far else "fur"
    if "wool" in b.more:
        ink = "skin-" if far else "skin"
    side = "far" if far else "near"
    for x, which in zip(at, ("hind", "fore"), strict=True):
        top = -leg - deep * 0.3
        with d.part(f"{which}_{side}", (x, top)):
            bend = -2.5 if which == "hind" else 0.8
            wide = b.thick * (1.7 if which == "hind" else 1.35)
            d.limb(ink, ((x, top), (x + bend, -leg * 0.5), (x, -b.thick * 0.3)), wide, b.thick * 0.95, b.thick * 0.86)
            foot = d.slot("boots", "charcoal") if "socks" in b.more else ink
            if b.feet == "hoof":
                hoof = "charcoal"
                d.poly(
                    hoof,
                    (x - b.thick * 0.5, -b.thick * 0.5),
                    (x + b.thick * 0.5, -b.thick * 0.5),
                    (x + b.thick * 0.66, 0),
                    (x - b.thick * 0.6, 0),
                )
            else:
                if "socks" in b.more:
                    d.limb(foot, ((x - 0.6, -leg * 0.36), (x, -b.thick * 0.3)), b.thick * 0.96)
                d.blob(
                    foot,
                    (x - b.thick * 0.55, 0),
                    (x - b.thick * 0.5, -b.thick * 0.6),
                    (x + b.thick * 0.3, -b.thick * 0.7),
                    (x + b.thick, -b.thick * 0.3),
                    (x + b.thick, 0),
                )
                for n in (0.3, 0.62):
                    d.mark("charcoal", (x + b.thick * n, -0.4), (x + b.thick * n, -b.thick * 0.3), width=0.7)


def _neck(d: Draft, b: Beast, start: tuple[float, float], stop: tuple[float, float], deep: float) -> None:
    thick = deep * 0.8
    if "mane" in b.more:
        return
    thin = min(b.head * 1.15, thick)
    d.limb(
        "fur" if "wool" not in b.more else "skin",
        (start, ((start[0] * 2 + stop[0]) / 3 + 1, (start[1] + stop[1] * 1.2) / 2.2), stop),
        thick,
        (thick + thin) / 2,
        thin,
    )
    if "crest" in b.more:
        d.slot("hair", "charcoal")
        for n in range(5):
            t = n / 4
            x, y = (
                start[0] - deep * 0.2 + (stop[0] - start[0]) * t - 3,
                start[1] - deep * 0.2 + (stop[1] - start[1]) * t - 2,
            )
            d.blob("hair", (x + 3, y - 5), (x + 4, y + 2), (x - 1, y + 7), (x - 7, y + 6), (x - 4, y - 1))
    if "ruff" in b.more:
        d.poly(
            "belly",
            (stop[0] - 2, stop[1] + 6),
            (stop[0] + 5, stop[1] + 9),
            (start[0] + 9, start[1] + 4),
            (start[0] + 5, start[1] + 1),
            (start[0] + 3, start[1] + 8),
            (start[0], start[1]),
        )
    if "spines" in b.more or "plates" in b.more:
        _spines(d, [(start[0] - thick * 0.3, start[1] - thick * 0.42), (stop[0] - thin * 0.5, stop[1] - thin * 0.2)], 4)


def _head(d: Draft, b: Beast) -> None:
    """In units of a tenth of the head, around its middle."""
    sl, sh = (value / b.head * 10 for value in b.snout)
    skin = "fur" if "wool" not in b.more else "skin"
    if "mane" in b.more:
        d.star(d.slot("hair", "rust"), -3, 2, 19, 15.5, 13)
        d.dot("hair-", -2, 2, 13)
    if "antlers" in b.more:
        _antlers(d)
    _ear(d, b, far=True)
    for name, points in _HORNS.items():
        if name in b.more:
            d.limb(d.slot("horns", "ivory"), points, 3.8, 3.0, 0.6)
    d.oval(skin, 0, 0, 10, 9.6)
    muzzle = "belly" if "muzzle" in b.more and "belly" in b.inks else skin
    if "trunk" in b.more:
        d.anchor("mouth", 7, 8, 2.6)
        with d.part("trunk", (6, 2)):
            d.limb(skin, ((5, 2), (13, 8), (13, 20), (18, 25)), 9, 7.5, 5.5, 4)
        d.limb(d.slot("horns", "ivory"), ((6, 7), (12, 12), (17, 10)), 2.8, 2, 0.5)
    else:
        drop = 2.2 + sh * 0.08
        d.blob(
            muzzle,
            (2, drop - sh * 0.5),
            (8 + sl * 0.5, drop - sh * 0.46),
            (8 + sl, drop - sh * 0.28),
            (8.6 + sl, drop + sh * 0.2),
            (7 + sl * 0.6, drop + sh * 0.6),
            (2, drop + sh * 0.62),
        )
        if "disc" in b.more:
            d.oval("belly", 8.4 + sl, drop - sh * 0.1, 2.6, sh * 0.46)
            for y in (-1, 1.6):
                d.dot("burgundy", 8.8 + sl, drop + y - sh * 0.1, 0.8)
        elif "nostrils" in b.more:
            d.dot("charcoal", 7 + sl, drop - sh * 0.14, 1.1, 0.9)
        else:
            d.oval("charcoal", 8 + sl, drop - sh * 0.28, 2.1, 1.7)
        d.anchor("mouth", 5 + sl * 0.5, drop + sh * 0.36, 3.0)
        d.mark(
            "charcoal", (8 + sl, drop + sh * 0.22), (5 + sl * 0.4, drop + sh * 0.34), (4, drop + sh * 0.16), width=0.8
        )
        if "tongue" in b.more and d.mood != "angry":
            d.blob(
                "coral",
                (5 + sl * 0.5, drop + sh * 0.34),
                (7 + sl * 0.5, drop + sh * 0.4),
                (7 + sl * 0.5, drop + sh * 0.95),
                (5.2 + sl * 0.5, drop + sh * 0.9),
            )
        if "teeth" in b.more or ("fangs" in b.more and d.mood == "angry"):
            for n in range(4):
                x = 5 + sl * (0.24 + 0.2 * n)
                d.patch("white", (x, drop + sh * 0.25), (x + 1.7, drop + sh * 0.22), (x + 0.8, drop + sh * 0.62))
        if "whiskers" in b.more:
            for y in (-1, 1, 3):
                d.mark("charcoal", (6 + sl * 0.5, drop + y * 0.6), (13 + sl * 0.6, drop + y * 1.8 - 1), width=0.45)
        if "nose horn" in b.more:
            d.poly(
                d.slot("horns", "ivory"),
                (4 + sl, drop - sh * 0.4),
                (9 + sl, drop - sh * 1.6),
                (8 + sl, drop - sh * 0.3),
            )
    if "goatee" in b.more:
        d.limb(d.slot("hair", "white"), ((7, 7), (8, 14)), 4, 0.8)
    if "horn" in b.more:
        d.poly("horns", (1, -8), (6, -24), (6, -7))
        for y in (-11, -15):
            d.mark("horns--", (2.4, y), (6, y - 1), width=0.6)
    if "crest" in b.more:
        d.blob("hair", (-4, -9), (2, -12), (7, -6), (4, -3), (1, -7), (-3, -5))
    if "knobs" in b.more:
        for x in (-2, 2):
            d.limb("fur-", ((x, -8), (x + 0.6, -14)), 1.8)
            d.oval("hair", x + 0.6, -14, 1.7)
    if "bold stripes" in b.more:
        for x, y in ((-4, -8.6), (-1, -9.4), (2, -8.8)):
            d.patch("spots", (x - 0.8, y), (x + 1.4, y), (x + 0.8, y + 4.4))
    _ear(d, b, far=False)
    single_eye(d, 3.6, -2.2, 2.5, d.mood)


_HORNS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "horns": ((-2, -7), (-4, -13), (0, -18)),
    "curved horns": ((-1, -8), (-6, -16), (-13, -14)),
}


def _ear(d: Draft, b: Beast, *, far: bool) -> None:
    ink = ("fur" if "wool" not in b.more else "skin") + ("--" if far else "")
    inner = "belly" if "belly" in b.inks else "pink"
    with d.at(3.4 if far else -3, 0):
        match b.ears:
            case "pointed" | "tall":
                top = -17 if b.ears == "pointed" else -22
                d.blob(ink, (-4, -6), (-3.4, top * 0.72), (-1.4, top), (1.8, top * 0.7), (3.6, -7))
                if not far:
                    d.patch(inner, (-1.8, -8), (-1.2, top + 3), (1.6, -8))
            case "floppy":
                d.blob(ink + "-", (-4, -8), (1, -9), (2.4, -3), (1, 6), (-3.6, 8), (-6, 2))
            case "round":
                d.oval(ink, -2.4, -8.6, 4)
                if not far:
                    d.dot(inner, -2.2, -8.4, 2.2)
            case "small":
                d.poly(ink, (-3, -8), (-1.4, -15), (1.6, -8))
            case "leaf":
                d.blob(ink, (-2, -6), (-7, -10), (-13, -8), (-9, -4))
            case "rabbit":
                d.blob(ink, (-4, -6), (-6, -20), (-4, -28), (0, -24), (1, -8))
                if not far:
                    d.pool("pink", (-3, -9), (-4.4, -20), (-3, -25), (-1, -20), (-0.8, -9))
            case "mouse":
                d.oval(ink, -3, -9, 6)
                if not far:
                    d.dot("pink", -3, -9, 3.8)
            case "huge":
                if not far:
                    d.blob("fur-", (-2, -8), (-12, -12), (-19, -4), (-16, 10), (-7, 12), (-1, 4))


def _tail(d: Draft, kind: str) -> None:
    match kind:
        case "up":
            d.limb("fur", ((0, 0), (-8, -8), (-9, -18)), 6, 5, 3.4)
        case "bushy":
            d.blob("fur", (2, -3), (-8, 2), (-16, 14), (-15, 22), (-8, 18), (2, 6))
        case "brush":
            d.blob("fur", (2, -2), (-12, -8), (-26, -4), (-32, 6), (-22, 8), (-8, 8), (2, 5))
            d.pool("belly" if "belly" in d.inks else "white", (-24, -4), (-32, 6), (-23, 7.4), (-21, 2))
        case "curl":
            d.limb("fur", ((0, 2), (-10, 2), (-14, -8), (-11, -19), (-15, -24)), 6, 5, 5, 4.4, 3.4)
        case "tuft":
            d.limb("fur", ((0, 0), (-8, 4), (-10, 18)), 3.6, 3, 2.6)
            d.blob(d.slot("hair", "charcoal"), (-10, 15), (-6.6, 22), (-10, 28), (-13.4, 22))
        case "long":
            d.blob(d.slot("hair", "charcoal"), (2, -4), (-8, -4), (-15, 10), (-14, 30), (-9, 34), (-4, 22), (0, 8))
        case "spiral":
            d.limb("fur", ((2, 0), (-5, 0), (-7, -5), (-3, -7), (-3, -2), (-9, -2)), 2.6)
        case "ball":
            d.oval("white", -1, 8, 6.4)
        case "whip":
            d.limb(d.slot("skin", "pink"), ((0, 6), (-14, 10), (-22, 2), (-32, 6)), 3.4, 2.6, 1.4)
        case "plume":
            d.blob("fur", (2, 4), (-12, 6), (-22, -8), (-18, -28), (-6, -36), (0, -28), (-6, -18), (-4, -6))
            d.pool("fur+", (-8, 2), (-16, -8), (-13, -24), (-6, -30), (-8, -18))
        case "reptile":
            d.limb("fur", ((6, 6), (-12, 12), (-30, 14), (-46, 6)), 19, 13, 7, 1.4)
            _spines(d, [(0, -2), (-14, 6), (-30, 10)], 4)
        case "stub":
            d.oval("fur", -2, 3, 4.6, 4)


def _spines(d: Draft, line: list[tuple[float, float]], count: int) -> None:
    ink = d.slot("horns", "amber") if "horns" in d.inks else "fur--"
    xs, ys = zip(*line, strict=True)
    for t in np.linspace(0, len(line) - 1, count):
        x, y = (float(np.interp(t, range(len(line)), axis)) for axis in (xs, ys))
        d.poly(ink, (x - 3.4, y + 1.5), (x - 2.4, y - 6), (x + 3.4, y + 1))


def _wing(d: Draft, x: float, y: float, part: str, *, far: bool) -> None:
    ink = d.slot("wings", "burgundy") + ("-" if far else "")
    with d.part(part, (x, y)), d.at(x + (10 if far else 0), y, 1.0 if not far else 0.92, 14 if far else 0):
        d.poly(
            ink,
            (2, 4),
            (-6, -26),
            (-16, -50),
            (-34, -42),
            (-52, -22),
            (-38, -24),
            (-36, -8),
            (-24, -14),
            (-18, 4),
            (-10, -4),
        )
        for tip in ((-52, -22), (-36, -8), (-18, 4)):
            d.limb(ink + "--", ((-16, -49), tip), 2.2, 1.0)
        d.limb(ink + "--", ((2, 5), (-6, -26), (-16, -50)), 4.4, 3.4, 2)


def _antlers(d: Draft) -> None:
    ink = d.slot("horns", "sand")
    for x in (3, -3):
        with d.at(x, -6):
            d.limb(ink, ((0, 0), (-4, -10), (-3, -22), (2, -29)), 2.4, 2.2, 1.2)
            d.limb(ink, ((-4, -9), (3, -15)), 1.9, 1)
            d.limb(ink, ((-3.6, -17), (-10, -24)), 1.9, 1)


def _coat(d: Draft, b: Beast, long: float, deep: float, back: float, mid: float) -> None:
    """What is on the body: stripes, dots, patches, wool, a shell."""
    more = (
        set(b.more) | ({"dots"} if "spotted" in d.words else set()) | ({"stripes"} if "striped" in d.words else set())
    )
    if "stripes" in more or "bold stripes" in more:
        ink, wide = ("spots", 3.2) if "bold stripes" in more else ("fur--", 2.4)
        for n in range(5):
            x = long * (-0.34 + 0.15 * n)
            d.patch(
                ink,
                (x - wide, back + deep * 0.1),
                (x + wide, back + deep * 0.1),
                (x + 1.5, back + deep * (0.5 + 0.12 * (n % 2))),
            )
    if "dots" in more:
        ink = d.slot("spots", "cream")
        for n in range(11):
            x, y = long * (-0.38 + 0.075 * n), back + deep * (0.24 + 0.2 * (n * 7 % 3))
            d.dot(ink, x, y, 2.2, 1.8)
    if "patches" in more or ("patch" in more and d.chance(0.5)):
        ink = d.slot("spots", "brown")
        d.pool(
            ink,
            (-long * 0.3, back + deep * 0.14),
            (-long * 0.05, back + deep * 0.12),
            (-long * 0.08, mid),
            (-long * 0.26, mid + 2),
        )
        if "patches" in more:
            d.pool(ink, (long * 0.1, mid - 2), (long * 0.28, mid - 6), (long * 0.34, mid + 6), (long * 0.16, mid + 8))
    if "stripe" in more:
        d.limb(
            d.slot("spots", "white"),
            ((-long * 0.42, back + deep * 0.2), (0, back + deep * 0.2), (long * 0.4, back + deep * 0.12)),
            4,
        )
    if "wool" in more:
        for n in range(14):
            angle = 2 * np.pi * n / 14
            d.oval("fur", float(np.cos(angle)) * long * 0.48, mid + float(np.sin(angle)) * deep * 0.42, 8.6)
        d.dot("fur", 0, mid, long * 0.5, deep * 0.44)
        for x, y in ((-16, -5), (-4, 4), (8, -6), (16, 5), (-14, 8)):
            d.mark("fur-", (x - 4, mid + y), (x, mid + y + 3), (x + 4, mid + y), width=1.6)
    if "humps" in more:
        for x in (-long * 0.22, long * 0.12):
            d.blob("fur", (x - 11, back + 6), (x - 6, back - 8), (x, back - 13), (x + 6, back - 8), (x + 11, back + 6))
    if "shell" in more:
        d.pie("shell", -long * 0.02, -b.leg - deep * 0.2, long * 0.52, deep * 1.25, 180, 360)
        for x, y in ((-14, -9), (0, -14), (14, -9), (-7, -3), (7, -3)):
            d.star("shell+", x - 1, -b.leg - deep * 0.2 + y, 5.6, 4.9, 3)
        d.block("shell-", -long * 0.02, -b.leg - deep * 0.16, long * 0.55, 2.6, 2.4)
    if "spines" in more or "quills" in more or "plates" in more:
        tall = 6.5 if "spines" in more else 11 if "quills" in more else 17
        ink = (
            d.slot("hair", "brown") if "quills" in more else d.slot("horns", "amber") if "horns" in d.inks else "fur--"
        )
        rows = (0.0, 0.3, 0.6) if "quills" in more else (0.0,)
        for row in rows:
            for n in range(8 if "quills" in more else 6):
                x = long * (-0.42 + (0.11 if "quills" in more else 0.15) * n)
                y = back + deep * (0.16 + row)
                d.poly(ink, (x - 4.4, y + 2), (x - 4.5 if "quills" in more else x, y - tall), (x + 4.4, y + 2))


def _registered() -> None:
    for each in BEASTS:
        usual = {"fur": "brown", "eyes": "brown|green|amber"}
        main = "shell" if "shell" in each.more else "fur"
        inks = usual | dict(each.inks)

        def draw(d: Draft, each: Beast = each) -> None:
            beast(d, each)

        register(each.words, draw, "quadrupeds", {main: inks[main], **inks}, "quadruped")


_registered()
