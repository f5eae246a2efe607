"""Unchanged since it was read: one rule, whoever asks."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import Field

from penstock import Domain, Entity, Store, Table, key
from penstock.domains import DOMAINS
from penstock.engines.dynamodb.expressions import Aliases, ConditionCompiler
from penstock.engines.dynamodb.item_type import ItemType
from penstock.errors import Conflict
from penstock.kernel.unchanged import states_unchanged, unchanged
from penstock.operations.conditions import holds
from penstock.operations.spelling import holds_exactly
from penstock.operations.updates import Remove, Set
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.entities import Colour, Measure
from penstock.work.working import WORKING
from tests.kernel.shelf import PAPERS, Paper

_count = itertools.count()


class Lamp(Entity, table=Table("penstock_test_lamps", partition="PK", sort="SK")):
    """A field of each sort as far as missing values go."""

    name: str
    colour: str
    watts: int = 40
    dimmed: bool = False
    price: Decimal = Decimal("1.50")
    rooms: list[Any] = Field(default_factory=list)
    switches: list[Any] = [0]
    note: str | None = None
    serial: UUID = Field(default_factory=uuid4)
    label: str = Field(default_factory=lambda values: f"lamp {values['name']}")
    number: int = Field(default_factory=lambda: next(_count))

    @key("LAMP#{name}", "LAMP")
    def at(self, *, name: str) -> None: ...


LAMPS = Domain("lamps_unchanged", Lamp)


def lamp(**values: Any) -> Lamp:
    return Lamp(name="hall", colour="red", **values)


def stands(record: Lamp, **found: Any) -> bool:
    """Does the record pass for unchanged where these fields stand otherwise? A missing one counts as its default."""
    fields = Lamp.__shape__.fields
    read = {n: fields[n].counted_as if v is None else v for n, v in {**record.__dict__, **found}.items()}
    return holds_exactly(Lamp.__shape__, unchanged(record), read)


def test_what_was_read_is_unchanged_and_what_is_gone_is_not() -> None:
    assert stands(lamp())
    assert stands(lamp(watts=60, note="new", rooms=["attic"]))
    assert not holds(unchanged(lamp()), None)


@pytest.mark.parametrize(
    ("read", "meanwhile"),
    [
        ({}, {"colour": "blue"}),
        ({}, {"colour": None}),
        ({}, {"watts": 60}),
        ({}, {"note": "new"}),
        ({"note": "old"}, {"note": None}),
        ({"rooms": ["attic"]}, {"rooms": ["attic", "hall"]}),
        ({"price": Decimal("1.51")}, {"price": Decimal("1.50")}),
    ],
)
def test_every_other_value_is_a_change(read: dict[str, Any], meanwhile: dict[str, Any]) -> None:
    assert not stands(lamp(**read), **meanwhile)


@pytest.mark.parametrize("field", ["watts", "dimmed", "price", "rooms", "switches", "label"])
def test_a_missing_field_is_as_good_as_its_default(field: str) -> None:
    assert stands(lamp(), **{field: None})


@pytest.mark.parametrize(
    "read",
    [
        {"watts": 60},
        {"dimmed": True},
        {"price": Decimal("1.51")},
        {"rooms": ["attic"]},
        {"switches": [False]},
        {"switches": [0, 1]},
        {"label": "old"},
    ],
)
def test_a_field_that_was_removed_since_has_changed(read: dict[str, Any]) -> None:
    assert not stands(lamp(**read), **dict.fromkeys(read))


@pytest.mark.parametrize("field", ["serial", "number"])
def test_what_each_reading_makes_anew_may_be_missing(field: str) -> None:
    assert stands(lamp(), **{field: None})
    assert not stands(lamp(), **{field: uuid4() if field == "serial" else -1})


def test_some_fields_can_be_asked_about() -> None:
    condition = unchanged(lamp(), ("watts",))
    assert holds(condition, {"watts": 40, "colour": "blue"})
    assert not holds(condition, {"watts": 41})


def test_states_follow_the_same_rule() -> None:
    for shape in (e.__shape__ for d in (*DOMAINS, WORKING, SYSTEM_RECORDS) for e in d.entities):
        for field in shape.states:
            for value in field.python:
                condition = states_unchanged(shape, tuple(value if f is field else f.default for f in shape.states))
                others = {f.name: f.default for f in shape.states}
                assert holds(condition, {**others, field.name: value})
                assert holds(condition, {**others, field.name: field.counted_as}) is (value == field.default)


FULL = {
    "text": "é",
    "colour": Colour.RED,
    "identifier": UUID(int=7),
    "count": 2**62 + 1,
    "ratio": 0.1,
    "price": Decimal("12345678901234567890.123456789"),
    "flag": False,
    "blob": b"\x00\xff",
    "second": datetime(2037, 1, 2, 3, 4, 5, tzinfo=UTC),
    "milli": datetime(2037, 1, 2, 3, 4, 5, 678000, tzinfo=UTC),
    "micro": datetime(2037, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    "day": date(2037, 1, 2),
    "labels": frozenset({"b", "a", "é"}),
    "notes": ["x", ""],
    "extra": {"b": 1, "a": [1.5, None, {"z": True, "n": 10**17, "f": 1e30, "w": 2.0}], "g": {}, "e": []},
    "measure": Measure(width=3, height=1.5),
    "measures": [Measure(width=3, height=2.0)],
}
OTHER = {
    "text": "e",
    "colour": Colour.GREEN,
    "identifier": UUID(int=8),
    "count": 2**62,
    "ratio": 0.1 + 2**-56,
    "price": Decimal("12345678901234567890.123456788"),
    "flag": True,
    "blob": b"\x00\xfe",
    "second": datetime(2037, 1, 2, 3, 4, 6, tzinfo=UTC),
    "milli": datetime(2037, 1, 2, 3, 4, 5, 679000, tzinfo=UTC),
    "micro": datetime(2037, 1, 2, 3, 4, 5, 678902, tzinfo=UTC),
    "day": date(2037, 1, 3),
    "labels": frozenset({"b", "a"}),
    "notes": ["", "x"],
    "extra": {**FULL["extra"], "e": [False]},  # type: ignore[dict-item]
    "measure": Measure(width=3, height=1.25),
    "measures": [],
}


def test_every_kind_of_value_is_compared_exactly_on_every_engine(store: Store) -> None:
    store.ensure(PAPERS)
    paper = Paper.model_validate({"name": "one", **FULL})
    store.put(paper)
    for name, other in OTHER.items():
        read = store.get(paper.ref)
        for update in (Set(name, other), Remove(name)):
            store.patch(paper.ref, update)
            with pytest.raises(Conflict):
                store.delete(paper.ref, when=unchanged(read))
        store.put(paper)
    for record in (paper, Paper(name="two")):
        store.put(record)
        store.delete(record.ref, when=unchanged(store.get(record.ref)))
        assert store.lookup(record.ref) is None


def test_the_condition_of_every_shipped_record_fits_what_dynamodb_takes() -> None:
    """4 KB of text and 300 operators: the longest is that of a record in which every default was read."""
    for entity in (e for d in (*DOMAINS, WORKING, SYSTEM_RECORDS) for e in d.entities):
        shape = entity.__shape__
        count = len(shape.fields)
        longest = len("(#n00 = :v00 OR attribute_not_exists(#n00)) AND ") * count
        assert longest < 4096, shape.label
        assert 4 * count < 300, shape.label


def test_a_condition_is_as_long_as_it_is_reckoned() -> None:
    record = lamp()
    aliases = Aliases()
    text = ConditionCompiler(ItemType(Lamp.__shape__, "lamps"), {"name": "hall"}, aliases).compile(unchanged(record), 0)
    assert len(text) <= len("(#n00 = :v00 OR attribute_not_exists(#n00)) AND ") * len(Lamp.__shape__.fields)
