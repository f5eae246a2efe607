"""Whoever is seen in a scene: a drawn character that moves, or a picture that somebody gave."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from PIL import Image

from penstock.studio.concept.draft import Draft
from penstock.studio.drawing.canvas import Layer, Point, cut_out, glow, lay
from penstock.studio.drawing.colour import Colour
from penstock.studio.drawing.light import Light, relit
from penstock.studio.drawing.pictures import Given
from penstock.studio.drawing.puppet import HEAD, Puppet, mouth_of
from penstock.studio.faces import Face

_BLINKS = (2.3, 0.14)
"Every so many seconds eyes are closed for so long."
_MARGIN = 2.0


class Actor(Protocol):
    def draw(self, frame: Image.Image, x: float, y: float, scale: float, seconds: float) -> Face | None:
        """Appear with the feet (or whatever it is pinned by) at a point, ``scale`` times as large as planned.

        Where the mouth is afterwards, if there is one.
        """
        ...


@dataclass(slots=True)
class Drawn:
    """A character, pinned to the picture by a point of its drawing."""

    puppet: Puppet
    unit: float
    "Pixels of a unit of the drawing."
    pin: Point
    light: Light
    box: tuple[float, float, float, float]
    "What of the drawing can be seen."
    _layers: dict[tuple[int, bool], Layer] = field(default_factory=dict)

    def draw(self, frame: Image.Image, x: float, y: float, scale: float, seconds: float) -> Face:
        step = int(seconds / self.puppet.cycle % 1 * self.puppet.steps)
        blink = seconds % _BLINKS[0] > _BLINKS[0] - _BLINKS[1]
        unit = self.unit * scale
        left, top = x + (self.box[0] - self.pin[0]) * unit, y + (self.box[1] - self.pin[1]) * unit
        _put(frame, self._layer(step, blink), left, top, scale)
        return self._face(self.puppet.draft(step), x, y, unit)

    def _face(self, draft: Draft, x: float, y: float, unit: float) -> Face:
        mouth = mouth_of(draft)
        there = x + (mouth.x - self.pin[0]) * unit, y + (mouth.y - self.pin[1]) * unit
        return Face(*there, HEAD * mouth.size * unit)

    def _layer(self, step: int, blink: bool) -> Layer:
        found = self._layers.get((step, blink))
        if found is None:
            picture = self.puppet.painted(step, self.unit, self.box, blink=blink)
            found = self._layers[step, blink] = cut_out(relit(picture, self.light, self.puppet.head * self.unit))
        return found


def standing(puppet: Puppet, tall: float, light: Light) -> Drawn:
    """Somebody from head to foot, so many pixels tall at rest."""
    left, top, right, bottom = puppet.rest()
    # Whoever is wider than tall, as a fish, is not made larger for it.
    unit = tall / max(bottom - top, 0.62 * (right - left))
    # Who sits or rides a board has the ground elsewhere than who stands.
    ground = puppet.draft(0).bounds()[3] if puppet.grounded else bottom
    return Drawn(puppet, unit, ((left + right) / 2, ground), light, _around(puppet.bounds()))


def from_near(puppet: Puppet, head: float, light: Light, down: float) -> Drawn:
    """Somebody whose head is so many pixels high, pinned by the mouth; below that ``down`` pixels are seen."""
    unit = head / puppet.head
    left, top, right, bottom = _around(puppet.bounds())
    mouth = puppet.mouth
    return Drawn(
        puppet, unit, (mouth.x, mouth.y), light, (left, top, right, min(bottom, mouth.y + down / unit + _MARGIN))
    )


def _around(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    return left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN


class Shown:
    """A picture that somebody gave: a cut-out acts, by being carried through what it does."""

    def __init__(self, what: Given, tall: float, action: str = "look") -> None:
        picture = what.picture
        by = tall / picture.height
        size = (max(round(picture.width * by), 1), max(round(tall), 1))
        self._picture = picture.resize(size, Image.Resampling.LANCZOS)
        self._layer = cut_out(self._picture)
        self._mouth = what.mouth
        self._action = action

    def draw(self, frame: Image.Image, x: float, y: float, scale: float, seconds: float) -> Face | None:
        sway, hop = _carried(self._action, seconds)
        wide, high = self._picture.width * scale, self._picture.height * scale
        left, top = x - wide / 2 + sway * high, y - high - hop * high
        _put(frame, self._layer, left, top, scale)
        if self._mouth is None:
            return None
        return Face(left + self._mouth.x * wide, top + self._mouth.y * high, self._mouth.head * high)


def _carried(action: str, seconds: float) -> Point:
    """How far a cut-out is to the side and off the ground, in parts of its height."""
    match action:
        case "walk" | "run" | "skate":
            quick = 5.7 if action == "walk" else 9.5
            return 0.014 * math.sin(seconds * quick), 0.03 * abs(math.sin(seconds * quick))
        case "dance":
            return 0.05 * math.sin(seconds * 6.3), 0.05 * abs(math.sin(seconds * 6.3))
        case "jump":
            return 0.0, 0.3 * abs(math.sin(seconds * 2.6))
        case "fly" | "swim":
            return 0.04 * math.sin(seconds * 1.3), 0.35 + 0.06 * math.sin(seconds * 2)
        case "stand":
            return 0.0, 0.0
    return 0.012 * math.sin(seconds * 1.6), 0.008 * (1 + math.sin(seconds * 3.1))


def _put(frame: Image.Image, layer: Layer, left: float, top: float, scale: float) -> None:
    lay(frame, layer, left + layer.left * scale, top + layer.top * scale, scale)


def shadow(frame: Image.Image, x: float, y: float, wide: float, colour: Colour) -> None:
    """The shadow of whoever stands there."""
    size = (max(round(wide), 2), max(round(wide * 0.22), 2))
    soft = glow(24, hardness=0.8).resize(size).point([v * 130 // 255 for v in range(256)])
    frame.paste(colour, (round(x - size[0] / 2), round(y - size[1] / 2)), soft)
