"""The DynamoDB servers whose counts the estimate is held against."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cost.samples import SERVERS, Counting, counting


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Counting]:
    """A server with the tables of all systems, empty."""
    with counting(request.param, request.getfixturevalue(request.param.replace("-", "_") + "_server").url) as server:
        yield server
