"""What PostgreSQL's errors mean: that it cannot serve just now, though it is there, or that it never will.

| | is | |
|---|---|---|
| no connection; it starts, stops or recovers; no session, memory or disk left; a lock, a time-out | away | made again |
| it takes no writes, as after a fail-over to a standby | away | made again, by another session |
| it says that its own files are damaged, or that it has made a mistake | away | somebody mends it |
| two have crossed each other's way | in the way | made again |
| more than it can take at all | too large | refused |
| tables, columns or rights are missing | misconfigured | refused |
"""

from __future__ import annotations

import psycopg

_LIMIT = "54"
"Something is larger than PostgreSQL can take,"
_WRAPAROUND = "wraparound"
"or it has run out of the numbers of transactions, until somebody vacuums."
_OVER = frozenset({"25P03", "25P04"})
"The session was ended for its age; of the same class as mistakes in the use of transactions."
_READ_ONLY = "25006"
_BROKEN = "XX"
"Damaged tables and indexes, and mistakes of its own."


def is_away(error: BaseException) -> bool:
    """Can the server not serve just now what it could serve at another time?"""
    if not isinstance(error, psycopg.Error):
        return False
    state = error.sqlstate or ""
    if isinstance(error, psycopg.OperationalError):
        return not is_too_large(error)
    return state in _OVER or state == _READ_ONLY or state.startswith(_BROKEN)


def is_too_large(error: psycopg.Error) -> bool:
    """Is it more than PostgreSQL takes, however often it is tried?"""
    return (error.sqlstate or "").startswith(_LIMIT) and _WRAPAROUND not in str(error)


def is_read_only(error: psycopg.Error) -> bool:
    """Does the server take no writes? Another, to which the same address leads by now, may."""
    return error.sqlstate == _READ_ONLY


def why_away(error: BaseException) -> str:
    """What is told of a server that cannot serve, and what to do where somebody has to."""
    told = f"PostgreSQL: {first_line(error)}"
    state = getattr(error, "sqlstate", None) or ""
    if state == _READ_ONLY:
        return (
            f"{told}; it is a standby, or was set so. It is waited for: if it stays so, have the store's URL name the "
            "server that takes writes (target_session_attrs=read-write, where it names several)"
        )
    if state.startswith(_BROKEN):
        return f"{told}; somebody has to mend the server, or restore it from a backup"
    return told


def first_line(error: BaseException) -> str:
    """What an error says first."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
