"""A job of three steps, each with an effect that is counted, simulated with two workers and a rescuer."""

from __future__ import annotations

from penstock import Store
from penstock.testing.simulation import Scene, World, at_rest, invariant, scene_of
from penstock.work import JobStatus, PipelineJob
from tests.work.plant import CAST, PLANT, TASKS, Stamp

STEPS = ("melt", "pour", "file")


def begin(store: Store) -> None:
    store.put_many([Stamp(name=f"job-{step}") for step in STEPS])
    with store.change(by="ann") as change:
        CAST.start(change, {"name": "job"})


@invariant
def each_step_has_its_effect_once(world: World) -> None:
    """No step has its effect twice."""
    twice = [stamp.name for stamp in world.records(Stamp) if stamp.count > 1]
    assert not twice, f"{', '.join(twice)} was stamped more than once"


@at_rest
def the_job_is_done(world: World) -> None:
    """The job is done, with every effect."""
    (job,) = world.records(PipelineJob)
    assert job.status is JobStatus.DONE, f"it is {job.status.value}"
    missing = [stamp.name for stamp in world.records(Stamp) if stamp.count != 1]
    assert not missing, f"{', '.join(missing)} was not stamped"


INVARIANTS = (each_step_has_its_effect_once, the_job_is_done)


def foundry() -> Scene:
    """The scene."""
    return scene_of(begin, tasks=[TASKS], domains=[PLANT], invariants=INVARIANTS)
