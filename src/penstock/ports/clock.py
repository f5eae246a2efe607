"""Time is injected: the system's clock, or one that stands still until a test moves it.

Processes that share a store have clocks that differ. Nothing false is ever written because of that, whatever the
difference: a lease's epoch and a claim's id decide who may write, never a clock. What clocks decide is who waits how
long for whom, and that is right as long as they differ by no more than the skew that each of them admits.

A clock may also be set, and jump by hours. How long something lasts, or was not heard of, is therefore measured by
``monotonic``, which no one can set; ``now`` is for what is written down and compared with what others wrote.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

SKEW = timedelta(minutes=5)
"""How far the clocks of two machines may differ, unless somebody knows better. DynamoDB refuses what is further off.

Up to that nobody loses a lease or a claim before its time, and nothing is removed that a slower clock still sees. The
price: what a dead holder left behind is taken over so much later, and expired records, invisible at once, are removed
so much later. Beyond it work may be begun twice. It is still accepted once.
"""


class Clock(Protocol):
    """The only source of time."""

    skew: timedelta
    "How far the clocks of others who share the store may be from this one."

    def now(self) -> datetime:
        """The present moment, aware, in UTC. Somebody may set the clock, forward or back."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment or other, which go on evenly whatever becomes of the clock: for durations."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""
        ...


def by_the_slowest(clock: Clock) -> datetime:
    """The present by the slowest clock that may be in use: what is over by it is over for everybody."""
    return clock.now() - clock.skew


class SystemClock:
    """The machine's clock, in UTC."""

    def __init__(self, *, skew: timedelta = SKEW) -> None:
        self.skew = skew

    # Not functions around them: every read and write asks both.
    now = staticmethod(partial(datetime.now, UTC))
    monotonic = staticmethod(time.monotonic)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class FrozenClock:
    """A clock that moves only when told to. Whoever shares it agrees with it, so it has no skew unless it is given.

    Unless told otherwise it starts years ahead: a database that removes what has ended goes by a clock of its own, and
    would take what has not ended here.
    """

    def __init__(self, at: datetime | None = None, *, skew: timedelta = timedelta(0)) -> None:
        self._now = at or datetime(2037, 1, 1, tzinfo=UTC)
        self._passed = timedelta(0)
        self.skew = skew

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._passed.total_seconds()

    def sleep(self, seconds: float) -> None:
        self.advance(timedelta(seconds=seconds))

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self._now += by
        self._passed += by

    def set(self, at: datetime) -> None:
        """Let time pass until a moment; one that is past is jumped to."""
        self._passed += max(at - self._now, timedelta(0))
        self._now = at

    def jump(self, by: timedelta) -> None:
        """Set the clock forward or back, with no time passing."""
        self._now += by
