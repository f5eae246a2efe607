"""Several kinds of records of one partition: one statement for each kind, and their rows in the order of sort keys."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from penstock.engines.sql.row_reads import PAGE, RowForm, RowReads
from penstock.engines.sql.rows import Row, projected
from penstock.engines.sql.statements import Statements
from penstock.errors import DamagedRecord, InvalidCursor, InvalidValue
from penstock.operations.item_collection import ItemCollection, Places
from penstock.operations.reads import Page, Place, Unreadable
from penstock.schema.shape import EntityShape


class RowCollections:
    """Reads several kinds as one answer."""

    def __init__(self, reads: RowReads, statements_of: Callable[[EntityShape], Statements]) -> None:
        self._reads, self._statements_of = reads, statements_of

    def find(self, collection: ItemCollection[Any], limit: int | None, after: Places | None, now: int) -> Page[Any]:
        """A page of all kinds together."""
        most = limit or PAGE
        places: list[Place | None] = [None] * len(collection.members) if after is None else list(after.members)
        if len(places) != len(collection.members):
            raise InvalidCursor(f"the cursor is one of another collection than {collection.label}; leave it out")
        begin = collection.furthest(places)
        kinds = [self._entries(collection, n, most + 1, p, begin, now) for n, p in enumerate(places)]
        merged = list(heapq.merge(*kinds, key=lambda e: e.order, reverse=collection.backwards))
        for entry in merged[:most]:
            places[entry.member] = entry.place
        found = [e.found for e in merged[:most]]
        bad = tuple(f for f in found if isinstance(f, Unreadable))
        records = [f for f in found if not isinstance(f, Unreadable)]
        last = merged[:most][-1].member if found else 0
        return Page(records, len(merged) > most, bad, Places(tuple(places), last))

    def _entries(
        self, collection: ItemCollection[Any], member: int, most: int, after: Place | None, begin: Any, now: int
    ) -> Iterator[_Entry]:
        """At most so many rows of one kind, none before where the page begins."""
        query = collection.members[member]
        statements = self._statements_of(query.pattern.entity)
        form = RowForm(statements, tuple(statements.shape.fields))
        order, left = begin, most
        while left > 0:
            rows = self._reads.rows(form, query, most, after, now)
            for row in rows:
                found = form.made(row)
                after = form.raw_place(query, row) if isinstance(found, Unreadable) else dict(found.__dict__)
                own = _order(collection, member, form, row, found)
                # Where its own key does not tell its place, a row stands behind the one before it.
                order = order if own is None else own
                if begin is None or order is None or not collection.is_before(order, begin):
                    left -= 1
                    yield _Entry(collection.least if order is None else order, member, found, after)
            if len(rows) < most:
                return


class _Entry(NamedTuple):
    order: Any
    member: int
    found: Any
    place: Place


def _order(collection: ItemCollection[Any], member: int, form: RowForm, row: Row, found: Any) -> Any:
    """What a row sorts by; None for one whose very key cannot be read."""
    if not isinstance(found, Unreadable):
        return collection.order(member, found.__dict__)
    shape = form.statements.shape
    names = collection.members[member].pattern.key.fields
    take, _ = projected(shape, form.statements.dialect, form.names, names)
    try:
        return collection.order(member, dict(zip(names, take([row])[0], strict=True)))
    except (DamagedRecord, InvalidValue):
        return None
