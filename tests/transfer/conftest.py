"""Stores that are left, and stores that are filled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock import FrozenClock, Store
from penstock.objects.local import LocalObjects
from penstock.runtime.composition import open_store
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.transfer.transfer_selection import Selection, select
from penstock.work.working import WORKING
from tests.transfer.films import DOMAIN, fill


@pytest.fixture
def selection() -> Selection:
    return select([DOMAIN], [SYSTEM_RECORDS, WORKING])


@pytest.fixture
def opened(tmp_path: Path, clock: FrozenClock) -> Iterator[Callable[[str], Store]]:
    """Opens a SQLite store by the name of its file, with all tables."""
    stores: list[Store] = []

    def open_one(name: str) -> Store:
        store = open_store(f"sqlite:///{tmp_path / name}.db", clock=clock)
        store.ensure(DOMAIN, WORKING)
        stores.append(store)
        return store

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def full(opened: Callable[[str], Store], clock: FrozenClock) -> Store:
    store = opened("full")
    fill(store, at=clock.now())
    return store


@pytest.fixture
def files(tmp_path: Path) -> Iterator[LocalObjects]:
    """The files of the full store, and one that nobody points at."""
    with closing(LocalObjects(tmp_path / "full-files")) as objects:
        for number in range(2, 26):
            objects.put(f"films/p{number % 3 + 1}/{number:03d}.bin", b"film %d" % number)
        objects.put("films/p9/099.bin", b"loose")
        yield objects
