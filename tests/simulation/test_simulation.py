"""Runs of a simulation: what can happen at a point happens, and a run can be told, shortened and repeated."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from penstock.errors import InvalidValue
from penstock.testing.simulation import (
    Actor,
    Decision,
    Happening,
    Outcome,
    Process,
    Scene,
    Schedule,
    ScheduleFailed,
    World,
    invariant,
    scene_of,
    schedule_of,
    simulate,
    story,
)
from penstock.testing.simulation.choosers import Chance
from penstock.testing.simulation.run import Run
from penstock.testing.simulation.shrinking import play
from penstock.work import Task, TaskAttempt
from tests.simulation.foundry import begin, foundry
from tests.work.plant import PLANT, TASKS, Stamp

COMMIT = 8
"The call by which the first worker ends the first step."


def decided(*decisions: Decision) -> Schedule:
    return Schedule(0, decisions)


def played(*decisions: Decision) -> Outcome:
    outcome = play(foundry(), decided(*decisions))
    assert outcome.broken is None
    assert outcome.schedule.decisions == decisions, "all of it has happened"
    return outcome


def told(outcome: Outcome) -> list[str]:
    return [f"{step.who}: {step.what}" for step in outcome.steps if step.what is not None]


def test_in_the_plainest_run_the_first_worker_does_all() -> None:
    outcome = played()
    assert {step.who for step in outcome.steps if step.touched} == {"worker 1"}


def test_chance_starts_one_more_process_of_each_actor_at_most() -> None:
    """Each would start others, and the more there are the more come: nothing would ever rest."""
    outcome = Run(foundry(), Schedule(0), Chance(0, {Happening.SECOND_PROCESS: 1.0})).play()
    assert outcome.broken is None
    assert [d.happening for d in outcome.schedule.decisions] == [Happening.SECOND_PROCESS] * len(foundry().actors)


def test_another_goes_first() -> None:
    outcome = played(Decision(0, 1, Happening.SWITCH, 1))
    assert {step.who for step in outcome.steps if step.touched} == {"worker 2"}


@pytest.mark.parametrize("call", range(1, 12))
@pytest.mark.parametrize(
    "happening", [Happening.CRASH, Happening.LOST_ANSWER, Happening.REFUSAL, Happening.STALL, Happening.HELD_OPEN]
)
def test_whatever_happens_to_a_call_the_job_is_done(happening: Happening, call: int) -> None:
    played(Decision(0, call, happening))


def test_a_crash_ends_the_process_and_another_begins() -> None:
    outcome = played(Decision(0, COMMIT, Happening.CRASH))
    assert any(step.happening == Happening.CRASH.words for step in outcome.steps)
    assert any(step.who == "time" for step in outcome.steps), "its lease has to end first"
    assert any(step.who == "rescuer" and step.touched for step in outcome.steps)


def test_a_lost_answer_is_that_of_a_call_that_was_made() -> None:
    outcome = played(Decision(0, COMMIT, Happening.LOST_ANSWER))
    (lost,) = [step for step in outcome.steps if step.happening == Happening.LOST_ANSWER.words]
    assert lost.touched


def test_a_refused_call_was_not_made() -> None:
    outcome = played(Decision(0, COMMIT, Happening.REFUSAL))
    (refused,) = [step for step in outcome.steps if step.happening == Happening.REFUSAL.words]
    assert not refused.touched


def test_one_who_stood_still_wakes_when_another_has_its_work_and_changes_nothing() -> None:
    outcome = played(Decision(0, COMMIT, Happening.STALL))
    writers = [step.who for step in outcome.steps if any(t.shape is TaskAttempt.__shape__ for t in step.touched)]
    assert "rescuer" in writers
    assert "worker 2" in writers
    late = told(outcome)[-4:]
    assert any(line.startswith("worker 1") for line in late), "it did wake"


def test_an_index_that_lags_does_not_show_the_last_commits() -> None:
    found: list[int] = []

    def looking(process: Process) -> object:
        def turn() -> bool:
            if len(found) < 2:
                found.append(len(list(process.store.find(Task.by_status(status="waiting")))))  # type: ignore[arg-type]
            return False

        return turn

    scene = replace(foundry(), actors=[Actor("looker", looking)], at_rest=(), pauses=2)  # type: ignore[arg-type]
    play(scene, decided(Decision(0, 1, Happening.LAG, 1)))
    assert found == [0, 1]


def test_a_clock_that_is_set_and_a_second_process_do_no_harm() -> None:
    for hours in (-48, -1, 1, 48):
        played(Decision(0, COMMIT, Happening.JUMP, hours))
    outcome = played(Decision(0, 3, Happening.SECOND_PROCESS), Decision(0, 4, Happening.SWITCH, 3))
    assert any(step.who == "worker 1, again" for step in outcome.steps)


# What goes wrong is told


def broken() -> Scene:
    """A scene in which something is wrong as soon as the second worker has done a step."""

    @invariant
    def by_the_first(world: World) -> None:
        """Only the first worker does anything."""
        for task in world.records(Task):
            assert task.lease_owner in (None, "worker 1"), f"{task.lease_owner} has {task.name}"

    return scene_of(begin, tasks=[TASKS], domains=[PLANT], invariants=[by_the_first])


def failure() -> ScheduleFailed:
    with pytest.raises(ScheduleFailed) as failed:
        simulate(broken(), schedules=50)
    return failed.value


def test_a_failing_schedule_is_shortened_to_what_it_takes() -> None:
    (decision,) = failure().outcome.schedule.decisions
    assert decision.happening in (Happening.SWITCH, Happening.STALL, Happening.HELD_OPEN)


def test_it_is_told_on_a_screen_and_ends_with_what_was_wrong_and_its_token() -> None:
    failed = failure()
    lines = str(failed).splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 120 + len(failed.token)
    assert lines[-2] == "Then: Only the first worker does anything: worker 2 has plant.cast.melt"
    assert lines[-1] == f"Again: {failed.token}"
    assert any("worker 2" in line and "status=running" in line for line in lines)


def test_a_token_repeats_it_also_in_another_process() -> None:
    failed = failure()
    with pytest.raises(ScheduleFailed) as again:
        simulate(broken(), token=failed.token)
    assert str(again.value) == str(failed)
    code = (
        "from tests.simulation.test_simulation import broken\n"
        "from penstock.testing.simulation import ScheduleFailed, simulate\n"
        f"try: simulate(broken(), token={failed.token!r})\n"
        "except ScheduleFailed as failed: print(failed)\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert ran.stdout.strip() == str(failed).strip()


def test_a_seed_decides_the_same_every_time() -> None:
    first, second = (failure().token for _ in range(2))
    assert first == second


def test_what_is_no_token_is_refused() -> None:
    schedule = Schedule(7, (Decision(1, 12, Happening.JUMP, -48), Decision(0, 3, Happening.CRASH)))
    assert schedule_of(schedule.token) == schedule
    for wrong in ("", "penstock-sim-1:", "penstock-sim-1:7_x", "penstock-sim-2:7", "penstock-sim-1:7_1.2y"):
        with pytest.raises(InvalidValue):
            schedule_of(wrong)


def test_an_actor_that_ends_with_an_error_is_a_failure() -> None:
    def start(process: Process) -> object:
        raise RuntimeError("no luck")

    scene = replace(foundry(), actors=[Actor("fool", start)])  # type: ignore[arg-type]
    outcome = play(scene, Schedule())
    assert str(outcome.broken) == "fool ends with RuntimeError: no luck"
    assert "no luck" in story(outcome)


def test_those_who_never_rest_are_a_failure() -> None:
    def start(process: Process) -> object:
        return lambda: process.store.lookup(Stamp.at(name="job-melt"))

    scene = replace(foundry(), actors=[Actor("restless", start)], most_steps=100)  # type: ignore[arg-type]
    assert str(play(scene, Schedule()).broken).startswith("it never comes to rest")


def test_time_and_chance_are_as_they_were_when_a_run_is_over() -> None:
    kept = time.monotonic, time.sleep, os.urandom
    played()
    assert (time.monotonic, time.sleep, os.urandom) == kept


def test_a_simulation_without_actors_is_refused() -> None:
    with pytest.raises(InvalidValue, match="no actors"):
        scene_of(lambda store: None)


def test_many_schedules_of_a_job_of_three_steps_by_chance() -> None:
    assert simulate(foundry(), schedules=60).schedules == 60
