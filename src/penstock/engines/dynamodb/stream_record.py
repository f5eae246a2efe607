"""A record of a DynamoDB stream, however it came here, as an entry of the feed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from penstock.engines.dynamodb.attribute_values import NO_RAW, canonical, there
from penstock.engines.dynamodb.item_decoder import DamagedItem
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import Value
from penstock.engines.dynamodb.lenient_decode import is_own, key_fields
from penstock.operations.feed_entry import FeedEntry, changed_project, told_change

_KINDS = {"INSERT": "insert", "MODIFY": "update", "REMOVE": "remove"}
_REAPER = "dynamodb.amazonaws.com"


class StreamChange(msgspec.Struct):
    """What became of an item."""

    Keys: dict[str, Value]
    SequenceNumber: str
    NewImage: msgspec.Raw = NO_RAW
    OldImage: msgspec.Raw = NO_RAW
    ApproximateCreationDateTime: Any = None

    @property
    def images(self) -> tuple[msgspec.Raw | None, msgspec.Raw | None]:
        """Before and after."""
        return there(self.OldImage), there(self.NewImage)

    @property
    def at(self) -> datetime | None:
        """When, within a second or so; None where that is not told."""
        told = self.ApproximateCreationDateTime
        try:
            return datetime.fromtimestamp(told, UTC) if isinstance(told, int | float) else datetime.fromisoformat(told)
        except (TypeError, ValueError, OverflowError, OSError):
            return None


class _Identity(msgspec.Struct):
    principal: str = msgspec.field(name="principalId", default="")


class StreamRecord(msgspec.Struct):
    """One change of one item, and whose it was."""

    kind: str = msgspec.field(name="eventName")
    change: StreamChange = msgspec.field(name="dynamodb")
    by: _Identity | None = msgspec.field(name="userIdentity", default=None)


def entry_of(items: Sequence[ItemType], record: StreamRecord, *, position: Callable[[], str]) -> FeedEntry | None:
    """The record as an entry of the feed; None for other entities' items and for changes that changed nothing."""
    old, new = record.change.images
    image = msgspec.json.decode(new or old or b"{}") | record.change.Keys
    item = next((i for i in items if is_own(i.layout, image)), None) or _sole(items)
    if item is None or _equal(item, old, new):
        return None
    was, is_now = _built(item, old), _built(item, new)
    return told_change(
        item.shape,
        _KINDS.get(record.kind) or _kind(old, new),
        was,
        is_now,
        key=key_fields(item.layout, record.change.Keys) or {},
        cause="expiry" if _by_reaper(item, record) else "user",
        position=position(),
        id=record.change.SequenceNumber,
        project=changed_project(item.shape, was, is_now),
        at=record.change.at,
    )


def _kind(old: msgspec.Raw | None, new: msgspec.Raw | None) -> str:
    """What images tell where the record does not: DynamoDB Local has no word for what it removes at its end."""
    if old is None and new is None:
        raise ValueError("neither what it was nor what it is")
    return "insert" if old is None else "remove" if new is None else "update"


def _by_reaper(item: ItemType, record: StreamRecord) -> bool:
    """Has the database removed it by itself?"""
    if record.by is not None:
        return record.by.principal == _REAPER
    old, new = record.change.images
    if record.kind in _KINDS or old is None or new is not None:
        return False
    end = msgspec.json.decode(old).get(item.shape.table.expiry, {}).get("N")
    return end is not None and float(end) <= datetime.now(UTC).timestamp()


def _sole(items: Sequence[ItemType]) -> ItemType | None:
    """The entity of a table where no other can be, as keys there tell nothing but its fields: what is not its own item
    is a damaged one of it."""
    plain = (i for i in items if i.shape.table.tag is None and all(p.template.bare is not None for p in i.layout.key))
    return next(plain, None)


def _built(item: ItemType, image: msgspec.Raw | None) -> Any:
    if image is None:
        return None
    values = item.decode.any_item(image)
    return values.told if isinstance(values, DamagedItem) else item.build(values)


def _equal(item: ItemType, old: msgspec.Raw | None, new: msgspec.Raw | None) -> bool:
    """Is every field as it was? Keys of indexes that are made anew are nobody's news."""
    if old is None or new is None:
        return False
    names = [f.attribute for f in item.layout.fields]
    try:
        was, is_now = ({n: v for n, v in msgspec.json.decode(image).items() if n in names} for image in (old, new))
        return canonical(was) == canonical(is_now)
    except (ArithmeticError, AttributeError, TypeError):
        return False  # what it says cannot be read, and that is told
