"""Titles that are not too long, and say so where they were cut."""

from __future__ import annotations


def short_title(text: str, most: int) -> str:
    """A text of so many characters at most: a longer one ends behind a word, with an ellipsis."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    whole = cut.rpartition(" ")[0]
    return f"{(whole if len(whole) > most // 2 else cut).rstrip(' ,.;:')}…"
