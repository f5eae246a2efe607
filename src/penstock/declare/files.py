"""Gives each entity of a domain the patterns of the files it may point at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.errors import DeclarationError
from penstock.schema.file_pattern import OWN_PLACES, FilePattern
from penstock.schema.shape import EntityShape


def place_files(domain: str, patterns: Sequence[FilePattern], shapes: Iterable[EntityShape]) -> None:
    """Refuse patterns that nobody uses and entities that no pattern serves: either is a mistake."""
    unused = {pattern.text for pattern in patterns}
    for pattern in patterns:
        if pattern.text.startswith(OWN_PLACES):
            raise DeclarationError(f"{domain}: the kernel keeps objects of its own where {pattern.text!r} lies")
    for shape in shapes:
        if not patterns or not shape.pointing:
            continue
        shape.files = tuple(p for p in patterns if p.usable_by(shape.fields) and _is_for(p, shape))
        if shape.file_fields and all(p.is_folder for p in shape.files):
            raise DeclarationError(
                f"{shape.label} holds object keys, but each file pattern of its domain names a field it does not have"
                f"{', or is one of folders' if shape.files else ''}"
            )
        if shape.folder_fields and not any(p.admits_folders for p in shape.files):
            raise DeclarationError(
                f"{shape.label} holds folders, but no file pattern with its fields admits one; end a pattern in / or **"
            )
        for pattern in shape.files:
            pattern.check(shape.label, shape.fields)
            unused.discard(pattern.text)
    if unused:
        raise DeclarationError(f"{domain}: no entity can use the file pattern {', '.join(sorted(unused))}")


def _is_for(pattern: FilePattern, shape: EntityShape) -> bool:
    """Does the pattern admit what the entity holds, files or folders?"""
    return bool((shape.file_fields and not pattern.is_folder) or (shape.folder_fields and pattern.admits_folders))
