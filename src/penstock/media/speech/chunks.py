"""A text in pieces that are spoken one after the other: whole sentences, as many as fit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.media.speech.length import breath

LONGEST = 500
"Characters of a piece. One that takes long counts for several, so that no piece takes much more than two minutes."

# From where it may best be parted to where it must be.
_ENDS = (re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+|\n+"), re.compile(r"(?<=[,;:—])\s+"), re.compile(r"\s+"))


def chunks(text: str, *, longest: int = LONGEST) -> Iterator[str]:
    """The text in order; a sentence that is too long is parted at a clause, at a word, or anywhere."""
    piece, size = "", 0
    for part in _parts(text.strip(), longest, 0):
        added = _size(part)
        if piece and size + added > longest:
            yield piece.strip()
            piece, size = "", 0
        piece += part
        size += added
    if piece.strip():
        yield piece.strip()


def _parts(text: str, longest: int, depth: int) -> Iterator[str]:
    """Parts that are short enough, each with what stands behind it, so that together they are the text."""
    if depth == len(_ENDS):
        yield from _cut(text, longest)
        return
    start = 0
    for stop in [*(end.end() for end in _ENDS[depth].finditer(text)), len(text)]:
        part = text[start:stop]
        if _size(part.strip()) <= longest:
            yield part
        else:
            yield from _parts(part, longest, depth + 1)
        start = stop


def _cut(text: str, longest: int) -> Iterator[str]:
    """A text without any end in it, cut where it becomes too long."""
    start = size = 0
    for place, sign in enumerate(text):
        size += breath(sign)
        if size > longest and place > start:
            yield text[start:place]
            start, size = place, breath(sign)
    yield text[start:]


def _size(text: str) -> int:
    return sum(map(breath, text))
