"""Stores with their tables on each engine, made once: to empty one is much quicker than to make another."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

from penstock import Domain, Store
from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.dynamodb.wire import Wire
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.shape import TablePlace

_counter = itertools.count()
Domains = tuple[Domain, ...]


@dataclass(frozen=True)
class Home:
    """What opens it, what empties it, and whether it can be used once more."""

    open: Callable[[], Engine]
    empty: Callable[[], None]
    is_spent: Callable[[], bool] = lambda: False


class Homes:
    """One home for the system's own records and some domains, on each engine that is asked for."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self._request, self._folder = request, folder
        self._made: dict[tuple[str, Domains, str | None], Home] = {}
        self._files: dict[Domains, bytes] = {}

    def at(self, name: str, domains: Domains, *, prefix: str | None = None) -> Home:
        """On a server; ``prefix`` is what the names of DynamoDB's tables begin with."""
        place = (name, domains, prefix)
        if place not in self._made or self._made[place].is_spent():
            begin = f"h{os.getpid()}_{next(_counter)}_" if prefix is None else prefix
            server = self._request.getfixturevalue(name.replace("-", "_") + "_server")
            if name == "postgres":
                home = _in_postgres(server.create_database("home"), domains)
            else:
                home = _in_dynamodb(server.url, domains, begin)
            _furnish(home.open(), domains)
            self._made[place] = home
        return self._made[place]

    def file(self, domains: Domains) -> bytes:
        """A SQLite file, which whoever wants it writes where it is to lie."""
        if domains not in self._files:
            path = self._folder / f"{next(_counter)}.db"
            _furnish(SqlEngine(SqliteConnector(str(path))), domains)
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("pragma wal_checkpoint(truncate)")
            self._files[domains] = path.read_bytes()
        return self._files[domains]


def _furnish(engine: Engine, domains: Domains) -> None:
    with closing(Store(engine, own=SYSTEM_RECORDS)) as store:
        store.ensure(*domains)


# PostgreSQL


def _in_postgres(url: str, domains: Domains) -> Home:
    own = {shape.domain for domain in domains for shape in domain.shapes} | {"penstock", "public"}

    connected = _Connected(url)

    def empty() -> None:
        connection = connected.now()
        found = connection.execute(
            "select schemaname, tablename from pg_tables where schemaname !~ '^pg_' "
            "and schemaname <> 'information_schema'"
        ).fetchall()
        for schema in {schema for schema, _ in found} - own:
            connection.execute(f'drop schema "{schema}" cascade'.encode())
        emptied = [f'delete from "{schema}"."{table}"' for schema, table in found if schema in own]
        # What is removed here is no news for a feed.
        connection.execute(";".join(["set session_replication_role = replica", *emptied]).encode())

    return Home(lambda: SqlEngine(PostgresConnector(url)), empty)


class _Connected:
    """One connection for all times: a new one reads of every table anew what it is like, which takes the longest."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.Connection[Any] | None = None

    def now(self) -> psycopg.Connection[Any]:
        try:
            if self._connection is not None:
                self._connection.execute("select 1")
                return self._connection
        except psycopg.OperationalError:
            pass  # a test has restarted the server, or ended all that was connected
        self._connection = psycopg.connect(self._url, autocommit=True, prepare_threshold=None)
        return self._connection


# DynamoDB


def dynamo_access(url: str) -> dict[str, str]:
    """What boto3 is told of a server."""
    return {
        "endpoint_url": url,
        "region_name": "us-east-1",
        "aws_access_key_id": "test",
        "aws_secret_access_key": "test",
    }


@cache
def dynamo_client(url: str) -> Any:
    """One for all tests: boto3 takes longer to make it than a test takes to use it."""
    import boto3

    return boto3.client("dynamodb", **dynamo_access(url))


Call = Callable[..., dict[str, Any]]


@cache
def _calling(url: str) -> Call:
    """Calls operations as the engine does: boto3 takes ten times as long, and much is called between any two tests."""
    wire = Wire(endpoint=url, region="us-east-1", access_key="test", secret_key="test")

    def call(operation: str, **request: Any) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(wire.call(operation, json.dumps(request).encode()).body)
        return found

    return call


def table_names(url: str, prefix: str) -> Iterator[str]:
    """The tables of a server that begin so."""
    call = _calling(url)
    further: dict[str, str] = {}
    while True:
        page = call("ListTables", **further)
        yield from (name for name in page["TableNames"] if name.startswith(prefix))
        if "LastEvaluatedTableName" not in page:
            return
        further = {"ExclusiveStartTableName": page["LastEvaluatedTableName"]}


def _in_dynamodb(url: str, domains: Domains, prefix: str) -> Home:
    shapes = [shape for domain in (SYSTEM_RECORDS, *domains) for shape in domain.shapes]
    places = {shape.table.name: shape.table for shape in shapes}
    told = [shape for shape in shapes if shape.table.feed]
    renamed: dict[str, str] = {}
    left: set[str] = set()
    call = _calling(url)

    def open_one() -> Engine:
        return DynamoEngine(
            endpoint=url,
            region="us-east-1",
            access_key="test",
            secret_key="test",
            table_prefix=prefix,
            table_names=dict(renamed),
        )

    def empty() -> None:
        own = {prefix + renamed.get(name, name): place for name, place in places.items()}
        # Without a prefix, tables of others lie beside ours.
        for name in list(table_names(url, prefix)) if prefix else own:
            if name not in own or own[name].feed:
                gone = call("DeleteTable", TableName=name)["TableDescription"]
                if name not in own and "LatestStreamArn" in gone:
                    left.add(name)
            else:
                _empty_table(call, name, own[name])
        if told:
            if prefix:  # a stream cannot be emptied, and dynoxide has it go on under the same name
                renamed.update({shape.table.name: f"{shape.table.name}-{next(_counter)}" for shape in told})
            with closing(open_one()) as engine:
                engine.ensure(told)

    # A stream goes on under the name of its table, so whoever made that of others would hear what was told before.
    return Home(open_one, empty, lambda: bool(left))


def _empty_table(call: Call, name: str, place: TablePlace) -> None:
    keys = [key.name for key in (place.partition, place.sort) if key is not None]
    names = {f"#{number}": key for number, key in enumerate(keys)}  # some are words of DynamoDB's own
    asked: dict[str, Any] = {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
    while True:
        page = call("Scan", TableName=name, **asked)
        for first in range(0, len(page["Items"]), 25):
            _remove(call, name, page["Items"][first : first + 25])
        if "LastEvaluatedKey" not in page:
            return
        asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _remove(call: Call, name: str, keys: Sequence[Any]) -> None:
    left = {name: [{"DeleteRequest": {"Key": key}} for key in keys]}
    while left:
        left = call("BatchWriteItem", RequestItems=left)["UnprocessedItems"]
