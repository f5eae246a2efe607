"""Pictures that somebody gives: cut out if their background can be told, and shown on a screen if not."""

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
from penstock.studio.faces import Face

VIEWS = ("front", "three-quarter", "side", "close-up")
"The pictures there are of one figure; a seed chooses the figure and one of them."
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
    "It shows its own background, and is seen on a screen instead of standing in the scene."
    mouth: Face | None = None
    "Where a cut-out's mouth would be, and how high its head is: in parts of its width and height."


def portrayed(path: Path) -> Character | None:
    """The character of a portrait that was drawn here; None for any other picture."""
    with _opened(path) as picture:
        description, seed = picture.info.get(DESCRIPTION), picture.info.get(SEED)
    if not isinstance(description, str) or not str(seed).lstrip("-").isdigit():
        return None
    return portrait_of(description, int(str(seed)))[0]


def portrait_of(description: str, seed: int) -> tuple[Character, str]:
    """Whom the picture of a seed shows, and from where: so many seeds in a row show one figure from all sides."""
    return character(description, seed=seed // len(VIEWS)), VIEWS[seed % len(VIEWS)]


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
    return _standing(cut) if cut is not None else Given(picture, framed=True)


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
    cut = picture.crop(box) if box else picture
    return Given(cut, framed=False, mouth=_mouth(cut))


def _mouth(cut: Image.Image) -> Face:
    """Where a mouth would be: in the lower half of the head, which goes down to where the figure is narrowest."""
    solid = np.asarray(cut.getchannel("A")) > 100
    high, wide = solid.shape
    widths = solid.sum(axis=1)
    first, last = max(round(0.14 * high), 1), max(round(0.42 * high), 2)
    neck = first + int(np.argmin(widths[first:last])) if last > first else high // 3
    if widths[neck] > 0.8 * max(int(widths[:neck].max(initial=1)), 1):
        # Nothing narrow: all of it is head, or it has none.
        neck = round(0.36 * high)
    row = min(round(0.72 * neck), high - 1)
    there = np.flatnonzero(solid[row])
    across = float(there.mean()) if len(there) else wide / 2
    return Face(across / wide, row / high, max(neck / high, 0.08))


def on_screen(picture: Image.Image) -> Image.Image:
    """A picture on a large screen that stands on two legs."""
    edge = max(round(min(picture.size) * 0.05), 4)
    wide, high = picture.width + 2 * edge, picture.height + 2 * edge
    legs = round(0.16 * high)
    stand = Image.new("RGBA", (wide, high + legs), (0, 0, 0, 0))
    brush = ImageDraw.Draw(stand)
    for x in (0.2, 0.76):
        brush.rectangle((x * wide, high - edge, (x + 0.04) * wide, high + legs), fill=(52, 54, 62, 255))
    brush.rounded_rectangle((0, 0, wide - 1, high - 1), edge, fill=(34, 36, 44, 255))
    stand.paste(picture.convert("RGB"), (edge, edge))
    brush.ellipse(
        (wide - 2 * edge, high - 0.75 * edge, wide - 1.6 * edge, high - 0.35 * edge), fill=(90, 240, 130, 255)
    )
    return stand
