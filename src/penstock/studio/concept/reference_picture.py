"""A picture that somebody gives: its colours, and the subject itself where it stands on a plain or empty ground."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter

from penstock.media.image import decode_image
from penstock.studio.concept.house_style import HouseStyle, recoloured, styled
from penstock.studio.drawing.colour import INK, Colour
from penstock.studio.drawing.pictures import given

MOST_PIXELS = 40_000_000
_COLOURS = 6


@dataclass(frozen=True, slots=True)
class PictureClues:
    """What a reference tells."""

    subject: Image.Image | None
    "Without its ground; None if it cannot be told from it."
    palette: tuple[Colour, ...]


def reference_picture(path: Path) -> PictureClues:
    """A picture from a file, decoded apart first; UnusableFile or InvalidValue if it is none, or a bomb."""
    decode_image(path, pixels=MOST_PIXELS)
    shown = given(path)
    if not shown.framed:
        return PictureClues(shown.picture, _palette(shown.picture))
    # The frame that scenes hang it in is none of its colours.
    wide, high = (round(side * 0.07) for side in shown.picture.size)
    inside = shown.picture.crop((wide, high, shown.picture.width - wide, shown.picture.height - high))
    return PictureClues(None, _palette(inside))


def _palette(picture: Image.Image) -> tuple[Colour, ...]:
    """The colours there is most of."""
    small = picture.copy()
    small.thumbnail((96, 96))
    seen = np.asarray(small).reshape(-1, 4)
    solid = seen[seen[:, 3] > 200][:, :3]
    if len(solid) == 0:
        return ()
    strip = Image.fromarray(np.ascontiguousarray(solid[None, :, :]))
    few = strip.quantize(_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    counts = sorted(few.getcolors() or [], reverse=True)
    table = few.getpalette() or []
    found = []
    for _, index in counts:
        assert isinstance(index, int)
        r, g, b = table[3 * index : 3 * index + 3]
        found.append((r, g, b))
    return tuple(found)


def redrawn(subject: Image.Image, size: tuple[int, int], style: HouseStyle, *, margin: float = 0.06) -> Image.Image:
    """The subject of a reference in the style that is asked for: in its own silhouette, in the middle."""
    room = [round(side * (1 - 2 * margin)) for side in size]
    scale = min(room[0] / subject.width, room[1] / subject.height)
    fitted = subject.resize(
        (max(round(subject.width * scale), 1), max(round(subject.height * scale), 1)), Image.Resampling.LANCZOS
    )
    alpha = fitted.getchannel("A")
    smooth = fitted.convert("RGB").filter(ImageFilter.MedianFilter(5))
    flat = ImageEnhance.Color(smooth).enhance(1.15)
    if style.palette:
        flat = _in_palette(flat, style.palette)
    if style.finish.tint is not None:
        flat = _tinted(flat, style)
    picture = Image.new("RGBA", size, (0, 0, 0, 0))
    at = ((size[0] - fitted.width) // 2, (size[1] - fitted.height) // 2)
    whole = Image.new("L", size, 0)
    whole.paste(alpha, at)
    line = round(style.finish.outline * 0.0125 * min(size))
    if line:
        around = whole.filter(ImageFilter.MaxFilter(2 * line + 1)).filter(ImageFilter.GaussianBlur(1))
        picture.paste((*(style.finish.line_colour or INK), 255), (0, 0), around)
    picture.paste(flat, at, alpha)
    if line:
        picture.putalpha(around)
    else:
        picture.putalpha(whole)
    return styled(picture, style)


def _in_palette(picture: Image.Image, palette: tuple[Colour, ...]) -> Image.Image:
    """Its main colours, each moved to the palette's nearest, and everything else along with them."""
    few = picture.quantize(12, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    pixels, index = np.asarray(picture, dtype=np.float32), np.asarray(few)
    table = few.getpalette() or []
    result = pixels.copy()
    for n in range(int(index.max()) + 1):
        own = tuple(table[3 * n : 3 * n + 3])
        there = recoloured({"": (own[0], own[1], own[2])}, [], palette)[""]
        mask = index == n
        result[mask] += np.array(there, dtype=np.float32) - np.array(own, dtype=np.float32)
    return Image.fromarray(result.clip(0, 255).astype(np.uint8))


def _tinted(picture: Image.Image, style: HouseStyle) -> Image.Image:
    """What a style makes of colours, on a picture with few enough of them."""
    assert style.finish.tint is not None
    few = picture.quantize(128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    table = few.getpalette() or []
    turned: list[int] = []
    for n in range(0, len(table), 3):
        turned += style.finish.tint((table[n], table[n + 1], table[n + 2]))
    few.putpalette(turned)
    return few.convert("RGB")
