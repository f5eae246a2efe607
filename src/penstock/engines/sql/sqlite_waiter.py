"""Waiting for a commit to a SQLite file, by this or another process."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable

from penstock.schema.shape import EntityShape

_PAUSE = 0.004
"Seconds between looks for what other processes write. One costs some microseconds: a counter in shared memory."
_AGAIN = 0.5
"Seconds before another attempt to reach the file."


class SqliteWaiter:
    """Sees that the file has changed, by a connection of its own; within the process it is woken."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self._stirred = threading.Event()
        self._seen = self._version()

    def wait(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not self._closed:
            self._stirred.clear()  # before the look, so that no commit falls between the two
            version = self._version()
            left = end - time.monotonic()
            if version is None:
                # Whoever looks is told why, and something may have been written.
                self._stirred.wait(min(max(left, 0.0), _AGAIN))
                return not self._closed
            if version != self._seen:
                self._seen = version
                return True
            if left <= 0:
                return False
            if not self._closed:
                self._stirred.wait(min(_PAUSE, left))
        if self._connection is not None:
            self._connection.close()
        return False

    def wake(self) -> None:
        """Something has been committed in this process: look at once."""
        self._stirred.set()

    def heard(self, shape: EntityShape) -> None:
        """All that is seen is that the file has changed."""

    def busy(self) -> None:
        pass

    def close(self) -> None:
        self._closed = True
        self._stirred.set()

    def _version(self) -> int | None:
        """A number that changes with the file; None while the file cannot be asked."""
        try:
            if self._connection is None:
                self._connection = self._connect()
            return int(self._connection.execute("pragma data_version").fetchone()[0])
        except sqlite3.Error:
            return None
