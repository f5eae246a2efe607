"""Several kinds of items of one partition, in one Query: each is known by its tag and by the form of its key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from penstock.engines.dynamodb.attribute_values import NO_RAW, there
from penstock.engines.dynamodb.calls import Calls
from penstock.engines.dynamodb.dynamo_requests import Request, encode
from penstock.engines.dynamodb.item_decoder import DamagedItem
from penstock.engines.dynamodb.item_pages import ItemSieve, behind, raw_place
from penstock.engines.dynamodb.item_reads import MOST
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import KeyPart, parts_of
from penstock.engines.dynamodb.lenient_decode import is_own
from penstock.engines.dynamodb.queries import Span, joined_span, query_request, span_of, start_key
from penstock.errors import InvalidCursor
from penstock.operations.item_collection import ItemCollection, Places
from penstock.operations.reads import Page, Query, RawPlace
from penstock.schema.shape import EntityShape


class ItemCollections:
    """Reads several kinds of items as one answer."""

    def __init__(self, calls: Calls, type_of: Callable[[EntityShape], ItemType]) -> None:
        self._calls, self._type_of = calls, type_of

    def find(
        self, collection: ItemCollection[Any], limit: int | None, after: Places | RawPlace | None, now: int
    ) -> Page[Any]:
        """A page of all kinds together."""
        members = list(members_of(collection, self._type_of, now))
        if not members:
            return Page([], more=False)
        request = collection_request(members)
        if after is not None:
            request["ExclusiveStartKey"] = _start(members, after)
        found: list[_Found] = []
        size = None if limit is None else limit + 1
        while True:
            if limit is not None and size is not None:
                request["Limit"] = max(size, limit + 1 - len(found))
                size = min(size * 2, MOST)
            answer = _PAGE.decode(self._calls.call("Query", encode(request)).body)
            found += [f for raw in answer.Items if (f := _found(members, raw)) is not None]
            last = there(answer.LastEvaluatedKey)
            if limit is not None and len(found) > limit:
                return _page(collection, found[:limit], after, more=True)
            if last is None or (limit is None and found):
                return _page(collection, found, after, more=last is not None, last=last)
            request["ExclusiveStartKey"] = last


class ItemMember(NamedTuple):
    """One kind of a collection."""

    number: int
    query: Query[Any]
    item: ItemType
    span: Span
    sieve: ItemSieve
    sort: KeyPart | None

    def takes(self, stored: Mapping[str, Any]) -> bool:
        """Is the item of this kind, and one that was asked for?"""
        if not is_own(self.item.layout, stored):
            return False
        sort = self.sort
        return sort is None or self.span.has(stored[sort.name][sort.kind], number=sort.attribute.number)


class _Found(NamedTuple):
    member: ItemMember
    values: Any


class _Answer(msgspec.Struct):
    Items: list[msgspec.Raw]
    LastEvaluatedKey: msgspec.Raw = NO_RAW


_PAGE = msgspec.json.Decoder(_Answer)


def members_of(
    collection: ItemCollection[Any], type_of: Callable[[EntityShape], ItemType], now: int
) -> Iterator[ItemMember]:
    """The kinds of which a record can match."""
    for number, query in enumerate(collection.members):
        span = span_of(query)
        if span is not None:
            item = type_of(query.pattern.entity)
            parts = parts_of(query.pattern.key)
            sieve = ItemSieve(item, query, span, now, query.filter)
            yield ItemMember(number, query, item, span, sieve, parts[1] if len(parts) > 1 else None)


def collection_request(members: list[ItemMember]) -> Request:
    """The one Query of a collection, without its place and its limit."""
    first = members[0]
    number = first.sort is not None and first.sort.attribute.number
    return query_request(first.item, first.query, joined_span([m.span for m in members], number=number))


def _start(members: list[ItemMember], after: Places | RawPlace) -> Any:
    """The key behind which the page begins: that of the last record shown, of whichever kind."""
    if isinstance(after, RawPlace):
        return start_key(members[0].item, members[0].query, after)
    member = next((m for m in members if m.number == after.last), None)
    place = None if member is None else after.members[after.last]
    if member is None or place is None:
        raise InvalidCursor("the cursor is one of another collection; leave it out to start again")
    return start_key(member.item, member.query, place)


def _found(members: list[ItemMember], raw: msgspec.Raw) -> _Found | None:
    stored = msgspec.json.decode(raw)
    member = next((m for m in members if m.takes(stored)), None)
    if member is None:
        return None
    values = member.item.decode.any_item(raw)
    return _Found(member, values) if member.sieve.wanted([values]) else None  # type: ignore[list-item]


def _page(
    collection: ItemCollection[Any],
    found: list[_Found],
    after: Places | RawPlace | None,
    *,
    more: bool,
    last: msgspec.Raw | None = None,
) -> Page[Any]:
    places: Any = list(after.members) if isinstance(after, Places) else [None] * len(collection.members)
    for member, values in found:
        if not isinstance(values, DamagedItem):
            places[member.number] = values
    place: Any = Places(tuple(places), found[-1].member.number if found else 0)
    if last is not None:
        place = behind(last)
    elif found and isinstance(found[-1].values, DamagedItem):
        place = raw_place(found[-1].member.item, found[-1].member.query, found[-1].values.stored)
    return Page(
        [m.item.build(dict(v)) for m, v in found if not isinstance(v, DamagedItem)],
        more,
        tuple(v.told for _, v in found if isinstance(v, DamagedItem)),
        place,
    )
