"""The sky: colours, sun or moon, stars, clouds that drift; in space a nebula and a planet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from penstock.studio.drawing.camera import Camera, CameraView
from penstock.studio.drawing.canvas import Floats, Layer, Sketch, glow, gradient, lay, mask_of, noise
from penstock.studio.drawing.colour import Colour, darker, lighter, mix, turned
from penstock.studio.drawing.site import Site

_DEPTH, _CLOUDS = 0.06, 0.12
_COARSE = 4
"Clouds are soft: so many pixels of the frame are one of theirs."
_ROOFED = frozenset({"stage", "room", "library", "kitchen", "bedroom", "train", "cafe", "classroom", "cave"})
"Places under a roof: whatever is seen of the sky, it is not the sun."
_FULL_SKY = {"day": 0.42, "dawn": 0.5, "sunset": 0.55, "night": 0.3}


@dataclass(frozen=True, slots=True)
class Sky:
    """All that is behind the land."""

    plate: Layer
    bodies: tuple[Layer, ...]
    stars: Floats
    "x, y, size and phase."
    clouds: Layer | None
    sun: float | None
    "Where over the horizon it stands, in pixels from the left."

    def draw(self, frame: Image.Image, camera: Camera, view: CameraView, seconds: float) -> None:
        self._lay(frame, camera, view, self.plate, _DEPTH)
        self._twinkle(frame, camera, view, seconds)
        for body in self.bodies:
            self._lay(frame, camera, view, body, _DEPTH)
        if self.clouds is not None:
            (left, top), zoom = camera.seen(view, _CLOUDS, self.clouds.left - seconds * 0.008 * camera.width, 0.0)
            lay(frame, self.clouds, left, min(top, 0.0), zoom * _COARSE)

    @staticmethod
    def _lay(frame: Image.Image, camera: Camera, view: CameraView, layer: Layer, depth: float) -> None:
        (left, top), zoom = camera.seen(view, depth, layer.left, layer.top)
        lay(frame, layer, left, top, zoom)

    def _twinkle(self, frame: Image.Image, camera: Camera, view: CameraView, seconds: float) -> None:
        if not len(self.stars):
            return
        brush = ImageDraw.Draw(frame, "RGBA")
        for x, y, size, phase in self.stars.tolist():
            (at, row), _ = camera.seen(view, _DEPTH, x, y)
            bright = round(255 * (0.55 + 0.45 * math.sin(seconds * (1 + 2 * phase) + 20 * phase)) * (0.4 + 0.6 * phase))
            brush.ellipse((at - size, row - size, at + size, row + size), fill=(255, 250, 240, bright))


def sky(place: str, hour: str, site: Site, *, overcast: bool) -> Sky:
    """The sky over a place."""
    more = site.reach(_DEPTH) + 0.02 * site.width
    wide, high = round(site.width + 2 * more), round(site.height * 1.05)
    palette = site.palette
    floor = min(site.horizon / high, 0.98)
    stops = [(0.0, palette.zenith), (floor * 0.62, palette.middle), (floor, palette.horizon), (1.0, palette.horizon)]
    plate = gradient(wide, high, stops)
    bodies: list[Layer] = []
    sun = None
    if place in {"space", "station"}:
        _nebula(plate, site)
        bodies.append(_planet(site) if place == "space" else _earth(site, 0.42, 0.5, 0.34))
    elif place == "moon":
        bodies.append(_earth(site, 0.26, 0.3, 0.17))
    elif place == "underwater":
        pass
    elif place not in _ROOFED and not overcast:
        sun = float(site.rng.uniform(0.2, 0.8)) * site.width
        _halo(plate, site, sun + more, hour)
        bodies.append(_moon(site, sun) if hour == "night" else _sun(site, sun, hour))
    usual = 110 if palette.dark and not overcast and place not in {"stage", "cave"} else 0
    count = {"space": 170, "moon": 170, "station": 120, "underwater": 0}.get(place, usual)
    clouds = (
        None
        if place in {"space", "moon", "station", "stage", "cave", "underwater"}
        else _clouds(site, _FULL_SKY[hour], overcast=overcast)
    )
    plate_layer = Layer(plate, None, -more, -0.02 * site.height, soft=True)
    return Sky(plate_layer, tuple(bodies), _stars(site, count), clouds, sun)


def _stars(site: Site, count: int) -> Floats:
    stars = site.rng.random((count, 4)).astype(np.float32)
    stars[:, 0] *= site.width * 1.1
    stars[:, 1] *= site.horizon * 0.92
    stars[:, 2] = (0.3 + 0.9 * stars[:, 2] ** 3) * site.height / 720 + 0.15
    return stars


def _sun_height(hour: str) -> float:
    return {"day": 0.2, "dawn": 0.72, "sunset": 0.78, "night": 0.26}[hour]


def _halo(plate: Image.Image, site: Site, x: float, hour: str) -> None:
    """The air around the sun."""
    r = round(site.height * (0.75 if hour in {"dawn", "sunset"} else 0.5))
    soft = glow(64, hardness=2.2).resize((2 * r, 2 * r), Image.Resampling.BILINEAR)
    strength = {"day": 0.5, "dawn": 0.75, "sunset": 0.8, "night": 0.32}[hour]
    soft = soft.point([round(v * strength) for v in range(256)])
    plate.paste(site.palette.sun, (round(x - r), round(_sun_height(hour) * site.horizon - r)), soft)


def _sun(site: Site, x: float, hour: str) -> Layer:
    r = site.height * (0.085 if hour in {"dawn", "sunset"} else 0.05)
    sketch = Sketch(2.2, 2.2, r)
    sketch.oval(0, 0, 1, 1, mix(site.palette.sun, (255, 255, 255), 0.25))
    return Layer(sketch.done(), None, x - 1.1 * r, _sun_height(hour) * site.horizon - 1.1 * r)


def _moon(site: Site, x: float) -> Layer:
    r = site.height * 0.06
    sketch = Sketch(2.2, 2.2, r)
    disc = site.palette.sun
    sketch.oval(0, 0, 1, 1, disc)
    for mx, my, size in ((-0.3, -0.25, 0.24), (0.28, 0.18, 0.3), (-0.2, 0.45, 0.16), (0.35, -0.4, 0.13)):
        sketch.oval(mx, my, size, size * 0.9, darker(disc, 0.1))
    return Layer(sketch.done(), None, x - 1.1 * r, _sun_height("night") * site.horizon - 1.1 * r)


def _planet(site: Site) -> Layer:
    """A large planet with bands and a ring, half in the dark."""
    r = site.height * float(site.rng.uniform(0.16, 0.24))
    body = mix(site.palette.second, turned(site.palette.second, float(site.rng.uniform(-0.15, 0.15))), 0.6)
    sketch = Sketch(4.6, 2.4, r, fine=2)
    disc = Sketch(4.6, 2.4, r, fine=2)
    disc.oval(0, 0, 1, 1, body)
    alpha = disc.picture.getchannel("A")
    for n, y in enumerate(np.linspace(-0.8, 0.8, 7)):
        tone = (lighter(body, 0.14), darker(body, 0.12))[n % 2]
        disc.oval(0, float(y), 1.1, float(site.rng.uniform(0.05, 0.13)), tone)
    x, y = (
        np.linspace(-n / 2, n / 2, size, dtype=np.float32)
        for n, size in zip((4.6, 2.4), disc.picture.size, strict=True)
    )
    night = mask_of(((0.75 * x[None, :] + 0.5 * y[:, None] + 0.1) * 1.5).clip(0, 0.9))
    disc.picture.paste(mix(darker(body, 0.6), site.palette.zenith, 0.5), (0, 0), night)
    disc.picture.putalpha(alpha)
    ring = lighter(mix(body, site.palette.accent, 0.4), 0.2)
    sketch.oval(0, 0.05, 2.1, 0.5, ring)
    sketch.oval(0, 0.05, 1.65, 0.36, mix(ring, site.palette.middle, 0.75))
    hole = Sketch(4.6, 2.4, r, fine=2)
    hole.oval(0, 0.05, 1.4, 0.28, ring)
    ring_alpha = sketch.picture.getchannel("A")
    ring_alpha.paste(0, (0, 0), hole.picture.getchannel("A"))
    sketch.picture.putalpha(ring_alpha)
    behind = sketch.picture.copy()
    sketch.picture.paste(disc.picture, (0, 0), disc.picture)
    # The near half of the ring is in front of the planet.
    front = (0, behind.height // 2 + round(0.05 * r * 2), behind.width, behind.height)
    sketch.picture.paste(behind.crop(front), front[:2], behind.crop(front))
    left, top = site.rng.uniform(0.55, 0.85) * site.width, site.rng.uniform(0.28, 0.42) * site.horizon
    return Layer(sketch.done(), None, float(left) - 2.3 * r, float(top) - 1.2 * r)


def _earth(site: Site, x: float, y: float, r: float) -> Layer:
    """Our own planet: blue, with lands and clouds, lit from the left."""
    unit = site.height * r
    sketch = Sketch(2.2, 2.2, unit)
    sketch.oval(0, 0, 1, 1, (44, 110, 200))
    alpha = sketch.picture.getchannel("A")
    lands = (
        ((-0.62, -0.5), (-0.3, -0.78), (0.08, -0.7), (0.1, -0.4), (-0.16, -0.2), (-0.24, 0.04), (-0.46, -0.14)),
        ((-0.26, 0.1), (0.06, 0.06), (0.2, 0.3), (0.04, 0.56), (-0.06, 0.82), (-0.2, 0.5)),
        ((0.4, -0.56), (0.8, -0.4), (0.94, 0.0), (0.66, 0.14), (0.5, 0.44), (0.36, 0.1), (0.3, -0.24)),
    )
    for points in lands:
        sketch.shape(points, (86, 158, 84))
    for cx, cy, rx in (
        (-0.3, -0.3, 0.36),
        (0.34, -0.04, 0.4),
        (-0.1, 0.36, 0.34),
        (0.36, 0.64, 0.3),
        (0.1, -0.84, 0.3),
    ):
        sketch.oval(cx, cy, rx, 0.06, (240, 246, 250))
        sketch.oval(cx + 0.1, cy + 0.06, rx * 0.6, 0.05, (240, 246, 250))
    across = np.linspace(-1.1, 1.1, sketch.picture.width, dtype=np.float32)
    night = mask_of(np.repeat(((across - 0.25) * 1.1).clip(0, 0.8)[None, :], sketch.picture.height, axis=0))
    sketch.picture.paste((6, 8, 26), (0, 0), night)
    sketch.picture.putalpha(alpha)
    return Layer(sketch.done(), None, x * site.width - 1.1 * unit, y * site.horizon - 1.1 * unit)


def _nebula(plate: Image.Image, site: Site) -> None:
    small = (plate.width // _COARSE, plate.height // _COARSE)
    for colour in (site.palette.cloud, site.palette.second):
        fog = noise(site.rng, *small, small[1] * 0.5, octaves=5)
        cloud: Floats = ((fog - 0.5) * 1.7).clip(0, 0.62)
        plate.paste(colour, (0, 0), mask_of(cloud).resize(plate.size, Image.Resampling.BILINEAR))


def _clouds(site: Site, share: float, *, overcast: bool) -> Layer:
    """Drifting clouds: fewer towards the zenith, lit from where the sun is."""
    more = site.reach(_CLOUDS)
    wide = round((site.width * 1.9 + 2 * more) / _COARSE)
    high = max(round(site.horizon / _COARSE), 2)
    stretched = noise(site.rng, wide, high * 3, high * 0.9, octaves=5)
    fog = np.asarray(Image.fromarray(stretched).resize((wide, high), Image.Resampling.BOX))
    edge = 0.25 if overcast else 0.72 - 0.3 * share
    body: Floats = ((fog - edge) * (2.2 if overcast else 3.4)).clip(0, 0.85 if overcast else 0.7)
    band = np.linspace(0.55, 1, high, dtype=np.float32)[:, None] * np.linspace(1, 0.35, high, dtype=np.float32)[:, None]
    mask = mask_of((body * band * 1.35).astype(np.float32))
    tone: Colour = site.palette.cloud
    if overcast:
        tone = mix(tone, mix(site.palette.middle, (110, 114, 126), 0.4), 0.65)
    return Layer(tone, mask, -more, 0.0)
