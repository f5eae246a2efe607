"""The pipeline up to the final cut: write the scenes, film each, move lips, trim. Each step ends with one commit.

A task on a scene belongs to a take of it (see `scene_revisions`). A file is written before the record that points at
it; where it lies another may have been, so the record also tells by a checksum which file it means.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from penstock.declare.attr import the
from penstock.domains.musicvideo.counting import count
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import (
    CLIP,
    LIP_SYNCED_CLIP,
    OTHER_CLIP,
    SCENE_AUDIO,
    THUMBNAIL,
    Mode,
    Project,
    ProjectStatus,
    Scene,
    SceneStatus,
)
from penstock.domains.musicvideo.scene_revisions import (
    OnScene,
    begun,
    complete,
    current,
    of_revision,
    same_revision,
    show,
)
from penstock.generation.steps import Brief, SceneIdea, Shot
from penstock.kernel.change import Change
from penstock.media.probe import probe
from penstock.operations.conditions import Condition
from penstock.work import TaskContext, Tasks, Terminal
from penstock.work.errors import told_failure
from penstock.work.revisions import Revision
from penstock.work.workspace import Workspace, workspace_of

TASKS = Tasks("musicvideo")
FILMED_AT_ONCE = 4
"So many scenes of a project are worked on at the same time."
SHORTEST = 0.1
"Seconds that are left of a clip at least."
HALF_AN_HOUR = timedelta(minutes=30)


class ToWrite(BaseModel):
    """Which project, and how many scenes it is to have."""

    project_id: UUID
    scenes: int


class PartOfClip(OnScene):
    """Which take of which scene, and the part of its clip that is to be shown."""

    start: float
    stop: float


# Writing


@TASKS.task("write_scenes", limit=HALF_AN_HOUR)
def write_scenes(work: TaskContext, input: ToWrite) -> dict[str, Any] | None:
    """Write the scenes of a project, and have each filmed."""
    studio = FilmStudio.within(work.domain)
    project = work.store.lookup(Project.at(project_id=input.project_id))
    if project is None or project.scene_count:
        return None
    if project.status is ProjectStatus.QUEUED:
        with work.change() as change:
            change.save(change.track(project).generate_scenes())
    if project.status is not ProjectStatus.GENERATING_SCENES:
        return None
    with workspace_of(work) as workspace, workspace.creating():
        ideas = studio.providers.writer.write(_brief(studio, project, input.scenes), workspace)
    if not ideas:
        raise Terminal("no scene was written; say more about the concept")
    now = work.store.clock.now()
    with work.finish() as change:
        change.track(project)
        for sequence, idea in enumerate(ideas, 1):
            scene = _written(project, sequence, idea, now=now)
            change.create(scene)
            film.enqueue(change, OnScene.of(scene), project=str(project.project_id), about=scene.ref)
        project.scene_count = project.last_sequence = len(ideas)
        change.save(project.process())
        change.emit("scenes.written", project, scenes=len(ideas))
    return None


@write_scenes.failed
def fail_project(change: Change, input: ToWrite, error: BaseException) -> None:
    """No scenes; the project says why."""
    project = change.store.lookup(Project.at(project_id=input.project_id))
    if project is not None and project.status in (ProjectStatus.QUEUED, ProjectStatus.GENERATING_SCENES):
        change.save(change.track(project).fail(error_message=told_failure(error)))


@write_scenes.revived
def queue_project(change: Change, input: ToWrite) -> None:
    project = change.store.lookup(Project.at(project_id=input.project_id))
    if project is not None and project.status is ProjectStatus.FAILED and not project.scene_count:
        change.save(change.track(project).restart().queue())


@TASKS.task("write_scene", limit=HALF_AN_HOUR)
def write_scene(work: TaskContext, input: OnScene) -> dict[str, Any] | None:
    """Write one scene more from a few words, and have it filmed."""
    studio = FilmStudio.within(work.domain)
    revision = current(work, input)
    if revision is None:
        return None
    scene = revision.record
    project = work.store.get(Project.at(project_id=input.project_id))
    earlier = [s.prompt for s in _in_order(work, project) if s.sequence != scene.sequence]
    with workspace_of(work) as workspace, workspace.creating():
        idea = studio.providers.writer.add(_brief(studio, project, 1), scene.prompt, earlier, workspace)
    unedited = _unedited(scene)
    with work.finish() as change:
        change.track(scene)
        scene.prompt, scene.needs_lip_sync = idea.prompt, idea.needs_lip_sync
        if scene.negative_prompt is None:
            scene.negative_prompt = idea.negative_prompt
        scene.reference_image_s3_keys = _references(project)
        revision.save(change, when=unedited)
        film.enqueue(change, input, project=str(project.project_id), about=scene.ref)
    return None


def _unedited(scene: Scene) -> Condition:
    """That nobody has said other words meanwhile; from those the next attempt writes."""
    negative = the(Scene.negative_prompt)
    same = negative.absent() if scene.negative_prompt is None else negative.equals(scene.negative_prompt)
    return the(Scene.prompt).equals(scene.prompt) & same


# Filming


@TASKS.task("film", limit=HALF_AN_HOUR, concurrency=FILMED_AT_ONCE)
def film(work: TaskContext, input: OnScene) -> dict[str, Any] | None:
    """Film a scene; if somebody sings in it, that follows."""
    studio = FilmStudio.within(work.domain)
    revision = begun(work, input)
    if revision is None:
        return None
    scene = revision.record
    project = work.store.get(Project.at(project_id=input.project_id))
    references = _references(project) or scene.reference_image_s3_keys
    with workspace_of(work, lambda job: revision.remember("video_generation_job_id", job)) as workspace:
        clip = workspace.folder / "clip.mp4"
        shot = Shot(
            prompt=scene.prompt,
            negative_prompt=scene.negative_prompt,
            seconds=scene.duration,
            seed=zlib.crc32(f"{scene.sequence}/{scene.take}".encode()),
            character=project.character_description,
            director=project.director_config,
            references=[workspace.fetch(key) for key in references or ()],
            job=scene.video_generation_job_id,
            order=input.order,
        )
        with workspace.creating():
            made = studio.providers.generator.film(shot, clip, workspace)
        workspace.note(made.metrics, cost=made.cost)
        revision.charge(made.cost, scene.video_generation_job_id)
        sings = project.audio_backing_track_s3_key is not None
        told = {"references": references, "not_drawn": list(made.not_drawn or ()) or None}
        _finish_clip(work, studio, workspace, input, revision, clip, sings=sings, **told)
    return None


@TASKS.task("take_in", limit=HALF_AN_HOUR, concurrency=FILMED_AT_ONCE)
def take_in(work: TaskContext, input: OnScene) -> dict[str, Any] | None:
    """Make a film that was uploaded the clip of its scene."""
    studio = FilmStudio.within(work.domain)
    revision = begun(work, input)
    if revision is None or revision.record.incoming_s3_key is None:
        return None
    references = revision.record.reference_image_s3_keys
    with workspace_of(work) as workspace:
        clip = workspace.fetch(revision.record.incoming_s3_key)
        _finish_clip(work, studio, workspace, input, revision, clip, references=references, sings=False)
    return None


def _finish_clip(
    work: TaskContext,
    studio: FilmStudio,
    workspace: Workspace,
    input: OnScene,
    revision: Revision[Scene],
    clip: Path,
    *,
    references: list[str] | None,
    sings: bool,
    not_drawn: list[str] | None = None,
) -> None:
    """Keep a new clip with its thumbnail, and end the task; what was made of the former clip no longer counts."""
    scene = revision.record
    thumbnail = thumbnail_of(studio, workspace, clip)
    stored = revision.store(workspace, clip, CLIP.key_of(scene))
    workspace.store(thumbnail, THUMBNAIL.key_of(scene))
    duration = seconds_of(workspace, clip)
    with work.finish() as change:
        change.track(scene)
        scene.finish(video_clip_s3_key=stored.key)
        scene.thumbnail_s3_key = THUMBNAIL.key_of(scene)
        scene.reference_image_s3_keys = references
        scene.not_drawn = not_drawn
        scene.video_generation_job_id = None
        show(scene, stored, duration)
        if sings and scene.needs_lip_sync:
            lip_sync.enqueue(change, input, project=str(input.project_id), about=scene.ref)
            scene.start()
            revision.save(change)
        else:
            complete(change, revision)


# Singing and cutting


@TASKS.task("lip_sync", limit=HALF_AN_HOUR, concurrency=FILMED_AT_ONCE)
def lip_sync(work: TaskContext, input: OnScene) -> dict[str, Any] | None:
    """Let somebody in a scene sing to its part of the backing track."""
    studio = FilmStudio.within(work.domain)
    revision = begun(work, input)
    if revision is None or revision.record.video_clip_s3_key is None:
        return None
    scene = revision.record
    project = work.store.get(Project.at(project_id=input.project_id))
    with workspace_of(work, lambda job: revision.remember("lipsync_job_id", job)) as workspace:
        clip, into = workspace.fetch(revision.record.video_clip_s3_key), workspace.folder / "lip_synced.mp4"
        audio = _sound_of(work, studio, workspace, project, scene, seconds_of(workspace, clip))
        with workspace.creating():
            made = studio.providers.lip_sync.sync(
                clip, audio, into, workspace, words=scene.lyrics, job=scene.lipsync_job_id, order=input.order
            )
        workspace.note(made.metrics, cost=made.cost)
        revision.charge(made.cost, scene.lipsync_job_id)
        stored = revision.store(workspace, into, LIP_SYNCED_CLIP.key_of(scene))
        duration = seconds_of(workspace, into)
        with work.finish() as change:
            change.track(scene)
            scene.audio_clip_s3_key = SCENE_AUDIO.key_of(scene)
            scene.finish_lip_sync(lip_synced_video_clip_s3_key=stored.key)
            scene.lipsync_job_id = None
            show(scene, stored, duration)
            complete(change, revision)
    return None


def _sound_of(
    work: TaskContext, studio: FilmStudio, workspace: Workspace, project: Project, scene: Scene, seconds: float
) -> Path:
    """A scene's own sound: the part of the backing track that is heard with it."""
    if project.audio_backing_track_s3_key is None:
        if scene.audio_clip_s3_key is None:
            raise Terminal("there is no sound to sing to; upload a backing track first")
        return workspace.fetch(scene.audio_clip_s3_key)
    start = 0.0
    for earlier in _in_order(work, project):
        if earlier.sequence == scene.sequence:
            break
        start += earlier.shown_duration or earlier.duration
    track, excerpt = workspace.fetch(project.audio_backing_track_s3_key), workspace.folder / "excerpt.mp3"
    with workspace.creating():
        studio.providers.composer.excerpt(track, excerpt, start=start, seconds=seconds)
    workspace.store(excerpt, SCENE_AUDIO.key_of(scene))
    return excerpt


