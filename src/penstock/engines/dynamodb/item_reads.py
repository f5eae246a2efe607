"""Getting and finding records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from penstock.engines.dynamodb.calls import Calls
from penstock.engines.dynamodb.dynamo_requests import GET_LIMIT, GetTemplate, batch_get, encode
from penstock.engines.dynamodb.item_decoder import DamagedItem, DecodedItem, Values
from penstock.engines.dynamodb.item_pages import ItemSieve, page_of_items
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import Value
from penstock.engines.dynamodb.queries import query_request, span_of, start_key
from penstock.errors import DamagedRecord
from penstock.net.backoff import Patience
from penstock.operations.reads import Page, Place, Query, Ref, Unreadable, damage
from penstock.schema.shape import EntityShape

Identity = tuple[str, ...]
"A table and the texts of a key."

MOST = 1000
"The longest a page grows while it is looking for records among others."


class Reads:
    """Reads records through calls."""

    def __init__(self, calls: Calls, type_of: Callable[[EntityShape], ItemType]) -> None:
        self._calls = calls
        self._type_of = type_of
        self._templates: dict[EntityShape, GetTemplate] = {}

    def get(self, refs: Sequence[Ref[Any]], now: int) -> list[Any | None]:
        """The live records at these keys."""
        if len(refs) == 1:
            item = self._type_of(refs[0].shape)
            try:
                values = self.one(item, refs[0].key)
            except DamagedRecord as error:
                raise damage(error.unreadable, [None]) from error
            return [item.build(values) if values is not None and item.is_live(values, now) else None]
        return self._several(refs, now)

    def one(self, item: ItemType, key: Mapping[str, Any]) -> Values | None:
        """The values at one key, expired or not."""
        template = self._templates.get(item.shape)
        if template is None:
            template = self._templates[item.shape] = GetTemplate(item.layout)
        return item.decode.got(self._calls.call("GetItem", template.fill(key)).body)

    def _several(self, refs: Sequence[Ref[Any]], now: int) -> list[Any | None]:
        wanted: dict[Identity, Ref[Any]] = {}
        places = [identity(self._type_of(ref.shape), ref.key) for ref in refs]
        for place, ref in zip(places, refs, strict=True):
            wanted.setdefault(place, ref)
        records: dict[Identity, Any] = {}
        unreadable: list[Unreadable] = []
        for chunk in _chunks(list(wanted.items()), GET_LIMIT):
            self._batch(dict(chunk), records, unreadable, now)
        found = [records.get(place) for place in places]
        if unreadable:
            raise damage(unreadable, found)
        return found

    def _batch(
        self, wanted: dict[Identity, Ref[Any]], records: dict[Identity, Any], unreadable: list[Unreadable], now: int
    ) -> None:
        """One BatchGetItem, repeated for what it leaves out."""
        types = {place: self._type_of(ref.shape) for place, ref in wanted.items()}
        body = encode(batch_get((types[p].table, types[p].layout.key_of(r.key)) for p, r in wanted.items()))
        tables = {item.table: item for item in types.values()}
        patience: Patience | None = None
        while True:
            answer = _BATCH.decode(self._calls.call("BatchGetItem", body).body)
            found = [(tables[table], raw) for table, raws in answer.Responses.items() for raw in raws]
            for any_type, raw in found:
                place = stored_identity(any_type, msgspec.json.decode(raw))
                item = types[place]
                values = item.decode.any_item(raw)
                if isinstance(values, DamagedItem):
                    if item.is_live(values.values, now):
                        unreadable.append(values.told)
                elif item.is_live(values, now):
                    records[place] = item.build(values)
            if not answer.UnprocessedKeys:
                return
            body = encode({"RequestItems": answer.UnprocessedKeys})
            patience = self._calls.pause(None if found else patience)

    def find(self, query: Query[Any], limit: int | None, after: Place | None, now: int) -> Page[Any]:
        """One page of a query: exactly ``limit`` records while there are so many."""
        span = span_of(query)
        if span is None:
            return Page([], more=False)
        item = self._type_of(query.pattern.entity)
        sieve = ItemSieve(item, query, span, now)
        request = query_request(item, query, span)
        if after is not None:
            request["ExclusiveStartKey"] = start_key(item, query, after)
        found: list[Values] = []
        damaged = False
        size = None if limit is None else limit + 1
        while True:
            if limit is not None and size is not None:
                request["Limit"] = max(size, limit + 1 - len(found))
                size = min(size * 2, MOST)
            answer = self._queried(item, query, request)
            found += sieve.wanted(answer.values)
            damaged = damaged or answer.damaged
            if limit is not None and len(found) > limit:
                found, more = found[:limit], True
            elif answer.last is None or (limit is None and found):
                more = answer.last is not None
            else:
                request["ExclusiveStartKey"] = answer.last
                continue
            if damaged:
                return page_of_items(item, query, found, more=more)
            return Page([item.build(v) for v in found], more)

    def _queried(self, item: ItemType, query: Query[Any], request: Mapping[str, Any]) -> DecodedItem:
        body = self._calls.call("Query", encode(request)).body
        return item.decode.queried(body, by_index=query.pattern.index is not None)


class _BatchAnswer(msgspec.Struct, gc=False):
    Responses: dict[str, list[msgspec.Raw]]
    UnprocessedKeys: dict[str, msgspec.Raw] = {}


_BATCH = msgspec.json.Decoder(_BatchAnswer)


def identity(item: ItemType, key: Mapping[str, Any]) -> Identity:
    """What tells this key from every other."""
    return (item.table, *(p.template.encode(key) for p in item.layout.key))


def stored_identity(item: ItemType, stored: Mapping[str, Value]) -> Identity:
    """The same, from an item."""
    return (item.table, *(stored[p.name][p.kind] for p in item.layout.key))


def _chunks(members: list[Any], size: int) -> Iterator[list[Any]]:
    return (members[start : start + size] for start in range(0, len(members), size))
