"""A database that is there and cannot serve is away, and is waited for; what can never be served is refused at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from penstock import Store, the
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.engines.sql.statement import Statement
from penstock.errors import InvalidValue, Misconfigured, PenstockError, TooLarge, Unavailable
from penstock.testing.entities import Counter, Specimen
from tests.conftest import chosen_engines
from tests.servers import Postgres

# PostgreSQL


@pytest.fixture
def database(request: pytest.FixtureRequest) -> str:
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES leaves PostgreSQL out")
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.create_database("errors")


def set_read_only(database: str, value: str) -> None:
    """As a standby is: whoever connects from now on may read."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("set default_transaction_read_only = off")
        connection.execute(
            f'alter database "{urlsplit(database).path[1:]}" set default_transaction_read_only = {value}'
        )


def store_at(database: str, sleep: Callable[[float], None]) -> tuple[Store, PostgresConnector]:
    connector = PostgresConnector(database, sleep=sleep)
    store = Store(SqlEngine(connector))
    store.engine.ensure([Counter.__shape__])
    store.put(Counter(name="c", total=1))
    connector.pool.close()
    return store, connector


def test_a_server_that_takes_no_writes_is_away_and_still_read(database: str) -> None:
    slept: list[float] = []
    store, _ = store_at(database, slept.append)
    set_read_only(database, "on")
    for write in (
        lambda: store.put(Counter(name="c", total=2)),
        lambda: store.patch(Counter.at(name="c"), the(Counter.total).add(1)),
        lambda: store.put_many([Counter(name="d"), Counter(name="e")]),
        lambda: store.delete(Counter.at(name="c")),
    ):
        with pytest.raises(Unavailable, match=r"read-only transaction; it is a standby.*target_session_attrs"):
            write()
    assert store.get(Counter.at(name="c")).total == 1
    assert len(slept) == 4 * 7
    with pytest.raises(Unavailable, match="read-only"):
        store.engine.ensure([Specimen.__shape__])


