"""Waiting without a bell: look again, ever less often while nothing happens."""

from __future__ import annotations

import threading

_FIRST, _LONGEST = 0.05, 1.0


class PollingWaiter:
    """For stores that cannot tell when something is written: it is worth looking again after each pause."""

    def __init__(self) -> None:
        self._pause = _FIRST
        self._closed = threading.Event()

    def wait(self, seconds: float) -> bool:
        pause = min(self._pause, seconds)
        self._pause = min(self._pause * 2, _LONGEST)
        return not self._closed.wait(pause)

    def busy(self) -> None:
        self._pause = _FIRST

    def close(self) -> None:
        self._closed.set()
