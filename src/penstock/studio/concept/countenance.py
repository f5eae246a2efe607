"""Faces: drawn in units of half a head, around its middle."""

from __future__ import annotations

from penstock.studio.concept.draft import Draft

LASHES = "charcoal"


def eyes(d: Draft, x: float, y: float, size: float, mood: str | None = None, *, white: str = "white") -> None:
    """Two large eyes that look at us, and their brows."""
    size *= d.trait("eyes")
    iris = d.slot("eyes", "brown")
    for _ in d.sides():
        tall = size * (0.42 if mood == "sleepy" else 1.25 if mood == "surprised" else 1.12)
        d.oval(white, x, y, size * 0.82, tall)
        if mood != "sleepy":
            d.dot(iris, x - size * 0.08, y + size * 0.1, size * 0.54, size * 0.7)
            d.dot("black", x - size * 0.08, y + size * 0.12, size * 0.3, size * 0.42)
            d.dot("white", x - size * 0.26, y - size * 0.22, size * 0.19)
        inner, outer = {"angry": (0.65, -0.75), "sad": (-0.7, 0.5), "surprised": (-0.9, -0.7)}.get(
            mood or "", (-0.3, -0.3)
        )
        high = y - tall - size * 0.22
        d.mark(
            LASHES,
            (x - size * 0.8, high + inner * size * 0.6),
            (x + size * 0.85, high + outer * size * 0.5),
            width=size * 0.3,
        )


def mouth(d: Draft, x: float, y: float, wide: float, mood: str | None = None) -> None:
    """A mouth in a mood; lips that sing are put over it."""
    d.anchor("mouth", x, y, wide)
    match mood:
        case "angry":
            d.mark(
                "charcoal",
                (x - wide, y + wide * 0.35),
                (x, y - wide * 0.05),
                (x + wide, y + wide * 0.35),
                width=wide * 0.24,
            )
        case "sad":
            d.mark(
                "charcoal",
                (x - wide * 0.8, y + wide * 0.4),
                (x, y),
                (x + wide * 0.8, y + wide * 0.4),
                width=wide * 0.22,
            )
        case "surprised":
            d.dot("burgundy", x, y + wide * 0.1, wide * 0.45, wide * 0.6)
        case "happy":
            d.pie("burgundy", x, y - wide * 0.15, wide, wide * 0.95, 0, 180)
            d.dot("coral", x, y + wide * 0.5, wide * 0.45, wide * 0.24)
        case _:
            d.mark("charcoal", (x - wide * 0.8, y), (x, y + wide * 0.35), (x + wide * 0.8, y), width=wide * 0.22)


def single_eye(d: Draft, x: float, y: float, size: float, mood: str | None = None) -> None:
    """The eye of an animal that is seen from the side, looking to the right."""
    size *= d.trait("eyes")
    d.oval("white", x, y, size, size * 1.12)
    d.dot(d.slot("eyes", "brown"), x + size * 0.24, y + size * 0.06, size * 0.66, size * 0.8)
    d.dot("black", x + size * 0.3, y + size * 0.06, size * 0.42, size * 0.54)
    d.dot("white", x + size * 0.1, y - size * 0.3, size * 0.24)
    if mood == "angry":
        d.mark(LASHES, (x - size, y - size * 1.3), (x + size * 1.2, y - size * 0.5), width=size * 0.5)
    elif mood == "sleepy":
        d.mark(LASHES, (x - size, y - size * 0.2), (x + size, y - size * 0.2), width=size * 0.6)


