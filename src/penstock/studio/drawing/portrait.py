"""Pictures of a character for a cut-out or a frame on the wall: from all sides, and from near."""

from __future__ import annotations

from PIL import Image

from penstock.studio.drawing.character import Character
from penstock.studio.drawing.light import Light, relit
from penstock.studio.drawing.turning import turned_view

_LIGHT = Light((255, 252, 246), (255, 255, 255))
_MARGIN = 0.05


def portrait(who: Character, size: int, view: str = "front") -> Image.Image:
    """A square picture with nothing around the character."""
    puppet = turned_view(who.puppet({"side": "walk", "three-quarter": "wave"}.get(view, "stand")), view)
    left, top, right, bottom = puppet.draft(1).bounds()
    if view == "close-up":
        head, mouth = puppet.head, puppet.mouth
        half = 0.85 * head
        middle = (mouth.x, mouth.y - 0.25 * head)
        box = (middle[0] - half, middle[1] - half, middle[0] + half, middle[1] + half)
        scale = size / (2 * half)
    else:
        half = max(right - left, bottom - top) / 2 * (1 + 2 * _MARGIN)
        middle = ((left + right) / 2, (top + bottom) / 2)
        box = (middle[0] - half, middle[1] - half, middle[0] + half, middle[1] + half)
        scale = size / (2 * half)
    picture = puppet.painted(1, scale, box, blink=False, fine=2)
    square = Image.new("RGBA", (size, size), (0, 0, 0, 0))
    square.paste(relit(picture, _LIGHT, puppet.head * scale), (0, 0))
    return square
