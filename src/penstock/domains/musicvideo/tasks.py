"""The pipeline up to the clips: write the scenes, film each, take films from elsewhere. Each step ends with one commit.

A task on a scene belongs to a take of it (see `scene_revisions`). A file is written before the record that points at
it; where it lies another may have been, so the record also tells by a checksum which file it means.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from penstock.declare.attr import the
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import CLIP, THUMBNAIL, Mode, Project, ProjectStatus, Scene
from penstock.domains.musicvideo.options import most_scenes
from penstock.domains.musicvideo.outdated import filmed_from, written_from
from penstock.domains.musicvideo.scene_lengths import HeardTrack, Measure
from penstock.domains.musicvideo.scene_lengths import lengths as lengths_of
from penstock.domains.musicvideo.scene_progress import SUNG, PartOfScene
from penstock.domains.musicvideo.scene_revisions import OnScene, begun, complete, current, show
from penstock.domains.musicvideo.scene_tasks import (
    FILMED_AT_ONCE,
    HALF_AN_HOUR,
    PATIENT,
    TASKS,
    of_scene,
    seconds_of,
    thumbnail_of,
)
from penstock.domains.musicvideo.shown_clip import lip_sync
from penstock.generation.steps import Brief, SceneIdea, Shot
from penstock.kernel.change import Change
from penstock.media.beats import beats
from penstock.media.errors import UnusableFile
from penstock.operations.conditions import Condition
from penstock.work import TaskContext, Terminal
from penstock.work.errors import told_failure
from penstock.work.revisions import Revision
from penstock.work.workspace import Workspace, workspace_of

__all__ = ["TASKS", "film", "take_in", "write_scene", "write_scenes"]


class ToWrite(BaseModel):
    """Which project, and what was said about its scenes; what was not follows from its track."""

    project_id: UUID
    scenes: int | None = None
    seconds: float | None = None


# Writing


@TASKS.task("write_scenes", retry=PATIENT, limit=HALF_AN_HOUR)
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
    with workspace_of(work) as workspace:
        lengths = ScenesToWrite(studio, project, _heard(workspace, project), input)
        with workspace.creating():
            brief = _brief(studio, project, lengths.count, seconds=lengths.usual)
            ideas = studio.providers.writer.write(brief, workspace)
    if not ideas:
        raise Terminal("no scene was written; say more about the concept")
    now = work.store.clock.now()
    with work.finish() as change:
        change.track(project)
        for sequence, (idea, seconds) in enumerate(zip(ideas, lengths.of(ideas), strict=True), 1):
            scene = _written(project, sequence, idea, seconds, now=now)
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


@of_scene
@TASKS.task("write_scene", retry=PATIENT, limit=HALF_AN_HOUR)
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
        scene.written_from = written_from(project)
        revision.save(change, when=unedited)
        film.enqueue(change, input, project=str(project.project_id), about=scene.ref)
    return None


def _unedited(scene: Scene) -> Condition:
    """That nobody has said other words meanwhile; from those the next attempt writes."""
    negative = the(Scene.negative_prompt)
    same = negative.absent() if scene.negative_prompt is None else negative.equals(scene.negative_prompt)
    return the(Scene.prompt).equals(scene.prompt) & same


# Filming


@dataclass(frozen=True, slots=True)
class MadeOf:
    """What a clip was made of, and what follows."""

    references: list[str] | None
    words: dict[str, str] | None = None
    "None, if it was filmed elsewhere."
    sings: bool = False
    "Whether lips are to be moved next."
    not_drawn: list[str] | None = None
    "What the prompt names and is not seen."


@of_scene
@TASKS.task("film", retry=PATIENT, limit=HALF_AN_HOUR, concurrency=FILMED_AT_ONCE)
def film(work: TaskContext, input: OnScene) -> dict[str, Any] | None:
    """Film a scene; if somebody sings in it, that follows."""
    studio = FilmStudio.within(work.domain)
    revision = begun(work, input)
    if revision is None:
        return None
    scene = revision.record
    project = work.store.get(Project.at(project_id=input.project_id))
    references = _references(project) or scene.reference_image_s3_keys
    sings = scene.needs_lip_sync and project.audio_backing_track_s3_key is not None
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
            made = studio.providers.generator.film(shot, clip, PartOfScene(workspace, 0.0, SUNG if sings else 1.0))
        workspace.note(made.metrics, cost=made.cost)
        revision.charge(made.cost, scene.video_generation_job_id)
        made_of = MadeOf(references, filmed_from(project, scene), sings, list(made.not_drawn or ()) or None)
        _finish_clip(work, studio, workspace, input, revision, clip, made_of)
    return None


@of_scene
@TASKS.task("take_in", limit=HALF_AN_HOUR, concurrency=FILMED_AT_ONCE)
def take_in(work: TaskContext, input: OnScene) -> dict[str, Any] | None:
    """Make a film that was uploaded the clip of its scene."""
    studio = FilmStudio.within(work.domain)
    revision = begun(work, input)
    if revision is None or revision.record.incoming_s3_key is None:
        return None
    with workspace_of(work) as workspace:
        clip = workspace.fetch(revision.record.incoming_s3_key)
        made_of = MadeOf(revision.record.reference_image_s3_keys)
        _finish_clip(work, studio, workspace, input, revision, clip, made_of)
    return None


def _finish_clip(
    work: TaskContext,
    studio: FilmStudio,
    workspace: Workspace,
    input: OnScene,
    revision: Revision[Scene],
    clip: Path,
    made_of: MadeOf,
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
        scene.reference_image_s3_keys, scene.filmed_from = made_of.references, made_of.words
        scene.not_drawn = made_of.not_drawn
        scene.video_generation_job_id = None
        scene.clip_sha256 = stored.sha256
        show(scene, stored, duration)
        if made_of.sings:
            lip_sync.enqueue(change, input, project=str(input.project_id), about=scene.ref)
            scene.start()
            revision.save(change)
        else:
            complete(change, revision)


# Parts


class ScenesToWrite:
    """How many scenes a project is to have, and how long they are."""

    def __init__(self, studio: FilmStudio, project: Project, track: HeardTrack | None, input: ToWrite) -> None:
        options = studio.options
        self._track = track
        self._measure = Measure(
            usual=min(options.scene_seconds, options.longest_scene),
            most=most_scenes(project.mode),
            fps=options.fps,
            longest=options.longest_scene,
            scenes=input.scenes,
            seconds=input.seconds,
        )
        self._fitted = [] if track is None else lengths_of(track, self._measure)
        self.count = len(self._fitted) or input.scenes or min(options.scenes, self._measure.most)
        self.usual = sum(self._fitted) / self.count if self._fitted else input.seconds or options.scene_seconds

    def of(self, ideas: Sequence[SceneIdea]) -> list[float]:
        """The seconds of each scene that was written, which may be fewer than were wanted."""
        if len(ideas) == len(self._fitted):
            return self._fitted
        if self._track is not None:
            return lengths_of(self._track, replace(self._measure, scenes=len(ideas)))
        return [self._measure.seconds or idea.seconds for idea in ideas]


def _heard(workspace: Workspace, project: Project) -> HeardTrack | None:
    """A project's track: how long it is, and its beats, if there are any to be heard."""
    if project.audio_backing_track_s3_key is None:
        return None
    track = workspace.fetch(project.audio_backing_track_s3_key)
    seconds = project.audio_duration or seconds_of(workspace, track)
    with workspace.creating():
        try:
            return HeardTrack(seconds, beats(track, seconds=seconds))
        except UnusableFile:
            return HeardTrack(seconds)


