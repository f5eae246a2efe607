"""Where something is built: a strip of the world between the sky and the ground, and the ways to fill it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

from penstock.studio.drawing.canvas import Floats, Layer, gradient, mask_of, noise
from penstock.studio.drawing.colour import Colour, lighter, mix
from penstock.studio.drawing.palette import Palette

FAR, MIDDLE, NEAR = 0.22, 0.42, 0.62
"How much of the camera's move a backdrop follows."


@dataclass(frozen=True, slots=True)
class Site:
    """Where something is to be built: a strip of the world that ends at the horizon."""

    width: int
    "Of the frame."
    height: int
    horizon: float
    "Pixels from the top."
    reach: Callable[[float], float]
    "So many pixels more on each side, for a depth."
    palette: Palette
    rng: np.random.Generator
    neon: bool = False

    def strip(self, depth: float, tall: float) -> tuple[int, int, float, float]:
        """Width and height of a strip that rises so far over the horizon, and its corner in the world."""
        more = self.reach(depth)
        # A little below the horizon, so that no zoom opens a gap to the ground.
        high = round(tall * self.height + 0.03 * self.height)
        return round(self.width + 2 * more), high, -more, self.horizon - tall * self.height


Deep = tuple[float, Layer]
"A layer and how near it is."


def faded(site: Site, colour: Colour, wide: int, high: int, haze: float = 0.45) -> Image.Image:
    """A colour that gets lost in the haze towards the horizon."""
    return gradient(wide, high, [(0, lighter(colour, 0.04)), (1, mix(colour, site.palette.horizon, haze))])


def below(heights: Floats, high: int) -> Image.Image:
    """A mask of what is below a line of heights over the strip's bottom; its edge is smooth."""
    rows = np.arange(high, dtype=np.float32)[:, None]
    return mask_of((rows - (high - heights[None, :]) + 0.5).astype(np.float32))


def ridge_line(rng: np.random.Generator, wide: int, cell: float, *, sharp: float) -> Floats:
    """A line of heights between 0 and 1; sharp ones have peaks."""
    line = noise(rng, wide, 1, cell, octaves=6)[0]
    folded = 1 - np.abs(2 * line - 1)
    heights: Floats = (sharp * folded + (1 - sharp) * line).astype(np.float32)
    return heights
