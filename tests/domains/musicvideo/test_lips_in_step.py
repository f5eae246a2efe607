"""Mouth and voice, after any edit of a video: together, or told as stale. Measured from the files that were rendered.

The mouth is read from the pictures of each clip as it is shown; the voice from the part of the track that is heard with
it in the cut. Filming, lips and cutting are the embedded ones; only what happens in a scene is not left to the writer,
so that a face is near enough to be measured.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import pytest

from penstock import FrozenClock, open_store
from penstock.domains.musicvideo import DOMAIN, film_studio, projects, scenes, uploading
from penstock.domains.musicvideo.errors import LipsOutOfStep
from penstock.domains.musicvideo.film_studio import FilmProviders, FilmStudio, film_providers
from penstock.domains.musicvideo.lip_standing import LipsStatus, PlacedScene, first_shown
from penstock.domains.musicvideo.model import Project, ProjectStatus, SceneStatus
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.domains.musicvideo.projects import NewProject, project_of
from penstock.domains.musicvideo.tasks import TASKS
from penstock.files.object_reads import fetch
from penstock.generation.steps import Brief, SceneIdea, StepReporter
from penstock.objects import LocalObjects
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from penstock.workers.manual import ManualWorkers
from tests.domains.musicvideo.conftest import BEGUN
from tests.domains.musicvideo.mouth_and_voice import correlation, loudness, openness, sung
from tests.domains.musicvideo.story import ANN
from tests.homes import Homes

FPS, SECONDS = 12, 2.0
OPTIONS = MusicVideoOptions(size=(160, 90), fps=FPS, scene_seconds=SECONDS, scenes=3)
TOGETHER = 0.8
"The least correlation of a mouth and a voice that go together."


class CloseUps:
    """A writer of scenes in which somebody sings near the camera."""

    def write(self, brief: Brief, reporter: StepReporter) -> Sequence[SceneIdea]:
        return [self._scene(brief, n) for n in range(brief.scenes)]

    def add(self, brief: Brief, concept: str, earlier: Sequence[str], reporter: StepReporter) -> SceneIdea:
        return self._scene(brief, len(earlier))

    def _scene(self, brief: Brief, number: int) -> SceneIdea:
        place = ("in the hills", "in the city", "at the sea", "in the desert")[number % 4]
        return SceneIdea(f"close-up {place} at noon, static", brief.seconds, needs_lip_sync=True)


class Edited:
    """A video that is edited, and looked at after each edit."""

    def __init__(self, studio: FilmStudio, folder: Path, *, seed: int) -> None:
        self.studio, self.folder, self._chance = studio, folder, random.Random(seed)
        settings = {"MV_SCENE_SECONDS": str(SECONDS), "MV_FPS": str(FPS), "MV_SIZE": "160x90"}
        context = DomainContext(studio.store, studio.objects, settings.get)
        self._hands = ManualWorkers(studio.store, [TASKS], context=context)
        self._tracks = 0
        self.track = self._new_track()
        wanted = NewProject("music-video", "A robot sings", "a robot", audio=self.track)
        self.project_id: UUID = projects.create_project(studio, wanted, by=ANN).project_id
        projects.generate(studio, self.project_id, scenes=3, seconds=SECONDS, by=ANN)
        self._hands.drain()

    # Edits

    def reorder(self) -> None:
        order = self._numbers()
        self._chance.shuffle(order)
        scenes.reorder(self.studio, self.project_id, order, by=ANN)

    def trim(self) -> None:
        start = self._chance.choice([0.0, 0.25, 0.5])
        stop = SECONDS - self._chance.choice([0.0, 0.25, 0.5])
        self._worked(scenes.trim(self.studio, self.project_id, self._one(), start=start, stop=stop, by=ANN))

    def regenerate(self) -> None:
        self._worked(scenes.regenerate(self.studio, self.project_id, self._one(), by=ANN))

    def add(self) -> None:
        self._worked(scenes.add_scene(self.studio, self.project_id, "Somebody sings", by=ANN))

    def delete(self) -> None:
        if len(self._numbers()) > 2:
            scenes.delete_scene(self.studio, self.project_id, self._one(), by=ANN)

    def new_track(self) -> None:
        self.track = self._new_track()
        content = self.track.read_bytes()
        sent = uploading.reserve(
            self.studio, self.project_id, uploading.Sent.AUDIO, size=len(content), content_type="audio/wav"
        )
        self.studio.objects.put(sent.upload.staging, content)
        digest = sha256(content).hexdigest()
        uploading.finalize(self.studio, self.project_id, sent.upload.upload_id, sha256=digest, by=ANN)
        self._hands.drain()  # it is looked at first

    def sync_one(self) -> None:
        """One scene is sung in again, trimmed or not, while others may be stale."""
        self._worked(scenes.request_lip_sync(self.studio, self.project_id, self._one(), by=ANN))

    def sync_stale(self) -> None:
        scenes.sync_stale(self.studio, self.project_id, by=ANN)
        self._hands.drain()

    # Looks

    def places(self) -> list[PlacedScene]:
        return project_of(self.studio, self.project_id).places

    def measured(self, place: PlacedScene) -> float:
        """How well mouth and voice of a scene go together in the cut."""
        scene = place.scene
        assert scene.video_clip_s3_key is not None
        assert scene.shown_s3_key is not None
        filmed, shown = (
            fetch(self.studio.objects, key, self._folder(name))
            for name, key in (("filmed", scene.video_clip_s3_key), ("shown", scene.shown_s3_key))
        )
        opened = openness(filmed, shown, first=round(first_shown(scene) * FPS))
        return correlation(opened, loudness(self.track, start=place.start, frames=len(opened), fps=FPS))

    def check(self, edit: str) -> dict[int, float]:
        """All that is not told as stale goes together; and nothing is cut while something is stale."""
        places = self.places()
        assert [p.scene.status for p in places] == [SceneStatus.COMPLETED] * len(places), edit
        fits = {place.scene.sequence: self.measured(place) for place in places}
        stale = [p.scene.sequence for p in places if p.lips.status is LipsStatus.STALE]
        for place in places:
            told = f"after {edit}, scene {place.scene.sequence} is {place.lips}: {fits[place.scene.sequence]:.2f}"
            assert place.lips.status in (LipsStatus.IN_STEP, LipsStatus.STALE), told
            assert place.lips.status is LipsStatus.STALE or fits[place.scene.sequence] >= TOGETHER, told
        if stale:
            with pytest.raises(LipsOutOfStep, match=f"Stale: {', '.join(map(str, stale))} "):
                projects.compose(self.studio, self.project_id, by=ANN)
        return fits

    def cut(self) -> Project:
        projects.compose(self.studio, self.project_id, by=ANN)
        self._hands.drain()
        return self.studio.store.get(Project.at(project_id=self.project_id))

    def _worked(self, begun: object) -> None:
        self._hands.drain()

    def _numbers(self) -> list[int]:
        return [place.scene.sequence for place in self.places()]

    def _one(self) -> int:
        return self._chance.choice(self._numbers())

    def _folder(self, name: str) -> Path:
        (self.folder / name).mkdir(exist_ok=True)
        return self.folder / name

    def _new_track(self) -> Path:
        self._tracks += 1
        return sung(self.folder / f"track{self._tracks}.wav", seconds=7.3, seed=self._tracks)


EDITS: tuple[Callable[[Edited], None], ...] = (
    *(Edited.reorder, Edited.trim, Edited.regenerate, Edited.add, Edited.delete, Edited.new_track, Edited.sync_one),
)


@pytest.fixture
def studio(
    homes: Homes, tmp_path: Path, local: LocalObjects, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FilmStudio]:
    """The embedded providers, and close-ups."""

    def near(*given: object, **more: object) -> FilmProviders:
        return replace(film_providers(lambda name: None, OPTIONS), writer=CloseUps())

    monkeypatch.setattr(film_studio, "film_providers", near)
    clock.set(BEGUN)
    (tmp_path / "mv.db").write_bytes(homes.file((DOMAIN, WORKING)))
    store = open_store(f"sqlite:///{tmp_path}/mv.db", clock=clock)
    yield FilmStudio(store, local, near(), OPTIONS)
    store.close()


def edited_at_random(video: Edited, *, seed: int, edits: Sequence[Callable[[Edited], None]], every: int) -> None:
    """Each edit is looked at; every so often the stale lips are moved again, and then nothing is stale."""
    assert min(video.check("generating").values()) >= TOGETHER
    for number, edit in enumerate(edits, 1):
        edit(video)
        video.check(f"{edit.__name__} ({number}, seed {seed})")
        if number % every == 0:
            video.sync_stale()
            assert min(video.check(f"sync_stale ({number}, seed {seed})").values()) >= TOGETHER
    video.sync_stale()
    assert min(video.check(f"sync_stale at the end (seed {seed})").values()) >= TOGETHER
    assert video.cut().status is ProjectStatus.COMPLETED


def test_after_every_edit_mouth_and_voice_go_together_or_are_told_as_stale(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-33: each kind of edit once, in an order that a seed has chosen."""
    edits = random.Random(7).sample(EDITS, len(EDITS))
    edited_at_random(Edited(studio, tmp_path, seed=7), seed=7, edits=edits, every=100)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_after_many_edits_mouth_and_voice_go_together_or_are_told_as_stale(
    studio: FilmStudio, tmp_path: Path, seed: int
) -> None:
    """MV-33: thirty edits in any order."""
    edits = random.Random(seed).choices(EDITS, k=30)
    edited_at_random(Edited(studio, tmp_path, seed=seed), seed=seed, edits=edits, every=5)
