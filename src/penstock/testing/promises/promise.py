"""What all promises are tested with: an empty engine, a clock that stands still, a store on both."""

from __future__ import annotations

import pytest

from penstock import FrozenClock, Store
from penstock.ports.engine import Engine
from penstock.testing.differences import expect
from penstock.testing.entities import SUITE


class Promise:
    """The fixtures of the suite. A subclass of the whole provides ``engine``, and ``known_as`` if it differs."""

    @pytest.fixture
    def engine(self) -> Engine:
        """A fresh, empty engine."""
        raise NotImplementedError("provide a fixture named engine that opens an empty store")

    @pytest.fixture
    def known_as(self) -> str:
        """The name by which `differs` knows the engine."""
        return type(self).__name__.removeprefix("Test").lower()

    @pytest.fixture
    def clock(self) -> FrozenClock:
        return FrozenClock()

    @pytest.fixture
    def store(self, engine: Engine, clock: FrozenClock) -> Store:
        """A store with the suite's tables, empty."""
        engine.ensure(SUITE.shapes)
        return Store(engine, clock=clock, secret=b"of the suite")

    @pytest.fixture(autouse=True)
    def differences(self, request: pytest.FixtureRequest, known_as: str) -> None:
        """A declared difference turns the test into one that is expected to fail."""
        expect(request, known_as)
