"""People of all trades, drawn in their outfits."""

from __future__ import annotations

from dataclasses import replace

from penstock.studio.concept import figure, garments
from penstock.studio.concept.catalogue import register
from penstock.studio.concept.countenance import beard, eyes, freckles, hair, moustache, mouth
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.figure import Build
from penstock.studio.concept.headwear import HEADWEAR
from penstock.studio.concept.outfit import Outfit
from penstock.studio.concept.outfits import OUTFITS
from penstock.studio.drawing.colour import darker

_SKINS = "peach|sand|copper|brown|beige"


def dressed(d: Draft, outfit: Outfit) -> None:
    """Somebody in an outfit, from the feet up."""
    for name, usual in (
        ("skin", "peach"),
        ("clothes", "blue"),
        ("trousers", "navy"),
        ("boots", "brown"),
        ("belt", "brown"),
    ):
        d.slot(name, usual)
    for name, share in outfit.build.items():
        d.traits = {**d.traits, name: d.traits.get(name, 3.2 if name == "heads" else 1.0) * share}
    if outfit.hat in {"wizard hat", "hood"}:
        d.inks.setdefault("hat", darker(d.inks["clothes"], 0.12))
    outfit = garments.chosen(d, outfit)
    b = figure.build_of(d)
    if outfit.face == "beast":
        garments.tail(d, b, outfit.beast)
    figure.neck(d, b, "skin")
    _body(d, b, outfit)
    with d.part("head", (0, b.chin)), d.at(0, b.chin - b.head * 0.96, b.head):
        _head(d, outfit)
    d.anchor("head", 0, b.chin - 1.96 * b.head, b.head * 0.96)
    d.anchor("face", 0, b.chin - 0.9 * b.head, b.head * 0.4)
    figure.anchors(d, b)


def _body(d: Draft, b: Build, outfit: Outfit) -> None:
    kind = outfit.clothes
    hands = "skin" if kind not in {"suit", "armour"} else d.slot("gloves", "charcoal" if kind == "armour" else "orange")
    match kind:
        case "robe":
            figure.legs(d, b, "trousers", "boots")
            figure.arms(d, b, "clothes", hands, wide_sleeves=True)
            figure.skirt(d, b, "clothes", down=0.62, flare=1.5)
            figure.torso(d, b, "clothes")
            d.patch("clothes--", (-0.6, b.hip), (0.6, b.hip), (1.0, b.hip * 0.42), (-1.0, b.hip * 0.42))
            figure.belt(d, b, "belt")
        case "dress":
            figure.legs(d, b, "skin", "boots", bare="skin")
            figure.arms(d, b, "skin", hands)
            figure.skirt(d, b, "clothes", down=0.5, flare=1.75)
            figure.torso(d, b, "clothes")
            d.block(d.slot("belt", "gold"), 0, b.hip - 5, b.waist * 0.98, 1.4, 0.7)
        case "coat":
            figure.legs(d, b, "trousers", "boots")
            figure.arms(d, b, "clothes", hands)
            figure.skirt(d, b, "clothes", down=0.36, flare=1.4)
            figure.torso(d, b, "clothes")
            d.poly(d.slot("shirt", "white"), (-3.4, b.shoulder - 1), (3.4, b.shoulder - 1), (0, b.hip - 7))
            d.mark("clothes--", (0, b.hip - 7), (0, b.hip * 0.7), width=1)
            for n in range(3):
                d.dot("gold", 2.4, b.hip - 6 + 4.6 * n, 1.1)
            figure.belt(d, b, "belt")
        case "jacket" | "tuxedo" | "hoodie" | "sweater" | "skirt":
            garments.GARMENTS[kind](d, b, hands)
        case "armour":
            _armour(d, b, hands)
        case "suit":
            _spacesuit(d, b, hands)
        case "bones":
            _bones(d, b)
        case "bare" | "fur":
            trousers = "skin" if kind == "fur" else "clothes"
            figure.legs(d, b, trousers, "skin-" if kind == "fur" else "boots")
            figure.arms(d, b, "skin", "skin")
            figure.torso(d, b, "skin")
            if kind == "fur":
                d.oval(
                    d.slot("belly", "beige") if "belly" in d.inks else "skin+",
                    0,
                    (b.shoulder + b.hip) / 2 + 2,
                    b.waist * 0.62,
                    (b.hip - b.shoulder) * 0.36,
                )
            else:
                d.mark(
                    "skin--",
                    (-b.waist * 0.7, b.shoulder + 10),
                    (0, b.shoulder + 11.5),
                    (b.waist * 0.7, b.shoulder + 10),
                    width=0.9,
                )
                figure.skirt(d, b, "clothes", down=0.28, flare=1.2)
                figure.belt(d, b, "belt")
        case "overalls":
            figure.legs(d, b, "clothes", "boots")
            figure.arms(d, b, d.slot("shirt", "red"), hands)
            figure.torso(d, b, "shirt")
            low, top = b.hip + 3.4, (b.shoulder + b.hip) / 2 - 2
            d.poly(
                "clothes",
                (-b.waist * 0.62, top),
                (b.waist * 0.62, top),
                (b.waist, b.hip - 4),
                (b.waist, low),
                (-b.waist, low),
                (-b.waist, b.hip - 4),
            )
            for _ in d.sides():
                d.limb("clothes", ((b.waist * 0.5, top), (b.broad * 0.5, b.shoulder - 1)), 2.6)
                d.dot("gold", b.waist * 0.46, top + 1.5, 1.1)
            d.block("clothes-", 0, top + 6, b.waist * 0.36, 2.6, 0.8)
        case _:
            figure.legs(d, b, "trousers" if kind != "wraps" else "clothes", "boots" if kind != "wraps" else "clothes-")
            figure.arms(d, b, "clothes", hands)
            figure.torso(d, b, "clothes")
            if kind == "gi":
                for _ in d.sides():
                    d.mark("clothes--", (-b.broad * 0.4, b.shoulder), (b.waist * 0.3, b.hip - 5), width=1.4)
            elif kind == "wraps":
                _wraps(d, b)
            else:
                d.pool("clothes-", (-4, b.shoulder - 1.6), (4, b.shoulder - 1.6), (0, b.shoulder + 3.4))
            if kind != "wraps":
                figure.belt(d, b, "belt")


