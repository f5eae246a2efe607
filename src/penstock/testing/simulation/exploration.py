"""Exploration: every schedule up to a bound; what comes to the same is looked at once.

A run is repeated up to each of its points, where something else is decided, and from there on again, until no more may
be decided. Actors depend on nothing but what they were told. So where all of them were told the same, and the same
records stand, two runs go on alike, and the second is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from penstock.testing.simulation.choosers import Repeating
from penstock.testing.simulation.outcome import Outcome
from penstock.testing.simulation.run import Abandoned, Run, Standing
from penstock.testing.simulation.schedule import Decision, Happening, Schedule
from penstock.testing.simulation.world import Scene

FAULTS = (Happening.CRASH, Happening.LOST_ANSWER, Happening.STALL)


@dataclass
class Explored:
    """What was looked at."""

    schedules: int = 0
    "Runs that were begun,"
    left: int = 0
    "of which so many came to where another had been."
    states: int = 0
    broken: list[Outcome] = field(default_factory=list)


def explore(
    scene: Scene,
    *,
    preemptions: int,
    faults: int = 1,
    happenings: Sequence[Happening] = FAULTS,
    most: int | None = None,
    first: Callable[[int], bool] = lambda number: True,
    seed: int = 0,
) -> Explored:
    """Every schedule in which others go first so often and so many things happen, or the first that goes wrong.

    ``first`` chooses among the schedules with one decision, so that several processes can share the work.
    """
    explored, seen = Explored(), dict[int, list[tuple[int, int]]]()
    waiting = [(Schedule(seed), preemptions, faults)]
    while waiting and (most is None or explored.schedules < most):
        schedule, others, happens = waiting.pop()
        look = _Look(schedule, seen, (others, happens), happenings)
        outcome = Run(scene, schedule, look).play()
        explored.schedules += 1
        explored.left += outcome.abandoned
        if outcome.broken is not None:
            explored.broken.append(outcome)
            break
        further = list(look.further())
        waiting += further if schedule.decisions else [s for n, s in enumerate(further) if first(n)]
    explored.states = len(seen)
    return explored


class _Look(Repeating):
    """Repeats a schedule, and from its end on notes what else could have been decided."""

    def __init__(
        self,
        schedule: Schedule,
        seen: dict[int, list[tuple[int, int]]],
        budget: tuple[int, int],
        happenings: Sequence[Happening],
    ) -> None:
        super().__init__(schedule)
        self._schedule, self._seen, self._budget, self._happenings = schedule, seen, budget, happenings
        self._points: list[Standing] = []

    def __call__(self, standing: Standing) -> Decision | None:
        if self.left:
            return super().__call__(standing)
        known = self._seen.setdefault(standing.run.state(), [])
        if any(a >= self._budget[0] and b >= self._budget[1] for a, b in known):
            raise Abandoned
        known.append(self._budget)
        self._points.append(standing)
        return None

    def further(self) -> Iterator[tuple[Schedule, int, int]]:
        """The schedules with one decision more."""
        others, happens = self._budget
        for standing in self._points:
            for decision in _decisions(standing, self._happenings if happens else (), others > 0):
                switch = decision.happening is Happening.SWITCH
                schedule = self._schedule.having((*self._schedule.decisions, decision))
                yield schedule, others - switch, happens - (not switch)


def _decisions(standing: Standing, happenings: Sequence[Happening], switch: bool) -> Iterator[Decision]:
    actor, call = standing.actor, standing.call
    if switch:
        for other in standing.others:
            yield Decision(actor, call, Happening.SWITCH, other)
    for happening in happenings:
        yield Decision(actor, call, happening)
