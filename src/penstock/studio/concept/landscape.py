"""What a place is made of: bands of land from far to near, and what stands on each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from penstock.studio.concept.draft import Draft
from penstock.studio.drawing.colour import Colour

Detail = Callable[[Draft, np.random.Generator], None]


@dataclass(frozen=True, slots=True)
class Band:
    """A strip of land."""

    name: str
    ink: str = ""
    tall: float = 0.3
    "Up to where it goes, as a part of the picture."
    rough: float = 0.06
    sharp: float = 0.0
    things: tuple[str, ...] = ()
    count: int = 8
    size: tuple[float, float] = (160.0, 260.0)
    sunk: float = 0.04
    deep: float = 0.0
    before: bool = False
    "Do its things stand before its land, or grow behind it?"
    hangs: bool = False
    "It is the ceiling."
    detail: Detail | None = None


@dataclass(frozen=True, slots=True)
class Landscape:
    """Somewhere a game can be."""

    words: str
    bands: tuple[Band, ...]
    hour: str = "day"
    light: str = "hills"
    "The place whose colours it has."
    walls: Colour | None = None
    "Of a place without a sky."
    behind: Detail | None = None
    inks: Mapping[str, str] = field(default_factory=dict)