def _armour(d: Draft, b: Build, hands: str) -> None:
    steel = d.slot("metal", "silver")
    figure.legs(d, b, steel + "-", steel)
    figure.arms(d, b, steel + "-", hands)
    figure.torso(d, b, steel)
    for _ in d.sides("leg"):
        d.oval(steel + "+", b.foot[0] - 2, b.hip * 0.48, b.limb * 0.55)
    d.mark(steel + "--", (0, b.shoulder + 2), (0, b.hip - 6), width=0.9)
    d.blob(
        steel + "+",
        (-b.waist * 0.8, b.shoulder + 5),
        (0, b.shoulder + 3.4),
        (b.waist * 0.8, b.shoulder + 5),
        (b.waist * 0.6, b.shoulder + 13),
        (0, b.shoulder + 16),
        (-b.waist * 0.6, b.shoulder + 13),
    )
    figure.skirt(d, b, d.slot("plume", "crimson"), down=0.26, flare=1.15)
    figure.belt(d, b, "belt")
    for _ in d.sides("arm"):
        d.oval(steel, b.broad + 0.6, b.shoulder + b.limb * 0.42, b.limb * 0.86, b.limb * 0.72, 24)


def _spacesuit(d: Draft, b: Build, hands: str) -> None:
    trim = d.slot("trim", "orange")
    figure.legs(d, b, "clothes", trim)
    figure.arms(d, b, "clothes", hands)
    for _ in d.sides("arm"):
        d.limb(trim, ((b.hand[0] - 3.4, b.hand[1] - 5.2), (b.hand[0] - 0.6, b.hand[1] - 2.6)), b.limb * 0.7)
    figure.torso(d, b, "clothes")
    d.block("silver", 0, (b.shoulder + b.hip) / 2, b.waist * 0.6, 5, 1.4)
    for x, ink in ((-3.6, "red"), (0, "lime"), (3.6, "cyan")):
        d.dot(ink, x, (b.shoulder + b.hip) / 2 - 1.6, 1.1)
    d.block("charcoal", 0, (b.shoulder + b.hip) / 2 + 2, b.waist * 0.44, 1.1, 0.4)
    figure.belt(d, b, trim, "silver")