@TASKS.task("trim", limit=HALF_AN_HOUR, concurrency=FILMED_AT_ONCE)
def trim(work: TaskContext, input: PartOfClip) -> dict[str, Any] | None:
    """Cut the part out of a clip that is to be shown."""
    studio = FilmStudio.within(work.domain)
    revision = begun(work, input)
    if revision is None:
        return None
    scene = revision.record
    whole = scene.lip_synced_video_clip_s3_key or scene.video_clip_s3_key
    if whole is None:
        return None
    with workspace_of(work) as workspace:
        clip, into = workspace.fetch(whole), workspace.folder / "working.mp4"
        length = seconds_of(workspace, clip)
        stop = min(max(input.stop, SHORTEST), length)
        start = max(min(input.start, stop - SHORTEST), 0.0)
        with workspace.creating():
            studio.providers.composer.trim(clip, into, start=start, stop=stop)
        key = OTHER_CLIP.key_of(scene, f"working_clip_{int(work.task.created_at.timestamp())}")
        stored = revision.store(workspace, into, key)
        duration = seconds_of(workspace, into)
        with work.finish() as change:
            change.track(scene)
            scene.trim_points = {"in": start, "out": stop}
            scene.finish_trim(working_video_clip_s3_key=stored.key)
            show(scene, stored, duration)
            complete(change, revision)
    return None


