"""PostgreSQL through psycopg 3: a commit is one statement, in one round trip."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

import msgspec
import psycopg
import sqlalchemy as sa
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import set_json_loads

from penstock.engines.sql.dialects import POSTGRES, POSTGRES_BOUND
from penstock.engines.sql.engine import GROWN, Refused
from penstock.engines.sql.forks import generation
from penstock.engines.sql.isolation import TENANT, why_unbound
from penstock.engines.sql.postgres_waiter import CHANNEL, PostgresWaiter
from penstock.engines.sql.prepared import Prepared, numbered
from penstock.engines.sql.sets import alike, joined, rows_of
from penstock.engines.sql.statements import Statement
from penstock.errors import InvalidValue, Misconfigured, OutOfScope, PenstockError, Unavailable

T = TypeVar("T")

# PostgreSQL has no way to say "stop" inside a statement but an error; the text of this one tells where.
_REFUSAL = "penstock refuses write "


# Every statement walks a known index, so planning it once is enough; planning costs more than running it.
_OPTIONS = "-c timezone=UTC -c plan_cache_mode=force_generic_plan -c enable_seqscan=off"

# Seconds before each further attempt: at once on a broken line, then long enough for a server to restart.
_PAUSES = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)

# A commit that could not recognise itself by what stands there leaves its token; a repetition meets it.
_REMEMBER = "remembered as (insert into penstock.commits (token) values (%s) returning 1)"
_KNOWN = "when not exists (select from remembered) then null"


class _Session(psycopg.Connection[tuple[Any, ...]]):
    """A connection, and the project it is bound to."""

    project: str | None = None
    prepared: Prepared


class _Idle:
    """Connections at rest, last in, first out."""

    def __init__(self) -> None:
        self._sessions: list[_Session] = []
        self._generation = generation()

    def take(self) -> _Session | None:
        if self._generation != generation():
            # A forked child must not speak on its parent's sockets, not even to say goodbye.
            self._sessions, self._generation = [], generation()
        try:
            return self._sessions.pop()
        except IndexError:
            return None

    def keep(self, session: _Session) -> None:
        self._sessions.append(session)

    def forget(self) -> None:
        self._sessions.clear()

    def close(self) -> None:
        while session := self.take():
            session.close()


def _check_url(url: str) -> None:
    """Refuse what may be read otherwise than it was meant, before anybody quotes a piece of the password."""
    try:
        said = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        said = {"port": "unreadable"}
    authority, _, path = url.partition("://")[2].partition("/")
    ports = str(said.get("port") or "").replace(",", "") or "0"
    user = authority.rpartition("@")[0]
    if "?" in user or "@" in user or "@" in path.partition("?")[0] or not ports.isdecimal():
        raise Misconfigured(
            "PENSTOCK_STORE is no PostgreSQL URL; write signs of a password by their codes: "
            "% as %25, @ as %40, / as %2F, ? as %3F"
        )


class PostgresConnector:
    """Statements on one database, over a stack of connections. Opened lazily, and anew after a fork."""

    dialect = POSTGRES
    options = _OPTIONS

    def __init__(self, url: str, *, sleep: Callable[[float], None] = time.sleep) -> None:
        _check_url(url)
        self.url = url
        self._sleep = sleep
        self._idle = _Idle()
        self._idle_bound = _Idle()
        self._can_bind = False
        self._parameter_types: dict[str, tuple[str, ...]] = {}

    # Connections

    def bound(self, project: str) -> BoundConnector:
        if not self._can_bind:
            if reason := self._attempt(why_unbound):
                raise Misconfigured(reason)
            self._can_bind = True
        return BoundConnector(self.url, project, self._idle_bound, sleep=self._sleep)

    def _take(self) -> _Session:
        return self._idle.take() or self._connect()

    def _connect(self) -> _Session:
        # What the URL sets is set as well, where it is not what the engine itself relies on.
        options = f"{conninfo_to_dict(self.url).get('options') or ''} {self.options}"
        connection = _Session.connect(self.url, autocommit=True, options=options)
        connection.prepare_threshold = 2
        connection.prepared = Prepared()
        set_json_loads(msgspec.json.decode, connection)
        return connection

    def _forbidden(self, error: pg.InsufficientPrivilege) -> PenstockError:
        return Misconfigured(f"PostgreSQL: {_first_line(error)}; grant it to the user of the store's URL")

    def _attempt(self, action: Callable[[_Session], T]) -> T:
        """Do something on a connection; again on a fresh one when the connection broke.

        Whatever is done here may be done twice: reads by nature, writes because they recognise themselves.
        """
        repeated = False
        for pause in (*_PAUSES, None):
            connection = None
            try:
                connection = self._take()
                result = action(connection)
            except Refused as refused:
                self._give_back(connection)
                raise Refused(refused.position, repeated=repeated) from None
            except psycopg.OperationalError as error:
                repeated = repeated or (connection is not None and connection.broken)
                self._give_back(connection)
                if pause is None:
                    raise Unavailable(f"PostgreSQL: {_first_line(error)}") from error
                self._sleep(pause)
            except (pg.UndefinedTable, pg.InvalidSchemaName, pg.UndefinedColumn) as error:
                self._give_back(connection)
                raise Misconfigured(f"{_first_line(error)}; run `penstock tables apply`") from error
            except pg.InsufficientPrivilege as error:
                self._give_back(connection)
                raise self._forbidden(error) from error
            except pg.NumericValueOutOfRange:
                self._give_back(connection)
                raise InvalidValue(GROWN) from None
            except BaseException:
                self._give_back(connection)
                raise
            else:
                self._idle.keep(connection)
                return result
        raise AssertionError("the last attempt returns or raises")

    def _give_back(self, connection: _Session | None) -> None:
        """Keep a connection that still works; after one that broke, the idle ones are most likely dead as well."""
        if connection is None:
            return
        if connection.closed or connection.broken:
            connection.close()
            self._idle.forget()
        else:
            self._idle.keep(connection)

    # Statements

    def rows(self, text: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._attempt(lambda c: c.execute(text, parameters, binary=True).fetchall())

    def run(self, text: str, parameters: tuple[Any, ...], *, token: str | None = None) -> list[tuple[Any, ...]] | None:
        if token is None:
            return self._attempt(lambda c: _fetched(c.execute(text, parameters, binary=True)))
        remembering, parameters = _remembering(text), (token, *parameters)
        try:
            rows = self._attempt(lambda c: _once(lambda: _fetched(c.execute(remembering, parameters, binary=True))))
        except Refused:
            return []
        return None if rows is None else [row[1:] for row in rows]

    def together(self, statements: Sequence[Statement], *, token: str | None, wake: bool = False) -> None:
        todo = self._joined(statements)
        try:
            self._chain(todo, token, wake)
        except Refused as joined:
            if len(todo) == len(statements):
                raise
            # Which one of many was refused can be told only one by one.
            try:
                self._chain(statements, token, wake)
            except Refused as told:
                raise Refused(told.position, repeated=joined.repeated or told.repeated) from None

    def _joined(self, statements: Sequence[Statement]) -> Sequence[Statement]:
        """The statements, those of one text joined into one where there are many."""
        sets = alike(statements)
        if not sets:
            return statements
        out = [s for s in statements if s.text not in sets]
        for text, positions in sets.items():
            several = [statements[p] for p in positions]
            types = self._types(text)
            if "bytea" in types:  # which JSON does not hold
                out += several
                continue
            rows = len(several) if several[0].must_touch else None
            one = joined(text, several[0].pivot or "", types)
            out.append(Statement(one, (rows_of(several),), must_touch=several[0].must_touch, rows=rows))
        return out

    def _types(self, text: str) -> tuple[str, ...]:
        """The types that PostgreSQL finds for a text's parameters."""
        types = self._parameter_types.get(text)
        if types is None:
            types = self._parameter_types[text] = self._attempt(lambda c: _parameter_types(c, text))
        return types

    def _chain(self, statements: Sequence[Statement], token: str | None, wake: bool) -> None:
        text = _chained(tuple([_form(s) for s in statements]), token is not None, wake)
        parameters = _parameters(statements, token)

        self._attempt(lambda c: _once(lambda: c.prepared.run(c, text, parameters)))

    def many(self, text: str, rows: list[tuple[Any, ...]]) -> None:
        def action(connection: _Session) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(text, rows)

        self._attempt(action)

    def expire(self, text: str, parameters: tuple[Any, ...], *, watched: bool) -> int:
        def action(connection: _Session) -> int:
            with connection.transaction():
                connection.execute("set local penstock.cause = 'expiry'")
                # Nobody repeats a commit after a day.
                connection.execute("delete from penstock.commits where at < now() - interval '1 day'")
                return len(connection.execute(text, parameters).fetchall())

        return self._attempt(action)

    def listen(self) -> PostgresWaiter:
        return PostgresWaiter(lambda: psycopg.connect(self.url, autocommit=True))

    @contextmanager
    def administration(self) -> Iterator[sa.Connection]:
        """A SQLAlchemy connection in one transaction, alone: two processes never create the same thing at once."""
        engine = sa.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(self.url))
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql("select pg_advisory_xact_lock(7363570)")
                yield connection
        except sa.exc.DBAPIError as error:
            raise self._not_administered(error) from error
        finally:
            engine.dispose()

    def _not_administered(self, error: sa.exc.DBAPIError) -> PenstockError:
        reason = error.orig or error
        if isinstance(reason, pg.InsufficientPrivilege):
            return self._forbidden(reason)
        if isinstance(error, sa.exc.OperationalError):
            return Unavailable(f"cannot reach PostgreSQL: {_first_line(reason)}")
        return Misconfigured(f"PostgreSQL refuses `{error.statement}`: {_first_line(reason)}")

    def close(self) -> None:
        self._idle.close()
        self._idle_bound.close()


