"""One page of several patterns whose records have one order: each is read as far as the page needs, and no further.

What it takes grows with the number of patterns and with the page, and not with how many records there are.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import msgspec

from penstock.errors import InvalidCursor
from penstock.kernel.store import Listing, Store
from penstock.operations.reads import Query

R = TypeVar("R")
EXAMINED = 2000
"So many records of a filtered pattern are looked at for one page."
_OVER = "-"
"In a cursor: nothing more of this pattern."


def merged_page(
    store: Store,
    queries: Sequence[Query[R]],
    *,
    order: Callable[[R], Any],
    newest_first: bool = True,
    limit: int,
    cursor: str | None = None,
    examining: int = EXAMINED,
) -> Listing[R]:
    """The first records of all patterns, by ``order``, which is also the order of each; and the cursor of the next.

    A page may be short, or empty, where a filter leaves out much; it has a cursor then, and the next goes on.
    """
    places = _opened(cursor, len(queries))
    streams = [_Stream(store, q, place, limit, examining) for q, place in zip(queries, places, strict=True)]
    records: list[R] = []
    while len(records) < limit and not any(s.is_cut_off for s in streams):
        heads = [s for s in streams if s.head is not None]
        if not heads:
            break
        chosen = (max if newest_first else min)(heads, key=lambda s: order(cast("R", s.head)))
        records.append(chosen.take())
    after = [s.place for s in streams]
    unreadable = tuple(u for s in streams for u in s.page.unreadable)
    return Listing(records, None if all(p == _OVER for p in after) else _closed(after), unreadable)


@dataclass
class _Stream:
    """One of the patterns, as far as it was read and as far as it was shown."""

    store: Store
    query: Query[Any]
    begins: str | None
    limit: int
    examining: int

    def __post_init__(self) -> None:
        self.at = 0
        self.page: Listing[Any] = Listing([], None)
        if self.begins != _OVER:
            self.page = self.store.page(self.query, limit=self.limit, cursor=self.begins, examining=self.examining)

    @property
    def head(self) -> Any | None:
        return self.page.records[self.at] if self.at < len(self.page.records) else None

    @property
    def is_cut_off(self) -> bool:
        """Does something follow that was not read, so that nobody knows what comes next?"""
        return self.head is None and self.page.cursor is not None

    @property
    def place(self) -> str | None:
        """Where the next page of it begins."""
        if self.head is None:
            return self.page.cursor or _OVER
        return self.begins if self.at == 0 else self.store.cursor(self.query, self.page.records[self.at - 1])

    def take(self) -> Any:
        self.at += 1
        return self.page.records[self.at - 1]


def _closed(places: list[str | None]) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(places)).rstrip(b"=").decode()


def _opened(cursor: str | None, number: int) -> list[str | None]:
    if cursor is None:
        return [None] * number
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        places = msgspec.json.decode(raw, type=list[str | None])
    except (ValueError, msgspec.MsgspecError):
        places = []
    if len(places) != number:
        raise InvalidCursor(
            "the cursor is not one of this list; pass back the cursor of the page before, with the same parameters, or "
            "leave it out to start again"
        )
    return places
