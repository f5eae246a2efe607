"""How far each scene is, in per cent. A scene is filmed, and then perhaps sung in; both are parts of one way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from penstock.domains.musicvideo.model import Scene, SceneStatus
from penstock.generation.steps import StepReporter
from penstock.kernel.store import Store
from penstock.work import Progress, Task, TaskStatus

SUNG = 0.6
"The part of a scene that is done when it is filmed, and somebody is still to sing in it."
_PARTS = {"musicvideo.lip_sync": (SUNG, "singing"), "musicvideo.film": (0.0, "filming")}
_OTHERS = {"musicvideo.write_scene": "writing", "musicvideo.trim": "cutting", "musicvideo.take_in": "taking it in"}
_UNDER_WAY = (SceneStatus.PENDING, SceneStatus.PROCESSING)


@dataclass(frozen=True, slots=True)
class SceneProgress:
    """How far a scene is, and what is done with it just now."""

    per_cent: int
    doing: str | None = None


class PartOfScene:
    """A reporter for one step of a scene: what it tells is told as a part of the whole scene."""

    def __init__(self, reporter: StepReporter, begin: float, end: float) -> None:
        self._reporter, self._begin, self._length = reporter, begin, end - begin

    def progress(self, fraction: float, note: str | None = None) -> None:
        self._reporter.progress(self._begin + self._length * min(max(fraction, 0.0), 1.0), note)

    def remember(self, job: str) -> None:
        self._reporter.remember(job)


def progress_of(store: Store, project_id: UUID, scenes: Iterable[Scene]) -> dict[int, SceneProgress]:
    """How far the scenes of a project are, by number. Nothing more is read of scenes on which nobody works."""
    scenes = list(scenes)
    found = {scene.sequence: SceneProgress(_standing(scene)) for scene in scenes}
    if any(scene.status in _UNDER_WAY for scene in scenes):
        takes = {scene.sequence: scene.take or 0 for scene in scenes if scene.status in _UNDER_WAY}
        for status in (TaskStatus.WAITING, TaskStatus.RUNNING):
            for task in store.find(Task.of_project(project_id=str(project_id), status=status)):
                sequence = task.input.get("sequence")
                if sequence in takes and task.input.get("take") == takes[sequence]:
                    found[sequence] = _under_way(store, task)
    return found


def _standing(scene: Scene) -> int:
    return 100 if scene.status is SceneStatus.COMPLETED else 0


def _under_way(store: Store, task: Task) -> SceneProgress:
    begin, doing = _PARTS.get(task.name, (0.0, _OTHERS.get(task.name, "")))
    if task.status is not TaskStatus.RUNNING:
        return SceneProgress(round(100 * begin), f"waiting for {doing}" if doing else None)
    told = store.lookup(Progress.at(task_id=task.task_id))
    # What an earlier attempt has told is over.
    current = told is not None and told.epoch == task.lease_epoch
    fraction = max(begin, told.fraction) if told is not None and current else begin
    return SceneProgress(min(99, int(100 * fraction)), doing or None)
