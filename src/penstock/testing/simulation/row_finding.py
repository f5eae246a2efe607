"""Finding rows: what a pattern, its filter and its bounds mean, said in the simplest way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from penstock.errors import InvalidCursor, InvalidValue
from penstock.operations.conditions import comparable, fields_of, holds
from penstock.operations.item_collection import ItemCollection, Places
from penstock.operations.reads import Page, Place, Query, Range, RawPlace, Unreadable
from penstock.operations.scan_page import ScannedRecord, ScanPage
from penstock.schema.shape import EntityShape
from penstock.testing.simulation.row_writing import true_index_keys
from penstock.testing.simulation.stored_row import StoredRow, chosen_fields, ordered, stored_value

RowsOf = Callable[[Query[Any]], Iterable[StoredRow]]
"The live rows of a query's table, as somebody sees them."


def find_rows(
    rows: Iterable[StoredRow], query: Query[Any], *, limit: int | None, after: Place | None, examine: int | None
) -> Page[Any]:
    """A page of a query."""
    answer = _answer(rows, query, after)
    examined = answer[:examine]
    wanted = [row for row in examined if _is_wanted(query, row)]
    most = len(wanted) if limit is None else limit
    shown, looked_at = wanted[:most], len(examined) if examine is not None else None
    if len(wanted) > most:
        return _page(query, shown, shown[-1], looked_at, hidden=False)
    if len(answer) > len(examined):
        return _page(query, shown, examined[-1], looked_at, hidden=True)
    return _page(query, shown, None, looked_at, hidden=False)


def find_collection(
    rows_of: RowsOf, asked: ItemCollection[Any], *, limit: int | None, after: Places | None
) -> Page[Any]:
    """A page of several kinds together, by the text of the sort key."""
    places: list[Place | None] = [None] * len(asked.members) if after is None else list(after.members)
    if len(places) != len(asked.members):
        raise InvalidCursor(f"the cursor is one of another collection than {asked.label}; leave it out")
    begin = asked.furthest(places)
    entries = [e for n in range(len(places)) for e in _entries(rows_of, asked, n, places[n], begin)]
    entries.sort(key=lambda e: e.order, reverse=asked.backwards)
    shown = entries if limit is None else entries[:limit]
    for entry in shown:
        places[entry.member] = _place(asked.members[entry.member], entry.row, entry.found)
    bad = tuple(e.found for e in shown if isinstance(e.found, Unreadable))
    records = [e.found for e in shown if not isinstance(e.found, Unreadable)]
    last = shown[-1].member if shown else 0
    return Page(records, len(entries) > len(shown), bad, Places(tuple(places), last))


def scan_rows(rows: Iterable[StoredRow], shape: EntityShape, *, after: str | None, limit: int) -> ScanPage:
    """A page of all rows of a table, in the order of its key."""
    in_order = sorted(rows, key=lambda row: row.order(shape, shape.key.fields))
    if after is not None:
        place = _scanned_place(after)
        in_order = [row for row in in_order if row.order(shape, shape.key.fields) > place]
    shown = in_order[:limit]
    found = [(row, row.read(shape)) for row in shown]
    records = [ScannedRecord(r, _stale(shape, row, r)) for row, r in found if not isinstance(r, Unreadable)]
    end = _place_text(shown[-1].order(shape, shape.key.fields)) if len(in_order) > limit else None
    return ScanPage(records, end, tuple(r for _, r in found if isinstance(r, Unreadable)))


def _stale(shape: EntityShape, row: StoredRow, record: Any) -> frozenset[str]:
    """The indexes whose keys beside a row are not what its fields make them."""
    keys = true_index_keys(shape, record.__dict__)
    names = (index.place.name for index in shape.indexes.values())
    return frozenset(name for name in names if row.index_keys.get(name) != keys.get(name))


def _place_text(order: tuple[Any, ...]) -> str:
    return msgspec.json.encode([o.decode() if isinstance(o, bytes) else o for o in order]).decode()


def _scanned_place(text: str) -> tuple[Any, ...]:
    found = msgspec.json.decode(text, type=list[str | int])
    return tuple(o.encode() if isinstance(o, str) else o for o in found)


class _Entry(NamedTuple):
    order: Any
    member: int
    row: StoredRow
    found: Any


def _entries(rows_of: RowsOf, asked: ItemCollection[Any], member: int, after: Place | None, begin: Any) -> list[_Entry]:
    query, order, entries = asked.members[member], begin, []
    for row in _answer(rows_of(query), query, after):
        if not _is_wanted(query, row):
            continue
        shape = query.pattern.entity
        with suppress(InvalidValue):  # where its own key does not tell its place, a row stands behind the one before it
            order = asked.order(member, row.some(shape, query.pattern.key.fields))
        if begin is None or order is None or not asked.is_before(order, begin):
            entries.append(_Entry(asked.least if order is None else order, member, row, row.read(shape)))
    return entries


def _answer(rows: Iterable[StoredRow], query: Query[Any], after: Place | None) -> list[StoredRow]:
    """All rows that a pattern finds behind a place, in order, before any filter."""
    shape, names = query.pattern.entity, _order_names(query)
    found = [row for row in rows if _matches(query, row)]
    found.sort(key=lambda row: row.order(shape, names), reverse=query.backwards)
    if after is None:
        return found
    if isinstance(after, RawPlace):
        if len(after.values) != len(names):
            raise InvalidCursor(f"the cursor is one of another store; leave it out to start {query.pattern.label}")
        here = tuple(ordered(shape.fields[n], v) for n, v in zip(names, after.values, strict=True))
    else:
        here = tuple(ordered(shape.fields[n], stored_value(shape.fields[n], after[n])) for n in names)
    if query.backwards:
        return [row for row in found if row.order(shape, names) < here]
    return [row for row in found if row.order(shape, names) > here]


def _order_names(query: Query[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(query.pattern.key.sort_fields + query.pattern.entity.key.fields))


def _matches(query: Query[Any], row: StoredRow) -> bool:
    """Does a row belong to the answer? Through an index, the key that was stored with it decides."""
    pattern, fields = query.pattern, query.pattern.entity.fields
    if pattern.index is not None:
        key = row.index_keys.get(pattern.index.place.name)
        if key is None or key[0] != pattern.key.partition.encode(query.values):
            return False
    names = query.values.keys() - set(pattern.key.partition.names) if pattern.index is not None else query.values.keys()
    if any(row.values.get(fields[n].column) != stored_value(fields[n], query.values[n]) for n in names):
        return False
    if pattern.ranged is None or pattern.ranged in query.values:
        return True
    return _within(query.range, row.values.get(fields[pattern.ranged].column))


def _within(bounds: Range[Any], value: Any) -> bool:
    if bounds.prefix is not None and not value.startswith(bounds.prefix):
        return False
    found, low, high = (None if x is None else comparable(x) for x in (value, bounds.low, bounds.high))
    if low is not None and (found < low or (bounds.open_low and found == low)):
        return False
    return not (high is not None and (found > high or (bounds.open_high and found == high)))


def _is_wanted(query: Query[Any], row: StoredRow) -> bool:
    if query.filter is None:
        return True
    return holds(query.filter, row.some(query.pattern.entity, fields_of(query.filter)))


def _page(
    query: Query[Any], rows: Sequence[StoredRow], last: StoredRow | None, examined: int | None, *, hidden: bool
) -> Page[Any]:
    """Rows as a page that ends behind the last one, which may be one that is not shown; None when none follows."""
    shape, place = query.pattern.entity, None
    if query.fields is None:
        found = [row.read(shape) for row in rows]
    else:
        found = [chosen_fields(shape, row, query.fields) for row in rows]
    if last is not None:
        place = _place(query, last, None if hidden else found[-1], hidden=hidden)
    bad = tuple(f for f in found if isinstance(f, Unreadable))
    return Page([f for f in found if not isinstance(f, Unreadable)], last is not None, bad, place, examined)


def _place(query: Query[Any], row: StoredRow, found: Any, *, hidden: bool = False) -> Place:
    """Behind a row; what cannot be read, or is not shown, is told in values of this engine's own."""
    shape = query.pattern.entity
    if hidden or isinstance(found, Unreadable):
        return RawPlace(tuple(row.values.get(shape.fields[n].column) for n in _order_names(query)))
    return row.some(shape, dict.fromkeys(query.pattern.key.fields + shape.key.fields))
