"""Video libraries: on SQLite with local files, and on each engine with the object store that belongs to it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.videos import DOMAIN
from penstock.domains.videos.video_library import VideoLibrary
from penstock.objects import LocalObjects, RouteSigner
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests.cli.conftest import folder as folder
from tests.cli.conftest import penstock as penstock
from tests.conftest import _drop_tables, chosen_engines, furnished
from tests.domains.videos.films import made
from tests.domains.videos.streams import Record, engine_at, records_of
from tests.homes import Homes, dynamo_client
from tests.servers import Dynoxide

BEGUN = datetime(2037, 6, 6, 3, 40, tzinfo=UTC)
_number = itertools.count()
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
def library(homes: Homes, tmp_path: Path, local: LocalObjects, clock: FrozenClock) -> Iterator[VideoLibrary]:
    """SQLite and local files."""
    clock.set(BEGUN)
    (tmp_path / "vm.db").write_bytes(homes.file((DOMAIN, WORKING)))
    store = open_store(f"sqlite:///{tmp_path}/vm.db", clock=clock)
    yield VideoLibrary(store, local)
    store.close()


@pytest.fixture(params=ENGINES)
def anywhere(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> Iterator[VideoLibrary]:
    """A library on each engine, with the object store that belongs to it."""
    clock.set(BEGUN)
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
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


@pytest.fixture
def prefix() -> str:
    """Another for each test: the server keeps the stream of a table that is gone."""
    return f"streamed{next(_number)}_"


@pytest.fixture
def name(prefix: str) -> str:
    """The table's."""
    return f"{prefix}VideoMetadata"


@pytest.fixture
def streamed(dynoxide_server: Dynoxide, local: LocalObjects, clock: FrozenClock, prefix: str) -> Iterator[VideoLibrary]:
    """A library whose table has a stream."""
    clock.set(BEGUN)
    store = Store(engine_at(dynoxide_server.url, prefix), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    store.ensure(DOMAIN, WORKING)
    yield VideoLibrary(store, local)
    store.close()
    _drop_tables(dynoxide_server.url, prefix)


@pytest.fixture
def read(dynoxide_server: Dynoxide, name: str) -> Callable[[], list[Record]]:
    """What the stream tells by now."""
    return lambda: records_of(dynoxide_server.url, name)


@pytest.fixture
def table(dynoxide_server: Dynoxide) -> Any:
    """How others write to the table."""
    return dynamo_client(dynoxide_server.url)
