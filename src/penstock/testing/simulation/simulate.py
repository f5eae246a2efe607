"""Simulating: many schedules of a scene by chance, or one by its token; a failure is a story."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.declare.domain import Domain
from penstock.errors import InvalidValue
from penstock.kernel.store import Store
from penstock.testing.simulation.cast import crew, work_is_done
from penstock.testing.simulation.choosers import HOURS, LIKELY, Chance
from penstock.testing.simulation.invariants import ALWAYS, AT_REST, sorted_out
from penstock.testing.simulation.outcome import Outcome
from penstock.testing.simulation.run import Run
from penstock.testing.simulation.schedule import Happening, Schedule, schedule_of
from penstock.testing.simulation.shrinking import play, shrunk
from penstock.testing.simulation.story import story
from penstock.testing.simulation.world import Actor, Invariant, Scene
from penstock.work.registry import Tasks
from penstock.work.working import WORKING


class ScheduleFailed(AssertionError):
    """A schedule in which something is not as it must be, as a story; `outcome` has all of it."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(f"{outcome.broken}\n\n{story(outcome)}")
        self.outcome = outcome

    @property
    def token(self) -> str:
        return self.outcome.schedule.token


@dataclass(frozen=True, slots=True)
class Simulated:
    """What was simulated without anything going wrong."""

    schedules: int
    steps: int


def scene_of(
    begin: Callable[[Store], object],
    *,
    tasks: Sequence[Tasks] = (),
    actors: Sequence[Actor] = (),
    domains: Sequence[Domain] = (),
    invariants: Iterable[Invariant] = (),
) -> Scene:
    """A scene with what every simulation holds on to; two workers and a rescuer of the tasks, beside the actors."""
    always, last = sorted_out(invariants)
    everybody = [*(crew(*tasks) if tasks else ()), *actors]
    if not everybody:
        raise InvalidValue("a simulation has no actors; give it tasks=[…], or actors=[…]")
    return Scene(
        everybody,
        begin,
        domains=[WORKING, *domains],
        always=[*ALWAYS, *always],
        at_rest=[*AT_REST, *last],
        is_done=work_is_done if not actors else lambda world: False,
    )


def simulate(
    scene: Scene,
    *,
    schedules: int = 200,
    seed: int = 0,
    token: str | None = None,
    likely: Mapping[Happening, float] = LIKELY,
    faults: int | None = None,
    hours: Sequence[int] = HOURS,
) -> Simulated:
    """Run so many schedules by chance, the plainest first; ScheduleFailed tells the first that goes wrong, made short.

    With a token: the one that it stands for. At most so many ``faults`` happen in each; None: it is left to chance.
    By one of these ``hours`` a clock is set: by none that a run does not outlast, where something is always due.
    """
    if token is not None:
        return _checked([play(scene, schedule_of(token))])
    steps = 0
    for number in range(seed, seed + schedules):
        chance = Chance(number, likely if number > seed else {}, faults=faults, hours=hours)
        outcome = Run(scene, Schedule(number), chance).play()
        steps += len(outcome.steps)
        if outcome.broken is not None:
            raise ScheduleFailed(shrunk(scene, outcome))
    return Simulated(schedules, steps)


def _checked(outcomes: Sequence[Outcome]) -> Simulated:
    for outcome in outcomes:
        if outcome.broken is not None:
            raise ScheduleFailed(outcome)
    return Simulated(len(outcomes), sum(len(outcome.steps) for outcome in outcomes))


def simulated(
    *,
    tasks: Sequence[Tasks] = (),
    actors: Sequence[Actor] = (),
    domains: Sequence[Domain] = (),
    invariants: Iterable[Invariant] = (),
    schedules: int = 200,
    seed: int = 0,
    token: str | None = None,
    pauses: int = 16,
) -> Callable[[Callable[[Store], object]], Callable[[], None]]:
    """Make a test of a function that puts into an empty store what there is at the beginning."""

    def decorate(begin: Callable[[Store], object]) -> Callable[[], None]:
        scene = scene_of(begin, tasks=tasks, actors=actors, domains=domains, invariants=invariants)

        def test() -> None:
            simulate(replace(scene, pauses=pauses), schedules=schedules, seed=seed, token=token)

        test.__name__, test.__doc__, test.__module__ = begin.__name__, begin.__doc__, begin.__module__
        return test

    return decorate
