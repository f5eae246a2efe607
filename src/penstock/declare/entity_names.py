"""The names that a declaration gives its records: in SQL, in paths, and in the tag of an item."""

from __future__ import annotations

import re

from penstock.errors import DeclarationError
from penstock.schema.shape import TablePlace

_COLLECTION = re.compile(r"[a-z][a-z0-9_-]*")


def snake_case(name: str) -> str:
    """A class's name in small letters, its words joined by `_`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def plural(word: str) -> str:
    """The plural that most English nouns have; others are declared."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def collection_name(entity: str, name: str) -> str:
    """A name that stands in a path as it is."""
    if not _COLLECTION.fullmatch(name):
        raise DeclarationError(
            f"{entity}: {name!r} cannot name its records in a path; give collection= in small letters, such as films"
        )
    return name


def tag_of(entity: str, place: TablePlace, tag: str | None) -> str | None:
    """What tells its items from others in their table; none where the table names no attribute for it."""
    if tag is not None and place.tag is None:
        raise DeclarationError(f"{entity} has a tag, but its table names no tag attribute; add Table(tag=...)")
    return tag if place.tag is None or tag is not None else snake_case(entity)
