"""How a video stands, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock import open_store
from penstock.domains.musicvideo import DOMAIN, scenes
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.objects import LocalObjects
from penstock.work.working import WORKING
from tests.cli.conftest import Penstock, folder, penstock
from tests.domains.musicvideo.quick_providers import QuickProviders
from tests.domains.musicvideo.story import ANN, generated

__all__ = ["folder", "penstock"]


@pytest.fixture
def here(folder: Path, quick: QuickProviders) -> Iterator[FilmStudio]:
    """A studio whose records and files lie where the terminal looks."""
    store = open_store(f"sqlite:///{folder}/mv.db")
    store.ensure(DOMAIN, WORKING)
    options = MusicVideoOptions(scenes=3, scene_seconds=0.5)
    yield FilmStudio(store, LocalObjects(folder / "files"), quick.providers(), options)
    store.close()


def test_stale_lips_and_how_far_each_scene_is_are_shown(here: FilmStudio, folder: Path, penstock: Penstock) -> None:
    """MV-33: for people and for programs."""
    project = generated(here, folder)
    scenes.reorder(here, project.project_id, [2, 1, 3], by=ANN)
    scenes.regenerate(here, project.project_id, 3, by=ANN)
    where = ("--store", f"sqlite:///{folder}/mv.db", "--objects", f"files:///{folder}/files")
    told = penstock("musicvideo", "status", str(project.project_id), *where, "--json").json
    assert told["stale_lips"] == [1]
    assert [(s["sequence"], s["progress"], s["lips"]) for s in told["scenes"]] == [
        (2, 100, "none"),
        (1, 100, "stale"),
        (3, 0, "none"),
    ]
    shown = penstock("musicvideo", "status", str(project.project_id), *where).out
    assert "stale" in shown
    assert "waiting for filming" in " ".join(shown.split())
    assert "Lips of 1 are out of step; POST" in shown


def test_a_video_that_is_not_there_is_told(here: FilmStudio, folder: Path, penstock: Penstock) -> None:
    where = ("--store", f"sqlite:///{folder}/mv.db", "--objects", f"files:///{folder}/files")
    nobody = penstock("musicvideo", "status", "550e8400-e29b-41d4-a716-446655440000", *where)
    assert (nobody.code, nobody.out) == (2, "")
    assert "550e8400" in nobody.err
