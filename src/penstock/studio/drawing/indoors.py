"""A stage and a room."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw

from penstock.studio.drawing.canvas import Layer, gradient, noise
from penstock.studio.drawing.colour import darker, lighter, mix
from penstock.studio.drawing.site import FAR, MIDDLE, Site


def curtain(site: Site) -> Layer:
    more = site.reach(FAR)
    wide, high = round(site.width + 2 * more), round(site.horizon + 0.03 * site.height)
    folds = np.sin(np.arange(wide, dtype=np.float32) / (0.021 * site.height) + noise(site.rng, wide, 1, 90)[0] * 5)
    down = np.linspace(0.15, 1, high, dtype=np.float32)[:, None]
    cloth = np.array(mix(site.palette.horizon, site.palette.accent, 0.25), dtype=np.float32)
    values = cloth[None, None, :] * (0.5 + 0.22 * folds[None, :, None]) * down[:, :, None]
    return Layer(Image.fromarray(values.clip(0, 255).astype(np.uint8)), None, -more, 0.0)


def truss(site: Site) -> Layer:
    """The bar that carries the lamps."""
    more = site.reach(MIDDLE)
    wide, high = round(site.width + 2 * more), round(0.16 * site.height)
    mask = Image.new("L", (wide, high), 0)
    paint = Image.new("RGB", (wide, high), darker(site.palette.near, 0.3))
    shape, brush = ImageDraw.Draw(mask), ImageDraw.Draw(paint)
    step, thick = 0.05 * site.height, max(round(0.006 * site.height), 1)
    low, up = 0.35 * high, 0.75 * high
    for y in (low, up):
        shape.line((0, y, wide, y), fill=255, width=thick)
    for n, x in enumerate(np.arange(0, wide, step)):
        shape.line([(float(x), low), (float(x) + step, up)], fill=255, width=thick)
        if n % 3 == 0:
            lamp = (float(x) - 0.012 * site.height, up, float(x) + 0.012 * site.height, up + 0.03 * site.height)
            shape.ellipse(lamp, fill=255)
            brush.ellipse(lamp, fill=lighter((site.palette.accent, site.palette.second)[n // 3 % 2], 0.4))
    return Layer(paint, mask, -more, 0.0)


def wall(site: Site) -> Layer:
    """A wall with windows; what is outside is seen through them."""
    more = site.reach(MIDDLE)
    wide, high = round(site.width + 2 * more), round(site.horizon + 0.03 * site.height)
    tone = mix(mix((206, 178, 150), site.palette.second, 0.25), site.palette.near, 0.62 if site.palette.dark else 0.25)
    paint = gradient(wide, high, [(0, darker(tone, 0.25)), (0.7, tone), (1, darker(tone, 0.12))])
    mask = Image.new("L", (wide, high), 255)
    shape, brush = ImageDraw.Draw(mask), ImageDraw.Draw(paint)
    unit = site.height / 100
    for n in range(-1, math.ceil(wide / (62 * unit)) + 1):
        x, y = n * 62 * unit + 9 * unit, 12 * unit
        broad, tall = 34 * unit, 34 * unit
        brush.rectangle(
            (x - 2 * unit, y - 2 * unit, x + broad + 2 * unit, y + tall + 3 * unit), fill=lighter(tone, 0.3)
        )
        shape.rectangle((x, y, x + broad, y + tall), fill=0)
        for bar in ((x + broad / 2, y, x + broad / 2, y + tall), (x, y + tall / 2, x + broad, y + tall / 2)):
            shape.line(bar, fill=255, width=max(round(unit), 1))
            brush.line(bar, fill=lighter(tone, 0.3), width=max(round(unit), 1))
        px, frame = x + broad + 8 * unit, lighter(site.palette.accent, 0.2)
        brush.rectangle((px, 18 * unit, px + 12 * unit, 34 * unit), fill=darker(tone, 0.4))
        brush.rectangle((px + unit, 19 * unit, px + 11 * unit, 33 * unit), fill=frame)
    brush.rectangle((0, high - 5 * unit, wide, high), fill=darker(tone, 0.35))
    return Layer(paint, mask, -more, 0.0)
