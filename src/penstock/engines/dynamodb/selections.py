"""Queries that are more than a pattern: with a filter, of some fields, counted.

DynamoDB examines before it filters, and takes units for all that it examines; so a bound on that is its ``Limit``. It
filters by no attribute of the key that is walked: a condition that speaks of one is asked here, of what comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from penstock.engines.dynamodb.calls import Calls
from penstock.engines.dynamodb.dynamo_requests import Request, encode
from penstock.engines.dynamodb.expressions import Aliases, FilterCompiler
from penstock.engines.dynamodb.item_decoder import DecodedItem, SomeFields
from penstock.engines.dynamodb.item_pages import ItemSieve, behind, page_of_items
from penstock.engines.dynamodb.item_reads import MOST
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import parts_of
from penstock.engines.dynamodb.queries import Span, query_request, span_of, start_key
from penstock.operations.conditions import Condition, fields_of
from penstock.operations.reads import Page, Place, Query, chosen, whole
from penstock.schema.shape import EntityShape


class Selections:
    """Carries out such queries through calls."""

    def __init__(self, calls: Calls, type_of: Callable[[EntityShape], ItemType]) -> None:
        self._calls, self._type_of = calls, type_of
        self._light: dict[tuple[EntityShape, frozenset[str]], SomeFields] = {}

    def find(
        self, query: Query[Any], limit: int | None, after: Place | None, now: int, examine: int | None
    ) -> Page[Any]:
        """A page of a query with a filter, or of some fields."""
        span = span_of(query)
        if span is None:
            return Page([], more=False, examined=None if examine is None else 0)
        asked = Asked(self._type_of(query.pattern.entity), query, span, now)
        request = asked.request()
        if after is not None:
            request["ExclusiveStartKey"] = start_key(asked.item, query, after)
        page = self._walk(asked, request, limit, examine)
        # Some fields alone do not tell what is wrong with an item, nor what another writer meant by it.
        return page or chosen(query, self.find(whole(query), limit, after, now, examine))

    def _walk(self, asked: Asked, request: Request, limit: int | None, examine: int | None) -> Page[Any] | None:
        """Ask until the page is full, enough was examined, or nothing is left; None when some fields do not fit."""
        found: list[Any] = []
        seen = 0
        size = None if limit is None else limit + 1
        while True:
            if limit is not None and size is not None:
                request["Limit"] = max(size, limit + 1 - len(found))
                size = min(size * 2, MOST)
            if examine is not None:
                request["Limit"] = min(request.get("Limit", examine), examine - seen)
            body = self._calls.call("Query", encode(request)).body
            answer = self._decoded(asked, body)
            if answer is None:
                return None
            found += asked.sieve.wanted(answer.values)
            seen += _SCANNED.decode(body).ScannedCount if examine is not None else 0
            told = None if examine is None else seen
            if limit is not None and len(found) > limit:
                return asked.page(found[:limit], more=True, examined=told)
            if answer.last is None:
                return asked.page(found, more=False, examined=told)
            if (limit is None and found) or (examine is not None and seen >= examine):
                return asked.page(found, more=True, place=behind(answer.last), examined=told)
            request["ExclusiveStartKey"] = answer.last

    def _decoded(self, asked: Asked, body: bytes) -> DecodedItem | None:
        by_index = asked.query.pattern.index is not None
        if asked.names is None:
            return asked.item.decode.queried(body, by_index=by_index)
        known = (asked.item.shape, asked.names)
        some = self._light.get(known)
        if some is None:
            some = self._light[known] = asked.item.decode.some(asked.names)
        return some.queried(body, by_index=by_index)


class _Scanned(msgspec.Struct):
    ScannedCount: int = 0


_SCANNED = msgspec.json.Decoder(_Scanned)


class Asked:
    """A query with what DynamoDB does of it, and what is done here."""

    def __init__(self, item: ItemType, query: Query[Any], span: Span, now: int) -> None:
        self.item, self.query, self._span = item, query, span
        there = query.filter if query.filter is not None and filters(item, query, query.filter) else None
        here = query.filter if there is None else None
        self._filter = there
        self.sieve = ItemSieve(item, query, span, now, here)
        self.names: frozenset[str] | None = None
        "The fields that are read; None: all of them."
        if query.fields is not None:
            needed = self.sieve.needs | fields_of(here)
            # Nothing that is only counted is gone on behind.
            placed = {*query.pattern.key.fields, *item.shape.key.fields} if query.fields else set()
            self.names = frozenset({*query.fields, *needed, *placed})

    def request(self) -> Request:
        """The request, without its place and its limit."""
        request = query_request(self.item, self.query, self._span)
        aliases = Aliases()
        if self._filter is not None:
            request["FilterExpression"] = FilterCompiler(self.item, {}, aliases).filter(self._filter)
        if self.names is not None:
            request["ProjectionExpression"] = ", ".join(aliases.name(a) for a in self._attributes(self.names))
        request["ExpressionAttributeNames"] |= aliases.names
        request["ExpressionAttributeValues"] |= aliases.values
        return request

    def _attributes(self, names: frozenset[str]) -> list[str]:
        """The fields' attributes, and those by which an item is known to be the entity's own."""
        shape = self.item.shape
        own = [p.name for p in self.item.layout.key] + ([shape.table.tag] if shape.table.tag else [])
        fields = [f.attribute for f in self.item.layout.fields if f.name in names]
        return list(dict.fromkeys([*own, *fields]))

    def page(self, found: list[Any], *, more: bool, place: Any = None, examined: int | None = None) -> Page[Any]:
        fields = self.query.fields
        if fields is None:
            return page_of_items(self.item, self.query, found, more=more, place=place, examined=examined)
        if more and place is None and fields:
            place = {**self.query.values, **found[-1]}
        return Page([tuple(values[n] for n in fields) for values in found], more, (), place, examined)


def filters(item: ItemType, query: Query[Any], condition: Condition) -> bool:
    """Can DynamoDB filter by it? Not by what is part of a key."""
    keys = {p.name for p in (*parts_of(query.pattern.key), *item.layout.key)}
    fields = [item.shape.fields[n] for n in fields_of(condition)]
    return all(f.stored and f.attribute not in keys for f in fields)