def _bones(d: Draft, b: Build) -> None:
    bone, thin = "skin", b.limb * 0.42
    hip, (fx, fy) = (b.waist * 0.5, b.hip), b.foot
    for _ in d.sides("leg", hip):
        d.limb(bone, (hip, (fx - 1, b.hip / 2)), thin)
        d.limb(bone, ((fx - 1, b.hip / 2), (fx, fy)), thin)
        d.oval(bone, fx - 1, b.hip / 2, thin * 0.7)
        d.block(bone, fx + 2, -1.6, 5, 1.8, 1.8)
    top = (b.broad - 1, b.shoulder + 2)
    elbow = ((top[0] + b.hand[0]) / 2 + 1, (top[1] + b.hand[1]) / 2)
    for side in d.sides("arm", top):
        d.limb(bone, (top, elbow), thin)
        d.limb(bone, (elbow, b.hand), thin)
        d.oval(bone, *elbow, thin * 0.7)
        for angle in (-1.6, 0, 1.6):
            d.limb(bone, (b.hand, (b.hand[0] + 2.6 + angle, b.hand[1] + 3.6 - angle)), 1.3)
        d.oval(bone, *b.hand, 2.4)
        d.anchor("hand_r" if side > 0 else "hand_l", b.hand[0] + 1, b.hand[1] + 1.6, b.limb)
    d.limb(bone, ((0, b.chin - 1), (0, b.hip)), thin * 1.1)
    d.limb(bone, ((-b.broad, b.shoulder + 1.6), (0, b.shoulder + 0.4), (b.broad, b.shoulder + 1.6)), 2.8)
    for n in range(4):
        y, half = b.shoulder + 5.4 + n * (b.hip - b.shoulder - 12) / 4, b.broad * (0.86 - 0.1 * n)
        d.limb(bone, ((-half, y + 1.4), (-half * 0.4, y), (half * 0.4, y), (half, y + 1.4)), 2.3)
    d.blob(
        bone,
        (-b.waist, b.hip - 4),
        (0, b.hip - 2),
        (b.waist, b.hip - 4),
        (b.waist * 0.7, b.hip + 3),
        (0, b.hip + 2),
        (-b.waist * 0.7, b.hip + 3),
    )


def _wraps(d: Draft, b: Build) -> None:
    for n in range(5):
        y = b.shoulder + 3 + n * (b.hip - b.shoulder) / 5
        d.mark("clothes--", (-b.waist, y + (2 if n % 2 else -1)), (b.waist, y + (-1 if n % 2 else 2)), width=0.9)
    for _ in d.sides("leg"):
        for n in range(3):
            y = b.hip * (0.75 - 0.2 * n)
            d.mark("clothes--", (b.foot[0] - 6, y), (b.foot[0] + 3, y + 1.5), width=0.9)


def _head(d: Draft, outfit: Outfit) -> None:
    """In units of half a head, around its middle."""
    bare = "hat" in d.traits or bool(d.words & {"hatless", "bareheaded"})
    if bare and outfit.face == "helmet":
        outfit = replace(outfit, face="")
    d.anchor("mouth", 0, 0.56, 0.26)
    mood = d.mood or ("angry" if outfit.face in {"fangs", "tusks", "mask"} else None)
    _ears(d, outfit.ears)
    if outfit.face == "skull":
        _skull(d)
    else:
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
        if outfit.face == "beast":
            garments.coat(d, outfit.beast)
        _face(d, outfit.face, mood)
        if "freckles" in d.looks:
            freckles(d)
    styles = outfit.hair.split("|")
    style = next(
        (s for s in ("curly", "long", "bald", "mohawk", "ponytail", "spiky") if s in d.words and outfit.hair), ""
    )
    style = (d.looks.get("hair", "") if outfit.hair else "") or style or styles[int(d.rng.integers(len(styles)))]
    if style and style != "bald":
        hair(d, style)
    if (outfit.beard or "beard" in d.looks) and outfit.face != "skull":
        beard(d, outfit.beard or 0.3)
    elif "moustache" in d.looks:
        moustache(d)
    if outfit.hat and not bare:
        with d.at(0, -1.0, 0.96):
            HEADWEAR[outfit.hat](d)


