"""Cleaning a picture's edge, and making it larger without blurring it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from penstock.studio.concept.regions import regions
from penstock.studio.drawing.canvas import Floats

_LOOKED_AT = 512
"Specks and holes are looked for in a picture no larger than this."
_SPECK, _HOLE = 0.004, 0.0012
"Smaller than these parts of the subject, they go."
_STEEP = 2.6
"How much steeper an edge gets, after the steps in it were smoothed."


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A picture with a clean edge, and what was done to it."""

    picture: Image.Image
    specks: int
    holes: int
    fringe: int
    "Pixels at the edge that had some of their ground's colour."


def cleaned(picture: Image.Image) -> Cleaned:
    """Without specks around it, holes in it, and the colour of what it stood before at its edge."""
    alpha = np.asarray(picture.getchannel("A"), dtype=np.float32)
    alpha = np.where(alpha < 14, 0, np.where(alpha > 241, 255, alpha)).astype(np.float32)
    small = Image.fromarray((alpha > 96).astype(np.uint8) * 255)
    small.thumbnail((_LOOKED_AT, _LOOKED_AT), Image.Resampling.NEAREST)
    solid = np.asarray(small) > 0
    keep, specks = _without_small(solid, _SPECK)
    gaps, holes = _without_small(~keep, _HOLE, whole=float(keep.sum()))
    filled = ~gaps
    if specks:
        alpha *= _enlarged(_grown(keep), picture.size)
    if holes:
        alpha = np.maximum(alpha, 255 * _enlarged(filled & ~keep, picture.size))
    fringe = int(((alpha > 0) & (alpha < 255)).sum())
    return Cleaned(_decontaminated(picture, alpha), specks, holes, fringe)


def _without_small(mask: np.ndarray, share: float, *, whole: float | None = None) -> tuple[np.ndarray, int]:
    """A mask without its small regions, and how many those were."""
    labels, sizes = regions(mask)
    if len(sizes) < 2:
        return mask, 0
    least = share * (whole if whole is not None else float(sizes[1:].max()))
    gone = sizes < least
    gone[0] = False
    kept = mask & ~gone[labels]
    return kept, int(gone.sum())


def _grown(mask: np.ndarray) -> np.ndarray:
    """With the edge, which is softer than what was looked at."""
    grown = Image.fromarray(mask.astype(np.uint8) * 255).filter(ImageFilter.MaxFilter(5))
    return np.asarray(grown) > 0


def _enlarged(mask: np.ndarray, size: tuple[int, int]) -> Floats:
    large = Image.fromarray(mask.astype(np.uint8) * 255).resize(size, Image.Resampling.NEAREST)
    return np.asarray(large, dtype=np.float32) / np.float32(255)


def _decontaminated(picture: Image.Image, alpha: Floats) -> Image.Image:
    """Colours of what is solid are carried over its edge and a little beyond."""
    solid = Image.fromarray(((alpha > 250) * 255).astype(np.uint8))
    colours = picture.convert("RGB")
    carried = Image.composite(colours, Image.new("RGB", picture.size), solid)
    weight = solid
    result = colours
    for radius in (2, 4, 8):
        blurred = np.asarray(carried.filter(ImageFilter.BoxBlur(radius)), dtype=np.float32)
        there = np.asarray(weight.filter(ImageFilter.BoxBlur(radius)), dtype=np.float32) / 255
        spread = Image.fromarray((blurred / np.maximum(there, 1 / 255)[..., None]).clip(0, 255).astype(np.uint8))
        reached = Image.fromarray(((there > 0.01) * 255).astype(np.uint8))
        carried = Image.composite(carried, Image.composite(spread, carried, reached), weight)
        weight = Image.fromarray(np.maximum(np.asarray(weight), np.asarray(reached)))
    result = Image.composite(carried, Image.new("RGB", picture.size), weight)
    result.putalpha(Image.fromarray(alpha.astype(np.uint8)))
    return result


def enlarged(picture: Image.Image, longest: int, *, blocks: bool = False) -> Image.Image:
    """So large on its long side; edges stay crisp, and what is made of blocks stays so."""
    scale = longest / max(picture.size)
    size = (max(round(picture.width * scale), 1), max(round(picture.height * scale), 1))
    if blocks:
        return picture.resize(size, Image.Resampling.NEAREST)
    colours = picture.convert("RGB").resize(size, Image.Resampling.BICUBIC)
    sharp = colours.filter(ImageFilter.UnsharpMask(radius=1.6, percent=70, threshold=2))
    alpha = picture.getchannel("A").resize(size, Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(0.9 * scale))
    steep = [min(max(round((value - 127.5) * _STEEP + 127.5), 0), 255) for value in range(256)]
    sharp.putalpha(alpha.point(steep))
    return sharp
