"""The pipeline on every engine: from a concept to a final cut, whatever fails or changes meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock import Store
from penstock.domains.musicvideo import projects, scenes
from penstock.domains.musicvideo.errors import NotNow
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, ProjectStatus, Scene, SceneStatus
from penstock.domains.musicvideo.tasks import TASKS
from penstock.errors import Conflict, Unanswered, Unavailable
from penstock.generation.steps import Brief, Shot, StepReporter
from penstock.kernel.lease import LeaseLost
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.work import Cancelled, Terminal
from penstock.work.dead_letters import DeadLetters, cancel, retry_all
from penstock.work.task import Progress, Task, TaskAttempt, TaskStatus
from penstock.work.workspace import workspace_of
from tests.domains.musicvideo.quick_providers import QuickProviders, history_of
from tests.domains.musicvideo.story import ANN, assert_counted, begun, files, generated, later, workers
from tests.domains.musicvideo.story import scenes as scenes_of


def messages(store: Store) -> list[str]:
    return [m.type for m in store.find(SystemMessage.by_status(status=MessageStatus.PENDING))]


@pytest.mark.every_engine
def test_from_a_concept_to_the_final_cut(anywhere: FilmStudio, tmp_path: Path) -> None:
    """MV-14, MV-53…MV-57, MV-63, MV-66, MV-69, MV-74, F-MV-2: both queues, each file in its documented place."""
    project = begun(anywhere, tmp_path)
    assert (project.status, project.scene_count) == (ProjectStatus.PENDING, 0)
    hands = workers(anywhere)

    assert projects.generate(anywhere, project.project_id, by=ANN).status is ProjectStatus.QUEUED
    hands.run_one()
    project = anywhere.store.get(Project.at(project_id=project.project_id))
    assert (project.status, project.scene_count) == (ProjectStatus.PROCESSING, 3)
    assert [s.status for s in scenes_of(anywhere, project.project_id)] == [SceneStatus.PENDING] * 3
    hands.drain()
    assert_counted(anywhere, project.project_id)
    there = scenes_of(anywhere, project.project_id)
    assert [s.status for s in there] == [SceneStatus.COMPLETED] * 3

    assert projects.compose(anywhere, project.project_id, by=ANN).status is ProjectStatus.QUEUED
    hands.drain()
    project = anywhere.store.get(Project.at(project_id=project.project_id))
    assert project.status is ProjectStatus.COMPLETED
    folder = f"mv/projects/{project.project_id}"
    assert project.final_output_s3_key == f"{folder}/final.mp4"
    assert files(anywhere) == {
        f"{folder}/audio.mp3",
        f"{folder}/final.mp4",
        f"{folder}/final.jpg",
        *(f"{folder}/scenes/scene_{n:03d}.{kind}" for n in (1, 2, 3) for kind in ("mp4", "jpg")),
        f"{folder}/scenes/audio_001.mp3",
        f"{folder}/scenes/scene_001_lipsync.mp4",
    }
    cut = history_of(anywhere.objects.get(project.final_output_s3_key).read())
    assert [clip.get("prompt", "sung") for clip in cut] == ["sung", there[1].prompt, there[2].prompt]
    assert_counted(anywhere, project.project_id)
    assert messages(anywhere.store).count("scene.completed") == 3
    assert messages(anywhere.store)[-1] == "video.completed"


def test_while_scenes_are_written_the_project_says_so(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """MV-67, MV-70: generating_scenes from the moment a worker begins; failed, and why, when none was written."""
    project = begun(studio, tmp_path)
    seen: list[ProjectStatus] = []

    def look(brief: Brief) -> Brief:
        seen.append(studio.store.get(Project.at(project_id=project.project_id)).status)
        return replace(brief, scenes=0)

    quick.writer.meanwhile = look
    projects.generate(studio, project.project_id, by=ANN)
    workers(studio).drain()
    assert seen == [ProjectStatus.GENERATING_SCENES]
    failed = studio.store.get(Project.at(project_id=project.project_id))
    assert failed.status is ProjectStatus.FAILED
    assert failed.error_message == "no scene was written; say more about the concept"


def test_a_scene_is_processing_while_it_is_filmed_and_sung(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """MV-72, MV-32: also between the clip and the lips, so that nothing is composed of half of it."""
    seen: list[tuple[int, SceneStatus]] = []
    project = begun(studio, tmp_path)

    def look(shot: Shot) -> None:
        seen.extend((s.sequence, s.status) for s in scenes_of(studio, project.project_id) if s.prompt == shot.prompt)

    quick.meanwhile = look
    projects.generate(studio, project.project_id, scenes=1, by=ANN)
    hands = workers(studio)
    hands.run_one()
    hands.run_one()
    assert seen == [(1, SceneStatus.PROCESSING)]
    first = studio.store.get(Scene.at(project_id=project.project_id, sequence=1))
    assert (first.status, first.video_clip_s3_key is not None) == (SceneStatus.PROCESSING, True)
    with pytest.raises(NotNow, match=r"not all scenes are completed\. Completed: 0/1"):
        projects.compose(studio, project.project_id, by=ANN)


# What fails


def test_a_failed_scene_does_not_fail_its_siblings(anywhere: FilmStudio, quick: QuickProviders, tmp_path: Path) -> None:
    """MV-34, MV-35, MV-70, MV-71, F-MV-5: it says why, the others go on, and composing waits for it."""

    def refuse(shot: Shot) -> None:
        if "part 2" in shot.prompt:
            raise Terminal("the prompt is refused")

    quick.meanwhile = refuse
    project = generated(anywhere, tmp_path)
    states = [(s.status, s.error_message) for s in scenes_of(anywhere, project.project_id)]
    assert states[1] == (SceneStatus.FAILED, "the prompt is refused")
    assert [s for s, _ in states].count(SceneStatus.COMPLETED) == 2
    assert project.status is ProjectStatus.PROCESSING
    assert_counted(anywhere, project.project_id)
    with pytest.raises(NotNow, match=r"some scenes failed\. Failed: 2"):
        projects.compose(anywhere, project.project_id, by=ANN)

    quick.meanwhile = lambda shot: None
    again = scenes.regenerate(anywhere, project.project_id, 2, by=ANN)
    assert (again.status, again.retry_count, again.error_message) == (SceneStatus.PROCESSING, 1, None)
    assert_counted(anywhere, project.project_id)
    workers(anywhere).drain()
    assert_counted(anywhere, project.project_id)
    projects.compose(anywhere, project.project_id, by=ANN)
    workers(anywhere).drain()
    assert anywhere.store.get(Project.at(project_id=project.project_id)).status is ProjectStatus.COMPLETED


def test_what_fails_for_a_while_is_tried_again_and_counted(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """MV-34: every attempt but the first is a retry; the clip comes in the end."""
    left = [2]

    def shaky(shot: Shot) -> None:
        if "part 3" in shot.prompt and left[0]:
            left[0] -= 1
            raise Unanswered("the service is down")

    quick.meanwhile = shaky
    project = generated(studio, tmp_path)
    hands = workers(studio)
    for _ in range(2):
        later(studio, minutes=6)
        hands.drain()
    third = scenes_of(studio, project.project_id)[2]
    assert (third.status, third.retry_count) == (SceneStatus.COMPLETED, 2)
    assert_counted(studio, project.project_id)


def test_a_dead_letter_that_is_retried_takes_its_scene_along(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """F-MV-5: failed, then processing again, and counted each time."""

    def refuse(shot: Shot) -> None:
        raise Terminal("no")

    quick.meanwhile = refuse
    project = generated(studio, tmp_path)
    assert project.failed_scenes == 3
    quick.meanwhile = lambda shot: None
    assert len(retry_all(studio.store, [TASKS], DeadLetters(name="musicvideo.film"), by=ANN).done) == 3
    assert_counted(studio, project.project_id)
    workers(studio).drain()
    assert_counted(studio, project.project_id)
    assert studio.store.get(Project.at(project_id=project.project_id)).completed_scenes == 3


def test_a_project_that_failed_begins_again(studio: FilmStudio, quick: QuickProviders, tmp_path: Path) -> None:
    """MV-64, MV-70, F-MV-3: from failed through pending, as long as it has no scenes."""
    project = begun(studio, tmp_path)
    projects.generate(studio, project.project_id, by=ANN)
    task = workers(studio).waiting()[0]
    cancel(studio.store, [TASKS], task.task_id, by=ANN, why="a mistake")
    failed = studio.store.get(Project.at(project_id=project.project_id))
    assert failed.status is ProjectStatus.FAILED
    assert failed.error_message
    projects.generate(studio, project.project_id, by=ANN)
    workers(studio).drain()
    assert studio.store.get(Project.at(project_id=project.project_id)).status is ProjectStatus.PROCESSING
    with pytest.raises(NotNow, match="has 3 scenes already"):
        projects.generate(studio, project.project_id, by=ANN)


def test_a_cut_that_fails_leaves_a_message_and_can_be_asked_for_again(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-64, MV-70, F-MV-3: the scenes are kept."""
    project = generated(studio, tmp_path)
    second = scenes_of(studio, project.project_id)[1]
    assert second.video_clip_s3_key is not None
    studio.objects.put(second.video_clip_s3_key, b"\0\0\0\x20ftypisom of somebody else")
    projects.compose(studio, project.project_id, by=ANN)
    workers(studio).drain()
    failed = studio.store.get(Project.at(project_id=project.project_id))
    assert failed.status is ProjectStatus.FAILED
    assert failed.error_message == "the file of scene 2 is not the one that was made; regenerate it"
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    workers(studio).drain()
    projects.compose(studio, project.project_id, by=ANN)
    workers(studio).drain()
    assert studio.store.get(Project.at(project_id=project.project_id)).status is ProjectStatus.COMPLETED


