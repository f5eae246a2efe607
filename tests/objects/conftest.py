"""Object stores, empty and reachable: `objects` runs a test on local files and on SeaweedFS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.objects import LocalObjects, RouteSigner
from penstock.objects.objects_route import objects_route
from penstock.ports.clock import Clock
from penstock.ports.object_store import ObjectStore
from tests.objects.door import Door
from tests.objects.world import World

STORES = ("local", "seaweedfs")
SECRET = b"the secret of these tests"


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
