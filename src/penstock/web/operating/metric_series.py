"""Small time series for charts: a few numbers for every ten seconds of the last hour, of all processes of a service.

What requests take is noted as they end. What the store holds is read only while somebody looks, so that a system at
which nobody looks costs nothing; where nothing was read there is nothing to show.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isnan, nan

from penstock.ports.clock import Clock
from penstock.web.operating.step_ring import Row, StepRing
from penstock.web.requests import SeenRequest
from penstock.web.shared_numbers import SharedNumbers

STEP, STEPS = 10, 360
"Seconds of a step, and so many steps are remembered: an hour."
STORED = (
    "store_reachable",
    "tasks_waiting",
    "tasks_running",
    "tasks_dead",
    "oldest_task_seconds",
    "messages_pending",
    "messages_held",
    "messages_dead",
    "oldest_message_seconds_pending",
    "oldest_message_seconds_dead",
    "change_log_entries",
    "feeds_behind",
)
"What charts tell of the store: each is one number, however many workers, tasks and schedules there are."
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_ENDLESS = "/events"
"How the routes end that last as long as somebody listens."
_REQUESTS, _REFUSED, _ERRORS, _LENGTHS = range(4)
_NOTED = _LENGTHS + len(_BOUNDS) + 1
_BLANK = [0.0] * _NOTED + [nan] * len(STORED)
"A step in which nothing was asked, and nobody looked."
_FILES = "steps"


@dataclass
class MetricStep:
    """Ten seconds."""

    number: int
    counts: list[int]
    stored: dict[str, float]

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.number * STEP, UTC)

    @property
    def requests(self) -> int:
        return self.counts[_REQUESTS]

    @property
    def refused(self) -> int:
        return self.counts[_REFUSED]

    @property
    def errors(self) -> int:
        return self.counts[_ERRORS]

    def length(self, part: float) -> float | None:
        """So long at most a part of the requests took, by the next bound; None without any."""
        lengths = self.counts[_LENGTHS:]
        total, seen = sum(lengths), 0
        for place, count in enumerate(lengths):
            seen += count
            if total and seen >= part * total:
                return _BOUNDS[min(place, len(_BOUNDS) - 1)]
        return None


class MetricSeries:
    """The last hour of one process, or of all that count together."""

    def __init__(self, clock: Clock, *, shared: SharedNumbers | None = None) -> None:
        self._clock, self._shared, self._lock = clock, shared, threading.Lock()
        self._ring = StepRing(_BLANK, steps=STEPS)
        self._part: str | None = None
        self.since = clock.now()

    def count(self, seen: SeenRequest) -> None:
        """A request is over."""
        if seen.route.endswith(_ENDLESS):
            return
        places = [_REQUESTS, _LENGTHS + bisect_left(_BOUNDS, seen.seconds)]
        if seen.status >= 400:
            places.append(_REFUSED if seen.status < 500 else _ERRORS)
        with self._lock:
            self._own().add(self._now(), places)

    def read(self, numbers: Callable[[], dict[str, dict[str, float]]]) -> list[MetricStep]:
        """All steps there are, oldest first, the last one with what the store holds now."""
        found = _flat(numbers())
        with self._lock:
            self._own().note(self._now(), _NOTED, [found.get(name, nan) for name in STORED])
            parts = [self._ring.rows(content) for content in self._contents()]
        return _together(parts)

    def _now(self) -> int:
        return int(self._clock.now().timestamp()) // STEP

    def _own(self) -> StepRing:
        """Where this process counts. Which part of a service it is, it knows only once it is forked."""
        if self._shared is not None and self._part != self._shared.part:
            self._part = self._shared.part
            self._ring = StepRing(_BLANK, steps=STEPS, file=self._shared.own_file(_FILES))
        return self._ring

    def _contents(self) -> list[bytes | None]:
        """The files of all that count together; None for what this process has in its memory."""
        return [None] if self._shared is None else [file.read_bytes() for file in self._shared.files(_FILES)]


def _together(parts: list[dict[int, Row]]) -> list[MetricStep]:
    """The steps of the last hour, as if one process had counted."""
    rows: dict[int, list[Row]] = defaultdict(list)
    for part in parts:
        for number, row in part.items():
            rows[number].append(row)
    begin = max(rows) - STEPS
    return [_step(number, rows[number]) for number in sorted(rows) if number > begin]


def _step(number: int, rows: list[Row]) -> MetricStep:
    """Counts are added up; of what the store held anybody's word will do."""
    counts = [int(sum(each)) for each in zip(*(row[:_NOTED] for row in rows), strict=True)]
    noted = [pair for row in rows for pair in zip(STORED, row[_NOTED:], strict=True)]
    return MetricStep(number, counts, {name: value for name, value in noted if not isnan(value)})


def _flat(numbers: dict[str, dict[str, float]]) -> dict[str, float]:
    return {
        f"{name.removeprefix('penstock_')}{f'_{state}' if state else ''}": value
        for name, states in numbers.items()
        for state, value in states.items()
    }
