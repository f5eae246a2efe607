"""How long things are kept: a job leaves whole, versions that are not among the latest can be brought back."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from penstock import FrozenClock, Store
from penstock.auth.api_keys import create_key
from penstock.domains.assetcreator import PLUGIN, library, removal
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import NoSuchPlace
from penstock.domains.assetcreator.library import find_version, restore_version
from penstock.domains.assetcreator.model import (
    DOMAIN,
    VERSION_FILE,
    WORK_FILE,
    ArchivedVersion,
    Asset,
    AssetPlace,
    AssetVersion,
    Job,
    JobPlace,
    Project,
    Step,
)
from penstock.domains.assetcreator.project_quotas import BYTES, keep_version
from penstock.domains.assetcreator.stages import AssetKind, AssetType, Status, StepName
from penstock.errors import NotFound
from penstock.events.schedule import Scheduler
from penstock.files.object_reads import examine, lookup
from penstock.files.released_file import Released, ReleasedStatus
from penstock.files.sweep import Sweep
from penstock.kernel.quota import QuotaExceeded, usage
from penstock.kernel.record_name import name_of
from penstock.lifecycle.archived_file import ArchivedFile, DamagedArchive, is_sound
from penstock.lifecycle.bundle import bundles, find_record
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.lifecycle.object_archive import ObjectArchive
from penstock.lifecycle.retention import Archived, Retention
from penstock.objects import LocalObjects
from penstock.operations.reads import Ref
from penstock.ports.archive import Archive
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work import JobStatus, PipelineJob, Task, TaskStatus
from penstock.work.domain_context import DomainContext
from penstock.work.job_records import pipeline_job
from penstock.work.working import WORKING
from tests.kernel.shelf import Crash, Fuse, FusedArchive, FusedEngine, MeddledArchive

BY = "ann"
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def present(clock: FrozenClock) -> datetime:
    """Files are dated by the machine, so a clock that stands still must begin where they are."""
    return datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=5)


@pytest.fixture
def archive(tmp_path: Path) -> FolderArchive:
    return FolderArchive(tmp_path / "archive")


def begin(studio: AssetStudio, present: datetime, *projects: Project) -> None:
    clock: Any = studio.store.clock
    clock.set(present)
    for each in projects or (Project(project_id="p", name="Robots", created_at=present),):
        studio.store.put(each)


def job(studio: AssetStudio, job_id: str, *, status: Status = Status.DONE, runs: int = 3, files: int = 3) -> list[str]:
    """A job that has come to its state just now, with runs of a step and files of the first; the keys of these."""
    store, now = studio.store, studio.store.clock.now()
    made = Job(
        project_id="p",
        job_id=job_id,
        asset_type=AssetType.PROP,
        status=status,
        current_step=StepName.MESH,
        created_at=now - DAY,
        updated_at=now,
    )
    steps, keys = [], []
    for number in range(runs):
        key = WORK_FILE.key(f"3D-{number}/mesh.glb", project_id="p", job_id=job_id)
        if number < files:
            studio.objects.put(key, content(key))
            keys.append(key)
        moment, made_there = now - DAY + timedelta(seconds=number), keys[number:]
        steps.append(
            Step(
                project_id="p",
                job_id=job_id,
                step_name=StepName.MESH,
                ts=moment,
                artifacts=made_there,
                status=Status.DONE,
            )
        )
    store.put_many([made, JobPlace(job_id=job_id, project_id="p"), *steps])
    return keys


def failed(studio: AssetStudio, job_id: str) -> list[Any]:
    """Beside a job that has failed, what the pipeline keeps of it until somebody settles it."""
    store, now = studio.store, studio.store.clock.now()
    ref = Job.at(project_id="p", job_id=job_id)
    run = PipelineJob(
        job_id=pipeline_job(store.get(ref)).key["job_id"],
        pipeline="asset",
        project_id="p",
        input={},
        status=JobStatus.FAILED,
        created_at=now,
        updated_at=now,
    )
    letter = Task(
        task_id=f"t-{job_id}",
        name="assetcreator.asset.3D",
        project_id="p",
        input={},
        status=TaskStatus.FAILED,
        due_at=now,
        most_attempts=3,
        created_at=now,
        about=name_of(ref),
    )
    store.put_many([run, letter])
    return [run.ref, letter.ref]


def versions(
    studio: AssetStudio,
    count: int,
    *,
    project_id: str = "p",
    asset_id: str = "chair",
    files: Sequence[str] = ("asset.glb", "thumbnail.png"),
) -> None:
    """Versions of an asset in the library, each with its files, and its bytes counted."""
    store, now = studio.store, studio.store.clock.now()
    asset = Asset(project_id=project_id, asset_id=asset_id, type=AssetKind.SOLID, latest_version=count, created_at=now)
    store.put_many([asset, AssetPlace(asset_id=asset_id, project_id=project_id)])
    for number in range(1, count + 1):
        keys = [VERSION_FILE.key(name, project_id=project_id, asset_id=asset_id, version=number) for name in files]
        for key in keys:
            studio.objects.put(key, content(key))
        with store.change() as change:
            made = AssetVersion(
                project_id=project_id,
                asset_id=asset_id,
                version=number,
                type=AssetKind.SOLID,
                files=keys,
                bytes=sum(len(content(key)) for key in keys),
                created_at=now + timedelta(seconds=number),
            )
            change.create(made)
            keep_version(change, made)


def content(key: str) -> bytes:
    return key.encode() * 3


def retention(studio: AssetStudio, archive: Archive, *, store: Store | None = None) -> Retention:
    return Retention(store or studio.store, archive, [DOMAIN], owner="retention", objects=studio.objects)


def of(entity: type, outcomes: list[Archived]) -> Archived:
    return next(o for o in outcomes if o.entity.endswith(f".{entity.__name__}"))


def sweep(studio: AssetStudio) -> None:
    assert Sweep(studio.store, studio.objects, [DOMAIN, WORKING], owner="sweep").run() is not None


def numbers(studio: AssetStudio, *, project_id: str = "p", asset_id: str = "chair") -> list[int]:
    found = studio.store.find(AssetVersion.of_asset(project_id=project_id, asset_id=asset_id))
    return [version.version for version in found]


def archived_files(archive: Archive) -> dict[str, ArchivedFile]:
    """The files of every complete bundle that the archive gives back as they were."""
    found: dict[str, ArchivedFile] = {}
    for name in bundles(archive):
        for line in _lines(archive, name):
            file = ArchivedFile.of_line(line)
            if file is not None and is_sound(archive, file):
                found[file.key] = file
    return found


def _lines(archive: Archive, name: str) -> list[bytes]:
    return gzip.decompress(archive.get(name)).splitlines(keepends=True)


# Jobs


def test_a_job_leaves_whole_with_its_files_90_days_after_it_ended(anywhere: AssetStudio, present: datetime) -> None:
    """AC-42, F-AC-11: with its steps, its place and what the pipeline keeps; what the library needs stays."""
    studio, clock = anywhere, anywhere.store.clock
    assert isinstance(clock, FrozenClock)
    archive = ObjectArchive(studio.objects)
    begin(studio, present)
    versions(studio, 1)
    done, lost = job(studio, "done"), job(studio, "lost", status=Status.FAILED, runs=1)
    letters = failed(studio, "lost")
    delivered = find_version(studio.store, "chair", 1).files[0]
    exported = Step(
        project_id="p", job_id="done", step_name=StepName.EXPORT, ts=present, artifacts=[delivered], status=Status.DONE
    )
    studio.store.put(exported)
    clock.advance(90 * DAY)
    assert of(Job, retention(studio, archive).run()).records == 0
    young = job(studio, "young")
    clock.advance(timedelta(seconds=1))
    (planned, *_) = retention(studio, archive).plan()
    assert (planned.records, planned.along, planned.files) == (2, 1 + 4 + 1 + 1 + 2, 4)
    assert planned.file_bytes == sum(len(content(key)) for key in done + lost)
    outcome = of(Job, retention(studio, archive).run())
    assert (outcome.removed, outcome.files, outcome.file_bytes) == (2, 4, planned.file_bytes)
    gone = [Job.at(project_id="p", job_id=j) for j in ("done", "lost")] + [exported.ref, *letters]
    assert set(studio.store.get_many([*gone, JobPlace.at(job_id="done")])) == {None}
    assert list(studio.store.find(Step.of_job(job_id="done"))) == []
    sweep(studio)
    assert [lookup(studio.objects, key) for key in done + lost] == [None] * 4
    kept = archived_files(archive)
    assert set(kept) == set(done + lost)
    for key in done + lost:
        assert b"".join(archive.pieces(kept[key].name)) == content(key)
    assert examine(studio.objects, delivered).size == len(content(delivered))
    assert len(list(studio.store.find(Step.of_job(job_id="young")))) == 3
    assert all(lookup(studio.objects, key) for key in young)


def test_a_job_paused_for_a_year_loses_nothing(
    studio: AssetStudio, archive: FolderArchive, clock: FrozenClock, present: datetime
) -> None:
    """AC-42: time counts from the end of the job, and it has none yet."""
    begin(studio, present)
    keys = [key for status in (Status.PAUSED, Status.APPROVED) for key in job(studio, status.value, status=status)]
    clock.advance(365 * DAY)
    (outcome, *_) = retention(studio, archive).run()
    assert (outcome.records, outcome.held, list(archive.list())) == (0, 2, [])
    sweep(studio)
    assert all(lookup(studio.objects, key) for key in keys)
    assert len(list(studio.store.find(Step.of_job(job_id="paused")))) == 3


def test_the_service_lets_leave_what_is_due_by_itself(
    studio: AssetStudio, archive: FolderArchive, clock: FrozenClock, present: datetime
) -> None:
    """AC-42: every night, with the files where the service has them."""
    begin(studio, present)
    (key, *_) = job(studio, "done")
    context = DomainContext(studio.store, studio.objects, lambda name: None, archive)
    scheduler = Scheduler(studio.store, PLUGIN.retention_schedules(context), owner="service")
    scheduler.run_due()
    clock.advance(91 * DAY)
    scheduler.run_due()
    assert studio.store.lookup(Job.at(project_id="p", job_id="done")) is None
    assert b"".join(archive.pieces(archived_files(archive)[key].name)) == content(key)


def test_a_job_with_more_runs_than_a_commit_holds_leaves_whole(
    studio: AssetStudio, archive: FolderArchive, clock: FrozenClock, present: datetime
) -> None:
    begin(studio, present)
    keys = job(studio, "long", runs=120)
    clock.advance(91 * DAY)
    (outcome, *_) = retention(studio, archive).run()
    assert (outcome.removed, outcome.along, outcome.files) == (1, 121, 3)
    sweep(studio)
    assert [lookup(studio.objects, key) for key in keys] == [None] * 3
    assert set(archived_files(archive)) == set(keys)


def test_a_damaged_copy_in_the_archive_removes_nothing(
    studio: AssetStudio, archive: FolderArchive, clock: FrozenClock, present: datetime
) -> None:
    """F-AC-11: of the file as of the record; the next run writes another copy beside the damaged one."""
    begin(studio, present)
    keys = job(studio, "done")
    clock.advance(91 * DAY)

    def spoil(name: str, content: bytes) -> bytes:
        return content[:-1] + b"?" if name.startswith("files/") else content

    with pytest.raises(DamagedArchive, match="3D-0/mesh"):
        retention(studio, MeddledArchive(archive, spoil=spoil)).run()
    sweep(studio)
    assert len(list(studio.store.find(Step.of_job(job_id="done")))) == 3
    assert all(lookup(studio.objects, key) for key in keys)
    assert of(Job, retention(studio, archive).run()).removed == 1
    assert [file.name.endswith(".2") for file in archived_files(archive).values()].count(True) == 1


def test_what_is_not_there_is_told_and_holds_nothing_up(
    studio: AssetStudio, archive: FolderArchive, clock: FrozenClock, present: datetime
) -> None:
    begin(studio, present)
    keys = job(studio, "done")
    studio.objects.delete(keys[:1])
    clock.advance(91 * DAY)
    (outcome, *_) = retention(studio, archive).run()
    assert (outcome.removed, outcome.files, outcome.missing) == (1, 2, 1)


@pytest.mark.parametrize("carried_out", [False, pytest.param(True, marks=pytest.mark.long)])
def test_killed_at_any_call_a_run_loses_neither_records_nor_files(
    studio: AssetStudio, tmp_path: Path, clock: FrozenClock, present: datetime, carried_out: bool
) -> None:
    """F-AC-11, AC-43: and the next run ends what the last one began, quotas counted."""
    begin(studio, present, Project(project_id="p", name="Robots", versions_kept=1, created_at=present))
    fused = FusedEngine(studio.store.engine, Fuse())
    left: list[str] = []
    for crash_at in itertools.count():
        archive = FolderArchive(tmp_path / f"archive-{crash_at}")
        keys = job(studio, f"j{crash_at}", runs=1)
        versions(studio, 2, asset_id=f"a{crash_at}", files=["asset.glb"])
        keys += find_version(studio.store, f"a{crash_at}", 1).files
        left += keys
        clock.advance(91 * DAY)
        fuse = fused._fuse = Fuse(left=crash_at, carried_out=carried_out)
        broken = Store(fused, clock=clock, own=SYSTEM_RECORDS)
        try:
            retention(studio, FusedArchive(archive, fuse), store=broken).run()
        except Crash:
            pass
        else:
            break
        _nothing_is_lost(studio, archive, f"j{crash_at}", keys)
        clock.advance(timedelta(minutes=11))  # nobody gave the lease back
        assert not any(o.busy for o in retention(studio, archive).run())
        _nothing_is_lost(studio, archive, f"j{crash_at}", keys)
        assert numbers(studio, asset_id=f"a{crash_at}") == [2]
    assert {"put", "get", "pieces", "exists", "commit"} <= set(fuse.calls)
    standing = [v for n in range(crash_at + 1) for v in _standing(studio, f"a{n}")]
    assert usage(studio.store, BYTES, "p") == sum(v.bytes or 0 for v in standing)
    sweep(studio)
    assert {lookup(studio.objects, key) for key in left} == {None}
    assert all(lookup(studio.objects, key) for v in standing for key in v.files)


def _standing(studio: AssetStudio, asset_id: str) -> list[AssetVersion]:
    return list(studio.store.find(AssetVersion.of_asset(project_id="p", asset_id=asset_id)))


def _nothing_is_lost(studio: AssetStudio, archive: Archive, job_id: str, keys: list[str]) -> None:
    """A sweep that came now would take no file which is not in the archive."""
    kept = archived_files(archive)
    waiting = studio.store.find(Released.by_status(status=ReleasedStatus.WAITING))
    released = {key for each in waiting for key in each.files}
    for key in keys:
        there = kept[key].sha256 if key in released else examine(studio.objects, key).sha256
        assert there == sha256(content(key)).hexdigest()
    ref = Job.at(project_id="p", job_id=job_id)
    assert studio.store.lookup(ref) is not None or any(_has(archive, name, ref) for name in bundles(archive))


def _has(archive: Archive, name: str, ref: Ref[Job]) -> bool:
    try:
        return find_record(archive, name, ref, Job)[0].ref.texts() == ref.texts()
    except NotFound:
        return False


# Versions


def test_each_project_says_how_many_versions_it_keeps(
    studio: AssetStudio, archive: FolderArchive, present: datetime
) -> None:
    """AC-43: ten where it says nothing."""
    begin(
        studio,
        present,
        Project(project_id="few", name="Few", versions_kept=2, created_at=present),
        Project(project_id="usual", name="Usual", created_at=present),
    )
    for project_id in ("few", "usual", "unknown"):
        versions(studio, 12, project_id=project_id, asset_id=f"of-{project_id}")
    planned = next(d for d in retention(studio, archive).plan() if d.entity.endswith(".AssetVersion"))
    outcome = of(AssetVersion, retention(studio, archive).run())
    assert (planned.records, planned.files) == (outcome.removed, outcome.files) == (14, 28)
    assert numbers(studio, project_id="few", asset_id="of-few") == [12, 11]
    for project_id in ("usual", "unknown"):
        assert numbers(studio, project_id=project_id, asset_id=f"of-{project_id}") == list(range(12, 2, -1))


def test_an_archived_version_is_brought_back_on_request(anywhere: AssetStudio, present: datetime) -> None:
    """AC-43: byte for byte, counted again, and not archived again before a month is over."""
    clock, archive = anywhere.store.clock, ObjectArchive(anywhere.objects)
    assert isinstance(clock, FrozenClock)
    studio = AssetStudio(anywhere.store, anywhere.objects, anywhere.makers, archive=archive)
    begin(studio, present, Project(project_id="p", name="Robots", versions_kept=2, created_at=present))
    versions(studio, 4)
    before, used = find_version(studio.store, "chair", 1), usage(studio.store, BYTES, "p")
    clock.advance(DAY)
    retention(studio, archive).run()
    sweep(studio)
    assert [lookup(studio.objects, key) for key in before.files] == [None, None]
    assert usage(studio.store, BYTES, "p") < used
    told = list(studio.store.find(ArchivedVersion.of_asset(project_id="p", asset_id="chair")))
    assert [(v.version, v.bytes, v.archived_at) for v in told][1] == (1, before.bytes, clock.now())
    with pytest.raises(NoSuchPlace, match="version 1 of asset chair is in the archive; have it restored"):
        find_version(studio.store, "chair", 1)

    back = restore_version(studio, "chair", 1, by=BY)
    assert back.model_copy(update={"kept_until": None}) == before
    assert find_version(studio.store, "chair", 1) == back
    for key in before.files:
        assert examine(studio.objects, key).sha256 == sha256(content(key)).hexdigest()
    assert usage(studio.store, BYTES, "p") == 3 * (before.bytes or 0)
    assert restore_version(studio, "chair", 1, by=BY) == back, "asked again, it is there"
    for days, left in ((30, [4, 3, 1]), (1, [4, 3])):
        clock.advance(timedelta(days=days))
        retention(studio, archive).run()
        sweep(studio)
        assert numbers(studio) == left
    assert usage(studio.store, BYTES, "p") == 2 * (before.bytes or 0)
    assert restore_version(studio, "chair", 1, by=BY).files == before.files
    removal.delete_asset(studio, "chair", by=BY)
    assert list(studio.store.find(ArchivedVersion.of_asset(project_id="p", asset_id="chair"))) == []


def test_what_cannot_be_brought_back_as_it_was_is_not_in_the_library(
    studio: AssetStudio, archive: FolderArchive, present: datetime
) -> None:
    """AC-43: neither from a damaged copy, nor over another file, nor beyond the project's room."""
    begin(studio, present, Project(project_id="p", name="Robots", versions_kept=1, created_at=present))
    studio = AssetStudio(studio.store, studio.objects, studio.makers, archive=archive)
    versions(studio, 2)
    files = find_version(studio.store, "chair", 1).files
    clock: Any = studio.store.clock
    clock.advance(DAY)
    retention(studio, archive).run()
    sweep(studio)
    copy = archive.folder / archived_files(archive)[files[0]].name
    sound = copy.read_bytes()
    copy.write_bytes(sound[:-1])
    with pytest.raises(DamagedArchive, match="not what was written"):
        restore_version(studio, "chair", 1, by=BY)
    copy.write_bytes(sound)
    project = studio.store.get(Project.at(project_id="p"))
    studio.store.put(project.model_copy(update={"quotas": {"storage_bytes": usage(studio.store, BYTES, "p") * 2 - 1}}))
    with pytest.raises(QuotaExceeded, match="bytes in the library"):
        restore_version(studio, "chair", 1, by=BY)
    assert numbers(studio) == [2]
    studio.store.put(project)
    assert library.restore_version(studio, "chair", 1, by=BY).version == 1


