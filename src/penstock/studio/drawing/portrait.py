"""A character from the head to the waist, for a frame on the wall or a cut-out."""

from __future__ import annotations

from PIL import Image

from penstock.studio.drawing.body import ABOVE, body
from penstock.studio.drawing.character import Character
from penstock.studio.drawing.head import HEAD, NECK, head
from penstock.studio.drawing.light import Light, relit

_LIGHT = Light((255, 252, 246), (255, 255, 255))


def portrait(who: Character, size: int) -> Image.Image:
    """A square picture with nothing around the character."""
    tall = 1.25 if who.kind == "rabbit" or "cowboy hat" in who.extras else 1.1
    unit = size / (tall + NECK + 0.62)
    neck = size - 0.62 * unit
    picture = Image.new("RGBA", (size, size), (0, 0, 0, 0))
    parts = (
        (body(who, "look", 0.0, unit, down=0.7), neck - ABOVE * unit),
        (head(who, unit), neck - NECK * unit - HEAD[1] / 2 * unit),
    )
    for part, top in parts:
        lit = relit(part, _LIGHT, unit)
        picture.alpha_composite(_placed(lit, size, round(top)))
    return picture


def _placed(part: Image.Image, size: int, top: int) -> Image.Image:
    """A part in the middle of an empty square."""
    square = Image.new("RGBA", (size, size), (0, 0, 0, 0))
    square.paste(part, (round((size - part.width) / 2), top))
    return square
