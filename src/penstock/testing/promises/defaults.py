"""A missing field reads as its default, and counts as its default in every condition and update."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pydantic import Field

from penstock import Entity, Store, Table, key, the
from penstock.errors import Conflict
from penstock.operations.conditions import Condition
from penstock.operations.updates import Update
from penstock.ports.engine import Engine
from penstock.testing.entities import Colour
from penstock.testing.promises.promise import Promise

_EARLY = Table("penstock-suite-seasons", partition="PK", sort="SK")
_OPTIONAL = Table("penstock-suite-seasons", partition="PK", sort="SK")
_LATE = Table("penstock-suite-seasons", partition="PK", sort="SK")


class _Seed(Entity, table=_EARLY, relation="seasons"):
    wood: str
    name: str
    note: str | None = None

    @key("WOOD#{wood}", "TREE#{name}")
    def at(self, *, wood: str, name: str) -> None:
        "A tree by its name."


class _Sprout(Entity, table=_OPTIONAL, relation="seasons"):
    """The same record when its fields were optional: on SQL its columns hold NULL."""

    wood: str
    name: str
    note: str | None = None
    rings: int | None = None
    price: Decimal | None = None
    kind: str | None = None
    colour: Colour | None = None
    serial: UUID | None = None
    day: date | None = None
    felled: bool | None = None
    nests: list[str] | None = None
    labels: frozenset[str] | None = None

    @key("WOOD#{wood}", "TREE#{name}")
    def at(self, *, wood: str, name: str) -> None:
        "A tree by its name."


class _Oak(Entity, table=_LATE, relation="seasons"):
    wood: str
    name: str
    note: str | None = None
    rings: int = Field(default=5, ge=0, le=10)
    price: Decimal = Decimal("1.5")
    kind: str = "it's {m} %s 100%"
    colour: Colour = Colour.GREEN
    serial: UUID = UUID(int=7)
    day: date = date(2037, 2, 28)
    felled: bool = False
    nests: list[str] = Field(default=["one"])
    labels: frozenset[str] = frozenset({"tall"})

    @key("WOOD#{wood}", "TREE#{name}")
    def at(self, *, wood: str, name: str) -> None:
        "A tree by its name."


HERE = _Oak.at(wood="w", name="oak")
_BOTH = pytest.mark.parametrize("before", [_Seed, _Sprout], ids=["unknown", "optional"])

HOLD: dict[str, Callable[[], Condition]] = {
    "equals": lambda: the(_Oak.rings).equals(5),
    "equals a text": lambda: the(_Oak.kind).equals("it's {m} %s 100%"),
    "equals a choice": lambda: the(_Oak.colour).equals(Colour.GREEN),
    "equals an identifier": lambda: the(_Oak.serial).equals(UUID(int=7)),
    "equals a day": lambda: the(_Oak.day).equals(date(2037, 2, 28)),
    "equals a flag": lambda: the(_Oak.felled).equals(False),
    "equals a decimal": lambda: the(_Oak.price).equals(Decimal("1.50")),
    "differs": lambda: the(_Oak.rings).differs(6),
    "before": lambda: the(_Oak.rings).before(6),
    "until": lambda: the(_Oak.price).until(Decimal("1.5")),
    "after": lambda: the(_Oak.rings).after(4),
    "since": lambda: the(_Oak.rings).since(5),
    "between": lambda: the(_Oak.rings).between(5, 6),
    "one of": lambda: the(_Oak.colour).one_of(Colour.RED, Colour.GREEN),
    "exists": lambda: the(_Oak.rings).exists(),
    "all": lambda: the(_Oak.rings).equals(5) & the(_Oak.kind).exists(),
    "any": lambda: the(_Oak.rings).equals(6) | the(_Oak.rings).equals(5),
    "not": lambda: ~the(_Oak.rings).equals(6),
}
FAIL: dict[str, Callable[[], Condition]] = {
    "equals": lambda: the(_Oak.rings).equals(0),
    "differs": lambda: the(_Oak.rings).differs(5),
    "before": lambda: the(_Oak.rings).before(5),
    "after": lambda: the(_Oak.price).after(Decimal("1.5")),
    "between": lambda: the(_Oak.rings).between(6, 7),
    "one of": lambda: the(_Oak.colour).one_of(Colour.RED),
    "absent": lambda: the(_Oak.rings).absent(),
    "an absent list": lambda: the(_Oak.nests).absent(),
    "not": lambda: ~the(_Oak.rings).equals(5),
    "not absent": lambda: ~the(_Oak.rings).exists(),
}
UPDATES: dict[str, tuple[Callable[[], Update], str, Any]] = {
    "add": (lambda: the(_Oak.rings).add(1), "rings", 6),
    "take away": (lambda: the(_Oak.rings).add(-5), "rings", 0),
    "add a decimal": (lambda: the(_Oak.price).add(Decimal("0.25")), "price", Decimal("1.75")),
    "set if absent": (lambda: the(_Oak.rings).set_if_absent(9), "rings", 5),
    "set a text if absent": (lambda: the(_Oak.kind).set_if_absent("elm"), "kind", "it's {m} %s 100%"),
    "set a list if absent": (lambda: the(_Oak.nests).set_if_absent(["two"]), "nests", ["one"]),
    "append": (lambda: the(_Oak.nests).append("two"), "nests", ["one", "two"]),
    "include": (lambda: the(_Oak.labels).include("old"), "labels", frozenset({"tall", "old"})),
}


def _planted(engine: Engine, before: Any, *names: str) -> Store:
    """A store with records from before the fields were declared as they are."""
    engine.ensure([before.__shape__])
    Store(engine).put_many([before(wood="w", name=name) for name in names])
    engine.ensure([_Oak.__shape__])
    return Store(engine)


class Defaults(Promise):
    """Records from before a field was declared."""

    @_BOTH
    def test_a_missing_field_counts_as_its_default_in_conditions(self, engine: Engine, before: Any) -> None:
        store = _planted(engine, before, "oak")
        for condition in HOLD.values():
            store.patch(HERE, the(_Oak.note).set("seen"), when=condition() & the(_Oak.wood).exists())
            store.patch(HERE, the(_Oak.note).remove(), when=condition())
            with store.change() as change:
                change.check(HERE, condition())
        for condition in FAIL.values():
            with pytest.raises(Conflict):
                store.patch(HERE, the(_Oak.note).set("seen"), when=condition())
            with pytest.raises(Conflict):
                store.delete(HERE, when=condition() & the(_Oak.wood).exists())
        assert store.get(HERE) == _Oak(wood="w", name="oak")

    def test_where_no_record_stands_a_default_stands_for_nothing(self, engine: Engine) -> None:
        engine.ensure([_Oak.__shape__])
        store = Store(engine)
        oak = _Oak(wood="w", name="oak")
        for condition in (the(_Oak.rings).equals(5), the(_Oak.rings).exists(), the(_Oak.rings).until(5)):
            with pytest.raises(Conflict):
                store.put(oak, when=condition)
        for condition in (the(_Oak.rings).differs(5), the(_Oak.rings).absent(), ~the(_Oak.rings).equals(5)):
            store.put(oak, when=condition)
            with pytest.raises(Conflict):
                store.put(oak, when=condition)
            store.delete(HERE)

    @_BOTH
    def test_a_missing_field_counts_as_its_default_in_updates(self, engine: Engine, before: Any) -> None:
        store = _planted(engine, before, *UPDATES)
        for name, (update, field, expected) in UPDATES.items():
            there = _Oak.at(wood="w", name=name)
            assert getattr(store.patch(there, update()), field) == expected, name
            assert store.get(there) == _Oak(wood="w", name=name, **{field: expected})
