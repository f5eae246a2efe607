"""Mountains, hills, dunes, woods, and what grows under water."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from penstock.studio.drawing.canvas import Layer, mask_of, noise
from penstock.studio.drawing.colour import Colour, darker, mix
from penstock.studio.drawing.site import Site, below, faded, ridge_line


def peaks(site: Site, depth: float, tall: float, colour: Colour, *, snow: float, sunk: float = 0.0) -> Layer:
    """Mountains; those that are sunk show their tops only."""
    wide, high, left, top = site.strip(depth, tall)
    ridge = ridge_line(site.rng, wide, site.height * 0.55, sharp=0.85)
    heights = ((0.25 + 0.75 * ridge - sunk) / (1 - sunk)).astype(np.float32) * high
    paint = faded(site, colour, wide, high)
    rough = noise(site.rng, wide, high, site.height * 0.05, octaves=3)
    # The side away from the light is darker: light comes from the left, so where the ground falls it is in shade.
    slope = np.gradient(heights).astype(np.float32)
    soft = np.convolve(slope, np.ones(9) / 9, mode="same").astype(np.float32)
    rows = np.arange(high, dtype=np.float32)[:, None]
    # A flank runs down aslant from its ridge.
    beside = np.arange(wide)[None, :] - ((rows - (high - heights[None, :])).clip(0, None) * 0.55).astype(np.intp)
    shade = (0.5 - soft[beside.clip(0, wide - 1)] * 1.1 + (rough - 0.5) * 0.7).clip(0, 1) * 0.45
    paint.paste(darker(colour, 0.5), (0, 0), mask_of(shade.astype(np.float32)))
    if snow:
        cap = ((high - rows) - high * (0.6 + 0.34 * (rough - 0.5))) / (0.025 * high)
        paint.paste(
            mix((250, 250, 255), site.palette.light, 0.4),
            (0, 0),
            mask_of((cap * snow).clip(0, 0.85).astype(np.float32)),
        )
    return Layer(paint, below(heights, high), left, top)


def rolling(site: Site, depth: float, tall: float, colour: Colour, *, trees: bool = False) -> Layer:
    wide, high, left, top = site.strip(depth, tall)
    heights = (0.25 + 0.55 * noise(site.rng, wide, 1, site.height * 0.9, octaves=3)[0]) * high
    mask = below(heights, high)
    paint = faded(site, colour, wide, high, 0.25)
    if trees:
        shape, brush = ImageDraw.Draw(mask), ImageDraw.Draw(paint)
        for _ in range(round(wide / site.height * 7)):
            at = float(site.rng.uniform(0, wide - 1))
            foot = high - float(heights[int(at)])
            r = site.rng.uniform(0.010, 0.022) * site.height
            crown = darker(colour, 0.3)
            for drawer, fill in ((shape, 255), (brush, crown)):
                drawer.ellipse((at - r, foot - 2.2 * r, at + r, foot + 0.1 * r), fill=fill)
                drawer.ellipse((at - 1.4 * r, foot - 1.5 * r, at + 1.2 * r, foot + 0.3 * r), fill=fill)
    return Layer(paint, mask, left, top)


def dunes(site: Site, depth: float, tall: float, colour: Colour, *, cacti: bool = False) -> Layer:
    wide, high, left, top = site.strip(depth, tall)
    line = noise(site.rng, wide, 1, site.height * 0.8, octaves=2)[0]
    heights = (0.2 + 0.6 * line) * high
    paint = faded(site, colour, wide, high, 0.15)
    slope = np.gradient(heights).astype(np.float32)
    shade = np.repeat((slope[None, :] * -2.4).clip(0, 0.55), high, axis=0).astype(np.float32)
    paint.paste(darker(colour, 0.4), (0, 0), mask_of(shade))
    mask = below(heights, high)
    if cacti:
        shape, brush = ImageDraw.Draw(mask), ImageDraw.Draw(paint)
        for _ in range(max(round(wide / site.height * 2.2), 1)):
            at = float(site.rng.uniform(0, wide - 1))
            foot = high - float(heights[int(at)])
            size = site.rng.uniform(0.25, 0.75) * (foot + 0.02 * site.height)
            green = darker(mix(site.palette.near, (62, 96, 66), 0.55), 0.2)
            for drawer, fill in ((shape, 255), (brush, green)):
                _cactus(drawer, at, foot + 0.02 * site.height, size, fill)
    return Layer(paint, mask, left, top)


def _cactus(drawer: ImageDraw.ImageDraw, x: float, foot: float, size: float, fill: Colour | int) -> None:
    thick = max(size * 0.17, 2)
    for points in (
        [(x, foot), (x, foot - size)],
        [(x, foot - 0.38 * size), (x - 0.28 * size, foot - 0.42 * size), (x - 0.28 * size, foot - 0.72 * size)],
        [(x, foot - 0.28 * size), (x + 0.26 * size, foot - 0.34 * size), (x + 0.26 * size, foot - 0.6 * size)],
    ):
        drawer.line(points, fill=fill, width=round(thick), joint="curve")
        end = points[-1]
        drawer.ellipse((end[0] - thick / 2, end[1] - thick / 2, end[0] + thick / 2, end[1] + thick / 2), fill=fill)


def mesas(site: Site, depth: float, tall: float, colour: Colour) -> Layer:
    wide, high, left, top = site.strip(depth, tall)
    mask = Image.new("L", (wide, high), 0)
    shape = ImageDraw.Draw(mask)
    x = -site.rng.uniform(0, 0.3) * site.height
    while x < wide:
        broad, rise = site.rng.uniform(0.22, 0.7) * site.height, site.rng.uniform(0.35, 0.9) * high
        foot = broad * 0.16
        shape.polygon(
            [
                (x, high),
                (x + foot, high - rise * 0.45),
                (x + foot * 1.15, high - rise),
                (x + broad - foot * 1.15, high - rise * site.rng.uniform(0.93, 1.0)),
                (x + broad - foot, high - rise * 0.45),
                (x + broad, high),
            ],
            fill=255,
        )
        x += broad * site.rng.uniform(0.7, 1.9)
    paint = faded(site, colour, wide, high, 0.5)
    bands = np.sin(np.arange(high, dtype=np.float32) / (0.011 * site.height))[:, None]
    strata = (bands * 0.10 + 0.10) * noise(site.rng, wide, high, site.height * 0.2, octaves=2)
    paint.paste(darker(colour, 0.4), (0, 0), mask_of(strata.astype(np.float32)))
    return Layer(paint, mask.filter(ImageFilter.GaussianBlur(0.6)), left, top)


def firs(site: Site, depth: float, tall: float, colour: Colour) -> Layer:
    wide, high, left, top = site.strip(depth, tall)
    heights = (0.14 + 0.2 * noise(site.rng, wide, 1, site.height * 0.5, octaves=3)[0]) * high
    mask = below(heights, high)
    paint = faded(site, colour, wide, high, 0.35)
    shape, brush = ImageDraw.Draw(mask), ImageDraw.Draw(paint)
    for _ in range(round(wide / (0.045 * site.height * (0.5 + depth)))):
        at = float(site.rng.uniform(0, wide - 1))
        foot = high - float(heights[int(at)]) + 0.02 * site.height
        size = site.rng.uniform(0.3, 0.78) * high
        tint = mix(darker(colour, 0.22), colour, float(site.rng.random()))
        for drawer, fill in ((shape, 255), (brush, tint)):
            _fir(drawer, at, foot, size, fill)
    return Layer(paint, mask, left, top)


def _fir(drawer: ImageDraw.ImageDraw, x: float, foot: float, size: float, fill: Colour | int) -> None:
    drawer.rectangle((x - size * 0.025, foot - size * 0.2, x + size * 0.025, foot), fill=fill)
    for tier in range(4):
        low, half = foot - size * (0.12 + 0.2 * tier), size * (0.2 - 0.037 * tier)
        drawer.polygon([(x - half, low), (x, low - size * 0.34), (x + half, low)], fill=fill)


def weeds(site: Site, depth: float, tall: float) -> Layer:
    wide, high, left, top = site.strip(depth, tall)
    heights = (0.12 + 0.2 * noise(site.rng, wide, 1, site.height * 0.5, octaves=3)[0]) * high
    mask = below(heights, high)
    paint = faded(site, site.palette.near, wide, high, 0.2)
    shape, brush = ImageDraw.Draw(mask), ImageDraw.Draw(paint)
    for _ in range(round(wide / site.height * 16)):
        at, size = float(site.rng.uniform(0, wide - 1)), site.rng.uniform(0.2, 0.75) * high
        foot, bend = high - float(heights[int(at)]) + 4, site.rng.uniform(2, 6)
        points = [(at + math.sin(n / bend) * 0.06 * size, foot - size * n / 12) for n in range(13)]
        coral = site.rng.random() < 0.3
        tint = mix(site.palette.near, site.palette.accent if coral else (30, 130, 110), 0.45)
        for drawer, fill in ((shape, 255), (brush, tint)):
            drawer.line(points, fill=fill, width=max(round(0.007 * site.height), 1), joint="curve")
    return Layer(paint, mask, left, top)
