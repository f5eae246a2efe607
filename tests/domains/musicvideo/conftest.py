"""Studios: with providers that take no time, on each engine with the object store that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.musicvideo import DOMAIN
from penstock.domains.musicvideo import film_studio as studio_module
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.objects import LocalObjects, RouteSigner
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests.conftest import chosen_engines, furnished
from tests.domains.musicvideo.quick_providers import QuickProviders
from tests.homes import Homes

BEGUN = datetime(2025, 11, 17, 10, 0, tzinfo=UTC)
ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> QuickProviders:
    """Providers that take no time, for workers and callers alike."""
    quick = QuickProviders()
    monkeypatch.setattr(studio_module, "film_providers", lambda *given, **more: quick.providers())
    return quick


@pytest.fixture
def local(tmp_path: Path, clock: FrozenClock) -> LocalObjects:
    signer = RouteSigner(b"the secret of these tests", url="http://127.0.0.1:1/objects", clock=clock)
    return LocalObjects(tmp_path / "files", signer=signer)


@pytest.fixture
def studio(
    homes: Homes, tmp_path: Path, local: LocalObjects, quick: QuickProviders, clock: FrozenClock
) -> Iterator[FilmStudio]:
    """SQLite and local files."""
    clock.set(BEGUN)
    (tmp_path / "mv.db").write_bytes(homes.file((DOMAIN, WORKING)))
    store = open_store(f"sqlite:///{tmp_path}/mv.db", clock=clock)
    yield FilmStudio(store, local, quick.providers(), MusicVideoOptions(scenes=3, scene_seconds=0.5))
    store.close()


@pytest.fixture(params=ENGINES)
def anywhere(
    request: pytest.FixtureRequest, tmp_path: Path, quick: QuickProviders, clock: FrozenClock
) -> Iterator[FilmStudio]:
    """A studio on each engine, with the object store that belongs to it."""
    clock.set(BEGUN)
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    objects = request.getfixturevalue("local" if request.param == "sqlite" else "s3")
    yield FilmStudio(store, objects, quick.providers(), MusicVideoOptions(scenes=3, scene_seconds=0.5))
    store.close()
    cleanup()
