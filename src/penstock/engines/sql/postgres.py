"""PostgreSQL through psycopg 3: a commit is one statement, in one round trip."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import psycopg
import sqlalchemy as sa
from psycopg import errors as pg

from penstock.engines.sql.connections import Connections
from penstock.engines.sql.connector import GROWN, HELD_STATE, HeldByOthers, Refused
from penstock.engines.sql.dialects import POSTGRES, POSTGRES_BOUND
from penstock.engines.sql.isolation import TENANT
from penstock.engines.sql.lock_order import arranged, in_order
from penstock.engines.sql.postgres_errors import first_line, is_away, is_read_only, is_too_large, why_away
from penstock.engines.sql.postgres_waiter import PostgresWaiter
from penstock.engines.sql.session import Call, Session, plain_call
from penstock.engines.sql.session_binding import why_unbound
from penstock.engines.sql.session_pool import SessionPool
from penstock.engines.sql.sets import FEWEST, as_rows, joined
from penstock.engines.sql.statement import Statement
from penstock.engines.sql.statement_chain import UNBOUND, chain, guarded, noting, once, remembering
from penstock.errors import InvalidValue, Misconfigured, OutOfScope, PenstockError, StoreMoved, TooLarge, Unavailable
from penstock.net.backoff import Backoff, Patience
from penstock.operations.announcement import announcement
from penstock.operations.writes import Put

T = TypeVar("T")

_BACKOFF = Backoff(first=0.05, longest=2.0, factor=2.1)
# Seconds before each further attempt: at once on a broken connection, then long enough for a server to restart.
_PAUSES = (0.0, *(_BACKOFF.bound(failures) for failures in range(1, 7)))
# Of those who wait for each other PostgreSQL ends one, after a second; nothing of it was done.
_CROSSED = (pg.DeadlockDetected, pg.SerializationFailure)
_CROSSING = Backoff(first=0.02, longest=0.5)
_PATIENCE = 30.0
"Seconds for which others may be in the way of one commit."
_JOINED = 200
"So many rows are loaded by one statement."
_EXPIRING = "select set_config('penstock.cause', 'expiry', true)"
# Nobody repeats a commit after a day.
_FORGETTING = (
    "delete from penstock.commits where token = any(array(select token from penstock.commits "
    "where at < now() - interval '1 day' limit 10000 for update skip locked))"
)
# While a table's lock is waited for, all who come later for the table wait as well.
_BUILDING = "select pg_try_advisory_lock(7363571)"
_BRIEFLY = "set local lock_timeout = '400ms'"


class PostgresConnector:
    """Statements on one database, over a pool of sessions. Opened lazily, and anew after a fork."""

    dialect = POSTGRES
    loses_answers = True
    _role: str | None = None
    _proof: tuple[str, ...] = ()
    "With what a statement proves where it is, if that matters: the project of its session."

    def __init__(self, url: str, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.connections = connections = Connections(url)
        self.url = self.connections.url
        self._sleep = sleep
        self.pool = SessionPool(lambda role: connections.connect(role=role), most=connections.most)
        self._can_bind = False
        self._parameter_types: dict[str, tuple[str, ...]] = {}

    # Connections

    def bound(self, project: str) -> BoundConnector:
        if not self._can_bind:
            if reason := self._attempt(why_unbound):
                raise Misconfigured(reason)
            self._can_bind = True
        return BoundConnector(self, project)

    def _take(self) -> Session:
        session = self.pool.take(self._role)
        if self.connections.shared and session.names is not None:
            return self.pool.replace(session, self._role)
        return session

    def _forbidden(self, error: pg.InsufficientPrivilege) -> PenstockError:
        return Misconfigured(f"PostgreSQL: {first_line(error)}; grant it to the user of the store's URL")

    def _attempt(self, action: Callable[[Session], T]) -> T:
        """Do something on a connection; again on a fresh one when the connection broke.

        Whatever is done here may be done twice: reads by nature, writes because they recognise themselves.
        """
        repeated = False
        pauses = iter(_PAUSES)
        patience: Patience | None = None
        while True:
            connection = None
            try:
                connection = self._take()
                result = action(connection)
            except Refused as refused:
                self._give_back(connection)
                raise Refused(refused.position, repeated=repeated) from None
            except (pg.InvalidSqlStatementName, pg.DuplicatePreparedStatement) as error:
                # It is of another session than ours, so nothing was done.
                self._give_back(connection, broken=True)
                self.connections.share(first_line(error))
                if next(pauses, None) is None:
                    raise Unavailable("PostgreSQL: its sessions change from one statement to the next") from error
            except _CROSSED as error:
                # It was undone, and whoever was in the way goes on.
                self._give_back(connection)
                patience = patience or Patience(_CROSSING, _PATIENCE, sleep=self._sleep)
                if not patience.wait():
                    raise Unavailable(f"PostgreSQL: {first_line(error)}, again and again") from error
            except psycopg.Error as error:
                repeated = repeated or (connection is not None and connection.broken)
                # Others of the same age lead to the same server, and another may take writes by now.
                self._give_back(connection, broken=is_read_only(error))
                if not is_away(error):
                    raise self._translated(error) from error
                if (pause := next(pauses, None)) is None:
                    raise Unavailable(why_away(error)) from error
                self._sleep(pause)
            except BaseException:
                self._give_back(connection)
                raise
            else:
                self.pool.keep(connection, self._role)
                return result

    def _give_back(self, connection: Session | None, *, broken: bool = False) -> None:
        """Keep a connection that still works; after one that broke, the idle ones are most likely dead as well."""
        if connection is None:
            return
        if broken or connection.closed or connection.broken:
            self.pool.lose(connection)
            self.pool.close()
        else:
            self.pool.keep(connection, self._role)

    def _translated(self, error: psycopg.Error) -> Exception:
        """What a statement's error means to whoever sent it."""
        match error:
            case _ if error.sqlstate == HELD_STATE:
                return StoreMoved(first_line(error))
            case pg.UndefinedTable() | pg.InvalidSchemaName() | pg.UndefinedColumn() | pg.UndefinedFunction():
                return Misconfigured(f"{first_line(error)}; run `penstock tables apply`")
            case pg.InsufficientPrivilege():
                return self._forbidden(error)
            case pg.NumericValueOutOfRange():
                return InvalidValue(GROWN)
            case _ if is_too_large(error):
                return TooLarge(f"PostgreSQL: {first_line(error)}")
            case pg.InvalidTextRepresentation() if UNBOUND in str(error):
                return Misconfigured(
                    "something between here and PostgreSQL sends one transaction to several servers, so that no "
                    "statement is sure to be bound to its project; have it keep transactions together, or scope with "
                    "enforce=False, which filters in Python alone"
                )
        return error

    # Statements

    def _binding(self) -> tuple[Call, ...]:
        """What is said before the statements of a transaction, in the same breath."""
        return (self.connections.binding(),) if self.connections.shared else ()

    def _guarded(self, text: str, given: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        """A statement that proves where it is, if that matters."""
        return text, given

    def rows(self, text: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        text, given = self._guarded(text, parameters)
        return self._attempt(lambda c: c.read(c.exchange((*self._binding(), c.call(text, given)))[-1]))

    def run(self, text: str, parameters: tuple[Any, ...], *, token: str | None = None) -> list[tuple[Any, ...]] | None:
        if token is None:
            return self.rows(text, parameters)
        text, given = self._remembering(text, (token, *parameters))
        try:
            rows = self._attempt(
                lambda c: once(lambda: c.read(c.exchange((*self._binding(), c.call(text, given)))[-1])),
            )
        except Refused:
            return []
        return None if rows is None else [row[1:] for row in rows]

    def _remembering(self, text: str, given: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        return remembering(text, guarded=False), given

    def together(self, statements: Sequence[Statement], *, token: str | None, wake: Sequence[Put] = ()) -> None:
        if len(statements) == 1 and token is not None:  # a patch, as nothing else that comes alone has to be remembered
            return self._alone(statements[0], token)
        news = announcement(wake) if wake else None
        order = in_order(statements)
        todo = statements if order is None else [statements[p] for p in order]
        several = arranged(todo, self._types)
        repeated = False
        try:
            if several is not None:
                try:
                    return self._chain(several, token, news)
                except Refused as joined:
                    repeated = joined.repeated  # which one of many it was can be told only one by one
            self._chain(todo, token, news, order)
        except Refused as refused:
            raise Refused(refused.position, repeated=repeated or refused.repeated) from None
        except InvalidValue:
            if several is None and order is None:
                raise
            # One that was given before it may be refused, and is told first.
            self._chain(statements, token, news)

    def _alone(self, statement: Statement, token: str) -> None:
        """One update that leaves its token, as most saves are: for the first time in the quickest way.

        Once its answer was lost, or it has touched no row, it is sent in the way that recognises itself.
        """
        quick: Call | None = self._noted(statement, token)

        def action(session: Session) -> None:
            nonlocal quick
            first, quick = quick, None
            if first is not None:
                done = once(lambda: session.exchange((*self._binding(), first)))
                if done is None or done[-1].command_tuples:
                    return
            sure = self._chained((statement,), token, news=None, order=None)
            once(lambda: session.exchange((*self._binding(), sure)))

        self._attempt(action)

    def _noted(self, statement: Statement, token: str) -> Call:
        return plain_call(noting(statement.text, guarded=False), (*statement.parameters, token))

    def _types(self, text: str) -> tuple[str, ...]:
        """The types that PostgreSQL finds for a text's parameters."""
        types = self._parameter_types.get(text)
        if types is None:
            types = self._parameter_types[text] = self._attempt(lambda c: c.parameter_types(text))
        return types

    def _chain(
        self, statements: Sequence[Statement], token: str | None, news: str | None, order: Sequence[int] | None = None
    ) -> None:
        """Carry out statements; ``order`` tells the positions in which they were given, if those are others.

        For the first time in the quickest way. Once its answer was lost, or something stands where nobody else can have
        written, they are sent in the way that tells which of them is refused.
        """
        quick: Call | None = self._chained(statements, token, news, order, hoping=True)

        def action(session: Session) -> None:
            nonlocal quick
            first, quick = quick, None
            if first is not None:
                try:
                    once(lambda: session.exchange((*self._binding(), first)))
                    return
                except pg.UniqueViolation:
                    pass
            sure = self._chained(statements, token, news, order)
            once(lambda: session.exchange((*self._binding(), sure)))

        self._attempt(action)

    def _chained(
        self,
        statements: Sequence[Statement],
        token: str | None,
        news: str | None,
        order: Sequence[int] | None,
        *,
        hoping: bool = False,
    ) -> Call:
        text, given = chain(statements, token, news, order, hoping=hoping, guarded=bool(self._proof))
        return plain_call(text, (*given, *self._proof))

    def many(self, text: str, rows: list[tuple[Any, ...]], *, pivot: str | None = None) -> None:
        if pivot is not None and len(rows) >= FEWEST and "bytea" not in (types := self._types(text)):
            text = joined(text, pivot, types)
            rows = [(as_rows(rows[at : at + _JOINED]),) for at in range(0, len(rows), _JOINED)]
        calls = [plain_call(*self._guarded(text, row)) for row in rows]
        self._attempt(lambda c: c.exchange((*self._binding(), *calls)))

    def expire(self, text: str, parameters: tuple[Any, ...], *, watched: bool) -> int:
        def action(connection: Session) -> int:
            calls = (Call(_EXPIRING), Call(_FORGETTING), plain_call(text, parameters))
            return connection.exchange((*self._binding(), *calls))[-1].ntuples

        return self._attempt(action)

    def others_wrote(self) -> bool:
        return False  # or nobody who had to wait, as many write at a time

    def listen(self) -> PostgresWaiter:
        return PostgresWaiter(self._listener)

    def _listener(self) -> Session | None:
        """A connection that hears of commits; None where none can."""
        session = self.connections.connect()
        if not self.connections.shared:
            return session
        session.close()
        return None

    @contextmanager
    def administration(self, *, reading: bool = False, alone: bool = False) -> Iterator[sa.Connection]:
        """A SQLAlchemy connection in one transaction, alone: two processes never create the same thing at once.

        Whoever only looks disturbs nobody, and waits for nobody.
        """
        engine = sa.create_engine("postgresql+psycopg://", creator=self._begun)
        try:
            if alone:
                with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    self._take_turns(connection)
                    yield connection
                return
            with engine.begin() as connection:
                for call in self._binding():
                    connection.exec_driver_sql(call.text, tuple(str(v, "utf8") for v in call.values if v is not None))
                if not reading:
                    connection.exec_driver_sql("select pg_advisory_xact_lock(7363570)")
                    connection.exec_driver_sql(_BRIEFLY)
                yield connection
        except sa.exc.DBAPIError as error:
            raise self._not_administered(error) from error
        finally:
            engine.dispose()

    def _take_turns(self, connection: sa.Connection) -> None:
        """Asked for again and again: whoever waited within a statement would be waited for by who builds an index.

        Where sessions are anybody's none can be told by it; two who build the same thing there do so twice.
        """
        while not self.connections.shared and not connection.exec_driver_sql(_BUILDING).scalar():
            self._sleep(0.2)

    def sleep(self, seconds: float) -> None:
        self._sleep(seconds)

    def _begun(self) -> Session:
        session = self.connections.connect()
        session.autocommit = False
        return session

    def _not_administered(self, error: sa.exc.DBAPIError) -> Exception:
        reason = error.orig or error
        if isinstance(reason, pg.LockNotAvailable | pg.DeadlockDetected):
            return HeldByOthers(first_line(reason))
        if isinstance(reason, pg.InsufficientPrivilege):
            return self._forbidden(reason)
        if is_away(reason):
            return Unavailable(f"cannot reach PostgreSQL: {first_line(reason)}")
        return Misconfigured(f"PostgreSQL refuses `{error.statement}`: {first_line(reason)}")

    def close(self) -> None:
        self.pool.close()


class BoundConnector(PostgresConnector):
    """The same database, as a role whose rows are those of one project.

    Every transaction begins by becoming that role for that project, and every statement proves that it is so: behind a
    proxy, a session may be anybody's. Where sessions are kept, the role is part of how they start as well, so that
    ``reset role`` and ``discard all`` do not end it. This holds back a forgotten condition, not somebody who may run
    any statement at all: ``set role none`` is one.
    """

    dialect = POSTGRES_BOUND
    _role: str | None = TENANT

    def __init__(self, whole: PostgresConnector, project: str) -> None:
        self.connections, self.url, self._sleep = whole.connections, whole.url, whole._sleep
        self.pool = whole.pool
        self._project, self._proof = project, (project,)
        self._bindings: dict[bool, tuple[Call, ...]] = {}
        self._parameter_types = whole._parameter_types

    def bound(self, project: str) -> BoundConnector:
        if project != self._project:
            raise OutOfScope("sessions of one project cannot be bound to another; use the store itself")
        return self

    def _binding(self) -> tuple[Call, ...]:
        shared = self.connections.shared
        made = self._bindings.get(shared)
        if made is None:
            made = self._bindings[shared] = (self.connections.binding(role=TENANT, project=self._project),)
        return made

    def _guarded(self, text: str, given: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        return guarded(text), (*given, self._project)

    def _remembering(self, text: str, given: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        return remembering(text, guarded=True), (*given, self._project)

    def _noted(self, statement: Statement, token: str) -> Call:
        return plain_call(noting(statement.text, guarded=True), (*statement.parameters, token, self._project))

    def _forbidden(self, error: pg.InsufficientPrivilege) -> PenstockError:
        return OutOfScope(
            f"PostgreSQL: {first_line(error)}, in a session bound to one project; a table that is new to penstock "
            f"needs `penstock tables apply`"
        )

    def administration(self, *, reading: bool = False, alone: bool = False) -> NoReturn:
        raise OutOfScope("tables are created and grown for all projects at once; use the store itself")

    def close(self) -> None:
        self.pool.close(self._role)