def _ears(d: Draft, kind: str) -> None:
    for _ in d.sides():
        match kind.removeprefix("beast "):
            case "tall" | "small" | "leaf":
                d.blob("skin", (0.3, -0.7), (0.5, -1.3), (0.78, -1.55), (0.96, -1.2), (0.9, -0.4))
                d.pool("belly", (0.5, -0.75), (0.62, -1.15), (0.76, -1.3), (0.82, -0.6))
            case "floppy" | "huge":
                d.blob("skin-", (0.6, -0.7), (1.0, -0.6), (1.3, 0.1), (1.2, 0.7), (0.9, 0.5), (0.76, -0.1))
            case "round" | "mouse":
                d.oval("skin", 0.72, -0.78, 0.36)
                d.dot("belly", 0.72, -0.78, 0.2)
            case "rabbit":
                d.blob("skin", (0.15, -0.8), (0.2, -1.6), (0.42, -2.1), (0.64, -1.6), (0.6, -0.7))
                d.pool("pink", (0.28, -0.9), (0.32, -1.5), (0.42, -1.85), (0.52, -1.5), (0.48, -0.9))
            case "pointed" if kind.startswith("beast"):
                d.blob("skin", (0.26, -0.76), (0.5, -1.3), (0.76, -1.5), (0.95, -1.1), (0.94, -0.3))
                d.pool("belly", (0.46, -0.8), (0.62, -1.15), (0.74, -1.26), (0.82, -0.6))
            case "none":
                pass
            case "pointed":
                d.blob("skin", (0.8, 0.2), (0.95, -0.2), (1.5, -0.62), (1.2, 0.12))
            case "long":
                d.blob("skin", (0.8, 0.25), (0.95, -0.22), (1.95, -0.5), (1.3, 0.2))
            case "big":
                d.oval("skin", 1.0, 0.0, 0.4)
                d.dot("skin+", 1.0, 0.0, 0.24)
            case _:
                d.oval("skin", 0.92, 0.08, 0.18, 0.24)


def _face(d: Draft, kind: str, mood: str | None) -> None:
    match kind:
        case "helmet":
            return
        case "cyclops":
            d.oval("white", 0, -0.05, 0.42)
            d.dot(d.slot("eyes", "amber"), 0, -0.02, 0.24)
            d.dot("black", 0, -0.02, 0.13)
            mouth(d, 0, 0.62, 0.36, mood or "happy")
        case "muzzle" | "snout" | "beast":
            d.blob(
                d.slot("belly", "beige") if kind != "snout" and "belly" in d.inks else "skin+",
                (-0.62, 0.4),
                (-0.4, 0.05),
                (0, 0.12),
                (0.4, 0.05),
                (0.62, 0.4),
                (0.4, 0.86),
                (-0.4, 0.86),
            )
            eyes(d, 0.34, -0.1, 0.2, mood)
            d.oval("charcoal", 0, 0.28, 0.2, 0.13)
            mouth(d, 0, 0.54, 0.3, mood)
            if kind == "snout":
                for _ in d.sides():
                    d.poly("white", (0.14, 0.6), (0.3, 0.58), (0.22, 0.84))
            elif kind == "beast":
                for _ in d.sides():
                    for y in (0.3, 0.46):
                        d.mark("charcoal", (0.5, y), (1.05, y * 1.3 - 0.14), width=0.04)
        case "carrot":
            for _ in d.sides():
                d.dot("black", 0.34, -0.12, 0.13)
            d.poly("orange", (-0.1, 0.06), (0.95, 0.3), (-0.06, 0.34))
            for n in range(5):
                d.dot("black", -0.4 + 0.2 * n, 0.56 + 0.1 * (1 - abs(n - 2) / 2), 0.07)
        case "visor":
            d.block(d.slot("trim", "cyan"), 0, -0.08, 0.86, 0.22, 0.16)
            d.mark("white", (-0.6, -0.18), (-0.2, -0.18), width=0.07)
            mouth(d, 0, 0.56, 0.26, mood)
        case _:
            eyes(d, 0.38, 0.0, 0.25, mood)
            d.blob("skin-", (-0.08, 0.26), (0, 0.16), (0.09, 0.26), (0, 0.36))
            _extras(d, kind, mood)


