"""One store on every chosen engine at once, for tests that compare them."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict, PenstockError
from penstock.ports.engine import Engine
from penstock.schema.shape import EntityShape
from tests.beneath import beneath
from tests.conftest import _drop_tables, chosen_engines
from tests.kernel.model import ModelEngine

RawRows = Callable[[EntityShape, str, Sequence[Any]], list[Mapping[str, Any]]]
_counter = itertools.count()
SECRET = b"of the tests"


@dataclass
class Everywhere:
    """The same store on the model and on every engine, with one clock."""

    stores: dict[str, Store]
    clock: FrozenClock
    raw_tables: dict[str, Callable[[str], Any]] = field(default_factory=dict)
    "boto3's own view of a table, where there is one."
    raw_rows: dict[str, RawRows] = field(default_factory=dict)
    "The rows of an entity in which a column has one of some values, as the database itself has them."
    operations: int = 0
    "So many writes and questions were done everywhere and compared."

    def asked(self, questions: int = 1) -> None:
        """Note that questions were asked everywhere, whose answers are compared by whoever asked."""
        self.operations += questions

    @property
    def model(self) -> Store:
        return self.stores["model"]

    def forget(self) -> None:
        """Empty the model, which looks at all it has for every question; what comes next has other keys."""
        engine = beneath(self.model)
        assert isinstance(engine, ModelEngine)
        engine.rows.clear()

    def same(self, action: Callable[[Store], Any]) -> Any:
        """Do the same everywhere; the outcome, a value or a refusal, must be the same."""
        self.operations += 1
        outcomes = {name: outcome(action, store) for name, store in self.stores.items()}
        expected = outcomes["model"]
        for name, found in outcomes.items():
            assert found == expected, f"{name} answers {found!r}, the model {expected!r}"
        return expected


def outcome(action: Callable[[Store], Any], store: Store) -> tuple[Any, ...]:
    """What comes of an action: a value, or everything a refusal tells."""
    try:
        return ("value", action(store))
    except Conflict as conflict:
        found = None if conflict.found is None else dict(conflict.found)
        return (type(conflict).__name__, str(conflict), conflict.position, found)
    except PenstockError as error:
        return (type(error).__name__, str(error))


@contextmanager
def open_everywhere(
    request: pytest.FixtureRequest, folder: Path, shapes: list[EntityShape], *, model: bool = True
) -> Iterator[Everywhere]:
    """Open all chosen engines and create the tables of some entities."""
    clock = FrozenClock()
    everywhere = Everywhere({}, clock)
    if model:
        everywhere.stores["model"] = Store(ModelEngine(), clock=clock, secret=SECRET)
    with ExitStack() as stack:
        for name in chosen_engines():
            engine = _open(name, request, folder, everywhere, stack)
            stack.callback(engine.close)
            engine.ensure(shapes)
            everywhere.stores[name] = Store(engine, clock=clock, secret=SECRET)
        yield everywhere


def _open(name: str, request: pytest.FixtureRequest, folder: Path, everywhere: Everywhere, stack: ExitStack) -> Engine:
    if name == "sqlite":
        from penstock.engines.sql.engine import SqlEngine
        from penstock.engines.sql.sqlite import SqliteConnector

        file = SqliteConnector(str(folder / "everywhere.db"))
        connection = stack.enter_context(closing(sqlite3.connect(file.path)))
        everywhere.raw_rows[name] = _sql_rows(connection, file.dialect.relation, "?")
        return SqlEngine(file)
    if name == "postgres":
        from penstock.engines.sql.engine import SqlEngine
        from penstock.engines.sql.postgres import PostgresConnector

        database = request.getfixturevalue("postgres_server").create_database(f"everywhere_{next(_counter)}")
        server, raw = PostgresConnector(database), stack.enter_context(psycopg.connect(database, autocommit=True))
        everywhere.raw_rows[name] = _sql_rows(raw, server.dialect.relation, "%s")
        return SqlEngine(server)
    from penstock.engines.dynamodb import DynamoEngine

    url = request.getfixturevalue(name.replace("-", "_") + "_server").url
    prefix = f"e{os.getpid()}_{next(_counter)}_"
    stack.callback(_drop_tables, url, prefix)
    everywhere.raw_tables[name] = lambda table: _boto_table(url, prefix + table)
    return DynamoEngine(endpoint=url, region="us-east-1", access_key="test", secret_key="test", table_prefix=prefix)


def _sql_rows(connection: Any, relation: Callable[[str | None, str], str], mark: str) -> RawRows:
    """Rows as dicts, read with the driver alone."""

    def rows(shape: EntityShape, column: str, values: Sequence[Any]) -> list[Mapping[str, Any]]:
        if not values:
            return []
        table, marks = relation(shape.domain, shape.relation), ", ".join([mark] * len(values))
        cursor = connection.cursor()
        cursor.execute(f"select * from {table} where {column} in ({marks})", list(values))
        names = [described[0] for described in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    return rows


def _boto_table(url: str, name: str) -> Any:
    return _boto_resource(url).Table(name)


@cache
def _boto_resource(url: str) -> Any:
    import boto3

    return boto3.resource(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
