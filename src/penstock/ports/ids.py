"""Ids that sort by the time they were made, and names for commits."""

from __future__ import annotations

import os
from datetime import datetime
from itertools import count
from uuid import UUID

from penstock.net.per_process import in_each_child


def sortable_text(now: datetime) -> str:
    """The text of a UUID of version 7: milliseconds first, then chance."""
    chance = int.from_bytes(os.urandom(10), "big") & ~_FIXED | _MARKS
    text = f"{int(now.timestamp() * 1000) << 80 | chance:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def sortable_id(now: datetime) -> UUID:
    """A UUID of version 7."""
    return UUID(sortable_text(now))


_FIXED = 0xF000 << 64 | 0xC000 << 48
_MARKS = 0x7000 << 64 | 0x8000 << 48
"Where a UUID says its version and variant, and what it says there."


def commit_token() -> str:
    """A name that no other commit has, in whatever process: at most 36 letters, as DynamoDB takes them.

    Chance makes the process's part, once; asking the kernel each time would be felt in a small commit.
    """
    return f"{_process}{next(_commits):x}"


def _begin_process() -> None:
    global _process
    _process = os.urandom(12).hex()


_process = ""
_commits = count()
_begin_process()
in_each_child(_begin_process)
