"""The texture of a shell, side by side: its front as in the picture, and a back like it or as one would guess it."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image, ImageFilter

from penstock.studio.modelling.model import Doubles, Floats, Mask
from penstock.studio.modelling.morphology import bled, shrunk
from penstock.studio.modelling.rim_colours import own_colours
from penstock.studio.modelling.silhouette import CutOut

_GUTTER = 6
"Pixels around each of the two."
_GUESSED_AT = 128
"So large is the picture, in pixels, when its back is guessed."
_RING = 3
"Pixels of that along the rim which are believed to go on behind."
_UPRIGHT = 2.0
_AT_ONCE = 500
_SHADE = 0.93
"The back is a little darker: less light falls there."
_WRAPPED = 0.03
"The part of the long side along the rim where the colours of the front reach behind."
_COARSE = 4
"Pixels that have one colour in common beyond the edge."


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


def atlas(seen: CutOut, *, margin: float, largest: int, alike: bool = False) -> Atlas:
    """The texture of a subject, at most so many pixels wide and high; its back may look ``alike``, or is guessed.

    There is room of ``margin``, in pixels of the picture, around it: a mesh may reach beyond its contour.
    """
    rows, columns = seen.there.shape
    wide, high = columns + 2 * margin, rows + 2 * margin
    size, step = max(_layouts(largest), key=lambda layout: _fit(layout, wide, high))
    fit = _fit((size, step), wide, high)
    chart = (round(wide * fit), round(high * fit))
    front = _front(seen, margin, chart)
    behind = _behind(front, _shaded(front.colours) if alike else _guessed(front))
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
    colours: Image.Image
    there: Image.Image


def _front(seen: CutOut, margin: float, size: tuple[int, int]) -> _Front:
    """The picture without its ground: its own colours run on over the edge, so that no fringe is seen."""
    around = int(np.ceil(margin))
    pad = ((around, around), (around, around))
    own, there = (Image.fromarray(np.pad(mask, pad).astype(np.uint8) * 255) for mask in (own_colours(seen), seen.there))
    colours = Image.fromarray(np.pad(seen.colours, (*pad, (0, 0))))
    colours = Image.composite(colours, _beyond(colours, own), own)
    spare = around - margin
    box = (spare, spare, colours.width - spare, colours.height - spare)
    how = Image.Resampling.BOX if size[0] < colours.width else Image.Resampling.BICUBIC
    return _Front(colours.resize(size, how, box=box), there.resize(size, how, box=box))


def _beyond(colours: Image.Image, own: Image.Image) -> Image.Image:
    """What the colours become where none is known; they are soft there, and need not be computed for every pixel."""
    black = Image.new("RGB", colours.size)
    mean = np.asarray(Image.composite(colours, black, own).reduce(_COARSE), dtype=np.float32)
    weight = np.asarray(own.reduce(_COARSE), dtype=np.float32) / 255
    known = weight > 0.02
    spread = np.clip(bled((mean / np.where(known, weight, 1.0)[..., None]).astype(np.float32), known), 0, 255)
    return Image.fromarray(np.rint(spread).astype(np.uint8)).resize(colours.size, Image.Resampling.BILINEAR)


def _behind(front: _Front, back: Image.Image) -> Image.Image:
    """The back, into which the front goes over along the rim."""
    whole = np.asarray(front.there.resize(_small(front), Image.Resampling.BOX)) >= 250
    return Image.composite(back, front.colours, _inwards(whole).resize(back.size, Image.Resampling.BILINEAR))


def _shaded(picture: Image.Image) -> Image.Image:
    return picture.point([round(value * _SHADE) for value in range(256)] * 3)


def _small(front: _Front) -> tuple[int, int]:
    """How large it is when its back is guessed."""
    shrink = _GUESSED_AT / max(front.there.size)
    return max(2, round(front.there.width * shrink)), max(2, round(front.there.height * shrink))


def _guessed(front: _Front) -> Image.Image:
    """What the back may look like: what is seen along the rim goes on behind, and nothing that is drawn further in.

    So hair is behind a face, and a coat has its colours but not its buttons.
    """
    small = _small(front)
    shares = np.asarray(front.there.resize(small, Image.Resampling.BOX))
    there = shares >= min(128, int(shares.max()))
    colours = np.asarray(front.colours.resize(small, Image.Resampling.BOX), dtype=np.float32)
    guess = colours.copy()
    inner = shrunk(np.pad(there, 1), _RING)[1:-1, 1:-1]
    guess[inner] = _between(inner, there & ~inner, colours)
    guess = np.clip(bled(guess, there) * _SHADE, 0, 255)
    soft = Image.fromarray(guess.astype(np.uint8)).filter(ImageFilter.MedianFilter(5)).filter(ImageFilter.BoxBlur(1))
    return soft.resize(front.there.size, Image.Resampling.BICUBIC)


def _between(inner: Mask, ring: Mask, colours: Floats) -> Floats:
    """For each pixel inside, the colours of the ring that are nearest to its left and to its right, mixed by distance.

    Sideways is nearer than up or down, for clothes go around a body.
    """
    here, there = (np.argwhere(mask).astype(np.float32) * [_UPRIGHT, 1.0] for mask in (inner, ring))
    shown = colours[ring]
    mixed = np.zeros((len(here), 3), dtype=np.float32)
    for first in range(0, len(here), _AT_ONCE):
        part = here[first : first + _AT_ONCE]
        away = ((part[:, None] - there[None]) ** 2).sum(axis=2)
        right = there[None, :, 1] > part[:, None, 1]
        total = np.zeros((len(part), 1))
        for side in (right, ~right):
            far = np.where(side, away, np.inf)
            nearest = far.argmin(axis=1)
            weight = 1 / (1 + far[np.arange(len(part)), nearest, None])
            mixed[first : first + _AT_ONCE] += weight * shown[nearest]
            total += weight
        mixed[first : first + _AT_ONCE] /= total
    return mixed


def _inwards(inside: Mask) -> Image.Image:
    """Black at the rim and outside, ever lighter inwards."""
    steps = max(2, round(_WRAPPED * max(inside.shape)))
    ramp = np.zeros(inside.shape, dtype=np.float32)
    for _ in range(steps):
        ramp += inside
        inside = shrunk(np.pad(inside, 1), 1)[1:-1, 1:-1]
    return Image.fromarray((ramp / steps * 255).astype(np.uint8))


def _framed(picture: Image.Image, cell: tuple[int, int]) -> Image.Image:
    """In the middle of its half, whose rest has the colours of its edge."""
    rows, columns = picture.height, picture.width
    left, top = (cell[0] - columns) // 2, (cell[1] - rows) // 2
    pad = ((top, cell[1] - rows - top), (left, cell[0] - columns - left), (0, 0))
    return Image.fromarray(np.pad(np.asarray(picture), pad, "edge"))


def _png(picture: Image.Image) -> bytes:
    file = BytesIO()
    picture.save(file, "PNG", compress_level=6)
    return file.getvalue()
