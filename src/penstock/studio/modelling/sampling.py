"""A silhouette as it is modelled: at the grain of the grid, with nothing lost that is thinner."""

from __future__ import annotations

import numpy as np
from PIL import Image

from penstock.studio.modelling.model import Mask
from penstock.studio.modelling.morphology import grown, shrunk


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
