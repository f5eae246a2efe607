"""Rows that go from one SQL store to another without anybody looking into them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.kernel.handle import put
from penstock.testing.entities import Specimen, full_values
from tests.servers import Postgres

NOW = datetime(2037, 6, 6, tzinfo=UTC)
SHAPE = Specimen.__shape__


@pytest.fixture
def engines(tmp_path: Path, postgres_server: Postgres) -> Iterator[tuple[SqlEngine, SqlEngine]]:
    """A file that has records of all kinds of values, without them, and with large ones; and an empty database."""
    url = postgres_server.create_database("retold")
    with (
        closing(SqlEngine(SqliteConnector(str(tmp_path / "left.db")))) as left,
        closing(SqlEngine(PostgresConnector(url))) as other,
    ):
        for engine in (left, other):
            engine.ensure([SHAPE])
        records = [Specimen(shelf="s", label=f"full {n}", **full_values()) for n in range(5)]
        far = {"lightyear": [9.4607e15, 1e30], "deep": {"below": -(2.0**64)}}
        records += [Specimen(shelf="s", label="empty"), Specimen(shelf="s", label="far", extra=far)]
        left.load([put(r) for r in records], now=NOW)
        yield left, other


def test_rows_of_every_kind_of_value_are_taken_as_they_lie(engines: tuple[SqlEngine, SqlEngine]) -> None:
    left, other = engines
    rows = left.scan_rows(SHAPE, form="sqlite").rows
    assert len(rows) == 7
    assert other.load_rows(SHAPE, rows, form="sqlite")
    here, there = ([found.record for found in engine.scan(SHAPE).found] for engine in engines)
    assert sorted(here, key=lambda r: str(r.label)) == sorted(there, key=lambda r: str(r.label))
    assert set(other.scan_rows(SHAPE, form="sqlite").told) == set(rows), "so that no record is made to compare them"


def test_rows_that_would_have_to_be_looked_into_are_not_taken(engines: tuple[SqlEngine, SqlEngine]) -> None:
    left, other = engines
    assert not left.load_rows(SHAPE, other.scan_rows(SHAPE, form="postgresql").rows, form="postgresql")


def test_a_row_that_cannot_be_told_is_like_no_other(engines: tuple[SqlEngine, SqlEngine]) -> None:
    left, other = engines
    rows = left.scan_rows(SHAPE, form="sqlite").rows
    other.load_rows(SHAPE, rows, form="sqlite")
    with other.connector.administration() as connection:
        column = next(f.column for f in SHAPE.fields.values() if f.kind.name == "TEXTS")
        relation = other.statements(SHAPE).relation
        connection.exec_driver_sql(f"update {relation} set \"{column}\" = '3' where label = 'full 1'")
    told = other.scan_rows(SHAPE, form="sqlite").told
    assert len(set(told) & set(rows)) == len(rows) - 1
