"""Walls of rooms that are known by what stands before them: books, pots, beds, bottles, benches."""

from __future__ import annotations

import math
from collections.abc import Callable

from PIL import Image, ImageDraw

from penstock.studio.drawing.canvas import Layer, gradient
from penstock.studio.drawing.colour import Colour, darker, lighter, mix
from penstock.studio.drawing.nature import rolling
from penstock.studio.drawing.set_pieces import Piece, pieces
from penstock.studio.drawing.site import FAR, MIDDLE, NEAR, Deep, Site

_SPINES: tuple[Colour, ...] = (
    (168, 52, 46),
    (52, 88, 140),
    (70, 122, 78),
    (206, 160, 64),
    (112, 66, 120),
    (198, 186, 158),
    (140, 84, 48),
    (40, 112, 118),
)


class Wall:
    """A wall from the ceiling to the floor, to be painted on in parts of the frame's height."""

    def __init__(self, site: Site, tone: Colour) -> None:
        self.site = site
        self._more = site.reach(MIDDLE)
        self._size = (round(site.width + 2 * self._more), round(site.horizon + 0.03 * site.height))
        dusk = 0.45 if site.palette.dark else 0.0
        tone = mix(tone, (30, 26, 44), dusk)
        self.paint = gradient(*self._size, [(0, darker(tone, 0.18)), (0.6, tone), (1, darker(tone, 0.1))])
        self.mask = Image.new("L", self._size, 255)
        self.brush, self._hole = ImageDraw.Draw(self.paint), ImageDraw.Draw(self.mask)
        self._dusk = dusk

    def tint(self, colour: Colour) -> Colour:
        return mix(colour, (30, 26, 44), self._dusk)

    def box(self, x: float, y: float, wide: float, high: float) -> tuple[float, float, float, float]:
        """From parts: x of the width, y of the height; width and height of the height."""
        unit = self.site.height
        left = self._more + x * self.site.width
        return left, y * unit, left + wide * unit, (y + high) * unit

    def slab(self, x: float, y: float, wide: float, high: float, colour: Colour, round_by: float = 0.0) -> None:
        box = self.box(x, y, wide, high)
        if round_by:
            self.brush.rounded_rectangle(box, round_by * self.site.height, fill=self.tint(colour))
        else:
            self.brush.rectangle(box, fill=self.tint(colour))

    def disc(self, x: float, y: float, r: float, colour: Colour) -> None:
        left, top, _, _ = self.box(x, y, 0, 0)
        r *= self.site.height
        self.brush.ellipse((left - r, top - r, left + r, top + r), fill=self.tint(colour))

    def window(self, x: float, y: float, wide: float, high: float, frame: Colour, round_by: float = 0.01) -> None:
        """A hole, through which the outside is seen."""
        unit = self.site.height
        left, top, right, low = self.box(x, y, wide, high)
        edge = 0.016 * unit
        self.brush.rounded_rectangle(
            (left - edge, top - edge, right + edge, low + edge), round_by * unit + edge, fill=self.tint(frame)
        )
        self._hole.rounded_rectangle((left, top, right, low), round_by * unit, fill=0)

    def bars(self, x: float, y: float, wide: float, high: float, frame: Colour) -> None:
        left, top, right, low = self.box(x, y, wide, high)
        thick = max(round(0.012 * self.site.height), 1)
        for line in (
            (left, (top + low) / 2, right, (top + low) / 2),
            ((left + right) / 2, top, (left + right) / 2, low),
        ):
            self._hole.line(line, fill=255, width=thick)
            self.brush.line(line, fill=self.tint(frame), width=thick)

    def columns(self, step: float) -> list[float]:
        """Where something is that repeats from edge to edge, in parts of the width, each so many heights wide."""
        wide = step * self.site.height / self.site.width
        first = -math.ceil(self._more / self.site.width / wide) * wide
        return [first + n * wide for n in range(math.ceil((1 - 2 * first) / wide) + 1)]

    def done(self) -> Deep:
        return MIDDLE, Layer(self.paint, self.mask, -self._more, 0.0)


