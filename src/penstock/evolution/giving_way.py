"""Giving way: where one writes at a time, whoever brings many records along rests in between, so that others write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.ports.one_writer import OneWriter

_REST = 8.0
"So many times as long as the work before it a rest is: others find the store taken for a ninth of the time,"
_LONGEST = 0.25
"and it is so many seconds at most, as long work was mostly waiting for others."


class GivingWay:
    """Has whoever writes rest after each piece of work, if others write to the same store; else it goes on at once."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine if isinstance(engine, OneWriter) else None
        self._clock = clock

    @contextmanager
    def working(self) -> Iterator[None]:
        """A piece of work, and the rest after it."""
        begun = self._clock.monotonic()
        yield
        worked = self._clock.monotonic() - begun
        if self._engine is not None and self._engine.others_wrote():
            self._clock.sleep(min(_REST * worked, _LONGEST))
