"""How near a line is to what a requirement says, by the words that both have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from math import log

from mutants.mutant import Mutant

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NAME = re.compile(r"\w*[a-zA-Z]\w*")
_ENTRY = re.compile(r"^- (?:\*\*)?((?:F-)?[A-Z]{1,2}-\d+)\b(.*)$", re.MULTILINE)


def words(text: str) -> set[str]:
    """``sceneCount`` and ``scene_count`` have the same three: both words, and the name that they make."""
    found = {word.lower() for word in _WORD.findall(text)}
    names = {name.replace("_", "").lower() for name in _NAME.findall(text)}
    return {word.rstrip("s") if len(word) > 3 else word for word in found | names}


def told(document: str) -> dict[str, str]:
    """What a list of requirements says under each id."""
    return {found.group(1): found.group(2) for found in _ENTRY.finditer(document)}


class Likeness:
    """Rare words count more than those that are everywhere."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._seen = Counter(word for text in texts for word in words(text))

    def between(self, mutant: Mutant, requirement: str) -> float:
        """0 if there is no word that both have; what is changed counts most."""
        asked = words(requirement)
        line = words(mutant.before)
        changed = line ^ words(mutant.after)
        place = words(mutant.function)
        return self._sum(line & asked) + self._sum(changed & asked) + 0.5 * self._sum(place & asked)

    def _sum(self, shared: set[str]) -> float:
        return sum(1 / (1 + log(1 + self._seen[word])) for word in shared)
