"""Pictures that are modelled in tests, whoever waits for it, and what a mesh looks like from the front."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from penstock.generation.asset_steps import AssetOrder
from penstock.studio.modelling.model import Model

SIZE = 512
RED, BLUE, SKIN = (200, 40, 40, 255), (40, 70, 190, 255), (240, 200, 170, 255)


class Quiet:
    """A reporter that hears everything, and says nothing."""

    def __init__(self) -> None:
        self.heard: list[float] = []

    def progress(self, fraction: float, note: str | None = None) -> None:
        self.heard.append(fraction)

    def remember(self, job: str) -> None:
        raise AssertionError("nothing is begun elsewhere")


def order(concept: str = "a thing", kind: str = "prop", **more: Any) -> AssetOrder:
    return AssetOrder(kind=kind, concept=concept, **more)


def empty(size: tuple[int, int] = (SIZE, SIZE)) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    picture = Image.new("RGBA", size, (0, 0, 0, 0))
    return picture, ImageDraw.Draw(picture)


def disc() -> Image.Image:
    picture, pen = empty()
    pen.ellipse((56, 56, 456, 456), fill=RED)
    return picture


def ring() -> Image.Image:
    picture = disc()
    ImageDraw.Draw(picture).ellipse((176, 176, 336, 336), fill=(0, 0, 0, 0))
    return picture


def thin_cross() -> Image.Image:
    picture, pen = empty()
    pen.rectangle((253, 20, 258, 491), fill=RED)
    pen.rectangle((20, 253, 491, 258), fill=BLUE)
    return picture


def two_islands() -> Image.Image:
    picture, pen = empty()
    pen.ellipse((30, 150, 230, 350), fill=RED)
    pen.ellipse((300, 180, 480, 360), fill=BLUE)
    pen.point((8, 8), fill=BLUE)
    return picture


def hairline() -> Image.Image:
    picture, pen = empty()
    pen.line((10, 10, 500, 380), fill=RED, width=1)
    return picture


def figure() -> Image.Image:
    """Somebody who stands with limbs apart, and has a face."""
    picture, pen = empty((SIZE, 768))
    pen.line((200, 300, 60, 430), fill=BLUE, width=36)
    pen.line((312, 300, 452, 430), fill=BLUE, width=36)
    pen.line((225, 480, 190, 740), fill=RED, width=44)
    pen.line((287, 480, 322, 740), fill=RED, width=44)
    pen.rounded_rectangle((170, 250, 342, 510), 50, fill=BLUE)
    pen.ellipse((160, 40, 352, 270), fill=SKIN)
    for x in (215, 297):
        pen.ellipse((x - 16, 130, x + 16, 165), fill=(10, 10, 10, 255))
    return picture


def blob(seed: int) -> Image.Image:
    """Anything: some random ellipses and strokes, with random holes."""
    chance = np.random.default_rng(seed)
    picture, pen = empty((int(chance.integers(40, 400)), int(chance.integers(40, 400))))
    wide, high = picture.size
    for _ in range(int(chance.integers(1, 9))):
        x, y, right, down = (chance.random(4) * [wide, high, wide, high]).tolist()
        colour = (*chance.integers(0, 256, 3).tolist(), 255 if chance.random() < 0.8 else 0)
        if chance.random() < 0.6:
            pen.ellipse((min(x, right), min(y, down), max(x, right), max(y, down)), fill=colour)
        else:
            pen.line((x, y, right, down), fill=colour, width=int(chance.integers(1, 20)))
    pen.ellipse((wide * 0.4, high * 0.4, wide * 0.6, high * 0.6), fill=RED)
    pen.rectangle((0, 0, wide - 1, high - 1), outline=(0, 0, 0, 0))
    return picture


def saved(picture: Image.Image, path: Path) -> Path:
    picture.save(path)
    return path


def texels(model: Model) -> NDArray[np.uint8]:
    assert model.texture is not None
    with Image.open(BytesIO(model.texture)) as picture:
        return np.asarray(picture.convert("RGB"))


def seen(model: Model, size: int = 128, *, behind: bool = False) -> NDArray[np.uint8]:
    """What is seen from the front, or from behind, as RGBA: as large as fits, without any perspective or light."""
    points = model.positions.astype(np.float64) * ([-1, 1, -1] if behind else [1, 1, 1])
    low, high = points.min(axis=0), points.max(axis=0)
    scale = size / float((high - low)[:2].max())
    x, y, z = (points[:, 0] - low[0]) * scale, (high[1] - points[:, 1]) * scale, points[:, 2]
    picture, depth = texels(model), np.full((size, size), -np.inf)
    shown = np.zeros((size, size, 4), dtype=np.uint8)
    for face, area in _showing(model.faces.astype(np.int64), x, y):
        fx, fy = x[face], y[face]
        x0, x1 = max(int(fx.min()), 0), min(int(fx.max()) + 1, size)
        y0, y1 = max(int(fy.min()), 0), min(int(fy.max()) + 1, size)
        px, py = np.meshgrid(np.arange(x0, x1) + 0.5, np.arange(y0, y1) + 0.5)
        b = ((px - fx[0]) * (fy[2] - fy[0]) - (fx[2] - fx[0]) * (py - fy[0])) / area
        c = ((fx[1] - fx[0]) * (py - fy[0]) - (px - fx[0]) * (fy[1] - fy[0])) / area
        parts = np.stack([1 - b - c, b, c], axis=-1)
        height = parts @ z[face]
        near = (parts >= -1e-9).all(axis=-1) & (height > depth[y0:y1, x0:x1])
        uv = parts @ model.uv[face].astype(np.float64) * [picture.shape[1], picture.shape[0]]
        texel = np.clip(uv.astype(int), 0, [picture.shape[1] - 1, picture.shape[0] - 1])
        shown[y0:y1, x0:x1][near, :3] = picture[texel[near, 1], texel[near, 0]]
        shown[y0:y1, x0:x1][near, 3] = 255
        depth[y0:y1, x0:x1][near] = height[near]
    return shown


def _showing(faces: Any, x: Any, y: Any) -> Iterator[tuple[Any, float]]:
    """The faces, each with its area, that look this way and may cover the middle of a pixel: most are too small."""
    fx, fy = x[faces], y[faces]
    area = (fx[:, 1] - fx[:, 0]) * (fy[:, 2] - fy[:, 0]) - (fx[:, 2] - fx[:, 0]) * (fy[:, 1] - fy[:, 0])
    covers = [np.ceil(f.min(axis=1) - 0.5 - 1e-6) <= np.floor(f.max(axis=1) - 0.5 + 1e-6) for f in (fx, fy)]
    shows = (area < -1e-12) & covers[0] & covers[1]
    yield from zip(faces[shows], area[shows].tolist(), strict=True)


def fitted(picture: Image.Image, size: int = 128) -> NDArray[np.uint8]:
    """A picture as `seen` would show it: without the empty space around it, as large as fits."""
    box = picture.getchannel("A").point([255 if a >= 128 else 0 for a in range(256)]).getbbox()
    assert box is not None
    cut = picture.crop(box)
    scale = size / max(cut.size)
    small = cut.resize((max(1, round(cut.width * scale)), max(1, round(cut.height * scale))), Image.Resampling.BOX)
    shown = np.zeros((size, size, 4), dtype=np.uint8)
    shown[: small.height, : small.width] = np.asarray(small)
    return shown


def overlap(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """How much two silhouettes have in common, of all that either has."""
    a, b = one[..., 3] >= 128, other[..., 3] >= 128
    return float((a & b).sum() / (a | b).sum())
