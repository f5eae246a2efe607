"""Robots and other somebodies that are no people: they stand and act like them."""

from __future__ import annotations

from penstock.studio.concept import figure
from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.countenance import mouth
from penstock.studio.concept.draft import Draft


@subject(
    "robot|android|droid|mech|automaton|bot|mecha|machine|cyber robot|ranger robot",
    stance="biped",
    metal="steel|silver|sky|teal|amber",
    second="charcoal|white|navy",
    eyes="cyan|lime|amber",
    trim="orange|red|yellow|cyan",
)
def robot(d: Draft) -> None:
    b = figure.build_of(d)
    joint = "second"
    hip = (b.waist * 0.55, b.hip)
    fx = b.foot[0]
    for _ in d.sides("leg", hip):
        d.limb(joint, (hip, (fx, -12)), b.limb * 0.7)
        d.block("metal", fx - 0.6, b.hip * 0.56, b.limb * 0.62, -b.hip * 0.17, 2)
        d.oval("trim", fx - 0.3, b.hip * 0.34, b.limb * 0.34)
        d.blob("metal", (fx - 6.4, 0), (fx - 5.6, -9), (fx, -11.5), (fx + 6, -8), (fx + 8.6, 0))
        d.patch(joint, (fx - 6.4, 0), (fx - 6.3, -2.2), (fx + 8, -2.2), (fx + 8.6, 0))
    top, hand = (b.broad, b.shoulder + 5), b.hand
    elbow = ((top[0] + hand[0]) / 2 + 1.5, (top[1] + hand[1]) / 2)
    for side in d.sides("arm", top):
        d.limb(joint, (top, elbow, hand), b.limb * 0.62)
        d.limb("metal", (elbow, (hand[0] - 1.5, hand[1] - 2)), b.limb * 0.95, b.limb * 1.25)
        for turn in (-34, 34):
            with d.at(hand[0], hand[1], turn=-34 + turn):
                d.blob("metal-", (-1.8, 0), (-2.2, 4), (0, 7.4), (2.0, 3.6), (1.8, 0))
        d.oval("trim", *hand, b.limb * 0.42)
        d.oval("metal", top[0] + 0.6, top[1] - 0.6, b.limb * 0.86)
        d.anchor("hand_r" if side > 0 else "hand_l", hand[0] + 2.6, hand[1] + 3.6, b.limb)
    d.block(joint, 0, b.hip - 1, b.waist * 0.8, 4, 2)
    mid = (b.shoulder + b.hip) / 2 - 1.5
    d.block("metal", 0, mid, b.broad * 0.94, (b.hip - b.shoulder) / 2 - 0.4, 5)
    d.block("second", 0, mid, b.broad * 0.56, (b.hip - b.shoulder) * 0.24, 2.4)
    for x, ink in ((-4.4, "red"), (0, "trim"), (4.4, "lime")):
        d.dot(ink, x, mid - 2.4, 1.5)
    d.block("eyes", 0, mid + 2.8, b.broad * 0.36, 1.5, 1)
    d.block(joint, 0, b.chin + 0.5, b.head * 0.34, 3, 1)
    with d.part("head", (0, b.chin)), d.at(0, b.chin - b.head * 0.92, b.head):
        _robot_head(d)
    d.anchor("head", 0, b.chin - 1.8 * b.head, b.head)
    d.anchor("face", 0, b.chin - 0.98 * b.head, b.head * 0.4)
    figure.anchors(d, b)
    d.anchor("neck", 0, b.chin + 1, b.head * 1.0)


def _robot_head(d: Draft) -> None:
    if "hat" not in d.traits:
        d.limb("second", ((0, -0.8), (0, -1.28)), 0.13)
        d.oval("trim", 0, -1.34, 0.2)
    for _ in d.sides():
        d.block("second", 1.08, -0.02, 0.2, 0.34, 0.12)
        d.block("trim", 1.26, -0.02, 0.08, 0.2, 0.06)
    d.block("metal", 0, 0, 1.06, 0.9, 0.36)
    d.block("black", 0, -0.02, 0.82, 0.54, 0.26)
    d.anchor("mouth", 0, 0.34, 0.26)
    angry = d.mood == "angry"
    for _ in d.sides():
        d.dot("eyes", 0.38, -0.08, 0.2 * d.trait("eyes"), 0.25 * d.trait("eyes"))
        d.dot("white", 0.32, -0.17, 0.07)
        if angry:
            d.patch("black", (0.1, -0.12), (0.66, -0.42), (0.1, -0.42))
    d.mark(
        "eyes",
        *(
            ((-0.24, 0.34), (0, 0.26), (0.24, 0.34))
            if angry or d.mood == "sad"
            else ((-0.24, 0.26), (0, 0.36), (0.24, 0.26))
        ),
        width=0.09,
    )


