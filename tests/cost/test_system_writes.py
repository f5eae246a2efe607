"""The units of every way to write a record of the five systems, and of what a running system keeps for itself.

The cases are made from the declarations: each entity is created, each of its moves made, each field patched, each
number counted on, and all of that done in one transaction. The estimate must be what the servers say they took, except
where DIFFERENCES says in which way a server counts otherwise than DynamoDB does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from penstock.cost.footprint import ABSENT, Footprint, footprint, image_of, units_by_index
from penstock.declare.move import MoveOf
from penstock.kernel.unchanged import states_unchanged
from penstock.operations.conditions import Missing, Present
from penstock.operations.index_keys import with_index_keys
from penstock.operations.updates import Add, Remove, Set, Update
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.ports.ids import commit_token
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape
from tests.cost.samples import NOW, SHAPES, SYSTEMS, Counting, of_systems, value_of, worlds

Values = dict[str, Any]
ENTITIES = of_systems(SHAPES, lambda s: s, lambda s: s.label)
MOVES = of_systems(
    [
        (entity.__shape__, move)
        for domain in SYSTEMS
        for entity in domain.entities
        for move in entity.__moves__.values()
    ],
    lambda case: case[0],
    lambda case: f"{case[0].label}.{case[1].name}",
)
COUNTED = of_systems(
    [
        (shape, field)
        for shape in SHAPES
        for field in shape.fields.values()
        if field.kind is Kind.INTEGER and field.name not in {*shape.key.fields, *shape.indexed, shape.expiry}
    ],
    lambda case: case[0],
    lambda case: f"{case[0].label}.{case[1].name}",
)


def _new(shape: EntityShape, number: int = 0) -> Values:
    """A record with a value in every field; its number tells it from others where its key has nothing else to."""
    world = next(worlds)
    return {name: value_of(shape, field, world, number) for name, field in shape.fields.items()}


def _stands(server: Counting, shape: EntityShape, given: Mapping[str, Any] | None = None, *, number: int = 0) -> Values:
    """A record that was just written, and that the meter knows."""
    record = _new(shape, number) | dict(given or {})
    server.engine.commit([Put(shape, record)], now=NOW, token="given")
    server.used()
    return record


def _key(shape: EntityShape, record: Values) -> Values:
    return {name: record[name] for name in shape.key.fields}


def _patch(shape: EntityShape, record: Values, *updates: Update, **options: Any) -> Patch:
    """A patch by somebody who has read the record, as the kernel sends it."""
    return with_index_keys(Patch(shape, _key(shape, record), updates, **options), record)


def _other(shape: EntityShape, field: FieldShape, record: Values) -> Any:
    """Another value of a field, of the same kind and about as long."""
    match field.kind:
        case Kind.CHOICE:
            return list(field.python)[-1]
        case Kind.FLAG:
            return not record[field.name]
        case Kind.INTEGER:
            return record[field.name] + 11
    return value_of(shape, field, next(worlds), 7)


@pytest.mark.parametrize("shape", ENTITIES)
def test_to_create_a_record_takes_what_the_server_tells(server: Counting, shape: EntityShape) -> None:
    """VM-13, F-VM-1: the table's part and that of each index it enters."""
    record = _new(shape)
    server.engine.commit([Put(shape, record, Missing())], now=NOW, token="create")
    used = server.used()
    assert used.write_units == used.measured_write_units > 0


@pytest.mark.parametrize("shape", ENTITIES)
def test_to_patch_any_field_takes_what_the_server_tells(server: Counting, shape: EntityShape) -> None:
    """VM-13, F-VM-1: whether an index holds the field, has it in its key, or loses the record with it."""
    for field in shape.fields.values():
        if field.name in shape.key.fields or not field.stored or field.name == shape.expiry:
            continue
        record = _stands(server, shape)
        server.engine.patch(_patch(shape, record, Set(field.name, _other(shape, field, record))), now=NOW, token="set")
        used = server.used()
        assert used.write_units == used.measured_write_units > 0, field.name
        if field.optional:
            record = _stands(server, shape)
            server.engine.patch(_patch(shape, record, Remove(field.name)), now=NOW, token="remove")
            used = server.used()
            assert used.write_units == used.measured_write_units > 0, field.name


