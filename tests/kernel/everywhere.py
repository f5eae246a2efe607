"""One store on every chosen engine at once, for tests that compare them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict, PenstockError
from penstock.ports.engine import Engine
from penstock.schema.shape import EntityShape
from tests.conftest import _drop_tables, chosen_engines
from tests.kernel.model import ModelEngine

_counter = itertools.count()
SECRET = b"of the tests"


@dataclass
class Everywhere:
    """The same store on the model and on every engine, with one clock."""

    stores: dict[str, Store]
    clock: FrozenClock
    raw_tables: dict[str, Callable[[str], Any]] = field(default_factory=dict)
    "boto3's own view of a table, where there is one."

    @property
    def model(self) -> Store:
        return self.stores["model"]

    def same(self, action: Callable[[Store], Any]) -> Any:
        """Do the same everywhere; the outcome, a value or a refusal, must be the same."""
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
        return ("Conflict", str(conflict), conflict.position, found)
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

        return SqlEngine(SqliteConnector(str(folder / "everywhere.db")))
    if name == "postgres":
        from penstock.engines.sql.engine import SqlEngine
        from penstock.engines.sql.postgres import PostgresConnector

        server = request.getfixturevalue("postgres_server")
        return SqlEngine(PostgresConnector(server.create_database(f"everywhere_{next(_counter)}")))
    from penstock.engines.dynamodb import DynamoEngine

    url = request.getfixturevalue(name.replace("-", "_") + "_server").url
    prefix = f"e{os.getpid()}_{next(_counter)}_"
    stack.callback(_drop_tables, url, prefix)
    everywhere.raw_tables[name] = lambda table: _boto_table(url, prefix + table)
    return DynamoEngine(endpoint=url, region="us-east-1", access_key="test", secret_key="test", table_prefix=prefix)


def _boto_table(url: str, name: str) -> Any:
    import boto3

    resource = boto3.resource(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    return resource.Table(name)
