"""Drawing a mouth that is open, over one that is drawn closed; and a small singer for films without a face."""

from __future__ import annotations

from PIL import Image, ImageChops

from penstock.studio.drawing.canvas import Layer, Sketch, lay
from penstock.studio.drawing.character import character
from penstock.studio.drawing.colour import Colour, lighter
from penstock.studio.faces import Face
from penstock.studio.mouth import Mouth

_PATCH = (0.7, 0.6)
"Size of the picture of a mouth, in heads."
_STEPS = 8
"So finely shapes are told apart; each is drawn once."
_LEAST = 0.06
"A mouth that is open by less stays as it is drawn."

_INSIDE: Colour = (64, 18, 30)
_TONGUE: Colour = (214, 92, 98)
_TEETH: Colour = (250, 248, 242)


class Lips:
    """The mouths of one character."""

    def __init__(self, kind: str, head: float) -> None:
        """``head`` is the largest height its head has, in pixels."""
        self._kind, self._head = kind, max(head, 8.0)
        self._drawn: dict[tuple[int, int], Layer] = {}

    def draw(self, frame: Image.Image, face: Face, mouth: Mouth) -> None:
        """Open the mouth of a face; one that is closed is left alone."""
        if mouth.open < _LEAST:
            return
        scale = face.head / self._head
        left, top = face.x - _PATCH[0] / 2 * face.head, face.y - _PATCH[1] / 2 * face.head
        lay(frame, self._shape(round(mouth.open * _STEPS), round(mouth.wide * _STEPS)), left, top, scale)

    def _shape(self, opened: int, wide: int) -> Layer:
        found = self._drawn.get((opened, wide))
        if found is None:
            drawing = _robot_mouth if self._kind == "robot" else _mouth
            sketch = Sketch(*_PATCH, self._head, fine=4)
            drawing(sketch, max(opened, 1) / _STEPS, wide / _STEPS, self._kind)
            picture = sketch.done()
            found = self._drawn[opened, wide] = Layer(picture.convert("RGB"), picture.getchannel("A"))
        return found


def _mouth(sketch: Sketch, opened: float, wide: float, kind: str) -> None:
    rx, ry = 0.085 + 0.075 * wide, 0.022 + 0.115 * opened
    lips: Colour = (176, 66, 74) if kind in {"person", "woman", "mermaid"} else (96, 44, 52)
    down = 0.25 * ry
    sketch.oval(0, down, rx + 0.024, ry + 0.024, lips)
    sketch.oval(0, down, rx, ry, _INSIDE)
    if ry > 0.045:
        sketch.oval(0, down + 0.62 * ry, rx * 0.66, ry * 0.36, _TONGUE)
        sketch.block(0, down - 0.74 * ry, rx * 0.62, ry * 0.2, ry * 0.12, _TEETH)
    elif wide > 0.5:
        sketch.block(0, down - 0.1 * ry, rx * 0.72, ry * 0.5, ry * 0.3, _TEETH)


def _robot_mouth(sketch: Sketch, opened: float, wide: float, kind: str) -> None:
    """A slot with bars of light that are as high as it is loud."""
    rx, ry = 0.12 + 0.07 * wide, 0.03 + 0.1 * opened
    sketch.block(0, 0.2 * ry, rx + 0.02, ry + 0.02, 0.05, (62, 70, 84))
    sketch.block(0, 0.2 * ry, rx, ry, 0.04, (16, 20, 30))
    for n in range(-2, 3):
        high = ry * (0.78 - 0.16 * abs(n)) * (0.6 + 0.4 * opened)
        sketch.block(n * rx * 0.36, 0.2 * ry, rx * 0.1, high, 0.012, lighter((70, 214, 255), 0.2 if n else 0.45))


class Singer:
    """A face in the corner of a film that shows none."""

    def __init__(self, width: int, height: int) -> None:
        unit = 0.2 * height
        self._at = (width - 0.95 * unit, height - 0.95 * unit)
        who = character("a singer with headphones")
        badge = Sketch(1.7, 1.7, unit)
        badge.oval(0, 0, 0.82, 0.82, (250, 248, 244))
        badge.oval(0, 0, 0.77, 0.77, (64, 74, 116))
        picture = badge.done()
        puppet = who.puppet("look")
        mouth, scale = puppet.mouth, 0.95 * unit / puppet.head
        half = picture.width / 2 / scale
        down = mouth.y - 0.24 * puppet.head
        face = puppet.painted(0, scale, (mouth.x - half, down - half, mouth.x + half, down + half), blink=False)
        face = face.crop((0, 0, *picture.size))
        face.putalpha(ImageChops.multiply(face.getchannel("A"), picture.getchannel("A")))
        alpha = picture.getchannel("A")
        picture.paste(face, (0, 0), face)
        self._badge = Layer(picture.convert("RGB"), alpha)
        self._face = Face(self._at[0], self._at[1] + (mouth.y - down) * scale, 0.95 * unit)
        self._lips = Lips(who.kind, unit)

    def draw(self, frame: Image.Image, mouth: Mouth) -> None:
        badge = self._badge.paint
        assert isinstance(badge, Image.Image)
        lay(frame, self._badge, self._at[0] - badge.width / 2, self._at[1] - badge.height / 2, 1.0)
        self._lips.draw(frame, self._face, mouth)
