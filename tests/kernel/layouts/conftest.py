"""Stores on one engine, each of which could be a process of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock import Domain, FrozenClock, Store
from penstock.ports.engine import Engine
from tests.kernel.layouts.films import Declared, cinema


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    return ()


@pytest.fixture
def store(open_engine: Callable[[], Engine], clock: FrozenClock) -> Store:
    return Store(open_engine(), clock=clock, secret=b"of the tests")


OpenStore = Callable[[], Store]


@pytest.fixture
def another(open_engine: Callable[[], Engine], clock: FrozenClock) -> OpenStore:
    """Opens the same store once more."""
    return lambda: Store(open_engine(), clock=clock, secret=b"of the tests")


def ensured(open_store: OpenStore, declared: Declared) -> Store:
    """A store that goes by a declaration, which it has ensured."""
    store = open_store()
    store.ensure(cinema(declared))
    return store
