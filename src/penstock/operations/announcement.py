"""Announcements: what a commit tells those who wait for new records, so that they need not look for them first.

A few records travel with the news of their commit: of each the fields that its entity tells. Of many, or of long ones,
nothing is said but that there are some.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import msgspec

from penstock.operations.writes import Put
from penstock.schema.kinds import from_key_text, key_text
from penstock.schema.shape import EntityShape

UNTOLD = ""
"There is something new, and whoever waits has to look for it."
_MOST = 8
_LONGEST = 7900
"Bytes; PostgreSQL takes less than 8000."

_Told = tuple[str, dict[str, str]]
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[_Told]).decode


def announcement(new: Sequence[Put]) -> str:
    """What is told of new records."""
    if len(new) > _MOST:
        return UNTOLD
    if len(new) == 1 and not new[0].shape.told:  # as most messages are
        return _alone(new[0].shape.label)
    text = _encode([(put.shape.label, _texts(put)) for put in new])
    return text.decode() if len(text) <= _LONGEST else UNTOLD


@cache
def _alone(label: str) -> str:
    return _encode([(label, {})]).decode()


def _texts(put: Put) -> dict[str, str]:
    fields, values = put.shape.fields, put.values
    return {name: key_text(fields[name], values[name]) for name in put.shape.told}


def announced(texts: Iterable[str], shape: EntityShape) -> list[dict[str, Any]] | None:
    """The records of an entity that are told of, by the fields it tells; None where one has to look."""
    try:
        told = [each for text in texts for label, each in _decode(text) if label == shape.label]
        return [{name: from_key_text(shape.fields[name], each[name]) for name in shape.told} for each in told]
    except (msgspec.DecodeError, KeyError, ValueError):  # it is not told, or by another version
        return None
