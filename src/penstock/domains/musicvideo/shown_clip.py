"""What is shown of a clip: with lips that move, and the part of it that was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.lip_standing import first_shown, placed
from penstock.domains.musicvideo.model import LIP_SYNCED_CLIP, OTHER_CLIP, SCENE_AUDIO, Project, Scene
from penstock.domains.musicvideo.scene_progress import SUNG, PartOfScene
from penstock.domains.musicvideo.scene_revisions import OnScene, begun, complete, show
from penstock.domains.musicvideo.scene_tasks import (
    FILMED_AT_ONCE,
    HALF_AN_HOUR,
    PATIENT,
    TASKS,
    of_scene,
    seconds_of,
    sha256_of,
)
from penstock.ports.stored_object import StoredObject
from penstock.work import TaskContext, Terminal
from penstock.work.revisions import Revision
from penstock.work.workspace import Workspace, workspace_of

SHORTEST = 0.1
"Seconds that are left of a clip at least."


class PartOfClip(OnScene):
    """Which take of which scene, and the part of its clip that is to be shown."""

    start: float
    stop: float


@dataclass(frozen=True, slots=True)
class SceneSound:
    """What lips are to move to."""

    file: Path
    track_sha256: str | None = None
    "Of the track it is a part of."
    offset: float | None = None
    "The second of the track that is heard with the first picture of the clip."


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A part of a clip, cut out and kept."""

    points: dict[str, float]
    stored: StoredObject
    seconds: float


@of_scene
@TASKS.task("lip_sync", retry=PATIENT, limit=HALF_AN_HOUR, concurrency=FILMED_AT_ONCE)
def lip_sync(work: TaskContext, input: OnScene) -> dict[str, Any] | None:
    """Let somebody in a scene sing to its part of the backing track; a part that was chosen stays chosen."""
    studio = FilmStudio.within(work.domain)
    revision = begun(work, input)
    if revision is None or revision.record.video_clip_s3_key is None:
        return None
    scene = revision.record
    project = work.store.get(Project.at(project_id=input.project_id))
    with workspace_of(work, lambda job: revision.remember("lipsync_job_id", job)) as workspace:
        clip, into = workspace.fetch(revision.record.video_clip_s3_key), workspace.folder / "lip_synced.mp4"
        length = seconds_of(workspace, clip)
        sound = _sound_of(work, studio, workspace, project, scene, length)
        with workspace.creating():
            made = studio.providers.lip_sync.sync(
                clip,
                sound.file,
                into,
                PartOfScene(workspace, SUNG, 1.0),
                words=scene.lyrics,
                job=scene.lipsync_job_id,
                order=input.order,
            )
        workspace.note(made.metrics, cost=made.cost)
        revision.charge(made.cost, scene.lipsync_job_id)
        stored = revision.store(workspace, into, LIP_SYNCED_CLIP.key_of(scene))
        part = _cut_out(work, studio, workspace, revision, into, scene.trim_points) if scene.trim_points else None
        duration = seconds_of(workspace, into)
        with work.finish() as change:
            change.track(scene)
            scene.audio_clip_s3_key = SCENE_AUDIO.key_of(scene)
            scene.finish_lip_sync(lip_synced_video_clip_s3_key=stored.key)
            scene.lips_track_sha256, scene.lips_offset = sound.track_sha256, sound.offset
            scene.lips_duration, scene.lips_clip_sha256 = duration, sha256_of(clip)
            scene.lipsync_job_id = None
            _show(scene, stored, duration, part)
            complete(change, revision)
    return None


def _sound_of(
    work: TaskContext, studio: FilmStudio, workspace: Workspace, project: Project, scene: Scene, seconds: float
) -> SceneSound:
    """A scene's own sound: the part of the backing track that is heard with all of its clip."""
    if project.audio_backing_track_s3_key is None:
        if scene.audio_clip_s3_key is None:
            raise Terminal("there is no sound to sing to; upload a backing track first")
        return SceneSound(workspace.fetch(scene.audio_clip_s3_key))
    scenes = work.store.find(Scene.of_project(project_id=project.project_id))
    start = next(place.start for place in placed(project, scenes) if place.scene.sequence == scene.sequence)
    # What lies before the part that is shown was heard before the scene, or, at the beginning, nowhere.
    offset = start - first_shown(scene)
    track, excerpt = workspace.fetch(project.audio_backing_track_s3_key), workspace.folder / "excerpt.mp3"
    with workspace.creating():
        studio.providers.composer.excerpt(track, excerpt, start=offset, seconds=seconds)
    workspace.store(excerpt, SCENE_AUDIO.key_of(scene))
    return SceneSound(excerpt, sha256_of(track), offset)


@of_scene
@TASKS.task("trim", limit=HALF_AN_HOUR, concurrency=FILMED_AT_ONCE)
def trim(work: TaskContext, input: PartOfClip) -> dict[str, Any] | None:
    """Cut the part out of a clip that is to be shown."""
    studio = FilmStudio.within(work.domain)
    revision = begun(work, input)
    if revision is None:
        return None
    scene = revision.record
    sung = scene.lip_synced_video_clip_s3_key if scene.needs_lip_sync else None
    whole = sung or scene.video_clip_s3_key
    if whole is None:
        return None
    with workspace_of(work) as workspace:
        wanted = {"in": input.start, "out": input.stop}
        part = _cut_out(work, studio, workspace, revision, workspace.fetch(whole), wanted)
        with work.finish() as change:
            change.track(scene)
            if sung is None:
                scene.forget_lips()
            scene.finish_trim(working_video_clip_s3_key=part.stored.key)
            _show(scene, part.stored, part.seconds, part)
            complete(change, revision)
    return None


def _cut_out(
    work: TaskContext,
    studio: FilmStudio,
    workspace: Workspace,
    revision: Revision[Scene],
    clip: Path,
    wanted: Mapping[str, float],
) -> ShownPart:
    """The part of a clip between two points, as far as the clip goes, kept under a key of its own."""
    into = workspace.folder / "working.mp4"
    stop = min(max(wanted["out"], SHORTEST), seconds_of(workspace, clip))
    start = max(min(wanted["in"], stop - SHORTEST), 0.0)
    with workspace.creating():
        studio.providers.composer.trim(clip, into, start=start, stop=stop)
    key = OTHER_CLIP.key_of(revision.record, f"working_clip_{int(work.task.created_at.timestamp())}")
    stored = revision.store(workspace, into, key)
    return ShownPart({"in": start, "out": stop}, stored, seconds_of(workspace, into))


def _show(scene: Scene, whole: StoredObject, seconds: float, part: ShownPart | None) -> None:
    """A scene shows the part, or all of it where none was chosen."""
    if part is None:
        show(scene, whole, seconds)
        return
    scene.working_video_clip_s3_key, scene.trim_points = part.stored.key, part.points
    show(scene, part.stored, part.seconds)
