"""A text in pieces that are spoken one after the other: whole sentences, as many as fit."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 500
"Characters of a piece."

# From where it may best be parted to where it must be.
_ENDS = (re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+|\n+"), re.compile(r"(?<=[,;:—])\s+"), re.compile(r"\s+"))


def chunks(text: str, *, longest: int = LONGEST) -> Iterator[str]:
    """The text in order; a sentence that is too long is parted at a clause, at a word, or anywhere."""
    piece = ""
    for part in _parts(text.strip(), longest, 0):
        if piece and len(piece) + len(part) > longest:
            yield piece.strip()
            piece = ""
        piece += part
    if piece.strip():
        yield piece.strip()


def _parts(text: str, longest: int, depth: int) -> Iterator[str]:
    """Parts that are short enough, each with what stands behind it, so that together they are the text."""
    if depth == len(_ENDS):
        yield from (text[n : n + longest] for n in range(0, len(text), longest))
        return
    start = 0
    for stop in [*(end.end() for end in _ENDS[depth].finditer(text)), len(text)]:
        part = text[start:stop]
        if len(part.strip()) <= longest:
            yield part
        else:
            yield from _parts(part, longest, depth + 1)
        start = stop
