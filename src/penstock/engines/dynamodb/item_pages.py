"""Pages of items: which of those that a query brought belong to its answer, and where the next page begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from penstock.engines.dynamodb.item_decoder import DamagedItem, Values
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import Value, parts_of
from penstock.engines.dynamodb.queries import Span
from penstock.operations.conditions import Condition, holds
from penstock.operations.reads import Page, Query, RawPlace
from penstock.schema.shape import IndexShape


class ItemSieve:
    """Decides which of the items that a query brought belong to its answer."""

    def __init__(
        self, item: ItemType, query: Query[Any], span: Span, now: int, condition: Condition | None = None
    ) -> None:
        self._item, self._now, self._condition = item, now, condition
        self._ranged, self._dropped = query.pattern.ranged or "", span.dropped
        index = query.pattern.index
        self._index: IndexShape | None = None
        if index is not None and index.when and not item.layout.is_sparse(index):
            self._index = index
        self._all = item.shape.expiry is None and not span.dropped and self._index is None and condition is None

    @property
    def needs(self) -> frozenset[str]:
        """The fields that decide it."""
        names = {self._item.shape.expiry, self._ranged if self._dropped else None}
        if self._index is not None:
            names |= self._index.watched
        return frozenset(n for n in names if n)

    def wanted(self, found: list[Values]) -> list[Values]:
        return found if self._all else [v for v in found if self._keeps(v)]

    def _keeps(self, found: Values | DamagedItem) -> bool:
        values = found.values if isinstance(found, DamagedItem) else found
        return (
            self._item.is_live(values, self._now)
            and not (self._dropped and values[self._ranged] in self._dropped)
            and (self._index is None or self._index.holds(values))
            and holds(self._condition, values)
        )


def page_of_items(
    item: ItemType,
    query: Query[Any],
    found: Sequence[Values | DamagedItem],
    *,
    more: bool,
    place: Any = None,
    examined: int | None = None,
) -> Page[Any]:
    """Items as a page, those that cannot be read told beside the others."""
    if more and place is None and isinstance(found[-1], DamagedItem):
        place = raw_place(item, query, found[-1].stored)
    return Page(
        [item.build(f) for f in found if not isinstance(f, DamagedItem)],
        more,
        tuple(f.told for f in found if isinstance(f, DamagedItem)),
        place,
        examined,
    )


def raw_place(item: ItemType, query: Query[Any], stored: Mapping[str, Value]) -> RawPlace:
    """The place of an item as DynamoDB names it: its key, and that of the index that is walked."""
    names = dict.fromkeys(p.name for p in (*parts_of(query.pattern.key), *item.layout.key))
    return behind({name: stored[name] for name in names})


def behind(last: msgspec.Raw | Mapping[str, Value]) -> RawPlace:
    """A place from where DynamoDB says that an answer ended."""
    return RawPlace((msgspec.json.encode(last).decode(),))
