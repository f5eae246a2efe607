"""Files beside records are tried on every object store."""

from collections.abc import Callable

import pytest

from penstock import FrozenClock, Store
from penstock.objects import LocalObjects
from penstock.ports.clock import Clock
from penstock.ports.object_store import ObjectStore
from tests.files.streams import DOMAIN, StreamWorld
from tests.objects.conftest import *  # noqa: F403


@pytest.fixture
def anywhere(films: Store) -> Store:
    """A store for what does not depend on the engine."""
    films.ensure(DOMAIN)
    return films


@pytest.fixture
def streams(anywhere: Store, objects: ObjectStore, present: FrozenClock) -> StreamWorld:
    """On every object store."""
    return StreamWorld(anywhere, objects, present)


@pytest.fixture
def near(anywhere: Store, open_local: Callable[[Clock | None], LocalObjects], present: FrozenClock) -> StreamWorld:
    """On local files."""
    return StreamWorld(anywhere, open_local(present), present)
