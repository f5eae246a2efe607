"""Stores on every engine: `store` runs a test once for each of them."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from penstock import Domain, FrozenClock, Store, open_store
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from tests import watch

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ["tests.servers.fixtures"]

ENGINES = ("sqlite", "postgres", "dynoxide", "dynamodb-local")
_counter = itertools.count()


def chosen_engines() -> tuple[str, ...]:
    """All of them, or those PENSTOCK_TEST_ENGINES names."""
    named = os.environ.get("PENSTOCK_TEST_ENGINES", "").split() or list(ENGINES)
    if unknown := set(named) - set(ENGINES):
        raise pytest.UsageError(f"PENSTOCK_TEST_ENGINES names {', '.join(unknown)}; there are {', '.join(ENGINES)}")
    return tuple(named)


def pytest_configure(config: pytest.Config) -> None:
    from penstock.engines.dynamodb import DynamoEngine
    from penstock.engines.sql.engine import SqlEngine

    for engine in (SqlEngine, DynamoEngine):
        watch.watch(engine)


@pytest.fixture(autouse=True)
def nothing_that_opens_by_itself_is_stored() -> Iterator[None]:
    """MV-60, F-TA-5: no attribute anywhere holds a signature, and none that holds keys a URL."""
    watch.seen.clear()
    yield
    assert watch.seen == []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine_name" in metafunc.fixturenames:
        chosen = [_marked(name, metafunc.module.__name__) for name in chosen_engines()]
        metafunc.parametrize("engine_name", chosen, scope="session")


def _marked(name: str, module: str) -> Any:
    """DynamoDB Local, which is slow, does what every engine must do; what is built on that, it does on long runs."""
    seldom = name == "dynamodb-local" and not module.startswith(("tests.engines", "tests.faults"))
    return pytest.param(name, marks=pytest.mark.long) if seldom else name


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def open_engine(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Engine]]:
    """Opens an empty store of the engine at hand; every call in one test opens the same one.

    Where a test asks for `store` as well, the tables are there already.
    """
    opener, cleanup = (_furnished if "store" in request.fixturenames else _opener)(engine_name, request, tmp_path)
    opened: list[Engine] = []

    def open_one() -> Engine:
        opened.append(opener())
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()
    cleanup()


@pytest.fixture(scope="module")
def shared_engine(
    engine_name: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Engine]]:
    """Opens one store for all tests of a module, which costs much less than an empty one for each.

    A test that uses it gives its records names of their own, and does not mind what others have left.
    """
    opener, cleanup = _opener(engine_name, request, tmp_path_factory.mktemp("shared"), shared=True)
    opened: list[Engine] = []

    def open_one() -> Engine:
        opened.append(opener())
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()
    cleanup()


@pytest.fixture
def store(open_engine: Callable[[], Engine], clock: FrozenClock) -> Store:
    """A store with the tables of the kernel and all five domains, empty, and a clock that stands still."""
    return Store(open_engine(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)


def all_domains() -> list[Domain]:
    from penstock.domains import DOMAINS

    return list(DOMAINS)


def _opener(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, *, shared: bool = False
) -> tuple[Callable[[], Engine], Callable[[], None]]:
    if name == "sqlite":
        from penstock.engines.sql.engine import SqlEngine
        from penstock.engines.sql.sqlite import SqliteConnector

        return lambda: SqlEngine(SqliteConnector(str(tmp_path / "store.db"))), lambda: None
    if name == "postgres":
        return _postgres_database(request) if shared else _postgres_opener(request)
    return _dynamodb_opener(request.getfixturevalue(name.replace("-", "_") + "_server").url)


def _furnished(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[Callable[[], Engine], Callable[[], None]]:
    """As `_opener`, with all tables: where it is possible a copy of what was made once, which is much quicker."""
    if name == "sqlite":
        (tmp_path / "store.db").write_bytes(request.getfixturevalue("furnished_file"))
        return _opener(name, request, tmp_path)
    if name == "postgres":
        return _furnished_database(request)
    opener, cleanup = _opener(name, request, tmp_path)
    engine = opener()
    Store(engine, own=SYSTEM_RECORDS).ensure(*all_domains())
    engine.close()
    return opener, cleanup


@pytest.fixture(scope="session")
def furnished_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A SQLite file with the tables of the kernel and all five domains."""
    path = tmp_path_factory.mktemp("furnished") / "store.db"
    with closing(open_store(f"sqlite:///{path}")) as store:
        store.ensure(*all_domains())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    return path.read_bytes()


