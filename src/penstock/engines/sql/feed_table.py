"""The feed on SQL: triggers write each change of a watched table into a log, in the same commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

import sqlalchemy as sa

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.dialect import Dialect
from penstock.engines.sql.postgres_log import PostgresLog
from penstock.engines.sql.postgres_log_schema import postgres_log_steps
from penstock.engines.sql.sqlite_log import SqliteLog, sqlite_log_steps
from penstock.engines.sql.statements import Statements
from penstock.operations.feed_entry import FeedSlice, LogSize
from penstock.operations.plan import PlanStep
from penstock.schema.shape import EntityShape

StatementsOf: TypeAlias = Callable[[EntityShape], Statements]


class DialectLog(Protocol):
    """What each dialect's log can be asked; entities are told by the names of their tables."""

    def end(self, after: str | None) -> str:
        """Where it ends: every change up to there has committed, and no other will have a place before it."""
        ...

    def read(self, watched: Sequence[Statements], *, after: str | None, limit: int) -> FeedSlice: ...

    def trim(self, relations: Sequence[str], *, before: str, limit: int) -> int: ...

    def size(self, relations: Sequence[str]) -> LogSize: ...


def feed_steps(inspector: sa.Inspector, dialect: Dialect, shapes: Sequence[EntityShape]) -> Iterator[PlanStep]:
    """The log and the triggers of every entity whose table has a feed."""
    watched = [s for s in shapes if s.table.feed]
    if watched:
        steps = postgres_log_steps if dialect.schemas else sqlite_log_steps
        yield from steps(inspector, dialect, watched)


def read_changes(
    connector: Connector, statements_of: StatementsOf, shapes: Sequence[EntityShape], *, after: str | None, limit: int
) -> FeedSlice:
    """Committed changes in order, behind a position."""
    watched = [statements_of(shape) for shape in shapes if shape.table.feed]
    return _log(connector).read(watched, after=after, limit=limit) if watched else FeedSlice(position=after)


def feed_end(connector: Connector, shapes: Sequence[EntityShape], *, after: str | None) -> str | None:
    """Where the log ends; None where there is none."""
    return _log(connector).end(after) if any(shape.table.feed for shape in shapes) else None


def trim_changes(connector: Connector, shapes: Sequence[EntityShape], *, before: str, limit: int) -> int:
    """Forget changes up to a position, the oldest first; how many."""
    relations = _relations(connector, shapes)
    return _log(connector).trim(relations, before=before, limit=limit) if relations else 0


def log_size(connector: Connector, shapes: Sequence[EntityShape]) -> LogSize:
    """How many changes are kept, and since when."""
    relations = _relations(connector, shapes)
    return _log(connector).size(relations) if relations else LogSize(0)


def _log(connector: Connector) -> DialectLog:
    return PostgresLog(connector) if connector.dialect.schemas else SqliteLog(connector)


def _relations(connector: Connector, shapes: Sequence[EntityShape]) -> list[str]:
    return [connector.dialect.relation(s.domain, s.relation) for s in shapes if s.table.feed]
