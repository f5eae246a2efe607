"""Room for decoding: so much memory, and so many at once, for all that a process looks at."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Condition

from penstock.media.errors import DecodingBusy
from penstock.net.per_process import PerProcess

MEGABYTE = 1 << 20
TOTAL = 640 * MEGABYTE
"What all that is decoded at a time may take together."
AT_ONCE = 3
PATIENCE = timedelta(seconds=20)
"How long anybody waits for room, before being asked to come again."


class Room:
    """Memory that is handed out in the order in which it was asked for, so that nobody large waits for ever."""

    def __init__(self, total: int = TOTAL, *, at_once: int = AT_ONCE) -> None:
        self._total, self._at_once = total, at_once
        self._taken: list[int] = []
        self._line: deque[object] = deque()
        self._changed = Condition()

    @contextmanager
    def taken(self, size: int, *, patience: timedelta = PATIENCE) -> Iterator[None]:
        """Have so much of it for a while; DecodingBusy if others keep it for too long."""
        size = min(size, self._total)
        self._take(size, patience.total_seconds())
        try:
            yield
        finally:
            with self._changed:
                self._taken.remove(size)
                self._changed.notify_all()

    def _take(self, size: int, seconds: float) -> None:
        mine = object()
        until = time.monotonic() + seconds
        with self._changed:
            self._line.append(mine)
            try:
                while self._line[0] is not mine or not self._fits(size):
                    if not self._changed.wait(until - time.monotonic()):
                        raise DecodingBusy(f"other files are being decoded, also after {seconds:.0f} s; try again soon")
                self._taken.append(size)
            finally:
                self._line.remove(mine)
                self._changed.notify_all()

    def _fits(self, size: int) -> bool:
        return len(self._taken) < self._at_once and sum(self._taken) + size <= self._total


_ROOM = PerProcess(Room)


def room() -> Room:
    """That of this process."""
    return _ROOM.get()
