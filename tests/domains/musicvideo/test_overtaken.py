"""What is decided by what was read is not done if another was faster: a cut beside changes of its scenes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock import Store
from penstock.domains.musicvideo import projects, scenes
from penstock.domains.musicvideo.errors import NotNow
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, ProjectStatus
from penstock.errors import Conflict
from penstock.runtime.system_records import SYSTEM_RECORDS
from tests.domains.musicvideo.story import ANN, assert_counted, generated, workers
from tests.domains.musicvideo.story import scenes as scenes_of


def overtaken(studio: FilmStudio, faster: Callable[[], object]) -> FilmStudio:
    """The same studio for somebody who is about to commit when another has just done so."""
    left = [faster]

    class Overtaken(Store):
        def commit(self, writes: Any) -> None:
            while left:
                left.pop()()
            super().commit(writes)

    return replace(studio, store=Overtaken(studio.store.engine, clock=studio.store.clock, own=SYSTEM_RECORDS))


def test_no_cut_is_queued_of_a_scene_that_is_begun_again_just_now(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-4, F-MV-5: all scenes were complete when they were read."""
    project_id = generated(studio, tmp_path).project_id
    slow = overtaken(studio, lambda: scenes.regenerate(studio, project_id, 1, by="bob"))
    with pytest.raises(Conflict):
        projects.compose(slow, project_id, by=ANN)
    project = studio.store.get(Project.at(project_id=project_id))
    assert (project.status, project.compositions) == (ProjectStatus.PROCESSING, None)
    assert [task.name for task in workers(studio).waiting()] == ["musicvideo.film"]


@pytest.mark.parametrize(
    "change",
    [
        lambda studio, project_id: scenes.add_scene(studio, project_id, "One more of them", by=ANN),
        lambda studio, project_id: scenes.delete_scene(studio, project_id, 1, by=ANN),
        lambda studio, project_id: scenes.reorder(studio, project_id, [3, 2, 1], by=ANN),
        lambda studio, project_id: scenes.regenerate(studio, project_id, 1, by=ANN),
        lambda studio, project_id: scenes.edit_scene(studio, project_id, 1, {"needs_lip_sync": False}, by=ANN),
        lambda studio, project_id: scenes.edit_scene(studio, project_id, 1, {"prompt": "At night"}, by=ANN),
    ],
    ids=["added", "deleted", "in another order", "filmed again", "silenced", "edited"],
)
def test_no_scene_changes_if_the_cut_was_asked_for_just_now(
    studio: FilmStudio, tmp_path: Path, change: Callable[..., object]
) -> None:
    """F-MV-4, F-MV-5: the project was processing when it was read."""
    project_id = generated(studio, tmp_path).project_id
    before = scenes_of(studio, project_id)
    slow = overtaken(studio, lambda: projects.compose(studio, project_id, by="bob"))
    with pytest.raises((Conflict, NotNow)):
        change(slow, project_id)
    assert scenes_of(studio, project_id) == before
    assert_counted(studio, project_id)
