"""Small time series for charts: a few numbers for every ten seconds of the last hour, of this process alone.

What requests take is noted as they end. What the store holds is read only while somebody looks, so that a system at
which nobody looks costs nothing; where nothing was read there is nothing to show.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from penstock.ports.clock import Clock
from penstock.web.requests import SeenRequest

STEP, STEPS = 10, 360
"Seconds of a step, and so many steps are remembered: an hour."
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_ENDLESS = "/events"
"How the routes end that last as long as somebody listens."


@dataclass
class MetricStep:
    """Ten seconds."""

    number: int
    requests: int = 0
    refused: int = 0
    errors: int = 0
    lengths: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    stored: dict[str, float] = field(default_factory=dict)

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.number * STEP, UTC)

    def length(self, part: float) -> float | None:
        """So long at most a part of the requests took, by the next bound; None without any."""
        total, seen = sum(self.lengths), 0
        for place, count in enumerate(self.lengths):
            seen += count
            if total and seen >= part * total:
                return _BOUNDS[min(place, len(_BOUNDS) - 1)]
        return None


class MetricSeries:
    """The last hour of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._steps: deque[MetricStep] = deque(maxlen=STEPS)
        self.since = clock.now()

    def count(self, seen: SeenRequest) -> None:
        """A request is over."""
        if seen.route.endswith(_ENDLESS):
            return
        with self._lock:
            step = self._step()
            step.requests += 1
            step.refused += 400 <= seen.status < 500
            step.errors += seen.status >= 500
            step.lengths[bisect_left(_BOUNDS, seen.seconds)] += 1

    def read(self, numbers: Callable[[], dict[str, dict[str, float]]]) -> list[MetricStep]:
        """All steps there are, oldest first, the last one with what the store holds now."""
        found = _flat(numbers())
        with self._lock:
            self._step().stored = found
            return list(self._steps)

    def _step(self) -> MetricStep:
        """The present one. A clock that is set back adds to the last."""
        number = int(self._clock.now().timestamp()) // STEP
        if not self._steps or number > self._steps[-1].number:
            self._steps.append(MetricStep(number))
        while self._steps[0].number <= self._steps[-1].number - STEPS:
            self._steps.popleft()
        return self._steps[-1]


def _flat(numbers: dict[str, dict[str, float]]) -> dict[str, float]:
    return {
        f"{name.removeprefix('penstock_')}{f'_{state}' if state else ''}": value
        for name, states in numbers.items()
        for state, value in states.items()
    }
