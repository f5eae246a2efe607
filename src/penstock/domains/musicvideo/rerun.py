"""Scenes that failed are run again, and only these: each goes on with the very step that failed.

What was begun elsewhere is gone on with, and paid once. A scene whose step is forgotten, or was given up by somebody,
is filmed again.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from penstock.domains.musicvideo import scenes
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, Scene, SceneStatus
from penstock.domains.musicvideo.projects import check_idle
from penstock.domains.musicvideo.scene_tasks import TASKS
from penstock.kernel.store import Store
from penstock.work import Task, TaskStatus
from penstock.work.dead_letters import retry

_DEAD = (TaskStatus.FAILED, TaskStatus.QUARANTINED)


def rerun_failed(studio: FilmStudio, project_id: UUID, *, by: str) -> list[int]:
    """Have all failed scenes of a project run again; those scenes, by number.

    Each is a commit of its own, and the last ends the claim: what dies on the way is gone on with under the same key.
    """
    check_idle(studio.store.get(Project.at(project_id=project_id)))
    there = studio.store.find(Scene.of_project(project_id=project_id))
    failed = [scene for scene in there if scene.status is SceneStatus.FAILED]
    dead = _dead_letters(studio.store, project_id)
    for left, scene in zip(range(len(failed) - 1, -1, -1), failed, strict=True):
        here = replace(studio, once=None) if left else studio
        task = dead.get((scene.sequence, scene.take or 0))
        if task is not None:
            retry(here.store, [TASKS], task.task_id, by=by, why="run again", once=here.once)
        else:
            scenes.regenerate(here, project_id, scene.sequence, by=by)
    return [scene.sequence for scene in failed]


def _dead_letters(store: Store, project_id: UUID) -> dict[tuple[int, int], Task]:
    """The steps that failed for good, by scene and take."""
    return {
        (task.input["sequence"], task.input["take"]): task
        for status in _DEAD
        for task in store.find(Task.of_project(project_id=str(project_id), status=status))
        if "sequence" in task.input and "take" in task.input
    }
