"""Ids that sort by the time they were made."""

from __future__ import annotations

import os
from datetime import datetime
from uuid import UUID


def sortable_id(now: datetime) -> UUID:
    """A UUID of version 7: milliseconds first, then chance."""
    milliseconds = int(now.timestamp() * 1000)
    chance = int.from_bytes(os.urandom(10), "big")
    number = (milliseconds << 80) | chance
    number = number & ~(0xF000 << 64) | (0x7000 << 64)
    return UUID(int=number & ~(0xC000 << 48) | (0x8000 << 48))
