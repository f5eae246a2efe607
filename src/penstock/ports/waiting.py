"""Waiting without a bell: look again, ever less often while nothing happens."""

from __future__ import annotations

import threading

from penstock.net.backoff import Backoff
from penstock.schema.shape import EntityShape

_BACKOFF = Backoff(first=0.05, longest=1.0)


class PollingWaiter:
    """For stores that cannot tell when something is written: it is worth looking again after each pause."""

    def __init__(self) -> None:
        self._in_vain = 0
        self._closed = threading.Event()

    @property
    def pause(self) -> float:
        """Seconds before the next look."""
        return _BACKOFF.bound(self._in_vain + 1)

    def wait(self, seconds: float) -> bool:
        pause = min(self.pause, seconds)
        self._in_vain += 1
        return not self._closed.wait(pause)

    def heard(self, shape: EntityShape) -> None:
        """There may be something, or not."""

    def busy(self) -> None:
        self._in_vain = 0

    def close(self) -> None:
        self._closed.set()