class BoundConnector(PostgresConnector):
    """The same database, through sessions of a role whose rows are those of one project.

    Sessions are shared by all projects, each set to one before it is used. The role is part of how they start, so that
    ``reset role`` and ``discard all`` do not end it. This holds back a forgotten condition, not somebody who may run
    any statement at all: ``set role none`` is one.
    """

    dialect = POSTGRES_BOUND
    options = f"{_OPTIONS} -c role={TENANT}"

    def __init__(self, url: str, project: str, idle: _Idle, *, sleep: Callable[[float], None]) -> None:
        super().__init__(url, sleep=sleep)
        self._project = project
        self._idle = idle

    def bound(self, project: str) -> BoundConnector:
        if project != self._project:
            raise OutOfScope("sessions of one project cannot be bound to another; use the store itself")
        return self

    def _take(self) -> _Session:
        session = super()._take()
        if session.project == self._project:
            return session
        session.project = None
        try:
            session.execute("select set_config('penstock.project', %s, false)", (self._project,))
        except BaseException:
            session.close()
            self._idle.forget()
            raise
        session.project = self._project
        return session

    def _forbidden(self, error: pg.InsufficientPrivilege) -> PenstockError:
        return OutOfScope(
            f"PostgreSQL: {_first_line(error)}, in a session bound to one project; a table that is new to penstock "
            f"needs `penstock tables apply`"
        )

    def administration(self) -> NoReturn:
        raise OutOfScope("tables are created and grown for all projects at once; use the store itself")


