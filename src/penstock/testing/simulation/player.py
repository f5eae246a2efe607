"""An actor in a run: its process, the call that it stands at, and why it may have nothing to do."""

from __future__ import annotations

from typing import Any

from penstock.testing.simulation.process import Call, Process
from penstock.testing.simulation.world import Actor


class Player:
    """An actor in a run."""

    def __init__(self, number: int, actor: Actor, name: str) -> None:
        self.number, self.actor, self.name = number, actor, name
        self.lives = 0
        self.process: Process | None = None
        self.calls = 0
        self.call: Call | None = None
        self.stage: Any = None
        self.idle_since: int | None = None
        "What had been written when it had nothing to do."
        self.waits: int | None = None
        "Until which pause it stands still."
        self.transaction: int | None = None
        self.wakes_at: float | None = None
        "Until when it sleeps, as it has chosen itself."

    @property
    def heard(self) -> bytes:
        """What its process was told so far."""
        return self.process.heard if self.process is not None else b""

    def is_ready(self, written: int) -> bool:
        """Has it something to do, as far as one can tell, when so much was written?"""
        rests = self.waits is not None or self.wakes_at is not None
        return not rests and (self.idle_since is None or self.idle_since != written)
