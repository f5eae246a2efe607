"""A store with projects that have something to tell, on SQLite and a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.musicvideo.model import DOMAIN
from tests.sinks.kafka_cluster import KafkaCluster
from tests.sinks.moto_server import Moto
from tests.sinks.receiver import Receiver


@pytest.fixture
def outbox_store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path}/store.db", clock=clock)
    store.ensure(DOMAIN)
    yield store
    store.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        yield server


@pytest.fixture(scope="session")
def moto() -> Iterator[Moto]:
    from tests.servers import require

    with require(Moto()) as server:
        yield server


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaCluster]:
    from tests.servers import require

    with require(KafkaCluster()) as server:
        yield server
