"""Every promise, on every engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.ports.engine import Engine
from penstock.testing import EngineSuite


class TestEveryEngine(EngineSuite):
    @pytest.fixture
    def known_as(self, engine_name: str) -> str:
        return engine_name

    @pytest.fixture
    def engine(self, open_engine: Callable[[], Engine]) -> Engine:
        return open_engine()
