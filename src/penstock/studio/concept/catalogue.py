"""What can be drawn, by the words for it. Whoever adds a subject writes a function with ``@subject`` in its family."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from penstock.studio.concept.draft import Draft

Drawer = Callable[[Draft], None]

FAMILIES = (
    "people",
    "machines",
    "quadrupeds",
    "birds",
    "swimmers",
    "crawlers",
    "monsters",
    "weapons",
    "treasure",
    "containers",
    "furniture",
    "implements",
    "fixtures",
    "clothing",
    "plants",
    "buildings",
    "vehicles",
    "food",
    "signs",
)
"Modules of this folder; a family is what its subjects have in common, and what an unknown word is compared with."


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that can be drawn."""

    name: str
    words: str
    "Parted by bars; the first is its name."
    family: str
    inks: Mapping[str, str]
    "Names of colours for each ink, parted by bars; a colour without a noun is for the first ink."
    draw: Drawer
    stance: str = "thing"
    "How it moves: biped, quadruped, flyer, swimmer, crawler, hopper or thing."


@dataclass(frozen=True, slots=True)
class Mention:
    """A subject found in a text, and where."""

    subject: Subject
    start: int
    stop: int


_SUBJECTS: dict[str, Subject] = {}


def subject(words: str, *, stance: str = "thing", **inks: str) -> Callable[[Drawer], Drawer]:
    """A function that draws something becomes a subject of its module's family."""

    def add(draw: Drawer) -> Drawer:
        register(words, draw, draw.__module__.rpartition(".")[2], inks, stance)
        return draw

    return add


def register(words: str, draw: Drawer, family: str, inks: Mapping[str, str], stance: str) -> None:
    """Add a subject to the catalogue."""
    name = words.partition("|")[0]
    _SUBJECTS[name] = Subject(name, words, family, inks, draw, stance)


@cache
def subjects() -> Mapping[str, Subject]:
    """All there are, by name."""
    for family in FAMILIES:
        import_module(f"penstock.studio.concept.{family}")
    return dict(_SUBJECTS)


@cache
def _words() -> tuple[Mapping[str, Subject], re.Pattern[str]]:
    by_word = {word: each for each in subjects().values() for word in each.words.split("|")}
    for ending, plural in (
        ("y", "ies"),
        ("f", "ves"),
        ("fe", "ves"),
        ("man", "men"),
        ("mouse", "mice"),
        ("goose", "geese"),
    ):
        many = {word.removesuffix(ending) + plural: each for word, each in by_word.items() if word.endswith(ending)}
        by_word = many | by_word
    # A longer word is tried first, so that a teddy bear is no bear.
    alternatives = "|".join(re.escape(word) for word in sorted(by_word, key=lambda word: (-len(word), word)))
    return by_word, re.compile(rf"(?<![a-z])({alternatives})(?:s|es|'s)?(?![a-z])")


def named(text: str) -> list[Mention]:
    """All subjects that a text in lower case names, in order."""
    by_word, pattern = _words()
    return [Mention(by_word[found[1]], found.start(), found.end()) for found in pattern.finditer(text)]
