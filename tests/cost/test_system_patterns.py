"""The units of every pattern of the five systems, and of what a running system keeps for itself, as DynamoDB counts.

The cases are made from the declarations: a few records of each entity, put, got, asked for by each pattern, and
deleted. The estimate must be the sum that DynamoDB's rules give, and what the servers say they took. What is written
one by one here they count alike; where one counts otherwise (transactions, what is not there), `test_meter` says so.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, get_origin
from uuid import UUID

import pytest

from penstock.cost.capacity import read_units
from penstock.cost.meter import Meter, Usage
from penstock.cost.metered_engine import MeteredEngine
from penstock.declare.pattern import ask
from penstock.domains import DOMAINS
from penstock.operations.reads import Ref
from penstock.operations.writes import Delete, Put
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape, PatternShape
from penstock.schema.size import record_size
from penstock.work.working import WORKING

NOW = datetime(2037, 6, 6, 3, 40, tzinfo=UTC)
SHAPES = [shape for domain in (*DOMAINS, WORKING, SYSTEM_RECORDS) for shape in domain.shapes]
PATTERNS = [pattern for shape in SHAPES for pattern in shape.patterns.values()]
RECORDS = 3
_worlds = itertools.count(1)


def _value(shape: EntityShape, field: FieldShape, world: int, number: int) -> Any:
    """Some value of a kind, of a fixed width; another in another world, and the same for all records of one but for
    the last part of their key."""
    last = shape.key.fields[-1] == field.name
    n = world * 10 + (number if last else 0)
    match field.kind:
        case Kind.TEXT:
            return f"text-{n:06d}-{'é' * 40}"
        case Kind.CHOICE:
            return next(iter(field.python))
        case Kind.IDENTIFIER:
            return UUID(int=n, version=4)
        case Kind.INTEGER:
            return _whole(shape, field, number if last else 1)
        case Kind.FLOAT:
            return 1.5
        case Kind.DECIMAL:
            return Decimal("1.25")
        case Kind.FLAG:
            return True
        case Kind.BYTES:
            return b"bytes"
        case Kind.INSTANT:
            return NOW + timedelta(seconds=n)
        case Kind.DAY:
            return date(2037, 6, 6) + timedelta(days=n)
        case Kind.TEXTS:
            return frozenset({"one", "two"})
    return [] if get_origin(field.python) in (list, tuple) or field.python is list else {}


def _whole(shape: EntityShape, field: FieldShape, number: int) -> int:
    return int(NOW.timestamp()) + 90_000 if field.name == shape.expiry else 100 + number


def _records(shape: EntityShape, world: int, wanted: Mapping[str, frozenset[Any]]) -> list[dict[str, Any]]:
    """A few records of an entity with a value in every field, in the states that an index wants."""
    chosen = {name: sorted(allowed, key=str)[0] for name, allowed in wanted.items()}
    return [
        {name: chosen.get(name, _value(shape, field, world, number)) for name, field in shape.fields.items()}
        for number in range(RECORDS)
    ]


@pytest.fixture(scope="module", params=["dynoxide", pytest.param("dynamodb-local", marks=pytest.mark.long)])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[Engine, Meter]]:
    from penstock.engines.dynamodb import DynamoEngine

    meter = Meter()
    engine = DynamoEngine(
        endpoint=request.getfixturevalue(request.param.replace("-", "_") + "_server").url,
        region="us-east-1",
        access_key="test",
        secret_key="test",
        table_prefix=f"units{os.getpid()}_",
        report_capacity=meter.measure,
    )
    engine.ensure(SHAPES)
    yield MeteredEngine(engine, meter), meter
    engine.close()


def _used(meter: Meter) -> Usage:
    used = Usage()
    for _, each in meter.reset().items():
        used += each
    return used


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.label)
def test_a_pattern_takes_what_the_rules_say_and_the_server_tells(
    place: tuple[Engine, Meter], pattern: PatternShape
) -> None:
    """VM-13, F-VM-1: of every pattern, what is put, found, got and deleted."""
    engine, meter = place
    shape, world = pattern.entity, next(_worlds)
    wanted = pattern.index.when if pattern.index is not None else {}
    records = _records(shape, world, wanted)
    for values in records:
        engine.commit([Put(shape, values)], now=NOW, token=f"{world}")
    written = _used(meter)
    assert written.measured_write_units == written.write_units > 0
    given = {n: records[0][n] for n in pattern.parameters if n != pattern.ranged and n not in pattern.optional}
    found = engine.find(ask(pattern, given), limit=None, after=None, now=NOW).records
    read = _used(meter)
    assert found
    size = sum(record_size(shape, values) for values in records[: len(found)])
    assert read.read_units == read_units(size, strong=pattern.index is None)
    assert read.measured_read_units == read.read_units
    refs: list[Ref[Any]] = [Ref(shape, {n: values[n] for n in shape.key.fields}) for values in records]
    engine.get(refs[:1], now=NOW)
    got = _used(meter)
    assert got.measured_read_units == got.read_units == read_units(record_size(shape, records[0]))
    for ref in refs:
        engine.commit([Delete(shape, ref.key)], now=NOW, token=f"{world}")
    deleted = _used(meter)
    assert deleted.measured_write_units == deleted.write_units
