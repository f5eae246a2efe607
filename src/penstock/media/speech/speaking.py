"""A text of any length, spoken by a voice piece by piece."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.media.speech.chunks import chunks
from penstock.media.speech.sound import Sound
from penstock.media.speech.voices import Voice, parts_of


def sounds(voice: Voice, text: str) -> Iterator[Sound]:
    """The text piece by piece and bit by bit, each as soon as it is spoken."""
    for piece in sayable(text):
        yield from parts_of(voice, piece)


def sayable(text: str) -> list[str]:
    """The pieces of a text, without those that are marks only: a line of stars between two paragraphs is no error."""
    pieces = list(chunks(text))
    return [piece for piece in pieces if any(c.isalnum() for c in piece)] or pieces
