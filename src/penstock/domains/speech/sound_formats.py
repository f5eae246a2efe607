"""Speech in another format than it is kept in: made when it is asked for, and kept nowhere."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from penstock.domains.speech.model import TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.files.object_reads import fetch
from penstock.media import ffmpeg

_LONGEST = timedelta(minutes=2)


class SoundFormat(StrEnum):
    """What a sound is kept as, or can be had as."""

    WAV = "wav"
    MP3 = "mp3"
    OGG = "ogg"

    @property
    def media_type(self) -> str:
        return {"wav": "audio/wav", "mp3": "audio/mpeg", "ogg": "audio/ogg"}[self.value]


_ENCODED = {SoundFormat.MP3: ("-c:a", "libmp3lame", "-q:a", "4"), SoundFormat.OGG: ("-c:a", "libopus", "-b:a", "32k")}


def sound_as(studio: SpeechStudio, audio: TempAudio, format: SoundFormat, folder: Path) -> Path:
    """The sound of an audio as a file in a folder."""
    kept = fetch(studio.objects, audio.file, folder)
    if format is SoundFormat.WAV:
        return kept
    made = folder / f"speech.{format.value}"
    arguments = [*ffmpeg.reading(kept), *_ENCODED[format], *ffmpeg.EXACT, "-f", format.value, ffmpeg.writing(made)]
    ffmpeg.run(arguments, limit=_LONGEST)
    return made
