"""What everybody stands on. It is a plane that goes to the horizon: its near edge moves faster than its far one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from penstock.studio.drawing.camera import Camera, CameraView
from penstock.studio.drawing.canvas import Floats, Layer, lay, mask_of, noise
from penstock.studio.drawing.colour import Colour, darker, lighter, lit, mix
from penstock.studio.drawing.site import NEAR, Deep, Site

KINDS: dict[str, Colour] = {
    "street": (98, 100, 110),
    "water": (52, 110, 150),
    "sand": (226, 192, 138),
    "snow": (236, 240, 248),
    "grass": (104, 148, 78),
    "moon": (176, 174, 178),
    "dust": (150, 148, 160),
    "floor": (150, 110, 84),
    "roof": (128, 126, 128),
    "stones": (176, 160, 140),
    "tiles": (206, 206, 200),
    "metal": (132, 140, 156),
}

_ROUGH = {"water": 0.34, "street": 0.1, "sand": 0.16, "snow": 0.07, "grass": 0.3, "moon": 0.16, "dust": 0.2}
_ROUGH |= {"floor": 0.12, "roof": 0.14, "stones": 0.2, "tiles": 0.03, "metal": 0.05}
_JOINTS = {
    "floor": (0.09, False),
    "stones": (0.12, True),
    "tiles": (0.2, True),
    "metal": (0.3, True),
    "roof": (0.5, True),
}
"How far apart joints run towards the horizon, in heights of the picture, and whether others cross them."

_EDGE = 1.25
"The near edge follows the camera by more than it moves: it is nearer than who is filmed."


@dataclass(frozen=True, slots=True)
class Ground:
    """A painted plane."""

    paint: Image.Image
    top: float
    more: float
    glitter: Floats | None
    "Where on water light breaks: x, y, length and phase, each from 0 to 1; None if it is no water."
    shine: Colour
    mirror: Layer | None
    "What stands behind, as it is seen in the plane; it stays below what it is of."

    def draw(self, frame: Image.Image, camera: Camera, view: CameraView, seconds: float) -> None:
        """Put it on a frame, sheared as the camera moves."""
        (_, top), _ = camera.seen(view, NEAR, 0.0, self.top)
        first = max(math.ceil(top), 0)
        high = frame.height - first
        if high <= 0:
            return
        far, near = view.x * NEAR * frame.width, view.x * _EDGE * frame.width
        near_zoom = 1 + (view.zoom - 1) * _EDGE
        # Rows of the frame to rows of the picture: the whole plane is always in sight, nearer only wider.
        deep = self.paint.height / max(frame.height - top, 1)
        shear = (near - far) / max(frame.height - top, 1)
        across = 1 / near_zoom
        left = self.more + frame.width / 2 * (1 - across) + far + (first - top) * shear
        shape = (across, shear, left, 0.0, deep, (first - top) * deep)
        size = (frame.width, high)
        frame.paste(self.paint.transform(size, Image.Transform.AFFINE, shape, Image.Resampling.BILINEAR), (0, first))
        if self.mirror is not None:
            (left, below), zoom = camera.seen(view, NEAR, self.mirror.left, self.mirror.top)
            lay(frame, self.mirror, left, below, zoom)
        if self.glitter is not None:
            self._sparkle(frame, first, high, far, seconds)

    def _sparkle(self, frame: Image.Image, first: int, high: int, shift: float, seconds: float) -> None:
        assert self.glitter is not None
        brush = ImageDraw.Draw(frame, "RGBA")
        thick = max(round(frame.height / 360), 1)
        for x, y, length, phase in self.glitter.tolist():
            strength = math.sin(2 * math.pi * (seconds * (0.25 + 0.5 * phase) + phase * 7)) * 0.5 + 0.5
            if strength < 0.35:
                continue
            at = (x * 1.2 - 0.1) * frame.width - shift * (0.5 + y) + math.sin(seconds * 0.8 + phase * 9) * 6
            row = first + (y**1.6) * high
            half = length * frame.width * (0.4 + 1.3 * y) * strength
            brush.line((at - half, row, at + half, row), fill=(*self.shine, round(160 * strength)), width=thick)


def ground(kind: str, place: str, site: Site, backdrop: list[Deep], sun: float | None, *, wet: bool) -> Ground:
    """A plane of a kind. What is behind it is mirrored in water, on wet streets and on a stage's floor."""
    more = site.reach(_EDGE) + 0.14 * site.width
    wide, high = round(site.width + 2 * more), max(round(site.height - site.horizon) + 2, 2)
    base = lit(KINDS[kind], site.palette.light)
    if site.palette.dark and kind not in {"moon", "metal"}:
        base = mix(base, site.palette.near, 0.45)
    if kind == "water":
        base = mix(mix(KINDS[kind], site.palette.zenith, 0.6), site.palette.middle, 0.2)
    elif kind == "snow":
        base = mix(base, KINDS[kind], 0.45)
    elif kind == "sand" and not site.palette.dark:
        base = mix(base, site.palette.near, 0.12)
    elif kind == "floor":
        base = mix(base, site.palette.near, 0.35)
    elif kind == "roof":
        base = mix(base, site.palette.near, 0.2)
    if place == "underwater":
        base = mix(base, site.palette.far, 0.55)
    far = mix(base, site.palette.horizon, {"water": 0.3, "moon": 0.12, "metal": 0.1, "tiles": 0.1}.get(kind, 0.5))
    values = _plane(wide, high, far, base) * _texture(site, wide, high, kind)[:, :, None]
    picture = Image.fromarray(values.clip(0, 255).astype(np.uint8))
    if kind == "street":
        _markings(picture, site)
    if kind in {"moon", "dust"}:
        _craters(picture, site, large=kind == "moon")
    strength = {"water": 0.4, "street": 0.42 if wet else 0.0, "floor": 0.3, "metal": 0.3, "tiles": 0.25}.get(kind, 0.0)
    mirror = _mirror(site, high, backdrop, strength) if strength else None
    glitter = _glitter(site, sun) if kind == "water" else None
    shine = lighter(mix(site.palette.sun, site.palette.horizon, 0.3), 0.2)
    return Ground(picture, site.horizon, more, glitter, shine, mirror)