def library(site: Site) -> tuple[list[Deep], list[Deep]]:
    wall = Wall(site, (96, 62, 40))
    wood: Colour = (112, 70, 42)
    low = site.horizon / site.height
    for x in wall.columns(0.62):
        part = x
        for shelf in range(5):
            top = -0.05 + shelf * low / 4.7
            wall.slab(part, top, 0.6, low / 4.7, darker(wood, 0.55))
            at = 0.012
            while at < 0.56:
                broad, tall = float(site.rng.uniform(0.016, 0.036)), float(site.rng.uniform(0.075, 0.108))
                spine = _SPINES[int(site.rng.integers(len(_SPINES)))]
                left = part + at * site.height / site.width
                wall.slab(left, top + low / 4.7 - 0.012 - tall, broad, tall, spine)
                wall.slab(left, top + low / 4.7 - 0.004 - tall * 0.8, broad, 0.008, lighter(spine, 0.5))
                at += broad + 0.002
            wall.slab(part, top + low / 4.7 - 0.014, 0.6, 0.016, lighter(wood, 0.1))
        wall.slab(part - 0.012, 0, 0.03, low, wood)
    standing = [
        Piece("ladder", 0.16, low + 0.06, 0.56),
        Piece("table", 0.88, low + 0.16, 0.2),
        Piece("books", 0.84, low - 0.02, 0.09),
        Piece("lamp", 0.93, low - 0.02, 0.17),
        Piece("armchair", 0.02, low + 0.2, 0.3),
    ]
    return [wall.done()], [pieces(site, NEAR, standing)]


def kitchen(site: Site) -> tuple[list[Deep], list[Deep]]:
    wall = Wall(site, (226, 232, 226))
    low = site.horizon / site.height
    for x in wall.columns(0.075):
        for row in range(9):
            wall.slab(x, row * 0.075, 0.07, 0.07, (242, 244, 238) if (row + round(x * 90)) % 2 else (206, 226, 226))
    wood: Colour = (196, 142, 92)
    for x in wall.columns(1.5):
        by = site.height / site.width
        for n in range(4):
            if n != 1:
                at = x + (0.06 + 0.34 * n) * by
                wall.slab(at, -0.02, 0.3, 0.2, wood)
                wall.slab(at + 0.02 * by, 0.0, 0.26, 0.16, lighter(wood, 0.14))
                wall.disc(at + 0.25 * by, 0.1, 0.01, (90, 80, 70))
        wall.window(x + 0.44 * by, 0.06, 0.24, 0.2, (250, 250, 246))
        wall.bars(x + 0.44 * by, 0.06, 0.24, 0.2, (250, 250, 246))
        for n, pan in enumerate((0.05, 0.04, 0.055)):
            at = x + (0.82 + 0.13 * n) * by
            wall.slab(at - 0.004 * by, 0.19, 0.008, 0.07, (80, 80, 88))
            wall.disc(at, 0.29, pan, (70, 74, 84))
            wall.disc(at, 0.29, pan * 0.72, (104, 108, 118))
        _counter(wall, x, low, by)
    standing = [
        Piece("fridge", 0.06, low + 0.1, 0.56, {"metal": "silver"}),
        Piece("pot", 0.87, low - 0.085, 0.09),
        Piece("oven", 0.94, low + 0.12, 0.3),
        Piece("table", 0.25, low + 0.24, 0.2),
        Piece("apple", 0.22, low + 0.05, 0.06),
        Piece("bread", 0.3, low + 0.05, 0.05),
    ]
    return [wall.done()], [pieces(site, NEAR, standing)]


def _counter(wall: Wall, x: float, low: float, by: float) -> None:
    """Cupboards below, a stove with flames among them."""
    wall.slab(x, low - 0.2, 1.5, 0.3, (176, 122, 78))
    wall.slab(x, low - 0.225, 1.5, 0.035, (238, 236, 228))
    for n in range(5):
        at = x + (0.03 + 0.3 * n) * by
        if n == 3:
            wall.slab(at, low - 0.19, 0.26, 0.22, (62, 66, 74))
            wall.slab(at + 0.03 * by, low - 0.14, 0.2, 0.12, (30, 32, 38), 0.01)
            for knob in range(4):
                wall.disc(at + (0.04 + 0.06 * knob) * by, low - 0.168, 0.012, (210, 210, 214))
        else:
            wall.slab(at, low - 0.17, 0.26, 0.2, (206, 150, 100))
            wall.disc(at + 0.23 * by, low - 0.1, 0.01, (90, 70, 50))


