"""What comes of walking through all records of an entity, in the order in which the store happens to have them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from penstock.operations.reads import Unreadable


class ScannedRecord(Struct, frozen=True):
    """A record, and the indexes in which it is not as its fields say."""

    record: Any
    stale: frozenset[str] = frozenset()
    otherwise: frozenset[str] = frozenset()
    "Attributes or columns whose values are stored in another form than they would be written, where that was asked;"
    unknown: frozenset[str] = frozenset()
    "and those that no field has."
    row: tuple[Any, ...] | None = None
    "As it lies there, for another store that takes it so."


class ScanPage(Struct, frozen=True):
    """Some records, and where to go on."""

    found: list[ScannedRecord]
    place: str | None
    "Behind all that was looked at; None when that was all of the segment."
    unreadable: tuple[Unreadable, ...] = ()
    "Those that stand among them and cannot be read."
    strangers: tuple[str, ...] = ()
    "Keys that are not the entity's, of what does not say that it is another's; where that was asked."


class RowPage(Struct, frozen=True):
    """Some records as they lie there, and where to go on."""

    rows: list[tuple[Any, ...]]
    place: str | None
    told: list[tuple[Any, ...]]
    "The same rows in the form that was asked for."
