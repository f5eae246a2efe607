"""CPU time of several contenders, interleaved so that each round sees the same machine."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median, quantiles
from time import perf_counter, process_time

Work = Callable[[int], object]
"Does the measured operation this many times."


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    rounds: int
    seconds: float
    "Wall time of one contender in one round."
    size: float = 1.0
    "The share of records and jobs that is used of each topic's usual number."
    only: frozenset[str] | None = None
    "The contenders that are measured; None for all of them."
    together: bool = False
    "May contenders share a server, though one's cost is then counted as another's too?"

    def wants(self, name: str) -> bool:
        """Is this contender measured?"""
        return self.only is None or name in self.only

    def sized(self, usual: int, *, least: int = 1) -> int:
        """A topic's usual number of records, jobs or rounds, for this effort."""
        return max(least, round(usual * self.size))


FULL = Effort(rounds=40, seconds=0.04)
QUICK = Effort(rounds=9, seconds=0.008)
TRIAL = Effort(rounds=2, seconds=0.001, size=0.01, together=True)
"Shows that a topic runs; its numbers say nothing."


@dataclass(frozen=True)
class Result:
    """What one contender costs."""

    name: str
    micros: float
    "Median time per operation; CPU, unless the clock was another: user and system, all threads."
    ratio: float
    "Median over the rounds of this contender's CPU divided by the baseline's in the same round."
    spread: float
    "Distance between the quartiles of that ratio: how far to trust it."


@dataclass(frozen=True)
class Comparison:
    """Every contender's microseconds in every round."""

    micros: Mapping[str, list[float]]

    def results(self, *, baseline: str) -> list[Result]:
        """One result per contender, in the order they ran."""
        return [self._result(name, baseline) for name in self.micros]

    def ratio(self, name: str, *, against: str) -> float:
        """Median of the per-round ratios of two contenders."""
        return median(self._ratios(name, against))

    def with_more(self, more: Comparison) -> Comparison:
        """The rounds of both."""
        return Comparison({name: [*rounds, *more.micros[name]] for name, rounds in self.micros.items()})

    def median(self, name: str) -> float:
        """A contender's microseconds in the middle of its rounds."""
        return median(self.micros[name])

    def _ratios(self, name: str, against: str) -> list[float]:
        return [mine / other for mine, other in zip(self.micros[name], self.micros[against], strict=True)]

    def _result(self, name: str, baseline: str) -> Result:
        ratios = self._ratios(name, baseline)
        low, _, high = quantiles(ratios, n=4)
        return Result(name, self.median(name), median(ratios), high - low)


Clock = Callable[[], float]
"Seconds of CPU used so far, by whoever does the work."

Round = Callable[[], float]
"Measures a contender once: microseconds for one operation."


@dataclass(frozen=True)
class Contest:
    """Contenders that are ready, and how many rounds they are measured for."""

    rounds: Mapping[str, Round]
    count: int

    def run(self) -> Comparison:
        """Measure all contenders in turn, round after round: A B C A B C …"""
        micros: dict[str, list[float]] = {name: [] for name in self.rounds}
        # What is alive now stays; leaving it out makes the collections between the contenders cheap.
        gc.freeze()
        try:
            for _ in range(self.count):
                for name, measure in self.rounds.items():
                    micros[name].append(measure())
        finally:
            gc.unfreeze()
        return Comparison(micros)


def contest(
    works: Mapping[str, Work],
    effort: Effort,
    *,
    clocks: Mapping[str, Clock] | None = None,
    times: int | None = None,
    count: int | None = None,
) -> Contest:
    """Warm all contenders up; the clock is their CPU where no other is given.

    A round has so many ``times`` of the operation, or as many as fill the time.
    """
    clock_of = clocks or {}
    rounds = {
        name: partial(_micros, work, _warm_up(work, effort.seconds, times), clock_of.get(name, process_time))
        for name, work in works.items()
    }
    return Contest(rounds, effort.rounds if count is None else count)


def _warm_up(work: Work, seconds: float, fixed: int | None) -> int:
    """Fill caches and connections, and find how many operations fill the time given."""
    work(3)
    if fixed is not None:
        work(fixed)
        return fixed
    times, elapsed = 1, 0.0
    while elapsed < seconds / 4:
        times *= 2
        start = perf_counter()
        work(times)
        elapsed = perf_counter() - start
    return max(2, round(times * seconds / elapsed))


def _micros(work: Work, times: int, clock: Clock) -> float:
    # Garbage of the contender before must not be collected on this one's account.
    gc.collect()
    gc.disable()
    try:
        # The contender before has left the processor's caches full of its own code and data.
        work(1 + times // 8)
        start = clock()
        work(times)
        return (clock() - start) / times * 1e6
    finally:
        gc.enable()
