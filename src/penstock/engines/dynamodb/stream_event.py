"""The event that a Lambda function gets from the stream of a table: records, as the stream has them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.stream_record import StreamRecord, entry_of
from penstock.errors import InvalidValue, Misconfigured
from penstock.ports.delivery import BroughtChange

_TABLE = re.compile(r"arn:[^:]*:dynamodb:[^:]*:[^:]*:table/([^/]+)")
_LONGEST_RECEIPT = 100


def deliveries_of(items: Sequence[ItemType], event: Mapping[str, Any]) -> list[BroughtChange]:
    """The changes in an event, in its order; one that cannot be read keeps no other from being told."""
    records = event.get("Records") if isinstance(event, Mapping) else None
    if not isinstance(records, list | tuple):
        raise InvalidValue("this is no event of a stream: it has no list of Records; map the table's stream to this")
    return [_delivery(items, record) for record in records]


def _delivery(items: Sequence[ItemType], record: Any) -> BroughtChange:
    receipt = _receipt(record)
    try:
        # Images are read from their text; a client's datetimes and bytes become what the stream had.
        text = msgspec.json.encode(record)
        entry = entry_of(_of_table(items, record), _RECORD.decode(text), position=lambda: receipt)
    except _POISON as error:
        # Its values may be private.
        trouble = f"a record of the stream cannot be read: {type(error).__name__}"
        return BroughtChange(receipt, trouble=trouble, digest=_digest(record))
    return BroughtChange(receipt, entry)


_RECORD = msgspec.json.Decoder(StreamRecord)
_POISON = (msgspec.MsgspecError, ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError)


def _digest(record: Any) -> str:
    """What tells a record that has no receipt from others."""
    try:
        told = repr(record)
    except RecursionError:  # what nests so deep is told by its first words
        told = str(list(record))
    return hashlib.sha256(told.encode(errors="replace")).hexdigest()


def _receipt(record: Any) -> str:
    """The sequence number, by which Lambda is told what to bring again."""
    change = record.get("dynamodb") if isinstance(record, Mapping) else None
    number = change.get("SequenceNumber") if isinstance(change, Mapping) else None
    return number if isinstance(number, str) and len(number) <= _LONGEST_RECEIPT else ""


def _of_table(items: Sequence[ItemType], record: Mapping[str, Any]) -> list[ItemType]:
    """Those of the table that the record is of; all where that is not told, as in what a stream is asked for."""
    told = _TABLE.match(str(record.get("eventSourceARN") or ""))
    found = [item for item in items if told is None or item.table == told[1]]
    if told is not None and not found:  # to pass it over would lose it
        followed = " or ".join(sorted({item.table for item in items}))
        raise Misconfigured(f"the event is of the table {told[1][:255]}, and {followed} is followed here")
    return found
