"""Moments that never repeat, or never go back, within a process, however coarse, frozen or wrongly set the clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Lock

from penstock.ports.clock import Clock

_TICK = timedelta(microseconds=1)


class Ticks:
    """Hands out the present moment, one microsecond later than the last one when the clock has not moved on."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: datetime | None = None
        self._latest: datetime | None = None
        self._lock = Lock()

    def next(self) -> datetime:
        with self._lock:
            now, last = self._clock.now(), self._last
            self._last = now = now if last is None or now > last else last + _TICK
            return now

    def latest(self) -> datetime:
        """The present moment, or the latest that was told so far where the clock was set back."""
        with self._lock:
            now = self._clock.now()
            self._latest = now = now if self._latest is None else max(now, self._latest)
            return now
