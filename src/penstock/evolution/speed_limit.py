"""Speed limit: so many records a second and no more, however many threads there are."""

from __future__ import annotations

import threading

from penstock.ports.clock import Clock


class SpeedLimit:
    """Has whoever is too quick wait."""

    def __init__(self, clock: Clock, rate: float | None) -> None:
        self._clock, self._rate = clock, rate
        self._next = clock.monotonic()
        self._lock = threading.Lock()

    def keep(self, number: int) -> None:
        """Return when it is time to go on after so many records."""
        if self._rate is None:
            return
        with self._lock:
            now = self._clock.monotonic()
            self._next = max(self._next, now) + number / self._rate
            ahead = self._next - now
        if ahead > 0:
            self._clock.sleep(ahead)
