"""What a deployment may choose about music videos; the names are the documents' where they have one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from penstock.declare.setting import Setting
from penstock.errors import Misconfigured

_SIZE = re.compile(r"(\d{2,4})x(\d{2,4})")


@dataclass(frozen=True)
class MusicVideoOptions:
    """The choices, checked."""

    width: int = 1280
    height: int = 720
    fps: int = 24
    scene_seconds: float = 8.0
    scenes: int = 4
    url_life: timedelta = timedelta(seconds=3600)


SETTINGS = (
    Setting("MV_SIZE", "1280x720", "The size of a music video's pictures, in two even numbers."),
    Setting("MV_FPS", 24, "Pictures a second."),
    Setting("MV_SCENE_SECONDS", 8.0, "How long a scene is, where nobody says."),
    Setting("MV_SCENES", 4, "How many scenes a video has, where nobody says."),
    Setting("PRESIGNED_URL_EXPIRY", 3600, "Seconds that the URLs of a music video's files last, at most 604800."),
)


def read_options(setting: Callable[[str], str | None]) -> MusicVideoOptions:
    """The choices as they are set, each with its default."""
    size = setting("MV_SIZE") or f"{MusicVideoOptions.width}x{MusicVideoOptions.height}"
    found = _SIZE.fullmatch(size.strip())
    width, height = (int(n) for n in found.groups()) if found else (0, 0)
    if not (64 <= width <= 3840 and 36 <= height <= 2160) or width % 2 or height % 2:
        raise Misconfigured(f"MV_SIZE={size!r} is no size of a picture; write two even numbers such as 1280x720")
    return MusicVideoOptions(
        width=width,
        height=height,
        fps=int(_number(setting, "MV_FPS", MusicVideoOptions.fps, 1, 60, whole=True)),
        scene_seconds=_number(setting, "MV_SCENE_SECONDS", MusicVideoOptions.scene_seconds, 0.5, 60),
        scenes=int(_number(setting, "MV_SCENES", MusicVideoOptions.scenes, 1, 8, whole=True)),
        url_life=timedelta(seconds=_number(setting, "PRESIGNED_URL_EXPIRY", 3600, 1, 604_800, whole=True)),
    )


def _number(
    setting: Callable[[str], str | None], name: str, default: float, least: float, most: float, *, whole: bool = False
) -> float:
    text = setting(name) or str(default)
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise Misconfigured(f"{name}={text!r} is not a {'whole ' if whole else ''}number from {least} to {most}")
    return value
