"""Killed between any two writes, of records or of files, and begun again by another process: the same video."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.domains.musicvideo import DOMAIN, projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import FINAL_VIDEO, Project, ProjectStatus, SceneStatus
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.objects import LocalObjects
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.faults.blade import WRITES_OF_ENGINES, WRITES_OF_OBJECTS, Blade, Killed
from penstock.work.task import Outcome, Task, TaskAttempt, TaskStatus
from penstock.work.working import WORKING
from penstock.workers.manual import ManualWorkers
from tests.conftest import furnished
from tests.domains.musicvideo.conftest import BEGUN, ENGINES
from tests.domains.musicvideo.quick_providers import QuickProviders, history_of
from tests.domains.musicvideo.story import ANN, assert_counted, begun, scenes, workers


class Process:
    """A process with its own connection to what is stored."""

    def __init__(self, studio: FilmStudio, blade: Blade) -> None:
        engine = blade.cut(studio.store.engine, *WRITES_OF_ENGINES)
        self.store = Store(engine, clock=studio.store.clock, secret=b"of the tests", own=SYSTEM_RECORDS)
        objects = blade.cut(studio.objects, *WRITES_OF_OBJECTS)
        self.studio = FilmStudio(self.store, objects, studio.providers, studio.options)

    def work(self) -> None:
        """All there is to do, with the final cut as soon as that is possible."""
        hands: ManualWorkers = workers(self.studio)
        for _ in range(2):
            hands.drain()
            (project,) = [p for s in ProjectStatus for p in self.store.find(Project.by_status(status=s))]
            if project.status is ProjectStatus.PENDING:
                projects.generate(self.studio, project.project_id, scenes=2, by=ANN)
            elif project.status is ProjectStatus.PROCESSING:
                with suppress(Exception):
                    projects.compose(self.studio, project.project_id, by=ANN)
        hands.drain()


@pytest.fixture(params=[pytest.param(n, marks=[pytest.mark.long] if n != "sqlite" else []) for n in ENGINES])
def plain(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock, local: LocalObjects
) -> Iterator[FilmStudio]:
    clock.set(BEGUN)
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    yield FilmStudio(store, local, QuickProviders().providers(), MusicVideoOptions(scenes=2, scene_seconds=0.5))
    store.close()
    cleanup()


def test_killed_at_every_write_and_resumed(plain: FilmStudio, quick: QuickProviders, tmp_path: Path) -> None:
    """F-MV-4, F-MV-5, F-MV-10, MV-74: no scene twice, counters right, and the same cut as if nothing had happened."""
    wanted = _expected(plain, quick, tmp_path)
    done: set[str] = set()
    for at in count(1):
        project_id = begun(plain, tmp_path).project_id
        blade = Blade(at)
        with suppress(Killed):
            Process(plain, blade).work()
        _resume(plain)
        assert _cut_of(plain, project_id) == wanted, f"killed at write {at}"
        assert_counted(plain, project_id)
        there = scenes(plain, project_id)
        assert [(s.sequence, s.status) for s in there] == [(1, SceneStatus.COMPLETED), (2, SceneStatus.COMPLETED)]
        done = _attempts_add_up(plain, done)
        projects.delete_project(plain, project_id, by=ANN)
        if not blade.dead:
            assert at > 15, "there is more to be killed at"
            break


def _expected(studio: FilmStudio, quick: QuickProviders, folder: Path) -> Any:
    """The cut when nobody is killed."""
    project_id = begun(studio, folder).project_id
    Process(studio, Blade()).work()
    cut = _cut_of(studio, project_id)
    projects.delete_project(studio, project_id, by=ANN)
    return cut


def _resume(studio: FilmStudio) -> None:
    """Other processes, once the leases of the dead one are over."""
    for _ in range(4):
        if any(studio.store.find(Project.by_status(status=ProjectStatus.COMPLETED))):
            return
        assert isinstance(studio.store.clock, FrozenClock)
        studio.store.clock.advance(timedelta(minutes=10))
        workers(studio).rescue()
        Process(studio, Blade()).work()


def _cut_of(studio: FilmStudio, project_id: Any) -> Any:
    project = studio.store.get(Project.at(project_id=project_id))
    assert project.status is ProjectStatus.COMPLETED, project.error_message
    return history_of(studio.objects.get(FINAL_VIDEO.key(project_id=project_id)).read())


def _attempts_add_up(studio: FilmStudio, known: set[str]) -> set[str]:
    """Each task was done by exactly one attempt, and every other was lost; the tasks that are known now."""
    tasks = {task.task_id for task in studio.store.find(Task.by_status(status=TaskStatus.DONE))}
    for task_id in tasks - known:
        outcomes = [a.outcome for a in studio.store.find(TaskAttempt.of_task(task_id=task_id))]
        assert outcomes.count(Outcome.DONE) == 1
        assert set(outcomes) <= {Outcome.DONE, Outcome.LOST}
    for status in (TaskStatus.WAITING, TaskStatus.RUNNING, TaskStatus.FAILED, TaskStatus.QUARANTINED):
        assert list(studio.store.find(Task.by_status(status=status))) == []
    return tasks
