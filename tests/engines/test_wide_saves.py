"""A save of very many fields at once: as many as DynamoDB can compare, and the same on every engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock import Domain, FrozenClock, Store, Table, key
from penstock.declare.entity import Entity
from penstock.errors import Conflict, TooLarge
from penstock.kernel.unchanged import COMPARED_FIELDS, unchanged
from penstock.operations.updates import Remove, Set
from penstock.ports.engine import Engine

FIELDS = [f"field_with_quite_a_long_name_{n}" for n in range(150)]


_META: Any = type(Entity)


@key("WIDE#{name}", "WIDE")
def _at(self: Any, *, name: str) -> None: ...


Wide: Any = _META(
    "Wide",
    (Entity,),
    {
        "__module__": __name__,
        "__annotations__": {"name": str, **dict.fromkeys(FIELDS, int)},
        **dict.fromkeys(FIELDS, 0),
        "at": _at,
    },
    table=Table("penstock_test_wide", partition="PK", sort="SK"),
)
WIDE = Domain("wide", Wide)
HERE = Wide.at(name="a")


@pytest.fixture
def store(open_engine: Callable[[], Engine], clock: FrozenClock) -> Store:
    engine = open_engine()
    engine.ensure(WIDE.shapes)
    return Store(engine, clock=clock)


def _save(store: Store, count: int, *, meanwhile: Callable[[], object] = lambda: None, loosely: bool = False) -> None:
    with store.change() as change:
        record = change.get(HERE)
        meanwhile()
        for name in FIELDS[:count]:
            setattr(record, name, getattr(record, name) + 1)
        (change.overwrite if loosely else change.save)(record)


def test_a_save_of_many_fields_is_guarded_on_every_engine(store: Store) -> None:
    store.put(Wide(name="a"))
    _save(store, COMPARED_FIELDS)
    with pytest.raises(Conflict):
        _save(store, COMPARED_FIELDS, meanwhile=lambda: store.patch(HERE, Set(FIELDS[COMPARED_FIELDS - 1], 9)))
    assert sum(getattr(store.get(HERE), name) for name in FIELDS) == COMPARED_FIELDS + 8


def test_many_fields_that_are_missing_are_saved_over_as_if_their_defaults_stood_there(
    store: Store, engine_name: str
) -> None:
    if engine_name in ("sqlite", "postgres"):
        pytest.skip("their columns have values, unless the table has grown since")
    store.put(Wide(name="a"))
    store.patch(HERE, *map(Remove, FIELDS[::2]))
    _save(store, COMPARED_FIELDS)
    assert sum(getattr(store.get(HERE), name) for name in FIELDS) == COMPARED_FIELDS


def test_a_save_of_more_is_refused_before_it_is_sent(store: Store) -> None:
    store.put(Wide(name="a"))
    with pytest.raises(TooLarge, match=r"150 fields of Wide .* at most 120 can be compared at once; .*overwrite"):
        _save(store, 150)
    with pytest.raises(TooLarge):
        store.delete(HERE, when=unchanged(store.get(HERE)))
    assert store.get(HERE) == Wide(name="a")
    _save(store, 150, loosely=True)
    assert sum(getattr(store.get(HERE), name) for name in FIELDS) == 150
