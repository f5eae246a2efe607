"""Takes: which work on a scene still counts, and how a scene goes through it.

Every request for work begins a new take. A task belongs to one; when another was begun meanwhile, or the scene was
deleted, what it makes comes too late.
"""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from pydantic import BaseModel

from penstock.change import Change
from penstock.conditions import Condition
from penstock.declare.attr import the
from penstock.domains.musicvideo.counting import count
from penstock.domains.musicvideo.crew.ports import Made
from penstock.domains.musicvideo.desk import TaskDesk
from penstock.domains.musicvideo.model import Scene, SceneStatus
from penstock.stored import Stored
from penstock.work import Terminal, Work


class OnScene(BaseModel):
    """Which take of which scene."""

    project_id: UUID
    sequence: int
    take: int

    @classmethod
    def of(cls, scene: Scene) -> OnScene:
        return cls(project_id=scene.project_id, sequence=scene.sequence, take=scene.take or 0)


def current(work: Work, input: OnScene) -> Scene | None:
    """The scene, if the take is still the one that is wanted."""
    scene = work.store.lookup(Scene.at(project_id=input.project_id, sequence=input.sequence))
    if scene is None or (scene.take or 0) != input.take:
        return None
    return scene if scene.status in (SceneStatus.PENDING, SceneStatus.PROCESSING) else None


def begun(work: Work, input: OnScene) -> Scene | None:
    """The scene, in processing. Every attempt but the first is a retry."""
    scene = current(work, input)
    if scene is None:
        return None
    if scene.status is SceneStatus.PENDING or work.task.attempts > 1:
        with work.change() as change:
            change.adopt(scene)
            if work.task.attempts > 1:
                scene.retry_count += 1
            change.save(scene.start() if scene.status is SceneStatus.PENDING else scene, when=same_take(input))
    return scene


def keep_in_place(work: Work, desk: TaskDesk, input: OnScene, path: Path, key: str) -> Stored:
    """Put the file of a scene in its place, unless it comes too late for that."""
    if current(work, input) is None:
        raise Terminal(f"scene {input.sequence} has moved on")
    return desk.keep(path, key)


def show(scene: Scene, kept: Stored, duration: float, made: Made) -> None:
    """A scene shows a new clip, and knows what it has cost."""
    scene.shown_sha256, scene.shown_duration = kept.sha256, duration
    if made.cost is not None:
        scene.cost = (scene.cost or 0.0) + made.cost


def complete(change: Change, input: OnScene, scene: Scene) -> None:
    """A scene is completed, counted and announced."""
    change.save(scene, when=same_take(input))
    count(change, scene.project_id, SceneStatus.PROCESSING, scene.status)
    change.emit("scene.completed", scene)


def remember(work: Work, input: OnScene, field: str, job: str) -> None:
    """Note what was begun elsewhere before anything can go wrong with it."""
    scene = current(work, input)
    if scene is None:
        raise Terminal(f"scene {input.sequence} has moved on")
    with work.change() as change:
        change.adopt(scene)
        setattr(scene, field, job)
        change.save(scene, when=same_take(input))


def same_take(input: OnScene) -> Condition:
    """That nobody has begun another take."""
    same = the(Scene.take).equals(input.take)
    return same if input.take else same | the(Scene.take).absent()
