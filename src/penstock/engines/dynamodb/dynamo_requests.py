"""Requests as DynamoDB takes them. Nothing here does I/O, so every request can be shown and tested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from penstock.engines.dynamodb.expressions import Aliases, ConditionCompiler, UpdateCompiler
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import Layout, Value
from penstock.operations.commit_recovery import required
from penstock.operations.writes import Check, Delete, Patch, Put, Write

Request = dict[str, Any]

encode = msgspec.json.Encoder().encode
"A request as the bytes that are sent."

GET_LIMIT = 100
WRITE_LIMIT = 25


class GetTemplate:
    """GetItem of one entity: everything but the key's values is encoded once."""

    def __init__(self, layout: Layout) -> None:
        self._pieces: list[tuple[bytes, Any]] = []
        start = b'{"TableName":' + encode(layout.table) + b',"ConsistentRead":true,"Key":{'
        for part in layout.key:
            self._pieces.append((start + encode(part.name) + b':{"' + part.kind.encode() + b'":', part.template.encode))
            start = b"},"
        self._end = b"}}}"

    def fill(self, key: Mapping[str, Any]) -> bytes:
        """The request for one key."""
        return b"".join([before + encode(text(key)) for before, text in self._pieces]) + self._end


def put_item(item: ItemType, write: Put, now: int) -> Request:
    """PutItem, or the Put of a transaction."""
    request: Request = {"TableName": item.table, "Item": item.encode.item(write.values)}
    if write.when is not None:
        _conditional(request, item, write, Aliases(), now)
    return request


def update_item(item: ItemType, write: Patch, now: int) -> Request:
    """UpdateItem, or the Update of a transaction."""
    aliases = Aliases()
    request: Request = {"TableName": item.table, "Key": item.layout.key_of(write.key)}
    request["UpdateExpression"] = UpdateCompiler(item, aliases).compile(write)
    _conditional(request, item, write, aliases, now)
    return request


def delete_item(item: ItemType, write: Delete, now: int) -> Request:
    """DeleteItem, or the Delete of a transaction."""
    request: Request = {"TableName": item.table, "Key": item.layout.key_of(write.key)}
    if write.when is not None:
        _conditional(request, item, write, Aliases(), now)
    return request


def condition_check(item: ItemType, write: Check, now: int) -> Request:
    """The ConditionCheck of a transaction."""
    request: Request = {"TableName": item.table, "Key": item.layout.key_of(write.key)}
    _conditional(request, item, write, Aliases(), now)
    return request


def _conditional(request: Request, item: ItemType, write: Write, aliases: Aliases, now: int) -> None:
    """Add the condition, and ask for what stands there when it does not hold."""
    condition = required(write)
    assert condition is not None
    request["ConditionExpression"] = ConditionCompiler(item, write.key, aliases).compile(condition, now)
    request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    aliases.into(request)


def single(item: ItemType, write: Put | Patch | Delete, now: int) -> tuple[str, Request]:
    """The single operation for a commit of one write."""
    match write:
        case Put():
            return "PutItem", put_item(item, write, now)
        case Patch():
            return "UpdateItem", update_item(item, write, now)
        case Delete():
            return "DeleteItem", delete_item(item, write, now)


def in_transaction(item: ItemType, write: Write, now: int) -> Request:
    """One member of a transaction."""
    match write:
        case Put():
            return {"Put": put_item(item, write, now)}
        case Patch():
            return {"Update": update_item(item, write, now)}
        case Delete():
            return {"Delete": delete_item(item, write, now)}
        case Check():
            return {"ConditionCheck": condition_check(item, write, now)}


def transaction(items: Sequence[ItemType], writes: Sequence[Write], now: int, token: str) -> Request:
    """TransactWriteItems; with its token, sent twice it is applied once."""
    members = [in_transaction(item, write, now) for item, write in zip(items, writes, strict=True)]
    return {"TransactItems": members, "ClientRequestToken": token}


def batch_get(keys: Iterable[tuple[str, dict[str, Value]]]) -> Request:
    """BatchGetItem of keys, each with its table."""
    tables: dict[str, Any] = {}
    for table, key in keys:
        tables.setdefault(table, {"ConsistentRead": True, "Keys": []})["Keys"].append(key)
    return {"RequestItems": tables}


def batch_member(item: ItemType, write: Put | Delete) -> Request:
    """One member of BatchWriteItem."""
    if isinstance(write, Put):
        return {"PutRequest": {"Item": item.encode.item(write.values)}}
    return {"DeleteRequest": {"Key": item.layout.key_of(write.key)}}


def batch_write(members: Iterable[tuple[str, Request]]) -> Request:
    """BatchWriteItem of members, each with its table."""
    tables: dict[str, list[Request]] = {}
    for table, member in members:
        tables.setdefault(table, []).append(member)
    return {"RequestItems": tables}
