"""What comes of having a store copy fields to others within itself."""

from __future__ import annotations

from msgspec import Struct


class CopiedPage(Struct, frozen=True):
    """Some records, and where to go on."""

    place: str | None
    "Behind all that was looked at; None when that was all."
    looked_at: int
    written: int
