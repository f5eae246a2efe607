"""The final cut: all scenes, as they stand and in their order, become one video."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from penstock.domains.musicvideo.errors import LipsOutOfStep
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.lip_standing import placed, stale_lips
from penstock.domains.musicvideo.model import FINAL_THUMBNAIL, FINAL_VIDEO, Project, ProjectStatus, Scene, SceneStatus
from penstock.domains.musicvideo.scene_tasks import TASKS, seconds_of, sha256_of, thumbnail_of
from penstock.kernel.change import Change
from penstock.work import TaskContext, Terminal
from penstock.work.errors import told_failure
from penstock.work.workspace import Workspace, workspace_of


class ToCompose(BaseModel):
    """Which project, and which of its final cuts."""

    project_id: UUID
    number: int
    stale_lips: bool = False
    "Whether lips that are out of step are cut all the same."


@TASKS.task("compose", limit=timedelta(hours=2))
def compose(work: TaskContext, input: ToCompose) -> dict[str, Any] | None:
    """Cut the final video of all scenes as they stand now."""
    studio = FilmStudio.within(work.domain)
    project = work.store.lookup(Project.at(project_id=input.project_id))
    if project is None or project.compositions != input.number:
        return None
    if project.status is ProjectStatus.QUEUED:
        with work.change() as change:
            change.save(change.track(project).compose())
    if project.status is not ProjectStatus.COMPOSING:
        return None
    scenes = project.in_order(work.store.find(Scene.of_project(project_id=project.project_id)))
    if not input.stale_lips:
        # From now on nothing of it changes; when it was asked for, somebody may have put it in another order.
        _check_for_good(project, scenes)
    with workspace_of(work) as workspace:
        clips = [_shown(workspace, scene) for scene in scenes]
        track = project.audio_backing_track_s3_key
        into = workspace.folder / "final.mp4"
        with workspace.creating():
            made = studio.providers.composer.compose(
                clips, workspace.fetch(track) if track else None, into, workspace.progress
            )
        workspace.note(made.metrics)
        thumbnail = thumbnail_of(studio, workspace, into)
        stored = workspace.store(into, FINAL_VIDEO.key_of(project))
        workspace.store(thumbnail, FINAL_THUMBNAIL.key_of(project))
        duration = seconds_of(workspace, into)
    with work.finish() as change:
        change.track(project)
        project.complete(final_output_s3_key=stored.key)
        project.final_thumbnail_s3_key = FINAL_THUMBNAIL.key_of(project)
        project.final_output_sha256, project.final_duration = stored.sha256, duration
        change.save(project)
        change.emit("video.completed", project, duration=duration)
    return None


@compose.failed
def fail_composition(change: Change, input: ToCompose, error: BaseException) -> None:
    """No final video, or still the former one; the project says why."""
    project = change.store.lookup(Project.at(project_id=input.project_id))
    if project is None or project.compositions != input.number:
        return
    if project.status in (ProjectStatus.QUEUED, ProjectStatus.COMPOSING):
        change.save(change.track(project).fail(error_message=told_failure(error)))


@compose.revived
def queue_composition(change: Change, input: ToCompose) -> None:
    project = change.store.lookup(Project.at(project_id=input.project_id))
    if project is not None and project.compositions == input.number and project.status is ProjectStatus.FAILED:
        change.save(change.track(project).reopen().queue())


def check_in_step(project: Project, scenes: Iterable[Scene]) -> None:
    """Refuse to cut lips that do not move to what is heard with them."""
    if stale := stale_lips(placed(project, scenes)):
        raise LipsOutOfStep(project.project_id, stale)


def _check_for_good(project: Project, scenes: Iterable[Scene]) -> None:
    try:
        check_in_step(project, scenes)
    except LipsOutOfStep as refused:
        raise Terminal(str(refused)) from refused


def _shown(workspace: Workspace, scene: Scene) -> Path:
    """The clip of a scene, if it is the very one the scene means."""
    if scene.status is not SceneStatus.COMPLETED or scene.shown_s3_key is None:
        raise Terminal(f"scene {scene.sequence} is {scene.status.value}; complete it before composing")
    path = workspace.fetch(scene.shown_s3_key)
    if scene.shown_sha256 not in (None, sha256_of(path)):
        raise Terminal(f"the file of scene {scene.sequence} is not the one that was made; regenerate it")
    return path
