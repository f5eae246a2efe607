"""Pages of records as JSON, bounded in number and in bytes.

Where a page ends does not change what all of them hold together: it ends behind a record, and its cursor goes on there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from penstock.declare.entity import Entity
from penstock.declare.rendering import rendered_fields, rendered_json
from penstock.errors import DamagedRecord, told
from penstock.kernel.readable import tell
from penstock.kernel.store import Store
from penstock.operations.reads import Query, Unreadable
from penstock.web.forms import json_of

PAGE_BYTES = 1_000_000
"A page ends before a record with which it would have more; one record is always there."
FIRST = 20
"So many records are read at once while it is not known how large they are; one has at most 400 KB."


def page_of(
    store: Store,
    query: Query[Any],
    *,
    limit: int,
    cursor: str | None,
    hidden: frozenset[str],
    fields: Sequence[str] | None = None,
    count: int | None = None,
    behind_ok: bool = False,
) -> tuple[bytes, bool]:
    """The records behind a cursor, without the fields that are hidden, and the cursor of those behind them.

    ``fields`` are those that are shown, beside the key's; ``count`` has all records of the query counted up to there.
    With ``behind_ok`` they may come from a read replica; it is told beside them whether they do.
    """
    page = _JsonPage(store, query, hidden, fields, behind_ok=behind_ok)
    after = page.fill(limit, cursor)
    more: dict[str, Any] = {}
    if page.unreadable:
        tell(page.unreadable)
        why = told(DamagedRecord(""))
        more["unreadable"] = [{"record": u.name, "why": why} for u in page.unreadable]
    if page.examined:
        more["examined"] = page.examined
    if count is not None:
        counted = store.count(query, up_to=count, behind_ok=behind_ok)
        more["count"] = {"number": counted.number, "more": counted.more}
        page.behind |= counted.behind
    if page.behind:
        more["behind"] = True
    return page.json(after, more), page.behind


class _JsonPage:
    """A page while it is being filled."""

    def __init__(
        self,
        store: Store,
        query: Query[Any],
        hidden: frozenset[str],
        fields: Sequence[str] | None,
        *,
        behind_ok: bool,
    ) -> None:
        shape = query.pattern.entity
        self._store, self._hidden, self._query, self._behind_ok = store, hidden, query, behind_ok
        self.behind = False
        self._names: tuple[str, ...] | None = None
        if fields is not None:
            self._shown = frozenset({*fields, *shape.key.fields}) - hidden
            # Those that tell a record's place in the order are read too: the page may end behind any of them.
            self._names = tuple(dict.fromkeys((*sorted(self._shown), *query.pattern.key.fields, *shape.key.fields)))
            self._query = replace(query, fields=self._names)
        self._items: list[bytes] = []
        self._bytes = 0
        self.unreadable: list[Unreadable] = []
        self.examined = 0

    def fill(self, limit: int, cursor: str | None) -> str | None:
        """Read until the page is full, or all there is; where the next one begins."""
        after = cursor
        while len(self._items) < limit:
            size = self._how_many(limit)
            listing = self._store.page(self._query, limit=size, cursor=after, behind_ok=self._behind_ok)
            self.behind |= listing.behind
            after, last = listing.cursor, None
            # Told although the page may end before one of them; the next tells it again rather than none.
            self.unreadable += listing.unreadable
            self.examined += listing.examined or 0
            for record in listing.records:
                item = self._json(record)
                if self._items and self._bytes + len(item) > PAGE_BYTES:
                    return self._behind(last) if last is not None else cursor
                self._items.append(item)
                self._bytes, last = self._bytes + len(item), record
            if after is None or len(listing.records) + len(listing.unreadable) < size:
                return after  # so much was examined for so few that the caller is told first
            cursor = after
        return after

    def _json(self, record: Any) -> bytes:
        if isinstance(record, Entity):
            return rendered_json(record, hidden=self._hidden)
        return json_of(rendered_fields(self._query.pattern.entity, self._values(record), self._shown))

    def _behind(self, record: Any) -> str:
        return self._store.cursor(self._query, record if isinstance(record, Entity) else self._values(record))

    def _values(self, row: tuple[Any, ...]) -> dict[str, Any]:
        assert self._names is not None
        return dict(zip(self._names, row, strict=True))

    def _how_many(self, limit: int) -> int:
        """As many as probably fit, by those that are there."""
        if not self._items:
            return min(limit, FIRST)
        fitting = (PAGE_BYTES - self._bytes) * len(self._items) // max(self._bytes, 1)
        return max(1, min(limit - len(self._items), fitting))

    def json(self, cursor: str | None, more: dict[str, Any]) -> bytes:
        rest = b"".join(b"," + json_of(name) + b":" + json_of(value) for name, value in more.items())
        return b'{"items":[' + b",".join(self._items) + b'],"next":' + json_of(cursor) + rest + b"}"
