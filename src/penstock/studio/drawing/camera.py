"""Where the camera is while a shot goes on. Near things move as it does, far things hardly."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from penstock.studio.drawing.canvas import Point

LONGEST_TRACK = 1.1
"A camera that follows somebody goes no further than this, in widths of the picture."


@dataclass(frozen=True, slots=True)
class CameraView:
    """What the camera does at a moment: moved by a part of the picture's width, and nearer."""

    x: float
    y: float
    zoom: float


Moving = Callable[[float, float], CameraView]
"From the part of the shot that is over, and its seconds, to what is seen."


def _push_in(part: float, _: float) -> CameraView:
    return CameraView(0.0, 0.0, 1.0 + 0.2 * _eased(part))


def _pull_back(part: float, _: float) -> CameraView:
    return CameraView(0.0, 0.0, 1.2 - 0.2 * _eased(part))


def _pan_right(part: float, _: float) -> CameraView:
    return CameraView(0.24 * (_eased(part) - 0.5), 0.0, 1.0)


def _pan_left(part: float, _: float) -> CameraView:
    return CameraView(0.24 * (0.5 - _eased(part)), 0.0, 1.0)


def _track(part: float, seconds: float) -> CameraView:
    return CameraView(min(0.11 * seconds, LONGEST_TRACK) * (part - 0.5), 0.0, 1.0)


def _rise(part: float, _: float) -> CameraView:
    return CameraView(0.03 * (part - 0.5), 0.09 * (0.5 - _eased(part)), 1.08 - 0.03 * part)


def _handheld(part: float, seconds: float) -> CameraView:
    at = part * seconds
    x = 0.006 * math.sin(2.1 * at) + 0.003 * math.sin(5.3 * at + 1)
    y = 0.005 * math.sin(2.7 * at + 2) + 0.002 * math.sin(6.1 * at)
    return CameraView(x + 0.04 * (part - 0.5), y, 1.05 + 0.01 * math.sin(1.3 * at))


def _static(_: float, __: float) -> CameraView:
    return CameraView(0.0, 0.0, 1.0)


def _drift(part: float, _: float) -> CameraView:
    return CameraView(0.09 * (part - 0.5), 0.015 * math.sin(math.pi * part), 1.02 + 0.05 * part)


MOVES: dict[str, Moving] = {
    "push in": _push_in,
    "pull back": _pull_back,
    "pan right": _pan_right,
    "pan left": _pan_left,
    "track": _track,
    "rise": _rise,
    "handheld": _handheld,
    "drift": _drift,
    "static": _static,
}


@dataclass(frozen=True, slots=True)
class Camera:
    """A move of the camera over a frame of some size."""

    move: str
    seconds: float
    width: int
    height: int

    def at(self, part: float) -> CameraView:
        return MOVES[self.move](part, self.seconds)

    def reach(self, depth: float) -> float:
        """So many pixels a layer is to be wider on each side, so that the camera never sees its end."""
        most = max(abs(self.at(n / 16).x) for n in range(17))
        return most * depth * self.width + 0.02 * self.width

    def seen(self, view: CameraView, depth: float, x: float, y: float) -> tuple[Point, float]:
        """Where on the frame a point of the world is, and how large a pixel of it."""
        zoom = 1 + (view.zoom - 1) * depth
        there = (
            (x - self.width / 2) * zoom + self.width / 2 - view.x * depth * self.width,
            (y - self.height / 2) * zoom + self.height / 2 - view.y * depth * self.width,
        )
        return there, zoom


def _eased(part: float) -> float:
    """Slow at both ends."""
    return part * part * (3 - 2 * part)
