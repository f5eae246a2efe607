"""Takes: a new one has nothing of those before it but what it is meant to have, and what was paid is known."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from penstock.domains.musicvideo import scenes
from penstock.domains.musicvideo.errors import NotNow
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import CHARACTER_IMAGE, Project, Scene, SceneStatus
from penstock.domains.musicvideo.projects import compose, delete_project, generate
from penstock.domains.musicvideo.uploading import Sent
from penstock.errors import Unavailable
from penstock.generation.steps import Brief, Made, SceneIdea, Shot, StepReporter
from penstock.media.compose import Cut
from penstock.work import Terminal
from tests.domains.musicvideo.quick_providers import PICTURE, QuickProviders, history_of
from tests.domains.musicvideo.story import ANN, assert_counted, begun, files, generated, later, sent, workers
from tests.domains.musicvideo.story import scenes as scenes_of


class Elsewhere:
    """Whoever films and moves lips at a service: a job that was begun is gone on with, and gives the same file."""

    def __init__(self, quick: QuickProviders) -> None:
        self._quick, self._numbers = quick, count(1)
        self._made: dict[str, bytes] = {}
        self.synced: list[str | None] = []
        self.orders: list[str] = []
        quick.film, quick.sync = self.film, self.sync  # type: ignore[method-assign]

    def film(self, shot: Shot, into: Path, reporter: StepReporter) -> Made:
        self.orders.append(shot.order)
        return self._job(shot.job, into, reporter, lambda: QuickProviders.film(self._quick, shot, into, reporter))

    def sync(
        self, clip: Path, audio: Path, into: Path, reporter: StepReporter, *, job: str | None = None, **more: Any
    ) -> Made:
        self.synced.append(job)
        self.orders.append(more["order"])
        return self._job(
            job, into, reporter, lambda: QuickProviders.sync(self._quick, clip, audio, into, reporter, **more)
        )

    def _job(self, job: str | None, into: Path, reporter: StepReporter, make: Any) -> Made:
        if job is None:
            job = f"job-{next(self._numbers)}"
            make()
            self._made[job] = into.read_bytes()
            reporter.remember(job)
        into.write_bytes(self._made[job])
        return Made(cost=0.25)


@pytest.fixture
def elsewhere(quick: QuickProviders) -> Elsewhere:
    return Elsewhere(quick)


def first_of(studio: FilmStudio, project: Project) -> Scene:
    return studio.store.get(Scene.at(project_id=project.project_id, sequence=1))


def shown(studio: FilmStudio, scene: Scene) -> Any:
    assert scene.shown_s3_key is not None
    return history_of(studio.objects.get(scene.shown_s3_key).read())


def test_a_scene_that_is_filmed_anew_is_sung_anew(studio: FilmStudio, elsewhere: Elsewhere, tmp_path: Path) -> None:
    """F-MV-8, F-MV-10: no job of the old clip is gone on with, and none is left when the take is over."""
    project = generated(studio, tmp_path)
    first = first_of(studio, project)
    assert (first.video_generation_job_id, first.lipsync_job_id) == (None, None)
    scenes.edit_scene(studio, project.project_id, 1, {"prompt": "Something else"}, by=ANN)
    scenes.regenerate(studio, project.project_id, 1, by=ANN)
    workers(studio).drain()
    first = first_of(studio, project)
    assert elsewhere.synced == [None, None]
    assert shown(studio, first)["clip"]["prompt"] == "Something else"
    assert (first.video_generation_job_id, first.lipsync_job_id) == (None, None)


def test_a_job_of_lips_that_failed_is_forgotten_with_its_clip(
    studio: FilmStudio, quick: QuickProviders, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    """F-MV-8: the lips of the new clip are moved, not those of the one before fetched."""

    def refused(*given: Any, **more: Any) -> Made:
        elsewhere.sync(*given, **more)
        raise Terminal("the file is too large")

    quick.sync = refused  # type: ignore[method-assign]
    project = generated(studio, tmp_path)
    failed = first_of(studio, project)
    assert (failed.status, failed.lipsync_job_id is not None) == (SceneStatus.FAILED, True)
    quick.sync = elsewhere.sync  # type: ignore[method-assign]
    scenes.edit_scene(studio, project.project_id, 1, {"prompt": "Something else"}, by=ANN)
    assert scenes.regenerate(studio, project.project_id, 1, by=ANN).lipsync_job_id is None
    workers(studio).drain()
    assert elsewhere.synced == [None, None]
    assert shown(studio, first_of(studio, project))["clip"]["prompt"] == "Something else"


def test_every_take_is_an_order_of_its_own(studio: FilmStudio, elsewhere: Elsewhere, tmp_path: Path) -> None:
    """F-MV-10: so that a service that is asked again for the same does not answer with what it has made before."""
    project = generated(studio, tmp_path)
    elsewhere.orders.clear()
    scenes.regenerate(studio, project.project_id, 1, by=ANN)
    workers(studio).drain()
    scenes.request_lip_sync(studio, project.project_id, 1, by=ANN)
    workers(studio).drain()
    assert elsewhere.orders == [f"{project.project_id}/1/{take}" for take in (2, 2, 3)]


def test_a_picture_that_comes_later_is_used_for_the_next_film(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """MV-17, MV-53: and the scene tells that it was filmed with it."""
    project = generated(studio, tmp_path)
    assert quick.filmed[0].references == []
    assert sent(studio, project, Sent.CHARACTER, PICTURE, content_type="image/png").status == "done"
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    workers(studio).drain()
    assert len(quick.filmed[-1].references) == 1
    assert scenes_of(studio, project.project_id)[1].reference_image_s3_keys == [
        CHARACTER_IMAGE.key(project_id=project.project_id)
    ]


def test_words_that_are_said_while_a_scene_is_written_are_not_lost(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """F-MV-4: the scene is written again from them."""
    project = generated(studio, tmp_path)
    scenes.add_scene(studio, project.project_id, "A dance on the roof", by=ANN)

    def add(brief: Brief, concept: str, earlier: list[str], reporter: StepReporter) -> SceneIdea:
        if concept == "A dance on the roof":
            mine = {"prompt": "My own words", "negative_prompt": "No rain"}
            scenes.edit_scene(studio, project.project_id, 4, mine, by=ANN)
        return SceneIdea(f"{concept}, at dawn", brief.seconds, negative_prompt="No cars")

    quick.writer.add = add  # type: ignore[method-assign, assignment]
    workers(studio).drain()
    later(studio, minutes=6)
    workers(studio).drain()
    fourth = scenes_of(studio, project.project_id)[3]
    assert (fourth.prompt, fourth.negative_prompt) == ("My own words, at dawn", "No rain")
    assert fourth.status is SceneStatus.COMPLETED


def test_no_words_change_while_the_video_is_cut(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-4: a finished video keeps its state when they do."""
    project = generated(studio, tmp_path)
    compose(studio, project.project_id, by=ANN)
    with pytest.raises(NotNow, match="is queued"):
        scenes.edit_scene(studio, project.project_id, 1, {"prompt": "Meanwhile"}, by=ANN)
    workers(studio).drain()
    before = studio.store.get(project.ref)
    assert scenes.edit_scene(studio, project.project_id, 1, {"prompt": "Afterwards"}, by=ANN).prompt == "Afterwards"
    assert studio.store.get(project.ref) == before


