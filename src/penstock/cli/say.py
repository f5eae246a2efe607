"""``penstock say``: a sentence as a WAV file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.terminal import tell, writable
from penstock.domains.speech.say import say as speak


def say(
    text: Annotated[str, typer.Argument(help="What is to be said.")],
    voice: Annotated[str | None, typer.Option(help="One of those that GET /voices lists.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("speech.wav"),
) -> None:
    """Speak a sentence into a WAV file."""
    written = speak(text, voice, writable(out))
    tell(f"{written} ({written.stat().st_size:,} bytes)")
