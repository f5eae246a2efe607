"""The name of a record in its history: one for each record and for no other, and short enough for every index."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from penstock.operations.reads import Ref, named

_LONGEST = 300
"Characters; PostgreSQL has no room in an index for what DynamoDB takes as a key."


def record_name(domain: str | None, text: str, key: Mapping[str, str] | None = None) -> str:
    """The name of a record that lines call ``text``, with the texts of its ``key`` where that `is_ambiguous`."""
    name = f"{domain}.{text}" if domain else text
    if key is None and len(name) <= _LONGEST and name.isprintable():
        return name
    said = [domain, text] if key is None else [domain, text, sorted(key.items())]
    return f"{name.partition('(')[0]}:{hashlib.sha256(msgspec.json.encode(said)).hexdigest()}"


def is_ambiguous(text: str, key: Mapping[str, str]) -> bool:
    """Could another record of the kind be called so in lines, because a text of its key has a comma?"""
    return len(key) > 1 and text.count(", ") != len(key) - 1


def name_of(ref: Ref[Any]) -> str:
    """The name of the record that a ref names."""
    key = ref.texts()
    text = named(ref.shape, key)
    return record_name(ref.shape.domain, text, key if is_ambiguous(text, key) else None)
