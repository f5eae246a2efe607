"""Layers of a background, drawn or cut from a picture, and the drift of a camera over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from penstock.generation.asset_steps import AssetOrder
from penstock.studio.concept.concept_picture import concept_picture
from penstock.studio.concept.scenery import SceneryLayer, composed

SIZE = (2048, 1152)
_LIKE = 12.0
"How much two pictures of the same place differ at most, in steps of brightness."


@dataclass(frozen=True, slots=True)
class Parallax:
    """A background in layers, the farthest first."""

    layers: list[SceneryLayer]
    tiles: bool
    "Does each go on where it ends?"

    def composed(self) -> Image.Image:
        return composed(self.layers)

    def drift(self, count: int, size: tuple[int, int]) -> Iterator[Image.Image]:
        """A camera that moves along, once around if the layers repeat themselves."""
        small = [
            SceneryLayer(each.name, each.speed, each.picture.resize(size, Image.Resampling.BOX)) for each in self.layers
        ]
        for n in range(count):
            frame = Image.new("RGBA", size)
            for layer in small:
                frame.alpha_composite(self._moved(layer, n / count))
            yield frame.convert("RGB")

    def _moved(self, layer: SceneryLayer, part: float) -> Image.Image:
        wide, high = layer.picture.size
        if self.tiles:
            shift = round(layer.speed * 0.5 * wide * part) % wide
            return Image.fromarray(np.roll(np.asarray(layer.picture), -shift, axis=1))
        spare = 0.04 + 0.08 * layer.speed
        left = wide * spare * part
        box = (left, high * spare / 2, left + wide * (1 - spare), high * (1 - spare / 2))
        return layer.picture.resize((wide, high), Image.Resampling.BILINEAR, box)


def parallax(picture: Image.Image, order: AssetOrder) -> Parallax:
    """Layers of a background: drawn anew if it was drawn here, and cut from the picture if not."""
    again = concept_picture(order, (256, 144))
    one, other = (
        np.asarray(each.convert("RGB").resize((64, 36), Image.Resampling.BOX), dtype=np.float32)
        for each in (picture, again.picture)
    )
    if float(np.abs(one - other).mean()) < _LIKE:
        return Parallax(list(concept_picture(order, SIZE).layers), tiles=True)
    return Parallax(_cut(picture.convert("RGBA").resize(SIZE, Image.Resampling.LANCZOS)), tiles=False)


def _cut(picture: Image.Image) -> list[SceneryLayer]:
    """The whole picture far away, and before it what is low in it, which mostly is near; each along an edge it has."""
    solid = picture.copy()
    solid.putalpha(255)
    layers = [SceneryLayer("far", 0.1, solid)]
    for name, speed, share in (("middle", 0.5, 0.55), ("near", 1.0, 0.78)):
        line = _edge(solid, share)
        rows = np.arange(SIZE[1], dtype=np.float32)[:, None]
        mask = ((rows - line[None, :]) / 3 + 0.5).clip(0, 1)
        layer = solid.copy()
        layer.putalpha(Image.fromarray((mask * 255).astype(np.uint8)))
        layers.append(SceneryLayer(name, speed, layer))
    return layers


def _edge(picture: Image.Image, share: float) -> np.ndarray:
    """A line from left to right near a height, where the picture changes most, not jumping."""
    grey = np.asarray(picture.convert("L").filter(ImageFilter.GaussianBlur(4)), dtype=np.float32)
    change = np.abs(np.gradient(grey, axis=0))
    low, high = round((share - 0.08) * SIZE[1]), round((share + 0.08) * SIZE[1])
    rows = low + change[low:high].argmax(axis=0).astype(np.float32)
    kernel = np.ones(121, dtype=np.float32) / 121
    return np.convolve(np.pad(rows, 60, mode="edge"), kernel, mode="valid")
