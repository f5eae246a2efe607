"""Moments that never repeat within a process, however coarse or frozen the clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Lock

from penstock.ports import Clock

_TICK = timedelta(microseconds=1)


class Ticks:
    """Hands out the present moment, one microsecond later than the last one when the clock has not moved on."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: datetime | None = None
        self._lock = Lock()

    def next(self) -> datetime:
        with self._lock:
            now = self._clock.now()
            if self._last is not None and now <= self._last:
                now = self._last + _TICK
            self._last = now
            return now
