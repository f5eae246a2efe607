"""What the tasks on scenes share: their registry, what becomes of a scene they fail, and small looks at files."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from penstock.domains.musicvideo.counting import count
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import SceneStatus
from penstock.domains.musicvideo.scene_revisions import OnScene, of_revision, same_revision
from penstock.kernel.change import Change
from penstock.media.probe import probe
from penstock.work import Retry, TaskOf, Tasks
from penstock.work.errors import told_failure
from penstock.work.workspace import Workspace

TASKS = Tasks("musicvideo")
FILMED_AT_ONCE = 4
"So many scenes of a project are worked on at the same time."
HALF_AN_HOUR = timedelta(minutes=30)
PATIENT = Retry(attempts=12, first=timedelta(seconds=5), longest=timedelta(minutes=5))
"For what a service elsewhere may do: from 15 minutes to half an hour pass before it has failed for good."

I = TypeVar("I", bound=OnScene)  # noqa: E741 - the input of a task


def of_scene(task: TaskOf[I]) -> TaskOf[I]:
    """A task whose failure is its scene's, and no other's."""
    task.failed(fail_scene)
    task.revived(retry_scene)
    return task


def fail_scene(change: Change, input: OnScene, error: BaseException) -> None:
    """The scene says why; the others go on."""
    scene = of_revision(change.store, input)
    if scene is not None and scene.status in (SceneStatus.PENDING, SceneStatus.PROCESSING):
        before = change.track(scene).status
        change.save(scene.fail(error_message=told_failure(error)), when=same_revision(input))
        count(change, scene.project_id, before, scene.status)
        change.emit("scene.failed", scene, why=scene.error_message)


def retry_scene(change: Change, input: OnScene) -> None:
    """Somebody has the task tried again."""
    scene = of_revision(change.store, input)
    if scene is not None and scene.status is SceneStatus.FAILED:
        change.save(change.track(scene).retry(), when=same_revision(input))
        count(change, scene.project_id, SceneStatus.FAILED, scene.status)


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


def sha256_of(path: Path) -> str:
    """Which file it is."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