def test_a_part_that_could_not_be_cut_is_not_told_as_shown(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """MV-31: the part that is shown stays the one that is told, and the refused one can be tried again."""
    project = generated(studio, tmp_path)
    scenes.trim(studio, project.project_id, 2, start=0.0, stop=0.3, by=ANN)
    workers(studio).drain()
    before = scenes_of(studio, project.project_id)[1]

    def refuse(clip: Path, into: Path, *, start: float, stop: float) -> Cut:
        raise Terminal("no")

    quick.trim = refuse  # type: ignore[method-assign]
    scenes.trim(studio, project.project_id, 2, start=0.2, stop=0.5, by=ANN)
    workers(studio).drain()
    after = scenes_of(studio, project.project_id)[1]
    assert after.status is SceneStatus.FAILED
    assert (after.trim_points, after.shown_s3_key) == ({"in": 0.0, "out": 0.3}, before.shown_s3_key)
    assert_counted(studio, project.project_id)


def test_a_film_for_a_project_that_was_begun_again_meanwhile_comes_too_late(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """F-MV-8: a scene of the same number and take is another when it was written in another life of the project."""
    bound = studio.seen_through(studio.store.scoped("550e8400-e29b-41d4-a716-446655440000"))
    project = begun(bound, tmp_path)
    generate(bound, project.project_id, scenes=1, by=ANN)

    def begin_again(shot: Shot) -> None:
        quick.meanwhile = lambda shot: None
        delete_project(bound, project.project_id, by=ANN)
        later(studio, seconds=1)
        generate(bound, begun(bound, tmp_path, prompt="Another concept").project_id, scenes=1, by=ANN)
        workers(studio).run_one()
        with studio.store.change(by=ANN) as change:  # as whoever films it now
            change.save(change.get(Scene.at(project_id=project.project_id, sequence=1)).start())

    quick.meanwhile = begin_again
    hands = workers(studio)
    hands.run_one()
    hands.run_one()
    first = first_of(studio, project)
    assert (first.status, first.video_clip_s3_key) == (SceneStatus.PROCESSING, None)
    assert not any("scene_001" in key for key in files(studio))
    hands.drain()
    assert shown(studio, first_of(studio, project))["clip"]["prompt"] == "Another concept, part 1"
    assert_counted(studio, project.project_id)


# What was paid


def broken_thumbnail(clip: Path, into: Path) -> Cut:
    raise Terminal("no thumbnail")


def test_the_cost_of_a_take_that_fails_later_is_kept(studio: FilmStudio, quick: QuickProviders, tmp_path: Path) -> None:
    """MV-34: whoever filmed it charges for it, whatever becomes of it here."""
    project = generated(studio, tmp_path)
    quick.thumbnail = broken_thumbnail  # type: ignore[method-assign]
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    workers(studio).drain()
    second = scenes_of(studio, project.project_id)[1]
    assert (second.status, second.cost) == (SceneStatus.FAILED, 0.5)


def test_a_job_that_is_gone_on_with_is_paid_once(
    studio: FilmStudio, quick: QuickProviders, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    """F-MV-10: however many attempts bring it here."""
    left = [1]

    def shaky(clip: Path, into: Path) -> Cut:
        if left[0]:
            left[0] -= 1
            raise Unavailable("the disk is full")
        return QuickProviders.thumbnail(quick, clip, into)

    project = generated(studio, tmp_path)
    quick.thumbnail = shaky  # type: ignore[method-assign]
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    workers(studio).drain()
    later(studio, minutes=6)
    workers(studio).drain()
    second = scenes_of(studio, project.project_id)[1]
    assert (second.status, second.cost) == (SceneStatus.COMPLETED, 0.5)