@pytest.fixture(scope="session")
def furnished_database(postgres_server: Any) -> str:
    """A PostgreSQL database with these tables."""
    url: str = postgres_server.create_database("furnished")
    with closing(open_store(url)) as store:
        store.ensure(*all_domains())
    return url


def _furnished_database(request: pytest.FixtureRequest) -> tuple[Callable[[], Engine], Callable[[], None]]:
    """One for all tests: emptied after each, which takes a hundredth of the time of creating its tables."""
    import psycopg

    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.postgres import PostgresConnector

    url = request.getfixturevalue("furnished_database")
    own = {shape.domain for domain in all_domains() for shape in domain.shapes} | {"penstock", "public"}

    def wipe() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            found = connection.execute(
                "select schemaname, tablename from pg_tables where schemaname !~ '^pg_' "
                "and schemaname <> 'information_schema'"
            ).fetchall()
            for schema in {schema for schema, _ in found} - own:
                connection.execute(f'drop schema "{schema}" cascade'.encode())
            emptied = [f'delete from "{schema}"."{table}"' for schema, table in found if schema in own]
            connection.execute(";".join(emptied).encode())

    return lambda: SqlEngine(PostgresConnector(url)), wipe


def _postgres_opener(request: pytest.FixtureRequest) -> tuple[Callable[[], Engine], Callable[[], None]]:
    import psycopg

    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.postgres import PostgresConnector

    url: str = request.getfixturevalue("postgres_server").url

    def wipe() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            found = connection.execute(
                "select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'"
            ).fetchall()
            for (schema,) in found:
                connection.execute(f'drop schema "{schema}" cascade'.encode())
            connection.execute("create schema public")

    return lambda: SqlEngine(PostgresConnector(url)), wipe


def _postgres_database(request: pytest.FixtureRequest) -> tuple[Callable[[], Engine], Callable[[], None]]:
    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.postgres import PostgresConnector

    server = request.getfixturevalue("postgres_server")
    url = server.create_database(f"shared_{next(_counter)}")
    return lambda: SqlEngine(PostgresConnector(url)), lambda: None


def _dynamodb_opener(url: str) -> tuple[Callable[[], Engine], Callable[[], None]]:
    from penstock.engines.dynamodb import DynamoEngine

    prefix = f"t{os.getpid()}_{next(_counter)}_"

    def open_one() -> Engine:
        return DynamoEngine(endpoint=url, region="us-east-1", access_key="test", secret_key="test", table_prefix=prefix)

    return open_one, lambda: _drop_tables(url, prefix)


def _drop_tables(url: str, prefix: str = "") -> None:
    """DynamoDB Local keeps a thread for each table with a TTL, and soon has none left for its work."""
    import boto3

    client = boto3.client("dynamodb", **_boto(url))
    for page in client.get_paginator("list_tables").paginate():
        for name in page["TableNames"]:
            if name.startswith(prefix):
                client.delete_table(TableName=name)


@pytest.fixture
def dynamo_url(dynoxide_server: Any) -> str:
    return str(dynoxide_server.url)


@pytest.fixture
def dynamo(dynamo_url: str, clock: FrozenClock) -> Iterator[Store]:
    """A store on DynamoDB's protocol with the documents' own table names, fresh for each test."""
    from penstock.engines.dynamodb import DynamoEngine

    engine = DynamoEngine(endpoint=dynamo_url, region="us-east-1", access_key="test", secret_key="test")
    for domain in all_domains():
        engine.ensure(domain.shapes)
    yield Store(engine, clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    engine.close()
    _drop_tables(dynamo_url)


@pytest.fixture
def raw_table(dynamo: Store, dynamo_url: str) -> Callable[[str], Any]:
    """boto3's own view of a table, to see what is really stored."""
    import boto3

    return lambda name: boto3.resource("dynamodb", **_boto(dynamo_url)).Table(name)


def _boto(url: str) -> dict[str, str]:
    return {
        "endpoint_url": url,
        "region_name": "us-east-1",
        "aws_access_key_id": "test",
        "aws_secret_access_key": "test",
    }
