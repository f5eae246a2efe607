"""Transactions that meet: DynamoDB cancels one of them, which the servers for tests never do. Here they do."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any

import msgspec
import pytest

from penstock import Store, the
from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.dynamodb.wire import Reply, Wire
from penstock.ports.engine import Engine
from penstock.testing.entities import Counter
from tests.conftest import _drop_tables
from tests.engines.dynamodb.scripted import refusal

NAMES = [f"{n:02d}" for n in range(40)]
PREFIX = "conflicts_"


class Table:
    """What is just being written, by anybody."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._busy: set[str] = set()
        self.conflicts = 0

    @contextmanager
    def writing(self, items: set[str]) -> Iterator[set[str]]:
        """Hold items; what is yielded are those of them that somebody else holds, and then none is held."""
        with self._lock:
            met = items & self._busy
            self.conflicts += bool(met)
            if not met:
                self._busy |= items
        try:
            yield met
        finally:
            if not met:
                with self._lock:
                    self._busy -= items


class Meeting:
    """A wire to a real server, which cancels whatever meets another as DynamoDB does."""

    def __init__(self, wire: Wire, table: Table) -> None:
        self._wire, self._table = wire, table

    def call(self, operation: str, body: bytes) -> Reply:
        keys = _keys(operation, msgspec.json.decode(body))
        with self._table.writing(set(keys)) as met:
            if not met:
                return self._wire.call(operation, body)
        if operation == "TransactWriteItems":
            codes = ["TransactionConflict" if key in met else "None" for key in keys]
            raise refusal("TransactionCanceledException", CancellationReasons=[{"Code": code} for code in codes])
        raise refusal("TransactionConflictException")

    def close(self) -> None:
        self._wire.close()


def _keys(operation: str, request: dict[str, Any]) -> list[str]:
    if operation == "TransactWriteItems":
        parts = [part for member in request["TransactItems"] for part in member.values()]
    elif operation == "BatchWriteItem":
        requests = [each for those in request["RequestItems"].values() for each in those]
        parts = [part for each in requests for part in each.values()]
    else:
        parts = [request] if operation in ("PutItem", "UpdateItem", "DeleteItem") else []
    return [(part.get("Key") or part["Item"])["name"]["S"] for part in parts]


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def stores(dynoxide_server: Any, table: Table) -> Iterator[list[Store]]:
    """Eight stores on one table, as processes have them."""

    def open_one() -> Engine:
        def connect() -> Meeting:
            wire = Wire(endpoint=dynoxide_server.url, region="us-east-1", access_key="test", secret_key="test")
            return Meeting(wire, table)

        return DynamoEngine(connect=connect, table_prefix=PREFIX)

    opened = [Store(open_one()) for _ in range(8)]
    opened[0].engine.ensure([Counter.__shape__])
    opened[0].put_many([Counter(name=name) for name in NAMES])
    yield opened
    for store in opened:
        store.close()
    _drop_tables(dynoxide_server.url, PREFIX)


def test_of_eight_who_meet_all_the_time_each_comes_by_soon(stores: list[Store], table: Table) -> None:
    def write(number: int) -> float:
        store, chance, slowest = stores[number], random.Random(number), 0.0
        for _ in range(3):
            began = time.monotonic()
            with store.change() as change:
                for name in chance.sample(NAMES, 30):
                    change.patch(Counter.at(name=name), the(Counter.total).add(1))
            store.patch(Counter.at(name="00"), the(Counter.total).add(1), exact=False)
            store.patch(Counter.at(name="01"), the(Counter.total).add(1))
            store.put_many([Counter(name=f"put {name}") for name in chance.sample(NAMES, 25)])
            slowest = max(slowest, time.monotonic() - began)
        return slowest

    with ThreadPoolExecutor(8) as pool:
        slowest = max(pool.map(write, range(8)))
    assert table.conflicts > 8, "they met"
    assert slowest < 10, "four writes in a row"
    found = stores[0].get_many([Counter.at(name=name) for name in NAMES])
    assert sum(c.total for c in found if c is not None) == 8 * 3 * 32
