"""Stores for the console to show: as many records of every kind that a screen lists as one asks for.

What they hold has all happened: nothing in them waits for a worker, so that a service that opens one has nothing to do.
Their ids and texts are as long in a large store as in a small one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from uuid import UUID

from bench import novae
from penstock import Entity, Store, open_store
from penstock.auth.api_keys import ApiKey, KeyStatus
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.model import Asset, AssetPlace, Job
from penstock.domains.assetcreator.model import Project as Production
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.domains.musicvideo.model import Project, ProjectStatus, Scene, SceneStatus
from penstock.domains.speech.model import AudioStatus, TempAudio
from penstock.domains.videos.model import DOMAIN as VIDEOS
from penstock.domains.videos.model import Video, VideoStatus
from penstock.events.feed_records import FeedLetter, FeedPlace
from penstock.files.upload import Upload
from penstock.kernel.audit import SystemAudit
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.kernel.record_name import name_of
from penstock.review.note import Note
from penstock.runtime.settings import Settings
from penstock.schema.role import Role
from penstock.work.job import JobStatus, PipelineJob
from penstock.work.task import Outcome, Task, TaskAttempt, TaskStatus, forgotten_at
from penstock.work.working import WORKING

PROJECT = "b0a7-harbour"
USER, CATEGORY = "user_7", "demo"
JOB, TASK, ASSET = "job-00000000", "task-00000000", "asset-00000000"
"Those that screens are opened for, and"
FIRST = 0
"the number of those that have no names."
NOW = datetime.now(UTC).replace(microsecond=0)
_MOST_THREADS = 9_000
_SCENES = 8
_LOT = 20_000


def fill(url: str, *, records: int) -> None:
    """So many of every kind."""
    with closing(open_store(url, settings=Settings(secret="bench"))) as store:
        store.ensure(*DOMAINS, WORKING)
        store.put_many(every_kind(records))
        follow_to_the_end(store)


def fill_console(url: str, *, videos: int, entries: int) -> None:
    """So many videos, and a job with so many entries in its timeline."""
    with closing(open_store(url, settings=Settings(secret="bench"))) as store:
        store.ensure(*DOMAINS, WORKING)
        store.put_many([_pipeline_job(0), _task(0)])
        store.put_many(map(_attempt, range(entries)))
        store.put_many(map(video, range(videos)))
        follow_to_the_end(store)


def follow_to_the_end(store: Store) -> None:
    """As a service that ran all the while: what happened up to now, its feeds have been told."""
    shapes = [entity.__shape__ for entity in VIDEOS.entities]
    store.put(FeedPlace(name=VIDEOS.name, position=store.engine.feed_end(shapes), noted_at=NOW))


def every_kind(records: int) -> Iterator[Entity]:
    """What all screens list."""
    yield from _kind_by_kind(novae.records(max(1, records // novae.EACH)))
    yield Production(project_id=PROJECT, name="The harbour", created_at=NOW)
    yield AssetPlace(asset_id=ASSET, project_id=PROJECT)
    yield from (_scene(number) for number in range(1, _SCENES + 1))
    yield from (_thread(number) for number in range(min(records, _MOST_THREADS)))
    for kind in _KINDS:
        yield from map(kind, range(records))


def _kind_by_kind(mixed: Iterator[Entity]) -> Iterator[Entity]:
    """The same, a lot at a time: a store writes records of a kind the quicker the more follow each other."""
    while some := list(islice(mixed, _LOT)):
        yield from sorted(some, key=lambda record: type(record).__name__)


def video(number: int, *, title: str | None = None) -> Video:
    """One that can be watched, as far as its record tells; the greater its number, the newer."""
    return Video(
        video_id=UUID(int=number, version=4),
        user_id=USER,
        created_at=1_700_000_000 + number,
        title=title or f"Product launch, take {number:06d}",
        duration=354_000,
        status=VideoStatus.READY,
        category=CATEGORY,
        file_size=48_000_000,
        format="mp4",
        resolution="1920x1080",
        view_count=12_345,
        version=1,
    )


def _film(number: int) -> Project:
    at = NOW - timedelta(days=30) + timedelta(seconds=number)
    return Project(
        project_id=UUID(int=number),
        status=ProjectStatus.COMPLETED,
        concept_prompt=f"A robot explores the harbour at dawn, version {number:06d}",
        character_description="A small copper robot with round eyes",
        scene_count=_SCENES,
        completed_scenes=_SCENES,
        created_at=at,
        updated_at=at,
    )


def _scene(number: int) -> Scene:
    told = f"Shot {number}: the robot looks at the cranes"
    status = SceneStatus.COMPLETED
    return Scene(
        project_id=UUID(int=FIRST),
        sequence=number,
        prompt=told,
        duration=6.0,
        status=status,
        created_at=NOW,
        updated_at=NOW,
    )


def _audio(number: int) -> TempAudio:
    return TempAudio.made(
        UUID(int=number, version=4),
        at=NOW,
        text=f"The ferry to the islands leaves from pier {number:06d}.",
        voice_id="amy",
        duration=3.2,
        file_size_bytes=102_444,
        ip_address="203.0.113.7",
        status=AudioStatus.COMPLETED,
    )


def _asked_for(number: int) -> Job:
    at, made = NOW - timedelta(days=30) + timedelta(seconds=number), f"{number:08d}"
    return Job(
        project_id=PROJECT,
        job_id=f"j-{made}",
        asset_type=AssetType.PROP,
        status=Status.DONE,
        current_step=StepName.EXPORT,
        request={"prompt": f"a rusty crane, number {made}"},
        asset_id=f"asset-{made}",
        version=1,
        created_at=at,
        updated_at=at,
    )


def _asset(number: int) -> Asset:
    return Asset(
        project_id=PROJECT,
        asset_id=f"asset-{number:08d}",
        type=AssetType.PROP.kind,
        latest_version=1,
        asset_type=AssetType.PROP,
        name=f"Rusty crane {number:08d}",
        created_at=NOW - timedelta(days=30) + timedelta(seconds=number),
    )


def _pipeline_job(number: int) -> PipelineJob:
    at = NOW - timedelta(days=10) + timedelta(seconds=number)
    return PipelineJob(
        job_id=f"job-{number:08d}",
        pipeline="asset",
        project_id=PROJECT,
        input={"prompt": "a rusty crane"},
        status=JobStatus.FAILED if number % 2 == 0 else JobStatus.PAUSED,
        position=2,
        round=3,
        task_id=f"task-{number:08d}",
        error="the kiln is full" if number % 2 == 0 else None,
        steps=[step.value for step in StepName],
        created_at=at,
        updated_at=at,
    )


def _task(number: int) -> Task:
    at = NOW - timedelta(days=10) + timedelta(seconds=number)
    return Task(
        task_id=f"task-{number:08d}",
        name="assetcreator.asset.3D",
        project_id=PROJECT,
        input={"job_id": f"job-{number:08d}"},
        status=TaskStatus.FAILED if number % 2 == 0 else TaskStatus.QUARANTINED,
        due_at=at,
        attempts=5,
        most_attempts=5,
        error_class="Terminal",
        error=f"the mesh of crane {number:06d} has holes",
        created_at=at,
        about=name_of(PipelineJob.at(job_id=f"job-{number:08d}")),
    )


def _attempt(number: int) -> TaskAttempt:
    """All at the one task of the one job: its timeline has as many entries."""
    at = NOW - timedelta(days=9) + timedelta(seconds=number)
    return TaskAttempt(
        task_id=TASK,
        epoch=number + 1,
        name="assetcreator.asset.3D",
        project_id=PROJECT,
        worker="studio-1",
        outcome=Outcome.RETRYABLE,
        started_at=at,
        ended_at=at + timedelta(seconds=0.5),
        error_class="Busy",
        error=f"the renderer was busy, {number:06d} others wait",
        log_tail=[f"INFO try {number:06d}"],
        about=name_of(PipelineJob.at(job_id=JOB)),
        ttl=forgotten_at(NOW),
    )


def _thread(number: int) -> Note:
    about, at = (
        name_of(Video.at(video_id=UUID(int=FIRST, version=4))),
        NOW - timedelta(days=5) + timedelta(seconds=number),
    )
    note_id = f"n-{number:08d}"
    return Note(
        about=about,
        thread_id=note_id,
        note_id=note_id,
        begins=about,
        author="ann",
        author_name="Ann Ash",
        text=f"The logo comes too late, {number:06d}",
        created_at=at,
    )


def _line(number: int) -> SystemAudit:
    told = {"why": f"order {number:08d}"}
    return SystemAudit(project_id=PROJECT, ts=_lately(number), actor="ann", action="asset.approved", details=told)


def _message(number: int) -> SystemMessage:
    return SystemMessage(
        event_id=f"e-{number:08d}",
        type="asset.approved",
        aggregate=f"assetcreator.Asset(asset_id=asset-{number:08d})",
        project_id=PROJECT,
        payload={"number": f"{number:08d}"},
        status=MessageStatus.DEAD,
        ts=_lately(number),
        attempts=9,
        error="no such host: orders.example",
    )


def _letter(number: int) -> FeedLetter:
    return FeedLetter(
        name=VIDEOS.name,
        ts=_lately(number),
        handler="begin_work",
        entity="videos.Video",
        kind="insert",
        subject={"video_id": str(UUID(int=number, version=4))},
        position="0",
        error="Unavailable: the store of files is away",
    )


def _upload(number: int) -> Upload:
    return Upload(
        upload_id=f"u-{number:08d}",
        project_id=PROJECT,
        target=f"references/{number:08d}.png",
        subject=f"Production(project_id={PROJECT})",
        size=4_800_000,
        content_type="image/png",
        created_at=NOW,
        expires_at=NOW + timedelta(days=5),
    )


def _key(number: int) -> ApiKey:
    revoked = number % 2 == 0
    return ApiKey(
        key_id=f"k{number:08d}",
        name=f"renderer {number:08d}",
        role=Role.VIEWER,
        hash="0" * 64,
        status=KeyStatus.REVOKED if revoked else KeyStatus.ACTIVE,
        created_at=_lately(number),
        created_by="ann",
        revoked_at=_lately(number) if revoked else None,
    )


def _lately(number: int) -> datetime:
    return NOW - timedelta(days=2) + timedelta(seconds=number)


_KINDS: tuple[Callable[[int], Entity], ...] = (
    *(video, _film, _audio, _asked_for, _asset, _pipeline_job, _task, _attempt),
    *(_line, _message, _letter, _upload, _key),
)
