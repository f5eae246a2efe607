"""The story with the embedded providers, on each deployment: from a sentence to a film that can be watched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import FrozenClock, Store
from penstock.domains.musicvideo import DOMAIN, demo, projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, ProjectStatus, SceneStatus
from penstock.domains.musicvideo.tasks import TASKS
from penstock.files.object_reads import fetch
from penstock.media.probe import probe
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from penstock.workers.manual import ManualWorkers
from tests.conftest import furnished
from tests.domains.musicvideo.conftest import BEGUN, ENGINES
from tests.domains.musicvideo.story import ANN, assert_counted, scenes

FPS = 12
SETTINGS = {"MV_SIZE": "160x90", "MV_FPS": str(FPS), "MV_SCENE_SECONDS": "1.0", "MV_SCENES": "3"}


@pytest.fixture(params=ENGINES)
def context(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> Iterator[DomainContext]:
    clock.set(BEGUN)
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    yield DomainContext(store, request.getfixturevalue("local" if request.param == "sqlite" else "s3"), SETTINGS.get)
    store.close()
    cleanup()


def test_a_sentence_becomes_a_film(context: DomainContext, tmp_path: Path) -> None:
    """MV-28, MV-54, MV-63, MV-69: written, filmed, sung, cut; as long as its scenes, and its pictures move."""
    studio = FilmStudio.within(context)
    hands = ManualWorkers(context.store, [TASKS], context=context)
    concept = "Robot exploring Austin, Texas"
    project = demo.begin(studio, concept, character="Silver metallic humanoid robot", scenes=3, audio=None)
    hands.drain()
    there = scenes(studio, project.project_id)
    assert [s.status for s in there] == [SceneStatus.COMPLETED] * 3, [s.error_message for s in there]
    assert any(s.lip_synced_video_clip_s3_key for s in there)
    assert len({s.prompt for s in there}) == 3
    assert_counted(studio, project.project_id)

    projects.compose(studio, project.project_id, by=ANN)
    hands.drain()
    project = context.store.get(Project.at(project_id=project.project_id))
    assert project.status is ProjectStatus.COMPLETED, project.error_message
    assert project.final_output_s3_key is not None
    film = fetch(studio.objects, project.final_output_s3_key, tmp_path)
    seen = probe(film)
    together = sum(s.shown_duration or 0 for s in there)
    assert together == pytest.approx(3.0, abs=3 / FPS)
    assert seen.duration == pytest.approx(together, abs=len(there) / FPS)
    assert project.final_duration == pytest.approx(seen.duration)
    assert seen.picture is not None
    assert seen.sound is not None
    assert (seen.picture.width, seen.picture.height) == (160, 90)
    assert seen.sound.duration == pytest.approx(together, abs=len(there) / FPS)
    assert _moves(film)
    assert studio.objects.head(project.final_output_s3_key).content_type == "video/mp4"


def test_the_same_concept_becomes_the_same_film(tmp_path: Path, local: Any, clock: FrozenClock) -> None:
    """F-MV-8: a scene is filmed from its words, its number and its take, whoever films it and when."""
    from penstock import open_store

    digests = []
    for name in ("one", "two"):
        store = open_store(f"sqlite:///{tmp_path}/{name}.db", clock=clock)
        store.ensure(DOMAIN, WORKING)
        context = DomainContext(store, local, {**SETTINGS, "MV_SCENE_SECONDS": "0.5"}.get)
        studio = FilmStudio.within(context)
        project = demo.begin(studio, "A cat on the moon", character="A cat", scenes=1, audio=None)
        ManualWorkers(store, [TASKS], context=context).drain()
        digests.append([s.shown_sha256 for s in scenes(studio, project.project_id)])
        store.close()
    assert digests[0] == digests[1]
    assert json.dumps(digests[0]) != "[null]"


def test_what_a_sentence_names_and_nobody_can_draw_is_told(tmp_path: Path, local: Any, clock: FrozenClock) -> None:
    """Of the words that somebody wrote, and of none that the writer has added."""
    from penstock import open_store

    store = open_store(f"sqlite:///{tmp_path}/mv.db", clock=clock)
    store.ensure(DOMAIN, WORKING)
    context = DomainContext(store, local, {**SETTINGS, "MV_SCENE_SECONDS": "0.5"}.get)
    studio = FilmStudio.within(context)
    concept = "A cat astronaut plays the bagpipes on the moon"
    project = demo.begin(studio, concept, character="A grey cat in a spacesuit", scenes=2, audio=None)
    ManualWorkers(store, [TASKS], context=context).drain()
    assert [s.not_drawn for s in scenes(studio, project.project_id)] == [["bagpipes"], ["bagpipes"]]
    store.close()


def _moves(film: Path) -> bool:
    """Is every picture of a film another one than a while before?"""
    import av

    with av.open(str(film)) as container:
        frames = [frame.to_ndarray(format="gray").astype(float) for frame in container.decode(video=0)]
    apart = [float(np.abs(one - other).mean()) for one, other in zip(frames, frames[FPS // 2 :], strict=False)]
    return min(apart) > 0.3
