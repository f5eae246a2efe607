"""A read replica: a second server that follows the first, for lists of which somebody has said that they may be behind.

It decides nothing: records by their keys, guards and whatever a write rests on are always read where they are written.
What a replica cannot answer, because it is away or has not heard of a table yet, the store itself is asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from threading import Lock
from typing import Any

from penstock.errors import PenstockError
from penstock.operations.item_collection import ItemCollection
from penstock.operations.reads import Page, Query
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine

log = logging.getLogger("penstock.store")

_AGAIN = 5.0
"Seconds for which one that did not answer is not asked."


class ReadReplica:
    """The engine of a second server, opened when it is first asked."""

    def __init__(self, open: Callable[[], Engine], clock: Clock) -> None:
        self._open, self._clock = open, clock
        self._engine: Engine | None = None
        self._opening = Lock()
        self._asked_from = float("-inf")

    def find(
        self, query: Query[Any] | ItemCollection[Any], *, limit: int, after: Any, now: datetime, **bound: int
    ) -> Page[Any] | None:
        """A page as it knows it; None if it does not answer."""
        if self._clock.monotonic() < self._asked_from:
            return None
        try:
            return self.engine().find(query, limit=limit, after=after, now=now, **bound)
        except PenstockError as error:
            self._asked_from = self._clock.monotonic() + _AGAIN
            log.warning("the replica does not answer, and the store itself is asked: %s", error)
            return None

    def engine(self) -> Engine:
        with self._opening:
            if self._engine is None:
                self._engine = self._open()
            return self._engine

    def seen_by(self, view: Callable[[Engine], Engine]) -> ReadReplica:
        """The same as another handle sees it, such as one of a single project."""
        return ReadReplica(lambda: view(self.engine()), self._clock)

    def close(self) -> None:
        with self._opening:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()
