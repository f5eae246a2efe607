"""A product on its pedestal: a bottle, a can, a cup, a phone, a shoe or a box."""

from __future__ import annotations

from PIL import Image

from penstock.studio.drawing.canvas import Sketch
from penstock.studio.drawing.colour import WHITE, Colour, darker, lighter


def product(kind: str, colour: Colour, label: Colour, unit: float) -> Image.Image:
    """A product; ``unit`` is the pixels of its height."""
    sketch = Sketch(1.2, 1.7, unit)
    sketch.oval(0, 0.66, 0.5, 0.1, darker(label, 0.45))
    sketch.block(0, 0.73, 0.5, 0.08, 0.02, darker(label, 0.45))
    sketch.oval(0, 0.8, 0.5, 0.04, darker(label, 0.6))
    sketch.oval(0, 0.645, 0.5, 0.1, lighter(label, 0.1))
    {"bottle": _bottle, "can": _can, "cup": _cup, "phone": _phone, "shoe": _shoe}.get(kind, _box)(sketch, colour, label)
    return sketch.done()


def _bottle(sketch: Sketch, colour: Colour, label: Colour) -> None:
    sketch.block(0, 0.25, 0.2, 0.4, 0.08, colour)
    sketch.block(0, -0.3, 0.075, 0.25, 0.03, colour)
    sketch.pie(0, -0.12, 0.2, 0.16, 180, 360, colour)
    sketch.block(0, -0.55, 0.09, 0.06, 0.02, label)
    sketch.block(0, 0.28, 0.2, 0.16, 0.01, lighter(label, 0.75))
    sketch.oval(0, 0.28, 0.08, 0.08, label)
    sketch.block(-0.13, 0.2, 0.022, 0.3, 0.02, lighter(colour, 0.6))


def _can(sketch: Sketch, colour: Colour, label: Colour) -> None:
    sketch.block(0, 0.2, 0.25, 0.43, 0.06, colour)
    sketch.oval(0, -0.22, 0.23, 0.05, (206, 212, 220))
    sketch.oval(0, 0.62, 0.24, 0.05, darker(colour, 0.3))
    sketch.shape([(-0.25, 0.3), (0.25, 0.02), (0.25, 0.2), (-0.25, 0.48)], lighter(label, 0.6))
    sketch.block(-0.15, 0.2, 0.025, 0.36, 0.02, lighter(colour, 0.55))


def _cup(sketch: Sketch, colour: Colour, label: Colour) -> None:
    sketch.arc(0.3, 0.3, 0.17, -90, 90, colour, 0.06)
    sketch.shape([(-0.3, 0.0), (0.3, 0.0), (0.23, 0.63), (-0.23, 0.63)], colour)
    sketch.oval(0, 0.63, 0.23, 0.05, colour)
    sketch.oval(0, 0.0, 0.3, 0.07, lighter(colour, 0.4))
    sketch.oval(0, 0.01, 0.26, 0.05, (74, 46, 32))
    sketch.oval(0, 0.32, 0.11, 0.11, lighter(label, 0.5))


def _phone(sketch: Sketch, colour: Colour, label: Colour) -> None:
    sketch.block(0, 0.05, 0.29, 0.57, 0.07, (30, 32, 40))
    sketch.block(0, 0.05, 0.26, 0.52, 0.05, colour)
    sketch.oval(0, -0.05, 0.12, 0.12, lighter(label, 0.5))
    for n in range(3):
        sketch.block(0, 0.24 + 0.1 * n, 0.18 - 0.03 * n, 0.025, 0.02, lighter(colour, 0.55))


def _shoe(sketch: Sketch, colour: Colour, label: Colour) -> None:
    upper = [(-0.42, 0.5), (-0.42, 0.12), (-0.2, 0.08), (0.02, 0.3), (0.4, 0.4), (0.48, 0.55)]
    sketch.shape(upper, colour)
    sketch.block(0.03, 0.58, 0.47, 0.06, 0.05, WHITE)
    for n in range(3):
        sketch.limb([(-0.1 + 0.1 * n, 0.2 + 0.09 * n), (0.0 + 0.1 * n, 0.17 + 0.08 * n)], 0.03, WHITE)
    sketch.shape([(-0.35, 0.4), (0.05, 0.42), (-0.1, 0.5)], label)


def _box(sketch: Sketch, colour: Colour, label: Colour) -> None:
    sketch.shape([(-0.36, 0.0), (-0.2, -0.14), (0.46, -0.14), (0.34, 0.0)], lighter(colour, 0.35))
    sketch.shape([(0.34, 0.0), (0.46, -0.14), (0.46, 0.5), (0.34, 0.65)], darker(colour, 0.3))
    sketch.block(-0.01, 0.325, 0.35, 0.325, 0.01, colour)
    sketch.oval(-0.01, 0.3, 0.15, 0.15, lighter(label, 0.5))
    sketch.block(-0.01, 0.54, 0.2, 0.025, 0.02, lighter(colour, 0.5))
