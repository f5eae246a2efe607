"""A subject without the plain ground it stands on."""

from __future__ import annotations

from typing import Any, TypeAlias

from penstock.media.extra import need

PillowPicture: TypeAlias = Any
"An image of Pillow's, which is an extra, as is numpy."

_EVEN = 14.0
"How much the border of a picture may vary to be a plain ground."
_UNEVEN_SHARE = 0.22
"Of the border, that may be something else: the subject may reach it."
_GROUND = (0.04, 0.97)
"The share of a picture that is ground, if it is one with a subject on it."
_ROUNDS = 64
"Turns that the ground may take to get anywhere."


def without_ground(picture: PillowPicture) -> PillowPicture | None:
    """A picture in RGBA with its plain ground transparent; None if it has none."""
    for package in ("numpy", "PIL"):
        need(package)
    import numpy as np
    from PIL import Image, ImageFilter

    pixels = np.asarray(picture.convert("RGB"), dtype=np.float32)
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    plain = np.median(border, axis=0)
    away = np.abs(border - plain).max(axis=1)
    if float(np.mean(away > _EVEN)) > _UNEVEN_SHARE:
        return None
    flooded = _flooded(np.abs(pixels - plain).max(axis=2) < 2 * _EVEN)
    if not _GROUND[0] < float(flooded.mean()) < _GROUND[1]:
        return None
    solid = Image.fromarray(np.where(flooded, 0, 255).astype(np.uint8))
    cut = picture.copy()
    cut.putalpha(solid.filter(ImageFilter.MinFilter(3)).filter(ImageFilter.GaussianBlur(1)))
    return cut


def _flooded(like: Any) -> Any:
    """What of the ground's colour can be reached from the border: a white shirt on a white wall keeps its middle."""
    import numpy as np

    # With a frame around it, so that the water is on every side.
    low = np.pad(like, 1, constant_values=True)
    wet = np.zeros_like(low)
    wet[0] = wet[-1] = wet[:, 0] = wet[:, -1] = True
    for _ in range(_ROUNDS):
        before = int(wet.sum())
        for turned in (0, 1):
            # Along the rows of the picture, and along those of the picture on its side.
            ground, water = (low.T, wet.T) if turned else (low, wet)
            ground, water = np.ascontiguousarray(ground), np.ascontiguousarray(water)
            rows = len(water)
            for row in range(1, rows):
                water[row] |= water[row - 1] & ground[row]
            for row in range(rows - 2, -1, -1):
                water[row] |= water[row + 1] & ground[row]
            wet = water.T if turned else water
        if int(wet.sum()) == before:
            break
    return wet[1:-1, 1:-1]
