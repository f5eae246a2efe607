"""Statements that a PostgreSQL session sends again and again, prepared and run by libpq alone.

psycopg's cursor is made for every case, and costs more than the statement of a commit itself: here there are no rows to
decode, and all parameters travel as text. A text that comes only once takes psycopg's way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
from msgspec import to_builtins
from psycopg import pq
from psycopg.errors import error_from_result

from penstock.errors import InvalidValue

_MOST = 200
"So many texts are known to a session; the one not used for longest is forgotten."


class Prepared:
    """The statements that one session knows."""

    def __init__(self) -> None:
        self._names: OrderedDict[str, bytes | None] = OrderedDict()
        self._last = 0

    def run(self, connection: psycopg.Connection[Any], text: str, parameters: Sequence[Any]) -> None:
        """Run a statement whose rows, if any, do not matter; psycopg's errors as of a cursor."""
        if text not in self._names:
            self._remember(connection, text)
            connection.execute(text, parameters)
            return
        name = self._names[text]
        if name is None:
            name = self._names[text] = self._prepare(connection, text)
        self._names.move_to_end(text)
        values = [None if p is None else (_DUMP.get(type(p)) or _dump_of(p))(p) for p in parameters]
        # None is NULL to libpq, as psycopg's own cursors rely on.
        _checked(connection, connection.pgconn.exec_prepared(name, values))  # type: ignore[arg-type]

    def _remember(self, connection: psycopg.Connection[Any], text: str) -> None:
        self._names[text] = None
        if len(self._names) > _MOST:
            _, name = self._names.popitem(last=False)
            if name is not None:
                connection.execute(b"deallocate " + name)

    def _prepare(self, connection: psycopg.Connection[Any], text: str) -> bytes:
        self._last += 1
        name = b"penstock_%d" % self._last
        _checked(connection, connection.pgconn.prepare(name, numbered(text).encode()))
        return name


def numbered(text: str) -> str:
    """The text with its marks as PostgreSQL itself writes them: $1, $2, …"""
    pieces = text.split("%s")
    return "".join(f"{piece}${n}" for n, piece in enumerate(pieces[:-1], 1)) + pieces[-1]


def _checked(connection: psycopg.Connection[Any], result: pq.abc.PGresult) -> None:
    if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
        error = error_from_result(result, encoding=connection.info.encoding)
        # A line that broke has no code by which psycopg could tell what went wrong.
        raise psycopg.OperationalError(str(error)) if connection.broken else error


def _text(value: str) -> bytes:
    if "\x00" in value:  # where libpq would take the text to end
        raise InvalidValue("a text has a NUL character, which PostgreSQL cannot store; remove it")
    return value.encode()


def _dump_of(value: Any) -> Callable[[Any], bytes]:
    """How a value is written that is of a kind of its own, a StrEnum's member for example."""
    for kind in type(value).__mro__:
        if kind in _DUMP:
            return _DUMP[kind]
    raise InvalidValue(f"PostgreSQL cannot be given a {type(value).__name__}")


_DUMP: dict[type, Callable[[Any], bytes]] = {
    str: _text,
    int: lambda v: b"%d" % v,
    bool: lambda v: b"t" if v else b"f",
    float: lambda v: repr(v).encode(),
    Decimal: lambda v: str(v).encode(),
    UUID: lambda v: to_builtins(v).encode(),
    datetime: lambda v: to_builtins(v).encode(),
    date: lambda v: v.isoformat().encode(),
    bytes: lambda v: b"\\x" + v.hex().encode(),
}
