"""The texture of a shell: its front as in the picture, and a back as somebody would guess it, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image

from penstock.studio.modelling.model import Doubles, Floats, Mask
from penstock.studio.modelling.morphology import bled, grown, shrunk
from penstock.studio.modelling.silhouette import Silhouette

_GUTTER = 6
"Pixels around each of the two."
_GUESSED_AT = 96
"So large is the picture when its back is guessed: details are lost, and faces with them."
_WINDOW = range(-8, 9, 2)
_GUESSES = 2
_SHADE = 0.93
"The back is a little darker: less light falls there."
_WRAPPED = 0.03
"The part of the long side along the rim where the colours of the front reach behind."
_EDGE = 2
"Pixels along the rim of a picture whose colours may be mixed with its ground's."


@dataclass(frozen=True, slots=True)
class Atlas:
    """A texture, and where a point of the picture is in it."""

    texture: bytes
    "A PNG."
    scale: tuple[float, float]
    front: tuple[float, float]
    behind: tuple[float, float]
    "Where the picture's upper left corner is, for each of the two."

    def at(self, places: Doubles, behind: bool) -> Doubles:
        """Texture coordinates of places in the picture, given as pixels from its left and from its top."""
        return np.clip(places * self.scale + (self.behind if behind else self.front), 0.0, 1.0)


def atlas(seen: Silhouette, *, margin: float, largest: int) -> Atlas:
    """The texture of a subject, at most so many pixels wide and high.

    There is room of ``margin``, in pixels of the picture, around it: a mesh may reach beyond its contour.
    """
    rows, columns = seen.there.shape
    wide, high = columns + 2 * margin, rows + 2 * margin
    size, step = max(_layouts(largest), key=lambda layout: _fit(layout, wide, high))
    fit = _fit((size, step), wide, high)
    chart = (round(wide * fit), round(high * fit))
    front = _front(seen, margin, chart)
    behind = _behind(front, margin * fit)
    # Where a mesh is seen from far, its texture is made smaller, and what is beside it mixes in.
    cell = (step[0] or size[0], step[1] or size[1])
    canvas = Image.new("RGB", size)
    offsets = []
    for number, picture in enumerate((front.colours, behind)):
        left = number * step[0] + (cell[0] - chart[0]) // 2
        top = number * step[1] + (cell[1] - chart[1]) // 2
        canvas.paste(_framed(picture, cell), (number * step[0], number * step[1]))
        offsets.append(((left + margin * fit) / size[0], (top + margin * fit) / size[1]))
    scale = (fit / size[0], fit / size[1])
    return Atlas(_png(canvas), scale, *offsets)


def _layouts(largest: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The sizes a texture can have, and the way from its first half to its second; square ones last."""
    half = largest // 2
    return [
        ((largest, half), (half, 0)),
        ((half, largest), (0, half)),
        ((largest, largest), (half, 0)),
        ((largest, largest), (0, half)),
    ]


def _fit(layout: tuple[tuple[int, int], tuple[int, int]], wide: float, high: float) -> float:
    """By how much a picture may be enlarged to fit into one half."""
    size, step = layout
    cell = (step[0] or size[0], step[1] or size[1])
    return min((cell[0] - 2 * _GUTTER) / wide, (cell[1] - 2 * _GUTTER) / high)


@dataclass(frozen=True, slots=True)
class _Front:
    colours: Floats
    there: Mask


def _front(seen: Silhouette, margin: float, size: tuple[int, int]) -> _Front:
    """The picture without its ground: its own colours run on over the edge, so that no fringe is seen."""
    sure = shrunk(seen.there, _EDGE)
    sure |= seen.there & ~grown(sure, 2 * _EDGE)  # what is as thin as its edge has no other colours
    rows, columns = seen.there.shape
    box = (-margin, -margin, columns + margin, rows + margin)
    around = int(np.ceil(margin))
    pad = ((around, around), (around, around))
    inner = (around + box[0], around + box[1], around + box[2], around + box[3])
    colours = Image.fromarray(np.pad(seen.colours * sure[..., None], (*pad, (0, 0))).astype(np.uint8))
    masks = [Image.fromarray(np.pad(mask, pad).astype(np.uint8) * 255) for mask in (sure, seen.there)]
    how = Image.Resampling.BOX if size[0] < columns else Image.Resampling.BILINEAR
    sized = [np.asarray(image.resize(size, how, box=inner), dtype=np.float32) for image in (colours, *masks)]
    weight = sized[1] / 255
    known = weight > 0.25
    plain = sized[0] / np.where(known, weight, 1.0)[..., None]
    return _Front(np.clip(bled(plain, known), 0, 255), sized[2] >= 128)


