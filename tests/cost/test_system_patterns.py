"""The units of every pattern of the five systems, and of what a running system keeps for itself, as DynamoDB counts.

The cases are made from the declarations: a few records of each entity, put, got, asked for by each pattern, and
deleted. The estimate must be the sum that DynamoDB's rules give, and what the servers say they took. All other ways to
write are in `test_system_writes`.
"""

from __future__ import annotations

from typing import Any

import pytest

from penstock.cost.capacity import read_units
from penstock.declare.pattern import ask
from penstock.operations.reads import Ref
from penstock.operations.writes import Delete, Put
from penstock.schema.shape import PatternShape
from penstock.schema.size import record_size
from tests.cost.samples import NOW, SHAPES, Counting, of_systems, records_of, worlds

PATTERNS = [pattern for shape in SHAPES for pattern in shape.patterns.values()]


@pytest.mark.parametrize("pattern", of_systems(PATTERNS, lambda p: p.entity, lambda p: p.label))
def test_a_pattern_takes_what_the_rules_say_and_the_server_tells(server: Counting, pattern: PatternShape) -> None:
    """VM-13, F-VM-1: of every pattern, what is put, found, got and deleted."""
    engine, shape, world = server.engine, pattern.entity, next(worlds)
    wanted = pattern.index.when if pattern.index is not None else {}
    records = records_of(shape, world, wanted)
    for values in records:
        engine.commit([Put(shape, values)], now=NOW, token=f"{world}")
    written = server.used()
    assert written.measured_write_units == written.write_units > 0
    given = {n: records[0][n] for n in pattern.parameters if n != pattern.ranged and n not in pattern.optional}
    found = engine.find(ask(pattern, given), limit=None, after=None, now=NOW).records
    read = server.used()
    assert found
    size = sum(record_size(shape, values) for values in records[: len(found)])
    assert read.read_units == read_units(size, strong=pattern.index is None)
    assert read.measured_read_units == read.read_units
    refs: list[Ref[Any]] = [Ref(shape, {n: values[n] for n in shape.key.fields}) for values in records]
    engine.get(refs[:1], now=NOW)
    got = server.used()
    assert got.measured_read_units == got.read_units == read_units(record_size(shape, records[0]))
    for ref in refs:
        engine.commit([Delete(shape, ref.key)], now=NOW, token=f"{world}")
    deleted = server.used()
    assert deleted.measured_write_units == deleted.write_units