def _extras(d: Draft, kind: str, mood: str | None) -> None:
    match kind:
        case "mask":
            d.blob(
                "clothes",
                (-0.93, 0.22),
                (0, 0.16),
                (0.93, 0.22),
                (0.78, 0.62),
                (0.34, 1.0),
                (-0.34, 1.0),
                (-0.78, 0.62),
            )
            d.blob("clothes", (-0.95, -0.22), (-0.74, -0.82), (0, -1.04), (0.74, -0.82), (0.95, -0.22), (0, -0.32))
            return
        case "patch":
            d.oval("black", 0.38, 0.0, 0.3, 0.32)
            d.mark("black", (0.9, -0.4), (0.2, -0.1), (-0.8, -0.62), width=0.08)
        case "eyemask":
            ink = d.slot("mask", "charcoal")
            for _ in d.sides():
                d.pool(ink, (0.02, -0.22), (0.6, -0.36), (0.92, -0.1), (0.7, 0.26), (0.3, 0.28), (0.04, 0.1))
            eyes(d, 0.38, 0.0, 0.19, mood)
        case "clown":
            d.oval("red", 0, 0.26, 0.22)
            d.pie("white", 0, 0.42, 0.6, 0.48, 0, 180)
            mouth(d, 0, 0.52, 0.34, "happy")
            return
        case "wraps":
            for y in (-0.7, -0.45, 0.4, 0.66):
                d.mark("skin--", (-0.85, y), (0.85, y + 0.14), width=0.06)
            return
        case "fangs" | "tusks":
            d.pie("burgundy", 0, 0.5, 0.4, 0.3, 0, 180)
            for _ in d.sides():
                points = (
                    ((0.1, 0.5), (0.3, 0.5), (0.2, 0.74))
                    if kind == "fangs"
                    else ((0.18, 0.66), (0.4, 0.66), (0.34, 0.22))
                )
                d.poly("ivory", *points)
            return
    mouth(d, 0, 0.56, 0.26, mood)


def _skull(d: Draft) -> None:
    d.block("skin-", 0, 0.66, 0.5, 0.36, 0.14)
    d.blob(
        "skin",
        (-0.95, -0.2),
        (-0.7, -0.84),
        (0, -1.0),
        (0.7, -0.84),
        (0.95, -0.2),
        (0.72, 0.4),
        (0.5, 0.6),
        (-0.5, 0.6),
        (-0.72, 0.4),
    )
    glow = d.colour(d.slot("eyes", "black"))
    for _ in d.sides():
        d.dot("black", 0.38, -0.02, 0.27, 0.3)
        if sum(glow) > 200:
            d.dot("eyes", 0.38, 0.0, 0.12)
    d.patch("black", (0, 0.22), (0.12, 0.42), (-0.12, 0.42))
    for x in (-0.3, -0.1, 0.1, 0.3):
        d.mark("skin---", (x, 0.6), (x, 0.94), width=0.05)


def _registered() -> None:
    for outfit in OUTFITS:
        inks = {
            "clothes": "blue|red|green|teal|orange|purple",
            "skin": _SKINS,
            "hair": "brown|black|blonde|ginger|charcoal",
        }
        inks |= {"trousers": "navy|charcoal|brown", "boots": "brown|charcoal", "eyes": "brown|blue|green"}
        main = (
            "skin"
            if outfit.clothes in {"bare", "fur", "bones", "wraps"}
            else "metal"
            if outfit.clothes == "armour"
            else "clothes"
        )
        inks |= outfit.inks
        ordered = {main: inks.get(main, "silver"), **inks}

        def draw(d: Draft, outfit: Outfit = outfit) -> None:
            dressed(d, outfit)

        register(outfit.words, draw, "people", ordered, "biped")


_registered()
