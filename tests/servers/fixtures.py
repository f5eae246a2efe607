"""Session fixtures: `pytest_plugins = ["tests.servers.fixtures"]` in the top conftest makes them known.

Under xdist each worker is a session and starts its own servers. That holds for DynamoDB Local too: at 2 s and
125 MB (measured) one a worker is cheap, no worker sees another's tables, and a shared one would need a lock,
a count of its users, and an answer to who owns it when the worker that started it ends first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from penstock.objects.s3 import S3Connection, S3Objects

from . import DynamoDBLocal, Dynoxide, Postgres, PostgresReplica, SeaweedFS, Valkey, require
from .seaweedfs import ACCESS_KEY, SECRET_KEY

_prefixes = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """A PostgreSQL server of this session; take a database of your own with create_database()."""
    with require(Postgres()) as server:
        yield server


@pytest.fixture(scope="session")
def followed_server() -> Iterator[Postgres]:
    """A PostgreSQL server of this session that `replica_server` follows."""
    with require(Postgres(durable=True)) as server:
        yield server


@pytest.fixture(scope="session")
def replica_server(followed_server: Postgres) -> Iterator[PostgresReplica]:
    """A replica that follows `followed_server`."""
    with require(PostgresReplica(followed_server)) as server:
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


@pytest.fixture(scope="session")
def s3_connection(seaweedfs_server: SeaweedFS) -> Iterator[S3Connection]:
    """A bucket of this session, and one client: to make another takes longer than most tests."""
    connection = S3Connection(
        seaweedfs_server.create_bucket("tests"),
        region="us-east-1",
        endpoint=seaweedfs_server.url,
        access_key=ACCESS_KEY,
        secret_key=SECRET_KEY,
    )
    yield connection
    connection.close()


@pytest.fixture
def s3(s3_connection: S3Connection) -> S3Objects:
    """A fresh prefix of the bucket: the first write to a bucket takes SeaweedFS seconds."""
    return S3Objects(s3_connection, prefix=f"test-{next(_prefixes)}")
