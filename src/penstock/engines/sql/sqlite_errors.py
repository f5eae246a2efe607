"""What SQLite's errors mean: that its file cannot be used just now, or that a statement never can.

| | is |
|---|---|
| another writes; no room, no memory; the file cannot be opened, read or written, or is damaged | away |
| the store is moved elsewhere, and takes no more writes | away |
| a number or a value that is beyond what every engine takes | refused |
| tables or columns are missing, or a statement is not understood | misconfigured |
"""

from __future__ import annotations

import sqlite3

from penstock.engines.sql.connector import GROWN, HELD
from penstock.errors import InvalidValue, Misconfigured, StoreMoved, TooLarge, Unavailable

_PRIMARY = 0xFF
"The part of a code that tells the kind; the rest tells more of it."
_AWAY = frozenset(
    {
        *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT),
        *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOLFS),
        *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH),
        *(sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB),
        *(sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_ABORT, sqlite3.SQLITE_INTERNAL),
    }
)
_ADVICE = {
    sqlite3.SQLITE_FULL: "make room on its disk",
    sqlite3.SQLITE_READONLY: "have the file and its folder writable again",
    sqlite3.SQLITE_PERM: "have the file and its folder readable and writable",
    sqlite3.SQLITE_CORRUPT: "restore the file from a backup",
    sqlite3.SQLITE_NOTADB: "restore the file from a backup, or name another in the store's URL",
}
_MISSING = ("no such table", "no such column", "has no column named", "no such index", "no such view")
_TOO_MUCH = ("too many", "too large", "too big", "too long", "too complex", "parser stack overflow")


def is_busy(error: sqlite3.Error) -> bool:
    """Is somebody else writing?"""
    return _kind(error) == sqlite3.SQLITE_BUSY


def meaning(error: sqlite3.Error) -> Exception:
    """What an error means to whoever sent the statement."""
    kind, said = _kind(error), str(error)
    if kind == sqlite3.SQLITE_CONSTRAINT and said.startswith(HELD):
        return StoreMoved(said.removeprefix(HELD))
    if kind in _AWAY:
        return Unavailable("; ".join(filter(None, (f"SQLite: {said}", _ADVICE.get(kind)))))
    if kind == sqlite3.SQLITE_TOOBIG:
        return TooLarge(f"SQLite: {said}")
    if not isinstance(error, sqlite3.OperationalError):
        return error
    if kind != sqlite3.SQLITE_ERROR:
        return Unavailable(f"SQLite: {said}")
    if "user-defined function raised" in said:
        return InvalidValue(GROWN)
    if any(words in said for words in _MISSING):
        return Misconfigured(f"{said}; run `penstock tables apply`")
    if any(words in said for words in _TOO_MUCH):
        return TooLarge(f"SQLite: {said}")
    return Misconfigured(f"SQLite does not understand a statement: {said}; run `penstock tables apply`")


def _kind(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_INTERNAL)) & _PRIMARY
