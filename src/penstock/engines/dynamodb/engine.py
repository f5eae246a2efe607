"""DynamoDB as an engine: each verb is carried out by the module that knows how."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from penstock.engines.dynamodb.calls import Calls, Sender
from penstock.engines.dynamodb.consumed import Report, reporting
from penstock.engines.dynamodb.dynamo_requests import Request
from penstock.engines.dynamodb.item_collections import ItemCollections
from penstock.engines.dynamodb.item_reads import Reads
from penstock.engines.dynamodb.item_scans import Scans
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.item_writes import Writes
from penstock.engines.dynamodb.leftover_items import LeftoverItems
from penstock.engines.dynamodb.selections import Selections
from penstock.engines.dynamodb.shown_queries import explain_query
from penstock.engines.dynamodb.stream_event import deliveries_of
from penstock.engines.dynamodb.stream_feed import Streams
from penstock.engines.dynamodb.table_setup import Tables
from penstock.errors import Misconfigured
from penstock.operations.feed_entry import FeedSlice, LogSize
from penstock.operations.item_collection import ItemCollection
from penstock.operations.leftover import DroppedPage, Leftover
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Page, Query, Ref
from penstock.operations.scan_page import ScanPage
from penstock.operations.writes import Patch, Write
from penstock.ports.delivery import BroughtChange
from penstock.ports.engine import Features, TableSize
from penstock.ports.waiting import PollingWaiter
from penstock.schema.former_places import FormerPlaces
from penstock.schema.shape import EntityShape, TablePlace, ViewShape


class DynamoEngine:
    """Keeps records in DynamoDB, or in a store that speaks its protocol.

    What is not given is found where AWS's tools find it, at the first call. ``table_names`` calls tables otherwise than
    their declarations do, ``table_prefix`` is put before every table's name. ``connect`` replaces the wire, for tests.
    ``report_capacity`` is told the read and write units of each request, which DynamoDB is asked for only then.
    """

    features = Features(
        native_expiry=True, strong_index_reads=False, native_trimming=True, costly_feed=True, key_texts=True
    )

    def __init__(
        self,
        *,
        endpoint: str | None = None,
        region: str | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
        session_token: str | None = None,
        table_prefix: str = "",
        table_names: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        sleep: Callable[[float], None] = time.sleep,
        connect: Callable[[], Sender] | None = None,
        report_capacity: Report | None = None,
    ) -> None:
        def wire() -> Sender:
            from penstock.engines.dynamodb.wire import Wire

            return Wire(
                endpoint=endpoint,
                region=region,
                access_key=access_key,
                secret_key=secret_key,
                session_token=session_token,
                timeout=timeout,
                sleep=sleep,
            )

        self._prefix, self._names = table_prefix, table_names or {}
        self._types: dict[EntityShape, ItemType] = {}
        open_wire = connect or wire
        if report_capacity is not None:
            open_wire = reporting(open_wire, report_capacity)
        self._calls = Calls(open_wire, sleep)
        self._reads = Reads(self._calls, self._type_of)
        self._selections = Selections(self._calls, self._type_of)
        self._collections = ItemCollections(self._calls, self._type_of)
        self._writes = Writes(self._calls, self._type_of, self._reads)
        self._scans = Scans(self._calls, self._type_of)
        self._tables = Tables(self._calls, self._name_of, sleep)
        self._leftovers = LeftoverItems(self._calls, self._tables, self._type_of, self._called)
        self._streams = Streams(self._calls, self._type_of, self._tables)

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[PlanStep]:
        return self._tables.ensure(shapes, dry_run=dry_run)

    def leftovers(
        self, shape: EntityShape, places: FormerPlaces, left: Mapping[str, EntityShape], *, counted: bool
    ) -> list[Leftover]:
        return self._leftovers.standing(shape, places, left, counted=counted)

    def drop(
        self, shape: EntityShape, leftovers: Sequence[Leftover], *, after: str | None = None, limit: int = 100
    ) -> DroppedPage:
        return self._leftovers.drop(shape, leftovers, after, limit)

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        return self._reads.get(refs, _second(now))

    def find(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        limit: int | None,
        after: Any,
        now: datetime,
        examine: int | None = None,
    ) -> Page[Any]:
        if isinstance(query, ItemCollection):
            return self._collections.find(query, limit, after, _second(now))
        if query.filter is not None or query.fields is not None:
            return self._selections.find(query, limit, after, _second(now), examine)
        return self._reads.find(query, limit, after, _second(now))

    def scan(
        self, shape: EntityShape, *, segment: int = 0, segments: int = 1, after: str | None = None, limit: int = 1000
    ) -> ScanPage:
        return self._scans.scan(shape, segment, segments, after, limit)

    def survey(self, shape: EntityShape, *, after: str | None = None, limit: int = 1000) -> ScanPage:
        return self._scans.survey(shape, after, limit)

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        self._writes.commit(writes, _second(now), token)

    def load(self, writes: Iterable[Write], *, now: datetime) -> None:
        self._writes.load(writes)

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        return patch.shape.build(self._writes.patch(patch, _second(now), token))

    def expire(self, shapes: Sequence[EntityShape], *, now: datetime, limit: int = 1000) -> int:
        """DynamoDB removes expired items by itself."""
        return 0

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> FeedSlice:
        return self._streams.changes(shapes, after, limit)

    def delivered(self, shapes: Sequence[EntityShape], event: Mapping[str, Any]) -> list[BroughtChange]:
        """The changes in an event as a Lambda function gets it from the stream of a table."""
        return deliveries_of([self._type_of(shape) for shape in shapes], event)

    def feed_end(self, shapes: Sequence[EntityShape], *, after: str | None = None) -> str | None:
        return self._streams.end(shapes, after)

    def trim(self, shapes: Sequence[EntityShape], *, before: str, limit: int = 10_000) -> int:
        """A stream forgets by itself what is older than a day."""
        return 0

    def hold_writes(self, shapes: Sequence[EntityShape], *, told: str | None) -> None:
        if told is not None:
            raise Misconfigured("DynamoDB cannot refuse writers by itself; stop all of them, and say that they are")

    def log_size(self, shapes: Sequence[EntityShape]) -> LogSize:
        return LogSize(0)

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        return self._tables.sizes(shapes)

    def bound(self, project: str) -> DynamoEngine:
        """Itself: DynamoDB's credentials could be bound to leading keys, but its indexes mix the projects."""
        return self

    def listen(self) -> PollingWaiter:
        return PollingWaiter()

    def close(self) -> None:
        self._calls.close()

    def explain_query(self, query: Query[Any] | ItemCollection[Any]) -> Request:
        """The request a query would be sent as; empty when no record can match, so that none is sent."""
        return explain_query(query, self._type_of)

    def _type_of(self, shape: EntityShape) -> ItemType:
        found = self._types.get(shape)
        if found is None:
            found = self._types[shape] = ItemType(shape, self._name_of(shape.table))
        return found

    def _name_of(self, place: TablePlace) -> str:
        return self._called(place.name)

    def _called(self, name: str) -> str:
        return self._prefix + self._names.get(name, name)


def _second(now: datetime) -> int:
    return int(now.timestamp())
