"""Pages of records as JSON, bounded in number and in bytes.

Where a page ends does not change what all of them hold together: it ends behind a record, and its cursor goes on there.
"""

from __future__ import annotations

from typing import Any

from penstock.declare.rendering import rendered
from penstock.kernel.store import Store
from penstock.operations.reads import Query
from penstock.web.forms import json_of

PAGE_BYTES = 1_000_000
"A page ends before a record with which it would have more; one record is always there."
FIRST = 20
"So many records are read at once while it is not known how large they are; one has at most 400 KB."


def page_of(store: Store, query: Query[Any], *, limit: int, cursor: str | None, hidden: frozenset[str]) -> bytes:
    """The records behind a cursor, without the fields that are hidden, and the cursor of those behind them."""
    items: list[bytes] = []
    total, after = 0, cursor
    while len(items) < limit:
        listing = store.page(query, limit=_how_many(limit, items, total), cursor=after)
        after = listing.cursor
        last = None
        for record in listing.records:
            item = json_of(rendered(record, hidden=hidden))
            if items and total + len(item) > PAGE_BYTES:
                return _page(items, store.cursor(query, last) if last is not None else cursor)
            items.append(item)
            total, last = total + len(item), record
        if after is None:
            break
        cursor = after
    return _page(items, after)


def _how_many(limit: int, items: list[bytes], total: int) -> int:
    """As many as probably fit, by those that are there."""
    if not items:
        return min(limit, FIRST)
    fitting = (PAGE_BYTES - total) * len(items) // max(total, 1)
    return max(1, min(limit - len(items), fitting))


def _page(items: list[bytes], cursor: str | None) -> bytes:
    return b'{"items":[' + b",".join(items) + b'],"next":' + json_of(cursor) + b"}"
