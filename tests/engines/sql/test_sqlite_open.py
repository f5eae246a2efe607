"""A file that several open, and write to, at once."""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.sql.connector import Refused
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.engines.sql.statement import Statement
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


def test_whoever_opens_a_new_file_soon_looks_again_whether_one_who_reads_it_has_ended(
    tmp_path: Path, writer: sqlite3.Connection
) -> None:
    """For one who reads SQLite itself would wait all of the time that there is, and then nobody would look again."""
    writer.execute("commit")
    writer.execute("begin")
    writer.execute("select * from t").fetchall()
    waits: list[float] = []

    def end_reading(seconds: float) -> None:
        waits.append(seconds)
        writer.execute("rollback")

    connector = SqliteConnector(str(tmp_path / "new.db"), busy_seconds=5.0, sleep=end_reading)
    with closing(connector.connection()) as connection:
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    assert len(waits) == 1


def test_whoever_opens_a_new_file_does_not_wait_for_ever(tmp_path: Path, writer: sqlite3.Connection) -> None:
    connector = SqliteConnector(str(tmp_path / "new.db"), busy_seconds=0.0)
    with pytest.raises(Unavailable, match="locked"):
        connector.connection()
    writer.close()


def test_who_writes_waits_for_one_who_writes_longer_than_sqlite_s_own_patience(
    tmp_path: Path, writer: sqlite3.Connection
) -> None:
    connector = SqliteConnector(str(tmp_path / "new.db"))
    writer.execute("commit")
    connector.run("create table numbers (number integer)", ())
    writer.execute("begin immediate")
    insert = Statement("insert into numbers values (?)", (1,))
    with ThreadPoolExecutor(3) as pool:
        waiting: list[Future[Any]] = [
            pool.submit(connector.together, [insert], token=None),
            pool.submit(connector.many, insert.text, [(2,)]),
            pool.submit(connector.run, insert.text, (3,)),
        ]
        with pytest.raises(TimeoutError):
            waiting[0].result(0.2)
        writer.execute("commit")
        for each in waiting:
            each.result(30)
    assert sorted(connector.rows("select number from numbers", ())) == [(1,), (2,), (3,)]


def test_who_writes_looks_at_once_and_ever_again_whether_another_has_ended(
    tmp_path: Path, writer: sqlite3.Connection
) -> None:
    """SQLite itself slept for a millisecond at least, twenty times as long as most writes take."""
    writer.execute("commit")
    waits: list[float] = []

    def end_writing(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 30:
            writer.execute("commit")

    connector = SqliteConnector(str(tmp_path / "new.db"), sleep=end_writing)
    connector.run("create table numbers (number integer)", ())
    writer.execute("begin immediate")
    connector.run("insert into numbers values (1)", ())
    assert len(waits) == 30
    assert waits[0] < 0.0005 < waits[-1] < 0.005
    assert sum(waits) < 0.06
    assert connector.rows("pragma busy_timeout", ()) == [(0,)]


def test_who_waits_to_write_does_not_wait_for_ever(tmp_path: Path, writer: sqlite3.Connection) -> None:
    writer.execute("commit")
    connector = SqliteConnector(str(tmp_path / "new.db"), busy_seconds=0.05)
    connector.run("create table numbers (number integer)", ())
    writer.execute("begin immediate")
    insert = Statement("insert into numbers values (?)", (1,))
    with pytest.raises(Unavailable, match="database is locked"):
        connector.together([insert], token=None)
    with pytest.raises(Unavailable, match="database is locked"):
        connector.run(insert.text, (1,))


def test_nobody_else_writes_from_the_first_statement_of_a_commit_to_its_last(tmp_path: Path) -> None:
    """Else what it has looked at could be otherwise when it writes, and all of it would be refused."""
    path = str(tmp_path / "new.db")
    ours, theirs = SqliteConnector(path), SqliteConnector(path, busy_seconds=0.0)
    ours.run("create table leases (owner text)", ())
    ours.run("insert into leases values ('ours')", ())
    refused: list[str] = []

    def meanwhile() -> int:
        try:
            theirs.run("update leases set owner = 'theirs'", ())
        except Unavailable as away:
            refused.append(str(away))
        return 1

    ours.connection().create_function("meanwhile", 0, meanwhile)
    looked = Statement("select 1 from leases where owner = 'ours' and meanwhile()", (), must_touch=True)
    ours.together([looked, Statement("update leases set owner = owner || ' still'", ())], token=None)
    assert len(refused) == 1
    assert "locked" in refused[0]
    assert ours.rows("select owner from leases", ()) == [("ours still",)]


def test_many_are_written_in_one_transaction(tmp_path: Path) -> None:
    connector = SqliteConnector(str(tmp_path / "new.db"))
    connector.run("create table numbers (number integer check (number < 3))", ())
    with pytest.raises(sqlite3.IntegrityError, match="CHECK constraint failed"):
        connector.many("insert into numbers values (?)", [(1,), (2,), (3,)])
    assert connector.rows("select number from numbers", ()) == []


def test_what_is_committed_is_on_the_disk_before_the_log_is_taken_over(tmp_path: Path) -> None:
    """SQLite then asks the disk to have written; without that, a power cut leaves a file that nobody can read."""
    connection = SqliteConnector(str(tmp_path / "new.db")).connection()
    normal = 1
    assert connection.execute("pragma synchronous").fetchone() == (normal,)
    assert connection.execute("pragma journal_mode").fetchone() == ("wal",)


def test_a_connection_that_cannot_take_back_what_it_wrote_is_in_nobody_s_way(tmp_path: Path) -> None:
    connector = SqliteConnector(str(tmp_path / "new.db"), busy_seconds=0.0)
    connector.run("create table numbers (number integer)", ())
    insert = Statement("insert into numbers values (?)", (1,))

    def without_rollback(action: int, what: str | None, *_: object) -> int:
        return sqlite3.SQLITE_DENY if (action, what) == (sqlite3.SQLITE_TRANSACTION, "ROLLBACK") else sqlite3.SQLITE_OK

    connector.connection().set_authorizer(without_rollback)
    with pytest.raises(Refused):
        connector.together([insert, Statement("delete from numbers where number = 2", (), must_touch=True)], token=None)
    connector.together([insert, insert], token=None)
    assert connector.rows("select number from numbers", ()) == [(1,), (1,)]
