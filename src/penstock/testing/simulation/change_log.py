"""The simulated engine's log of changes: one commit at a time, each change with a place in the order.

A transaction has its places from the moment it begins. While one is open that began earlier, what came after it is not
told, as it would then be told behind what others have been told already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from penstock.errors import FeedTrimmed, InvalidCursor
from penstock.operations.feed_entry import FeedEntry, FeedSlice, LogSize, changed_project, told_change
from penstock.schema.shape import EntityShape
from penstock.testing.simulation.stored_row import StoredRow

Relation = tuple[str | None, str]


class LoggedRow(NamedTuple):
    """One change of one row."""

    place: tuple[int, int]
    relation: Relation
    kind: str
    old: StoredRow | None
    new: StoredRow | None
    cause: str
    at: datetime


class ChangeLog:
    """All changes that are kept, and the transactions that are open."""

    def __init__(self) -> None:
        self.rows: list[LoggedRow] = []
        self.last = 0
        "The number of the last transaction that began."
        self.open: set[int] = set()
        self.forgotten: dict[Relation, tuple[int, int]] = {}

    def copy(self) -> ChangeLog:
        made = ChangeLog()
        made.rows, made.last, made.forgotten = list(self.rows), self.last, dict(self.forgotten)
        return made

    def begin(self) -> int:
        """A transaction's number."""
        self.last += 1
        self.open.add(self.last)
        return self.last

    def commit(self, number: int, changes: Iterable[LoggedRow]) -> None:
        self.open.discard(number)
        self.rows.extend(changes)
        self.rows.sort(key=lambda row: row.place)

    def roll_back(self, number: int) -> None:
        self.open.discard(number)

    def end(self) -> tuple[int, int]:
        """Where it ends: all up to there has committed, and nothing else will have a place before it."""
        return (self.settled(), 0)

    def settled(self) -> int:
        """The first transaction that has not ended, or that has not begun."""
        return min(self.open, default=self.last + 1)

    def read(self, shapes: dict[Relation, EntityShape], *, after: str | None, limit: int) -> FeedSlice:
        end, behind = self.end(), (-1, 0) if after is None else place_of(after)
        if after is not None and any(self.forgotten.get(r, (-1, 0)) > behind for r in shapes):
            raise FeedTrimmed(
                "changes behind this position of the feed are kept no longer; read anew what you follow, and go on "
                "without a position, which is with the oldest that is kept"
            )
        if end <= behind:
            return FeedSlice(position=after)
        found = [row for row in self.rows if row.relation in shapes and behind < row.place < end]
        entries = [_entry(shapes[row.relation], row) for row in found[:limit]]
        return FeedSlice(entries, position=text_of(end) if len(found) < limit else entries[-1].position)

    def trim(self, relations: set[Relation], *, before: str, limit: int) -> int:
        end = place_of(before)
        gone = [row for row in self.rows if row.relation in relations and row.place <= end][:limit]
        for row in gone:
            self.forgotten[row.relation] = row.place
        left = {id(row) for row in gone}
        self.rows = [row for row in self.rows if id(row) not in left]
        return len(gone)

    def size(self, relations: set[Relation]) -> LogSize:
        kept = [row for row in self.rows if row.relation in relations]
        return LogSize(len(kept), kept[0].at if kept else None)

    def since(self, number: int) -> Iterator[LoggedRow]:
        return (row for row in self.rows if row.place[0] > number)


def place_of(position: str) -> tuple[int, int]:
    first, _, second = position.partition(".")
    if not (first.isdecimal() and second.isdecimal()):
        raise InvalidCursor("this is not a position of the feed; pass back the position of an entry")
    return int(first), int(second)


def text_of(place: tuple[int, int]) -> str:
    return f"{place[0]}.{place[1]}"


def _entry(shape: EntityShape, row: LoggedRow) -> FeedEntry:
    old, new = (None if image is None else image.read(shape) for image in (row.old, row.new))
    position = text_of(row.place)
    project: Any = changed_project(shape, old, new)
    return told_change(shape, row.kind, old, new, cause=row.cause, position=position, id=position, project=project)
