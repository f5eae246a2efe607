"""The outline of a drawn subject: it sets the rim off the ground, and is no part of the subject's own colours."""

from __future__ import annotations

import numpy as np
from PIL import Image

from penstock.studio.modelling.model import Floats, Mask
from penstock.studio.modelling.morphology import bled, grown, shrunk
from penstock.studio.modelling.silhouette import CutOut

_LOOKED_AT = 320
"So large is a picture, in pixels, when its outline is looked for."
_MIXED = 0.004
"The part of the long side along the rim where a picture may be mixed with its ground."
_WIDTHS = (8, 4)
"Pixels of the small picture that an outline may be wide; what is too thin for the first has the second."
_BLACK = 48
"What is darker than this, of 255, has no dark outline."
_DARK, _LIGHT = 0.6, 1.18
"What is by so much darker or lighter than what lies behind it is an outline, or the light that falls along a rim."


def own_colours(seen: CutOut) -> Mask:
    """Which pixels have colours of the subject itself: neither mixed with the ground, nor of an outline.

    What is too thin to have anything behind its outline keeps what it has.
    """
    edge = max(2, round(_MIXED * max(seen.there.shape)))
    inner = shrunk(seen.there, edge)
    inner |= seen.there & ~grown(inner, edge + 2)
    return inner & ~_outline(seen)


def _outline(seen: CutOut) -> Mask:
    rows, columns = seen.there.shape
    shrink = min(1.0, _LOOKED_AT / max(rows, columns))
    small = (max(1, round(columns * shrink)), max(1, round(rows * shrink)))
    there = np.asarray(Image.fromarray(seen.there.astype(np.uint8) * 255).resize(small, Image.Resampling.BOX)) >= 128
    picture = Image.fromarray(seen.colours * seen.there[..., None]).resize(small, Image.Resampling.BOX)
    colours = np.asarray(picture, dtype=np.float32)
    found = np.zeros_like(there)
    for width in _WIDTHS:
        found |= _along_the_rim(colours, there, width)
    drawn = Image.fromarray(found.astype(np.uint8) * 255).resize((columns, rows), Image.Resampling.BILINEAR)
    return np.asarray(drawn) >= 100


def _along_the_rim(colours: Floats, there: Mask, width: int) -> Mask:
    """What is darker or lighter than what lies deeper inside, at most so far from the rim."""
    deep = shrunk(there, width)
    if not deep.any():
        return deep
    behind = bled(colours, deep).mean(axis=2) + 1
    light = (colours.mean(axis=2) + 1) / behind
    differs = ((light < _DARK) & (behind > _BLACK)) | (light > _LIGHT)
    band = grown(deep, width + 2) & there & ~deep
    return grown(differs & band, 1) & band
