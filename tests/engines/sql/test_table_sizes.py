"""How much a table holds is counted while that is quick, and beyond that it is told about how much it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from penstock import Store
from penstock.engines.sql import table_sizes
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.ports.engine import TableSize
from penstock.testing.entities import Ticket
from tests.conftest import chosen_engines

FIRST = datetime(2037, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    connector: Any = SqliteConnector(str(tmp_path / "a.db"))
    if request.param == "postgres":
        connector = PostgresConnector(request.getfixturevalue("postgres_server").create_database("sizes"))
    monkeypatch.setattr(table_sizes, "_COUNTED", 3)
    with closing(Store(SqlEngine(connector))) as store:
        store.engine.ensure([Ticket.__shape__])
        yield store


def grown(store: Store, count: int) -> TableSize:
    """The table with so many tickets."""
    for n in range(count):
        store.put(
            Ticket(queue="q", ticket_id=f"{n}", created_at=FIRST + timedelta(days=n), due=FIRST - timedelta(days=1))
        )
    return store.engine.sizes([Ticket.__shape__])[0]


def test_few_records_are_counted_and_of_many_it_is_told_that_they_were_not(store: Store) -> None:
    size = grown(store, 3)
    assert (size.records, size.exact, size.oldest) == (3, True, int(FIRST.timestamp()))
    size = grown(store, 5)
    assert (size.records, size.exact, size.oldest) == (3, False, None), "as many as were counted, at least"
    connector: Any = store.engine.connector  # type: ignore[attr-defined]
    if isinstance(connector, PostgresConnector):
        with psycopg.connect(connector.url, autocommit=True) as admin:
            admin.execute("analyze")
        assert store.engine.sizes([Ticket.__shape__])[0].records == 5, "which PostgreSQL itself knows"
