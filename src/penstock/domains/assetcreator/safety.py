"""The safety check that every prompt passes before anything is made.

A deployment may have a service of its own judge (`PromptSafety`); embedded is a list of words for all projects and one
for each. Words are compared without case, accents and typographic variants, and count as a whole.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Protocol

from penstock.domains.assetcreator.errors import UnsafePrompt
from penstock.domains.assetcreator.model import Project


class PromptSafety(Protocol):
    def check(self, project: Project, texts: Sequence[str]) -> None:
        """UnsafePrompt for what must not be made."""
        ...


class WordList:
    """Refuses prompts that have one of some words."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        """``words`` are those that no project allows."""
        self._words = tuple(words)

    def check(self, project: Project, texts: Sequence[str]) -> None:
        said = f" {' '.join(map(_plain, texts))} "
        for word in (*self._words, *(project.forbidden_words or ())):
            if (plain := _plain(word)) and f" {plain} " in said:
                raise UnsafePrompt(f"the prompt says {word!r}, which is not allowed in project {project.project_id}")


def _plain(text: str) -> str:
    """The words of a text, each in one spelling, parted by single spaces."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    kept = (c if c.isalnum() else " " for c in letters if not unicodedata.combining(c))
    return " ".join("".join(kept).split())
