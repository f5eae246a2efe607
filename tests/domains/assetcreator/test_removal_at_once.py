"""What is removed while others still ask for it: nothing is left behind that nobody would find."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from penstock.domains.assetcreator import jobs, project_quotas, removal
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import NotIdle
from penstock.domains.assetcreator.model import Job, Project
from penstock.domains.assetcreator.project_quotas import BYTES, JOBS
from penstock.domains.assetcreator.stages import AssetType, StepName
from penstock.errors import PenstockError
from penstock.kernel.quota import HELD, QuotaUse
from tests.domains.assetcreator.story import ANN, asked, project, seen, work

pytestmark = pytest.mark.every_engine


def in_between(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> None:
    """Have something happen once a project was found idle, before anything of it is removed."""
    close = removal._close

    def and_then(*given: Any) -> None:
        close(*given)
        act()

    monkeypatch.setattr(removal, "_close", and_then)


@pytest.mark.parametrize("how", ["asked for", "made again", "resumed"])
def test_no_job_begins_in_a_project_that_is_being_removed(
    anywhere: AssetStudio, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """AC-51: or it would be a job of no project."""
    studio = anywhere
    robots = project(studio, gates=[])
    job = asked(studio, robots, type=AssetType.SPRITE_2D)
    work(studio)
    refused: list[NotIdle] = []

    def act() -> None:
        with pytest.raises(NotIdle, match=f"project {robots.project_id} is being removed") as told:
            if how == "asked for":
                asked(studio, robots)
            elif how == "made again":
                jobs.make_again(studio, job.job_id, by=ANN)
            else:
                jobs.resume(studio, job.job_id, from_step=StepName.EXPORT, by=ANN)
        refused.append(told.value)

    in_between(monkeypatch, act)
    removal.delete_project(studio, robots.project_id, by=ANN)
    assert len(refused) == 1
    assert list(studio.store.find(Job.of_project(project_id=robots.project_id))) == []
    assert studio.store.lookup(Project.at(project_id=robots.project_id)) is None
    for quota in (JOBS, BYTES):
        counter = QuotaUse.at(quota=quota.name, whose=robots.project_id, period=HELD)
        assert studio.store.lookup(counter) is None


def test_asked_for_and_removed_at_once_there_is_either_a_job_or_no_project(anywhere: AssetStudio) -> None:
    studio = anywhere
    for _ in range(5):
        robots, barrier = project(studio, gates=[]), Barrier(2)

        def ask(robots: Project = robots, barrier: Barrier = barrier) -> Any:
            barrier.wait(30)
            return asked(studio, robots, type=AssetType.SPRITE_2D)

        def remove(robots: Project = robots, barrier: Barrier = barrier) -> Any:
            barrier.wait(30)
            return removal.delete_project(studio, robots.project_id, by=ANN)

        with ThreadPoolExecutor(2) as threads:
            tries = [threads.submit(ask), threads.submit(remove)]
        no_job, not_removed = (isinstance(each.exception(), PenstockError) for each in tries)
        assert no_job != not_removed, [each.exception() for each in tries]
        found = list(studio.store.find(Job.of_project(project_id=robots.project_id)))
        assert ((studio.store.lookup(robots.ref) is None), found == []) == (no_job, no_job)


def test_one_that_asked_before_it_was_closed_is_seen(studio: AssetStudio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at its jobs and its closing."""
    robots, look = project(studio, gates=[]), project_quotas.is_closed
    begun: list[Job] = []

    def late(*given: Any) -> bool:
        monkeypatch.setattr(removal, "is_closed", look)
        begun.append(asked(studio, robots, type=AssetType.SPRITE_2D))
        return look(*given)

    monkeypatch.setattr(removal, "is_closed", late)
    with pytest.raises(NotIdle, match=f"a job of project {robots.project_id} has just begun; cancel it first"):
        removal.delete_project(studio, robots.project_id, by=ANN)
    work(studio)
    assert seen(studio, begun[0]).job.version == 1
    removal.delete_project(studio, robots.project_id, by=ANN)
