"""Catalogues: on each engine, with sources that a test tells what they know."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.novae import DOMAIN, nova_catalogue
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.objects import LocalObjects, RouteSigner
from penstock.work.working import WORKING
from tests.domains.novae.archive import Archive
from tests.domains.novae.known_sky import KnownSky
from tests.homes import Homes

BEGUN = datetime(2037, 3, 1, 14, 59, tzinfo=UTC)


@pytest.fixture
def sky(monkeypatch: pytest.MonkeyPatch) -> KnownSky:
    """What is known elsewhere, to workers and callers alike."""
    sky = KnownSky()
    monkeypatch.setattr(nova_catalogue, "nova_sources", lambda context: sky.sources())
    return sky


@pytest.fixture
def local(tmp_path: Path, clock: FrozenClock) -> LocalObjects:
    signer = RouteSigner(b"the secret of these tests", url="http://127.0.0.1:1/objects", clock=clock)
    return LocalObjects(tmp_path / "files", signer=signer)


@pytest.fixture
def catalogue(
    homes: Homes, tmp_path: Path, local: LocalObjects, sky: KnownSky, clock: FrozenClock
) -> Iterator[NovaCatalogue]:
    """SQLite and local files."""
    clock.set(BEGUN)
    (tmp_path / "nc.db").write_bytes(homes.file((DOMAIN, WORKING)))
    store = open_store(f"sqlite:///{tmp_path}/nc.db", clock=clock)
    yield NovaCatalogue(store, local, sky.sources())
    store.close()


@pytest.fixture
def furniture() -> tuple[object, ...]:
    return (DOMAIN, WORKING)


@pytest.fixture
def anywhere(store: Store, local: LocalObjects, sky: KnownSky, clock: FrozenClock) -> NovaCatalogue:
    """A catalogue on each engine."""
    clock.set(BEGUN)
    return NovaCatalogue(store, local, sky.sources())


@pytest.fixture
def eso(sky: KnownSky, tmp_path: Path) -> Archive:
    """A provider with a folder of files."""
    archive = Archive("eso", tmp_path / "eso")
    sky.downloads.archives.append(archive)
    return archive
