"""Processes that are ended between any two writes, and what must hold of a job whoever has worked on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Any, TypeVar

from penstock import Store
from penstock.declare.pattern import since
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.bookkeeping import Idempotency, Outbox
from penstock.domains.assetcreator.model import Asset, AssetVersion, Job, Project, Step
from penstock.domains.assetcreator.project_quotas import BYTES, JOBS, SECONDS, job_hold, version_hold
from penstock.domains.assetcreator.stages import Status, StepName
from penstock.domains.assetcreator.step_claims import step_key
from penstock.files.object_reads import examine
from penstock.kernel.idempotency import OnceStatus
from penstock.kernel.outbox import MessageStatus
from penstock.kernel.quota import QuotaHold, usage
from penstock.kernel.record_name import name_of
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.faults.blade import WRITES_OF_ENGINES, WRITES_OF_OBJECTS, Blade, Killed
from penstock.work import Outcome, Task, TaskAttempt, TaskStatus
from tests.domains.assetcreator.story import approve, later, reject, seen, work, workers

W = TypeVar("W")
OVER = (Status.DONE, Status.FAILED)


def process(studio: AssetStudio, blade: Blade) -> AssetStudio:
    """The studio of another process, with its own connection to what is stored."""
    engine = blade.cut(studio.store.engine, *WRITES_OF_ENGINES)
    store = Store(engine, clock=studio.store.clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    return replace(studio, store=store, objects=blade.cut(studio.objects, *WRITES_OF_OBJECTS))


def kill_at_every_write(
    studio: AssetStudio,
    prepare: Callable[[], W],
    act: Callable[[AssetStudio, W], Any],
    check: Callable[[W], Any],
    *,
    every: int = 1,
    least: int = 1,
) -> None:
    """Do something in a process that dies at its first, second … write, and again in one that lives; then look."""
    for at in count(1, every):
        world, blade = prepare(), Blade(at)
        with suppress(Killed):
            act(process(studio, blade), world)
        if blade.dead:
            later(studio, minutes=10)  # the leases of the dead one are over
            workers(studio).rescue()
            later(studio, minutes=1)
            act(process(studio, Blade()), world)
        try:
            check(world)
        except AssertionError as wrong:
            raise AssertionError(f"killed at write {at}: {wrong}") from wrong
        if not blade.dead:
            assert at > least, f"there is more to be killed at than {at} writes"
            return


def carry_on(studio: AssetStudio, job: Job) -> None:
    """Work and decide until a job is over: what was refined first is sent back, all else is fine."""
    work(studio)
    while (waiting := seen(studio, job).current()) is not None:
        if waiting.step_name is StepName.REFINE and waiting.round == 1:
            reject(studio, job, notes="longer")
        else:
            approve(studio, job)
        work(studio)


# What must hold


def assert_one_result(studio: AssetStudio, job: Job, runs: list[tuple[str, str]], *, since: datetime) -> None:
    """One asset, one version, each run of a stage to one effect, and nothing is left of what it took."""
    there = seen(studio, job)
    assert (there.job.status, there.job.version, there.job.error) == (Status.DONE, 1, None)
    assert [(step.step_name.value, step.status.value) for step in there.steps] == runs
    (asset,) = studio.store.find(Asset.of_project(project_id=job.project_id))
    (version,) = studio.store.find(AssetVersion.of_asset(project_id=job.project_id, asset_id=asset.asset_id))
    assert (asset.asset_id, asset.latest_version, version.version) == (job.asset_id, 1, 1)
    assert version.metadata["checksums"] == there.steps[-1].checksums
    assert_files_stand(studio, there.steps, [version])
    assert_marks_tell(studio, there.job, there.steps)
    assert_settled(studio, job, [version])
    assert_attempts_add_up(studio, job)
    told = events(studio, job, since=since)
    assert (told["StepCompleted"], told["StepStarted"], told["AssetIndexed"]) == (len(runs), len(runs), 1)
    decided = [status for _, status in runs if status in ("approved", "rejected")]
    assert (told["UserReviewUpdated"], told["review.requested"]) == (len(decided), len(decided))


def assert_files_stand(studio: AssetStudio, steps: list[Step], versions: list[AssetVersion]) -> None:
    """Every file that a record names is there, and is what it was when it was made."""
    named = [pair for step in steps for pair in (step.checksums or {}).items()]
    named += [pair for version in versions for pair in version.metadata["checksums"].items()]
    for key, digest in named:
        assert examine(studio.objects, key).sha256 == digest
    assert all(set(step.checksums or {}) == set(step.artifacts) for step in steps)


def assert_marks_tell(studio: AssetStudio, job: Job, steps: list[Step]) -> None:
    """The mark of each run tells its result; those before a rejection have keys of another request."""
    for step in steps:
        mark = studio.store.lookup(Idempotency.at(idempotency_key=step_key(job, step, model_version="quick 1")))
        if mark is not None:
            assert (mark.status, (mark.result or {})["artifacts"]) == (OnceStatus.DONE, step.artifacts)


def assert_settled(studio: AssetStudio, job: Job, versions: list[AssetVersion]) -> None:
    """A project that has this job only has no place taken, and room for its versions."""
    project = studio.store.get(Project.at(project_id=job.project_id))
    assert used(studio, project)[::2] == (0, sum(version.bytes or 0 for version in versions))
    assert used(studio, project)[1] <= 60, "makers that take no time have taken some"
    assert studio.store.lookup(QuotaHold.at(hold_id=job_hold(job))) is None
    for version in versions:
        assert studio.store.lookup(QuotaHold.at(hold_id=version_hold(version))) is not None


def assert_attempts_add_up(studio: AssetStudio, job: Job) -> None:
    """Each task was done by exactly one attempt, and every other was lost."""
    for task in studio.store.find(Task.of_record(about=name_of(job.ref))):
        outcomes = [a.outcome for a in studio.store.find(TaskAttempt.of_task(task_id=task.task_id))]
        assert (task.status, outcomes.count(Outcome.DONE)) == (TaskStatus.DONE, 1)
        assert set(outcomes) <= {Outcome.DONE, Outcome.LOST}


def used(studio: AssetStudio, project: Project) -> tuple[int, int, int]:
    """Unfinished jobs, seconds, bytes."""
    jobs, seconds, kept = (usage(studio.store, quota, project.project_id) for quota in (JOBS, SECONDS, BYTES))
    return jobs, seconds, kept


def events(studio: AssetStudio, job: Job, *, since: datetime) -> Counter[str]:
    """What others are told of the project of a job, how often each."""
    return Counter(message.type for message in messages(studio, since) if message.project_id == job.project_id)


def messages(studio: AssetStudio, moment: datetime) -> list[Outbox]:
    """What others are told from a moment on."""
    return list(studio.store.find(Outbox.by_status(status=MessageStatus.PENDING, ts=since(moment))))
