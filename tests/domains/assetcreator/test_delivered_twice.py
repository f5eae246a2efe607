"""A worker that stalls, loses its lease, and comes back when another has finished: the run has one result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.domains.assetcreator import jobs, library, removal
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.bookkeeping import Idempotency
from penstock.domains.assetcreator.model import AssetVersion, Job, Project
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.domains.assetcreator.step_claims import step_key
from penstock.kernel.idempotency import OnceStatus
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work import Outcome, Task, TaskAttempt, TaskStatus
from penstock.work.runner import Runner
from tests.domains.assetcreator.lives import assert_files_stand, assert_marks_tell, assert_settled
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.assetcreator.story import ANN, approve, asked, later, project, reject, runs, seen, work, workers

pytestmark = pytest.mark.every_engine


class Nap:
    """Falls asleep once; the others go on meanwhile, and are done when it wakes up."""

    def __init__(self, studio: AssetStudio) -> None:
        self._studio, self.taken = studio, False

    def take(self) -> None:
        if self.taken:
            return
        self.taken = True
        later(self._studio, minutes=10)
        assert workers(self._studio).rescue() == 1
        later(self._studio, seconds=1)
        work(self._studio)


class Stalling:
    """An engine or an object store whose user falls asleep before something is written."""

    def __init__(self, real: Any, name: str, nap: Callable[[Any], None]) -> None:
        self._real, self._name, self._nap = real, name, nap

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name != self._name:
            return found

        def call(*given: Any, **more: Any) -> Any:
            self._nap(given[0])
            return found(*given, **more)

        return call


STEPS = {"draw": StepName.TEXT_TO_IMAGE, "export": StepName.EXPORT}


@pytest.mark.parametrize("step", ["draw", "export"])
@pytest.mark.parametrize("stalls", ["while it is made", "before a file is stored", "before it is told"])
def test_a_run_that_is_delivered_twice_has_the_first_result(
    anywhere: AssetStudio, quick: QuickMakers, stalls: str, step: str
) -> None:
    """AC-39, AC-40, AC-41, AC-44, F-AC-4: whatever the second one makes is dropped, and replaces no file."""
    studio = anywhere
    robots = project(studio, gates=[])
    job = asked(studio, robots, type=AssetType.SPRITE_2D)
    nap, stalled, place = Nap(studio), studio, STEPS[step].value
    quick.differs = True
    if stalls == "while it is made":
        quick.meanwhile = lambda at, order: nap.take() if at == step else None
    elif stalls == "before a file is stored":
        folder = "/library/" if step == "export" else f"/{place}"
        objects: Any = Stalling(studio.objects, "put", lambda key: nap.take() if folder in key else None)
        stalled = replace(studio, objects=objects)
    else:
        ends = _ends_of(step)
        engine: Any = Stalling(studio.store.engine, "commit", lambda writes: nap.take() if ends(writes) else None)
        stalled = replace(studio, store=_with(studio, engine))
    work(stalled)
    assert nap.taken
    assert runs(studio, job) == [(name, "done") for name in ("text-to-image", "refine", "export")]
    there = seen(studio, job)
    (version,) = studio.store.find(AssetVersion.of_asset(project_id=job.project_id, asset_id=job.asset_id or ""))
    assert (there.job.status, there.job.version, version.version) == (Status.DONE, 1, 1)
    assert [at for at, _ in quick.asked].count(step) == 2
    assert_files_stand(studio, there.steps, [version])
    assert_marks_tell(studio, there.job, there.steps)
    assert_settled(studio, job, [version])
    (run,) = [each for each in there.steps if each.step_name is STEPS[step]]
    mark = studio.store.get(Idempotency.at(idempotency_key=step_key(there.job, run, model_version="quick 1")))
    assert (mark.status, (mark.result or {})["checksums"]) == (OnceStatus.DONE, run.checksums)
    assert 24 * 3600 <= mark.ttl - mark.created_at.timestamp() <= 72 * 3600
    (task,) = [t for t in _tasks(studio) if t.name.endswith(f".{place}")]
    outcomes = [attempt.outcome for attempt in studio.store.find(TaskAttempt.of_task(task_id=task.task_id))]
    assert outcomes == [Outcome.LOST, Outcome.DONE]


def _ends_of(step: str) -> Callable[[Any], bool]:
    """Whether something is the commit that ends a run of a step."""
    wanted = {"Idempotency", "Attempt"} | ({"AssetVersion"} if step == "export" else set())
    return lambda writes: wanted <= {write.shape.name for write in writes}


def _with(studio: AssetStudio, engine: Any, *, clock: FrozenClock | None = None) -> Store:
    return Store(engine, clock=clock or studio.store.clock, secret=b"of the tests", own=SYSTEM_RECORDS)


def _tasks(studio: AssetStudio) -> list[Task]:
    return list(studio.store.find(Task.by_status(status=TaskStatus.DONE)))


def test_a_task_that_is_done_is_not_taken_again_whoever_is_told_of_it(studio: AssetStudio, quick: QuickMakers) -> None:
    """AC-40: a broker that tells of it twice, or late, has it run once."""
    job = asked(studio, project(studio, gates=[]), type=AssetType.SPRITE_2D)
    runner: Runner = workers(studio).runner
    (told,) = workers(studio).waiting()
    taken = runner.take_one(told.task_id, told.lease_epoch)
    assert taken is not None
    assert runner.take_one(told.task_id, told.lease_epoch) is None
    runner.run(taken)
    assert runner.take_one(told.task_id, told.lease_epoch) is None
    work(studio)
    assert [step for step, _ in quick.asked] == ["draw", "refine", "export"]
    assert seen(studio, job).job.version == 1


def test_a_rejected_run_and_an_equal_job_have_keys_of_their_own(studio: AssetStudio) -> None:
    """AC-39, F-AC-5: each part of the hash makes another key, the job and the round among the inputs."""
    first, second = (asked(studio, project(studio)) for _ in range(2))
    work(studio)
    (one, other) = (seen(studio, job) for job in (first, second))
    step = one.steps[0]
    keys = {
        step_key(one.job, step, model_version="quick 1"),
        step_key(other.job, other.steps[0], model_version="quick 1"),
        step_key(one.job, one.steps[1], model_version="quick 1"),
        step_key(one.job, step, model_version="quick 2"),
        step_key(one.job, step.model_copy(update={"round": 2}), model_version="quick 1"),
        step_key(_asking(one.job, seed=5), step, model_version="quick 1"),
        step_key(one.job.model_copy(update={"asset_type": AssetType.PROP}), step, model_version="quick 1"),
    }
    assert len(keys) == 7
    assert step_key(one.job, step, model_version="quick 1") in keys


def _asking(job: Job, **other: Any) -> Job:
    return job.model_copy(update={"request": {**(job.request or {}), **other}})


# Two jobs for one asset


def test_a_number_is_not_given_again_though_its_version_has_come_and_gone_meanwhile(
    studio: AssetStudio, quick: QuickMakers
) -> None:
    """F-AC-3: of two jobs that make a version of one asset at once."""
    robots = project(studio, gates=[])
    job = asked(studio, robots, type=AssetType.SPRITE_2D)
    work(studio)
    slow, fast = (jobs.make_again(studio, job.job_id, by=ANN) for _ in range(2))
    overtaken: list[Any] = []

    def overtake(step: str, order: Any) -> None:
        if step == "export" and not overtaken:
            overtaken.append(order)
            work(studio)  # the other one
            removal.delete_version(studio, job.asset_id or "", 2, by=ANN)

    quick.meanwhile = overtake
    work(studio)
    later(studio, minutes=1)
    work(studio)
    assert sorted(seen(studio, each).job.version or 0 for each in (slow, fast)) == [2, 3]
    assert library.find_version(studio.store, job.asset_id or "", 3).version == 3
    asset = library.find_asset(studio.store, job.asset_id or "")
    assert (asset.latest_version, asset.last_number) == (3, 3)


def test_a_version_that_comes_while_its_asset_is_deleted_is_not_left_behind(
    studio: AssetStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either it goes along, or whoever deletes is told to ask again."""
    robots = project(studio, gates=[])
    job = asked(studio, robots, type=AssetType.SPRITE_2D)
    work(studio)
    jobs.make_again(studio, job.job_id, by=ANN)
    came: list[bool] = []
    remove = removal._remove_version

    def meanwhile(*given: Any, **more: Any) -> None:
        remove(*given, **more)
        if not came:
            came.append(True)
            work(studio)

    monkeypatch.setattr(removal, "_remove_version", meanwhile)
    removal.delete_asset(studio, job.asset_id or "", by=ANN)
    query = AssetVersion.of_asset(project_id=robots.project_id, asset_id=job.asset_id or "")
    assert (came, list(studio.store.find(query))) == ([True], [])
    assert studio.store.get(Project.at(project_id=robots.project_id)) == robots


def test_runs_are_told_in_the_order_of_the_work_whatever_clocks_say(studio: AssetStudio) -> None:
    """F-AC-1: whoever decides may have a clock that is behind those of the workers."""
    clock = FrozenClock(studio.store.clock.now() - timedelta(minutes=5))
    behind = replace(studio, store=_with(studio, studio.store.engine, clock=clock))
    job = asked(studio, project(studio))
    work(studio)
    reject(behind, job, back_to=StepName.TEXT_TO_IMAGE)
    work(studio)
    while seen(studio, job).current() is not None:
        approve(behind, job)
        work(studio)
    drawn = ["text-to-image", "refine"]
    assert [name for name, _ in runs(studio, job)] == [*drawn, *drawn, "3D", "retopo", "rig", "anim", "export"]
    made = library.find_version(studio.store, job.asset_id or "", 1)
    told = [run["step"] for run in made.metadata["provenance"]["steps"]]
    assert told == [*drawn, "3D", "retopo", "rig", "anim"]
