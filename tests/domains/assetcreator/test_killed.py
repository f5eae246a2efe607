"""Killed between any two writes, of records or of files, and asked again: one asset, one version, quotas settled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock import FrozenClock, Store
from penstock.domains.assetcreator import DOMAIN, jobs, library, removal
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import NoSuchPlace
from penstock.domains.assetcreator.model import Asset, AssetPlace, AssetVersion, Job, JobPlace, Project
from penstock.domains.assetcreator.project_quotas import BYTES, JOBS, job_hold, version_hold
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.errors import InvalidValue
from penstock.files.object_reads import every, lookup
from penstock.files.released_file import Released, ReleasedStatus
from penstock.files.sweep import Sweep
from penstock.kernel.idempotency import Claim, Replay, SystemOnce, begin
from penstock.kernel.quota import HELD, QuotaHold, QuotaUse
from penstock.kernel.record_name import name_of
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.lifecycle.retention import Retention
from penstock.objects import LocalObjects
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work import JobStatus, PipelineJob, Task, TaskStatus, Terminal, pipeline_job
from penstock.work.past_jobs import PastJobs
from penstock.work.working import WORKING
from tests.conftest import furnished
from tests.domains.assetcreator.conftest import BEGUN, ENGINES
from tests.domains.assetcreator.lives import (
    assert_attempts_add_up,
    assert_files_stand,
    assert_one_result,
    assert_settled,
    carry_on,
    kill_at_every_write,
    messages,
    used,
)
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.assetcreator.story import ANN, asked, later, project, seen, work

SPRITE_RUNS = [("text-to-image", "done"), ("refine", "rejected"), ("refine", "approved"), ("export", "done")]
CHARACTER_RUNS = [
    *SPRITE_RUNS[:-1],
    *[("3D", "done"), ("retopo", "approved"), ("rig", "approved"), ("anim", "approved"), ("export", "done")],
]
SELDOM = pytest.mark.long


@pytest.fixture(params=[pytest.param(n, marks=[SELDOM] if n != "sqlite" else []) for n in ENGINES])
def plain(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock, local: LocalObjects, quick: QuickMakers
) -> Iterator[AssetStudio]:
    clock.set(BEGUN)
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    yield AssetStudio(store, local, quick.makers())
    store.close()
    cleanup()


@pytest.fixture
def every_write(request: pytest.FixtureRequest) -> int:
    """Every write is tried where that is quick, every third elsewhere."""
    return 1 if "sqlite" in request.node.name else 3


@dataclass
class World:
    """A job of a project that has no other, and since when there is anything of it."""

    job: Job
    since: datetime
    claim: Claim | None = None


def begun(studio: AssetStudio, type: AssetType = AssetType.SPRITE_2D, **more: Any) -> World:
    later(studio, seconds=1)
    now = studio.store.clock.now()
    return World(asked(studio, project(studio, **more), type=type), now)


def made(studio: AssetStudio) -> World:
    """A job that has come to its version."""
    world = begun(studio, gates=[])
    work(studio)
    return world


# The chain


@pytest.mark.parametrize(
    ("type", "runs", "least"),
    [
        (AssetType.SPRITE_2D, SPRITE_RUNS, 20),
        pytest.param(AssetType.CHARACTER_3D, CHARACTER_RUNS, 45, marks=SELDOM),
    ],
)
def test_killed_at_every_write_of_the_chain_and_resumed(
    plain: AssetStudio, every_write: int, type: AssetType, runs: list[tuple[str, str]], least: int
) -> None:
    """AC-22, AC-36, AC-40, F-AC-4: decisions among it; one asset, one version, no run with two results."""
    kill_at_every_write(
        plain,
        lambda: begun(plain, type),
        lambda studio, world: carry_on(studio, world.job),
        lambda world: assert_one_result(plain, world.job, runs, since=world.since),
        every=every_write,
        least=least,
    )


@pytest.mark.parametrize("at", ["the queue", "work", "a gate"])
def test_killed_while_a_job_is_cancelled(plain: AssetStudio, every_write: int, quick: QuickMakers, at: str) -> None:
    """AC-51: it has failed with the code CANCELLED once somebody was told so, and its place is free."""

    def prepare() -> World:
        world = begun(plain)
        if at == "a gate":
            work(plain)
        return world

    def act(studio: AssetStudio, world: World) -> None:
        if at == "work":
            quick.meanwhile = lambda step, order: _cancelled(studio, world)
            work(studio)
            quick.meanwhile = lambda step, order: None
        _cancelled(studio, world)
        work(studio)

    def check(world: World) -> None:
        there = seen(plain, world.job)
        assert (there.job.status, (there.job.error or {})["code"]) == (Status.FAILED, "CANCELLED")
        assert there.steps[-1].status is Status.FAILED
        assert_settled(plain, world.job, [])
        assert_files_stand(plain, there.steps, [])
        tasks = [task.status for task in plain.store.find(Task.of_record(about=name_of(world.job.ref)))]
        assert set(tasks) <= {TaskStatus.DONE, TaskStatus.CANCELLED}
        told = [m.type for m in messages(plain, world.since) if m.project_id == world.job.project_id]
        assert told.count("job.cancelled") == 1

    kill_at_every_write(plain, prepare, act, check, every=every_write)
    quick.meanwhile = lambda step, order: None


def _cancelled(studio: AssetStudio, world: World) -> None:
    jobs.cancel(studio, world.job.job_id, by=ANN)


def test_killed_while_a_job_is_resumed(plain: AssetStudio, every_write: int) -> None:
    """AC-51: it takes one place, and gives it back; the next version comes of it once."""

    def act(studio: AssetStudio, world: World) -> None:
        with suppress(InvalidValue):  # it runs again already
            jobs.resume(studio, world.job.job_id, from_step=StepName.REFINE, by=ANN)

    def check(world: World) -> None:
        assert used(plain, _project(plain, world))[0] == 1
        work(plain)
        there = seen(plain, world.job)
        assert (there.job.status, there.job.version) == (Status.DONE, 2)
        assert [step.step_name.value for step in there.steps] == ["text-to-image", *["refine", "export"] * 2]
        versions = _versions(plain, world)
        assert [version.version for version in versions] == [2, 1]
        assert_settled(plain, world.job, versions)
        assert_files_stand(plain, there.steps, versions)
        assert_attempts_add_up(plain, world.job)

    kill_at_every_write(plain, lambda: made(plain), act, check, every=every_write)


def test_killed_while_an_asset_is_made_again(plain: AssetStudio, every_write: int) -> None:
    """AC-40, AC-51: asked again with the same claim, it is begun once."""

    def act(studio: AssetStudio, world: World) -> None:
        mark = SystemOnce(
            idempotency_key=world.job.job_id,
            fingerprint="again",
            seed="s",
            created_at=world.since,
            ttl=int(world.since.timestamp()) + 99_999,
        )
        claim = begin(studio.store, mark, owner=uuid4().hex, period=timedelta(minutes=1))
        if not isinstance(claim, Replay):
            jobs.make_again(replace(studio, once=claim), world.job.job_id, by=ANN)

    def check(world: World) -> None:
        assert used(plain, _project(plain, world))[0] == 1
        work(plain)
        found = list(plain.store.find(Job.of_project(project_id=world.job.project_id)))
        assert [(job.status, job.asset_id) for job in found] == [(Status.DONE, world.job.asset_id)] * 2
        assert [job.version for job in sorted(found, key=lambda job: job.version or 0)] == [1, 2]
        versions = _versions(plain, world)
        assert [version.version for version in versions] == [2, 1]
        assert_settled(plain, world.job, versions)

    kill_at_every_write(plain, lambda: made(plain), act, check, every=every_write)


# Removal


def test_killed_while_a_version_is_deleted(plain: AssetStudio, every_write: int) -> None:
    """AC-51: it gives its room back once, its files are let go with it, and its number is not given again."""

    def act(studio: AssetStudio, world: World) -> None:
        with suppress(NoSuchPlace):
            removal.delete_version(studio, world.job.asset_id or "", 1, by=ANN)

    def check(world: World) -> None:
        assert _versions(plain, world) == []
        assert used(plain, _project(plain, world))[::2] == (0, 0)
        files = seen(plain, world.job).steps[-1].artifacts
        assert [key for each in _released(plain) for key in each.files if key in files] == files
        again = jobs.make_again(plain, world.job.job_id, by=ANN)
        work(plain)
        assert seen(plain, again).job.version == 2

    kill_at_every_write(plain, lambda: made(plain), act, check, every=every_write)


def test_killed_while_a_project_is_deleted(plain: AssetStudio, every_write: int, quick: QuickMakers) -> None:
    """What is gone is gone, and asked again it goes on, until neither a record nor a file is left, nor a count."""
    places: dict[str, list[Any]] = {}
    quick.meanwhile = _fail

    def prepare() -> World:
        world = made(plain)
        robots = _project(plain, world)
        fails = asked(plain, robots, "what fails")
        work(plain)
        assert seen(plain, fails).job.status is Status.FAILED
        all_jobs = [world.job, fails]
        (version,) = _versions(plain, world)
        places[robots.project_id] = [
            *(job.ref for job in all_jobs),
            *(JobPlace.at(job_id=job.job_id) for job in all_jobs),
            *(step.ref for job in all_jobs for step in seen(plain, job).steps),
            *(QuotaHold.at(hold_id=job_hold(job)) for job in all_jobs),
            *(QuotaUse.at(quota=q.name, whose=robots.project_id, period=HELD) for q in (JOBS, BYTES)),
            QuotaHold.at(hold_id=version_hold(version)),
            Asset.at(project_id=robots.project_id, asset_id=version.asset_id),
            AssetPlace.at(asset_id=version.asset_id),
            version.ref,
            robots.ref,
        ]
        return world

    def act(studio: AssetStudio, world: World) -> None:
        if studio.store.lookup(Project.at(project_id=world.job.project_id)) is not None:
            removal.delete_project(studio, world.job.project_id, by=ANN)

    def check(world: World) -> None:
        left = [found for found in plain.store.get_many(places[world.job.project_id]) if found is not None]
        assert left == []
        for task in (TaskStatus.FAILED, TaskStatus.WAITING, TaskStatus.RUNNING):
            assert list(plain.store.find(Task.by_status(status=task))) == []
        told = [m.type for m in messages(plain, world.since) if m.project_id == world.job.project_id]
        assert (told.count("ProjectDeleted"), told.count("AssetDeleted")) == (1, 1)
        forgotten = plain.store.lookup(pipeline_job(world.job))
        assert forgotten is None or forgotten.forgotten_at is not None

    kill_at_every_write(plain, prepare, act, check, every=every_write, least=10)
    later(plain, days=3650)  # files have the time of the disk
    PastJobs(plain.store, owner="tests").run()
    for status in JobStatus:
        found = PipelineJob.by_status(status=status)
        assert list(plain.store.find(found)) == []
    for _ in range(2):
        Sweep(plain.store, plain.objects, [DOMAIN, WORKING], owner="tests").run()
        later(plain, days=30)
    assert [found.key for found in every(plain.objects) if found.key.startswith("assets/")] == []


def _fail(step: str, order: Any) -> None:
    if order.concept == "what fails" and step == "refine":
        raise Terminal("it cannot be drawn")


def test_killed_while_a_version_is_restored(
    plain: AssetStudio, every_write: int, clock: FrozenClock, tmp_path: Path
) -> None:
    """AC-43, AC-51: its bytes count once, and all its files are there."""
    clock.set(datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1))  # files have the time of the disk
    plain = replace(plain, archive=FolderArchive(tmp_path / "archive"))

    def prepare() -> World:
        world = made(plain)
        with plain.store.change() as change:
            kept = change.get(Project.at(project_id=world.job.project_id))
            kept.versions_kept = 1
            change.save(kept)
        jobs.make_again(plain, world.job.job_id, by=ANN)
        work(plain)
        later(plain, days=1)
        assert plain.archive is not None
        Retention(plain.store, plain.archive, [DOMAIN], owner="tests", objects=plain.objects).run()
        for _ in range(2):
            later(plain, days=9)
            Sweep(plain.store, plain.objects, [DOMAIN, WORKING], owner="tests").run()
        assert [version.version for version in _versions(plain, world)] == [2]
        return world

    def act(studio: AssetStudio, world: World) -> None:
        library.restore_version(studio, world.job.asset_id or "", 1, by=ANN)

    def check(world: World) -> None:
        versions = _versions(plain, world)
        assert [version.version for version in versions] == [2, 1]
        assert_settled(plain, world.job, versions)
        assert_files_stand(plain, [], versions)
        assert all(lookup(plain.objects, key) for version in versions for key in version.files)
        told = [m.type for m in messages(plain, world.since) if m.project_id == world.job.project_id]
        assert told.count("AssetVersionRestored") == 1

    kill_at_every_write(plain, prepare, act, check, every=every_write, least=2)


def _project(studio: AssetStudio, world: World) -> Project:
    return studio.store.get(Project.at(project_id=world.job.project_id))


def _versions(studio: AssetStudio, world: World) -> list[AssetVersion]:
    query = AssetVersion.of_asset(project_id=world.job.project_id, asset_id=world.job.asset_id or "")
    return list(studio.store.find(query))


def _released(studio: AssetStudio) -> list[Released]:
    return list(studio.store.find(Released.by_status(status=ReleasedStatus.WAITING)))
