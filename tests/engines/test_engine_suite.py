"""Every promise, on every engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock import Domain, FrozenClock, Store
from penstock.ports.engine import Engine
from penstock.testing import EngineSuite
from penstock.testing.crates import DEPOT
from penstock.testing.entities import SUITE


class TestEveryEngine(EngineSuite):
    @pytest.fixture
    def known_as(self, engine_name: str) -> str:
        return engine_name

    @pytest.fixture
    def furniture(self) -> tuple[Domain, ...]:
        return SUITE, DEPOT

    @pytest.fixture
    def engine(self, open_engine: Callable[[], Engine]) -> Engine:
        return open_engine()

    @pytest.fixture
    def store(self, engine: Engine, clock: FrozenClock) -> Store:
        """As the suite has it; its tables are there already."""
        return Store(engine, clock=clock, secret=b"of the suite")