def _behind(front: _Front, margin: float) -> Floats:
    """What the back may look like: the colours of each region, without what is drawn on it; the same at the rim."""
    rows, columns = front.there.shape
    shrink = _GUESSED_AT / max(rows, columns)
    small = (max(2, round(columns * shrink)), max(2, round(rows * shrink)))
    picture = Image.fromarray(front.colours.astype(np.uint8))
    there = np.asarray(Image.fromarray(front.there.astype(np.uint8) * 255).resize(small, Image.Resampling.BOX)) >= 128
    if not there.any():
        there = np.ones_like(there)
    guess = np.asarray(picture.resize(small, Image.Resampling.BOX), dtype=np.float32)
    for _ in range(_GUESSES):
        guess = _typical(guess, there)
    soft = Image.fromarray(np.clip(bled(guess, there), 0, 255).astype(np.uint8)).resize((columns, rows), Image.Resampling.BICUBIC)
    blurred = np.asarray(soft, dtype=np.float32) * _SHADE
    inside = _inwards(front.there, small, max(2.0, _WRAPPED * max(small)))
    return front.colours + (blurred - front.colours) * inside[..., None]


def _typical(colours: Floats, there: Mask) -> Floats:
    """The median of the colours around each pixel, as far as they are of the subject."""
    shifted, counted = [], []
    reach = -_WINDOW[0]
    wide = np.pad(colours, ((reach, reach), (reach, reach), (0, 0)))
    known = np.pad(there, reach)
    rows, columns = there.shape
    for down in _WINDOW:
        for right in _WINDOW:
            if down * down + right * right <= reach * reach:
                part = np.s_[reach + down : reach + down + rows, reach + right : reach + right + columns]
                shifted.append(wide[part])
                counted.append(known[part])
    values = np.where(np.stack(counted)[..., None], np.stack(shifted), np.inf)
    values.sort(axis=0)
    middle = np.maximum(np.stack(counted).sum(axis=0) - 1, 0) // 2
    found = np.take_along_axis(values, middle[None, ..., None], axis=0)[0]
    return np.where(np.isfinite(found), found, colours).astype(np.float32)


def _inwards(there: Mask, small: tuple[int, int], width: float) -> Floats:
    """0 at the rim and outside, rising to 1 so many pixels of the small picture inwards."""
    image = Image.fromarray(there.astype(np.uint8) * 255).resize(small, Image.Resampling.BOX)
    inside = np.asarray(image) >= 250
    steps = np.zeros(inside.shape, dtype=np.float32)
    for _ in range(round(width)):
        steps += inside
        inside = shrunk(np.pad(inside, 1), 1)[1:-1, 1:-1]
    ramp = Image.fromarray(steps / max(round(width), 1))
    rows, columns = there.shape
    return np.asarray(ramp.resize((columns, rows), Image.Resampling.BILINEAR))


def _framed(picture: Floats, cell: tuple[int, int]) -> Image.Image:
    """In the middle of its half, whose rest has the colours of its edge."""
    rows, columns = picture.shape[:2]
    left, top = (cell[0] - columns) // 2, (cell[1] - rows) // 2
    pad = ((top, cell[1] - rows - top), (left, cell[0] - columns - left), (0, 0))
    return Image.fromarray(np.pad(np.rint(picture).astype(np.uint8), pad, "edge"))


def _png(picture: Image.Image) -> bytes:
    file = BytesIO()
    picture.save(file, "PNG", compress_level=6)
    return file.getvalue()
