"""How anything gets onto a frame: pictures with a mask, shapes with smooth edges, soft noise and gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from penstock.studio.drawing.colour import Colour

Floats = NDArray[np.float32]
Point = tuple[float, float]

_BILINEAR = Image.Resampling.BILINEAR
_NEAREST = Image.Resampling.NEAREST


@dataclass(frozen=True, slots=True)
class Layer:
    """A picture somewhere in the world: flat colour or painted, behind a mask or not."""

    paint: Image.Image | Colour
    mask: Image.Image | None
    left: float = 0.0
    top: float = 0.0
    soft: bool = False
    "Nothing in it is sharp, so that it may move in whole pixels."


def lay(frame: Image.Image, layer: Layer, left: float, top: float, scale: float) -> None:
    """Put a layer on a frame so that its corner is there, exact to parts of a pixel."""
    source = layer.mask if layer.mask is not None else layer.paint
    assert isinstance(source, Image.Image)
    if scale == 1:
        # Sideways only: whole rows are kept as they are, which takes half the time.
        top = round(top)
    x0, y0 = max(math.ceil(left), 0), max(math.ceil(top), 0)
    x1 = min(math.floor(left + source.width * scale), frame.width)
    y1 = min(math.floor(top + source.height * scale), frame.height)
    if x1 <= x0 or y1 <= y0:
        return
    size = (x1 - x0, y1 - y0)
    box = (
        max((x0 - left) / scale, 0.0),
        max((y0 - top) / scale, 0.0),
        min((x1 - left) / scale, source.width),
        min((y1 - top) / scale, source.height),
    )
    how = _NEAREST if layer.soft else _BILINEAR
    paint = _part(layer.paint, size, box, how) if isinstance(layer.paint, Image.Image) else layer.paint
    if layer.mask is not None:
        frame.paste(paint, (x0, y0, x1, y1), _part(layer.mask, size, box, how))
    elif isinstance(paint, Image.Image) and paint.mode == "RGBA":
        frame.paste(paint, (x0, y0), paint)
    else:
        frame.paste(paint, (x0, y0, x1, y1))


def _part(
    picture: Image.Image, size: tuple[int, int], box: tuple[float, float, float, float], how: Image.Resampling
) -> Image.Image:
    """A part of a picture in another size."""
    left, top, right, bottom = box
    if top == int(top) and bottom - top == size[1]:
        # Pillow leaves rows alone if it is given exactly those it is to make.
        first, last = math.floor(left), math.ceil(right)
        rows = picture.crop((first, int(top), last, int(bottom)))
        return rows.resize(size, how, (left - first, 0, right - first, size[1]))
    return picture.resize(size, how, box)


class Sketch:
    """A drawing in units of its own, with smooth edges: drawn larger than it is to be seen."""

    def __init__(self, width: float, height: float, unit: float, *, fine: int = 3) -> None:
        """``width`` and ``height`` are in units, ``unit`` is in pixels; the origin is in the middle."""
        self.size = (max(round(width * unit), 1), max(round(height * unit), 1))
        self._by = unit * fine
        self._middle = (width / 2, height / 2)
        self.picture = Image.new("RGBA", (self.size[0] * fine, self.size[1] * fine), (0, 0, 0, 0))
        self._draw = ImageDraw.Draw(self.picture)

    def _at(self, x: float, y: float) -> Point:
        return (x + self._middle[0]) * self._by, (y + self._middle[1]) * self._by

    def oval(self, x: float, y: float, rx: float, ry: float, colour: Colour) -> None:
        self._draw.ellipse((*self._at(x - rx, y - ry), *self._at(x + rx, y + ry)), fill=colour)

    def arc(self, x: float, y: float, r: float, start: float, stop: float, colour: Colour, width: float) -> None:
        box = (*self._at(x - r, y - r), *self._at(x + r, y + r))
        self._draw.arc(box, start, stop, fill=colour, width=max(round(width * self._by), 1))

    def pie(self, x: float, y: float, rx: float, ry: float, start: float, stop: float, colour: Colour) -> None:
        self._draw.pieslice((*self._at(x - rx, y - ry), *self._at(x + rx, y + ry)), start, stop, fill=colour)

    def block(self, x: float, y: float, rx: float, ry: float, round_by: float, colour: Colour) -> None:
        box = (*self._at(x - rx, y - ry), *self._at(x + rx, y + ry))
        self._draw.rounded_rectangle(box, round_by * self._by, fill=colour)

    def shape(self, points: Sequence[Point], colour: Colour) -> None:
        self._draw.polygon([self._at(*point) for point in points], fill=colour)

    def limb(self, points: Sequence[Point], thickness: float, colour: Colour) -> None:
        """A thick line that is round at its ends and joints."""
        there = [self._at(*point) for point in points]
        wide = thickness * self._by
        self._draw.line(there, fill=colour, width=max(round(wide), 1))
        for x, y in there:
            self._draw.ellipse((x - wide / 2, y - wide / 2, x + wide / 2, y + wide / 2), fill=colour)

    def shade(self, colour: Colour, share: float, *, sideways: float = 0.35) -> None:
        """Darken towards the bottom and away from the light, which comes from the left above."""
        small = self.size
        down = np.linspace(0, 1, small[1], dtype=np.float32)[:, None] * (1 - sideways)
        across = np.linspace(0, 1, small[0], dtype=np.float32)[None, :] * sideways
        veil = Image.fromarray(((down + across) * share * 255).astype(np.uint8)).resize(self.picture.size, _BILINEAR)
        alpha = self.picture.getchannel("A")
        self.picture.paste(colour, (0, 0), veil)
        self.picture.putalpha(alpha)

    def done(self) -> Image.Image:
        """The drawing, as large as it is to be seen."""
        return self.picture.resize(self.size, Image.Resampling.BOX)


def cut_out(picture: Image.Image) -> Layer:
    """A picture without the empty space around it; where it was is told by its corner."""
    alpha = picture.getchannel("A")
    left, top, right, bottom = alpha.getbbox() or (0, 0, *picture.size)
    # A transparent line around it, so that its edge may lie between pixels.
    box = (left - 1, top - 1, right + 1, bottom + 1)
    return Layer(picture.convert("RGB").crop(box), alpha.crop(box), left - 1, top - 1)


def gradient(width: int, height: int, stops: Sequence[tuple[float, Colour]]) -> Image.Image:
    """Colours from top to bottom; slightly uneven, so that no bands show."""
    where = np.linspace(0, 1, height)
    at, colours = [s for s, _ in stops], np.array([c for _, c in stops], dtype=np.float32)
    rows = np.stack([np.interp(where, at, colours[:, n]) for n in range(3)], axis=1).astype(np.float32)
    uneven = np.random.default_rng(0).random((height, width, 1), dtype=np.float32)
    return Image.fromarray((rows[:, None, :] + uneven).clip(0, 255).astype(np.uint8))


def noise(rng: np.random.Generator, width: int, height: int, cell: float, *, octaves: int = 4) -> Floats:
    """Soft noise between 0 and 1, with features about as large as ``cell`` pixels."""
    total = np.zeros((height, width), dtype=np.float32)
    weight = 1.0
    whole = 0.0
    for _ in range(octaves):
        small = (max(round(width / cell), 1) + 3, max(round(height / cell), 1) + 3)
        values = Image.fromarray(rng.random((small[1], small[0]), dtype=np.float32))
        total += weight * np.asarray(values.resize((width, height), Image.Resampling.BICUBIC))
        whole += weight
        weight, cell = weight / 2, max(cell / 2, 1.0)
    total /= whole
    low, high = float(total.min()), float(total.max())
    return ((total - low) / max(high - low, 1e-6)).astype(np.float32)


def mask_of(values: Floats) -> Image.Image:
    """A mask of values between 0 and 1."""
    return Image.fromarray((values.clip(0, 1) * 255).astype(np.uint8))


def glow(radius: int, *, hardness: float = 2.0) -> Image.Image:
    """A mask that fades out from its middle."""
    there = np.linspace(-1, 1, 2 * radius + 1, dtype=np.float32)
    away = np.sqrt(there[:, None] ** 2 + there[None, :] ** 2)
    return mask_of(((1 - away).clip(0, 1) ** hardness).astype(np.float32))