def _plane(wide: int, high: int, far: Colour, near: Colour) -> Floats:
    part = np.linspace(0, 1, high, dtype=np.float32)[:, None] ** 0.7
    rows = np.array(far, dtype=np.float32) * (1 - part) + np.array(darker(near, 0.12), dtype=np.float32) * part
    return np.broadcast_to(rows[:, None, :], (high, wide, 3)).astype(np.float32)


def _texture(site: Site, wide: int, high: int, kind: str) -> Floats:
    """Soft noise seen flat: rows towards the horizon are squeezed."""
    rough = _ROUGH[kind]
    flat = noise(site.rng, wide, high * 3, site.height * (0.03 if kind == "water" else 0.05), octaves=4)
    part = np.linspace(0.02, 1, high) ** 0.55
    rows = (part * (high * 3 - 1)).astype(np.intp)
    if kind == "water":
        flat = np.asarray(Image.fromarray(flat).resize((max(wide // 14, 1), high * 3)).resize((wide, high * 3)))
    strength = np.linspace(0.25, 1, high, dtype=np.float32)[:, None]
    grain = (flat[rows] - 0.5) * 2 * rough * strength
    if kind in _JOINTS:
        wide_by, across = _JOINTS[kind]
        x = np.arange(wide, dtype=np.float32)[None, :] - wide / 2
        depth = np.linspace(0.35, 1.3, high, dtype=np.float32)[:, None]
        planks = np.abs(((x / depth / (wide_by * site.height)) % 1) - 0.5) > 0.47
        if across:
            # Rows of tiles lie closer the farther they are.
            rows_of = np.abs(((9 / (1.35 - 0.35 / depth)) % 1) - 0.5) > 0.46
            planks = planks | np.repeat(rows_of, wide, axis=1)
        grain = grain - 0.14 * planks
    return (1 + grain).astype(np.float32)


def _markings(picture: Image.Image, site: Site) -> None:
    """A kerb, and the dashes of the lane."""
    brush = ImageDraw.Draw(picture, "RGBA")
    wide, high = picture.size
    kerb = (*mix((190, 186, 176), site.palette.near, 0.5), 255)
    brush.rectangle((0, 0, wide, high * 0.10), fill=kerb)
    brush.rectangle((0, high * 0.10, wide, high * 0.125), fill=(*darker(kerb[:3], 0.45), 255))
    white = (*lighter(site.palette.light, 0.2), 150)
    unit = 0.16 * site.height
    for n in range(-1, math.ceil(wide / unit / 2) + 1):
        x = n * 2 * unit
        lean = 0.05 * unit
        row, thick = high * 0.60, high * 0.045
        brush.polygon([(x + lean, row), (x + unit + lean, row), (x + unit, row + thick), (x, row + thick)], fill=white)


def _craters(picture: Image.Image, site: Site, *, large: bool) -> None:
    """Holes with a dark side and a bright rim, the nearer the larger."""
    brush = ImageDraw.Draw(picture, "RGBA")
    wide, high = picture.size
    low, most = (0.05, 0.13) if large else (0.02, 0.06)
    for n in range(30 if large else 26):
        y = (n + float(site.rng.random())) / 30 if large else float(site.rng.random()) ** 0.8
        x, r = float(site.rng.uniform(0, wide)), site.rng.uniform(low, most) * site.height * (0.3 + y)
        row = 0.06 * high + y * high * 0.9
        if large:
            brush.ellipse((x - r * 1.12, row - r * 0.36, x + r * 1.12, row + r * 0.4), fill=(244, 242, 246, 150))
            brush.ellipse((x - r, row - r * 0.3, x + r, row + r * 0.3), fill=(74, 72, 82, 255))
            brush.ellipse((x - r * 0.82, row - r * 0.14, x + r * 0.96, row + r * 0.3), fill=(126, 124, 132, 255))
            continue
        brush.ellipse((x - r, row - r * 0.3, x + r, row + r * 0.3), fill=(10, 8, 24, 90))
        brush.ellipse((x - r * 0.9, row - r * 0.18, x + r, row + r * 0.34), fill=(230, 226, 240, 46))


def _mirror(site: Site, high: int, backdrop: list[Deep], strength: float) -> Layer:
    """What stands behind, upside down and torn by ripples, fading towards the viewer."""
    more = site.reach(NEAR)
    wide = round(site.width + 2 * more)
    world = Image.new("RGB", (wide, round(site.horizon)), site.palette.horizon)
    for _, layer in backdrop:
        lay(world, layer, layer.left + more, layer.top, 1.0)
    upside = world.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    upside = upside.crop((0, 0, wide, max(min(round(high * 1.3), upside.height), 1)))
    # Smeared downwards: reflections on a rough plane are long.
    smeared = upside.resize((max(wide // 3, 1), max(high // 9, 1)), Image.Resampling.BOX)
    smeared = smeared.resize((wide, high), Image.Resampling.BICUBIC)
    rows = np.linspace(1, 0, high, dtype=np.float32)[:, None] ** 0.8
    torn = 0.65 + 0.35 * noise(site.rng, 1, high, max(high / 26, 1.0), octaves=2)
    fading = mask_of(np.repeat(rows * torn * strength, wide, axis=1).astype(np.float32))
    return Layer(smeared, fading, -more, site.horizon)


def _glitter(site: Site, sun: float | None) -> Floats:
    """Most of the light on water is below the sun."""
    spread = site.rng.random((150, 4), dtype=np.float32)
    spread[:, 2] = 0.004 + 0.016 * spread[:, 2]
    if sun is not None:
        below = sun / site.width + site.rng.normal(0, 1, 110).astype(np.float32) * (0.025 + 0.07 * spread[:110, 1])
        spread[:110, 0] = ((below + 0.1) / 1.2).clip(0, 1)
    return spread
