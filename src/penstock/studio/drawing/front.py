"""What is nearer than whoever is filmed, dark and out of focus: grass, a crowd, a bank to stand on; and fog."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from penstock.studio.drawing.camera import Camera, CameraView
from penstock.studio.drawing.canvas import Layer, gradient, lay, mask_of, noise
from penstock.studio.drawing.colour import Colour, darker, lit, mix
from penstock.studio.drawing.site import Site

_DEPTH = 1.5
_COARSE = 6


@dataclass(frozen=True, slots=True)
class Front:
    """A strip at the lower edge of the frame."""

    layer: Layer
    depth: float = _DEPTH
    beat: float = 0.0
    "How far it goes up and down with the music, in pixels."

    def draw(self, frame: Image.Image, camera: Camera, view: CameraView, seconds: float) -> None:
        (left, top), zoom = camera.seen(view, self.depth, self.layer.left, self.layer.top)
        lay(frame, self.layer, left, top - abs(math.sin(seconds * 2 * math.pi)) * self.beat, zoom)


def front(kind: str, site: Site) -> Front | None:
    """What there is in front of a ground; None where nothing is."""
    match kind:
        case "grass":
            return Front(_grass(site))
        case "stage":
            return Front(_crowd(site), beat=0.012 * site.height)
        case "water":
            return Front(_bank(site), depth=1.0)
    return None


def _strip(site: Site, tall: float, depth: float) -> tuple[int, int, float, float]:
    more = site.reach(depth) + 0.06 * site.width
    high = round((tall + 0.14) * site.height)
    return round(site.width + 2 * more), high, -more, site.height * (1 - tall)


def _grass(site: Site) -> Layer:
    wide, high, left, top = _strip(site, 0.11, _DEPTH)
    mask = Image.new("L", (wide, high), 0)
    brush = ImageDraw.Draw(mask)
    clumps = noise(site.rng, wide, 1, site.height * 0.4, octaves=2)[0]
    for _ in range(round(wide / site.height * 260)):
        x = float(site.rng.uniform(0, wide - 1))
        tall = high * (0.25 + 0.75 * float(clumps[int(x)])) * float(site.rng.uniform(0.5, 1))
        bend, half = site.rng.uniform(-0.3, 0.3) * tall, 0.004 * site.height
        brush.polygon([(x - half, high), (x + half, high), (x + bend, high - tall)], fill=255)
    colour = darker(mix(site.palette.near, (44, 66, 36), 0.45), 0.25)
    return Layer(colour, mask.filter(ImageFilter.GaussianBlur(site.height / 400)), left, top)


def _crowd(site: Site) -> Layer:
    wide, high, left, top = _strip(site, 0.15, _DEPTH)
    mask = Image.new("L", (wide, high), 0)
    brush = ImageDraw.Draw(mask)
    unit = site.height * 0.05
    x = 0.0
    while x < wide:
        y, r = site.rng.uniform(0.35, 0.6) * high, unit * site.rng.uniform(0.65, 0.9)
        brush.ellipse((x - r, y - r * 1.15, x + r, y + r * 1.15), fill=255)
        brush.rounded_rectangle((x - 2 * r, y + r, x + 2 * r, high + r), r, fill=255)
        if site.rng.random() < 0.4:
            reach = y - unit * site.rng.uniform(1.4, 2.6)
            brush.line((x + 1.5 * r, y + 1.6 * r, x + 1.8 * r, reach), fill=255, width=round(0.5 * unit))
        x += unit * site.rng.uniform(1.5, 2.3)
    return Layer(darker(site.palette.near, 0.45), mask.filter(ImageFilter.GaussianBlur(site.height / 360)), left, top)


def _bank(site: Site) -> Layer:
    """Something to stand on beside water."""
    wide, high, left, top = _strip(site, 0.13, 1.0)
    line = (0.75 + 0.25 * noise(site.rng, wide, 1, site.height * 0.7, octaves=3)[0]) * high
    rows = np.arange(high, dtype=np.float32)[:, None]
    mask = mask_of((rows - (high - line[None, :])) / 2)
    sand: Colour = mix(lit((214, 184, 136), site.palette.light), site.palette.near, 0.5 if site.palette.dark else 0.2)
    paint = gradient(wide, high, [(0, mix(sand, site.palette.horizon, 0.25)), (1, darker(sand, 0.25))])
    specks = noise(site.rng, wide, high, site.height * 0.012, octaves=2)
    paint.paste(darker(sand, 0.4), (0, 0), mask_of(((specks - 0.6) * 1.2).astype(np.float32)))
    return Layer(paint, mask, left, top)


def fog(site: Site) -> Layer:
    """Low mist that drifts."""
    wide, high = round(site.width * 1.9 / _COARSE), max(round(site.height * 0.6 / _COARSE), 2)
    body = noise(site.rng, wide, high, high * 0.8, octaves=4)
    band = np.sin(np.linspace(0, math.pi, high, dtype=np.float32))[:, None]
    tone = mix(site.palette.horizon, site.palette.cloud, 0.5)
    return Layer(tone, mask_of((body * band * 0.8).astype(np.float32)), 0.0, site.horizon - 0.34 * site.height)


def draw_fog(frame: Image.Image, layer: Layer, seconds: float, pan: float) -> None:
    left = -0.15 * frame.width - (seconds * 0.012 + pan * 0.8) * frame.width % (0.6 * frame.width)
    lay(frame, layer, left, layer.top, float(_COARSE))
