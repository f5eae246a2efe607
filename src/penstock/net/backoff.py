"""The one back-off: how long to wait after so many failures in a row, and whether all of us may still try again.

Pauses grow exponentially up to a longest one. Chance decides over all of a pause, over a part of it or over none, so
that those who failed together do not come back together. Time and chance are the caller's.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from penstock.net.per_process import watch

_MOST_GROWTHS = 60
"After which every pause is the longest; powers without end would overflow."


@dataclass(frozen=True, slots=True)
class Backoff:
    """How pauses grow. Times are in seconds."""

    first: float
    longest: float
    jitter: float = 1.0
    "The share of a pause that chance decides over: 1 is full jitter, 0 none."
    factor: float = 2.0

    def bound(self, failures: int) -> float:
        """The longest that one waits after so many failures in a row (1, 2, …)."""
        return min(self.longest, self.first * self.factor ** min(failures - 1, _MOST_GROWTHS))

    def pause(self, failures: int, chance: Callable[[], float] = random.random) -> float:
        """How long to wait after so many failures in a row; ``chance`` gives a number from 0 up to 1."""
        return self.bound(failures) * (1 - self.jitter + self.jitter * chance())


class Patience:
    """How long one caller goes on after what others are in the way of, and will not be for long: a time, not a count.

    Of many who meet at one place, each comes by sooner or later, and nobody knows after how many tries.
    """

    def __init__(
        self,
        backoff: Backoff,
        seconds: float,
        *,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._backoff, self._seconds = backoff, seconds
        self._sleep, self._chance = sleep, chance
        self._began = time.monotonic()
        self._failures = 0
        self._slept = 0.0

    def wait(self) -> bool:
        """Pause before another attempt; False, and no pause, when the time is over."""
        if max(self._slept, time.monotonic() - self._began) >= self._seconds:
            return False
        self._failures += 1
        pause = self._backoff.pause(self._failures, self._chance)
        self._slept += pause
        self._sleep(pause)
        return True


class RetryBudget:
    """A purse that many callers share: retries draw from it, successes fill it.

    When a service is down the purse runs empty, and calls fail at once instead of piling retries on top.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.left = size
        self._lock = Lock()
        watch(self)

    def take(self, amount: int) -> bool:
        """Draw ``amount``; False, and nothing drawn, when there is less than that."""
        with self._lock:
            if self.left < amount:
                return False
            self.left -= amount
            return True

    def give(self, amount: int) -> None:
        with self._lock:
            self.left = min(self.size, self.left + amount)

    def forked(self) -> None:
        # A thread of the parent may have held the lock.
        self._lock = Lock()
