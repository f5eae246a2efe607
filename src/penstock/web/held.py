"""The bodies of requests that are held in memory: not more than there is room for, and not all of it for one client."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.errors import Busy

FREE = 64_000
"Bytes of each body that are not counted: there is always room for what is small."


class Held:
    """Counts bytes. Any thread may."""

    def __init__(self, most: int) -> None:
        self._most, self._total = most, 0
        self._of: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def body(self, client: str) -> Iterator[Callable[[int], None]]:
        """A body while it is here: call what this gives for every piece of it. Busy when there is no room for it."""
        seen = counted = 0

        def count(size: int) -> None:
            nonlocal seen, counted
            seen += size
            if (more := max(0, seen - FREE) - counted) > 0:
                self._add(client, more)
                counted += more

        try:
            yield count
        finally:
            if counted:
                self._add(client, -counted)

    def _add(self, client: str, size: int) -> None:
        with self._lock:
            if size > 0 and (self._total + size > self._most or self._of[client] + size > self._most // 2):
                raise Busy("this process holds as much of what clients send as it can")
            self._total += size
            self._of[client] += size
            if not self._of[client]:
                del self._of[client]
