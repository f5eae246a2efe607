"""Object stores, empty and reachable: `objects` runs a test on local files and on SeaweedFS."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.objects import LocalObjects, RouteSigner
from penstock.objects.route import objects_route
from penstock.objects.s3 import S3Connection, S3Objects
from penstock.ports import Clock, ObjectStore
from tests.objects.door import Door
from tests.objects.world import World
from tests.servers.seaweedfs import ACCESS_KEY, SECRET_KEY, SeaweedFS

STORES = ("local", "seaweedfs")
SECRET = b"the secret of these tests"
_counter = itertools.count()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "objects_name" in metafunc.fixturenames:
        metafunc.parametrize("objects_name", STORES, scope="session")


@pytest.fixture(scope="session")
def door() -> Iterator[Door]:
    with Door() as door:
        yield door


@pytest.fixture
def open_local(tmp_path: Path, door: Door) -> Callable[[Clock | None], LocalObjects]:
    """Opens local files in one folder, with a clock, and serves their route."""

    def open_one(clock: Clock | None = None) -> LocalObjects:
        signer = RouteSigner(SECRET, url=door.place(), clock=clock)
        objects = LocalObjects(tmp_path / "local", signer=signer)
        door.add(objects_route(objects))
        return objects

    return open_one


@pytest.fixture
def local(open_local: Callable[[Clock | None], LocalObjects]) -> LocalObjects:
    return open_local(None)


@pytest.fixture(scope="session")
def s3_connection(seaweedfs_server: SeaweedFS) -> Iterator[S3Connection]:
    """A bucket of this session, and one client: to make another takes longer than most tests."""
    connection = S3Connection(
        seaweedfs_server.create_bucket("tests"),
        region="us-east-1",
        endpoint=seaweedfs_server.url,
        access_key=ACCESS_KEY,
        secret_key=SECRET_KEY,
    )
    yield connection
    connection.close()


@pytest.fixture
def s3(s3_connection: S3Connection) -> S3Objects:
    """A fresh prefix of the bucket: the first write to a bucket takes SeaweedFS seconds."""
    return S3Objects(s3_connection, prefix=f"test-{next(_counter)}")


@pytest.fixture
def objects(objects_name: str, request: pytest.FixtureRequest) -> ObjectStore:
    name = "local" if objects_name == "local" else "s3"
    store: ObjectStore = request.getfixturevalue(name)
    return store


@pytest.fixture
def present() -> FrozenClock:
    """Files are dated by the machine, so a clock that stands still must begin where they are."""
    return FrozenClock(datetime.now(UTC).replace(microsecond=0))


@pytest.fixture
def films(tmp_path: Path, present: FrozenClock) -> Store:
    return open_store(f"sqlite:///{tmp_path}/films.db", clock=present)


@pytest.fixture
def world(films: Store, objects: ObjectStore, present: FrozenClock) -> World:
    """On every object store; their URLs expire by the machine's clock."""
    world = World(films, objects, present)
    world.begin()
    return world


@pytest.fixture
def here(films: Store, open_local: Callable[[Clock | None], LocalObjects], present: FrozenClock) -> World:
    """On local files, with one clock for everything."""
    world = World(films, open_local(present), present)
    world.begin()
    return world
