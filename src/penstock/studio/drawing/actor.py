"""Whoever is seen in a scene: a drawn character that moves, or a picture that somebody gave."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from PIL import Image

from penstock.studio.drawing.body import ABOVE, BODY, CYCLES, LEGS, STEPS, body, pose
from penstock.studio.drawing.canvas import Layer, glow, lay
from penstock.studio.drawing.character import Character
from penstock.studio.drawing.colour import Colour
from penstock.studio.drawing.head import HEAD, NECK, head, mouth_of
from penstock.studio.drawing.light import Light, relit
from penstock.studio.drawing.pictures import Given
from penstock.studio.faces import Face

TALL = NECK + 0.5 + LEGS
"A whole figure, in heads."
_BLINKS = (2.3, 0.14)
"Every so many seconds eyes are closed for so long."


class Actor(Protocol):
    def draw(self, frame: Image.Image, x: float, y: float, scale: float, seconds: float) -> Face | None:
        """Appear with the feet (or the lower edge) at a point, ``scale`` times as large as planned.

        Where the mouth is afterwards, if there is one.
        """
        ...


@dataclass(slots=True)
class Drawn:
    """A character from head to foot, or as far down as the frame shows it."""

    who: Character
    action: str
    unit: float
    "Pixels of a head's height."
    down: float
    "How far below the neck it is seen, in heads."
    light: Light
    steps: int = STEPS
    _bodies: dict[int, Layer] = field(default_factory=dict)
    _heads: dict[bool, Layer] = field(default_factory=dict)

    def draw(self, frame: Image.Image, x: float, y: float, scale: float, seconds: float) -> Face:
        unit = self.unit * scale
        part = seconds / CYCLES[self.action] % 1
        now = pose(self.action, part)
        neck = y - (self.down + now.lift) * unit
        _put(frame, self._body(int(part * self.steps)), x - BODY / 2 * unit, neck - ABOVE * unit, scale)
        middle = (x + now.lean * unit, neck - NECK * unit)
        looks = self._head(seconds % _BLINKS[0] > _BLINKS[0] - _BLINKS[1])
        _put(frame, looks, middle[0] - HEAD[0] / 2 * unit, middle[1] - HEAD[1] / 2 * unit, scale)
        return Face(middle[0], middle[1] + mouth_of(self.who) * unit, unit)

    def _body(self, step: int) -> Layer:
        found = self._bodies.get(step)
        if found is None:
            picture = body(self.who, self.action, step / self.steps, self.unit, down=self.down)
            found = self._bodies[step] = _cut_out(relit(picture, self.light, self.unit))
        return found

    def _head(self, blink: bool) -> Layer:
        found = self._heads.get(blink)
        if found is None:
            glance = 0.8 if self.action in {"walk", "run"} else 0.0
            picture = head(self.who, self.unit, blink=blink, glance=glance)
            found = self._heads[blink] = _cut_out(relit(picture, self.light, self.unit))
        return found


class Shown:
    """A picture that somebody gave: a cut-out stands and sways, a print hangs in the air."""

    def __init__(self, what: Given, tall: float) -> None:
        picture = what.picture
        by = tall / picture.height
        size = (max(round(picture.width * by), 1), max(round(tall), 1))
        self._picture = picture.resize(size, Image.Resampling.LANCZOS)
        self._layer = _cut_out(self._picture)
        self._framed = what.framed

    def draw(self, frame: Image.Image, x: float, y: float, scale: float, seconds: float) -> None:
        sway = math.sin(seconds * 1.6) * 0.012 * self._picture.height
        bob = (0.5 + 0.5 * math.sin(seconds * 3.1)) * 0.015 * self._picture.height
        wide, high = self._picture.width * scale, self._picture.height * scale
        _put(
            frame, self._layer, x - wide / 2 + sway, y - high - (bob if not self._framed else 0.06 * high + bob), scale
        )


def _cut_out(picture: Image.Image) -> Layer:
    """A picture without the empty space around it; where it was is told by its corner."""
    alpha = picture.getchannel("A")
    left, top, right, bottom = alpha.getbbox() or (0, 0, *picture.size)
    # A transparent line around it, so that its edge may lie between pixels.
    box = (left - 1, top - 1, right + 1, bottom + 1)
    return Layer(picture.convert("RGB").crop(box), alpha.crop(box), left - 1, top - 1)


def _put(frame: Image.Image, layer: Layer, left: float, top: float, scale: float) -> None:
    lay(frame, layer, left + layer.left * scale, top + layer.top * scale, scale)


def shadow(frame: Image.Image, x: float, y: float, wide: float, colour: Colour) -> None:
    """The shadow of whoever stands there."""
    size = (max(round(wide), 2), max(round(wide * 0.22), 2))
    soft = glow(24, hardness=0.8).resize(size).point([v * 130 // 255 for v in range(256)])
    frame.paste(colour, (round(x - size[0] / 2), round(y - size[1] / 2)), soft)
