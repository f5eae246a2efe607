"""Pictures from and to files: bounded before they are read, and the same bytes for the same pixels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps, PngImagePlugin

from penstock.media.cut_out import without_ground
from penstock.media.image import decode_image, memory_of, opened
from penstock.media.room import room

MOST_PIXELS = 40_000_000
PROVENANCE = "penstock:provenance"
"Where a PNG tells how it was made."


def opened_safely(path: Path, *, longest: int) -> Image.Image:
    """A picture from a file that may come from anywhere, no larger than so many pixels on its long side."""
    decode_image(path, pixels=MOST_PIXELS)
    with opened(path, pixels=MOST_PIXELS) as file, room().taken(2 * memory_of(path)):
        picture: Image.Image = ImageOps.exif_transpose(file).convert("RGBA")
    if max(picture.size) > longest:
        picture.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    return picture


def cut_out(picture: Image.Image) -> tuple[Image.Image, list[str]]:
    """A picture without its plain ground, if it has one, and what was done for that."""
    if np.asarray(picture.getchannel("A")).min() < 128:
        return picture, []
    cut = without_ground(picture)
    return (picture, []) if cut is None else (cut, ["remove background"])


def save(picture: Image.Image, into: Path, provenance: Mapping[str, Any] | None = None) -> None:
    """A PNG; what is invisible in it is empty, so that it takes no room."""
    told = None
    if provenance is not None:
        told = PngImagePlugin.PngInfo()
        told.add_itxt(PROVENANCE, json.dumps(provenance, sort_keys=True, ensure_ascii=False, default=str))
    picture.save(into, "PNG", compress_level=4, pnginfo=told)
