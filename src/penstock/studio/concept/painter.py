"""How a draft gets onto a picture: each shape with its outline, a shadow, a light and what its material looks like."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from penstock.studio.concept.contours import Points
from penstock.studio.concept.draft import Draft, Outline
from penstock.studio.drawing.canvas import Point
from penstock.studio.drawing.colour import INK, Colour, darker, lighter, mix

_FINE = 2
"Drawn so many times larger than it is to be seen."
_MARGIN = 0.06
"Empty on each side, as a part of the picture."
_LIGHT = np.array([-0.55, -0.83])
"Where the light comes from."


@dataclass(frozen=True, slots=True)
class Finish:
    """How a drawing is painted, whatever it shows."""

    outline: float = 0.5
    "From none at 0 to very thick at 1."
    shade: float = 1.0
    soft: float = 0.3
    "From shadows that are cut to such that fade."
    facets: bool = False
    "Of flat pieces, like a model with few of them."
    line_colour: Colour | None = None
    tint: Callable[[Colour], Colour] | None = None
    "What becomes of every colour."
    textures: Mapping[str, str] = field(default_factory=dict)
    "Grain, spots, gloss or facets, by ink."


@dataclass(frozen=True, slots=True)
class Fit:
    """Where the units of a draft are on a picture."""

    scale: float
    left: float
    top: float

    def __call__(self, points: Points) -> Points:
        return points * self.scale + (self.left, self.top)


def fitted(draft: Draft, size: tuple[int, int], *, margin: float = _MARGIN) -> Fit:
    """The whole draft in the middle of a picture."""
    left, top, right, bottom = draft.bounds()
    room = [side * (1 - 2 * margin) for side in size]
    scale = min(room[0] / max(right - left, 1e-6), room[1] / max(bottom - top, 1e-6))
    return Fit(scale, size[0] / 2 - scale * (left + right) / 2, size[1] / 2 - scale * (top + bottom) / 2)


def painted(
    draft: Draft, size: tuple[int, int], finish: Finish, fit: Fit | None = None, *, fine: int = _FINE
) -> Image.Image:
    """A picture of a draft on a transparent ground."""
    fit = fit or fitted(draft, size)
    large = Fit(fit.scale * fine, fit.left * fine, fit.top * fine)
    picture = Image.new("RGBA", (size[0] * fine, size[1] * fine), (0, 0, 0, 0))
    painter = _Painter(picture, draft, finish, large)
    for shape in draft.ordered():
        painter.paint(shape)
    return picture.reduce(fine) if fine > 1 else picture


class _Painter:
    def __init__(self, picture: Image.Image, draft: Draft, finish: Finish, fit: Fit) -> None:
        self._picture, self._draft, self._finish, self._fit = picture, draft, finish, fit
        self._draw = ImageDraw.Draw(picture)
        self._line = finish.outline * 0.0125 * min(picture.size)

    def paint(self, shape: Outline) -> None:
        points = self._fit(shape.points)
        colour = self._tinted(self._draft.colour(shape.ink))
        texture = self._finish.textures.get(shape.ink.rstrip("+-"), "")
        if self._finish.facets and len(points) > 12:
            points = points[:: max(len(points) // 11, 1)]
        if shape.lined and self._line >= 1:
            self._outlined(points, colour)
        if (self._finish.facets or texture == "facets") and shape.shaded:
            self._faceted(points, colour)
            return
        self._filled(points, colour, shape.shaded * self._finish.shade, texture if shape.shaded else "")

    def _tinted(self, colour: Colour) -> Colour:
        return self._finish.tint(colour) if self._finish.tint else colour

    def _outlined(self, points: Points, colour: Colour) -> None:
        line = self._finish.line_colour or mix(darker(colour, 0.62), INK, 0.45)
        there = _listed(points)
        # Beyond the first point again, so that the last corner is as round as the others.
        self._draw.line([*there, *there[:2]], fill=(*line, 255), width=round(2 * self._line), joint="curve")

    def _filled(self, points: Points, colour: Colour, shade: float, texture: str) -> None:
        low, high = np.floor(points.min(axis=0)) - 2, np.ceil(points.max(axis=0)) + 3
        size = (high - low).astype(int)
        self._draw.polygon(_listed(points), fill=(*colour, 255))
        if shade <= 0 or size.max() > 2 * max(self._picture.size):
            return
        box = (int(low[0]), int(low[1]))
        mask = Image.new("L", (int(size[0]), int(size[1])), 0)
        ImageDraw.Draw(mask).polygon(_listed(points - low), fill=255)
        # A large thing has no thicker a rim of light than its parts.
        deep = min(0.16 * float(min(size)), 0.045 * min(self._picture.size))
        shadow = self._crescent(mask, -0.62 * deep, -deep)
        self._picture.paste((*_shadowed(colour, 0.3 * shade), 255), box, shadow)
        light = self._crescent(mask, 0.4 * deep, 0.62 * deep)
        self._picture.paste((*lighter(colour, 0.26 * shade), 255), box, light)
        if texture:
            veil = _TEXTURES[texture](mask, points - low, _seeded(points))
            tone = lighter(colour, 0.5) if texture == "gloss" else darker(colour, 0.28)
            self._picture.paste((*tone, 255), box, ImageChops.multiply(veil, mask))

    def _crescent(self, mask: Image.Image, dx: float, dy: float) -> Image.Image:
        """What a shape keeps of itself when it is moved away from under itself."""
        moved = Image.new("L", mask.size, 0)
        moved.paste(mask, (round(dx), round(dy)))
        soft = self._finish.soft * abs(dy)
        left = ImageChops.subtract(mask, moved)
        if soft < 1:
            return left
        return ImageChops.multiply(left.filter(ImageFilter.BoxBlur(soft)), mask)

    def _faceted(self, points: Points, colour: Colour) -> None:
        """Triangles around the middle, each lit by where it looks."""
        if len(points) > 12:
            points = points[:: max(len(points) // 10, 1)]
        middle = points.mean(axis=0)
        after = np.roll(points, -1, axis=0)
        for one, other in zip(points, after, strict=True):
            away = (one + other) / 2 - middle
            facing = float(away @ _LIGHT / max(float(np.linalg.norm(away)), 1e-9))
            tone = lighter(colour, 0.36 * facing) if facing > 0 else _shadowed(colour, -0.4 * facing)
            self._draw.polygon(_listed(np.array([middle, one, other])), fill=(*tone, 255))


def _shadowed(colour: Colour, share: float) -> Colour:
    """Darker, and a little towards the blue of the sky."""
    return mix(darker(colour, share), (44, 36, 92), share * 0.35)


def _listed(points: Points) -> list[Point]:
    return [(float(x), float(y)) for x, y in points]


def _seeded(points: Points) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(np.round(points).astype(np.int32).tobytes()))


def _grain(mask: Image.Image, points: Points, rng: np.random.Generator) -> Image.Image:
    """Lines along the longer side."""
    veil = Image.new("L", mask.size, 0)
    draw = ImageDraw.Draw(veil)
    wide, high = mask.size
    along = 0 if wide >= high else 1
    step = max(min(wide, high) / 5, 5)
    at = step * 0.6
    while at < (high, wide)[along]:
        lines = np.linspace(0, (wide, high)[along], 9)
        wave = at + np.cumsum(rng.normal(0, step * 0.1, 9))
        there = [(float(a), float(w)) if along == 0 else (float(w), float(a)) for a, w in zip(lines, wave, strict=True)]
        draw.line(there, fill=150, width=max(round(step * 0.1), 1))
        at += step * float(rng.uniform(0.7, 1.3))
    return veil


def _spots(mask: Image.Image, points: Points, rng: np.random.Generator) -> Image.Image:
    veil = Image.new("L", mask.size, 0)
    draw = ImageDraw.Draw(veil)
    wide, high = mask.size
    for _ in range(14):
        x, y, r = rng.uniform(0, wide), rng.uniform(0, high), float(rng.uniform(0.02, 0.08)) * min(wide, high)
        draw.ellipse((x - 1.4 * r, y - r, x + 1.4 * r, y + r), fill=170)
    return veil


def _gloss(mask: Image.Image, points: Points, rng: np.random.Generator) -> Image.Image:
    """A bright band across, from the left above."""
    veil = Image.new("L", mask.size, 0)
    draw = ImageDraw.Draw(veil)
    wide, high = mask.size
    for at, thick in ((0.3, 0.1), (0.46, 0.035)):
        x = at * (wide + high)
        draw.polygon(
            [(x, 0), (x + thick * (wide + high), 0), (x + thick * (wide + high) - high, high), (x - high, high)],
            fill=200,
        )
    return veil


_TEXTURES: Mapping[str, Callable[[Image.Image, Points, np.random.Generator], Image.Image]] = {
    "grain": _grain,
    "spots": _spots,
    "gloss": _gloss,
}
