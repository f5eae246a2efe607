"""A new file that several open at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.sql.sqlite import SqliteConnector
from penstock.errors import Unavailable


@pytest.fixture
def writer(tmp_path: Path) -> sqlite3.Connection:
    """One who writes to a file that has no write-ahead log yet, so that nobody can begin it."""
    connection = sqlite3.connect(tmp_path / "new.db", isolation_level=None)
    connection.execute("create table t (a)")
    connection.execute("begin immediate")
    return connection


def test_whoever_opens_a_new_file_waits_for_one_who_writes_to_it(tmp_path: Path, writer: sqlite3.Connection) -> None:
    waits: list[float] = []

    def end_writing(seconds: float) -> None:
        waits.append(seconds)
        writer.execute("rollback")

    connector = SqliteConnector(str(tmp_path / "new.db"), busy_seconds=5.0, sleep=end_writing)
    with closing(connector.connection()) as connection:
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    assert len(waits) == 1


def test_whoever_opens_a_new_file_does_not_wait_for_ever(tmp_path: Path, writer: sqlite3.Connection) -> None:
    connector = SqliteConnector(str(tmp_path / "new.db"), busy_seconds=0.0)
    with pytest.raises(Unavailable, match="locked"):
        connector.connection()
    writer.close()