@pytest.mark.parametrize("case", MOVES)
def test_to_move_a_record_takes_what_the_server_tells(
    server: Counting, case: tuple[EntityShape, MoveOf[Any, ...]]
) -> None:
    """VM-13, F-VM-1: from each state it may start from, on the condition that the states are as they were read."""
    shape, move = case
    for origin in move.origins:
        record = _stands(server, shape, {move.field: origin})
        states = states_unchanged(shape, tuple(record[f.name] for f in shape.states))
        server.engine.patch(_patch(shape, record, Set(move.field, move.to), when=states), now=NOW, token="move")
        used = server.used()
        assert used.write_units == used.measured_write_units > 0, origin


@pytest.mark.parametrize("case", COUNTED)
def test_to_count_exactly_takes_what_the_server_tells(server: Counting, case: tuple[EntityShape, FieldShape]) -> None:
    """VM-13, F-VM-1: a transaction of one, and a read of what it left; not exactly, a single write."""
    shape, field = case
    record = _stands(server, shape)
    count = Patch(shape, _key(shape, record), (Add(field.name, 1),))
    after = image_of(shape, record | {field.name: record[field.name] + 1})
    server.engine.patch(count, now=NOW, token=commit_token())
    used = server.used()
    assert used.read_units == used.measured_read_units > 0
    assert (used.write_units, used.measured_write_units) == _expected(
        server, [Footprint(count, image_of(shape, record), after)]
    )
    server.engine.patch(replace(count, exact=False), now=NOW, token=commit_token())
    used = server.used()
    assert used.write_units == used.measured_write_units > 0


@pytest.mark.parametrize("shape", ENTITIES)
def test_a_transaction_takes_what_the_server_tells(server: Counting, shape: EntityShape) -> None:
    """VM-13, F-VM-1: twice the table's part of all that it creates, changes, deletes and checks."""
    created, (changed, deleted, checked) = _new(shape, 1), (_stands(server, shape, number=n) for n in (2, 3, 4))
    done = [
        footprint(Put(shape, created, Missing()), ABSENT),
        *_changed(shape, changed),
        footprint(Delete(shape, _key(shape, deleted)), image_of(shape, deleted)),
        footprint(Check(shape, _key(shape, checked), Present()), image_of(shape, checked)),
    ]
    server.engine.commit([each.write for each in done], now=NOW, token=commit_token())
    used = server.used()
    assert (used.write_units, used.measured_write_units) == _expected(server, done)


def _changed(shape: EntityShape, record: Values) -> Iterator[Footprint]:
    """Another text in a field that may have one, if there is such a field."""
    texts = [f for f in shape.fields.values() if f.kind is Kind.TEXT and f.stored and f.name not in shape.key.fields]
    for field in texts[:1]:
        patch = _patch(shape, record, Set(field.name, _other(shape, field, record)))
        yield footprint(patch, image_of(shape, record))


# Where a server counts otherwise

Parts = tuple[str, float, frozenset[tuple[str, float]]]
"What one write takes of its table, and of each of its indexes."


@dataclass(frozen=True)
class Difference:
    """A server that counts transactions otherwise than DynamoDB does, and how."""

    server: str
    reason: str
    counted: Callable[[list[tuple[Write, Parts]]], list[tuple[Write, Parts]]]


def _indexes_twice(parts: list[tuple[Write, Parts]]) -> list[tuple[Write, Parts]]:
    return [(w, (t, units, frozenset((n, 2 * u) for n, u in of))) for w, (t, units, of) in parts]


def _checks_as_two(parts: list[tuple[Write, Parts]]) -> list[tuple[Write, Parts]]:
    return [(w, (t, 2.0 if isinstance(w, Check) else units, of)) for w, (t, units, of) in parts]


def _alike_once(parts: list[tuple[Write, Parts]]) -> list[tuple[Write, Parts]]:
    return list({taken: (w, taken) for w, taken in parts}.values())


DIFFERENCES = (
    Difference("dynamodb-local", "takes an index's part of a transaction twice, as the table's", _indexes_twice),
    Difference("dynamodb-local", "takes two units for a check, however large the record is", _checks_as_two),
    Difference("dynamodb-local", "counts those of its writes once that take the same of the same table", _alike_once),
)


def _expected(server: Counting, done: Sequence[Footprint]) -> tuple[float, float]:
    """The units of a transaction by DynamoDB's rules, and those that the server must tell."""
    parts = [
        (
            each.write,
            (each.write.shape.table.name, 2 * each.table_units, frozenset(units_by_index(each.before, each.after))),
        )
        for each in done
    ]
    counted = parts
    for difference in DIFFERENCES:
        if difference.server == server.name:
            counted = difference.counted(counted)
    return _sum(parts), _sum(counted)


def _sum(parts: list[tuple[Write, Parts]]) -> float:
    return sum(units + sum(u for _, u in of) for _, (_, units, of) in parts)
