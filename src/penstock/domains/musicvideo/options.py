"""What a deployment may choose about music videos, and what is usual for each kind of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from penstock.declare.option import duration, number, option, settings_of, whole
from penstock.domains.musicvideo.model import Mode

_SIZE = re.compile(r"(\d{2,4})x(\d{2,4})", re.ASCII)


def _picture_size(text: str) -> tuple[int, int]:
    found = _SIZE.fullmatch(text)
    width, height = (int(n) for n in found.groups()) if found else (0, 0)
    if not (64 <= width <= 3840 and 36 <= height <= 2160) or width % 2 or height % 2:
        raise ValueError("is no size of a picture; write two even numbers such as 1280x720")
    return width, height


@dataclass(frozen=True)
class MusicVideoOptions:
    """The choices, checked; the names of the variables are the documents' where they have one."""

    size: tuple[int, int] = option(
        "MV_SIZE",
        (1280, 720),
        "The size of a music video's pictures, in two even numbers.",
        read=_picture_size,
        written="1280x720",
    )
    fps: int = option("MV_FPS", 24, "Pictures a second.", read=whole(1, 60))
    scene_seconds: float = option(
        "MV_SCENE_SECONDS",
        8.0,
        "How long a scene is about, where nobody says: a video has so many that it fits its track.",
        read=number(0.5, 60),
    )
    longest_scene: float = option(
        "MV_LONGEST_SCENE", 60.0, "How long a scene may become to fit a long track, in seconds.", read=number(0.5, 60)
    )
    scenes: int = option(
        "MV_SCENES", 4, "How many scenes a video without a track has, where nobody says.", read=whole(1, 8)
    )
    url_life: timedelta = option(
        "PRESIGNED_URL_EXPIRY",
        timedelta(seconds=3600),
        "Seconds that the URLs of a music video's files last, at most 604800.",
        read=duration(1, 604_800),
    )


SETTINGS = settings_of(MusicVideoOptions)


@dataclass(frozen=True, slots=True)
class Flavor:
    """Defaults and limits of a kind of video, where nobody chooses."""

    name: str
    summary: str
    mode: Mode
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
        Flavor("music-video", "A song with somebody who sings it.", Mode.MUSIC_VIDEO, 4, 8, 8.0, True),
        Flavor("ad-creative", "A product and somebody who shows it.", Mode.AD_CREATIVE, 4, 4, 8.0, False),
        Flavor("teaser", "The first seconds of a song, cut short.", Mode.MUSIC_VIDEO, 3, 4, 4.0, True),
        Flavor("bumper", "An ad of a few seconds.", Mode.AD_CREATIVE, 2, 2, 3.0, False),
    )


def most_scenes(mode: Mode | None) -> int:
    """How many scenes are written for a video of this kind at most."""
    return next((flavor.most_scenes for flavor in flavors() if flavor.mode == mode), 1)
