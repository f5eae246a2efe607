"""Walking through all items of one entity, segment by segment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from penstock.engines.dynamodb.attribute_values import NO_RAW, same, there
from penstock.engines.dynamodb.calls import Calls
from penstock.engines.dynamodb.dynamo_requests import Request, encode
from penstock.engines.dynamodb.item_decoder import DamagedItem, Values
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import Value
from penstock.engines.dynamodb.lenient_decode import is_own
from penstock.operations.reads import Unreadable
from penstock.operations.scan_page import ScannedRecord, ScanPage
from penstock.schema.shape import EntityShape

Stored = Mapping[str, Value]


class Scans:
    """Scans tables through calls."""

    def __init__(self, calls: Calls, type_of: Callable[[EntityShape], ItemType]) -> None:
        self._calls, self._type_of = calls, type_of

    def scan(self, shape: EntityShape, segment: int, segments: int, after: str | None, limit: int) -> ScanPage:
        """One page; a table's other entities are looked at as well, and left out."""
        item = self._type_of(shape)
        request = _request(item, segment, segments, after, limit) | _own_only(item)
        return self._page(
            item, request, lambda stored, values: ScannedRecord(item.build(values), _stale(item, stored, values))
        )

    def survey(self, shape: EntityShape, after: str | None, limit: int) -> ScanPage:
        """One page, looked at closely."""
        item = self._type_of(shape)
        return self._page(
            item, _request(item, 0, 1, after, limit), lambda stored, values: _surveyed(item, stored, values)
        )

    def _page(self, item: ItemType, request: Request, told: Callable[[Stored, Values], ScannedRecord]) -> ScanPage:
        answer = _PAGE.decode(self._calls.call("Scan", encode(request)).body)
        found: list[ScannedRecord] = []
        unreadable: list[Unreadable] = []
        strangers: list[str] = []
        for raw in answer.Items:
            stored = msgspec.json.decode(raw)
            if not is_own(item.layout, stored):
                strangers += _stranger(item, stored)
                continue
            values = item.decode.any_item(raw)
            if isinstance(values, DamagedItem):
                unreadable.append(values.told)
            else:
                found.append(told(stored, values))
        last = there(answer.LastEvaluatedKey)
        place = None if last is None else bytes(last).decode()
        return ScanPage(found, place, tuple(unreadable), tuple(strangers))


def _request(item: ItemType, segment: int, segments: int, after: str | None, limit: int) -> Request:
    request: Request = {
        "TableName": item.table,
        "ConsistentRead": True,
        "Segment": segment,
        "TotalSegments": segments,
        "Limit": limit,
    }
    if after is not None:
        request["ExclusiveStartKey"] = msgspec.Raw(after.encode())
    return request


def _own_only(item: ItemType) -> Request:
    """The others are paid for, but need not travel."""
    tag = item.shape.table.tag
    if tag is None or item.shape.tag is None:
        return {}
    return {
        "FilterExpression": "attribute_not_exists(#tag) OR #tag = :tag",
        "ExpressionAttributeNames": {"#tag": tag},
        "ExpressionAttributeValues": {":tag": {"S": item.shape.tag}},
    }


def _stranger(item: ItemType, stored: Stored) -> list[str]:
    """The key of an item, unless it says that it is another entity's, or does not say whose it is where others do."""
    tag = item.shape.table.tag
    if tag is not None and stored.get(tag) != {"S": item.shape.tag}:
        return []
    return [", ".join(f"{p.name}={stored.get(p.name, {}).get(p.kind)!r}" for p in item.layout.key)]


def _surveyed(item: ItemType, stored: Stored, values: Values) -> ScannedRecord:
    written: Stored = msgspec.to_builtins(item.encode.item(values))
    known = {f.attribute for f in item.layout.fields} | written.keys()
    of_indexes = {part.name for _, parts in item.layout.indexes for part in parts}
    otherwise = {n for n in stored.keys() & known - of_indexes if not same(written.get(n), stored[n])}
    unknown = stored.keys() - known - of_indexes
    stale = _stale(item, stored, values)
    return ScannedRecord(item.build(values), stale, frozenset(otherwise), frozenset(unknown))


def _stale(item: ItemType, stored: Stored, values: Values) -> frozenset[str]:
    """The indexes whose attributes are not what the fields make them."""
    wrong = set()
    for index, parts in item.layout.indexes:
        holds = index.holds(values)
        if any(not same(part.value(values) if holds else None, stored.get(part.name)) for part in parts):
            wrong.add(index.place.name)
    return frozenset(wrong)


class _Answer(msgspec.Struct):
    Items: list[msgspec.Raw]
    LastEvaluatedKey: msgspec.Raw = NO_RAW


_PAGE: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_Answer)
