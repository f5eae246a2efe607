"""Who makes a film, and what is usual for it: chosen by settings, once for a running system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, open_store
from penstock.domains.musicvideo.film_studio import FilmStudio, film_providers
from penstock.domains.musicvideo.options import MusicVideoOptions, flavors
from penstock.generation.chat_writer import ChatWriter
from penstock.generation.remote_film import PredictedFilm, PredictedLipSync
from penstock.objects import LocalObjects
from penstock.studio.artist import PortraitArtist
from penstock.studio.filmer import ProceduralFilmer
from penstock.studio.lip_sync import MouthLipSync
from penstock.studio.writer import ConceptWriter
from penstock.work.domain_context import DomainContext

EMBEDDED = {"writer": ConceptWriter, "generator": ProceduralFilmer, "lip_sync": MouthLipSync, "artist": PortraitArtist}


def test_the_flavors_have_the_limits_of_the_documents() -> None:
    named = {each.name: each for each in flavors()}
    song, ad = named["music-video"], named["ad-creative"]
    assert (song.most_scenes, song.seconds, song.lip_sync) == (8, 8.0, True)
    assert (ad.most_scenes, ad.seconds, ad.lip_sync) == (4, 8.0, False)
    for each in flavors():
        assert 1 <= each.scenes <= each.most_scenes


def test_without_a_setting_everybody_is_embedded() -> None:
    made = film_providers(lambda name: None, MusicVideoOptions(size=(160, 90), fps=12))
    assert {name: type(getattr(made, name)) for name in EMBEDDED} == EMBEDDED
    assert isinstance(made.generator, ProceduralFilmer)
    assert (made.generator.width, made.generator.height, made.generator.fps) == (160, 90, 12)


@pytest.mark.parametrize(
    ("prefix", "name", "adapter"),
    [
        ("MV_WRITER", "writer", ChatWriter),
        ("MV_GENERATOR", "generator", PredictedFilm),
        ("MV_LIPSYNC", "lip_sync", PredictedLipSync),
    ],
)
def test_whoever_is_configured_works_elsewhere_and_nobody_else(prefix: str, name: str, adapter: type) -> None:
    chosen = {f"{prefix}_URL": "https://host/v1", f"{prefix}_TOKEN": "secret", f"{prefix}_MODEL": "acme/model"}
    made = film_providers(chosen.get, MusicVideoOptions())
    assert {each: type(getattr(made, each)) for each in EMBEDDED} == {**EMBEDDED, name: adapter}


def test_settings_are_read_and_providers_built_once_for_a_running_system(tmp_path: Path, clock: FrozenClock) -> None:
    """Else a provider that fails would be met by every attempt as if it were new."""
    read: list[str] = []

    def setting(name: str) -> Any:
        read.append(name)

    store = open_store(f"sqlite:///{tmp_path}/mv.db", clock=clock)
    context = DomainContext(store, LocalObjects(tmp_path / "files"), setting)
    studio = FilmStudio.within(context)
    assert len(read) == len(set(read))
    assert FilmStudio.within(context) is studio
    assert len(read) == len(set(read))
    assert FilmStudio.within(DomainContext(store, context.objects, setting)) is not studio
    store.close()


def test_without_the_extra_the_line_to_install_it_is_told(tmp_path: Path) -> None:
    """The providers can be had, and what needs no pictures works; whoever is asked for some says what is missing."""
    told = subprocess.run([sys.executable, "-c", _WITHOUT], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == [
        "2 scenes",
        *["numpy is not installed; run: pip install 'penstock[media]'"] * 3,
    ], told.stderr


_WITHOUT = """
from importlib.machinery import PathFinder
from importlib.machinery import PathFinder
from pathlib import Path

found = PathFinder.find_spec
missing = {"numpy", "PIL", "av", "imageio_ffmpeg"}
PathFinder.find_spec = lambda name, *rest: None if name in missing else found(name, *rest)

from penstock.domains.musicvideo.film_studio import film_providers
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.generation.steps import Brief, Shot
from penstock.errors import Misconfigured

class Reporter:
    def progress(self, fraction, note=None): pass
    def remember(self, job): pass

made, here = film_providers(lambda name: None, MusicVideoOptions()), Path("file")
print(len(made.writer.write(Brief("music-video", "a", "b", 2, 8.0), Reporter())), "scenes")
for ask in (
    lambda: made.generator.film(Shot("a", 1.0, 1), here, Reporter()),
    lambda: made.lip_sync.sync(here, here, here, Reporter()),
    lambda: made.artist.draw("a", here, seed=1),
):
    try:
        ask()
    except Misconfigured as error:
        print(error)
"""
