"""Lips that no longer fit what is heard with them: told, moved again, and cut only if somebody wants that."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from penstock import the
from penstock.domains.musicvideo import projects, scenes, uploading
from penstock.domains.musicvideo.errors import LipsOutOfStep
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.lip_standing import LipsStatus, stale_lips
from penstock.domains.musicvideo.model import Project, ProjectStatus, Scene
from penstock.domains.musicvideo.projects import project_of
from tests.domains.musicvideo.quick_providers import QuickProviders, film, history_of
from tests.domains.musicvideo.story import ANN, assert_counted, generated, workers
from tests.domains.musicvideo.story import scenes as scenes_of

Edit = Callable[[FilmStudio, Project], object]


@pytest.fixture
def all_sing(studio: FilmStudio, tmp_path: Path) -> Project:
    """A project of three scenes of half a second, in all of which somebody sings."""
    project = generated(studio, tmp_path)
    for sequence in (2, 3):
        scenes.request_lip_sync(studio, project.project_id, sequence, by=ANN)
    workers(studio).drain()
    return project


def stale(studio: FilmStudio, project: Project) -> list[int]:
    return list(stale_lips(project_of(studio, project.project_id).places))


def send_track(studio: FilmStudio, project: Project, seconds: float) -> None:
    content = film(seconds, audio=True)
    sent = uploading.reserve(
        studio, project.project_id, uploading.Sent.AUDIO, size=len(content), content_type="audio/mpeg"
    )
    studio.objects.put(sent.upload.staging, content)
    digest = sha256(content).hexdigest()
    uploading.finalize(studio, project.project_id, sent.upload.upload_id, sha256=digest, by=ANN)


def upload_longer(studio: FilmStudio, project: Project, folder: Path) -> None:
    theirs = folder / "theirs.mp4"
    theirs.write_bytes(film(1.0))
    scenes.upload_video(studio, project.project_id, 1, theirs, by=ANN)


def test_a_scene_knows_what_its_lips_were_made_for(studio: FilmStudio, all_sing: Project) -> None:
    """MV-33, MV-55: which part of which track, and which clip."""
    second = scenes_of(studio, all_sing.project_id)[1]
    assert all_sing.audio_sha256 is not None
    assert second.lips_track_sha256 == all_sing.audio_sha256
    assert second.lips_offset == pytest.approx(0.5)
    assert second.lips_duration == pytest.approx(0.5)
    assert second.lips_clip_sha256 == second.clip_sha256 is not None
    assert [place.lips.status for place in project_of(studio, all_sing.project_id).places] == [LipsStatus.IN_STEP] * 3


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        pytest.param(lambda s, p: scenes.reorder(s, p.project_id, [1, 3, 2], by=ANN), [3, 2], id="reorder"),
        pytest.param(lambda s, p: scenes.delete_scene(s, p.project_id, 1, by=ANN), [2, 3], id="delete"),
        pytest.param(lambda s, p: send_track(s, p, 1.7), [1, 2, 3], id="new track"),
        pytest.param(lambda s, p: scenes.add_scene(s, p.project_id, "A dance on the roof", by=ANN), [], id="add"),
        pytest.param(lambda s, p: scenes.regenerate(s, p.project_id, 2, by=ANN), [], id="regenerate"),
    ],
)
def test_what_an_edit_puts_out_of_step_is_told(
    studio: FilmStudio, all_sing: Project, edit: Edit, told: list[int]
) -> None:
    """MV-33: and nothing else is."""
    edit(studio, all_sing)
    workers(studio).drain()
    assert stale(studio, all_sing) == told


def test_a_track_that_is_sent_again_puts_nothing_out_of_step(studio: FilmStudio, all_sing: Project) -> None:
    """MV-53: it is the same, by its checksum."""
    send_track(studio, all_sing, 1.5)
    assert stale(studio, all_sing) == []


def test_a_longer_clip_puts_those_behind_it_out_of_step(studio: FilmStudio, all_sing: Project, tmp_path: Path) -> None:
    """MV-31, MV-33: and the scene itself has lips no more, which is told too."""
    upload_longer(studio, all_sing, tmp_path)
    workers(studio).drain()
    places = project_of(studio, all_sing.project_id).places
    assert [place.lips.status for place in places] == [LipsStatus.MISSING, LipsStatus.STALE, LipsStatus.STALE]
    assert [place.start for place in places] == pytest.approx([0.0, 1.0, 1.5])
    assert "heard from 1.00 s of the track on, and its lips were made for 0.50 s" in (places[1].lips.why or "")


def test_lips_that_follow_a_part_show_that_part(studio: FilmStudio, quick: QuickProviders, all_sing: Project) -> None:
    """MV-31, MV-33: trimmed and in step; the part is cut from the clip with the new lips."""
    scenes.trim(studio, all_sing.project_id, 2, start=0.2, stop=0.4, by=ANN)
    workers(studio).drain()
    assert 2 in stale(studio, all_sing)
    before = scenes_of(studio, all_sing.project_id)[1]
    scenes.request_lip_sync(studio, all_sing.project_id, 2, lyrics="Hello moon", by=ANN)
    workers(studio).drain()
    after = scenes_of(studio, all_sing.project_id)[1]
    assert after.trim_points == before.trim_points == {"in": 0.2, "out": 0.4}
    assert after.lips_offset == pytest.approx(0.3)
    assert quick.heard[-1][0] == pytest.approx(0.3), "what is sung to begins before the part that is shown"
    assert after.shown_s3_key == after.working_video_clip_s3_key is not None
    shown = history_of(studio.objects.get(after.shown_s3_key or "").read())
    assert (shown["part"], shown["clip"]["sings"]) == ([0.2, 0.4], "Hello moon")
    assert 2 not in stale(studio, all_sing)
    assert_counted(studio, all_sing.project_id)


def test_all_that_is_stale_is_moved_again_and_nothing_else(studio: FilmStudio, all_sing: Project) -> None:
    """MV-33, MV-72: each scene is processed again, and the cut is made."""
    scenes.reorder(studio, all_sing.project_id, [1, 3, 2], by=ANN)
    assert scenes.sync_stale(studio, all_sing.project_id, by=ANN) == [3, 2]
    assert_counted(studio, all_sing.project_id)
    workers(studio).drain()
    assert stale(studio, all_sing) == []
    assert [scene.take for scene in scenes_of(studio, all_sing.project_id)] == [1, 3, 3]
    projects.compose(studio, all_sing.project_id, by=ANN)
    workers(studio).drain()
    assert studio.store.get(all_sing.ref).status is ProjectStatus.COMPLETED
    assert scenes.sync_stale(studio, all_sing.project_id, by=ANN) == []
    assert studio.store.get(all_sing.ref).status is ProjectStatus.COMPLETED


def test_a_cut_with_stale_lips_is_refused_unless_it_is_asked_for(studio: FilmStudio, all_sing: Project) -> None:
    """MV-69: the refusal says which scenes, why, and what to do."""
    scenes.reorder(studio, all_sing.project_id, [1, 3, 2], by=ANN)
    with pytest.raises(LipsOutOfStep) as refused:
        projects.compose(studio, all_sing.project_id, by=ANN)
    assert "Stale: 3, 2 (scene 3: the scene is heard from 0.50 s" in str(refused.value)
    assert "/lipsync" in str(refused.value)
    assert studio.store.get(all_sing.ref).compositions is None
    projects.compose(studio, all_sing.project_id, stale_lips=True, by=ANN)
    workers(studio).drain()
    assert studio.store.get(all_sing.ref).status is ProjectStatus.COMPLETED


def test_what_goes_out_of_step_between_the_request_and_the_cut_is_not_cut(
    studio: FilmStudio, all_sing: Project
) -> None:
    """F-MV-4: the cut looks again, when nothing changes any more."""
    projects.compose(studio, all_sing.project_id, by=ANN)
    # As whoever has read the project before, and writes just now.
    studio.store.patch(all_sing.ref, the(Project.scene_order).set([3, 1, 2]))
    workers(studio).drain()
    failed = studio.store.get(all_sing.ref)
    assert (failed.status, failed.final_output_s3_key) == (ProjectStatus.FAILED, None)
    assert "lips are out of step" in (failed.error_message or "")


def test_lips_of_which_nothing_is_known_are_not_taken_for_right(studio: FilmStudio, all_sing: Project) -> None:
    """MV-33: such as another writer's."""
    studio.store.patch(Scene.at(project_id=all_sing.project_id, sequence=2), the(Scene.lips_offset).remove())
    assert stale(studio, all_sing) == [2]
