"""What all handles of one store share in a process: its clock, moments that never repeat, and what is known already."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from penstock.declare.entity import Entity
from penstock.kernel.ticks import Ticks
from penstock.ports.clock import Clock


class StoreContext:
    """Made with a store, and handed on to its handles of single projects. Threads may share it."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.ticks = Ticks(clock)
        self.trails: set[tuple[type[Entity], str]] = set()
        "The audit trails, by their kind of line and their project, that are known to be registered."
        self.followed: dict[tuple[type[Entity], str], tuple[datetime, datetime]] = {}
        "From when and until when it is noted of a trail that lines are written to it."
        self._known: dict[str, dict[Any, Any]] = {}

    def known(self, what: str) -> dict[Any, Any]:
        """What somebody has noted of this store, under a name of their own: it is forgotten with the store.

        For what would only cost another read or write if it were not known; nothing may rest on it.
        """
        return self._known.setdefault(what, {})
