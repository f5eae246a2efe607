"""Speech on the command line: ``penstock say`` makes a file of a text, ``penstock voices`` lists who can speak."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from penstock.declare.option import read_options
from penstock.domains.speech.actions import AS_JOB, checked_text, chosen_voice
from penstock.domains.speech.options import SpeechOptions
from penstock.media.speech.sound import merged
from penstock.media.speech.speaking import left_out, sounds
from penstock.media.speech.voices import Voices, installed_voices
from penstock.plugin import CommandContext


def say(text: str, voice: str | None = None, out: Path | str = "speech.wav", *, voices: Voices | None = None) -> Path:
    """Speak a text into a WAV file; a file that is there is replaced, once the new one is whole."""
    offered = voices or installed_voices()
    wanted = checked_text(text, most=AS_JOB)
    path = Path(out)
    speaker = offered.get(chosen_voice(offered, wanted, voice))
    with merged(sounds(speaker, wanted)) as wav, open(path, "wb") as file:
        shutil.copyfileobj(wav.file, file)
    return path


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock say`` and ``penstock voices``."""

    def deployed() -> Voices:
        options = read_options(SpeechOptions, terminal.setting)
        return installed_voices(options.voices, options.voice)

    def speak(
        text: Annotated[str, typer.Argument(help="What is to be said; plain, or SSML.")],
        voice: Annotated[str | None, typer.Option(help="One of those that penstock voices lists.")] = None,
        out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("speech.wav"),
    ) -> None:
        """Speak a sentence into a WAV file."""
        voices = deployed()
        written = say(text, voice, terminal.writable(out), voices=voices)
        terminal.tell(f"{written} ({written.stat().st_size:,} bytes)")
        missing = left_out(voices.get(voices.chosen(voice)), text.strip())
        if missing:
            terminal.tell(f"Left out, as the voice cannot say it: {' '.join(missing)}")

    def voices(as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
        """List the voices that are here."""
        rows = [
            (offer.voice_id, offer.language, offer.quality or "", offer.engine, number == 0)
            for number, offer in enumerate(deployed().offers)
        ]
        if as_json:
            names = ("voice_id", "language", "quality", "engine", "usual")
            terminal.tell(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2))
            return
        table = Table("voice", "language", "quality", "engine", "")
        for *row, usual in rows:
            table.add_row(*row, "the usual one" if usual else "")
        terminal.console().print(table)

    return {"say": speak, "voices": voices}