# What happens at the same time


def test_composing_twice_is_composing_once(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-10: the second asks for what is under way; a later one makes a new cut."""
    project = generated(studio, tmp_path)
    projects.compose(studio, project.project_id, by=ANN)
    assert projects.compose(studio, project.project_id, by="bob").status is ProjectStatus.QUEUED
    assert [t.name for t in workers(studio).waiting()] == ["musicvideo.compose"]
    workers(studio).drain()
    done = studio.store.get(Project.at(project_id=project.project_id))
    assert (done.status, done.compositions) == (ProjectStatus.COMPLETED, 1)
    assert projects.compose(studio, project.project_id, by=ANN).compositions == 2


def test_no_scene_changes_while_the_video_is_cut(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-4, F-MV-5: whatever is asked for meanwhile is refused, and nothing of it happens."""
    project = generated(studio, tmp_path)
    projects.compose(studio, project.project_id, by=ANN)
    for ask in (
        lambda: scenes.regenerate(studio, project.project_id, 1, by=ANN),
        lambda: scenes.delete_scene(studio, project.project_id, 1, by=ANN),
        lambda: scenes.add_scene(studio, project.project_id, "One more of them", by=ANN),
        lambda: scenes.reorder(studio, project.project_id, [3, 2, 1], by=ANN),
    ):
        with pytest.raises(NotNow, match="is queued"):
            ask()
    assert_counted(studio, project.project_id)


def test_a_project_that_waits_for_its_scenes_is_not_removed(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-11: whoever writes them would find it gone; it has none yet that would keep it."""
    project = begun(studio, tmp_path)
    projects.generate(studio, project.project_id, by=ANN)
    with pytest.raises(NotNow, match="is queued"):
        projects.delete_project(studio, project.project_id, by=ANN)
    assert studio.store.lookup(project.ref) is not None


@pytest.mark.parametrize("step", ["film", "thumbnail"])
def test_a_clip_of_an_earlier_take_comes_too_late(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """F-MV-8: one that was asked for anew meanwhile is not taken; no counter moves, and the former file stays.

    Also if that happens when the film is there and paid for, and only its thumbnail is missing.
    """
    project = generated(studio, tmp_path)
    before = scenes_of(studio, project.project_id)[1]
    old = studio.objects.get(before.video_clip_s3_key or "").read()
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    make, left = getattr(quick, step), [1]

    def overtaken(*given: Any) -> Any:
        if left:
            left.clear()
            with studio.store.change(by=ANN) as change:
                scene = change.get(Scene.at(project_id=project.project_id, sequence=2))
                scene.take = (scene.take or 0) + 1
                change.save(scene)
        return make(*given)

    monkeypatch.setattr(quick, step, overtaken)
    workers(studio).drain()
    after = scenes_of(studio, project.project_id)[1]
    assert after.shown_sha256 == before.shown_sha256
    assert studio.objects.get(before.video_clip_s3_key or "").read() == old
    assert after.status is SceneStatus.PROCESSING
    assert_counted(studio, project.project_id)


def test_a_deleted_scene_is_not_filmed_into_being(studio: FilmStudio, quick: QuickProviders, tmp_path: Path) -> None:
    """F-MV-5: the task finds it gone, and leaves nothing behind."""
    project = begun(studio, tmp_path)
    projects.generate(studio, project.project_id, by=ANN)
    hands = workers(studio)
    hands.run_one()

    def deleted(shot: Shot) -> None:
        if "part 2" in shot.prompt:
            scenes.delete_scene(studio, project.project_id, 2, by=ANN)

    quick.meanwhile = deleted
    hands.drain()
    assert [s.sequence for s in scenes_of(studio, project.project_id)] == [1, 3]
    assert not any("scene_002" in key for key in files(studio))
    assert_counted(studio, project.project_id)


def test_the_old_clip_is_kept_until_the_new_one_exists(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """F-MV-8: also when the new one never comes."""
    project = generated(studio, tmp_path)
    second = scenes_of(studio, project.project_id)[1]
    assert second.video_clip_s3_key is not None
    old = studio.objects.get(second.video_clip_s3_key).read()

    def refuse(shot: Shot) -> None:
        assert studio.objects.get(second.video_clip_s3_key or "").read() == old
        raise Terminal("no")

    quick.meanwhile = refuse
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    workers(studio).drain()
    failed = scenes_of(studio, project.project_id)[1]
    assert (failed.status, failed.video_clip_s3_key) == (SceneStatus.FAILED, second.video_clip_s3_key)
    assert studio.objects.get(second.video_clip_s3_key).read() == old


# What is kept


def test_attempts_progress_and_cost_are_kept(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-34: each attempt with what it took, the scene with what it cost."""
    project = generated(studio, tmp_path)
    film = next(t for t in studio.store.find(Task.by_status(status=TaskStatus.DONE)) if t.name == "musicvideo.film")
    (attempt,) = studio.store.find(TaskAttempt.of_task(task_id=film.task_id))
    assert attempt.metrics["frames"] == 6
    assert attempt.metrics["creative_seconds"] > 0
    assert studio.store.get(Progress.at(task_id=film.task_id)).note == "half way"
    assert [s.cost for s in scenes_of(studio, project.project_id)] == [0.25] * 3


def test_what_was_begun_elsewhere_is_remembered(studio: FilmStudio, quick: QuickProviders, tmp_path: Path) -> None:
    """F-MV-10: a later attempt gets the job of the one before, and does not pay twice."""
    project = begun(studio, tmp_path)
    jobs: list[str | None] = []

    def film(shot: Shot, into: Path, reporter: StepReporter) -> Any:
        jobs.append(shot.job)
        if shot.job is None:
            reporter.remember(f"job-{shot.seed}")
            raise Unavailable("gone")
        return QuickProviders.film(quick, shot, into, reporter)

    quick.film = film  # type: ignore[method-assign]
    projects.generate(studio, project.project_id, scenes=1, by=ANN)
    hands = workers(studio)
    hands.drain()
    later(studio, minutes=6)
    hands.drain()
    assert jobs[0] is None
    assert jobs[1] is not None
    (scene,) = scenes_of(studio, project.project_id)
    assert (scene.status, scene.video_generation_job_id) == (SceneStatus.COMPLETED, None)


def test_of_two_who_regenerate_one_wins(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-4: decided by the state that was read."""
    project = generated(studio, tmp_path)
    scene = studio.store.get(Scene.at(project_id=project.project_id, sequence=1))
    scenes.regenerate(studio, project.project_id, 1, by=ANN)
    with pytest.raises(Conflict), studio.store.change(by="bob") as change:
        change.save(change.track(scene).start())
    with pytest.raises(NotNow, match="scene 1 is being processed"):
        scenes.regenerate(studio, project.project_id, 1, by="bob")


@pytest.mark.parametrize("cancelled", [True, False])
def test_whoever_films_hears_whether_nobody_or_another_waits(
    studio: FilmStudio, tmp_path: Path, cancelled: bool
) -> None:
    """F-MV-10: what was begun elsewhere is given up only if nobody goes on with it."""
    project = begun(studio, tmp_path)
    projects.generate(studio, project.project_id, by=ANN)
    hands = workers(studio)
    (work,) = hands.runner.take(1)
    if cancelled:
        cancel(studio.store, [TASKS], work.task.task_id, by=ANN, why="too dear")
    else:
        later(studio, hours=1)
        hands.rescue()
    work.lost = True  # which its keeper has noticed
    with workspace_of(work) as reporter, pytest.raises(Cancelled if cancelled else LeaseLost):
        reporter.progress(0.5)
