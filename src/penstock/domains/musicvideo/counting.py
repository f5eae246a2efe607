"""The counters of a project, which agree with its scenes at every moment: both change in one commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from penstock.declare.attr import the
from penstock.domains.musicvideo.errors import NotNow
from penstock.domains.musicvideo.model import Project, ProjectStatus, SceneStatus
from penstock.kernel.change import Change
from penstock.operations.conditions import Condition
from penstock.operations.updates import Add, Set

_COUNTED = {SceneStatus.COMPLETED: "completed_scenes", SceneStatus.FAILED: "failed_scenes"}
_PROCESSING = the(Project.status).equals(ProjectStatus.PROCESSING)


def count(change: Change, project_id: UUID, before: SceneStatus, after: SceneStatus) -> None:
    """Count a scene that work has moved from one status to another."""
    if adds := _adds(_tally(before, after)):
        change.patch(Project.at(project_id=project_id), *adds)


def count_edited(
    change: Change,
    project: Project,
    before: SceneStatus | None,
    after: SceneStatus | None,
    *,
    when: Condition | None = None,
    **fields: Any,
) -> None:
    """Count a scene that somebody has changed, added (None before) or removed (None after), and set further fields.

    Scenes change only while their project is processing. One that is finished, or has failed with scenes, goes on.
    """
    tally = _tally(before, after)
    if project.status in (ProjectStatus.COMPLETED, ProjectStatus.FAILED) and project.scene_count:
        # Nobody works on scenes now, so that what was read is what stands, or else this is refused.
        as_read = (
            the(Project.scene_count).equals(project.scene_count)
            & the(Project.completed_scenes).equals(project.completed_scenes)
            & the(Project.failed_scenes).equals(project.failed_scenes)
        )
        for name, value in {**{n: getattr(project, n) + added for n, added in tally.items()}, **fields}.items():
            setattr(project, name, value)
        change.save(project.reopen(), when=as_read if when is None else as_read & when)
        return
    if project.status is not ProjectStatus.PROCESSING:
        raise NotNow(
            f"project {project.project_id} is {project.status.value}; its scenes change only while it is processing"
        )
    updates = [*_adds(tally), *(Set(name, value) for name, value in fields.items())]
    still = _PROCESSING if when is None else _PROCESSING & when
    if updates:
        change.patch(project.ref, *updates, when=still)
    else:
        change.check(project.ref, still)


def _tally(before: SceneStatus | None, after: SceneStatus | None) -> dict[str, int]:
    """By how much each counter changes."""
    tally: dict[str, int] = {}
    if before is not after:
        tally |= {_COUNTED[s]: n for s, n in ((before, -1), (after, 1)) if s in _COUNTED}
    if (before is None) is not (after is None):
        tally["scene_count"] = -1 if after is None else 1
    return tally


def _adds(tally: Mapping[str, int]) -> list[Add]:
    return [Add(name, amount) for name, amount in tally.items()]
