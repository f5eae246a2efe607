"""Studios: with makers that take no time, on each engine with the object store that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.assetcreator import DOMAIN
from penstock.domains.assetcreator import asset_studio as studio_module
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.objects import LocalObjects, RouteSigner
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests.conftest import chosen_engines, furnished
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.homes import Homes

BEGUN = datetime(2037, 1, 29, 8, 0, tzinfo=UTC)
ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> QuickMakers:
    """Makers that take no time, for workers and callers alike."""
    quick = QuickMakers()
    monkeypatch.setattr(studio_module, "asset_makers", lambda *given, **more: quick.makers())
    return quick


@pytest.fixture
def local(tmp_path: Path, clock: FrozenClock) -> LocalObjects:
    signer = RouteSigner(b"the secret of these tests", url="http://127.0.0.1:1/objects", clock=clock)
    return LocalObjects(tmp_path / "files", signer=signer)


@pytest.fixture
def studio(
    homes: Homes, tmp_path: Path, local: LocalObjects, quick: QuickMakers, clock: FrozenClock
) -> Iterator[AssetStudio]:
    """SQLite and local files."""
    clock.set(BEGUN)
    (tmp_path / "ac.db").write_bytes(homes.file((DOMAIN, WORKING)))
    store = open_store(f"sqlite:///{tmp_path}/ac.db", clock=clock)
    yield AssetStudio(store, local, quick.makers())
    store.close()


@pytest.fixture(params=ENGINES)
def anywhere(
    request: pytest.FixtureRequest, tmp_path: Path, quick: QuickMakers, clock: FrozenClock
) -> Iterator[AssetStudio]:
    """A studio on each engine, with the object store that belongs to it."""
    clock.set(BEGUN)
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    objects = request.getfixturevalue("local" if request.param == "sqlite" else "s3")
    yield AssetStudio(store, objects, quick.makers())
    store.close()
    cleanup()
