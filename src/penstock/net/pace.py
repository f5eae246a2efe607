"""How slowly the body of a request may come: whoever is silent for long, or as slow as nobody is, keeps no place."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar

from penstock.errors import TooSlow

T = TypeVar("T")

SILENCE = timedelta(seconds=20)
"How long a client may send nothing in the middle of a request."
_FLOOR = 4000
"Bytes a second that every network has; a client that sends one now and then is as good as a silent one."


class Pace:
    """Waits for the pieces of one body."""

    def __init__(self, silence: timedelta = SILENCE) -> None:
        self._silence = silence.total_seconds()
        self._waited = 0.0
        self._seen = 0

    async def next(self, piece: Awaitable[T]) -> T:
        """The next piece, or TooSlow. Only waiting counts, so that our own slowness is nobody's fault."""
        left = self._silence + self._seen / _FLOOR - self._waited
        began = time.monotonic()
        try:
            async with asyncio.timeout(min(self._silence, left)):
                return await piece
        except TimeoutError:
            raise TooSlow(f"the rest of the request did not come within {self._silence:g} seconds") from None
        finally:
            self._waited += time.monotonic() - began

    def count(self, size: int) -> None:
        """So many bytes have come."""
        self._seen += size