def bedroom(site: Site) -> tuple[list[Deep], list[Deep]]:
    wall = Wall(site, (188, 178, 214))
    low = site.horizon / site.height
    for x in wall.columns(0.14):
        wall.slab(x, 0, 0.05, low, (202, 192, 226))
    by = site.height / site.width
    for x in wall.columns(1.78):
        at = x + 0.7 * by
        wall.window(at, 0.08, 0.36, 0.3, (250, 246, 240))
        wall.bars(at, 0.08, 0.36, 0.3, (250, 246, 240))
        for side in (-0.1, 0.36):
            wall.slab(at + side * by, 0.04, 0.12, 0.42, (226, 112, 130), 0.02)
        wall.slab(at - 0.12 * by, 0.03, 0.62, 0.025, (140, 92, 60))
        wall.slab(at + 0.72 * by, 0.12, 0.16, 0.2, (140, 92, 60))
        wall.slab(at + 0.735 * by, 0.135, 0.13, 0.17, (250, 206, 120))
        wall.disc(at + 0.8 * by, 0.2, 0.035, (226, 92, 84))
    wall.slab(-0.5, low - 0.02, 4, 0.05, (240, 236, 232))
    standing = [
        Piece("bed", 0.14, low + 0.2, 0.36),
        Piece("wardrobe", 0.95, low + 0.08, 0.52),
        Piece("lamp", 0.36, low + 0.07, 0.32),
        Piece("teddy bear", 0.8, low + 0.1, 0.15),
    ]
    return [wall.done()], [pieces(site, NEAR, standing)]


def station(site: Site) -> tuple[list[Deep], list[Deep]]:
    """In a space station: panels, lamps, and round windows on the stars."""
    wall = Wall(site, (176, 186, 202))
    wall._dusk = 0.0
    low = site.horizon / site.height
    by = site.height / site.width
    for x in wall.columns(0.9):
        wall.slab(x, 0, 0.02, low, (120, 130, 150))
        wall.slab(x + 0.03 * by, 0.03, 0.84, 0.06, (232, 240, 250), 0.02)
        wall.window(x + 0.2 * by, 0.13, 0.46, 0.34, (96, 106, 128), 0.17)
        wall.slab(x + 0.04 * by, low - 0.13, 0.8, 0.1, (86, 96, 118), 0.015)
        for n in range(14):
            colour = ((240, 80, 70), (90, 220, 130), (90, 200, 250), (250, 210, 90))[int(site.rng.integers(4))]
            wall.disc(x + (0.08 + 0.055 * n) * by, low - 0.1 + 0.04 * (n % 2), 0.011, colour)
        for side in (0.06, 0.76):
            wall.slab(x + side * by, 0.2, 0.08, 0.2, (140, 150, 170), 0.01)
            for n in range(4):
                wall.slab(
                    x + (side + 0.012) * by, 0.215 + 0.045 * n, 0.056, 0.02, (60, 220, 230) if n % 2 else (70, 80, 100)
                )
    wall.slab(-0.5, low - 0.02, 4, 0.05, (100, 110, 130))
    standing = [
        Piece("computer", 0.1, low + 0.12, 0.26),
        Piece("control panel", 0.9, low + 0.13, 0.24),
        Piece("crate", 0.02, low + 0.2, 0.16, {"wood": "steel"}),
    ]
    return [wall.done()], [pieces(site, NEAR, standing)]


