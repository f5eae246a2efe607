"""A video fits its track: as many scenes as it has room for, as long together as it is, and cut on its beats."""

from __future__ import annotations

import random
from itertools import accumulate
from pathlib import Path

import pytest

from penstock.domains.musicvideo import projects, scenes
from penstock.domains.musicvideo.errors import IncompleteOrder
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, Scene
from penstock.domains.musicvideo.scene_lengths import HeardTrack, Measure, lengths
from penstock.studio.musician import play
from tests.domains.musicvideo.quick_providers import PICTURE, QuickProviders, film
from tests.domains.musicvideo.story import ANN, begun, workers
from tests.domains.musicvideo.story import scenes as scenes_of

FPS = 24
USUAL = Measure(usual=8.0, most=8, fps=FPS)
FRAME = 1 / FPS


@pytest.mark.parametrize(
    ("seconds", "count"), [(3.0, 1), (8.0, 1), (13.0, 2), (32.0, 4), (60.0, 8), (180.0, 8), (480.0, 8)]
)
def test_a_longer_track_has_more_scenes_and_then_longer_ones(seconds: float, count: int) -> None:
    found = lengths(HeardTrack(seconds), USUAL)
    assert len(found) == count
    assert sum(found) == pytest.approx(seconds, abs=FRAME)
    assert max(found) - min(found) <= 1.01 * FRAME


def test_no_scene_is_longer_than_it_may_be() -> None:
    """The rest of a very long track is not part of the video."""
    assert lengths(HeardTrack(180.0), Measure(usual=8.0, most=8, fps=FPS, longest=10.0)) == [10.0] * 8


def test_scenes_are_cut_on_beats() -> None:
    beats = [0.2 + 0.55 * n for n in range(70)]
    found = lengths(HeardTrack(38.5, beats), USUAL)
    borders = list(accumulate(found))[:-1]
    assert len(found) == 5
    for border in borders:
        assert min(abs(beat - border) for beat in beats) <= FRAME / 2 + 1e-9
    assert sum(found) == pytest.approx(38.5, abs=FRAME)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"seconds": 4.0}, [4.0, 4.0, 2.5]),
        ({"seconds": 20.0}, [10.5]),
        ({"seconds": 1.25}, [1.25] * 7 + [1.75]),
        ({"seconds": 1.0}, [1.0] * 8),
        ({"seconds": 3.0, "scenes": 2}, [3.0, 3.0]),
        ({"scenes": 3}, [3.5, 3.5, 3.5]),
    ],
)
def test_what_is_said_holds(said: dict[str, float], expected: list[float]) -> None:
    measure = Measure(usual=8.0, most=8, fps=FPS, **said)  # type: ignore[arg-type]
    assert lengths(HeardTrack(10.5), measure) == pytest.approx(expected, abs=FRAME)


def test_whatever_the_track_every_scene_is_seen_and_all_fit() -> None:
    chance = random.Random(1)
    for _ in range(500):
        total, count = chance.uniform(0.05, 400), chance.randint(1, 8)
        beats = sorted(chance.uniform(0, 400) for _ in range(chance.randint(0, 50)))
        found = lengths(HeardTrack(total, beats), Measure(usual=8.0, most=8, fps=FPS, scenes=count))
        assert len(found) == count
        assert min(found) >= FRAME - 1e-9
        assert sum(found) <= max(total, count * FRAME) + 1e-6
        assert sum(found) >= min(total, count * 60) - FRAME


def test_the_scenes_of_a_project_fit_its_track_and_are_cut_on_its_beats(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-28: nobody has said how long each is."""
    track = tmp_path / "track.wav"
    play(track, seconds=9.0, seed=1)
    project = begun(studio, tmp_path, audio=track)
    projects.generate(studio, project.project_id, scenes=4, by=ANN)
    workers(studio).run_one()
    there = scenes_of(studio, project.project_id)
    beat = 60 / 104  # of this seed
    borders = list(accumulate(scene.duration for scene in there))
    assert borders[-1] == pytest.approx(9.0, abs=1 / FPS)
    assert len(there) == 4
    for border in borders[:-1]:
        assert abs(border - beat * round(border / beat)) <= 0.06


def test_of_scenes_that_nobody_has_counted_there_are_as_many_as_fit(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-18: a sound without beats is shared evenly."""
    (tmp_path / "long.mp3").write_bytes(film(3.0, audio=True))
    project = begun(studio, tmp_path, audio=tmp_path / "long.mp3")
    projects.generate(studio, project.project_id, by=ANN)
    workers(studio).run_one()
    there = scenes_of(studio, project.project_id)
    assert len(there) == 6
    assert sum(scene.duration for scene in there) == pytest.approx(3.0, abs=0.1)


def test_seconds_can_be_said(studio: FilmStudio, quick: QuickProviders, tmp_path: Path) -> None:
    """MV-28: of all scenes, and of one that is added; what cannot be made is refused before anything changes."""
    project = begun(studio, tmp_path)
    with pytest.raises(IncompleteOrder, match="a scene of 61 s cannot be made"):
        projects.generate(studio, project.project_id, seconds=61, by=ANN)
    projects.generate(studio, project.project_id, scenes=2, seconds=1.25, by=ANN)
    workers(studio).drain()
    assert [scene.duration for scene in scenes_of(studio, project.project_id)] == [1.25, 1.25]
    scenes.add_scene(studio, project.project_id, "A dance on the roof", seconds=2.5, by=ANN)
    workers(studio).drain()
    assert [shot.seconds for shot in quick.filmed] == [1.25, 1.25, 2.5]


def test_without_a_track_a_video_is_as_configured(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-28: as an ad is."""
    picture = tmp_path / "product.png"
    picture.write_bytes(PICTURE)
    project = begun(studio, tmp_path, mode="ad-creative", audio=None, images=[picture])
    projects.generate(studio, project.project_id, by=ANN)
    workers(studio).run_one()
    there = list(studio.store.find(Scene.of_project(project_id=project.project_id)))
    assert [scene.duration for scene in there] == [0.5] * 3
    assert studio.store.get(Project.at(project_id=project.project_id)).audio_duration is None
