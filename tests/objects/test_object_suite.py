"""Every promise, on every object store."""

from __future__ import annotations

import pytest

from penstock.ports.object_store import ObjectStore
from penstock.testing import ObjectSuite


class TestEveryObjectStore(ObjectSuite):
    @pytest.fixture
    def known_as(self, objects_name: str) -> str:
        return objects_name

    @pytest.fixture
    def objects(self, objects_name: str, request: pytest.FixtureRequest) -> ObjectStore:
        store: ObjectStore = request.getfixturevalue("local" if objects_name == "local" else "s3")
        return store
