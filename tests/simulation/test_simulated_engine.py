"""The simulated engine is one more engine: it keeps every promise of the suite."""

from __future__ import annotations

import pytest

from penstock.ports.engine import Engine
from penstock.testing import EngineSuite
from penstock.testing.simulation.engine import SimulatedEngine


class TestSimulated(EngineSuite):
    @pytest.fixture
    def engine(self) -> Engine:
        return SimulatedEngine()