def test_a_sweep_in_between_takes_no_file_of_what_is_brought_back(
    studio: AssetStudio, archive: FolderArchive, local: LocalObjects, present: datetime
) -> None:
    """Restored before the sweep came to its files: they never went, and stay."""
    begin(studio, present, Project(project_id="p", name="Robots", versions_kept=1, created_at=present))
    studio = AssetStudio(studio.store, local, studio.makers, archive=archive)
    versions(studio, 2)
    clock: Any = studio.store.clock
    clock.advance(DAY)
    retention(studio, archive).run()
    back = restore_version(studio, "chair", 1, by=BY)
    clock.advance(DAY)
    sweep(studio)
    assert all(lookup(local, key) for key in back.files)


def test_people_find_what_is_archived_and_have_it_restored(
    studio: AssetStudio, archive: FolderArchive, present: datetime
) -> None:
    """AC-43: over HTTP, in their own project, as often as they ask."""
    begin(studio, present, Project(project_id="p", name="Robots", versions_kept=1, created_at=present))
    versions(studio, 3)
    clock: Any = studio.store.clock
    clock.advance(DAY)
    retention(studio, archive).run()
    sweep(studio)
    context = DomainContext(studio.store, studio.objects, lambda name: None, archive)
    api = build_api([PLUGIN], context, options=WebOptions())
    keys = {p: create_key(studio.store, name=p, role=Role.EDITOR, project=p, by=BY).token for p in ("p", "other")}
    with TestClient(api, headers={"X-API-Key": keys["p"]}) as client:
        told = client.get("/api/ac/assets/chair/versions").json()
        assert [v["version"] for v in told["items"]] == [3]
        assert [v["version"] for v in told["archived"]] == [2, 1]
        page = client.get("/api/ac/assets/chair/archived", params={"limit": 1}).json()
        rest = client.get("/api/ac/assets/chair/archived", params={"cursor": page["next"]}).json()
        assert [v["version"] for v in page["items"] + rest["items"]] == [2, 1]
        assert client.get("/api/ac/assets/chair/versions/2").status_code == 404
        stranger = {"X-API-Key": keys["other"]}
        assert client.post("/api/ac/assets/chair/versions/2/restore", headers=stranger).status_code == 404
        once = {"Idempotency-Key": "restore-2"}
        for headers in (once, once, {}):
            answer = client.post("/api/ac/assets/chair/versions/2/restore", headers=headers)
            assert answer.status_code == 200, answer.text
            assert [f["name"] for f in answer.json()["files"]] == ["asset.glb", "thumbnail.png"]
            assert answer.json()["kept_until"] is not None
        told = client.get("/api/ac/assets/chair/versions").json()
        assert ([v["version"] for v in told["items"]], [v["version"] for v in told["archived"]]) == ([3, 2], [1])
        assert client.post("/api/ac/assets/chair/versions/9/restore").json()["type"].endswith("no-such-place")


def test_one_that_is_brought_back_is_the_latest_where_no_later_one_is_left(
    studio: AssetStudio, archive: FolderArchive, present: datetime
) -> None:
    """AC-16, AC-43: and two who ask for it at once both have it."""
    begin(studio, present, Project(project_id="p", name="Robots", versions_kept=1, created_at=present))
    studio = AssetStudio(studio.store, studio.objects, studio.makers, archive=archive)
    versions(studio, 2)
    clock: Any = studio.store.clock
    clock.advance(DAY)
    retention(studio, archive).run()
    sweep(studio)
    removal.delete_version(studio, "chair", 2, by=BY)
    assert library.find_asset(studio.store, "chair").latest_version == 0
    with ThreadPoolExecutor(4) as threads:
        back = list(threads.map(lambda by: restore_version(studio, "chair", 1, by=by), ("ann", "bob", "cy", "dan")))
    assert {version.version for version in back} == {1}
    assert library.find_asset(studio.store, "chair").latest_version == 1
    assert usage(studio.store, BYTES, "p") == back[0].bytes
