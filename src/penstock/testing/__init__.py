"""Proof for engines: subclass `EngineSuite`, provide an empty engine, and every promise becomes a test.

    class TestCosmos(EngineSuite):
        @pytest.fixture
        def engine(self) -> Engine:
            return CosmosEngine(...)

This needs pytest; nothing else of Penstock does.
"""

import pytest

pytest.register_assert_rewrite("penstock.testing.promises")

from penstock.testing.differences import differences_page, differs, know, list_differences  # noqa: E402
from penstock.testing.engine_suite import EngineSuite  # noqa: E402

__all__ = ["EngineSuite", "differences_page", "differs", "know", "list_differences"]
