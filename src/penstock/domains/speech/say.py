"""Speech on the command line: a text becomes a file, and nothing is recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

from penstock.domains.speech.actions import AS_JOB, checked_text
from penstock.media.speech.sound import merged
from penstock.media.speech.speaking import sounds
from penstock.media.speech.voices import Voices, installed_voices


def say(text: str, voice: str | None = None, out: Path | str = "speech.wav", *, voices: Voices | None = None) -> Path:
    """Speak a text into a WAV file; a file that is there is replaced, once the new one is whole."""
    offered = voices or installed_voices()
    wanted = checked_text(text, most=AS_JOB)
    path = Path(out)
    with merged(sounds(offered.get(offered.chosen(voice)), wanted)) as wav, open(path, "wb") as file:
        shutil.copyfileobj(wav.file, file)
    return path
