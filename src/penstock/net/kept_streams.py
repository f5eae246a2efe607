"""The connections of a client: so many at once, and those at rest by where they lead. Import this module late."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock

from penstock.net.per_process import watch
from penstock.net.stream import Stream
from penstock.net.url import Origin

_KEPT = 30.0
"Seconds for which a connection is kept that nobody uses."


class KeptStreams:
    """Keeps connections between exchanges. Threads may share it, and forked processes."""

    def __init__(self, connections: int) -> None:
        self._most = connections
        self._begin()
        watch(self)

    @contextmanager
    def place(self, until: float) -> Iterator[None]:
        """One of so many places; TimeoutError if none is free by that moment."""
        places = self._places
        if not places.acquire(timeout=max(0.0, until - time.monotonic())):
            raise TimeoutError("timed out")
        try:
            yield
        finally:
            if places is self._places:
                places.release()

    def take(self, origin: Origin) -> Stream | None:
        """A connection at rest that leads there, if there is one; the one used last, so that others fall asleep."""
        with self._lock:
            self._end_old()
            for position in range(len(self._idle) - 1, -1, -1):
                if self._idle[position][1].origin == origin:
                    return self._idle.pop(position)[1]
        return None

    def give_back(self, stream: Stream) -> None:
        """Keep a connection whose exchange is over; end one that was left in the middle."""
        if not stream.reusable:
            return stream.close()
        with self._lock:
            self._idle.append((time.monotonic(), stream))
            self._end_old()

    def close(self) -> None:
        """End all that are at rest."""
        with self._lock:
            while self._idle:
                self._idle.pop()[1].close()

    def forked(self) -> None:
        # What was opened is the parent's, and a thread of it may have held the lock or a place.
        self._begin()

    def _begin(self) -> None:
        self._idle: list[tuple[float, Stream]] = []
        self._lock = Lock()
        self._places = BoundedSemaphore(self._most)

    def _end_old(self) -> None:
        oldest = time.monotonic() - _KEPT
        while self._idle and (self._idle[0][0] < oldest or len(self._idle) > self._most):
            self._idle.pop(0)[1].close()
