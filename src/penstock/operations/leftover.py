"""Leftovers: what stands in a store of layouts that it had once, and nobody declares any more."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class LeftoverKind(StrEnum):
    """What it is."""

    INDEX = "index"
    COLUMN = "column"
    ATTRIBUTE = "attribute"
    TABLE = "table"
    RECORDS = "records"
    "Those of one entity, in a table that has others too."


class Leftover(Struct, frozen=True):
    """One thing that could be dropped."""

    kind: LeftoverKind
    place: str
    "What a former layout called it,"
    name: str
    "and what people find it by."
    records: int | None = None
    "How many records have something there; None where that was not asked."
    kept: str | None = None
    "Why it stays all the same; None where it may go."


class DroppedPage(Struct, frozen=True):
    """What came of a step of dropping."""

    place: str | None
    "Where to go on; None when all of it is gone."
    looked_at: int = 0
    written: int = 0
