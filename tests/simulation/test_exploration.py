"""Every schedule of two workers and a rescuer over one job of three steps, up to a bound."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from penstock import Store
from penstock.testing.simulation import (
    Actor,
    Explored,
    Happening,
    Process,
    Scene,
    World,
    explore,
    story,
)
from tests.simulation.foundry import foundry
from tests.work.plant import PLANT, Stamp


def explored(**bounds: int) -> Explored:
    found = explore(foundry(), **bounds)  # type: ignore[arg-type]
    assert [story(outcome) for outcome in found.broken] == []
    return found


def test_whenever_another_goes_first_the_job_is_done() -> None:
    found = explored(preemptions=1, faults=0)
    assert found.schedules > 50, "at each point of the plainest schedule each of the others"
    assert found.left > found.schedules / 2, "what comes to the same is looked at once"


def test_whatever_happens_at_any_point_the_job_is_done() -> None:
    """A crash, a lost answer, and a process that stands still until others have its work."""
    assert explored(preemptions=0, faults=1).schedules > 90


@pytest.mark.long
def test_a_crash_or_a_lost_answer_at_every_point_of_every_schedule_with_a_preemption() -> None:
    assert explored(preemptions=1, faults=1).schedules > 3000


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_same_with_two_preemptions_on_two_cores() -> None:
    """The largest number that two cores get through in ten minutes."""
    command = [sys.executable, "-m", "tests.simulation.explored", "2", "1"]
    parts = [subprocess.Popen([*command, str(n), "2"], stdout=subprocess.PIPE, text=True) for n in range(2)]
    told = [json.loads(part.communicate()[0]) for part in parts]
    assert [each["broken"] for each in told] == [[], []]
    assert sum(each["schedules"] for each in told) > 30_000


# Would it notice?


def raced() -> Scene:
    """Two who read a number and write what follows it, with nothing that keeps them apart."""

    def start(process: Process) -> object:
        left = [1]

        def turn() -> bool:
            if not left:
                return False
            left.pop()
            found = process.store.get(Stamp.at(name="n"))
            process.store.put(Stamp(name="n", count=found.count + 1))
            return True

        return turn

    def begin(store: Store) -> None:
        store.put(Stamp(name="n"))

    def both_are_counted(world: World) -> None:
        """Both are counted."""
        assert [stamp.count for stamp in world.records(Stamp)] == [2]

    actors = [Actor(name, start) for name in ("one", "two")]  # type: ignore[arg-type]
    return Scene(actors, begin, domains=[PLANT], at_rest=[both_are_counted], pauses=1)


def test_a_lost_update_takes_one_preemption() -> None:
    assert explore(raced(), preemptions=0, faults=0).broken == []
    (outcome,) = explore(raced(), preemptions=1, faults=0).broken
    assert str(outcome.broken).startswith("Both are counted")
    (decision,) = outcome.schedule.decisions
    assert (decision.happening, decision.call) == (Happening.SWITCH, 2)


def test_what_comes_to_the_same_is_looked_at_once_and_nothing_else_is_left_out() -> None:
    """The schedules that are left are those of which another has the same end."""
    numbers = iter(range(10**6))
    with_and_without = [_ends(raced()), _ends(replace(raced(), outside=lambda: next(numbers)))]
    assert with_and_without[0] == with_and_without[1]
    assert {(1,), (2,)} <= with_and_without[0]


def _ends(scene: Scene) -> set[tuple[int, ...]]:
    found: set[tuple[int, ...]] = set()

    def note(world: World) -> None:
        found.add(tuple(stamp.count for stamp in world.records(Stamp)))

    explore(replace(scene, always=[note], at_rest=()), preemptions=2, faults=1)
    return found
