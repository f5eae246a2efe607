"""Video libraries: on SQLite with local files, and on each engine with the object store that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.videos import DOMAIN
from penstock.domains.videos.video_library import VideoLibrary
from penstock.objects import LocalObjects, RouteSigner
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests.cli.conftest import folder as folder
from tests.cli.conftest import penstock as penstock
from tests.conftest import _opener, chosen_engines
from tests.domains.videos.films import made

BEGUN = datetime(2037, 6, 6, 3, 40, tzinfo=UTC)
ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds with a tone, 320 wide: of one rung."""
    return made(tmp_path_factory.mktemp("film") / "film.mp4")


@pytest.fixture
def local(tmp_path: Path, clock: FrozenClock) -> LocalObjects:
    signer = RouteSigner(b"the secret of these tests", url="http://127.0.0.1:1/objects", clock=clock)
    return LocalObjects(tmp_path / "files", signer=signer)


@pytest.fixture
def library(tmp_path: Path, local: LocalObjects, clock: FrozenClock) -> Iterator[VideoLibrary]:
    """SQLite and local files."""
    clock.set(BEGUN)
    store = open_store(f"sqlite:///{tmp_path}/vm.db", clock=clock)
    store.ensure(DOMAIN, WORKING)
    yield VideoLibrary(store, local)
    store.close()


@pytest.fixture(params=ENGINES)
def anywhere(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> Iterator[VideoLibrary]:
    """A library on each engine, with the object store that belongs to it."""
    clock.set(BEGUN)
    opener, cleanup = _opener(request.param, request, tmp_path)
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    store.ensure(DOMAIN, WORKING)
    objects = request.getfixturevalue("local" if request.param == "sqlite" else "s3")
    yield VideoLibrary(store, objects)
    store.close()
    cleanup()


@pytest.fixture
def dynamo_library(dynamo: Store, local: LocalObjects, clock: FrozenClock) -> VideoLibrary:
    """Tables with the names of the article, and local files."""
    clock.set(BEGUN)
    dynamo.ensure(DOMAIN, WORKING)
    return VideoLibrary(dynamo, local)


@pytest.fixture
def everywhere(store: Store, local: LocalObjects) -> VideoLibrary:
    """A library on each engine, whose files nobody needs."""
    return VideoLibrary(store, local)
