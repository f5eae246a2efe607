"""Takes: the revisions of a scene, as its records count them, and how a scene goes through one."""

from __future__ import annotations

from typing import Any, Self
from uuid import UUID

from pydantic import BaseModel

from penstock.declare.units import UtcSeconds
from penstock.domains.musicvideo.counting import count
from penstock.domains.musicvideo.model import Scene, SceneStatus
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.conditions import Condition
from penstock.ports.stored_object import StoredObject
from penstock.work import TaskContext
from penstock.work.revisions import Revision, Revisions

SCENE_REVISIONS = Revisions(
    Scene,
    number="take",
    wanted=(SceneStatus.PENDING, SceneStatus.PROCESSING),
    jobs=("video_generation_job_id", "lipsync_job_id"),
    cost="cost",
    charged="charged_job_id",
)


class OnScene(BaseModel):
    """Which take of which scene."""

    project_id: UUID
    sequence: int
    take: int
    created_at: UtcSeconds | None = None
    "Of the scene: in a project that was deleted and begun again under its id, numbers and takes begin again as well."

    @classmethod
    def of(cls, scene: Scene, **more: Any) -> Self:
        take = scene.take or 0
        return cls(project_id=scene.project_id, sequence=scene.sequence, take=take, created_at=scene.created_at, **more)

    @property
    def order(self) -> str:
        """What a take is called where it is paid for."""
        return f"{self.project_id}/{self.sequence}/{self.take}"


def of_revision(store: Store, input: OnScene) -> Scene | None:
    """The scene, if nobody has begun another take, or another scene of this number."""
    return SCENE_REVISIONS.lookup(store, _ref(input), input.take, born=input.created_at)


def current(work: TaskContext, input: OnScene) -> Revision[Scene] | None:
    """The take, if it is still the one that is wanted."""
    return SCENE_REVISIONS.current(work, _ref(input), input.take, born=input.created_at)


def begun(work: TaskContext, input: OnScene) -> Revision[Scene] | None:
    """The take, with its scene in processing. Every attempt but the first is a retry."""
    revision = current(work, input)
    if revision is None:
        return None
    scene = revision.record
    if scene.status is SceneStatus.PENDING or work.task.attempts > 1:
        with work.change() as change:
            change.track(scene)
            if work.task.attempts > 1:
                scene.retry_count += 1
            if scene.status is SceneStatus.PENDING:
                scene.start()
            revision.save(change)
    return revision


def same_revision(input: OnScene) -> Condition:
    """That nobody has begun another take, or another scene of this number."""
    return SCENE_REVISIONS.same(input.take, born=input.created_at)


def show(scene: Scene, stored: StoredObject, duration: float) -> None:
    """A scene shows a new clip."""
    scene.shown_sha256, scene.shown_duration = stored.sha256, duration


def complete(change: Change, revision: Revision[Scene]) -> None:
    """A scene is completed and counted, and others hear of it."""
    scene = revision.record
    revision.save(change)
    count(change, scene.project_id, SceneStatus.PROCESSING, scene.status)
    change.emit("scene.completed", scene)


def _ref(input: OnScene) -> Any:
    return Scene.at(project_id=input.project_id, sequence=input.sequence)
