"""The subject of a picture: what is there, and what is only around it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from penstock.errors import InvalidValue
from penstock.media.image import memory_of, opened
from penstock.media.room import room
from penstock.studio.modelling.model import Mask
from penstock.studio.modelling.morphology import grown, numbered, shrunk

_MOST_PIXELS = 64_000_000
_SMALLEST = 4
_LARGEST = 2048
"Pictures are made no larger than this, in pixels."
_LOOKED_AT = 384
"So large is a picture when its ground is looked for."
_SEEN = 128
"Alpha from which a pixel is there."
_LEAST = 0.0002
"The part of a picture that a subject has at least."
_WHOLE = 0.985
"What has more of a picture than this has no ground around it."
_APART = 26.0
"Colours that differ by more are not the same ground."
_GROUND = 0.82
"The part of the border that must be ground."


@dataclass(frozen=True, slots=True)
class CutOut:
    """A subject, cut out."""

    colours: NDArray[np.uint8]
    "(rows, columns, 3)"
    there: Mask
    "(rows, columns): the pixels that are its own. It does not reach the frame."
    cut: bool
    "It was found by the colours of its ground, for the picture has no alpha."


def silhouette(path: Path) -> CutOut:
    """The subject of a picture, without the empty space around it; InvalidValue if there is none to be told."""
    picture = _read(path)
    pixels = np.asarray(picture)
    there = pixels[..., 3] >= _SEEN
    share = float(there.mean())
    if share < _LEAST:
        raise InvalidValue("the picture is empty: nothing in it is opaque; send one that shows its subject")
    cut = share > _WHOLE
    if cut:
        there = _found(picture)
    rows, columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    around = ((1, 1), (1, 1))
    return CutOut(np.pad(pixels[box][..., :3], (*around, (0, 0)), "edge"), np.pad(there[box], around), cut)


def _read(path: Path) -> Image.Image:
    """The picture upright, with alpha, no larger than it is looked at."""
    with room().taken(2 * memory_of(path)), opened(path, pixels=_MOST_PIXELS) as image:
        size = image.size
        picture: Image.Image = ImageOps.exif_transpose(image).convert("RGBA")
        picture.thumbnail((_LARGEST, _LARGEST), Image.Resampling.BOX)
    if min(size) < _SMALLEST:
        raise InvalidValue(
            f"the picture has {size[0]}x{size[1]} pixels; send one with {_SMALLEST} or more on each side"
        )
    return picture


def _found(picture: Image.Image) -> Mask:
    """The subject of a picture without alpha: what differs from the ground that its border shows."""
    small = picture.convert("RGB")
    small.thumbnail((_LOOKED_AT, _LOOKED_AT), Image.Resampling.BOX)
    pixels = np.asarray(small, dtype=np.float64)
    away = _away_from_ground(pixels)
    border = np.concatenate([away[0], away[-1], away[1:-1, 0], away[1:-1, -1]])
    if float((border < _APART).mean()) < _GROUND:
        raise InvalidValue(
            "no subject can be told from the ground of the picture; send a PNG with a transparent ground, or one whose "
            "ground is plain"
        )
    # The ground is what can be reached from the border, so that a white shirt before a white wall keeps its middle.
    ground = numbered(np.pad(away < _APART, 1, constant_values=True), diagonal=False)
    subject = (ground != ground[0, 0])[1:-1, 1:-1]
    subject = grown(shrunk(subject, 1), 1)
    share = float(subject.mean())
    if share < 10 * _LEAST:
        raise InvalidValue("the picture shows nothing but its ground; send one that shows its subject")
    if share > _WHOLE:
        raise InvalidValue("the subject fills the whole picture; leave some transparent ground around it")
    soft = Image.fromarray(subject.astype(np.uint8) * 255).resize(picture.size, Image.Resampling.BICUBIC)
    return np.asarray(soft) >= _SEEN


def _away_from_ground(pixels: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much each pixel differs from the ground: a soft gradient that is fitted to the border, twice, robustly."""
    rows, columns = pixels.shape[:2]
    y, x = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns), indexing="ij")
    terms = np.stack([np.ones_like(x), x, y, x * y, x * x, y * y], axis=-1)
    rim = np.zeros((rows, columns), dtype=bool)
    rim[[0, 0, -1, -1]], rim[:, [0, -1]] = True, True
    seen, shown = terms[rim], pixels[rim]
    plain = np.abs(shown - np.median(shown, axis=0)).max(axis=1) < 2 * _APART
    if plain.mean() < 0.5:
        plain[:] = True
    for _ in range(3):
        fitted = np.linalg.lstsq(seen[plain], shown[plain], rcond=None)[0]
        off = np.abs(shown - seen @ fitted).max(axis=1)
        plain = off <= max(float(np.quantile(off, _GROUND)), 2.0)
    away: NDArray[np.float64] = np.abs(pixels - terms @ fitted).max(axis=2)
    return away
