"""What moves in the air: rain, snow, petals, sparks, birds, beams of light."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from penstock.studio.drawing.canvas import Floats, glow
from penstock.studio.drawing.colour import WHITE, Colour, darker, lighter, mix
from penstock.studio.drawing.site import Site


@dataclass(frozen=True, slots=True)
class Air:
    """Many small things of one kind, each with a place, a nearness and a phase of its own."""

    kind: str
    grains: Floats
    "x, y, nearness and phase, from 0 to 1."
    colours: tuple[Colour, ...]

    def draw(self, frame: Image.Image, seconds: float, pan: float) -> None:
        """Put them on a frame; ``pan`` is how far the camera went, in widths of the picture."""
        _DRAWN[self.kind](self, frame, seconds, pan)


COUNTS = {
    "rain": 150,
    "snow": 130,
    "dust": 60,
    "fireflies": 46,
    "petals": 46,
    "leaves": 38,
    "sparks": 70,
    "confetti": 90,
    "birds": 9,
    "bubbles": 46,
}
"What there is, and how much of it."


def air(kind: str, site: Site) -> Air:
    """The air of a scene."""
    palette = site.palette
    colours = {
        "rain": (mix(palette.light, WHITE, 0.4),),
        "snow": (mix(palette.light, WHITE, 0.7),),
        "dust": (lighter(palette.light, 0.3),),
        "fireflies": (lighter(palette.accent, 0.4), palette.accent),
        "petals": ((250, 190, 208), (255, 224, 230), (240, 150, 180)),
        "leaves": ((214, 122, 50), (188, 74, 44), (226, 176, 70)),
        "sparks": ((255, 190, 90), (255, 140, 60), (255, 230, 170)),
        "confetti": (palette.accent, palette.second, (255, 222, 89), (130, 220, 150), (240, 240, 250)),
        "birds": (darker(palette.near, 0.35),),
        "bubbles": (lighter(palette.cloud, 0.3),),
    }[kind]
    return Air(kind, site.rng.random((COUNTS[kind], 4), dtype=np.float32), colours)


def _rain(air: Air, frame: Image.Image, seconds: float, pan: float) -> None:
    brush = ImageDraw.Draw(frame, "RGBA")
    wide, high = frame.size
    for x, y, near, _ in air.grains.tolist():
        fall = (y + seconds * (1.1 + 0.9 * near)) % 1.2 - 0.1
        at = ((x - pan * near * 1.5 - 0.06 * fall) % 1.0) * wide * 1.1 - 0.05 * wide
        length = (0.03 + 0.05 * near) * high
        shade = (*air.colours[0], round(50 + 80 * near))
        ends = (at, fall * high, at - 0.12 * length, fall * high + length)
        brush.line(ends, fill=shade, width=max(round(near * high / 400), 1))


def _soft(
    air: Air, frame: Image.Image, where: Callable[[float, float, float, float], tuple[float, float, float, float]]
) -> None:
    """Soft dots; ``where`` tells place, radius in parts of the height and strength."""
    wide, high = frame.size
    for n, (x, y, near, phase) in enumerate(air.grains.tolist()):
        px, py, size, strength = where(x, y, near, phase)
        if strength < 0.05:
            continue
        dot = _dot(max(round(size * high), 1), max(round(strength * 10), 1))
        frame.paste(
            air.colours[n % len(air.colours)],
            (round(px * wide) - dot.width // 2, round(py * high) - dot.height // 2),
            dot,
        )


_dots: dict[tuple[int, int], Image.Image] = {}


def _dot(radius: int, tenths: int) -> Image.Image:
    """A soft dot of some strength; they are few and made once."""
    found = _dots.get((radius, tenths))
    if found is None:
        found = _dots[radius, tenths] = glow(radius, hardness=1.5).point([round(v * tenths / 10) for v in range(256)])
    return found


def _snow(air: Air, frame: Image.Image, seconds: float, pan: float) -> None:
    def where(x: float, y: float, near: float, phase: float) -> tuple[float, float, float, float]:
        sway = 0.02 * math.sin(seconds * 1.2 + phase * 7)
        fall = (y + seconds * (0.06 + 0.10 * near)) % 1.1 - 0.05
        return ((x + sway - pan * near * 1.4) % 1.1) - 0.05, fall, 0.004 + 0.009 * near**2, 0.45 + 0.5 * near

    _soft(air, frame, where)


def _dust(air: Air, frame: Image.Image, seconds: float, pan: float) -> None:
    def where(x: float, y: float, near: float, phase: float) -> tuple[float, float, float, float]:
        across = (x + seconds * 0.02 * (0.5 + near) - pan * near * 1.3) % 1.1 - 0.05
        up = y + 0.03 * math.sin(seconds * 0.6 + phase * 9)
        return across, up, 0.003 + 0.007 * near**3, 0.12 + 0.22 * near

    _soft(air, frame, where)


def _fireflies(air: Air, frame: Image.Image, seconds: float, pan: float) -> None:
    def where(x: float, y: float, near: float, phase: float) -> tuple[float, float, float, float]:
        across = (x + 0.03 * math.sin(seconds * 0.7 + phase * 11) - pan * near * 1.3) % 1.1 - 0.05
        up = 0.35 + 0.6 * y + 0.03 * math.sin(seconds * 0.9 + phase * 5)
        return across, up, 0.006 + 0.012 * near, 0.5 + 0.5 * math.sin(seconds * 2 + phase * 13)

    _soft(air, frame, where)


def _sparks(air: Air, frame: Image.Image, seconds: float, pan: float) -> None:
    def where(x: float, y: float, near: float, phase: float) -> tuple[float, float, float, float]:
        rise = (y + seconds * (0.12 + 0.2 * near)) % 1.1
        across = (x + 0.03 * math.sin(seconds * 2 + phase * 9) - pan * near * 1.3) % 1.1 - 0.05
        return across, 1.05 - rise, 0.003 + 0.006 * near, 1.0 - 0.75 * rise

    _soft(air, frame, where)


def _flakes(air: Air, frame: Image.Image, seconds: float, pan: float) -> None:
    """Petals, leaves and confetti: they turn while they fall."""
    brush = ImageDraw.Draw(frame)
    wide, high = frame.size
    speed = 0.16 if air.kind == "confetti" else 0.09
    for n, (x, y, near, phase) in enumerate(air.grains.tolist()):
        fall = (y + seconds * speed * (0.6 + near)) % 1.15 - 0.08
        across = (x + seconds * 0.03 + 0.04 * math.sin(seconds * 1.1 + phase * 9) - pan * near * 1.4) % 1.1 - 0.05
        size = (0.006 + 0.010 * near) * high
        turn, flat = seconds * (1 + 2 * phase) + phase * 20, 0.3 + 0.7 * abs(math.sin(seconds * 2.3 + phase * 17))
        c, s = math.cos(turn) * size, math.sin(turn) * size
        px, py = across * wide, fall * high
        points = [(px + c, py + s), (px - s * flat, py + c * flat), (px - c, py - s), (px + s * flat, py - c * flat)]
        brush.polygon(points, fill=air.colours[n % len(air.colours)])


def _birds(air: Air, frame: Image.Image, seconds: float, pan: float) -> None:
    brush = ImageDraw.Draw(frame)
    wide, high = frame.size
    for x, y, near, phase in air.grains.tolist():
        px = ((x * 0.5 + seconds * (0.03 + 0.01 * near) - pan * 0.3) % 1.2 - 0.1) * wide
        py = (0.10 + 0.25 * y + 0.01 * math.sin(seconds + phase * 8)) * high
        span, flap = (0.010 + 0.012 * near) * high, math.sin(seconds * 9 * (0.7 + 0.3 * phase) + phase * 11)
        wing = py - flap * span * 0.6
        points = [(px - span, wing), (px - span * 0.3, py - span * 0.1), (px, py), (px + span * 0.3, py - span * 0.1)]
        brush.line([*points, (px + span, wing)], fill=air.colours[0], width=max(round(high / 300), 1), joint="curve")


def _bubbles(air: Air, frame: Image.Image, seconds: float, pan: float) -> None:
    brush = ImageDraw.Draw(frame, "RGBA")
    wide, high = frame.size
    for x, y, near, phase in air.grains.tolist():
        rise = (y + seconds * (0.05 + 0.09 * near)) % 1.15
        px = ((x + 0.012 * math.sin(seconds * 2 + phase * 9) - pan * near * 1.3) % 1.1 - 0.05) * wide
        py, r = (1.08 - rise) * high, (0.004 + 0.012 * near**2) * high
        colour = air.colours[0]
        brush.ellipse((px - r, py - r, px + r, py + r), fill=(*colour, 50), outline=(*colour, 150))
        brush.ellipse((px - r * 0.5, py - r * 0.6, px - r * 0.1, py - r * 0.2), fill=(255, 255, 255, 150))


_DRAWN: dict[str, Callable[[Air, Image.Image, float, float], None]] = {
    "rain": _rain,
    "snow": _snow,
    "dust": _dust,
    "fireflies": _fireflies,
    "petals": _flakes,
    "leaves": _flakes,
    "confetti": _flakes,
    "sparks": _sparks,
    "birds": _birds,
    "bubbles": _bubbles,
}


def beams(frame: Image.Image, colours: tuple[Colour, ...], seconds: float, *, from_above: bool) -> Image.Image:
    """Beams of light added to a frame: of lamps that turn, or of the sun under water."""
    small = Image.new("RGB", (max(frame.width // 5, 2), max(frame.height // 5, 2)))
    wide, high = small.size
    count = 5 if from_above else 6
    for n in range(count):
        swing = math.sin(seconds * (0.5 + 0.13 * n) + n * 1.9) * (0.08 if from_above else 0.34)
        x = (n + 0.5) / count * wide
        lean, spread = swing * wide + (0.12 * wide if from_above else 0), (0.05 if from_above else 0.075) * wide
        beam = Image.new("L", small.size)
        reach = high * 1.05
        foot = [(x + lean + spread, reach), (x + lean - spread, reach)]
        ImageDraw.Draw(beam).polygon(
            [(x - 0.006 * wide, 0), (x + 0.006 * wide, 0), *foot], fill=90 if from_above else 130
        )
        light = Image.new("RGB", small.size)
        light.paste(colours[n % len(colours)], (0, 0), ImageChops.multiply(beam, _fading(small.size)))
        small = ImageChops.add(small, light)
    small = small.filter(ImageFilter.BoxBlur(1))
    return ImageChops.screen(frame, small.resize(frame.size, Image.Resampling.BILINEAR))


def _fading(size: tuple[int, int]) -> Image.Image:
    column = Image.fromarray(np.linspace(255, 20, size[1]).astype(np.uint8)[:, None])
    return column.resize(size)
