"""A backing track for whoever has none: played here, the same for the same words."""

from __future__ import annotations

import zlib
from pathlib import Path

from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.studio.musician import play


def played_track(studio: FilmStudio, concept: str, *, scenes: int, folder: Path) -> Path:
    """An MP3 in a folder, as long as so many scenes are where nobody says otherwise."""
    wav, track = folder / "track.wav", folder / "track.mp3"
    seconds = scenes * studio.options.scene_seconds
    play(wav, seconds=seconds, seed=zlib.crc32(concept.encode()))
    studio.providers.composer.excerpt(wav, track, start=0, seconds=seconds)
    return track
