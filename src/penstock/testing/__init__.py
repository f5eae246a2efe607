"""Proof for engines, object stores and domains: subclass a suite, and each promise becomes a test.

    class TestCosmos(EngineSuite):
        @pytest.fixture
        def engine(self) -> Engine:
            return CosmosEngine(...)

    class TestAzure(ObjectSuite):
        @pytest.fixture
        def objects(self) -> ObjectStore:
            return AzureObjects(...)

    class TestFilms(DomainSuite):
        plugin = PLUGIN

        def examples(self, clock: FrozenClock) -> Sequence[Entity]:
            return [Film(title="Robot in Austin", created_at=clock.now())]

This needs pytest; nothing else of Penstock does.
"""

import pytest

pytest.register_assert_rewrite(
    "penstock.testing.promises", "penstock.testing.object_promises", "penstock.testing.domain_suite"
)

from penstock.testing.differences import differences_page, differs, know, list_differences  # noqa: E402
from penstock.testing.domain_suite import DomainSuite  # noqa: E402
from penstock.testing.engine_suite import EngineSuite  # noqa: E402
from penstock.testing.object_suite import ObjectSuite  # noqa: E402

__all__ = ["DomainSuite", "EngineSuite", "ObjectSuite", "differences_page", "differs", "know", "list_differences"]
