"""The colours of a scene: those of the hour, changed towards what the words ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.studio.drawing.colour import NAMED, Colour, darker, lighter, mix


@dataclass(frozen=True, slots=True)
class Palette:
    """What everything in a scene is painted with."""

    zenith: Colour
    middle: Colour
    horizon: Colour
    sun: Colour
    "Or the moon."
    cloud: Colour
    far: Colour
    near: Colour
    light: Colour
    "What falls on things: their colour is multiplied with it."
    accent: Colour
    "Of lamps, signs and sparks."
    second: Colour
    dark: bool = False
    "Windows are lit, and stars are seen."


HOURS: dict[str, Palette] = {
    "day": Palette(
        zenith=(52, 118, 196),
        middle=(120, 178, 226),
        horizon=(212, 232, 240),
        sun=(255, 250, 226),
        cloud=(255, 255, 255),
        far=(146, 178, 200),
        near=(82, 116, 134),
        light=(255, 252, 244),
        accent=(255, 196, 84),
        second=(226, 92, 84),
    ),
    "dawn": Palette(
        zenith=(86, 108, 172),
        middle=(190, 160, 192),
        horizon=(255, 212, 180),
        sun=(255, 238, 200),
        cloud=(255, 226, 214),
        far=(168, 150, 182),
        near=(92, 84, 120),
        light=(255, 226, 214),
        accent=(255, 206, 130),
        second=(236, 128, 140),
    ),
    "sunset": Palette(
        zenith=(52, 44, 106),
        middle=(190, 78, 108),
        horizon=(255, 182, 96),
        sun=(255, 238, 184),
        cloud=(255, 164, 130),
        far=(150, 78, 108),
        near=(66, 38, 72),
        light=(255, 198, 160),
        accent=(255, 178, 72),
        second=(236, 76, 110),
    ),
    "night": Palette(
        zenith=(7, 9, 30),
        middle=(18, 24, 62),
        horizon=(52, 60, 116),
        sun=(240, 240, 222),
        cloud=(70, 80, 124),
        far=(30, 36, 74),
        near=(14, 16, 40),
        light=(122, 138, 196),
        accent=(255, 204, 110),
        second=(90, 200, 240),
        dark=True,
    ),
}

SPACE = Palette(
    zenith=(5, 5, 18),
    middle=(14, 10, 40),
    horizon=(46, 26, 84),
    sun=(250, 244, 230),
    cloud=(120, 70, 170),
    far=(60, 44, 104),
    near=(40, 34, 66),
    light=(186, 186, 226),
    accent=(120, 220, 255),
    second=(255, 120, 190),
    dark=True,
)
STAGE = Palette(
    zenith=(8, 6, 18),
    middle=(26, 12, 44),
    horizon=(66, 22, 88),
    sun=(255, 240, 220),
    cloud=(150, 70, 170),
    far=(40, 20, 64),
    near=(14, 8, 26),
    light=(232, 206, 236),
    accent=(255, 70, 150),
    second=(70, 190, 255),
    dark=True,
)
UNDERWATER = Palette(
    zenith=(96, 206, 224),
    middle=(24, 124, 168),
    horizon=(8, 60, 104),
    sun=(226, 255, 250),
    cloud=(160, 230, 236),
    far=(16, 92, 132),
    near=(6, 46, 82),
    light=(168, 222, 236),
    accent=(255, 150, 110),
    second=(255, 214, 120),
)
MOON = Palette(
    zenith=(2, 2, 8),
    middle=(6, 6, 16),
    horizon=(20, 20, 32),
    sun=(250, 250, 246),
    cloud=(120, 120, 130),
    far=(96, 96, 104),
    near=(130, 130, 136),
    light=(246, 246, 250),
    accent=(255, 196, 84),
    second=(120, 200, 255),
    dark=True,
)
PLACES = {
    "moon": MOON,
    "station": replace(SPACE, light=(246, 250, 255)),
    "space": SPACE,
    "stage": STAGE,
    "underwater": UNDERWATER,
}
"Places where the hour does not matter."
_LAMPS = frozenset({"room", "library", "kitchen", "bedroom", "train", "cafe", "classroom"})
"Places that are lit from inside."


def palette_for(place: str, hour: str, colours: Sequence[str], *, neon: bool) -> Palette:
    """The colours of a place at an hour, on the way to those that were asked for."""
    palette = PLACES.get(place) or HOURS[hour]
    if place in _LAMPS:
        palette = replace(palette, light=(255, 228, 196), near=mix(palette.near, (74, 52, 44), 0.6))
    if neon:
        palette = replace(palette, accent=NAMED["magenta"], second=NAMED["cyan"], horizon=(96, 40, 122), dark=True)
    wanted = [NAMED[name] for name in colours[:4]]
    if not wanted or place == "moon":
        return palette
    towards = _towards(palette, wanted)
    # Signs have two colours, or they are no neon.
    return replace(towards, accent=wanted[0], second=wanted[1 % len(wanted)]) if neon else towards


def _towards(palette: Palette, wanted: Sequence[Colour]) -> Palette:
    """The first colour goes to the horizon, the next above it and onto the land, the last into the lights."""
    low, high, lamp = wanted[0], wanted[1 % len(wanted)], wanted[-1]
    deep = 0.72 if palette.dark else 0.25
    return replace(
        palette,
        horizon=mix(palette.horizon, darker(low, deep * 0.6), 0.62),
        middle=mix(palette.middle, darker(high, deep), 0.55),
        zenith=mix(palette.zenith, darker(high, 0.35 + deep * 0.6), 0.5),
        cloud=mix(palette.cloud, lighter(low), 0.4),
        far=mix(palette.far, darker(mix(low, high, 0.5), deep), 0.45),
        near=mix(palette.near, darker(high, 0.35 + deep * 0.6), 0.45),
        light=mix(palette.light, lighter(low, 0.45), 0.3),
        accent=mix(palette.accent, lamp, 0.75),
        second=mix(palette.second, low, 0.6),
    )
