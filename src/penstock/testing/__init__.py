"""Proof for engines and object stores: subclass a suite, provide an empty store, and every promise becomes a test.

    class TestCosmos(EngineSuite):
        @pytest.fixture
        def engine(self) -> Engine:
            return CosmosEngine(...)

    class TestAzure(ObjectSuite):
        @pytest.fixture
        def objects(self) -> ObjectStore:
            return AzureObjects(...)

This needs pytest; nothing else of Penstock does.
"""

import pytest

pytest.register_assert_rewrite("penstock.testing.promises", "penstock.testing.object_promises")

from penstock.testing.differences import differences_page, differs, know, list_differences  # noqa: E402
from penstock.testing.engine_suite import EngineSuite  # noqa: E402
from penstock.testing.object_suite import ObjectSuite  # noqa: E402

__all__ = ["EngineSuite", "ObjectSuite", "differences_page", "differs", "know", "list_differences"]
