"""Speech on the command line, ``penstock say``: a text becomes a file, and nothing is recorded."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.domains.speech.actions import AS_JOB, checked_text
from penstock.media.speech.sound import merged
from penstock.media.speech.speaking import sounds
from penstock.media.speech.voices import Voices, installed_voices
from penstock.plugin import CommandContext


def say(text: str, voice: str | None = None, out: Path | str = "speech.wav", *, voices: Voices | None = None) -> Path:
    """Speak a text into a WAV file; a file that is there is replaced, once the new one is whole."""
    offered = voices or installed_voices()
    wanted = checked_text(text, most=AS_JOB)
    path = Path(out)
    with merged(sounds(offered.get(offered.chosen(voice)), wanted)) as wav, open(path, "wb") as file:
        shutil.copyfileobj(wav.file, file)
    return path


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock say``."""

    def speak(
        text: Annotated[str, typer.Argument(help="What is to be said.")],
        voice: Annotated[str | None, typer.Option(help="One of those that GET /voices lists.")] = None,
        out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("speech.wav"),
    ) -> None:
        """Speak a sentence into a WAV file."""
        written = say(text, voice, terminal.writable(out))
        terminal.tell(f"{written} ({written.stat().st_size:,} bytes)")

    return {"say": speak}
