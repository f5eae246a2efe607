"""Pictures of models, drawn by reckoning alone: textured, lit, smooth at the edges, on a plain ground with a shadow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from penstock.studio.modelling.geometry import welded
from penstock.studio.modelling.material_atlas import decoded
from penstock.studio.modelling.model import Doubles, Floats, Mask, Model, Whole
from penstock.studio.modelling.scan import covered, planes

Pixels = NDArray[np.uint8]

_FINE = 2
"A pixel is drawn as so many by so many."
_FIELD = math.radians(24)
"How much the eye sees from bottom to top: from some way off, as in a portrait."
_ABOVE = math.radians(9)
_MARGIN = 1.1
_FILLED = 0.84
"How much of a picture that is focused on one pose is filled, along its longer side."
_PLAIN = (190, 192, 196)
"The colour of what has no texture."
_KEY, _FILL = np.array([-0.46, 0.62, 0.64]), np.array([0.78, 0.1, 0.62])
_SQUARES = ((np.arange(256) / 255) ** 2).astype(np.float32)
"Light adds up as squares of what is stored, nearly."
_LARGEST = 2048
"Texels along a texture that is drawn larger than it is."
_SKY, _FLOOR = np.array([233.0, 237.0, 243.0]), np.array([186.0, 193.0, 204.0])


@dataclass(frozen=True, slots=True)
class Framing:
    """What the eye looks at, and how far around it everything is seen."""

    middle: Doubles
    around: float
    "From the axis, sideways."
    height: float


def framing(positions: list[Floats]) -> Framing:
    """What all of these fit into, however they are turned around the vertical axis."""
    low = np.min([p.min(axis=0) for p in positions], axis=0).astype(np.float64)
    high = np.max([p.max(axis=0) for p in positions], axis=0).astype(np.float64)
    middle = (low + high) / 2
    around = max(float(np.hypot(p[:, 0] - middle[0], p[:, 2] - middle[2]).max()) for p in positions)
    return Framing(middle, max(around, 1e-6), max(float(high[1] - low[1]), 1e-6))


class Rasteriser:
    """Draws one model from all sides, in squares of one size."""

    def __init__(self, model: Model, *, size: int, view: Framing) -> None:
        self._faces = model.faces.astype(np.int64)
        self._uv = model.uv.astype(np.float32)
        self._closed = _closed(model)
        self._size, self._view = size, view
        self._large = size * _FINE
        self._texture = _Texture(model.texture)
        self._ground = _ground(size)
        half = math.tan(_FIELD / 2)
        # Far enough for the height and for the width, both as they are nearest to the eye.
        tall = view.height / 2 * math.cos(_ABOVE) + view.around * math.sin(_ABOVE)
        self._distance = max(tall, view.around) * _MARGIN / half + view.around
        self._scale, self._offset = self._large / 2 / half, np.zeros(2)

    def focus(self, positions: Floats, *, yaw: float) -> None:
        """Come as near as it takes for this to fill the picture, seen from this side."""
        self._scale, self._offset = self._large / 2, np.zeros(2)
        screen, _ = self._seen((positions.astype(np.float64) - self._view.middle) @ _turned(yaw).T @ _tilted().T)
        low, high = screen.min(axis=0), screen.max(axis=0)
        zoom = self._large * _FILLED / max(float((high - low).max()), 1e-6)
        self._scale *= zoom
        self._offset = -((low + high) / 2 - self._large / 2) * zoom

    def frame(self, positions: Floats, normals: Floats, *, yaw: float = 0.0) -> Pixels:
        """A picture, (size, size, 3), of the model turned to its left by an angle in radians."""
        turned, eye = _turned(yaw), _tilted()
        around = (positions.astype(np.float64) - self._view.middle) @ turned.T
        screen, near = self._seen(around @ eye.T)
        shown = self._drawn(screen, near, normals.astype(np.float64) @ turned.T @ eye.T)
        ground = self._ground * (1 - self._shadow(around, eye))[..., None]
        # The fourth part says how far the model covers a pixel.
        drawn = shown[..., :3] + ground * (1 - shown[..., 3:] / np.float32(255))
        return np.clip(drawn + np.float32(0.5), 0, 255).astype(np.uint8)

    def _seen(self, points: Doubles) -> tuple[Doubles, Doubles]:
        """Where points are in the picture, and how near: 1 over the distance."""
        near = 1 / np.maximum(self._distance - points[:, 2], 1e-3)
        x = self._large / 2 + points[:, 0] * near * self._scale + self._offset[0]
        y = self._large / 2 - points[:, 1] * near * self._scale + self._offset[1]
        return np.stack([x, y], axis=1), near

    def _drawn(self, screen: Doubles, near: Doubles, normals: Doubles) -> Pixels:
        """The colour of each pixel as far as the model covers it, and how far that is."""
        corners = screen[self._faces]
        (ax, ay), (bx, by), (cx, cy) = (corners[:, n].T for n in range(3))
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        # Rows go down, so that what faces the eye goes round the other way.
        kept = np.flatnonzero(area < -1e-9 if self._closed else np.abs(area) > 1e-9)
        corners, faces = corners[kept], self._faces[kept]
        triangle, place, depth = self._foremost(corners, near[faces])
        x, y = ((place % self._large) + 0.5).astype(np.float32), ((place // self._large) + 0.5).astype(np.float32)

        def across(values: NDArray[Any]) -> Floats:
            """What values at the corners are at the pixels; far away, things change faster from pixel to pixel."""
            plane = planes(corners, (values * near)[faces])[triangle]
            return np.asarray(plane[:, 0] * x + plane[:, 1] * y + plane[:, 2])

        level = self._level(kept, area[kept])
        colour = self._texture.at(across(self._uv[:, 0]) / depth, across(self._uv[:, 1]) / depth, level)
        normal = np.stack([across(normals[:, n]) for n in range(3)])
        normal /= np.maximum(np.sqrt((normal**2).sum(axis=0)), 1e-12)
        if not self._closed:
            normal *= np.where(normal[2] < 0, -1, 1)
        return self._averaged(place, _lit(colour, normal))

    def _foremost(self, corners: Doubles, near: Doubles) -> tuple[Whole, Whole, Floats]:
        """The triangle that is in front at each pixel that has one, that pixel, and how near it is."""
        pixels = covered(corners, self._large, self._large)
        plane = planes(corners, near)[pixels.triangles]
        x, y = (pixels.x + 0.5).astype(np.float32), (pixels.y + 0.5).astype(np.float32)
        depth = plane[:, 0] * x + plane[:, 1] * y + plane[:, 2]
        place = pixels.y * self._large + pixels.x
        front = np.zeros(self._large**2, dtype=np.float32)
        np.maximum.at(front, place, depth)
        first = np.flatnonzero(depth == front[place])
        winner = np.full(self._large**2, -1, dtype=np.int64)
        winner[place[first]] = pixels.triangles[first]
        where = np.flatnonzero(winner >= 0)
        return winner[where], where, np.maximum(front[where], np.float32(1e-9))

    def _level(self, kept: Whole, area: Doubles) -> int:
        """How often the texture is halved, or doubled if below 0, so that a texel is about as large as a pixel."""
        a, b, c = (self._uv[self._faces[kept, n]] for n in range(3))
        flat = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (c - a)[:, 0] * (b - a)[:, 1]) * self._texture.texels
        ratio = math.sqrt(float(flat.sum()) / max(float(np.abs(area).sum()), 1e-9))
        return round(math.log2(max(ratio, 1e-6)))

    def _averaged(self, place: Whole, colour: Pixels) -> Pixels:
        """Fine pixels as those of the picture, with a fourth part that says how much is covered."""
        fine = np.zeros((self._large**2, 4), dtype=np.uint8)
        fine[place, :3] = colour
        fine[place, 3] = 255
        picture = Image.frombytes("RGBX", (self._large, self._large), fine.tobytes())
        return np.asarray(picture.reduce(_FINE))

    def _shadow(self, around: Doubles, eye: Doubles) -> Floats:
        """How dark the ground is: what stands over it, seen from straight above, without sharp edges."""
        small = self._size // 2
        fallen = around.copy()
        fallen[:, 1] = -self._view.height / 2
        # What is high up throws less of a shadow, and a wider one: it is left out.
        low = (around[:, 1] < -self._view.height * 0.3)[self._faces].any(axis=1)
        screen, _ = self._seen(fallen @ eye.T)
        pixels = covered(screen[self._faces[low]] * (small / self._large), small, small)
        dark = np.zeros((small, small), dtype=np.uint8)
        dark[pixels.y, pixels.x] = 150
        soft = Image.fromarray(dark).filter(ImageFilter.GaussianBlur(small / 36))
        shade = np.asarray(soft.resize((self._size, self._size), Image.Resampling.BILINEAR))
        return (shade / np.float32(255) * np.float32(0.75)).astype(np.float32)


class _Texture:
    """A picture and smaller copies of it, or larger ones, so that a texel need not be looked at closely."""

    def __init__(self, content: bytes | None) -> None:
        if content is None:
            self._picture = Image.new("RGB", (2, 2), _PLAIN)
        else:
            self._picture = decoded(content)
        self._levels: dict[int, Pixels] = {}

    @property
    def texels(self) -> int:
        return self._picture.width * self._picture.height

    def at(self, u: Floats, v: Floats, level: int) -> Pixels:
        """The colour at each coordinate."""
        texels = self._copy(level)
        height, width = texels.shape[:2]
        x = np.clip(u * width, 0, width - 1).astype(np.int64)
        y = np.clip(v * height, 0, height - 1).astype(np.int64)
        return np.asarray(np.take(texels.reshape(-1, 3), y * width + x, axis=0))

    def _copy(self, level: int) -> Pixels:
        largest = math.floor(math.log2(_LARGEST / max(self._picture.size)))
        level = int(np.clip(level, -max(largest, 0), 6))
        if level not in self._levels:
            picture = self._picture.reduce(2**level) if level > 0 else self._picture
            if level < 0:
                picture = picture.resize((picture.width << -level, picture.height << -level), Image.Resampling.BICUBIC)
            self._levels[level] = np.ascontiguousarray(picture)
        return self._levels[level]


def _lit(colour: Pixels, normal: Floats) -> Pixels:
    """Colours in the light of a large lamp from the left, a small one from the right, and the sky."""
    key, fill = (np.asarray(lamp / np.linalg.norm(lamp), dtype=np.float32) for lamp in (_KEY, _FILL))
    light = 0.5 + 0.14 * normal[1]
    light += 0.58 * np.maximum(key @ normal, 0) + 0.12 * np.maximum(fill @ normal, 0)
    edge = 0.05 * (1 - np.clip(normal[2], 0, 1)) ** 3 * np.maximum(normal[1] + 0.3, 0)
    linear = _SQUARES[colour] * light[:, None] + edge[:, None]
    return np.asarray(np.sqrt(np.clip(linear, 0, 1)) * 255, dtype=np.uint8)


def _turned(yaw: float) -> Doubles:
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def _tilted() -> Doubles:
    """Seen from a little above."""
    c, s = math.cos(_ABOVE), math.sin(_ABOVE)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def _ground(size: int) -> Floats:
    """Light behind, darker towards the corners and the front."""
    y, x = np.mgrid[0:size, 0:size] / (size - 1)
    down = np.clip((y - 0.1) / 0.9, 0, 1)[..., None] ** 1.3
    away = ((x - 0.5) ** 2 + (y - 0.5) ** 2)[..., None]
    return np.asarray((_SKY * (1 - down) + _FLOOR * down) * (1 - 0.22 * away), dtype=np.float32)


def _closed(model: Model) -> bool:
    """Is the surface without a border, so that nobody ever sees its inside?"""
    faces = welded(model.positions)[model.faces.astype(np.int64)]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    count = int(faces.max()) + 1
    forth, back = edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]
    missing: Mask = ~np.isin(forth, back)
    return not missing.any()
