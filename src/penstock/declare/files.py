"""Gives each entity of a domain the patterns of the files it may point at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.errors import DeclarationError
from penstock.schema.file_pattern import ARCHIVE, TRASH, UPLOADS, FilePattern
from penstock.schema.shape import EntityShape


def place_files(domain: str, patterns: Sequence[FilePattern], shapes: Iterable[EntityShape]) -> None:
    """Refuse patterns that nobody uses and entities that no pattern serves: either is a mistake."""
    unused = {pattern.text for pattern in patterns}
    for pattern in patterns:
        if pattern.text.startswith((UPLOADS, TRASH, ARCHIVE)):
            raise DeclarationError(f"{domain}: the kernel keeps objects of its own where {pattern.text!r} lies")
    for shape in shapes:
        if not patterns or not shape.file_fields:
            continue
        shape.files = tuple(p for p in patterns if p.usable_by(shape.fields))
        if not shape.files:
            raise DeclarationError(
                f"{shape.label} holds object keys, but each file pattern of its domain names a field it does not have"
            )
        for pattern in shape.files:
            pattern.check(shape.label, shape.fields)
            unused.discard(pattern.text)
    if unused:
        raise DeclarationError(f"{domain}: no entity can use the file pattern {', '.join(sorted(unused))}")
