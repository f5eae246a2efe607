"""The five systems move from one file to PostgreSQL, and to DynamoDB, while they are at work; files go to S3."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock import FrozenClock, Store
from penstock.domains.speech.actions import synthesise
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.errors import StoreMoved, Unavailable
from penstock.files.held_files import HeldFiles
from penstock.kernel.audit import SystemAudit
from penstock.kernel.seals import read_chain, verify_all
from penstock.media.speech.voices import installed_voices
from penstock.ports.object_store import ObjectStore
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.transfer.live_copy import LiveCopy
from penstock.transfer.object_transfer import every_object
from penstock.transfer.transfer_selection import select
from penstock.work.working import WORKING
from tests.conftest import chosen_engines, furnished
from tests.domains.novae.conftest import BEGUN
from tests.runtime.five_stories import FIVE, tell_assets, tell_film, tell_nova, tell_speech, tell_videos
from tests.transfer.test_live_copy import check_equal

DOMAINS = tuple(plugin.domain for plugin in FIVE)
ENGINES = [
    pytest.param(name, marks=pytest.mark.long) if name == "dynamodb-local" else name
    for name in ("postgres", "dynoxide", "dynamodb-local")
    if name in chosen_engines()
]


@pytest.fixture
def embedded(clock: FrozenClock, tmp_path: Path) -> Iterator[Service]:
    """All five systems on one file and one folder, as `penstock up` has them."""
    settings = Settings(
        store=f"sqlite:///{tmp_path / 'embedded.db'}",
        objects=f"files:///{tmp_path / 'files'}",
        archive=str(tmp_path / "archive"),
        secret="of the tests, and long enough",
    )
    service = Service(settings, FIVE)
    store = service.context.store
    store.clock = store.context.clock = store.context.ticks._clock = clock
    service.start(background=False)
    yield service
    service.stop()


@pytest.fixture(params=ENGINES)
def target(request: pytest.FixtureRequest, clock: FrozenClock, tmp_path: Path) -> Iterator[Store]:
    opener, cleanup = furnished(request.param, request, tmp_path, (*DOMAINS, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    yield store
    store.close()
    cleanup()


class Speaker(threading.Thread):
    """Has one text after the other spoken, until the store is moved."""

    def __init__(self, service: Service) -> None:
        super().__init__(daemon=True)
        self._studio = SpeechStudio(service.context.store, service.context.objects, installed_voices())
        self.spoken: list[str] = []
        self.ended_by: Exception | None = None

    def run(self) -> None:
        try:
            while True:
                audio = synthesise(self._studio, f"Number {len(self.spoken)}", ip_address="192.168.1.100").audio
                self.spoken.append(repr(audio.ref))
        except Exception as error:
            self.ended_by = error


def test_the_five_systems_move_while_they_are_at_work(
    embedded: Service,
    target: Store,
    s3: ObjectStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """Exports of both ends are equal, seals verify, and who writes is told where to go on."""
    if request.node.callspec.params["target"] == "dynamodb-local":
        pytest.skip("it removes what ends in the stories' year, which is over by its own clock")
    context = embedded.context
    tell_speech(context)
    tell_assets(context, monkeypatch)
    tell_film(context, tmp_path, monkeypatch)
    for feed in embedded.feeds.values():
        feed.drain()
        feed.close()
    embedded.seal()
    speaker = Speaker(embedded)
    seen: list[str] = []

    def tell(what: str, number: int) -> None:
        seen.append(what)
        if len(seen) == 10:  # in the middle of the bulk
            tell_videos(context, tmp_path)
            speaker.start()

    selection = select(DOMAINS, [SYSTEM_RECORDS, WORKING])
    files = (context.objects, s3)
    feeds = {name: feed.follows for name, feed in embedded.feeds.items()}
    done = LiveCopy(
        context.store, target, selection, origin="here", goal="there", files=files, feeds=feeds, told=tell
    ).run()
    speaker.join(timeout=30)
    assert isinstance(speaker.ended_by, StoreMoved)
    assert isinstance(speaker.ended_by, Unavailable), "workers wait, as for a store that is away"
    assert speaker.spoken
    assert done.changes > 0
    assert done.files > 0
    _forget_unpointed(context.store, context.objects, s3)
    check_equal(context.store, target, selection, context.objects, s3, tmp_path)
    chain = read_chain(target)
    assert chain.sound
    verdicts = list(verify_all(target, chain, trails=[SystemAudit]))
    assert all(verdict.sound for verdict in verdicts)
    assert sum(verdict.sealed for verdict in verdicts) > 0


@pytest.mark.long
def test_the_story_of_a_nova_moves(
    embedded: Service, target: Store, s3: ObjectStore, clock: FrozenClock, tmp_path: Path
) -> None:
    clock.set(BEGUN)
    tell_nova(embedded.context, tmp_path)
    context, selection = embedded.context, select(DOMAINS, [SYSTEM_RECORDS, WORKING])
    files = (context.objects, s3)
    LiveCopy(context.store, target, selection, origin="here", goal="there", files=files).run()
    check_equal(context.store, target, selection, context.objects, s3, tmp_path)


def _forget_unpointed(store: Store, here: ObjectStore, there: ObjectStore) -> None:
    """Remove the files whose records were refused, as a sweep would; none else is missing at the other end."""
    arrived = {found.key for found in every_object(there)}
    missing = [found.key for found in every_object(here) if found.key not in arrived]
    held = HeldFiles(f.record for d in DOMAINS for s in d.shapes for f in store.engine.scan(s, limit=10_000).found)
    assert not [key for key in missing if key in held]
    here.delete(missing)
