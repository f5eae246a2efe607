"""Who decides what happens at a point: a schedule that is repeated, or chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from penstock.testing.simulation.run import Standing
from penstock.testing.simulation.schedule import Decision, Happening, Schedule


class Repeating:
    """Decides what a schedule says, each decision once."""

    def __init__(self, schedule: Schedule) -> None:
        self._left: dict[tuple[int, int], list[Decision]] = {}
        for decision in schedule.decisions:
            self._left.setdefault((decision.actor, decision.call), []).append(decision)
        self.left = len(schedule.decisions)

    def __call__(self, standing: Standing) -> Decision | None:
        waiting = self._left.get((standing.actor, standing.call))
        if not waiting:
            return None
        self.left -= 1
        return waiting.pop(0)


LIKELY: Mapping[Happening, float] = {
    Happening.SWITCH: 0.12,
    Happening.CRASH: 0.006,
    Happening.LOST_ANSWER: 0.006,
    Happening.REFUSAL: 0.004,
    Happening.LAG: 0.03,
    Happening.STALL: 0.006,
    Happening.JUMP: 0.002,
    Happening.HELD_OPEN: 0.01,
    Happening.SECOND_PROCESS: 0.001,
}
"How likely each happening is at a point where it can be."
HOURS = (-26, -1, 1, 26)
"By so many of them a clock is set."


class Chance:
    """Decides by chance, as a seed has it; the same seed decides the same.

    After so many ``faults`` nothing happens any more but that others go first: with many actors something would always
    be amiss, and nothing would come to rest.
    """

    def __init__(
        self,
        seed: int,
        likely: Mapping[Happening, float] = LIKELY,
        *,
        faults: int | None = None,
        hours: Sequence[int] = HOURS,
    ) -> None:
        self._random, self._likely = Random(f"schedule {seed}"), likely
        self._faults, self._hours = faults, hours

    def __call__(self, standing: Standing) -> Decision | None:
        for happening in possible(standing) if self._faults != 0 else _going_first(standing):
            if self._random.random() < self._likely.get(happening, 0.0):
                if self._faults is not None:
                    self._faults -= happening is not Happening.SWITCH
                return Decision(standing.actor, standing.call, happening, self._number(happening, standing))
        return None

    def _number(self, happening: Happening, standing: Standing) -> int:
        match happening:
            case Happening.SWITCH:
                return self._random.choice(standing.others)
            case Happening.LAG:
                return self._random.randint(1, 3)
            case Happening.STALL:
                return self._random.randint(1, 4)
            case Happening.HELD_OPEN:
                return self._random.choice((0, 0, 1, 4))
            case Happening.JUMP:
                return self._random.choice(self._hours)
        return 0


def possible(standing: Standing) -> list[Happening]:
    """What can happen at a point."""
    found = [*_going_first(standing), Happening.CRASH, Happening.STALL, Happening.JUMP]
    if not standing.run.is_doubled(standing.actor):  # or those that come would bring ever more of them
        found.append(Happening.SECOND_PROCESS)
    if standing.what.part != "clock":
        found.append(Happening.REFUSAL)
    if standing.what.writes:
        found.append(Happening.LOST_ANSWER)
    if standing.what.through_index:
        found.append(Happening.LAG)
    if standing.what.name == "commit":
        found.append(Happening.HELD_OPEN)
    return [each for each in found if each not in _LASTING] if standing.is_steady else found


_LASTING = (Happening.STALL, Happening.HELD_OPEN)


def _going_first(standing: Standing) -> list[Happening]:
    return [Happening.SWITCH] if standing.others else []