@subject(
    "alien|martian|extraterrestrial|grey alien|invader",
    stance="biped",
    skin="lime|mint|green|lavender",
    clothes="indigo|silver|purple",
    eyes="black",
    trim="magenta|cyan",
)
def alien(d: Draft) -> None:
    d.traits = {**d.traits, "head": d.trait("head") * 1.18, "wide": d.trait("wide") * 0.82}
    b = figure.build_of(d)
    figure.legs(d, b, "clothes", d.slot("boots", "charcoal"))
    figure.arms(d, b, "clothes", "skin")
    figure.neck(d, b, "skin")
    figure.torso(d, b, "clothes")
    d.oval("trim", 0, b.shoulder + 7, 3)
    figure.belt(d, b, "trim", "silver")
    with d.part("head", (0, b.chin)), d.at(0, b.chin - b.head * 0.95, b.head):
        for _ in d.sides():
            d.limb("skin-", ((0.3, -0.8), (0.55, -1.3)), 0.09)
            d.oval("trim", 0.57, -1.36, 0.16)
        d.blob(
            "skin",
            (-1.15, -0.3),
            (-0.75, -0.9),
            (0, -1.04),
            (0.75, -0.9),
            (1.15, -0.3),
            (0.66, 0.5),
            (0.2, 0.94),
            (-0.2, 0.94),
            (-0.66, 0.5),
        )
        for _ in d.sides():
            d.oval("eyes", 0.48, -0.02, 0.28, 0.46, 24)
            d.dot("white", 0.4, -0.22, 0.1)
        mouth(d, 0, 0.6, 0.18, d.mood)
    d.anchor("head", 0, b.chin - 1.96 * b.head, b.head * 1.05)
    d.anchor("face", 0, b.chin - 0.98 * b.head, b.head * 0.45)
    figure.anchors(d, b)


@subject(
    "golem|rock monster|stone giant|elemental|gargoyle|colossus|treant|ent",
    stance="biped",
    stone="grey|brown",
    eyes="amber|cyan|lime",
    moss="green",
)
def golem(d: Draft) -> None:
    b = figure.build_of(d)
    for _ in d.sides("leg", (9, -30)):
        d.poly("stone-", (3, -32), (15, -34), (17, -14), (5, -12))
        d.poly("stone", (2, -14), (19, -15), (21, 0), (1, 0))
    for side in d.sides("arm", (22, -70)):
        d.poly("stone-", (20, -74), (34, -66), (38, -46), (28, -44), (18, -60))
        d.poly("stone", (28, -48), (42, -48), (47, -26), (40, -16), (28, -20), (25, -34))
        for n in range(3):
            d.mark("stone--", (31 + 4 * n, -18), (32 + 4 * n, -25), width=1)
        d.anchor("hand_r" if side > 0 else "hand_l", 36, -20, b.limb)
    d.poly("stone", (-24, -78), (24, -78), (28, -64), (17, -34), (0, -28), (-17, -34), (-28, -64))
    d.poly("stone+", (-14, -70), (2, -72), (6, -58), (-8, -52))
    d.mark("stone---", (8, -60), (2, -48), (10, -42), width=1.1)
    d.pool("moss", (-27, -72), (-16, -79), (-4, -77), (-10, -70), (-18, -66))
    with d.part("head", (0, -76)):
        d.poly("stone", (-14, -76), (-17, -90), (-9, -101), (8, -102), (16, -92), (14, -76), (6, -71), (-6, -71))
        for _ in d.sides():
            d.patch("black", (2.4, -91), (12, -94), (11, -85), (4, -85))
            d.dot("eyes", 7.4, -88.6, 2.6)
        d.mark("stone---", (-8, -78), (-3, -80), (2, -77), (8, -80), width=1.4)
        d.pool("moss", (-10, -101), (4, -103.5), (10, -100), (4, -97), (-4, -98))
    d.anchor("head", 0, -101, 15)
    d.anchor("face", 0, -89, 7)
    d.anchor("neck", 0, -73, 16)
    d.anchor("back", 0, -72, 44)
    d.anchor("chest", 0, -58, 22)
