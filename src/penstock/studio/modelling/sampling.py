"""A silhouette as it is modelled: at the grain of the grid, with nothing lost that is thinner."""

from __future__ import annotations

import numpy as np
from PIL import Image

from penstock.studio.modelling.model import Doubles, Mask
from penstock.studio.modelling.morphology import grown, numbered, shrunk

_TRIES = 4


def sampled(there: Mask, scale: float, *, thin: int, margin: int) -> Mask:
    """The silhouette enlarged or made smaller by ``scale``, with ``margin`` empty pixels around it.

    Parts that are not even 2 ``thin`` pixels wide are made so wide.
    """
    rows, columns = (max(1, round(side * scale)) for side in there.shape)
    image = Image.fromarray(there.astype(np.uint8) * 255)
    how, least = (Image.Resampling.BOX, 1) if scale < 1 else (Image.Resampling.BILINEAR, 64)
    shares = np.pad(np.asarray(image.resize((columns, rows), how)), margin)
    most, any_of_it = shares >= 128, shares >= least
    broad = grown(shrunk(most, thin - 1), thin - 1)
    return most | grown(any_of_it & ~grown(broad, thin), thin)


def level_of(mask: Mask, fine: int) -> tuple[Doubles, int]:
    """How much of the surroundings of each point of a grid is of the mask, above or below one half.

    The grid has a point for every ``fine`` pixels, and one more around. A mask in one piece is in one piece there as
    well: necks that the grid is too coarse for are made wider; how many pieces are lost all the same is told.
    """
    for _ in range(_TRIES):
        level = _shares(mask, fine) - 0.5
        label = numbered(level > 0, diagonal=False)
        if label.max() <= 1:
            return level, 0
        broad = grown(shrunk(mask, fine), fine)
        mask = mask | grown(mask & ~broad, 1)
    sizes = np.bincount(label.ravel())
    sizes[0] = 0
    return np.where((label == sizes.argmax()) | (label == 0), level, -0.5), int(label.max()) - 1


def _shares(mask: Mask, fine: int) -> Doubles:
    """The part of the square around each point that is of the mask."""
    rows, columns = (-(-side // fine) * fine + fine for side in mask.shape)
    filled = np.zeros((rows, columns), dtype=np.float32)
    # A point of the grid stands in the middle of the square it tells of.
    filled[fine // 2 : fine // 2 + mask.shape[0], fine // 2 : fine // 2 + mask.shape[1]] = mask
    squares = filled.reshape(rows // fine, fine, columns // fine, fine).mean(axis=(1, 3))
    return np.pad(squares.astype(np.float64), 1)
