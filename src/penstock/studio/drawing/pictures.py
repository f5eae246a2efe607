"""Pictures that somebody gives: shown in a scene as a cut-out if their background can be told, and framed if not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageOps, PngImagePlugin

from penstock.errors import InvalidValue
from penstock.media.cut_out import without_ground
from penstock.media.image import memory_of, readable_formats
from penstock.media.room import room
from penstock.studio.drawing.character import Character, character

_LARGEST = 900
"Pictures are made no larger than this, in pixels: a scene shows them smaller."
_MOST_PIXELS = 40_000_000

DESCRIPTION, SEED = "penstock:character", "penstock:seed"
"Where a drawn portrait says whom it shows, so that scenes can show the same from head to foot."


@dataclass(frozen=True, slots=True)
class Given:
    """A picture, ready to be put into a scene."""

    picture: Image.Image
    "With what is transparent."
    framed: bool
    "It shows its own background, and hangs in the scene instead of standing in it."


def portrayed(path: Path) -> Character | None:
    """The character of a portrait that was drawn here; None for any other picture."""
    with _opened(path) as picture:
        description, seed = picture.info.get(DESCRIPTION), picture.info.get(SEED)
    if not isinstance(description, str) or not str(seed).lstrip("-").isdigit():
        return None
    return character(description, seed=int(str(seed)))


def signed(description: str, seed: int) -> PngImagePlugin.PngInfo:
    """What a portrait says about itself."""
    info = PngImagePlugin.PngInfo()
    info.add_itxt(DESCRIPTION, description)
    info.add_text(SEED, str(seed))
    return info


def given(path: Path) -> Given:
    """A picture from a file; InvalidValue if it is none."""
    with _opened(path) as opened, room().taken(2 * memory_of(path)):
        try:
            picture = ImageOps.exif_transpose(opened).convert("RGBA")
        except (OSError, SyntaxError, ValueError) as error:
            raise InvalidValue(f"the picture {path.name} cannot be read: {error}; send a PNG or JPEG") from None
        picture.thumbnail((_LARGEST, _LARGEST), Image.Resampling.LANCZOS)
    if np.asarray(picture.getchannel("A")).min() < 128:
        return _standing(picture)
    cut = without_ground(picture)
    return _standing(cut) if cut is not None else Given(_in_frame(picture), framed=True)


def _opened(path: Path) -> Image.Image:
    try:
        opened = Image.open(path, formats=readable_formats())
    except (OSError, Image.DecompressionBombError) as error:
        raise InvalidValue(f"the picture {path.name} cannot be read: {error}; send a PNG or JPEG") from None
    if opened.width * opened.height > _MOST_PIXELS:
        opened.close()
        raise InvalidValue(f"the picture {path.name} has {opened.width}x{opened.height} pixels; send a smaller one")
    return opened


def _standing(picture: Image.Image) -> Given:
    """Without the empty space around it."""
    box = picture.getchannel("A").point([255 if v > 24 else 0 for v in range(256)]).getbbox()
    return Given(picture.crop(box) if box else picture, framed=False)


def _in_frame(picture: Image.Image) -> Image.Image:
    """A print with a white border and round corners."""
    border = max(round(min(picture.size) * 0.045), 4)
    framed = ImageOps.expand(picture.convert("RGB"), border, fill=(248, 246, 240)).convert("RGBA")
    mask = Image.new("L", framed.size, 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, *(n - 1 for n in framed.size)), border, fill=255)
    framed.putalpha(mask)
    return framed
