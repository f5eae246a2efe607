"""The name of a record in its history: one for each record and for no other, and short enough for every index."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from penstock.operations.reads import Ref, named
from penstock.schema.shape import EntityShape

_LONGEST = 300
"Characters; PostgreSQL has no room in an index for what DynamoDB takes as a key."


def record_name(shape: EntityShape, texts: Mapping[str, str], text: str) -> str:
    """The name of a record with these texts for its key, which audit lines call ``text``.

    Lines leave out the domain, and a comma within a key may let two records read alike there.
    """
    name = f"{shape.domain}.{text}" if shape.domain else text
    if len(name) <= _LONGEST and text.count(", ") == len(texts) - 1:
        return name
    digest = hashlib.sha256(msgspec.json.encode(list(texts.values()))).hexdigest()
    return f"{shape.label}:{digest}"


def name_of(ref: Ref[Any]) -> str:
    """The name of the record that a ref names."""
    texts = ref.texts()
    return record_name(ref.shape, texts, named(ref.shape, texts))
