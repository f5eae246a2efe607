"""Takes: which work on a scene still counts, and how a scene goes through it.

Every request for work begins a new take. A task belongs to one; when another was begun meanwhile, or the scene was
deleted, what it makes comes too late.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self
from uuid import UUID

from pydantic import BaseModel

from penstock.declare.attr import the
from penstock.declare.units import UtcSeconds
from penstock.domains.musicvideo.counting import count
from penstock.domains.musicvideo.model import Scene, SceneStatus
from penstock.domains.musicvideo.workspace import TaskDesk
from penstock.generation.ports import Made
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.conditions import Condition, holds
from penstock.ports.stored_object import StoredObject
from penstock.work import TaskContext, Terminal


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


def of_take(store: Store, input: OnScene) -> Scene | None:
    """The scene, if nobody has begun another take, or another scene of this number."""
    scene = store.lookup(Scene.at(project_id=input.project_id, sequence=input.sequence))
    return scene if scene is not None and holds(same_take(input), scene.__dict__) else None


def current(work: TaskContext, input: OnScene) -> Scene | None:
    """The scene, if the take is still the one that is wanted."""
    scene = of_take(work.store, input)
    return scene if scene is not None and scene.status in (SceneStatus.PENDING, SceneStatus.PROCESSING) else None


def begun(work: TaskContext, input: OnScene) -> Scene | None:
    """The scene, in processing. Every attempt but the first is a retry."""
    scene = current(work, input)
    if scene is None:
        return None
    if scene.status is SceneStatus.PENDING or work.task.attempts > 1:
        with work.change() as change:
            change.track(scene)
            if work.task.attempts > 1:
                scene.retry_count += 1
            change.save(scene.start() if scene.status is SceneStatus.PENDING else scene, when=same_take(input))
    return scene


def keep_in_place(work: TaskContext, desk: TaskDesk, input: OnScene, path: Path, key: str) -> StoredObject:
    """Put the file of a scene in its place, unless it comes too late for that."""
    _still_wanted(work, input)
    return desk.keep(path, key)


def charge(work: TaskContext, input: OnScene, scene: Scene, made: Made, job: str | None = None) -> None:
    """Keep what was paid before anything else can fail. A job that is gone on with was paid when it first came."""
    if made.cost is None or (job is not None and job == scene.charged_job_id):
        return
    _still_wanted(work, input)
    with work.change() as change:
        change.track(scene)
        scene.cost, scene.charged_job_id = (scene.cost or 0.0) + made.cost, job
        change.save(scene, when=same_take(input))


def show(scene: Scene, kept: StoredObject, duration: float) -> None:
    """A scene shows a new clip."""
    scene.shown_sha256, scene.shown_duration = kept.sha256, duration


def complete(change: Change, input: OnScene, scene: Scene) -> None:
    """A scene is completed, counted and announced."""
    change.save(scene, when=same_take(input))
    count(change, scene.project_id, SceneStatus.PROCESSING, scene.status)
    change.emit("scene.completed", scene)


def remember(work: TaskContext, input: OnScene, scene: Scene, field: str, job: str) -> None:
    """Note what was begun elsewhere before anything can go wrong with it: also in the scene that the task will end."""
    _still_wanted(work, input)
    with work.change() as change:
        change.track(scene)
        setattr(scene, field, job)
        change.save(scene, when=same_take(input))


def _still_wanted(work: TaskContext, input: OnScene) -> None:
    if current(work, input) is None:
        raise Terminal(f"scene {input.sequence} has moved on")


def same_take(input: OnScene) -> Condition:
    """That nobody has begun another take, or another scene of this number."""
    same = the(Scene.take).equals(input.take)
    if not input.take:
        same |= the(Scene.take).absent()
    return same if input.created_at is None else same & the(Scene.created_at).equals(input.created_at)
