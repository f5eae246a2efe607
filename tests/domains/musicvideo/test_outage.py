"""A service elsewhere that is away: for minutes it costs time alone; for hours, the scenes that failed are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock
from penstock.domains.musicvideo import film_studio, projects
from penstock.domains.musicvideo.errors import NotNow
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import ProjectStatus, SceneStatus
from penstock.domains.musicvideo.rerun import rerun_failed
from penstock.domains.musicvideo.tasks import TASKS
from penstock.generation.circuit_breaker import CircuitBreaker
from penstock.generation.predictions import Predictions
from penstock.generation.provider_http import ProviderService
from penstock.generation.remote_film import PredictedFilm
from penstock.generation.steps import Brief, Made, SceneIdea, StepReporter
from penstock.kernel.record_name import name_of
from penstock.work import Progress, Task, TaskStatus, Terminal
from penstock.work.dead_letters import DeadLetters, cancel, retry
from tests.domains.musicvideo.quick_providers import QuickProviders, film
from tests.domains.musicvideo.story import ANN, assert_counted, begun, generated, later, scenes, workers
from tests.generation.prediction_server import TOKEN, PredictionServer, answers, drops


@pytest.fixture
def elsewhere(quick: QuickProviders, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[PredictionServer]:
    """Scenes are filmed by a service that does what the tests say."""
    with PredictionServer(film()) as server:
        service = ProviderService(server.url, TOKEN, breaker=CircuitBreaker(clock=clock))
        generator = PredictedFilm(Predictions(service, "acme/filmer", sleep=lambda seconds: None))
        providers = replace(quick.providers(), generator=generator)
        monkeypatch.setattr(film_studio, "film_providers", lambda *given, **more: providers)
        yield server
        service.close()


@pytest.fixture
def nobody_sings(quick: QuickProviders) -> None:
    def write(brief: Brief) -> list[SceneIdea]:
        return [SceneIdea(f"part {n}", brief.seconds) for n in range(1, brief.scenes + 1)]

    quick.writer.write = lambda brief, reporter: write(brief)  # type: ignore[method-assign]


def away(server: PredictionServer) -> None:
    """It answers nobody; now and then with an error of its own, or by hanging up."""
    server.scripts["create"].clear()
    server.will("create", *[answers(500), drops, answers(502), answers(503)] * 250)


def back(server: PredictionServer) -> None:
    server.scripts["create"].clear()


def pass_minutes(studio: FilmStudio, minutes: int) -> None:
    hands = workers(studio)
    for _ in range(minutes * 4):
        hands.drain()
        later(studio, seconds=15)
    hands.drain()


@pytest.mark.usefixtures("nobody_sings")
@pytest.mark.parametrize("count", [1, 3])
def test_a_service_that_is_away_for_ten_minutes_fails_no_scene(
    studio: FilmStudio, elsewhere: PredictionServer, tmp_path: Path, count: int
) -> None:
    """MV-34: retries grow further apart, and while the circuit is open nobody asks."""
    away(elsewhere)
    project = begun(studio, tmp_path)
    projects.generate(studio, project.project_id, scenes=count, seconds=0.5, by=ANN)
    pass_minutes(studio, 10)
    waiting = scenes(studio, project.project_id)
    assert {scene.status for scene in waiting} == {SceneStatus.PROCESSING}
    assert len(elsewhere.asked("create")) < 40
    back(elsewhere)
    pass_minutes(studio, 8)
    done = scenes(studio, project.project_id)
    assert [scene.status for scene in done] == [SceneStatus.COMPLETED] * count
    assert all(scene.retry_count for scene in done)
    assert_counted(studio, project.project_id)


@pytest.mark.usefixtures("nobody_sings")
def test_a_service_that_is_away_for_hours_fails_its_scenes_which_are_told_and_run_again(
    studio: FilmStudio, elsewhere: PredictionServer, tmp_path: Path
) -> None:
    """MV-34, MV-35, MV-70: and nothing else is run."""
    project = begun(studio, tmp_path)
    projects.generate(studio, project.project_id, scenes=3, by=ANN)
    hands = workers(studio)
    hands.run_one()
    hands.run_one()  # the first scene is there
    away(elsewhere)
    pass_minutes(studio, 240)
    states = {scene.sequence: scene for scene in scenes(studio, project.project_id)}
    failed = [n for n, scene in states.items() if scene.status is SceneStatus.FAILED]
    assert len(failed) == 2
    assert all("127.0.0.1" in (states[n].error_message or "") for n in failed)
    with pytest.raises(NotNow, match=f"some scenes failed. Failed: {', '.join(map(str, failed))}; retry"):
        projects.compose(studio, project.project_id, by=ANN)
    takes = {n: scene.take for n, scene in states.items()}

    back(elsewhere)
    asked = len(elsewhere.asked("create"))
    assert rerun_failed(studio, project.project_id, by=ANN) == failed
    pass_minutes(studio, 3)
    again = scenes(studio, project.project_id)
    assert [scene.status for scene in again] == [SceneStatus.COMPLETED] * 3
    assert {scene.sequence: scene.take for scene in again} == takes
    assert len(elsewhere.asked("create")) == asked + 2
    assert_counted(studio, project.project_id)
    assert rerun_failed(studio, project.project_id, by=ANN) == []


def test_only_the_step_that_failed_is_run_again(studio: FilmStudio, quick: QuickProviders, tmp_path: Path) -> None:
    """MV-33, F-MV-10: lips that failed are moved; the clip is not filmed, nor paid, again."""

    def refuse(*given: object, **more: object) -> None:
        raise Terminal("no lips")

    quick.sync = refuse  # type: ignore[method-assign, assignment]
    project = generated(studio, tmp_path)
    assert scenes(studio, project.project_id)[0].status is SceneStatus.FAILED
    filmed = len(quick.filmed)
    del quick.sync
    assert rerun_failed(studio, project.project_id, by=ANN) == [1]
    workers(studio).drain()
    first = scenes(studio, project.project_id)[0]
    assert (first.status, first.lip_synced_video_clip_s3_key is not None) == (SceneStatus.COMPLETED, True)
    assert len(quick.filmed) == filmed


def test_a_scene_whose_step_was_given_up_is_filmed_again(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """MV-34: there is nothing left to go on with."""
    project = begun(studio, tmp_path)
    projects.generate(studio, project.project_id, scenes=1, by=ANN)
    hands = workers(studio)
    hands.run_one()
    (task,) = studio.store.find(Task.of_project(project_id=str(project.project_id), status=TaskStatus.WAITING))
    cancel(studio.store, [TASKS], task.task_id, by=ANN, why="a mistake")
    assert rerun_failed(studio, project.project_id, by=ANN) == [1]
    hands.drain()
    assert [scene.status for scene in scenes(studio, project.project_id)] == [SceneStatus.COMPLETED]


def test_scenes_that_could_not_be_written_are_written_when_their_dead_letter_is_tried_again(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """The project waits in the queue again, and goes on as if nothing had been."""

    def refuse(brief: Brief) -> Brief:
        raise Terminal("the concept is refused")

    quick.writer.meanwhile = refuse
    project = generated(studio, tmp_path)
    assert project.status is ProjectStatus.FAILED
    (letter,) = DeadLetters().find(studio.store)
    quick.writer.meanwhile = lambda brief: brief
    retry(studio.store, [TASKS], letter.task_id, by=ANN)
    queued = studio.store.get(project.ref)
    assert (queued.status, queued.error_message) == (ProjectStatus.QUEUED, None)
    workers(studio).drain()
    assert [scene.status for scene in scenes(studio, project.project_id)] == [SceneStatus.COMPLETED] * 3


def test_how_far_a_scene_is_is_told_in_per_cent(studio: FilmStudio, quick: QuickProviders, tmp_path: Path) -> None:
    """MV-72: of the whole scene, whether it is filmed or sung in just now."""
    project = begun(studio, tmp_path)
    projects.generate(studio, project.project_id, scenes=1, by=ANN)
    seen: list[tuple[int, str | None]] = []

    def look() -> None:
        progress = projects.project_of(studio, project.project_id).progress[1]
        seen.append((progress.per_cent, progress.doing))

    def sync(clip: Path, audio: Path, into: Path, reporter: StepReporter, **more: Any) -> Made:
        reporter.progress(0.5, "half way")
        look()
        return QuickProviders.sync(quick, clip, audio, into, reporter, **more)

    quick.meanwhile, quick.sync = lambda shot: look(), sync  # type: ignore[method-assign]
    hands = workers(studio)
    while hands.run_one() is not None:
        look()
    assert seen == [
        (0, "waiting for filming"),
        (30, "filming"),
        (60, "waiting for singing"),
        (80, "singing"),
        (100, None),
    ]


def test_progress_that_is_streamed_says_of_which_scene_it_is(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-72."""
    project = generated(studio, tmp_path)
    first = scenes(studio, project.project_id)[0]
    films = [t for t in studio.store.find(Task.by_status(status=TaskStatus.DONE)) if t.name == "musicvideo.film"]
    told = [studio.store.get(Progress.at(task_id=task.task_id)) for task in films]
    assert name_of(first.ref) in {progress.about for progress in told}
    assert {progress.fraction for progress in told} == {0.3, 0.5}
