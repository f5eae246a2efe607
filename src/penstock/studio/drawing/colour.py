"""Colours by name, and what is done with them."""

from __future__ import annotations

import colorsys

Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
BLACK: Colour = (0, 0, 0)
INK: Colour = (44, 36, 48)
"What is drawn with a pen: mouths, eyes, whiskers."

NAMED: dict[str, Colour] = {
    "red": (214, 58, 54),
    "crimson": (176, 28, 52),
    "scarlet": (226, 56, 40),
    "burgundy": (116, 28, 48),
    "coral": (250, 128, 106),
    "orange": (240, 138, 44),
    "amber": (248, 176, 52),
    "copper": (190, 112, 66),
    "bronze": (166, 122, 70),
    "rust": (172, 82, 48),
    "gold": (230, 186, 76),
    "golden": (230, 186, 76),
    "yellow": (246, 212, 74),
    "lemon": (248, 232, 110),
    "cream": (246, 234, 208),
    "beige": (222, 204, 172),
    "sand": (220, 192, 144),
    "brown": (124, 82, 54),
    "olive": (122, 124, 60),
    "lime": (162, 212, 64),
    "green": (72, 156, 84),
    "emerald": (34, 146, 104),
    "mint": (150, 220, 188),
    "teal": (28, 140, 144),
    "turquoise": (60, 190, 186),
    "cyan": (70, 208, 230),
    "sky": (122, 186, 234),
    "blue": (56, 108, 200),
    "navy": (28, 44, 98),
    "indigo": (68, 60, 148),
    "violet": (132, 86, 200),
    "purple": (120, 64, 164),
    "lavender": (184, 168, 226),
    "magenta": (214, 54, 156),
    "pink": (244, 138, 180),
    "rose": (230, 112, 138),
    "peach": (252, 196, 160),
    "white": (240, 240, 238),
    "ivory": (244, 240, 224),
    "silver": (190, 198, 208),
    "steel": (138, 152, 168),
    "grey": (140, 144, 150),
    "gray": (140, 144, 150),
    "charcoal": (60, 64, 72),
    "black": (38, 38, 44),
    "blond": (232, 200, 120),
    "blonde": (232, 200, 120),
    "ginger": (206, 106, 44),
    "auburn": (142, 62, 40),
    "brunette": (92, 60, 40),
}


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """Some of the other in the one."""
    r, g, b = (round(a + (z - a) * share) for a, z in zip(one, other, strict=True))
    return r, g, b


def lighter(colour: Colour, share: float = 0.25) -> Colour:
    return mix(colour, WHITE, share)


def darker(colour: Colour, share: float = 0.25) -> Colour:
    return mix(colour, BLACK, share)


def lit(colour: Colour, light: Colour) -> Colour:
    """A colour as it looks in a light."""
    r, g, b = (a * z // 255 for a, z in zip(colour, light, strict=True))
    return r, g, b


def turned(colour: Colour, share: float) -> Colour:
    """A colour further around the wheel."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*(c / 255 for c in colour))
    r, g, b = (round(255 * c) for c in colorsys.hls_to_rgb((hue + share) % 1, lightness, saturation))
    return r, g, b
