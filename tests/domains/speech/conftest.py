"""Studios: the real voice, with local files beside SQLite, and SeaweedFS beside every other engine."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.speech import DOMAIN
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.media.speech.voices import Voices, installed_voices
from penstock.objects import LocalObjects, RouteSigner
from penstock.ports.clock import Clock
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests.conftest import chosen_engines, furnished
from tests.homes import Homes

MADE = datetime(2025, 12, 8, 13, 2, 19, 123000, tzinfo=UTC)
# Not DynamoDB Local: it removes, by the machine's clock, records that have expired there long before they do here.
ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]


@pytest.fixture(scope="session")
def voices() -> Voices:
    """The voices of the wheel; loaded once for all tests, as a service does."""
    return installed_voices()


@pytest.fixture
def local(tmp_path: Path, clock: FrozenClock) -> LocalObjects:
    return LocalObjects(tmp_path / "files", signer=_signer(clock))


@pytest.fixture
def studio(
    homes: Homes, tmp_path: Path, local: LocalObjects, voices: Voices, clock: FrozenClock
) -> Iterator[SpeechStudio]:
    """SQLite and local files, on the day of the plan's example."""
    clock.set(MADE)
    (tmp_path / "speech.db").write_bytes(homes.file((DOMAIN, WORKING)))
    store = open_store(f"sqlite:///{tmp_path}/speech.db", clock=clock)
    yield SpeechStudio(store, local, voices)
    store.close()


@pytest.fixture(params=ENGINES)
def anywhere(
    request: pytest.FixtureRequest, tmp_path: Path, voices: Voices, clock: FrozenClock
) -> Iterator[SpeechStudio]:
    """A studio on each engine, with the object store that belongs to it."""
    clock.set(MADE)
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    yield SpeechStudio(store, request.getfixturevalue("local" if request.param == "sqlite" else "s3"), voices)
    store.close()
    cleanup()


def _signer(clock: Clock) -> RouteSigner:
    return RouteSigner(b"the secret of these tests", url="http://127.0.0.1:1/objects", clock=clock)
