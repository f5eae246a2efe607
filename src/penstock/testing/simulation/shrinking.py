"""Shrinking: of all that was decided in a run that went wrong, only what it takes to go wrong."""

from __future__ import annotations

from collections.abc import Callable

from penstock.testing.simulation.choosers import Repeating
from penstock.testing.simulation.outcome import Outcome
from penstock.testing.simulation.run import Run
from penstock.testing.simulation.schedule import Decision, Happening, Schedule
from penstock.testing.simulation.world import Scene

_TRIES = 400
"So many runs are spent on it at most."


def play(scene: Scene, schedule: Schedule) -> Outcome:
    """The run that a schedule tells."""
    return Run(scene, schedule, Repeating(schedule)).play()


def shrunk(scene: Scene, found: Outcome, *, tries: int = _TRIES) -> Outcome:
    """A run that goes wrong in the same way with as little happening as possible."""
    search = _Search(scene, found, tries)
    search.without(lambda decision: decision.happening is Happening.SWITCH)
    search.without(lambda decision: decision.happening is not Happening.SWITCH)
    size = max(1, len(search.best.schedule) // 2)
    while size:
        if not search.without_some(size):
            size //= 2
    return search.best


class _Search:
    def __init__(self, scene: Scene, found: Outcome, tries: int) -> None:
        self.scene, self.best, self.left = scene, found, tries

    def without(self, dropped: Callable[[Decision], bool]) -> bool:
        """Do without all of a sort at once, if it goes wrong all the same."""
        return self.try_out([d for d in self.best.schedule.decisions if not dropped(d)])

    def without_some(self, size: int) -> bool:
        """Do without so many neighbours; was there anything to do without?"""
        better, at = False, 0
        while at < len(self.best.schedule):
            decisions = self.best.schedule.decisions
            if self.try_out([*decisions[:at], *decisions[at + size :]]):
                better = True
            else:
                at += size
        return better

    def try_out(self, decisions: list[Decision]) -> bool:
        if self.left <= 0 or len(decisions) >= len(self.best.schedule):
            return False
        self.left -= 1
        outcome = play(self.scene, self.best.schedule.having(decisions))
        if outcome.broken is None or self.best.broken is None or outcome.broken.what != self.best.broken.what:
            return False
        self.best = outcome
        return True
