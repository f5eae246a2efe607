"""A migration in one thread with everybody else's writes: before each request of its own, others have their turn."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from penstock import FrozenClock, Store
from penstock.kernel.layouts.knowledge import HERE
from tests.beneath import beneath
from tests.evolution.dying import WRITES, Killed

_WRITES = ("patch", "load", *WRITES)
_REQUESTS = ("get", "find", "scan", *_WRITES)
_A_MOMENT = timedelta(milliseconds=20)


class Turns:
    """Whose turn it is: others take a step before every so-many-eth request, and whenever somebody waits."""

    def __init__(self, clock: FrozenClock, step: Callable[[], None], *, every: int) -> None:
        self._clock, self._step, self._every = clock, step, every
        self._requests = 0
        self.writes = 0
        "Those of whoever migrates."

    def interrupted(self, store: Store, *, dies_at: int | None = None) -> Store:
        """A store between whose requests others have their turn; its process ends at a write."""
        as_another_process(store)
        engine: Any = beneath(store)
        self.writes = 0
        for name in (name for name in _REQUESTS if hasattr(engine, name)):
            setattr(engine, name, self._after_others(getattr(engine, name), writes=name in _WRITES, dies_at=dies_at))
        return store

    def _after_others(self, request: Callable[..., Any], *, writes: bool, dies_at: int | None) -> Callable[..., Any]:
        def interrupted(*args: Any, **options: Any) -> Any:
            self._requests += 1
            if self._requests % self._every == 0:
                self.take()
            self.writes += writes
            if writes and self.writes == dies_at:
                raise Killed
            return request(*args, **options)

        return interrupted

    def take(self) -> None:
        """Let others do something, and time pass."""
        self._clock.advance(_A_MOMENT)
        self._step()

    def sleep(self, seconds: float) -> None:
        """What whoever migrates does while it waits for others."""
        self._clock.advance(timedelta(seconds=seconds))
        self.take()


def as_another_process(store: Store) -> Store:
    """Whoever waits for it in this process waits as for one elsewhere, which hears of things in its own time."""
    HERE.pop(store.engine.knowledge.process, None)  # type: ignore[attr-defined]
    return store
