"""Leftovers in DynamoDB: indexes, attributes and tables of former layouts, found where they stand, dropped if asked.

What others have made is theirs: an attribute is removed from the entity's own items alone, and a table in which
anything stands that was not the entity's stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from penstock.engines.dynamodb.attribute_values import NO_RAW, there
from penstock.engines.dynamodb.calls import CONDITION_FAILED, Calls
from penstock.engines.dynamodb.dynamo_requests import Request, encode
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import Value
from penstock.engines.dynamodb.lenient_decode import is_own
from penstock.engines.dynamodb.table_setup import Tables
from penstock.engines.dynamodb.wire import WireError
from penstock.operations.leftover import DroppedPage, Leftover, LeftoverKind
from penstock.schema.former_places import FormerPlaces
from penstock.schema.shape import EntityShape

_LOOKED_AT = 1000
"So many items a page has of which nothing is written."

Stored = Mapping[str, Value]


class LeftoverItems:
    """Finds and drops what is left of former layouts, through calls."""

    def __init__(
        self, calls: Calls, tables: Tables, type_of: Callable[[EntityShape], ItemType], named: Callable[[str], str]
    ) -> None:
        """``named`` is what a table that is declared by a name is called."""
        self._calls, self._tables, self._type_of, self._named = calls, tables, type_of, named

    def standing(
        self, shape: EntityShape, places: FormerPlaces, left: Mapping[str, EntityShape], *, counted: bool
    ) -> list[Leftover]:
        """What stands of former layouts, indexes first."""
        item = self._type_of(shape)
        return [
            *self._indexes(item, places),
            *self._attributes(item, places, counted=counted),
            *self._homes(item, places, left),
        ]

    def drop(self, shape: EntityShape, leftovers: Sequence[Leftover], after: str | None, limit: int) -> DroppedPage:
        """Drop some of one kind, or a page of them."""
        item = self._type_of(shape)
        match leftovers[0].kind:
            case LeftoverKind.INDEX:
                for each in leftovers:
                    self._tables.drop_index(item.table, each.place)
            case LeftoverKind.TABLE:
                self._tables.drop_table(item.table)
            case LeftoverKind.RECORDS:
                return self._written(item, after, limit, [], self._delete)
            case _:
                names = [each.place for each in leftovers]
                return self._written(item, after, limit, names, lambda i, found: self._remove(i, found, names))
        return DroppedPage(None, written=len(leftovers))

    # Finding

    def _indexes(self, item: ItemType, places: FormerPlaces) -> Iterator[Leftover]:
        table = self._tables.describe(item.table) or {}
        standing = {index["IndexName"] for index in table.get("GlobalSecondaryIndexes", ())}
        for name in places.indexes:
            if name in standing and name not in item.shape.table.indexes:
                yield Leftover(LeftoverKind.INDEX, name, f"{item.table} in {name}")

    def _attributes(self, item: ItemType, places: FormerPlaces, *, counted: bool) -> Iterator[Leftover]:
        names, foreign = places.fields, self._attributes_of_others(item.table, places)
        counts = self._count(item, names) if counted else None
        for name in names:
            if counts is None or counts[name]:
                records = None if counts is None else counts[name]
                why = "an index that no layout had is made of it" if name in foreign else None
                yield Leftover(LeftoverKind.ATTRIBUTE, name, f"{item.shape.label} {name}", records, why)

    def _attributes_of_others(self, table: str, places: FormerPlaces) -> set[str]:
        """Those by which items are in an index that somebody else has made."""
        indexes = (self._tables.describe(table) or {}).get("GlobalSecondaryIndexes", ())
        foreign = [i for i in indexes if i["IndexName"] not in places.had_indexes]
        return {part["AttributeName"] for index in foreign for part in index["KeySchema"]}

    def _homes(self, item: ItemType, places: FormerPlaces, left: Mapping[str, EntityShape]) -> Iterator[Leftover]:
        used = {self._named(name) for name in places.used}
        for name, shape in left.items():
            former = self._type_of(shape)
            if former.table == item.table or self._tables.describe(former.table) is None:
                continue
            own, others = self._told_apart(former)
            if former.table in used:
                if own:
                    yield Leftover(LeftoverKind.RECORDS, name, f"{shape.label} in {former.table}", own)
            else:
                why = f"it has {others} items that no layout had" if others else None
                yield Leftover(LeftoverKind.TABLE, name, former.table, own, why)

    def _count(self, item: ItemType, names: Sequence[str]) -> Counter[str]:
        counts: Counter[str] = Counter()
        place: str | None = None
        while names:
            found, place = self._page(item, names, place, _LOOKED_AT)
            counts.update(name for stored in found if is_own(item.layout, stored) for name in names if name in stored)
            if place is None:
                break
        return counts

    def _told_apart(self, item: ItemType) -> tuple[int, int]:
        """How many items of a table are the entity's, and how many are not."""
        own = others = 0
        place: str | None = None
        while True:
            found, place = self._page(item, [], place, _LOOKED_AT)
            mine = sum(is_own(item.layout, stored) for stored in found)
            own, others = own + mine, others + len(found) - mine
            if place is None:
                return own, others

    # Dropping

    def _written(
        self,
        item: ItemType,
        after: str | None,
        limit: int,
        names: Sequence[str],
        write: Callable[[ItemType, Stored], None],
    ) -> DroppedPage:
        found, place = self._page(item, names, after, limit)
        own = [stored for stored in found if is_own(item.layout, stored)]
        for stored in own:
            write(item, stored)
        return DroppedPage(place, limit, len(own))

    def _remove(self, item: ItemType, stored: Stored, names: Sequence[str]) -> None:
        """Take attributes from an item, unless it was removed meanwhile."""
        going = [name for name in names if name in stored]
        aliases = {f"#a{at}": name for at, name in enumerate(going)}
        request = {
            **_keyed(item, stored),
            "UpdateExpression": f"REMOVE {', '.join(aliases)}",
            "ConditionExpression": "attribute_exists(#k)",
            "ExpressionAttributeNames": {**aliases, "#k": item.layout.key[0].name},
        }
        try:
            self._calls.call("UpdateItem", encode(request))
        except WireError as error:
            if error.code != CONDITION_FAILED:
                raise

    def _delete(self, item: ItemType, stored: Stored) -> None:
        self._calls.call("DeleteItem", encode(_keyed(item, stored)))

    def _page(
        self, item: ItemType, names: Sequence[str], after: str | None, limit: int
    ) -> tuple[list[Stored], str | None]:
        """Keys, tags and some attributes of items that have one of those; of all items where none is named."""
        tag = item.shape.table.tag
        told = dict.fromkeys([*(part.name for part in item.layout.key), *([tag] if tag else []), *names])
        aliases = {name: f"#n{at}" for at, name in enumerate(told)}
        request: Request = {
            "TableName": item.table,
            "ConsistentRead": True,
            "Limit": limit,
            "ProjectionExpression": ", ".join(aliases.values()),
            "ExpressionAttributeNames": {alias: name for name, alias in aliases.items()},
        }
        if names:
            request["FilterExpression"] = " OR ".join(f"attribute_exists({aliases[name]})" for name in names)
        if after is not None:
            request["ExclusiveStartKey"] = msgspec.Raw(after.encode())
        answer = _PAGE.decode(self._calls.call("Scan", encode(request)).body)
        last = there(answer.LastEvaluatedKey)
        return answer.Items, None if last is None else bytes(last).decode()


def _keyed(item: ItemType, stored: Stored) -> Request:
    return {"TableName": item.table, "Key": {part.name: stored[part.name] for part in item.layout.key}}


class _Answer(msgspec.Struct):
    Items: list[dict[str, Any]]
    LastEvaluatedKey: msgspec.Raw = NO_RAW


_PAGE: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_Answer)
