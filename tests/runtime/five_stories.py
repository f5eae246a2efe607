"""The stories of the five systems, each told on whatever store and object store a service has."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.domains.assetcreator import asset_studio
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.musicvideo import film_studio, projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.domains.novae.workflow import TASKS as NOVAE
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.domains.videos import video_removal, view_counting
from penstock.domains.videos.video_library import VideoLibrary
from penstock.media.speech.voices import installed_voices
from penstock.plugin import DomainPlugin
from penstock.runtime.discovery import discover
from penstock.runtime.settings import read_settings
from penstock.work.domain_context import DomainContext
from penstock.workers.manual import ManualWorkers
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.assetcreator.test_story import test_an_asset_is_drawn_rejected_drawn_again_and_delivered as an_asset
from tests.domains.musicvideo.quick_providers import QuickProviders
from tests.domains.musicvideo.story import generated
from tests.domains.musicvideo.story import workers as film_workers
from tests.domains.novae.whole_story import WholeStory, sky_of
from tests.domains.speech.story import cleaned, spoken
from tests.domains.videos.films import made
from tests.domains.videos.story import added, settle

FIVE: tuple[DomainPlugin, ...] = discover(read_settings((), {}))


def tell_speech(context: DomainContext) -> None:
    """A text is spoken, and its audio cleaned up."""
    studio = SpeechStudio(context.store, context.objects, installed_voices())
    spoken(studio, "12-08 13:02:19")
    cleaned(studio, "12-10 12:00:00")


def tell_videos(context: DomainContext, folder: Path) -> None:
    """A film is sent, looked at, and removed."""
    library = VideoLibrary(context.store, context.objects)
    video = added(library, made(folder / "film.mp4"), tags=["launch"], category="demo")
    view_counting.count_view(library, video.video_id, request_id="a")
    view_counting.correct_views(library, video.video_id, 7, by="ann", why="a test")
    video_removal.delete_video(library, video.video_id, by="ann")
    settle(library)


def tell_assets(context: DomainContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """An asset is drawn, rejected, drawn again and delivered."""
    quick = QuickMakers()
    monkeypatch.setattr(asset_studio, "asset_makers", lambda *given, **more: quick.makers())
    an_asset(AssetStudio(context.store, context.objects, quick.makers()), quick)


def tell_film(context: DomainContext, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A film is generated and composed."""
    quick = QuickProviders()
    monkeypatch.setattr(film_studio, "film_providers", lambda *given, **more: quick.providers())
    options = MusicVideoOptions(scenes=3, scene_seconds=0.5)
    studio = FilmStudio(context.store, context.objects, quick.providers(), options)
    project = generated(studio, folder)
    projects.compose(studio, project.project_id, by="ann")
    film_workers(studio).drain()


def tell_nova(context: DomainContext, folder: Path) -> None:
    """A name becomes spectra, a light curve and a bundle."""
    told = DomainContext(context.store, context.objects, sky_of(folder / "sky").get)
    workers = ManualWorkers(context.store, [NOVAE], context=told)
    WholeStory(told, lambda until: (workers.drain(), until())[1]).run()  # type: ignore[arg-type]