def test_a_write_goes_on_with_the_server_that_takes_over(database: str) -> None:
    pauses = 0

    def sleep(seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses == 3:
            set_read_only(database, "off")

    store, _ = store_at(database, sleep)
    set_read_only(database, "on")
    assert store.patch(Counter.at(name="c"), the(Counter.total).add(1)).total == 2
    assert pauses == 3


@pytest.mark.parametrize(
    ("state", "words", "error"),
    [
        ("08006", "connection failure", Unavailable),
        ("25006", "cannot execute INSERT in a read-only transaction", Unavailable),
        ("25P03", "terminating connection due to idle-in-transaction timeout", Unavailable),
        ("25P04", "terminating connection due to transaction timeout", Unavailable),
        ("53100", "could not extend file: No space left on device", Unavailable),
        ("53200", "out of memory", Unavailable),
        ("53300", "remaining connection slots are reserved", Unavailable),
        ("53400", "too many temporary files", Unavailable),
        ("54000", "database is not accepting commands to avoid wraparound data loss", Unavailable),
        ("54000", "index row size 3000 exceeds btree maximum", TooLarge),
        ("54001", "stack depth limit exceeded", TooLarge),
        ("55000", "recovery is in progress", Unavailable),
        ("55006", "the table is being used", Unavailable),
        ("55P03", "canceling statement due to lock timeout", Unavailable),
        ("57014", "canceling statement due to statement timeout", Unavailable),
        ("57P01", "terminating connection due to administrator command", Unavailable),
        ("57P03", "the database system is starting up", Unavailable),
        ("58030", "could not read block 7", Unavailable),
        ("XX000", "cache lookup failed", Unavailable),
        ("XX001", "invalid page in block 7", Unavailable),
        ("XX002", "index contains unexpected zero page", Unavailable),
        ("22003", "a number", InvalidValue),
        ("42501", "permission denied for table", Misconfigured),
        ("42703", "column does not exist", Misconfigured),
        ("42P01", "relation does not exist", Misconfigured),
    ],
)
def test_each_answer_of_postgresql_is_an_outage_or_is_none(
    database: str, state: str, words: str, error: type[PenstockError]
) -> None:
    slept: list[float] = []
    connector = PostgresConnector(database, sleep=slept.append)
    with pytest.raises(error, match=words.split(":")[0]) as told:
        connector.rows(f"do $$ begin raise exception '{words}' using errcode = '{state}'; end $$", ())
    assert type(told.value) is error
    assert bool(slept) is (error is Unavailable), "what is away is tried again, and nothing else is"


# SQLite


@pytest.fixture
def file(tmp_path: Path) -> SqliteConnector:
    connector = SqliteConnector(str(tmp_path / "s.db"), busy_seconds=0.0)
    connector.run("create table pages (number integer primary key, text text)", ())
    connector.many("insert into pages values (?, ?)", [(n, "x" * 900) for n in range(200)])
    return connector


INSERT = Statement("insert into pages (text) values (?)", ("x" * 100_000,))


def writes(file: SqliteConnector) -> list[Callable[[], object]]:
    return [
        lambda: file.together([INSERT], token=None),
        lambda: file.together([INSERT, INSERT], token=None),
        lambda: file.run(INSERT.text, INSERT.parameters),
        lambda: file.many(INSERT.text, [INSERT.parameters]),
    ]


def test_a_full_disk_is_an_outage_and_nothing_of_a_write_is_left(file: SqliteConnector) -> None:
    connection = file.connection()
    connection.execute("pragma max_page_count = 1")  # which is never less than there are
    for write in writes(file):
        with pytest.raises(Unavailable, match="full; make room"):
            write()
        assert not file.connection().in_transaction
    assert file.rows("select count(*) from pages", ()) == [(200,)]
    connection.execute("pragma max_page_count = 100000")
    file.together([INSERT, INSERT], token=None)


def test_a_file_that_cannot_be_written_is_an_outage(file: SqliteConnector) -> None:
    file.connection().execute("pragma query_only = on")
    for write in writes(file):
        with pytest.raises(Unavailable, match="readonly database; have the file and its folder writable"):
            write()
    assert file.rows("select count(*) from pages", ()) == [(200,)]


def test_a_damaged_file_is_an_outage_until_it_is_restored(tmp_path: Path, file: SqliteConnector) -> None:
    file.connection().execute("pragma wal_checkpoint(truncate)")
    file.close()
    whole = (tmp_path / "s.db").read_bytes()
    (tmp_path / "s.db").write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    damaged = SqliteConnector(str(tmp_path / "s.db"))
    for action in (lambda: damaged.rows("select * from pages", ()), *writes(damaged)):
        with pytest.raises(Unavailable, match="malformed; restore the file from a backup"):
            action()


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("select * from nowhere", Misconfigured, "no such table: nowhere; run `penstock tables apply`"),
        ("select nowhat from pages", Misconfigured, "no such column: nowhat; run"),
        ("insert into pages (nowhat) values (1)", Misconfigured, "has no column named nowhat; run"),
        ("selct 1", Misconfigured, "does not understand"),
        (f"select {','.join('?' * 40_000)}", TooLarge, "too many"),
        (f"select {'(' * 5000}1{')' * 5000}", TooLarge, "stack overflow|too large"),
    ],
    ids=["table", "column", "insert", "word", "variables", "depth"],
)
def test_what_sqlite_never_does_is_no_outage(
    file: SqliteConnector, text: str, error: type[PenstockError], words: str
) -> None:
    with pytest.raises(error, match=words):
        file.rows(text, ("x",) * 40_000 if "?" in text else ())


def test_a_value_beyond_what_sqlite_takes_is_too_large(file: SqliteConnector) -> None:
    file.connection().setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 50_000)
    for write in writes(file):
        with pytest.raises(TooLarge):
            write()


def test_whoever_waits_for_a_file_that_cannot_be_opened_looks_again(tmp_path: Path) -> None:
    place = tmp_path / "away" / "s.db"
    waiter = SqliteConnector(str(place)).listen()
    assert waiter.wait(0.01)
    place.parent.mkdir()
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("create table t (a)")
    assert waiter.wait(5)
    assert not waiter.wait(0.01)
    waiter.close()