def _form(statement: Statement) -> tuple[str, bool, str | None, bool]:
    """What a statement says without its parameters."""
    stands = statement.stands.text if statement.stands else None
    return statement.text, statement.must_touch, stands, statement.rows is not None


@lru_cache(maxsize=512)
def _chained(forms: tuple[tuple[str, bool, str | None, bool], ...], remembered: bool, wake: bool) -> str:
    """All statements as one: a chain of named parts, and a last one that stops everything when a part was refused."""
    parts = [_REMEMBER] if remembered else []
    refusals = []
    for position, (text, must_touch, stands, counted) in enumerate(forms):
        suffix = " for share" if text.startswith("select") else " returning 1"
        parts.append(f"w{position} as ({text}{suffix})")
        if not must_touch:
            continue
        refused = f"not exists (select from w{position})"
        if counted:
            refused = f"(select count(*) from w{position}) <> %s"
        if stands is not None:
            refused += f" and exists ({stands})"
        refusals.append(f"when {refused} then {_refuse(position)}")
    if remembered:
        # Asked first, so that a repetition is recognised before its writes refuse themselves.
        refusals.insert(0, _KNOWN)
    last = f"select case {' '.join(refusals)} end" if refusals else "select 1"
    if wake:
        last += f", pg_notify('{CHANNEL}', '')"
    return f"with {', '.join(parts)} {last}"


def _remembering(text: str) -> str:
    """A statement that leaves its token, unless it touches no row; of each row, the first column is not its own."""
    stop = f"case {_KNOWN} when not exists (select from done) then {_refuse(0)} end"
    return f"with {_REMEMBER}, done as ({text}) select {stop}, done.* from (select) as one left join done on true"


def _refuse(position: int) -> str:
    """What stops a statement; not a constant, which PostgreSQL would compute while it plans."""
    return f"cast('{_REFUSAL}{position}' || left(now()::text, 0) as integer)"


def _once(statement: Callable[[], T]) -> T | None:
    """What a statement returns, None when its token says that it ran before; Refused when it has stopped itself."""
    try:
        return statement()
    except pg.UniqueViolation as error:
        if not _is_repetition(error):
            raise
        return None
    except pg.InvalidTextRepresentation as error:
        message = str(error)
        if _REFUSAL not in message:
            raise
        raise Refused(int(message.split(_REFUSAL)[1].split('"')[0])) from None


def _fetched(cursor: psycopg.Cursor[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return cursor.fetchall() if cursor.description else []


def _parameters(statements: Sequence[Statement], token: str | None) -> list[Any]:
    """The parameters in the order in which `_chained` has their marks."""
    parameters: list[Any] = [] if token is None else [token]
    for statement in statements:
        parameters += statement.parameters
    for statement in statements:
        if statement.rows is not None:
            parameters.append(statement.rows)
        elif statement.stands is not None:
            parameters += statement.stands.parameters
    return parameters


def _parameter_types(connection: _Session, text: str) -> tuple[str, ...]:
    connection.execute(f"prepare penstock_probe as {numbered(text)}".encode())
    try:
        found = connection.execute(
            "select parameter_types::text[] from pg_prepared_statements where name = 'penstock_probe'"
        ).fetchone()
    finally:
        connection.execute("deallocate penstock_probe")
    assert found is not None
    return tuple(found[0])


def _is_repetition(error: pg.UniqueViolation) -> bool:
    return error.diag.constraint_name == "commits_pkey" and error.diag.schema_name == "penstock"


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
