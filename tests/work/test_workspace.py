"""A task's workspace: a folder for one attempt, which stores nothing once the task is another's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from penstock import FrozenClock, open_store
from penstock.files.object_reads import every
from penstock.kernel.lease import LeaseLost
from penstock.objects import LocalObjects
from penstock.work import Cancelled, Outcome, Task, TaskAttempt, TaskContext
from penstock.work.dead_letters import cancel
from penstock.work.revisions import Revision
from penstock.work.working import WORKING
from penstock.work.workspace import Workspace, workspace_of
from tests.work.studios import DOMAIN, Draw, Picture, Studio


@pytest.fixture
def studio(tmp_path: Path, clock: FrozenClock) -> Iterator[Studio]:
    store = open_store(f"sqlite:///{tmp_path}/studio.db", clock=clock)
    store.ensure(DOMAIN, WORKING)
    yield Studio(store, LocalObjects(tmp_path / "files"), lambda work, revision: None)
    store.close()


def attempted(studio: Studio, draw: Draw) -> TaskAttempt:
    """What became of one attempt."""
    studio.draw = draw
    task_id = studio.begin()
    studio.workers.run_one()
    (attempt,) = studio.store.find(TaskAttempt.of_task(task_id=task_id))
    return attempt


def test_what_is_fetched_and_made_is_gone_with_the_attempt(studio: Studio) -> None:
    studio.objects.put("sketches/a/one.png", b"sketch")
    folders: list[Path] = []

    def draw(work: TaskContext, revision: Revision[Picture]) -> None:
        with workspace_of(work) as workspace:
            folders.append(workspace.folder)
            sketch = workspace.fetch("sketches/a/one.png")
            assert sketch.parent == workspace.folder
            stored = workspace.store(sketch, "pictures/one.png")
            assert (stored.key, stored.size) == ("pictures/one.png", 6)
            raise OSError("broken off")

    assert attempted(studio, draw).outcome is Outcome.RETRYABLE
    assert not folders[0].exists()
    assert {found.key for found in every(studio.objects)} == {"sketches/a/one.png", "pictures/one.png"}


def test_two_files_of_one_name_lie_beside_each_other(studio: Studio) -> None:
    for folder in ("a", "b"):
        studio.objects.put(f"{folder}/one.png", folder.encode())
    read: list[bytes] = []

    def draw(work: TaskContext, revision: Revision[Picture]) -> None:
        with workspace_of(work) as workspace:
            read.extend(path.read_bytes() for path in [workspace.fetch("a/one.png"), workspace.fetch("b/one.png")])

    attempted(studio, draw)
    assert read == [b"a", b"b"]


def test_nothing_is_stored_once_the_lease_is_lost(studio: Studio) -> None:
    def draw(work: TaskContext, revision: Revision[Picture]) -> None:
        with workspace_of(work) as workspace:
            made = workspace.folder / "one.png"
            made.write_bytes(b"late")
            work.lost = True
            with pytest.raises(LeaseLost):
                workspace.store(made, "pictures/one.png")
        work.lost = False

    assert attempted(studio, draw).outcome is Outcome.DONE
    assert list(every(studio.objects)) == []


@pytest.mark.parametrize("cancelled", [True, False])
def test_whoever_works_hears_whether_nobody_waits_or_another_goes_on(
    studio: Studio, clock: FrozenClock, cancelled: bool
) -> None:
    task_id = studio.begin()
    (work,) = studio.workers.runner.take(1)
    with workspace_of(work) as workspace:
        workspace.progress(0.1, "begun")
        if cancelled:
            cancel(studio.store, [studio.tasks], task_id, by="ann")
            work.lost = True
        else:
            clock.advance(timedelta(hours=1))
            studio.workers.rescue()
            work.lost = True
        with pytest.raises(Cancelled if cancelled else LeaseLost):
            workspace.progress(0.9, "nearly")
    assert studio.store.get(Task.at(task_id=task_id)) is not None


def test_what_is_noted_and_how_long_it_took_is_kept_with_the_attempt(studio: Studio) -> None:
    def draw(work: TaskContext, revision: Revision[Picture]) -> None:
        with workspace_of(work) as workspace:
            for _ in range(2):
                with workspace.creating():
                    pass
            workspace.note({"frames": 6}, cost=0.25)
            workspace.note({"colours": 3})

    metrics = attempted(studio, draw).metrics
    assert metrics["creative_seconds"] >= 0
    assert (metrics["frames"], metrics["colours"]) == (6, 3)
    assert metrics["cost"] == 0.25, "also where more is noted of which no cost is known"


def test_nobody_need_remember_what_was_begun_elsewhere(studio: Studio) -> None:
    remembered: list[str] = []

    def draw(work: TaskContext, revision: Revision[Picture]) -> None:
        Workspace(work, Path()).remember("job 1")
        with workspace_of(work, remembered.append) as workspace:
            workspace.remember("job 2")

    attempted(studio, draw)
    assert remembered == ["job 2"]
