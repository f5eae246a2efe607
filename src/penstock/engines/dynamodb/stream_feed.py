"""The feed, read from DynamoDB Streams.

A stream is a forest of shards; the changes of one item stay in order because a shard is read after its parent. A
position tells for each shard how far it has been read, so it can be taken up again behind any entry.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from penstock.engines.dynamodb.calls import Calls
from penstock.engines.dynamodb.dynamo_requests import encode
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.stream_record import StreamRecord, entry_of
from penstock.engines.dynamodb.table_setup import Tables
from penstock.engines.dynamodb.wire import WireError
from penstock.errors import InvalidCursor, Misconfigured, PenstockError
from penstock.operations.feed_entry import FeedEntry, FeedSlice
from penstock.schema.shape import EntityShape

_EMPTY_ANSWERS = 3
"An open shard may answer with nothing though more follows; after so many in a row we take it to be read."

Position = dict[str, dict[str, str]]
"The last sequence number read of each shard, by table."


class _Records(msgspec.Struct):
    Records: list[StreamRecord] = []
    NextShardIterator: str | None = None


class _Span(msgspec.Struct):
    EndingSequenceNumber: str | None = None


class _Shard(msgspec.Struct):
    ShardId: str
    ParentShardId: str | None = None
    SequenceNumberRange: _Span = msgspec.field(default_factory=_Span)

    @property
    def is_open(self) -> bool:
        return self.SequenceNumberRange.EndingSequenceNumber is None


class Streams:
    """Reads the streams of tables through calls."""

    def __init__(self, calls: Calls, type_of: Callable[[EntityShape], ItemType], tables: Tables) -> None:
        self._calls = calls
        self._type_of = type_of
        self._tables = tables

    def changes(self, shapes: Sequence[EntityShape], after: str | None, limit: int) -> FeedSlice:
        """At most ``limit`` changes of these entities, behind a position."""
        position = decode_position(after)
        found: list[FeedEntry] = []
        for table, items in self._tables_of(shapes).items():
            read = position.setdefault(table, {})
            for shard, record in self._records(table, read):
                read[shard] = record.change.SequenceNumber
                entry = entry_of(items, record, position=partial(encode_position, position))
                if entry is not None:
                    found.append(entry)
                if len(found) == limit:
                    return FeedSlice(found, position=encode_position(position))
        return FeedSlice(found, position=encode_position(position) if any(position.values()) else after)

    def end(self, shapes: Sequence[EntityShape], after: str | None) -> str | None:
        """Where the streams of these entities end now; they can only be read to their end."""
        position = decode_position(after)
        for table in self._tables_of(shapes):
            read = position.setdefault(table, {})
            for shard, record in self._records(table, read):
                read[shard] = record.change.SequenceNumber
        return encode_position(position) if any(position.values()) else after

    def _tables_of(self, shapes: Sequence[EntityShape]) -> dict[str, list[ItemType]]:
        types: dict[str, list[ItemType]] = {}
        for shape in shapes:
            item = self._type_of(shape)
            types.setdefault(item.table, []).append(item)
        return types

    def _records(self, table: str, read: dict[str, str]) -> Iterator[tuple[str, StreamRecord]]:
        """Every record of a table's stream behind the position, parents before children."""
        description = self._tables.describe(table)
        if description is None:
            raise Misconfigured(f"table {table} does not exist; run `penstock tables apply`")
        stream = description.get("LatestStreamArn")
        if not stream:
            return  # a table declared without a feed tells nothing
        shards = {s.ShardId: s for s in self._shards(stream)}
        for gone in read.keys() - shards.keys():
            del read[gone]
        for shard in parents_first(list(shards.values())):
            for record in self._in_shard(stream, shards[shard], read.get(shard)):
                yield shard, record

    def _shards(self, stream: str) -> list[_Shard]:
        shards: list[_Shard] = []
        request = {"StreamArn": stream}
        while True:
            answer = msgspec.json.decode(self._calls.call("DescribeStream", encode(request)).body)["StreamDescription"]
            shards += msgspec.convert(answer.get("Shards", []), list[_Shard])
            if not answer.get("LastEvaluatedShardId"):
                return shards
            request["ExclusiveStartShardId"] = answer["LastEvaluatedShardId"]

    def _in_shard(self, stream: str, shard: _Shard, last: str | None) -> Iterator[StreamRecord]:
        """The records of one shard; a closed one is read to its end, as its children come after it."""
        iterator: str | None = self._iterator(stream, shard.ShardId, last)
        empty = 0
        while iterator is not None and not (shard.is_open and empty >= _EMPTY_ANSWERS):
            answer = _RECORDS.decode(self._calls.call("GetRecords", encode({"ShardIterator": iterator})).body)
            yield from answer.Records
            empty = 0 if answer.Records else empty + 1
            # Some stores call a shard closed and go on answering from its end.
            iterator = answer.NextShardIterator if answer.NextShardIterator != iterator else None

    def _iterator(self, stream: str, shard: str, last: str | None) -> str:
        request = {"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        if last is not None:
            behind = request | {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": last}
            try:
                return self._ask_iterator(behind)
            except PenstockError as error:
                if not _is_trimmed(error):
                    raise
        return self._ask_iterator(request)

    def _ask_iterator(self, request: Mapping[str, str]) -> str:
        answer = msgspec.json.decode(self._calls.call("GetShardIterator", encode(request)).body)
        return str(answer["ShardIterator"])


_RECORDS = msgspec.json.Decoder(_Records)


def _is_trimmed(error: PenstockError) -> bool:
    """Were the changes behind the position kept no longer? Then the oldest kept ones are next."""
    cause = error.__cause__
    return isinstance(cause, WireError) and cause.code == "TrimmedDataAccessException"


def parents_first(shards: Sequence[_Shard]) -> list[str]:
    """The shards in an order in which none comes before its parent."""
    parents = {s.ShardId: s.ParentShardId for s in shards}
    order: dict[str, None] = {}

    def place(shard: str) -> None:
        chain = [shard]
        while (parent := parents.get(chain[-1])) in parents and parent not in order and parent is not None:
            chain.append(parent)
        order.update(dict.fromkeys(reversed(chain)))

    for shard in sorted(parents):
        place(shard)
    return list(order)


def encode_position(position: Position) -> str:
    """A position as one opaque word."""
    return base64.urlsafe_b64encode(encode(position)).decode()


def decode_position(text: str | None) -> Position:
    """What `encode_position` made; no position is the beginning."""
    if text is None:
        return {}
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(text), type=Position)
    except (ValueError, msgspec.DecodeError):
        raise InvalidCursor("this is not a position of the feed; pass back the position of an entry") from None