def train(site: Site) -> tuple[list[Deep], list[Deep]]:
    """In a carriage: windows on the land, racks with luggage above, rows of seats below, straps to hold on to."""
    wall = Wall(site, (214, 206, 186))
    low = site.horizon / site.height
    by = site.height / site.width
    for x in wall.columns(0.72):
        wall.window(x + 0.06 * by, 0.15, 0.6, 0.27, (120, 126, 136), 0.04)
        wall.slab(x, 0.085, 0.72, 0.016, (150, 156, 166))
        bag = ((168, 66, 52), (62, 92, 140), (84, 120, 84), (196, 150, 70))[int(site.rng.integers(4))]
        wall.slab(x + 0.1 * by, 0.02, 0.2, 0.066, bag, 0.012)
        wall.slab(x + 0.17 * by, 0.005, 0.06, 0.016, darker(bag, 0.4), 0.006)
        for n in (0.44, 0.58):
            wall.slab(x + n * by, 0.0, 0.006, 0.12, (70, 60, 60))
            wall.disc(x + (n + 0.003) * by, 0.14, 0.026, (70, 60, 60))
            wall.disc(x + (n + 0.003) * by, 0.14, 0.016, (214, 206, 186))
        for n in (0.02, 0.37):
            wall.slab(x + n * by, low - 0.2, 0.3, 0.24, (150, 40, 52), 0.03)
            wall.slab(x + (n + 0.03) * by, low - 0.23, 0.24, 0.06, (236, 230, 220), 0.02)
            wall.slab(x + (n + 0.02) * by, low - 0.06, 0.26, 0.1, (176, 58, 66), 0.02)
    outside = [
        (FAR, rolling(site, FAR, 0.4, mix(site.palette.far, (110, 150, 110), 0.4))),
        (MIDDLE, rolling(site, FAR, 0.3, mix(site.palette.near, (96, 150, 84), 0.6), trees=True)),
    ]
    return [*outside, wall.done()], []


def cafe(site: Site) -> tuple[list[Deep], list[Deep]]:
    wall = Wall(site, (150, 88, 66))
    low = site.horizon / site.height
    by = site.height / site.width
    for x in wall.columns(1.6):
        wall.window(x + 0.1 * by, 0.1, 0.5, 0.3, (70, 44, 34))
        wall.slab(x + 0.78 * by, 0.1, 0.5, 0.26, (40, 48, 44), 0.01)
        for n in range(4):
            wall.slab(x + 0.83 * by, 0.14 + 0.05 * n, 0.3 - 0.05 * (n % 2), 0.016, (226, 226, 214))
        for n in range(3):
            at = x + (0.2 + 0.5 * n) * by
            wall.slab(at, 0, 0.006, 0.07, (30, 26, 26))
            wall.disc(at + 0.003 * by, 0.1, 0.04, (255, 226, 150))
    wall.slab(-0.5, low - 0.17, 4, 0.22, (96, 58, 40))
    wall.slab(-0.5, low - 0.19, 4, 0.03, (222, 190, 150))
    standing = [
        *(Piece("table", x, low + 0.2, 0.2) for x in (0.1, 0.9)),
        *(Piece("coffee cup", x, low + 0.01, 0.07) for x in (0.08, 0.92)),
        *(Piece("chair", x, low + 0.22, 0.26) for x in (-0.04, 0.22, 0.78)),
        Piece("cake", 0.45, low - 0.18, 0.09),
        Piece("bottle", 0.6, low - 0.18, 0.12),
        Piece("mug", 0.3, low - 0.18, 0.07),
    ]
    return [wall.done()], [pieces(site, NEAR, standing)]


def classroom(site: Site) -> tuple[list[Deep], list[Deep]]:
    wall = Wall(site, (236, 224, 190))
    low = site.horizon / site.height
    by = site.height / site.width
    for x in wall.columns(1.9):
        wall.slab(x + 0.3 * by, 0.06, 0.98, 0.36, (150, 104, 62), 0.01)
        wall.slab(x + 0.32 * by, 0.08, 0.94, 0.32, (44, 92, 72))
        for n in range(5):
            wall.slab(
                x + (0.4 + 0.06 * (n % 2)) * by, 0.12 + 0.05 * n, 0.3 + 0.09 * ((n * 7) % 4), 0.012, (236, 240, 232)
            )
        wall.disc(x + 0.14 * by, 0.14, 0.06, (250, 250, 250))
        wall.slab(x + 0.137 * by, 0.095, 0.006, 0.05, (40, 40, 40))
        wall.window(x + 1.42 * by, 0.08, 0.34, 0.3, (250, 250, 246))
    standing = [
        *(Piece("desk", x, low + 0.2, 0.2) for x in (0.1, 0.9)),
        *(Piece("book", x, low + 0.01, 0.06) for x in (0.08, 0.92)),
        Piece("globe", 0.86, low + 0.0, 0.12),
    ]
    return [wall.done()], [pieces(site, NEAR, standing)]


INTERIORS: dict[str, Callable[[Site], tuple[list[Deep], list[Deep]]]] = {
    "library": library,
    "kitchen": kitchen,
    "bedroom": bedroom,
    "station": station,
    "train": train,
    "cafe": cafe,
    "classroom": classroom,
}
