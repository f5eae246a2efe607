"""A drawing before it is painted: shapes in order, each with an ink by name and the part it moves with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from penstock.studio.concept import contours
from penstock.studio.concept.contours import Points
from penstock.studio.drawing.canvas import Point
from penstock.studio.drawing.colour import NAMED, Colour, darker, lighter

_STEP = 0.17
"How much lighter or darker a sign behind an ink makes it."


@dataclass(frozen=True, slots=True)
class Outline:
    """One shape of a drawing."""

    points: Points
    ink: str
    "A name, and for each plus or minus behind it a step lighter or darker."
    part: str
    lined: bool = True
    shaded: float = 1.0
    depth: int = 0
    "What has less of it is painted first."


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place that something can be put on: where, and how wide it is there."""

    x: float
    y: float
    size: float
    part: str = "body"
    "What it moves with."


@dataclass
class Draft:
    """Shapes are added in order; x goes to the right and y goes down, and nothing else matters: it is fitted later."""

    inks: dict[str, Colour]
    rng: np.random.Generator
    traits: Mapping[str, float] = field(default_factory=dict)
    "Sizes that were asked for, by what they are of: 1 is as usual."
    shapes: list[Outline] = field(default_factory=list)
    anchors: dict[str, Anchor] = field(default_factory=dict)
    pivots: dict[str, Point] = field(default_factory=dict)
    "What each part turns around."
    mood: str | None = None
    asked: frozenset[str] = frozenset()
    "Inks whose colours were chosen by whoever asks."
    words: frozenset[str] = frozenset()
    "All that was asked for in, for what a subject understands by itself."
    looks: Mapping[str, str] = field(default_factory=dict)
    "What was asked for about hair, clothes and skin, by what it is of."

    def __post_init__(self) -> None:
        self._frame = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        self._part, self._depth = "body", 0

    # Shapes.

    def oval(self, ink: str, x: float, y: float, rx: float, ry: float | None = None, turn: float = 0.0) -> None:
        self._add(ink, contours.ellipse(x, y, rx, rx if ry is None else ry, turn))

    def pie(self, ink: str, x: float, y: float, rx: float, ry: float, start: float, stop: float) -> None:
        """A part of an ellipse, cut straight between two angles; 0 is to the right, 90 is down."""
        self._add(ink, contours.sector(x, y, rx, ry, start, stop))

    def block(self, ink: str, x: float, y: float, rx: float, ry: float, by: float = 0.0) -> None:
        """A rectangle, given by its middle and halves of its width and height."""
        self._add(ink, contours.rounded(x, y, rx, ry, by))

    def poly(self, ink: str, *points: Point) -> None:
        self._add(ink, np.array(points, dtype=np.float64))

    def blob(self, ink: str, *points: Point) -> None:
        """A smooth shape through points."""
        self._add(ink, contours.curve(points, closed=True))

    def limb(self, ink: str, points: tuple[Point, ...], *widths: float) -> None:
        """A thick line, round at its ends."""
        self._add(ink, contours.tube(points, widths if len(widths) > 1 else (*widths, *widths)))

    def star(self, ink: str, x: float, y: float, outer: float, inner: float, count: int, turn: float = -90.0) -> None:
        self._add(ink, contours.spikes(x, y, outer, inner, count, turn))

    def hoop(self, ink: str, x: float, y: float, r: float, width: float) -> None:
        """A ring, given by the middle of its line."""
        self._add(ink, contours.annulus(x, y, r, width))

    def mark(self, ink: str, *points: Point, width: float = 1.2) -> None:
        """A line drawn on something: flat, and without an outline of its own."""
        self._add(ink, contours.tube(points, (width, width)), lined=False, shaded=0.0)

    def dot(self, ink: str, x: float, y: float, rx: float, ry: float | None = None, turn: float = 0.0) -> None:
        """A flat spot without an outline."""
        self._add(ink, contours.ellipse(x, y, rx, rx if ry is None else ry, turn), lined=False, shaded=0.0)

    def patch(self, ink: str, *points: Point) -> None:
        """A flat piece with corners and without an outline."""
        self._add(ink, np.array(points, dtype=np.float64), lined=False, shaded=0.0)

    def pool(self, ink: str, *points: Point) -> None:
        """A flat smooth piece without an outline."""
        self._add(ink, contours.curve(points, closed=True), lined=False, shaded=0.0)

    # Where shapes go.

    @contextmanager
    def part(self, name: str, pivot: Point | None = None) -> Iterator[None]:
        """What is drawn meanwhile moves together, around a point."""
        before, self._part = self._part, name
        if pivot is not None and name not in self.pivots:
            self.pivots[name] = self.there(*pivot)
        yield
        self._part = before

    @contextmanager
    def behind(self, depth: int = -1) -> Iterator[None]:
        """What is drawn meanwhile is behind everything, or before it."""
        before, self._depth = self._depth, depth
        yield
        self._depth = before

    @contextmanager
    def at(self, x: float, y: float, scale: float = 1.0, turn: float = 0.0, *, flip: bool = False) -> Iterator[None]:
        """What is drawn meanwhile has its origin here."""
        before = self._frame
        sine, cosine = np.sin(np.radians(turn)), np.cos(np.radians(turn))
        own = np.array([[cosine, -sine, x], [sine, cosine, y], [0, 0, 1]])
        own[:2, :2] *= scale
        if flip:
            own[:, 0] *= -1
        self._frame = before @ own
        yield
        self._frame = before

    def sides(self, part: str | None = None, pivot: Point | None = None) -> Iterator[int]:
        """Twice: as it is drawn, to the right, and mirrored at the middle; the parts are called by their side."""
        for side in (1, -1):
            with self.at(0, 0, flip=side < 0):
                if part is None:
                    yield side
                else:
                    with self.part(f"{part}_{'r' if side > 0 else 'l'}", pivot):
                        yield side

    def anchor(self, name: str, x: float, y: float, size: float) -> None:
        """Say where something can be put on."""
        scale = float(np.sqrt(abs(np.linalg.det(self._frame[:, :2]))))
        self.anchors[name] = Anchor(*self.there(x, y), size * scale, self._part)

    def there(self, x: float, y: float) -> Point:
        """A point in the whole drawing."""
        moved = self._frame @ (x, y, 1)
        return float(moved[0]), float(moved[1])

    # Inks.

    def slot(self, name: str, usual: str) -> str:
        """An ink, with a colour by name if nobody has chosen one."""
        if name not in self.inks:
            self.inks[name] = NAMED[usual]
        return name

    def usual(self, name: str, colour: str) -> str:
        """An ink, in the colour that this kind of thing has if nobody wants another."""
        if name not in self.asked:
            self.inks[name] = NAMED[colour]
        return name

    def colour(self, ink: str) -> Colour:
        """What an ink looks like."""
        name = ink.rstrip("+-")
        colour = self.inks.get(name) or NAMED[name]
        for sign in ink[len(name) :]:
            colour = lighter(colour, _STEP) if sign == "+" else darker(colour, _STEP)
        return colour

    def trait(self, name: str) -> float:
        return self.traits.get(name, 1.0)

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    # What is there.

    def ordered(self) -> list[Outline]:
        return sorted(self.shapes, key=lambda shape: shape.depth)

    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of all shapes."""
        every = np.concatenate([shape.points for shape in self.shapes])
        (left, top), (right, bottom) = every.min(axis=0), every.max(axis=0)
        return float(left), float(top), float(right), float(bottom)

    def take(self, other: Draft, x: float, y: float, scale: float, turn: float = 0.0, part: str | None = None) -> None:
        """Put another drawing into this one; its inks keep their colours under names of their own."""
        mark = f"{len(self.inks)}:"
        self.inks.update({mark + name: colour for name, colour in other.inks.items()})
        with self.at(x, y, scale, turn):
            for shape in other.ordered():
                own = shape.ink.rstrip("+-") in other.inks
                ink = mark + shape.ink if own else shape.ink
                moved = shape.points @ self._frame[:, :2].T + self._frame[:, 2]
                self.shapes.append(replace(shape, points=moved, ink=ink, part=part or self._part, depth=self._depth))

    def _add(self, ink: str, points: Points, *, lined: bool = True, shaded: float = 1.0) -> None:
        there = points @ self._frame[:, :2].T + self._frame[:, 2]
        self.shapes.append(Outline(there, ink, self._part, lined, shaded, self._depth))
