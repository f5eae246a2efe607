"""SQLite: one file, one connection for each thread, write-ahead log."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from penstock.engines.sql.connector import Refused
from penstock.engines.sql.dialects import SQLITE
from penstock.engines.sql.sqlite_errors import is_busy, meaning
from penstock.engines.sql.sqlite_waiter import SqliteWaiter
from penstock.engines.sql.statement import Statement
from penstock.errors import Misconfigured, Unavailable
from penstock.net.per_process import generation
from penstock.operations.updates import exact_sum
from penstock.operations.writes import Put
from penstock.ports.private import make_private_file
from penstock.schema.documents import decimal, integer

T = TypeVar("T")

_BEGIN = "begin immediate"
"From then on nobody else writes."
_OPENING = 0.02
"Seconds that SQLite itself waits while a connection is opened."
_FIRST_LOOK, _LOOK = 0.0001, 0.002
"""Seconds between looks for the end of another's writing, which mostly takes a tenth of a millisecond.

SQLite itself looks after a whole one, then ever more seldom, and who looks seldom may never meet it.
"""
_LOG_BYTES = 64 * 1024 * 1024
"What is left of the write-ahead log after a burst; without a limit it keeps the size it had then for ever."

_dumps = msgspec.json.Encoder(order="deterministic").encode
_loads = msgspec.json.Decoder().decode


# Enough for what a page or many keys of a large table lie on; SQLite's own 2 MB are read again each time.
_CACHE = "pragma cache_size = -8000"


def _decimal_add(old: str | None, amount: str) -> str:
    return str(decimal(exact_sum(Decimal(old or 0), Decimal(amount))))


def _integer_add(old: int | None, amount: int) -> int:
    # SQLite itself would go on with a float, and lose the number.
    return integer((old or 0) + amount)


def _decimal_compare(left: str | None, right: str) -> int | None:
    if left is None:
        return None
    a, b = Decimal(left), Decimal(right)
    return (a > b) - (a < b)


def _json_concat(old: str | None, items: str) -> str:
    return _dumps([*_loads(old or "[]"), *_loads(items)]).decode()


def _json_union(old: str | None, members: str) -> str:
    return _dumps(sorted({*_loads(old or "[]"), *_loads(members)})).decode()


def _json_minus(old: str | None, members: str) -> str | None:
    left = sorted(set(_loads(old or "[]")) - set(_loads(members)))
    return _dumps(left).decode() if left else None


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "decimal_add": _decimal_add,
    "integer_add": _integer_add,
    "decimal_compare": _decimal_compare,
    "json_concat": _json_concat,
    "json_union": _json_union,
    "json_minus": _json_minus,
}


class SqliteConnector:
    """Statements on one file. Connections are per thread, and made anew after a fork."""

    dialect = SQLITE
    loses_answers = False

    def __init__(self, path: str, *, busy_seconds: float = 30.0, sleep: Callable[[float], None] = time.sleep) -> None:
        self.path = path
        self._busy, self._sleep = busy_seconds, sleep
        self._local = threading.local()
        self._generation = generation()
        self._waiters: weakref.WeakSet[SqliteWaiter] = weakref.WeakSet()
        self._heard = False
        "Has anybody ever waited here?"

    def connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        local = self._local
        try:
            if local.generation == generation():
                return local.connection  # type: ignore[no-any-return]
        except AttributeError:
            pass
        return self._open()

    def _open(self) -> sqlite3.Connection:
        if self._generation != generation():
            # A forked child must not touch its parent's connections, not even to close them.
            _of_parents.append(self._local)
            self._local, self._generation = threading.local(), generation()
        try:
            connection = self._connect(cached_statements=512, timeout=min(_OPENING, self._busy))
            self._begin_log(connection)
            connection.execute("pragma synchronous = normal")
            connection.execute("pragma foreign_keys = on")
            connection.execute(_CACHE)
            connection.execute(f"pragma journal_size_limit = {_LOG_BYTES}")
            connection.execute("pragma busy_timeout = 0")  # as `_in_turn` waits
        except sqlite3.Error as error:
            raise Unavailable(f"cannot open the SQLite file {self.path}: {error}") from error
        for name, function in _FUNCTIONS.items():
            connection.create_function(name, 2, function, deterministic=True)
        self._local.connection, self._local.generation = connection, self._generation
        return connection

    def _connect(self, *, cached_statements: int = 128, timeout: float | None = None) -> sqlite3.Connection:
        """A connection to the file, which is its owner's alone if it is new; so is what SQLite keeps beside it."""
        try:
            if self.path != ":memory:":
                make_private_file(Path(self.path))
        except OSError as error:
            raise sqlite3.OperationalError(error.strerror) from error
        return sqlite3.connect(
            self.path,
            timeout=self._busy if timeout is None else timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=cached_statements,
        )

    def _begin_log(self, connection: sqlite3.Connection) -> None:
        """Have changes written ahead; of several who open a new file, one does it for all."""
        end = time.monotonic() + self._busy
        while True:
            try:
                connection.execute("pragma journal_mode = wal")
                return
            except sqlite3.OperationalError as error:
                # For one who is about to write SQLite itself does not wait here, whatever the timeout.
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
                self._sleep(0.01)

    def room(self) -> int:
        """How many bytes there is room for beside the file."""
        found = os.statvfs(os.path.dirname(os.path.abspath(self.path)))
        return found.f_bavail * found.f_frsize

    def rows(self, text: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        connection = self.connection()
        try:
            return connection.execute(text, parameters).fetchall()
        except sqlite3.Error as error:
            return self._in_turn(error, lambda: connection.execute(text, parameters).fetchall())

    def _in_turn(self, error: sqlite3.Error, action: Callable[[], T]) -> T:
        """What comes of an action that failed, once nobody else is writing; or what the error means."""
        end, pause = time.monotonic() + self._busy, _FIRST_LOOK
        while is_busy(error) and time.monotonic() < end:
            self._sleep(pause)
            pause = min(2 * pause, _LOOK)
            try:
                return action()
            except sqlite3.Error as again:
                error = again
        raise meaning(error) from error

    def run(self, text: str, parameters: tuple[Any, ...], *, token: str | None = None) -> list[tuple[Any, ...]] | None:
        # There is no wire, so no answer can be lost, and no token is needed.
        return self.rows(text, parameters)

    def together(self, statements: Sequence[Statement], *, token: str | None, wake: Sequence[Put] = ()) -> None:
        connection = self.connection()
        cursor = connection.cursor()
        execute = cursor.execute  # one cursor for all, as each costs its part of a small statement
        alone = len(statements) == 1 and statements[0].stands is None  # which is a transaction by itself
        try:
            first = (statements[0].text, statements[0].parameters) if alone else (_BEGIN,)
            try:
                execute(*first)
            except sqlite3.Error as error:
                self._in_turn(error, lambda: execute(*first))
            for position, statement in enumerate(statements):
                if not alone:
                    execute(statement.text, statement.parameters)
                if statement.must_touch and cursor.rowcount < 1 and not _touched(cursor, statement):
                    raise Refused(position)
            if not alone:
                execute("commit")
        except BaseException as error:
            raise self._undone(connection, error) from error
        if wake and self._heard:
            for waiter in list(self._waiters):
                waiter.wake()

    def expire(self, text: str, parameters: tuple[Any, ...], *, watched: bool) -> int:
        with self._transaction() as connection:
            if watched:
                connection.execute("insert into penstock_cause values ('expiry')")
            removed = len(connection.execute(text, parameters).fetchall())
            if watched:
                connection.execute("delete from penstock_cause")
        return removed

    def many(self, text: str, rows: list[tuple[Any, ...]], *, pivot: str | None = None) -> None:
        with self._transaction() as connection:
            connection.executemany(text, rows)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self.connection()
        try:
            try:
                connection.execute(_BEGIN)
            except sqlite3.Error as error:
                self._in_turn(error, lambda: connection.execute(_BEGIN))
            yield connection
            connection.execute("commit")
        except BaseException as error:
            raise self._undone(connection, error) from error

    def _undone(self, connection: sqlite3.Connection, error: BaseException) -> BaseException:
        """Take everything back; what to raise."""
        if connection.in_transaction:
            try:
                connection.execute("rollback")
            except sqlite3.Error:
                connection.close()  # else nobody could write while anything, such as the error, still speaks of it
                self._local = threading.local()
        return meaning(error) if isinstance(error, sqlite3.Error) else error

    @contextmanager
    def administration(self, *, reading: bool = False, alone: bool = False) -> Iterator[sa.Connection]:
        """A SQLAlchemy connection in one transaction, for creating tables; whoever only looks waits for nobody."""
        engine = sa.create_engine("sqlite://", creator=self._connect, poolclass=sa.NullPool)
        try:
            with engine.connect() as connection:
                connection.exec_driver_sql("begin" if reading else _BEGIN)
                yield connection
                connection.exec_driver_sql("commit")
        except sa.exc.DBAPIError as error:
            raise self._not_administered(error) from error

    def sleep(self, seconds: float) -> None:
        self._sleep(seconds)

    def _not_administered(self, error: sa.exc.DBAPIError) -> Exception:
        if getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
            # The file is in order, and the statement is not.
            return Misconfigured(f"SQLite refuses `{error.statement}`: {error.orig}")
        return Unavailable(f"cannot open the SQLite file {self.path}: {error.orig}")

    def others_wrote(self) -> bool:
        ((version,),) = self.rows("pragma data_version", ())  # which a connection's own commits do not change
        before, self._local.version = getattr(self._local, "version", version), version
        return bool(version != before)

    def listen(self) -> SqliteWaiter:
        waiter = SqliteWaiter(self._connect)
        self._waiters.add(waiter)
        self._heard = True
        return waiter

    def bound(self, project: str) -> SqliteConnector:
        """Itself: a file has no sessions to bind."""
        return self

    def close(self) -> None:
        # A connection that another thread is just using ends with that use: closed under it, SQLite would crash.
        if self._generation == generation():
            self._local = threading.local()


_of_parents: list[threading.local] = []
"What a forked process has inherited and must leave alone."


def _touched(cursor: sqlite3.Cursor, statement: Statement) -> bool:
    """Has a statement that changed no row found one, or is there none to refuse it?"""
    if cursor.description and cursor.fetchone() is not None:
        return True
    there = statement.stands
    return there is not None and cursor.execute(there.text, there.parameters).fetchone() is None
