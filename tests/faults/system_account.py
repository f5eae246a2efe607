"""The account of the five systems, when nobody works any more: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, TypeVar

from penstock import Store, since
from penstock.declare.entity import Entity
from penstock.domains import INSTALLED
from penstock.domains.assetcreator.jobs import see_job
from penstock.domains.assetcreator.model import Asset as AssetRecord
from penstock.domains.assetcreator.model import AssetVersion, Job, Step
from penstock.domains.assetcreator.stages import Status
from penstock.domains.musicvideo.model import FINAL_VIDEO, Project, ProjectStatus
from penstock.domains.novae.model import Nova, NovaEntry, NovaStatus, Reference
from penstock.domains.novae.states import RunStatus
from penstock.domains.speech.model import SpeechJob, TempAudio
from penstock.domains.videos.model import Submission, Video
from penstock.domains.videos.video_event import EventKind, VideoEvent
from penstock.files.object_reads import every
from penstock.files.sweep import Sweep
from penstock.kernel.audit import AuditLine
from penstock.kernel.outbox import Message, MessageStatus
from penstock.kernel.seals import read_chain, seal_known, verify_all
from penstock.runtime.operated_system import outboxes_of, trails_of
from penstock.work import Outcome, Task, TaskAttempt, TaskStatus
from penstock.work.domain_context import DomainContext
from tests.domains.assetcreator.lives import assert_attempts_add_up, assert_files_stand, assert_marks_tell
from tests.domains.assetcreator.lives import assert_settled as assert_asset_settled
from tests.domains.assetcreator.test_killed import SPRITE_RUNS
from tests.domains.musicvideo.quick_providers import history_of
from tests.domains.musicvideo.story import assert_counted
from tests.domains.novae.story import aliases_of, owner
from tests.faults import people
from tests.faults.five_systems import DOMAINS, SINK, feeds_of

E = TypeVar("E", bound=Entity)
_AGAIN = frozenset({Outcome.LOST, Outcome.HANDED_BACK, Outcome.RETRYABLE})


def all_of(store: Store, entity: type[E]) -> Iterator[E]:
    """Every record of an entity, also those that no pattern finds."""
    after = None
    while True:
        page = store.engine.scan(entity.__shape__, after=after, limit=1000)
        yield from (found.record for found in page.found)
        after = page.place
        if after is None:
            return


def is_at_rest(context: DomainContext) -> bool:
    """Is there no task that is to be done, no message that is to be told, and no change that is to be followed?"""
    open_tasks = (TaskStatus.WAITING, TaskStatus.RUNNING, TaskStatus.FAILED, TaskStatus.QUARANTINED)
    if any(context.store.first(Task.by_status(status=status)) is not None for status in open_tasks):
        return False
    if any(context.store.first(box.by_status(status=MessageStatus.PENDING)) is not None for box in _outboxes()):
        return False
    return not any(feed.lag().behind for feed in feeds_of(context, "account"))


def is_put_off(context: DomainContext) -> bool:
    """Is there a task that is to be tried again later?"""
    later = since(context.store.clock.now() + timedelta(seconds=1))
    return context.store.first(Task.by_status(status=TaskStatus.WAITING, due_at=later)) is not None


def _outboxes() -> list[Any]:
    return list(outboxes_of(INSTALLED))


def check(context: DomainContext, folder: str, numbers: list[int]) -> None:
    """All that must be so."""
    told = people.Told(context, folder)
    for number in numbers:
        story = people.story(told, number)
        _CHECKS[type(story)](context, story)
    _check_nothing_else(context.store, numbers)
    check_tasks(context.store)
    check_messages(context.store, folder)
    check_files(context)
    check_trails(context.store)


# Each story to its end, once


def _check_speech(context: DomainContext, story: people.Speech) -> None:
    job = story.job()
    assert job.audio_date is not None
    assert job.audio_id is not None
    audio = context.store.get(TempAudio.at(date=job.audio_date, audio_id=job.audio_id))
    assert context.objects.head(audio.file).size == audio.file_size_bytes


def _check_film(context: DomainContext, story: people.Film) -> None:
    project = story.project()
    assert (project.status, project.scene_count, project.compositions) == (ProjectStatus.COMPLETED, 2, 1)
    assert_counted(story.studio, project.project_id)
    history = history_of(context.objects.get(FINAL_VIDEO.key(project_id=project.project_id)).read())
    assert [json.dumps(part).count(", part ") for part in history] == [1, 1], f"each scene is in it once: {history}"


def _check_asset(context: DomainContext, story: people.Asset) -> None:
    studio, job = story.studio, story.job()
    there = see_job(context.store, job.job_id)
    steps = [step for step in there.steps if not _is_lost(step)]
    assert [(step.step_name.value, step.status.value) for step in steps] == SPRITE_RUNS, f"{job.job_id}: {there.steps}"
    (asset,) = context.store.find(AssetRecord.of_project(project_id=job.project_id))
    (version,) = context.store.find(AssetVersion.of_asset(project_id=job.project_id, asset_id=asset.asset_id))
    assert (asset.asset_id, asset.latest_version, job.version) == (job.asset_id, 1, 1)
    assert_files_stand(studio, steps, [version])
    assert_marks_tell(studio, there.job, steps)
    assert_asset_settled(studio, job, [version])
    assert_attempts_add_up(studio, job)


def _is_lost(step: Step) -> bool:
    """Did so many workers die over a run that it was given up? Then somebody has had it tried again, as another."""
    return step.status is Status.FAILED and "outlived its lease" in str(step.error)


def _check_clip(context: DomainContext, story: people.Clip) -> None:
    store, video_id = context.store, story.video_id()
    video, folder = store.lookup(Video.at(video_id=video_id)), f"{video_id}"
    kinds = Counter(event.kind for event in store.find(VideoEvent.of_video(video_id=video_id)))
    assert (kinds[EventKind.INSERT], kinds[EventKind.REMOVE]) == (1, int(story.is_removed)), f"{video_id}: {kinds}"
    if story.is_removed:
        assert video is None
        assert store.lookup(Submission.at(video_id=video_id)) is None
        assert [found.key for found in every(context.objects) if folder in found.key and "trash" not in found.key] == []
    else:
        assert video is not None
        assert video.view_count == 2, "each of two requests is counted once"
        assert context.objects.head(video.stream_s3_key or "").size > 0


def _check_nova(context: DomainContext, story: people.NewNova) -> None:
    store, name = context.store, story.name.lower()
    runs, children = story.runs(), story.children()
    for run in (*runs, *children):
        lost = run.status is RunStatus.FAILED and "outlived its lease" in (run.error_message or "")
        assert run.status is RunStatus.SUCCEEDED or lost, f"nothing but killed workers ends a run: {run}"
    assert all(run.status is RunStatus.SUCCEEDED for run in people.newest([*runs, *children]))
    assert runs[0].outcome == "CREATED_AND_LAUNCHED" or runs[0].status is RunStatus.FAILED
    (nova_id,) = aliases_of(store, name)
    assert owner(store, name) == runs[-1].nova_id == nova_id
    assert store.get(Nova.at(nova_id=nova_id)).last_ingest_at is not None
    launched = Counter(each.workflow_name for each in children)
    assert max(launched.values()) <= len(runs), f"each was launched once, or once more for each request: {launched}"
    assert len(list(store.find(Reference.of_nova(nova_id=nova_id)))) == 2


_CHECKS: dict[type, Any] = {
    people.Speech: _check_speech,
    people.Film: _check_film,
    people.Asset: _check_asset,
    people.Clip: _check_clip,
    people.NewNova: _check_nova,
}


def _check_nothing_else(store: Store, numbers: list[int]) -> None:
    """As many of each as were asked for."""
    asked = Counter(people.KINDS[number % len(people.KINDS)] for number in numbers)
    clips = [n for n in numbers if people.KINDS[n % len(people.KINDS)] is people.Clip]
    assert len(list(all_of(store, SpeechJob))) == asked[people.Speech]
    assert len(list(all_of(store, TempAudio))) == asked[people.Speech]
    assert len(list(all_of(store, Project))) == asked[people.Film]
    assert len(list(all_of(store, Job))) == len(list(all_of(store, AssetVersion))) == asked[people.Asset]
    assert len(list(all_of(store, Video))) == sum(n % 2 for n in clips)
    active = list(store.find(NovaEntry.by_status(status=NovaStatus.ACTIVE)))
    assert len(active) == len(list(all_of(store, Nova))) == asked[people.NewNova]


# What all of them are made of


def check_tasks(store: Store) -> None:
    """Each task was done by one attempt; every lease has its record."""
    for task in all_of(store, Task):
        assert task.status in (TaskStatus.DONE, TaskStatus.CANCELLED), f"{task.name} is {task.status.value}"
        attempts = list(store.find(TaskAttempt.of_task(task_id=task.task_id)))
        assert [a.epoch for a in attempts] == list(range(1, (task.lease_epoch or 0) + 1)), f"{task.name}: {attempts}"
        outcomes = [a.outcome for a in attempts]
        if task.status is TaskStatus.DONE:
            assert outcomes.count(Outcome.DONE) == 1, f"{task.name} was done {outcomes.count(Outcome.DONE)} times"
            assert set(outcomes) - {Outcome.DONE} <= _AGAIN, f"{task.name}: {outcomes}"


def check_messages(store: Store, folder: str) -> None:
    """Each was told, and what is about one thing in the order in which it was emitted."""
    messages: dict[str, Message] = {m.event_id: m for box in _outboxes() for m in all_of(store, box)}
    assert {m.status for m in messages.values()} == {MessageStatus.PUBLISHED}
    with open(f"{folder}/{SINK}") as sink:
        heard = dict.fromkeys(json.loads(line)["id"] for line in sink)
    assert set(heard) == set(messages), "every message, and no other"
    about: dict[str, list[Message]] = defaultdict(list)
    for event_id in heard:
        about[messages[event_id].aggregate].append(messages[event_id])
    for aggregate, told in about.items():
        moments = [m.ts for m in told]
        assert moments == sorted(moments), f"{aggregate} was told of as {[(m.type, m.ts) for m in told]}"


def check_files(context: DomainContext) -> None:
    """Every file of a record is there; every other is found by the sweep, and after it each file has its record."""
    sweep = Sweep(context.store, context.objects, DOMAINS, owner="account", grace=timedelta(0))
    assert [missing.key for missing in sweep.plan().missing] == []
    assert sweep.run() is not None
    left = sweep.plan()
    assert (left.orphans, left.missing, left.young, left.undecided) == ([], [], 0, 0)


def check_trails(store: Store) -> None:
    """Every line says what it said, and all of them are sealed."""
    trails: list[type[AuditLine]] = list(trails_of(INSTALLED))
    list(seal_known(store, by="account", margin=timedelta(0), trails=trails))
    chain = read_chain(store)
    assert chain.sound
    verdicts = list(verify_all(store, chain, trails=trails))
    assert [verdict for verdict in verdicts if not verdict.sound] == []
    assert sum(verdict.sealed for verdict in verdicts) > 0
