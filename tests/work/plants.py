"""A store with the plant's tables on each engine, made once: to empty it is much faster than to make another."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import psycopg
import pytest

from penstock import Store
from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests.work.plant import PLANT

CREDENTIALS = {"region_name": "us-east-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}


@dataclass(frozen=True)
class Plant:
    """What opens it, and what empties it."""

    open: Callable[[], Engine]
    empty: Callable[[], None]


def make_plant(name: str, request: pytest.FixtureRequest, folder: Path) -> Plant:
    """The plant on an engine."""
    if name == "sqlite":
        plant = _in_file(folder / "plant.db")
    else:
        server = request.getfixturevalue(name.replace("-", "_") + "_server")
        plant = _in_postgres(server.create_database("plant")) if name == "postgres" else _in_dynamodb(server.url)
    with closing(Store(plant.open(), own=SYSTEM_RECORDS)) as store:
        store.ensure(WORKING, PLANT)
    return plant


def _in_file(path: Path) -> Plant:
    def empty() -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
            for (name,) in tables:
                connection.execute(f'delete from "{name}"')

    return Plant(lambda: SqlEngine(SqliteConnector(str(path))), empty)


def _in_postgres(url: str) -> Plant:
    def empty() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            tables = connection.execute(
                "select quote_ident(schemaname) || '.' || quote_ident(tablename) from pg_tables "
                "where schemaname in ('work', 'plant', 'penstock')"
            ).fetchall()
            connection.execute("; ".join(f"delete from {name}" for (name,) in tables).encode())

    return Plant(lambda: SqlEngine(PostgresConnector(url)), empty)


def _in_dynamodb(url: str) -> Plant:
    prefix = f"plant{os.getpid()}_"

    def open_one() -> Engine:
        return DynamoEngine(endpoint=url, region="us-east-1", access_key="test", secret_key="test", table_prefix=prefix)

    @cache  # boto3 takes its time
    def tables() -> list[Any]:
        resource = boto3.resource("dynamodb", endpoint_url=url, **CREDENTIALS)
        return [table for table in resource.tables.all() if table.name.startswith(prefix)]

    def empty() -> None:
        for table in tables():
            _empty_table(table)

    return Plant(open_one, empty)


def _empty_table(table: Any) -> None:
    # A page has at most 1 MB, and tests leave more than that.
    while items := table.scan(ProjectionExpression="PK, SK")["Items"]:
        with table.batch_writer() as batch:
            for item in items:
                batch.delete_item(Key=item)
