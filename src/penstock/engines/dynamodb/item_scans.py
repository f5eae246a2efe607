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


class Scans:
    """Scans tables through calls."""

    def __init__(self, calls: Calls, type_of: Callable[[EntityShape], ItemType]) -> None:
        self._calls, self._type_of = calls, type_of

    def scan(self, shape: EntityShape, segment: int, segments: int, after: str | None, limit: int) -> ScanPage:
        """One page; a table's other entities are looked at as well, and left out."""
        item = self._type_of(shape)
        answer = _PAGE.decode(self._calls.call("Scan", encode(_request(item, segment, segments, after, limit))).body)
        found: list[ScannedRecord] = []
        unreadable: list[Unreadable] = []
        for raw in answer.Items:
            stored = msgspec.json.decode(raw)
            if not is_own(item.layout, stored):
                continue
            values = item.decode.any_item(raw)
            if isinstance(values, DamagedItem):
                unreadable.append(values.told)
            else:
                found.append(ScannedRecord(item.build(values), _stale(item, stored, values)))
        last = there(answer.LastEvaluatedKey)
        return ScanPage(found, None if last is None else bytes(last).decode(), tuple(unreadable))


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
    tag = item.shape.table.tag
    if tag is not None and item.shape.tag is not None:  # the others are paid for, but need not travel
        request["FilterExpression"] = "attribute_not_exists(#tag) OR #tag = :tag"
        request["ExpressionAttributeNames"] = {"#tag": tag}
        request["ExpressionAttributeValues"] = {":tag": {"S": item.shape.tag}}
    return request


def _stale(item: ItemType, stored: Mapping[str, Value], values: Values) -> frozenset[str]:
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
