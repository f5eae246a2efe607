"""Viewers: by what a file is shown, as its bytes tell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from penstock.media.content_type import SHOWN_INLINE
from penstock.media.errors import UnusableFile
from penstock.media.probe import probe
from penstock.media.probed import Probed


class Viewer(StrEnum):
    """What a file is shown by."""

    VIDEO = "video"
    HLS = "hls"
    AUDIO = "audio"
    PICTURE = "picture"
    MODEL = "model"
    SPECTRUM = "spectrum"
    LIGHT_CURVE = "light_curve"
    OTHER = "other"

    @property
    def draws_curves(self) -> bool:
        return self in (Viewer.SPECTRUM, Viewer.LIGHT_CURVE)


_TYPES = {"application/vnd.apple.mpegurl": Viewer.HLS, "model/gltf-binary": Viewer.MODEL}
_KINDS = {"video": Viewer.VIDEO, "audio": Viewer.AUDIO, "image": Viewer.PICTURE}


def viewer_of(content_type: str) -> Viewer:
    """By what a file of a type is shown; what no browser shows is downloaded."""
    known = _TYPES.get(content_type)
    if known is not None:
        return known
    return _KINDS.get(content_type.partition("/")[0], Viewer.OTHER) if content_type in SHOWN_INLINE else Viewer.OTHER


@dataclass(frozen=True, slots=True)
class FilmFacts:
    """What a player must know to step through a film frame by frame."""

    frame_rate: float
    frames: int
    duration_ms: int
    width: int
    height: int
    variable_rate: bool = False

    @classmethod
    def of(cls, found: dict[str, Any]) -> FilmFacts:
        """From what was kept of them."""
        return cls(**{name: found[name] for name in cls.__slots__})

    @classmethod
    def probed(cls, found: Probed) -> FilmFacts | None:
        """From what was found in a file; None if there is no film in it."""
        picture = found.picture
        if picture is None or not picture.fps:
            return None
        return cls(
            frame_rate=picture.fps,
            frames=picture.frames,
            duration_ms=round(picture.duration * 1000),
            width=picture.width,
            height=picture.height,
            variable_rate=picture.variable_rate,
        )


def film_facts(path: Path, *, limit: timedelta = timedelta(minutes=1)) -> FilmFacts:
    """What a film proves to be; UnusableFile if there is none in the file."""
    found = FilmFacts.probed(probe(path, limit=limit))
    if found is None:
        raise UnusableFile("there is no film in the file; choose one")
    return found
