"""Tables are created where they are missing, and nothing is ever dropped."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import Field

from penstock import (
    ANYTHING,
    Entity,
    IndexKey,
    Range,
    Store,
    Table,
    UtcMicros,
    UtcMillis,
    UtcSeconds,
    key,
    pattern,
)
from penstock.errors import Misconfigured
from penstock.ports.engine import Engine
from penstock.testing.entities import SUITE, Colour, Measure, Specimen, Ticket, specimen
from penstock.testing.promises.promise import Promise

_EARLY = Table("penstock-suite-growing", partition="PK", sort="SK", feed=True)
_LATE = Table("penstock-suite-growing", partition="PK", sort="SK", feed=True)
_AGED = _LATE.index("by-age", partition="GSI1PK", sort="GSI1SK")
_NUMBERED = Table("penstock-suite-growing", partition="PK", sort="SK", feed=True)
_NOON = datetime(2025, 11, 17, 12, 0, 0, 123456, tzinfo=UTC)


class _Sapling(Entity, table=_EARLY, relation="growing"):
    wood: str
    name: str

    @key("WOOD#{wood}", "TREE#{name}")
    def at(self, *, wood: str, name: str) -> None:
        "A tree by its name."


class _Grown(Entity):
    """One field of every kind, each with a default."""

    text: str = "it's 100%"
    colour: Colour = Colour.BLUE
    identifier: UUID = UUID(int=7)
    ratio: float = -1.5e-7
    price: Decimal = Decimal("1.50")
    flag: bool = True
    blob: bytes = b"\x00'\xff"
    second: UtcSeconds = _NOON.replace(microsecond=0)
    milli: UtcMillis = _NOON.replace(microsecond=123000)
    micro: UtcMicros = _NOON
    day: date = date(2025, 11, 17)
    labels: frozenset[str] = frozenset({"it's", "100%"})
    notes: list[str] = Field(default=["it's", "100%"])
    remarks: list[str] = Field(default_factory=list)
    extra: dict[str, Any] = Field(default={"it's": ["100%", 1.5, None]})
    counts: dict[str, int] = Field(default_factory=dict)
    measure: Measure = Measure(width=1, height=2.5)
    measures: list[Measure] = Field(default_factory=lambda: [Measure(width=1, height=2.5)])


class _Tree(_Grown, table=_LATE, relation="growing"):
    wood: str
    name: str
    height: int = 1
    owner: str | None = None

    @key("WOOD#{wood}", "TREE#{name}")
    def at(self, *, wood: str, name: str) -> None:
        "A tree by its name."

    owned = IndexKey(_AGED, "OWNER#{owner}", "{name}")

    @pattern(owned)
    def by_owner(self, *, owner: str, name: Range[str] = ANYTHING) -> None:
        "Trees of an owner."


class _Numbered(_Grown, table=_NUMBERED, relation="growing"):
    wood: str
    name: str
    initial: str = Field(default_factory=lambda tree: tree["name"][0])
    number: UUID = Field(default_factory=uuid4)

    @key("WOOD#{wood}", "TREE#{name}")
    def at(self, *, wood: str, name: str) -> None:
        "A tree by its name."


class Ensuring(Promise):
    """`ensure`."""

    def test_ensuring_twice_keeps_what_is_stored(self, store: Store, engine: Engine) -> None:
        store.put(specimen())
        engine.ensure(SUITE.shapes)
        assert store.get(Specimen.at(shelf="top", label="one")) == specimen()

    def test_ensuring_tells_what_it_creates(self, engine: Engine) -> None:
        steps = engine.ensure(SUITE.shapes)
        assert {"create table"} <= {s.kind for s in steps}
        assert all(s.name for s in steps)

    def test_ensuring_again_finds_nothing_to_do(self, engine: Engine) -> None:
        engine.ensure(SUITE.shapes)
        assert engine.ensure(SUITE.shapes, dry_run=True) == []
        assert engine.ensure(SUITE.shapes) == []

    def test_a_dry_run_tells_the_same_and_does_nothing(self, engine: Engine) -> None:
        told = engine.ensure(SUITE.shapes, dry_run=True)
        again = engine.ensure(SUITE.shapes, dry_run=True)
        assert [(s.kind, s.name) for s in told] == [(s.kind, s.name) for s in again]
        assert [s.name for s in told if s.kind == "create table"]
        with pytest.raises(Misconfigured):
            Store(engine).lookup(Specimen.at(shelf="top", label="one"))

    def test_a_table_that_is_missing_is_answered_with_what_to_run(self, engine: Engine) -> None:
        with pytest.raises(Misconfigured, match="tables apply"):
            Store(engine).put(specimen())
        with pytest.raises(Misconfigured, match="tables apply"):
            list(Store(engine).find(Ticket.by_queue(queue="q")))

    def test_a_table_grows_by_fields_and_indexes_and_keeps_its_records(self, engine: Engine) -> None:
        engine.ensure([_Sapling.__shape__])
        Store(engine).put(_Sapling(wood="w", name="oak"))
        engine.ensure([_Tree.__shape__])
        store = Store(engine)
        assert store.get(_Tree.at(wood="w", name="oak")) == _Tree(wood="w", name="oak")
        store.put(_Tree(wood="w", name="elm", height=3, owner="me"))
        assert [t.name for t in store.find(_Tree.by_owner(owner="me"))] == ["elm"]

    def test_each_reading_of_an_old_record_has_lists_and_maps_of_its_own(self, engine: Engine) -> None:
        engine.ensure([_Sapling.__shape__])
        Store(engine).put(_Sapling(wood="w", name="oak"))
        engine.ensure([_Numbered.__shape__])
        tree, again = (Store(engine).get(_Numbered.at(wood="w", name="oak")) for _ in range(2))
        for each in (tree.notes, tree.remarks):
            each.append("mine")
        tree.extra["it's"].append("mine")
        tree.counts["mine"] = 1
        tree.measure.width = tree.measures[0].width = 2
        assert again == _Numbered(wood="w", name="oak", number=again.number)

    def test_what_a_new_record_makes_for_itself_is_made_for_an_old_one_when_it_is_read(self, engine: Engine) -> None:
        engine.ensure([_Sapling.__shape__])
        Store(engine).put(_Sapling(wood="w", name="oak"))
        engine.ensure([_Numbered.__shape__])
        first, second = (Store(engine).get(_Numbered.at(wood="w", name="oak")) for _ in range(2))
        assert first.initial == second.initial == "o"
        assert first.number != second.number

    def test_a_table_that_has_grown_tells_each_change_once(self, engine: Engine) -> None:
        engine.ensure([_Sapling.__shape__])
        Store(engine).put(_Sapling(wood="w", name="oak"))
        engine.ensure([_Tree.__shape__])
        Store(engine).put(_Tree(wood="w", name="elm", height=3))
        told = [(e.kind, e.new) for e in engine.changes([_Tree.__shape__])]
        assert told == [
            ("insert", _Tree(wood="w", name="oak")),
            ("insert", _Tree(wood="w", name="elm", height=3)),
        ]

    def test_two_may_ensure_at_once(self, engine: Engine) -> None:
        failures: list[BaseException] = []

        def run() -> None:
            try:
                engine.ensure(SUITE.shapes)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        Store(engine).put(specimen())

    def test_a_closed_engine_may_be_used_again(self, store: Store) -> None:
        store.put(specimen())
        store.close()
        assert store.get(specimen().ref) == specimen()
        store.close()
        store.close()
