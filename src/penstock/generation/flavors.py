"""Flavors: named sets of what is chosen for a video where nobody chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MUSIC_VIDEO, AD_CREATIVE = "music-video", "ad-creative"


@dataclass(frozen=True, slots=True)
class Flavor:
    """Defaults and limits of a kind of video."""

    name: str
    summary: str
    mode: str
    scenes: int
    "How many, where nobody says."
    most_scenes: int
    seconds: float
    "How long each is."
    lip_sync: bool
    "Somebody sings in it."


def flavors() -> Sequence[Flavor]:
    """All there are; the first of a mode is its usual one."""
    return (
        Flavor(MUSIC_VIDEO, "A song with somebody who sings it.", MUSIC_VIDEO, 4, 8, 8.0, True),
        Flavor(AD_CREATIVE, "A product and somebody who shows it.", AD_CREATIVE, 4, 4, 8.0, False),
        Flavor("teaser", "The first seconds of a song, cut short.", MUSIC_VIDEO, 3, 4, 4.0, True),
        Flavor("bumper", "An ad of a few seconds.", AD_CREATIVE, 2, 2, 3.0, False),
    )
