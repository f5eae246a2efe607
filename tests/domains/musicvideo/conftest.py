"""Studios: with a crew that takes no time, on each engine with the object store that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.musicvideo import DOMAIN
from penstock.domains.musicvideo import studio as studio_module
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.domains.musicvideo.studio import Studio
from penstock.objects import LocalObjects, RouteSigner
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.domain import WORKING
from tests.conftest import _opener, chosen_engines
from tests.domains.musicvideo.quick_crew import QuickCrew

BEGUN = datetime(2025, 11, 17, 10, 0, tzinfo=UTC)
ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> QuickCrew:
    """A crew that takes no time, for workers and callers alike."""
    crew = QuickCrew()
    monkeypatch.setattr(studio_module, "crew_within", lambda setting, options: crew.crew())
    return crew


@pytest.fixture
def local(tmp_path: Path, clock: FrozenClock) -> LocalObjects:
    signer = RouteSigner(b"the secret of these tests", url="http://127.0.0.1:1/objects", clock=clock)
    return LocalObjects(tmp_path / "files", signer=signer)


@pytest.fixture
def studio(tmp_path: Path, local: LocalObjects, crew: QuickCrew, clock: FrozenClock) -> Iterator[Studio]:
    """SQLite and local files."""
    clock.set(BEGUN)
    store = open_store(f"sqlite:///{tmp_path}/mv.db", clock=clock)
    store.ensure(DOMAIN, WORKING)
    yield Studio(store, local, crew.crew(), MusicVideoOptions(scenes=3, scene_seconds=0.5))
    store.close()


@pytest.fixture(params=ENGINES)
def anywhere(request: pytest.FixtureRequest, tmp_path: Path, crew: QuickCrew, clock: FrozenClock) -> Iterator[Studio]:
    """A studio on each engine, with the object store that belongs to it."""
    clock.set(BEGUN)
    opener, cleanup = _opener(request.param, request, tmp_path)
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    store.ensure(DOMAIN, WORKING)
    objects = request.getfixturevalue("local" if request.param == "sqlite" else "s3")
    yield Studio(store, objects, crew.crew(), MusicVideoOptions(scenes=3, scene_seconds=0.5))
    store.close()
    cleanup()
