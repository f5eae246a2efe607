"""Session fixtures: `pytest_plugins = ["tests.servers.fixtures"]` in the top conftest makes them known.

Under xdist each worker is a session and starts its own servers. That holds for DynamoDB Local too: at 2 s and
125 MB (measured) one a worker is cheap, no worker sees another's tables, and a shared one would need a lock,
a count of its users, and an answer to who owns it when the worker that started it ends first.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import DynamoDBLocal, Dynoxide, Postgres, SeaweedFS, Valkey, require


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """A PostgreSQL server of this session; take a database of your own with create_database()."""
    with require(Postgres()) as server:
        yield server


@pytest.fixture(scope="session")
def dynoxide_server() -> Iterator[Dynoxide]:
    """A dynoxide server of this session, in memory."""
    with require(Dynoxide()) as server:
        yield server


@pytest.fixture(scope="session")
def dynamodb_local_server() -> Iterator[DynamoDBLocal]:
    """A DynamoDB Local server of this session, in memory."""
    with require(DynamoDBLocal()) as server:
        yield server


@pytest.fixture(scope="session")
def seaweedfs_server() -> Iterator[SeaweedFS]:
    """A SeaweedFS of this session; take a bucket of your own with create_bucket()."""
    with require(SeaweedFS()) as server:
        yield server


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[Valkey]:
    """A Valkey of this session; use a queue of your own, and flush only one that is yours."""
    with require(Valkey()) as server:
        yield server