# What becomes of a scene


@trim.failed
@write_scene.failed
@film.failed
@take_in.failed
@lip_sync.failed
def fail_scene(change: Change, input: OnScene, error: BaseException) -> None:
    """The scene says why; the others go on."""
    scene = of_revision(change.store, input)
    if scene is not None and scene.status in (SceneStatus.PENDING, SceneStatus.PROCESSING):
        before = change.track(scene).status
        change.save(scene.fail(error_message=told_failure(error)), when=same_revision(input))
        count(change, scene.project_id, before, scene.status)
        change.emit("scene.failed", scene, why=scene.error_message)


@trim.revived
@write_scene.revived
@film.revived
@take_in.revived
@lip_sync.revived
def retry_scene(change: Change, input: OnScene) -> None:
    """Somebody has the task tried again."""
    scene = of_revision(change.store, input)
    if scene is not None and scene.status is SceneStatus.FAILED:
        change.save(change.track(scene).retry(), when=same_revision(input))
        count(change, scene.project_id, SceneStatus.FAILED, scene.status)


# Parts


def _brief(studio: FilmStudio, project: Project, scenes: int) -> Brief:
    return Brief(
        mode=(project.mode or Mode.MUSIC_VIDEO).value,
        film="an advertisement" if project.mode is Mode.AD_CREATIVE else "a music video",
        advertises=project.mode is Mode.AD_CREATIVE,
        concept=project.concept_prompt,
        character=project.character_description,
        product=project.product_description,
        director=project.director_config,
        scenes=scenes,
        seconds=studio.options.scene_seconds,
    )


def _written(project: Project, sequence: int, idea: SceneIdea, *, now: Any) -> Scene:
    return Scene(
        project_id=project.project_id,
        sequence=sequence,
        prompt=idea.prompt,
        negative_prompt=idea.negative_prompt,
        duration=idea.seconds,
        needs_lip_sync=idea.needs_lip_sync,
        reference_image_s3_keys=_references(project),
        take=1,
        created_at=now,
        updated_at=now,
    )


def _references(project: Project) -> list[str] | None:
    """The pictures a scene is filmed with."""
    return [k for k in (project.character_image_s3_key, project.product_image_s3_key) if k] or None


def _in_order(work: TaskContext, project: Project) -> Sequence[Scene]:
    return project.in_order(work.store.find(Scene.of_project(project_id=project.project_id)))


def thumbnail_of(studio: FilmStudio, workspace: Workspace, clip: Path) -> Path:
    """A picture of a clip, beside it."""
    into = workspace.folder / f"{clip.stem}.jpg"
    with workspace.creating():
        studio.providers.composer.thumbnail(clip, into)
    return into


def seconds_of(workspace: Workspace, path: Path) -> float:
    """How long a film or a sound is."""
    with workspace.creating():
        return probe(path).duration
