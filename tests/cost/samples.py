"""Records of any entity, made from its declaration, and the DynamoDB servers that say what writing them took."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar, get_origin
from uuid import UUID

import pytest

from penstock.cost.meter import Meter, Usage
from penstock.cost.metered_engine import MeteredEngine
from penstock.domains import DOMAINS
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape
from penstock.work.working import WORKING

T = TypeVar("T")
NOW = datetime(2037, 6, 6, 3, 40, tzinfo=UTC)
SYSTEMS = (*DOMAINS, WORKING, SYSTEM_RECORDS)
ALWAYS = "videos"
"The system that is tried always; the others in long runs."
SHAPES = [shape for domain in SYSTEMS for shape in domain.shapes]
SERVERS = ("dynoxide", "dynamodb-local")
RECORDS = 3
worlds = itertools.count(1)


def of_systems(cases: Iterable[T], shape_of: Callable[[T], EntityShape], name_of: Callable[[T], str]) -> list[Any]:
    """Cases with their names, those of all systems but one for long runs."""
    return [
        pytest.param(case, id=name_of(case), marks=() if shape_of(case).domain == ALWAYS else pytest.mark.long)
        for case in cases
    ]


@dataclass(frozen=True)
class Counting:
    """A server that counts, and the meter that hears of it."""

    name: str
    engine: Engine
    meter: Meter

    def used(self) -> Usage:
        """What was used since the last time."""
        return sum(self.meter.reset().values(), Usage())


@contextmanager
def counting(name: str, url: str) -> Iterator[Counting]:
    """A DynamoDB server with the tables of all systems."""
    from penstock.engines.dynamodb import DynamoEngine

    meter = Meter()
    engine = DynamoEngine(
        endpoint=url,
        region="us-east-1",
        access_key="test",
        secret_key="test",
        table_prefix=f"units{os.getpid()}x{next(worlds)}_",
        report_capacity=meter.measure,
    )
    engine.ensure(SHAPES)
    yield Counting(name, MeteredEngine(engine, meter), meter)
    engine.close()


def value_of(shape: EntityShape, field: FieldShape, world: int, number: int) -> Any:
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


def records_of(shape: EntityShape, world: int, wanted: Mapping[str, frozenset[Any]]) -> list[dict[str, Any]]:
    """A few records of an entity with a value in every field, in the states that an index wants."""
    chosen = {name: sorted(allowed, key=str)[0] for name, allowed in wanted.items()}
    return [
        {name: chosen.get(name, value_of(shape, field, world, number)) for name, field in shape.fields.items()}
        for number in range(RECORDS)
    ]