def hair(d: Draft, style: str, ink: str = "hair") -> None:
    """On the head; what hangs down behind it is drawn behind."""
    d.slot(ink, "brown")
    match style:
        case "long":
            with d.behind():
                d.blob(
                    ink, (-0.95, -0.6), (0, -1.12), (0.95, -0.6), (1.12, 0.5), (0.95, 1.35), (-0.95, 1.35), (-1.12, 0.5)
                )
            hair(d, "swept", ink)
        case "swept":
            d.blob(
                ink,
                (-0.98, 0.1),
                (-0.95, -0.62),
                (0, -1.12),
                (0.95, -0.62),
                (0.98, 0.1),
                (0.74, -0.36),
                (0.1, -0.58),
                (-0.7, -0.3),
            )
        case "curly":
            for x, y in (
                (-0.86, -0.1),
                (0.86, -0.1),
                (-0.84, -0.5),
                (0.84, -0.5),
                (-0.5, -0.84),
                (0.5, -0.84),
                (0, -0.98),
            ):
                d.oval(ink, x, y, 0.36)
            d.dot(ink, 0, -0.76, 0.62, 0.22)
        case "bun":
            d.oval(ink, 0, -1.12, 0.34)
            hair(d, "swept", ink)
        case "braids":
            for _ in d.sides():
                d.limb(ink, ((0.82, 0.0), (1.05, 0.6), (0.95, 1.3)), 0.42, 0.4, 0.3)
                for y in (0.4, 0.75, 1.08):
                    d.mark(ink + "--", (0.86, y), (1.16, y + 0.08), width=0.06)
                d.oval("crimson", 0.95, 1.24, 0.17, 0.12)
            hair(d, "swept", ink)
        case "bob":
            with d.behind():
                d.blob(
                    ink, (-0.95, -0.6), (0, -1.14), (0.95, -0.6), (1.14, 0.4), (1.0, 0.82), (-1.0, 0.82), (-1.14, 0.4)
                )
            hair(d, "swept", ink)
        case "ponytail":
            with d.behind():
                d.limb(ink, ((0.7, -0.7), (1.3, -0.3), (1.35, 0.6)), 0.5, 0.5, 0.1)
            hair(d, "swept", ink)
        case "mohawk":
            with d.behind():
                d.poly(
                    ink,
                    (-0.3, -0.6),
                    (-0.42, -1.3),
                    (-0.14, -1.12),
                    (0, -1.5),
                    (0.14, -1.12),
                    (0.42, -1.3),
                    (0.3, -0.6),
                )
            d.blob(ink, (-0.2, -0.55), (-0.22, -1.0), (0, -1.2), (0.22, -1.0), (0.2, -0.55))
        case "spiky":
            d.poly(
                ink,
                (-0.95, -0.05),
                (-1.15, -0.7),
                (-0.75, -0.66),
                (-0.7, -1.25),
                (-0.25, -0.95),
                (0.08, -1.42),
                (0.34, -0.96),
                (0.82, -1.2),
                (0.76, -0.66),
                (1.16, -0.62),
                (0.95, -0.05),
                (0.7, -0.38),
                (0.3, -0.3),
                (0, -0.5),
                (-0.4, -0.28),
                (-0.7, -0.4),
            )
        case "short":
            d.blob(
                ink,
                (-0.97, 0.0),
                (-0.98, -0.55),
                (-0.5, -1.02),
                (0.2, -1.1),
                (0.86, -0.78),
                (0.98, 0.0),
                (0.78, -0.34),
                (0.2, -0.5),
                (-0.62, -0.36),
            )


def freckles(d: Draft, ink: str = "skin--") -> None:
    """Across the cheeks and the nose."""
    for _ in d.sides():
        for x, y in ((0.3, 0.3), (0.44, 0.38), (0.56, 0.29), (0.38, 0.47), (0.54, 0.45), (0.17, 0.26)):
            d.dot(ink, x, y, 0.05)


def moustache(d: Draft) -> None:
    """Under the nose, curled up at its ends."""
    ink = d.slot("beard", "brown") if "beard" in d.inks or "hair" not in d.inks else "hair"
    d.blob(ink, (0, 0.4), (0.3, 0.34), (0.62, 0.3), (0.5, 0.5), (0.2, 0.52), (0, 0.47))
    d.blob(ink, (0, 0.4), (-0.3, 0.34), (-0.62, 0.3), (-0.5, 0.5), (-0.2, 0.52), (0, 0.47))


def beard(d: Draft, length: float) -> None:
    """Around the mouth and down."""
    ink = d.slot("beard", "white") if "beard" in d.inks or "hair" not in d.inks else "hair"
    d.blob(
        ink,
        (-0.92, 0.05),
        (-0.6, 0.3),
        (-0.3, 0.3),
        (0, 0.36),
        (0.3, 0.3),
        (0.6, 0.3),
        (0.92, 0.05),
        (0.78, 0.75),
        (0.3, 1.0 + length * 0.6),
        (0, 1.0 + length),
        (-0.3, 1.0 + length * 0.6),
        (-0.78, 0.75),
    )
    d.blob(
        ink + "+", (0, 0.3), (0.34, 0.26), (0.62, 0.5), (0.2, 0.5), (0, 0.42), (-0.2, 0.5), (-0.62, 0.5), (-0.34, 0.26)
    )
    d.dot("burgundy", 0, 0.56, 0.17, 0.07)
    d.anchor("mouth", 0, 0.56, 0.2)
