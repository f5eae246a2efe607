"""After a refusal: what stands there, whether it was ourselves who put it there, and what to tell the caller."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from penstock.engines.dynamodb.attribute_values import NO_RAW, canonical, same, there
from penstock.engines.dynamodb.calls import invalid
from penstock.engines.dynamodb.dynamo_requests import Request
from penstock.engines.dynamodb.expressions import index_value
from penstock.engines.dynamodb.item_decoder import Values
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import Value
from penstock.engines.dynamodb.wire import WireError
from penstock.errors import DamagedRecord, Misconfigured, TooLarge, Unavailable
from penstock.operations.commit_recovery import conflict, refuses_itself, told_by_its_key
from penstock.operations.conditions import All, Condition, fields_of
from penstock.operations.index_keys import index_attributes
from penstock.operations.spelling import AsStored, holds_as_read
from penstock.operations.updates import Exclude, Include, Remove, Set, SetIfAbsent, Update
from penstock.operations.writes import Delete, Patch, Put, Write

W = TypeVar("W", bound=Write)


class _Failure(msgspec.Struct):
    Item: msgspec.Raw = NO_RAW


class _Reason(msgspec.Struct):
    Code: str = "None"
    Message: str | None = None
    Item: msgspec.Raw = NO_RAW


class _Cancellation(msgspec.Struct):
    CancellationReasons: list[_Reason] = []


@dataclass(frozen=True, slots=True)
class Standing:
    """The item that made a condition fail, or none."""

    raw: msgspec.Raw | None

    @classmethod
    def in_error(cls, body: bytes) -> Standing:
        return cls(there(msgspec.json.decode(body, type=_Failure).Item))

    @property
    def item(self) -> dict[str, Value] | None:
        return None if self.raw is None else msgspec.json.decode(self.raw)

    def values(self, item: ItemType) -> Values:
        assert self.raw is not None
        return item.decode.item(self.raw)

    def live(self, item: ItemType, write: Write, now: int) -> Mapping[str, Any] | None:
        """The fields that stood there, None when no live record did."""
        if self.raw is None:
            return None
        try:
            values = self.values(item)
        except DamagedRecord:
            return {n: write.key[n] for n in item.shape.key.fields}  # a refusal matters more than the damage
        return values if item.is_live(values, now) else None

    def spelled(self, item: ItemType, write: W, now: int) -> W | None:
        """A refused write in the spelling of what stands there; None unless its condition holds of that as it is
        read."""
        stored = self.item
        if stored is None:
            return None
        try:
            values = self.values(item)
        except DamagedRecord:
            return None
        if not item.is_live(values, now) or not holds_as_read(write, values):
            return None
        found: list[Condition] = []
        for name in sorted(fields_of(write.when)):
            field = item.shape.fields[name]
            if field.stored:  # of the others the key has told already
                found.append(AsStored(name, "=", stored.get(field.attribute)))
        return replace(write, when=All(tuple(found))) if found else None


def is_applied(item: ItemType, write: Write, request: Request, standing: Standing, *, ambiguous: bool) -> bool:
    """Was the refused write carried out by an earlier attempt of the same commit, whose answer was lost?"""
    if not ambiguous:
        return False  # however alike, it is another's
    stored = standing.item
    if isinstance(write, Put):
        return stored is not None and (told_by_its_key(write) or _equals(request["Item"], stored))
    if isinstance(write, Delete):
        return stored is None
    if not isinstance(write, Patch) or stored is None:
        return False
    return _holds_already(item, write, stored) and refuses_itself(write, standing.values(item))


def _equals(sent: Mapping[str, Value], stored: Mapping[str, Value]) -> bool:
    return canonical(msgspec.to_builtins(sent)) == canonical(stored)


def _holds_already(item: ItemType, patch: Patch, stored: Mapping[str, Value]) -> bool:
    fields = item.shape.fields
    for update in patch.updates:
        if not _shows(item, update, stored.get(fields[update.field].attribute)):
            return False
    for attribute, value in index_attributes(patch).items():
        wanted = None if value is None else index_value(item, attribute, value)
        if attribute not in item.layout.key_names and not same(wanted, stored.get(attribute)):
            return False
    return True


def _shows(item: ItemType, update: Update, stored: Value | None) -> bool:
    """Is this what the update would have left?"""
    match update:
        case Remove() | Set(_, None):
            return stored is None
        case Set(name, value):
            return same(msgspec.to_builtins(item.encoders[name](value)), stored)
        case SetIfAbsent():
            return stored is not None
        case Include(_, members):
            return stored is not None and members <= frozenset(stored.get("SS", ()))
        case Exclude(_, members):
            return stored is None or members.isdisjoint(stored.get("SS", ()))
    return False


def cancelled(
    error: WireError,
    items: Sequence[ItemType],
    writes: Sequence[Write],
    request: Request,
    now: int,
    *,
    tried: Collection[int],
) -> dict[int, Write]:
    """Raise why a transaction was cancelled, unless it is one that had been applied before: then nothing is left to do.

    Or it is to be sent again with those writes, by their positions, in the spelling of what stands there: all that
    were refused, if that was not ``tried``.
    """
    reasons = msgspec.json.decode(error.body, type=_Cancellation).CancellationReasons
    failed = [(p, r) for p, r in enumerate(reasons) if r.Code == "ConditionalCheckFailed"]
    for position, reason in failed:
        write = writes[position]
        if isinstance(write, Put) and write.witness:
            sent = request["TransactItems"][position]["Put"]
            if is_applied(items[position], write, sent, Standing(there(reason.Item)), ambiguous=error.ambiguous):
                return {}
    again: dict[int, Write] = {}
    for position, reason in failed:
        write, standing = writes[position], Standing(there(reason.Item))
        spelled = None if position in tried else standing.spelled(items[position], write, now)
        if spelled is None:
            raise conflict(write, standing.live(items[position], write, now), position=position) from None
        again[position] = spelled
    if again:
        return again
    for reason in reasons:
        if reason.Code == "ValidationError":
            raise invalid(reason.Message or "a write of the commit is not valid") from None
        if reason.Code == "ItemCollectionSizeLimitExceeded":
            raise TooLarge(f"DynamoDB: {reason.Message or 'a partition has more than it can hold'}") from None
        if reason.Code == "AccessDenied":
            raise Misconfigured(f"DynamoDB refuses these credentials: {reason.Message or reason.Code}") from None
    raise Unavailable(f"DynamoDB cancelled the commit: {error}") from None
