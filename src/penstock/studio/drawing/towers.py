"""The houses of a city."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw

from penstock.studio.drawing.canvas import Layer
from penstock.studio.drawing.colour import Colour, darker, lighter, mix
from penstock.studio.drawing.site import Site, faded


def towers(site: Site, depth: float, tall: float, colour: Colour, *, windows: float) -> Layer:
    wide, high, left, top = site.strip(depth, tall)
    paint = faded(site, colour, wide, high)
    mask = Image.new("L", (wide, high), 0)
    shape, brush = ImageDraw.Draw(mask), ImageDraw.Draw(paint)
    unit = site.height / 100
    x = -site.rng.uniform(0, 6) * unit
    # A city has a middle, where it is tallest.
    middle, spread = site.rng.uniform(0.35, 0.65) * wide, 0.32 * wide
    while x < wide:
        broad = site.rng.uniform(5, 12) * unit
        centre = math.exp(-(((x - middle) / spread) ** 2))
        tallness = (0.22 + 0.62 * centre * site.rng.uniform(0.45, 1.0) + 0.12 * site.rng.random()) * high
        roof = high - tallness
        _tower(shape, site.rng, x, roof, broad, high, unit)
        if windows:
            _windows(brush, site, x, roof, broad, high, unit, colour, windows)
        x += broad * site.rng.uniform(0.82, 1.12)
    return Layer(paint, mask, left, top)


def _tower(
    shape: ImageDraw.ImageDraw, rng: np.random.Generator, x: float, roof: float, broad: float, high: int, unit: float
) -> None:
    """One house, with a roof of one kind or another."""
    shape.rectangle((x, roof, x + broad, high), fill=255)
    half = x + broad / 2
    match int(rng.integers(0, 7)):
        case 0:  # a smaller storey on top, and a spire
            shape.rectangle((x + broad * 0.2, roof - 3 * unit, x + broad * 0.8, roof), fill=255)
            shape.line((half, roof - 9 * unit, half, roof), fill=255, width=max(round(unit * 0.5), 1))
        case 1:  # slanted
            shape.polygon([(x, roof), (x + broad, roof), (x + broad, roof - 5 * unit)], fill=255)
        case 2:  # a crown of steps
            for step in range(1, 4):
                inset = broad * 0.13 * step
                shape.rectangle((x + inset, roof - step * 2 * unit, x + broad - inset, roof), fill=255)
        case 3:  # a dome
            shape.ellipse((x + broad * 0.15, roof - broad * 0.32, x + broad * 0.85, roof + broad * 0.32), fill=255)
        case 4:  # a pyramid
            shape.polygon([(x, roof), (half, roof - 6 * unit), (x + broad, roof)], fill=255)
        case _:  # flat, with something technical
            shape.rectangle((x + broad * 0.6, roof - 1.4 * unit, x + broad * 0.8, roof), fill=255)


def _windows(
    brush: ImageDraw.ImageDraw,
    site: Site,
    x: float,
    roof: float,
    broad: float,
    high: int,
    unit: float,
    colour: Colour,
    share: float,
) -> None:
    """The windows of one house: glass by day, lamps by night; sometimes a sign."""
    across, down = 1.6 * unit, 2.1 * unit
    dark = site.palette.dark
    lamps = (site.palette.accent, lighter(site.palette.accent, 0.4), mix(site.palette.accent, site.palette.second, 0.5))
    glass = lighter(colour, 0.16) if not dark else darker(colour, 0.2)
    for row in np.arange(roof + 1.5 * unit, high - 2 * unit, down):
        for col in np.arange(x + 0.9 * unit, x + broad - 1.3 * unit, across):
            drawn = site.rng.random()
            on = dark and drawn < share * 0.55
            fill = lamps[int(drawn * 97) % 3] if on else glass
            brush.rectangle((float(col), float(row), float(col) + 0.8 * unit, float(row) + 1.1 * unit), fill=fill)
    if site.neon and site.rng.random() < 0.55:
        sign = site.palette.accent if site.rng.random() < 0.5 else site.palette.second
        tall = site.rng.uniform(6, 13) * unit
        from_top = roof + site.rng.uniform(2, 7) * unit
        brush.rectangle((x + broad * 0.35, from_top, x + broad * 0.62, from_top + tall), fill=darker(sign, 0.25))
        brush.rectangle(
            (x + broad * 0.41, from_top + unit, x + broad * 0.56, from_top + tall - unit), fill=lighter(sign)
        )
