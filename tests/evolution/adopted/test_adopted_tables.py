"""Tables that PynamoDB, boto3 and SQL by hand wrote: what `penstock adopt` tells of them, and systems on them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.domains.musicvideo import DOMAIN as MUSIC_VIDEO
from penstock.domains.musicvideo import film_studio as studio_module
from penstock.domains.musicvideo import projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, ProjectStatus, SceneStatus
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.domains.musicvideo.scenes import regenerate
from penstock.domains.speech import DOMAIN as SPEECH
from penstock.domains.speech.actions import synthesise
from penstock.domains.speech.cleanup import cleanup_yesterday_temp_audio, query_temp_audio_by_date
from penstock.domains.speech.model import TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.evolution.adoption import AdoptedEntity, adoption
from penstock.media.speech.voices import installed_voices
from penstock.objects import LocalObjects, RouteSigner
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests.domains.musicvideo.conftest import BEGUN
from tests.domains.musicvideo.quick_providers import PICTURE, QuickProviders
from tests.domains.musicvideo.story import ANN, assert_counted, files, scenes, workers
from tests.evolution.adopted import documents as docs
from tests.evolution.adopted.others import Others, others_beside


@pytest.fixture
def open_store(open_engine: Callable[[], Engine], clock: FrozenClock) -> Callable[[], Store]:
    return lambda: Store(open_engine(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)


@pytest.fixture
def others(
    engine_name: str, open_engine: Callable[[], Engine], request: pytest.FixtureRequest, tmp_path: Path
) -> Others:
    """Both systems' tables, made and written by others; nothing of Penstock's is there."""
    server = None if engine_name == "sqlite" else request.getfixturevalue(engine_name.replace("-", "_") + "_server")
    there = others_beside(engine_name, open_engine(), str(tmp_path / "store.db") if server is None else server.url)
    there.make()
    there.save(docs.GOOD)
    there.write("tts_temp_audio", docs.AUDIOS)
    return there


def _told(store: Store) -> dict[str, AdoptedEntity]:
    return {each.label: each for each in adoption(store, [MUSIC_VIDEO, SPEECH]).entities}


def _counts(entity: AdoptedEntity) -> tuple[int, dict[str, int], dict[str, int], dict[str, int], int]:
    return entity.fitting, entity.unindexed, entity.otherwise, entity.unknown, entity.damaged


def test_what_the_documents_own_code_wrote_fits(others: Others, open_store: Callable[[], Store]) -> None:
    """MV-22, MV-37, TA-4: but for the URL of speech, which no record keeps (F-TA-5)."""
    before = others.raw()
    told = _told(open_store())
    assert _counts(told["musicvideo.Project"]) == (2, {}, {}, {}, 0)
    assert _counts(told["musicvideo.Scene"]) == (2, {}, {}, {}, 0)
    assert _counts(told["speech.TempAudio"]) == (0, {}, {}, {"s3_url": 2}, 0)
    assert others.raw() == before


def test_what_would_be_read_otherwise_and_what_is_damaged_is_told_with_examples(
    others: Others, open_store: Callable[[], Store], engine_name: str
) -> None:
    store = open_store()
    has_items = store.engine.features.key_texts
    others.save_with_moments(docs.project_item(docs.BY_HAND))
    others.write("MVProjects", [docs.PLACED_WRONGLY, docs.EXTENDED_ITEM])
    others.write("tts_temp_audio", [docs.ODD, docs.BROKEN_AUDIO])
    # A typed column does not take a word for a number.
    damaged = docs.DAMAGED if engine_name != "postgres" else [docs.DAMAGED[0], docs.DAMAGED[2]]
    others.write("MVProjects", [*damaged, docs.UNPADDED] if has_items else damaged)
    before = others.raw()
    told = _told(store)
    assert others.raw() == before
    project, scene, audio = (told[name] for name in ("musicvideo.Project", "musicvideo.Scene", "speech.TempAudio"))
    moments = {} if engine_name == "postgres" else {"createdAt": 1, "updatedAt": 1}
    if has_items:
        stale = {"status-created-index": 1 + 1}
        assert _counts(project) == (2, stale, moments, {"ownerEmail": 1}, 1)
        assert _counts(scene) == (2, {}, {}, {}, 3)
        assert any("SCENE#3" in example for example in scene.examples)
    else:
        moments = {n.replace("At", "_at"): number for n, number in moments.items()}
        assert _counts(project) == (3 + (not moments), {}, moments, {"owner_email": 1}, 1)
        assert _counts(scene) == (2, {}, {}, {}, 1 + (engine_name == "sqlite"))
    odd = {} if engine_name == "postgres" else {"created_at": 1}
    assert _counts(audio) == (0, {}, odd, {"s3_url": 3}, 1)
    _assert_told(project, str(docs.BROKEN), str(docs.EXTENDED))
    _assert_told(scene, "sequence=2", "video_clip_s3_key")
    _assert_told(audio, str(docs.OLD_EPOCHS), "created_at_unix")


def _assert_told(entity: AdoptedEntity, *words: str) -> None:
    for word in words:
        assert any(word in example for example in entity.examples), (word, entity.examples)
    assert not any("bucket.s3" in example or "ann@example.com" in example for example in entity.examples)


@pytest.fixture
def objects(tmp_path: Path, clock: FrozenClock) -> LocalObjects:
    signer = RouteSigner(b"the secret of these tests", url="http://127.0.0.1:1/objects", clock=clock)
    return LocalObjects(tmp_path / "files", signer=signer)


def test_the_music_video_system_goes_on_with_what_others_began(
    others: Others,
    open_store: Callable[[], Store],
    objects: LocalObjects,
    clock: FrozenClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """MV-28, MV-38…MV-41, MV-63: their project becomes a film, on their table, beside what they left broken."""
    clock.set(BEGUN)
    others.write("MVProjects", [docs.project_item(docs.BROKEN, status="finished", GSI1PK="finished")])
    quick = QuickProviders()
    monkeypatch.setattr(studio_module, "film_providers", lambda *given, **more: quick.providers())
    objects.put(f"mv/projects/{docs.WORKED_ON}/character.png", PICTURE)
    store = open_store()
    store.ensure(MUSIC_VIDEO, WORKING)
    studio = FilmStudio(store, objects, quick.providers(), MusicVideoOptions(scenes=3, scene_seconds=0.5))
    assert [p.project_id for p in store.find(Project.by_status(status=ProjectStatus.PENDING))] == [docs.PENDING]
    assert [s.sequence for s in scenes(studio, docs.WORKED_ON)] == [1, 2]

    for project_id in (docs.PENDING, docs.WORKED_ON):
        if project_id == docs.PENDING:
            projects.generate(studio, project_id, by=ANN)
        for scene in scenes(studio, project_id):
            regenerate(studio, project_id, scene.sequence, by=ANN)
        workers(studio).drain()
        assert {s.status for s in scenes(studio, project_id)} == {SceneStatus.COMPLETED}
        assert_counted(studio, project_id)
        projects.compose(studio, project_id, by=ANN)
        workers(studio).drain()
        project = store.get(Project.at(project_id=project_id))
        assert project.status is ProjectStatus.COMPLETED, project.error_message
        assert project.final_output_s3_key in files(studio)
    done = list(store.find(Project.by_status(status=ProjectStatus.COMPLETED)))
    assert {p.project_id for p in done} == {docs.PENDING, docs.WORKED_ON}
    assert _counts(_told(store)["musicvideo.Project"]) == (2, {}, {}, {}, 1)


def test_the_speech_system_goes_on_with_what_others_began(
    others: Others, open_store: Callable[[], Store], objects: LocalObjects, clock: FrozenClock
) -> None:
    """TA-2, TA-6, TA-12, F-TA-2: their audio is heard for its day, and goes with ours."""
    clock.set(docs.SPOKEN + timedelta(minutes=1))
    for item in docs.AUDIOS:
        objects.put(item["s3_key"], b"RIFF")
    store = open_store()
    store.ensure(SPEECH, WORKING)
    studio = SpeechStudio(store, objects, installed_voices())
    said = synthesise(studio, "Hello", ip_address="192.168.1.100").audio
    today = docs.SPOKEN.date()
    ids = {docs.AUDIO, docs.LATER_AUDIO, said.audio_id}
    assert {a.audio_id for a in query_temp_audio_by_date(store, today)} == ids
    assert store.get(TempAudio.at(date=today, audio_id=docs.AUDIO)).audible

    assert _cleaned(studio, clock, docs.SPOKEN.replace(day=9, hour=15)) == (2, 0, 1)
    assert {a.audio_id for a in query_temp_audio_by_date(store, today)} == {docs.LATER_AUDIO}
    assert _cleaned(studio, clock, docs.SPOKEN.replace(day=10, hour=12)) == (1, 0, 0)
    assert list(query_temp_audio_by_date(store, today)) == []


def _cleaned(studio: SpeechStudio, clock: FrozenClock, moment: Any) -> tuple[int, int, int]:
    clock.set(moment)
    run = cleanup_yesterday_temp_audio(studio.store, studio.objects)
    return run.deleted, run.failed, run.kept
