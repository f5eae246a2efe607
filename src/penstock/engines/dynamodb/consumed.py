"""What requests really took: asks DynamoDB for it with every request, and reports the answer.

It stands between the calls and the wire, so that a store that is not metered sends and decodes not a byte more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from penstock.engines.dynamodb.calls import Sender
from penstock.engines.dynamodb.wire import Reply

Report: TypeAlias = Callable[[float, float], None]
"Takes the read units and the write units of one request, on the thread that made it."

_READS = frozenset({"GetItem", "BatchGetItem", "Query"})
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_ASKING = b',"ReturnConsumedCapacity":"INDEXES"}'


def reporting(connect: Callable[[], Sender], report: Report) -> Callable[[], Sender]:
    """Opens wires that report."""
    return lambda: Reporting(connect(), report)


class Reporting:
    """A wire that reports the capacity units of each request that was carried out; a refusal does not tell them."""

    def __init__(self, wire: Sender, report: Report) -> None:
        self._wire = wire
        self._report = report

    def call(self, operation: str, body: bytes) -> Reply:
        if operation not in _READS and operation not in _WRITES:
            return self._wire.call(operation, body)
        reply = self._wire.call(operation, body[:-1] + _ASKING)
        self._report(*consumed(operation, reply.body))
        return reply

    def close(self) -> None:
        self._wire.close()


class _Consumed(msgspec.Struct, gc=False):
    CapacityUnits: float = 0.0
    "Of the table and its indexes together."
    ReadCapacityUnits: float | None = None
    "Told of transactions: one that is sent again is read, not written."


class _Answer(msgspec.Struct, gc=False):
    ConsumedCapacity: _Consumed | list[_Consumed] | None = None


_ANSWER = msgspec.json.Decoder(_Answer)


def consumed(operation: str, body: bytes) -> tuple[float, float]:
    """The read units and the write units that an answer tells, of all its tables and indexes."""
    told = _ANSWER.decode(body).ConsumedCapacity
    parts = told if isinstance(told, list) else [told] if told is not None else []
    total = sum(part.CapacityUnits for part in parts)
    if operation in _READS:
        return total, 0.0
    reads = sum(part.ReadCapacityUnits or 0.0 for part in parts)
    return reads, total - reads