def _brief(studio: FilmStudio, project: Project, scenes: int, *, seconds: float | None = None) -> Brief:
    return Brief(
        mode=(project.mode or Mode.MUSIC_VIDEO).value,
        film="an advertisement" if project.mode is Mode.AD_CREATIVE else "a music video",
        advertises=project.mode is Mode.AD_CREATIVE,
        concept=project.concept_prompt,
        character=project.character_description,
        product=project.product_description,
        director=project.director_config,
        scenes=scenes,
        seconds=studio.options.scene_seconds if seconds is None else seconds,
    )


def _written(project: Project, sequence: int, idea: SceneIdea, seconds: float, *, now: datetime) -> Scene:
    return Scene(
        project_id=project.project_id,
        sequence=sequence,
        prompt=idea.prompt,
        negative_prompt=idea.negative_prompt,
        duration=seconds,
        needs_lip_sync=idea.needs_lip_sync,
        reference_image_s3_keys=_references(project),
        written_from=written_from(project),
        take=1,
        created_at=now,
        updated_at=now,
    )


def _references(project: Project) -> list[str] | None:
    """The pictures a scene is filmed with."""
    return [k for k in (project.character_image_s3_key, project.product_image_s3_key) if k] or None


def _in_order(work: TaskContext, project: Project) -> Sequence[Scene]:
    return project.in_order(work.store.find(Scene.of_project(project_id=project.project_id)))
