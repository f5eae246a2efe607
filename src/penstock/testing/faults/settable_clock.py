"""A clock that goes, and that somebody may set meanwhile."""

from __future__ import annotations

from datetime import datetime, timedelta

from penstock.ports.clock import SKEW, SystemClock


class SettableClock(SystemClock):
    """The machine's clock, set forward or back; how much time passes stays true, as `monotonic` tells it."""

    def __init__(self, *, skew: timedelta = SKEW) -> None:
        super().__init__(skew=skew)
        self._off = timedelta(0)

    def now(self) -> datetime:
        return SystemClock.now() + self._off

    def set_by(self, time: timedelta) -> None:
        """Set it forward, or back."""
        self._off += time
