"""The meter's estimate against what DynamoDB's servers say they took, and the same estimate on every engine.

Each case is a history of its own, in a world of its own. Its units are written here as they follow from DynamoDB's
rules: the estimate must give them on every engine, and the servers must have taken them, except where ODDITIES says so.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest
from msgspec.structs import replace

from penstock import ANYTHING, Count, Domain, Entity, FrozenClock, IndexKey, Range, Store, Table, key, pattern, the
from penstock.cost.meter import Meter, Usage
from penstock.cost.metered_engine import MeteredEngine
from penstock.errors import Conflict
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Missing, Present
from penstock.operations.writes import Check, Delete
from penstock.ports.engine import Engine
from penstock.schema.size import record_size
from penstock.testing.entities import Specimen, full_values
from tests.conftest import chosen_engines

MEASURED = ("dynoxide", "dynamodb-local")
KB = 1024


class State(StrEnum):
    NEW = "new"
    OLD = "old"


DEPOT = Table("penstock-meter-depot", partition="PK", sort="SK", tag="kind")
STATED = DEPOT.index("GSI1", partition="GSI1PK", sort="GSI1SK")
OWNED = DEPOT.index("GSI2", partition="GSI2PK", sort="GSI2SK")


class Note(Entity, table=DEPOT):
    """In no index."""

    world: str
    name: str
    text: str | None = None

    @key("WORLD#{world}", "NOTE#{name}")
    def at(self, *, world: str, name: str) -> None:
        "A note."

    @pattern(at)
    def by_world(self, *, world: str, name: Range[str] = ANYTHING) -> None:
        "Notes of a world."


class Parcel(Entity, table=DEPOT):
    """Always in one index, and in another while it has an owner."""

    world: str
    name: str
    state: State = State.NEW
    owner: str | None = None
    text: str | None = None
    seen: Count = 0

    @key("WORLD#{world}", "PARCEL#{name}")
    def at(self, *, world: str, name: str) -> None:
        "A parcel."

    stated = IndexKey(STATED, "{world}#STATE#{state}", "{name}")

    @pattern(stated)
    def by_state(self, *, world: str, state: State, name: Range[str] = ANYTHING) -> None:
        "Parcels in a state."

    owned = IndexKey(OWNED, "{world}#OWNER#{owner}", "{name}")

    @pattern(owned)
    def by_owner(self, *, world: str, owner: str, name: Range[str] = ANYTHING) -> None:
        "Parcels of an owner."


METERED = Domain("meter_cases", Note, Parcel)
SHAPES = [*METERED.shapes, Specimen.__shape__]


def of_size(record: Any, size: int) -> Any:
    """The record, with a text that makes it exactly so large."""
    short = record.model_copy(update={"text": "x"})
    missing = size - record_size(short.__shape__, short.__dict__)
    return record.model_copy(update={"text": "x" * (1 + missing)})


def note(world: str, name: str = "n", size: int = 0) -> Note:
    return of_size(Note(world=world, name=name), size) if size else Note(world=world, name=name)


def parcel(world: str, name: str = "p", size: int = 0, **values: Any) -> Parcel:
    plain = Parcel(world=world, name=name, **values)
    return of_size(plain, size) if size else plain


# The servers


@dataclass
class Place:
    """One engine: a store, and its meter."""

    store: Store
    meter: Meter


@pytest.fixture(scope="module")
def places(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Place]]:
    """Every chosen engine, with the tables of the cases."""
    places = {}
    clock = FrozenClock()
    with ExitStack() as stack:
        for name in chosen_engines():
            meter = Meter()
            engine = _open(name, request, str(tmp_path_factory.mktemp("meter") / "meter.db"), meter)
            stack.callback(engine.close)
            engine.ensure(SHAPES)
            places[name] = Place(Store(MeteredEngine(engine, meter), clock=clock), meter)
        yield places


def _open(name: str, request: pytest.FixtureRequest, path: str, meter: Meter) -> Engine:
    if name in MEASURED:
        from penstock.engines.dynamodb import DynamoEngine

        return DynamoEngine(
            endpoint=request.getfixturevalue(name.replace("-", "_") + "_server").url,
            region="us-east-1",
            access_key="test",
            secret_key="test",
            table_prefix=f"meter{os.getpid()}_",
            report_capacity=meter.measure,
        )
    from penstock.engines.sql.engine import SqlEngine

    if name == "sqlite":
        from penstock.engines.sql.sqlite import SqliteConnector

        return SqlEngine(SqliteConnector(path))
    from penstock.engines.sql.postgres import PostgresConnector

    return SqlEngine(PostgresConnector(request.getfixturevalue("postgres_server").create_database("meter")))


_worlds = itertools.count()


@pytest.fixture
def world() -> str:
    """A name of fixed length, so that sizes do not depend on the order of tests."""
    return f"w{next(_worlds):04d}"


# The cases

Step = Callable[[Store, str], Any]


@dataclass(frozen=True)
class Case:
    """What is done, after something that is not counted, and the units it takes."""

    act: Step
    given: Step = lambda store, world: None
    reads: float = 0
    writes: float = 0
    requests: int = 1
    assumed: int = 0
    refused: bool = False


def puts(*make: Callable[[str], Any]) -> Step:
    def step(store: Store, world: str) -> None:
        for one in make:
            store.put(one(world))

    return step


def steps(*several: Step) -> Step:
    def step(store: Store, world: str) -> None:
        for one in several:
            one(store, world)

    return step


def by_others(step: Step) -> Step:
    """Done by a store that is not metered."""
    return lambda store, world: step(Store(store.engine._engine), world)  # type: ignore[attr-defined]


def looked_up(*make: Callable[[str], Any]) -> Step:
    return lambda store, world: store.get_many([one(world).ref for one in make])


def conflicting(step: Step) -> Step:
    def refused(store: Store, world: str) -> None:
        with pytest.raises(Conflict):
            step(store, world)

    return refused


def ref(world: str, name: str = "p") -> Any:
    return Parcel.at(world=world, name=name)


OWNED_BY_ANN = puts(lambda w: parcel(w, owner="ann"))
LARGE = puts(lambda w: parcel(w, owner="ann", size=3000))
SMALL = puts(parcel)
OWNED_BY_BOB = puts(lambda w: parcel(w, owner="bob"))


def _commit(store: Store, world: str) -> None:
    store.commit(
        [
            put(parcel(world, "new")),  # 2 + 1
            put(parcel(world, "p", size=3 * KB, owner="bob")),  # 6 + 3 + 1 + 3
            patch(ref(world, "q"), the(Parcel.text).set("changed")),  # 2 + 1
            Delete(Note.__shape__, {"world": world, "name": "n"}),  # 4
        ]
    )


def _three(world: str) -> list[Note]:
    return [note(world, "a", 3000), note(world, "b", 5000), note(world, "c", 9000)]


CASES: dict[str, Case] = {
    # A put: the table by size, each index by what changes in it.
    "put new, in no index": Case(puts(note), writes=1, assumed=1),
    "put new, 1 KB": Case(puts(lambda w: note(w, size=KB)), writes=1, assumed=1),
    "put new, 1 KB and a byte": Case(puts(lambda w: note(w, size=KB + 1)), writes=2, assumed=1),
    "put new, 1 KB and a byte, with a number that ends in 0": Case(
        puts(lambda w: parcel(w, size=KB + 1, seen=120)), writes=4, assumed=1
    ),
    "put new, 400 KB": Case(puts(lambda w: note(w, size=400 * KB)), writes=400, assumed=1),
    "put new, in one index": Case(puts(parcel), writes=2, assumed=1),
    "put new, in two indexes": Case(OWNED_BY_ANN, writes=3, assumed=1),
    "create": Case(lambda s, w: s.create(parcel(w)), writes=2),
    "put where nothing was read": Case(puts(parcel), given=looked_up(parcel), writes=2),
    "put what stands there already": Case(OWNED_BY_ANN, given=OWNED_BY_ANN, writes=1),
    "put, entering an index": Case(OWNED_BY_ANN, given=SMALL, writes=3),
    "put, leaving an index": Case(SMALL, given=OWNED_BY_ANN, writes=3),
    "put, changing an index key": Case(OWNED_BY_BOB, given=OWNED_BY_ANN, writes=4),
    "put, touching a projected field": Case(
        puts(lambda w: parcel(w, owner="ann", text="!")), given=OWNED_BY_ANN, writes=3
    ),
    "put, growing": Case(LARGE, given=OWNED_BY_ANN, writes=9),
    "put, shrinking": Case(OWNED_BY_ANN, given=LARGE, writes=9),
    "put, growing and changing an index key": Case(LARGE, given=OWNED_BY_BOB, writes=10),
    "put, shrinking and leaving an index": Case(SMALL, given=LARGE, writes=9),
    "put over a record that was read": Case(
        OWNED_BY_ANN, given=steps(by_others(OWNED_BY_BOB), lambda s, w: s.get(ref(w))), writes=4
    ),
    "put over a record that was found": Case(
        OWNED_BY_ANN,
        given=steps(by_others(OWNED_BY_BOB), lambda s, w: list(s.find(Parcel.by_owner(world=w, owner="bob")))),
        writes=4,
    ),
    # A patch.
    "patch of a projected field": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.text).set("!")), given=OWNED_BY_ANN, writes=3
    ),
    "patch with the value that stands there": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.owner).set("ann")), given=OWNED_BY_ANN, writes=1
    ),
    "patch of an index key": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.owner).set("bob")), given=OWNED_BY_ANN, writes=4
    ),
    "patch into an index": Case(lambda s, w: s.patch(ref(w), the(Parcel.owner).set("bob")), given=SMALL, writes=3),
    "patch out of an index": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.owner).set(None)), given=OWNED_BY_ANN, writes=3
    ),
    "patch of an index key of a large record": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.owner).set("bob")), given=LARGE, writes=12
    ),
    "count, exactly: a transaction and a read": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.seen).add(1)), given=SMALL, writes=3, reads=1, requests=2
    ),
    "count, not exactly": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.seen).add(1), exact=False), given=SMALL, writes=2
    ),
    "blind patch of a projected field": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.seen).set(7)), given=by_others(LARGE), writes=9, assumed=1
    ),
    "blind patch of an index key": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.owner).set("bob")), given=by_others(LARGE), writes=12, assumed=1
    ),
    "blind patch out of an index": Case(
        lambda s, w: s.patch(ref(w), the(Parcel.owner).set(None)), given=by_others(OWNED_BY_ANN), writes=3, assumed=1
    ),
    # A delete.
    "delete, large, in two indexes": Case(lambda s, w: s.delete(ref(w)), given=LARGE, writes=9),
    "delete of what was deleted": Case(
        lambda s, w: s.delete(ref(w)), given=steps(SMALL, lambda s, w: s.delete(ref(w))), writes=1
    ),
    "blind delete of a small record": Case(lambda s, w: s.delete(ref(w)), given=by_others(SMALL), writes=2, assumed=1),
    # Commits of several: the table's part twice, the indexes' part once.
    "commit of notes": Case(
        lambda s, w: s.commit([put(note(w, "a"), when=Missing()), put(note(w, "b", 3 * KB), when=Missing())]), writes=8
    ),
    "commit of parcels": Case(
        _commit,
        given=steps(
            OWNED_BY_ANN,
            puts(lambda w: parcel(w, "q"), lambda w: note(w, size=2 * KB)),
            looked_up(lambda w: parcel(w, "new")),
        ),
        writes=3 + 6 + 3 + 4 + 3 + 4,
    ),
    "commit with a check of a small record": Case(
        lambda s, w: s.commit([put(note(w)), Check(Parcel.__shape__, ref(w).key, Present())]),
        given=steps(SMALL, looked_up(note)),
        writes=4,
    ),
    "commit with a check of a large record": Case(
        lambda s, w: s.commit([put(note(w)), Check(Parcel.__shape__, ref(w).key, Present())]),
        given=steps(LARGE, looked_up(note)),
        writes=8,
    ),
    "commit with a delete of nothing": Case(
        lambda s, w: s.commit([put(note(w)), Delete(Parcel.__shape__, ref(w).key)]),
        given=looked_up(note, parcel),
        writes=4,
    ),
    "a check alone is a read": Case(
        lambda s, w: s.commit([Check(Note.__shape__, note(w).ref.key, Present())]),
        given=puts(lambda w: note(w, size=5 * KB)),
        reads=2,
    ),
    # Refusals take units too, but no answer tells them.
    "create where one stands": Case(
        conflicting(lambda s, w: s.create(parcel(w))), given=by_others(LARGE), writes=3, refused=True
    ),
    "create of a large record where a small one stands": Case(
        conflicting(lambda s, w: s.create(parcel(w, size=2 * KB))), given=SMALL, writes=2, refused=True
    ),
    "patch of nothing": Case(
        conflicting(lambda s, w: s.patch(ref(w), the(Parcel.text).set("!"))), writes=1, refused=True
    ),
    "commit refused": Case(
        conflicting(lambda s, w: s.commit([put(note(w, size=2 * KB)), put(parcel(w), when=Missing())])),
        given=steps(SMALL, looked_up(note)),
        writes=6,
        refused=True,
    ),
    # Gets are consistent.
    "get nothing": Case(lambda s, w: s.lookup(ref(w)), reads=1),
    "get a small record": Case(lambda s, w: s.get(note(w).ref), given=puts(note), reads=1),
    "get 4 KB": Case(lambda s, w: s.get(note(w).ref), given=puts(lambda w: note(w, size=4 * KB)), reads=1),
    "get 4 KB and a byte": Case(
        lambda s, w: s.get(note(w).ref), given=puts(lambda w: note(w, size=4 * KB + 1)), reads=2
    ),
    "get 400 KB": Case(lambda s, w: s.get(note(w).ref), given=puts(lambda w: note(w, size=400 * KB)), reads=100),
    "get several: each is rounded": Case(
        lambda s, w: s.get_many([n.ref for n in _three(w)]), given=lambda s, w: s.put_many(_three(w)), reads=1 + 2 + 3
    ),
    "get several, one of them twice": Case(
        lambda s, w: s.get_many([n.ref for n in (*_three(w), *_three(w))]),
        given=lambda s, w: s.put_many(_three(w)),
        reads=1 + 2 + 3,
    ),
    "get several, one of which is not there": Case(
        lambda s, w: s.get_many([note(w).ref, note(w, "none").ref]), given=puts(note), reads=2
    ),
    "get 130": Case(
        lambda s, w: s.get_many([note(w, f"{n:03d}").ref for n in range(130)]),
        given=lambda s, w: s.put_many(note(w, f"{n:03d}") for n in range(130)),
        reads=130,
        requests=2,
    ),
    # Queries: all that is read is rounded once. On the table consistent, on an index not.
    "find on the table": Case(
        lambda s, w: list(s.find(Note.by_world(world=w))), given=lambda s, w: s.put_many(_three(w)), reads=5
    ),
    "find small records on the table": Case(
        lambda s, w: list(s.find(Note.by_world(world=w))),
        given=lambda s, w: s.put_many(note(w, f"{n:03d}", 400) for n in range(100)),
        reads=10,
    ),
    "find exactly 4 KB": Case(
        lambda s, w: list(s.find(Note.by_world(world=w))),
        given=lambda s, w: s.put_many(note(w, f"{n}", KB) for n in range(4)),
        reads=1,
    ),
    "find on an index": Case(
        lambda s, w: list(s.find(Parcel.by_owner(world=w, owner="ann"))),
        given=lambda s, w: s.put_many(parcel(w, f"{n}", 3000, owner="ann") for n in range(5)),
        reads=2,
    ),
    "find nothing on the table": Case(lambda s, w: list(s.find(Note.by_world(world=w))), reads=1),
    "find nothing on an index": Case(lambda s, w: list(s.find(Parcel.by_owner(world=w, owner="ann"))), reads=0.5),
    "find a page, and that more follow": Case(
        lambda s, w: s.page(Note.by_world(world=w), limit=3),
        given=lambda s, w: s.put_many(note(w, f"{n}", 2 * KB) for n in range(9)),
        reads=2,
        assumed=1,
    ),
    "find the last page": Case(
        lambda s, w: s.page(Note.by_world(world=w), limit=9),
        given=lambda s, w: s.put_many(note(w, f"{n}", 2 * KB) for n in range(9)),
        reads=5,
    ),
    "find 2 MB": Case(
        lambda s, w: list(s.find(Note.by_world(world=w))),
        given=lambda s, w: s.put_many(note(w, f"{n:02d}", 64 * KB) for n in range(30)),
        reads=480,
        requests=2,
    ),
    # Batches cost what their writes cost alone.
    "load new records": Case(
        lambda s, w: s.put_many(parcel(w, f"{n:03d}", owner="ann") for n in range(60)),
        writes=180,
        requests=3,
        assumed=60,
    ),
    "load over records": Case(
        lambda s, w: s.put_many(parcel(w, f"{n:03d}", owner="bob") for n in range(25)),
        given=lambda s, w: s.put_many(parcel(w, f"{n:03d}", 3 * KB, owner="ann") for n in range(25)),
        writes=25 * (3 + 3 + 4),
    ),
    "load one record twice": Case(
        lambda s, w: s.put_many([note(w), note(w)]), given=looked_up(note), writes=2, requests=2
    ),
    "unload": Case(
        lambda s, w: s.delete_many(ref(w, f"{n:03d}") for n in range(25)),
        given=lambda s, w: s.put_many(parcel(w, f"{n:03d}", 3 * KB, owner="ann") for n in range(25)),
        writes=25 * 9,
    ),
    "unload what is not there": Case(
        lambda s, w: s.delete_many([ref(w, "a"), ref(w, "b")]),
        given=lambda s, w: s.get_many([ref(w, "a"), ref(w, "b")]),
        writes=2,
    ),
}


@dataclass(frozen=True)
class Oddity:
    """A server that takes something else than DynamoDB does, and what it takes."""

    engine: str
    reason: str
    reads: Mapping[str, float] = field(default_factory=dict)
    writes: Mapping[str, float] = field(default_factory=dict)


ODDITIES = (
    Oddity(
        "dynamodb-local",
        "takes an index's part of a transaction twice; DynamoDB, and dynoxide with it, only the table's part "
        "(servers.md: a transactional write to an index is billed 8 by one and 7 by the others)",
        writes={"count, exactly: a transaction and a read": 4},
    ),
    Oddity(
        "dynamodb-local",
        "counts those writes of a transaction once that take the same of the same table and indexes, two units for "
        "any check, and one for a delete of nothing",
        writes={
            "commit of parcels": 28,
            "commit with a check of a small record": 2,
            "commit with a check of a large record": 2,
            "commit with a delete of nothing": 3,
        },
    ),
    Oddity(
        "dynamodb-local",
        "takes nothing for what is not there; DynamoDB takes the least there is",
        reads={
            "get several, one of which is not there": 1,
            "find nothing on the table": 0,
            "find nothing on an index": 0,
        },
    ),
    Oddity(
        "dynoxide",
        "counts a byte less for a whole number with an odd number of digits that ends in an odd number of zeros",
        writes={"put new, 1 KB and a byte, with a number that ends in 0": 2},
    ),
    Oddity("dynamodb-local", "takes two units to delete nothing in a batch", writes={"unload what is not there": 4}),
)


def _measured(engine: str, name: str, case: Case) -> tuple[float, float]:
    """The units a server is expected to tell."""
    reads, writes = (0.0, 0.0) if case.refused else (case.reads, case.writes)
    for oddity in ODDITIES:
        if oddity.engine == engine:
            reads, writes = oddity.reads.get(name, reads), oddity.writes.get(name, writes)
    return reads, writes


@pytest.mark.parametrize("name", list(CASES))
def test_the_estimate_is_what_dynamodb_takes_and_the_same_everywhere(
    places: dict[str, Place], world: str, name: str
) -> None:
    case = CASES[name]
    for engine, place in places.items():
        case.given(place.store, world)
        place.meter.reset()
        case.act(place.store, world)
        used = place.meter.total()
        assert (used.read_units, used.write_units) == (case.reads, case.writes), engine
        assert (used.requests, used.assumed, used.refused) == (case.requests, case.assumed, case.refused), engine
        if engine in MEASURED:
            told = (used.measured_read_units, used.measured_write_units)
            assert told == _measured(engine, name, case), engine
            assert used.measured_requests == (0 if case.refused else case.requests), engine


@pytest.mark.parametrize("kilobytes", [2, 3, 8])
def test_sizes_are_right_to_the_byte(places: dict[str, Place], world: str, kilobytes: int) -> None:
    """A record with a value of every kind, filled up to a whole number of kilobytes, and one byte more."""
    for place in places.values():
        shape = Specimen.__shape__
        values = {**Specimen(shelf=world, label="full", **full_values()).__dict__, "text": ""}
        least = put(Specimen(**values)).values
        for excess in (0, 1):
            size = kilobytes * KB + excess
            full = Specimen(**{**values, "text": "x" * (size - record_size(shape, {**least, "text": "x"}) + 1)})
            place.meter.reset()
            place.store.put(full)
            place.store.get(full.ref)
            used = place.meter.total()
            assert used.bytes == 2 * size
            assert used.write_units == kilobytes + excess
            if used.measured_requests:
                assert used.measured_write_units == used.write_units
                assert used.measured_read_units == used.read_units


def _history(store: Store, world: str, seed: int) -> None:
    """Reads and writes of a few records, as they come."""
    chance = random.Random(seed)
    for _ in range(150):
        name = chance.choice("abcdef")
        owner = chance.choice([None, "ann", "bob"])
        size = chance.choice([0, 900, 1200, 3000, 5000])
        action = chance.randrange(8)
        if action == 0:
            store.put(parcel(world, name, size, owner=owner, state=chance.choice(list(State))))
        elif action == 1 and store.lookup(ref(world, name)):
            store.patch(ref(world, name), the(Parcel.owner).set(owner))
        elif action == 2 and store.lookup(ref(world, name)):
            store.patch(ref(world, name), the(Parcel.state).set(chance.choice(list(State))), the(Parcel.text).set(None))
        elif action == 3:
            store.delete(ref(world, name))
        elif action == 4:
            list(store.find(Parcel.by_state(world=world, state=chance.choice(list(State)))))
        elif action == 5:
            store.get_many([ref(world, n) for n in "abc"])
        elif action == 6:
            store.put_many(parcel(world, n, size, owner=owner) for n in "cde")
        elif store.lookup(ref(world, name)):
            with store.change() as change:
                record = change.get(ref(world, name))
                record.text = chance.choice([None, "x", "x" * 1500])
                change.save(record)
                change.put(note(world, name, size))


@pytest.mark.parametrize("seed", range(3))
def test_the_same_history_costs_the_same_everywhere(places: dict[str, Place], world: str, seed: int) -> None:
    estimates: dict[str, dict[str, Usage]] = {}
    for engine, place in places.items():
        place.store.get_many([r for n in "abcdef" for r in (ref(world, n), note(world, n).ref)])
        place.meter.reset()
        _history(place.store, world, seed)
        used = place.meter.snapshot()
        assert {u.assumed for u in used.values()} == {0}
        estimates[engine] = {label: _estimated(usage) for label, usage in used.items()}
        assert estimates[engine] == next(iter(estimates.values())), engine
        if engine == "dynoxide":
            for label, usage in used.items():
                assert usage.measured_read_units == usage.read_units, label
                assert usage.measured_write_units == usage.write_units, label
                assert usage.measured_requests == usage.requests, label


def _estimated(usage: Usage) -> Usage:
    return replace(usage, measured_requests=0, measured_read_units=0.0, measured_write_units=0.0)


def test_a_wrong_assumption_shows(places: dict[str, Place], world: str) -> None:
    """Others wrote a large record, which this store has never seen, and now replaces by a small one."""
    for place in places.values():
        by_others(LARGE)(place.store, world)
        place.meter.reset()
        SMALL(place.store, world)
        used = place.meter.total()
        assert (used.write_units, used.assumed) == (2, 1)
        if used.measured_requests:
            assert used.measured_write_units == 9


def test_usage_is_told_by_pattern_and_by_verb(places: dict[str, Place], world: str) -> None:
    for place in places.values():
        place.meter.reset()
        place.store.put(parcel(world, owner="ann"))
        place.store.patch(ref(world), the(Parcel.text).set("!"))
        place.store.get(ref(world))
        place.store.get_many([ref(world), note(world).ref])
        list(place.store.find(Parcel.by_owner(world=world, owner="ann")))
        place.store.put_many([note(world, "a")])
        place.store.commit([put(note(world, "b")), put(note(world, "c"))])
        place.store.delete(ref(world))
        assert [label for label, _ in place.meter] == [
            "commit",
            "get",
            "load",
            "meter_cases.Parcel delete",
            "meter_cases.Parcel get",
            "meter_cases.Parcel patch",
            "meter_cases.Parcel put",
            "meter_cases.Parcel.by_owner",
        ]
        assert {u.requests for _, u in place.meter} == {1}
