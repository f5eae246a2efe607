"""A column that needs a value no longer is told, and relieved of it, without touching a row."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock import FrozenClock, Store
from penstock.engines.sql.nullability import without_need
from penstock.ports.engine import Engine
from tests.kernel.layouts.films import cinema, film


@pytest.fixture
def sql_engine(engine_name: str, open_engine: Callable[[], Engine]) -> Engine:
    if engine_name not in ("sqlite", "postgres"):
        pytest.skip("items need no value of anything")
    return open_engine()


def test_what_was_required_may_be_left_out(sql_engine: Engine, clock: FrozenClock) -> None:
    """`plan` was empty, and `create` raised the driver's error."""
    old, new = film({"title": str, "note": str}), film({"title": str, "note": str | None}, defaults={"note": None})
    assert sql_engine.ensure(cinema(old).shapes)
    (step,) = sql_engine.ensure(cinema(new).shapes, dry_run=True)
    assert step.kind == "drop not null"
    assert "note" in step.name
    assert "title" not in step.name
    sql_engine.ensure(cinema(new).shapes)
    assert sql_engine.ensure(cinema(new).shapes, dry_run=True) == []
    Store(sql_engine, clock=clock).create(new(film_id="a", title="t"))
    assert sql_engine.ensure(cinema(old).shapes, dry_run=True) == []


def test_what_is_added_with_it_is_there_and_another_table_is_relieved_as_well(
    sql_engine: Engine, clock: FrozenClock
) -> None:
    """SQLite's text of the table was the one from before the new column, which was lost, and so was the next table."""
    more, none = {"note": str | None, "more": str | None}, {"note": None, "more": None}
    for relation in ("films", "shorts"):
        sql_engine.ensure(cinema(film({"title": str, "note": str}, relation=relation)).shapes)
    grown = [film({"title": str, **more}, defaults=none, relation=relation) for relation in ("films", "shorts")]
    sql_engine.ensure([shape for declared in grown for shape in cinema(declared).shapes])
    store = Store(sql_engine, clock=clock)
    for declared in grown:
        store.create(declared(film_id="a", title="t", more="x"))
        assert store.get(declared.at(film_id="a")).more == "x"


def test_only_the_named_column_is_relieved() -> None:
    columns = 'a TEXT NOT NULL, \n\t"b" INTEGER NOT NULL default 1, \n\tab TEXT NOT NULL'
    table = f"CREATE TABLE x (\n\t{columns}, \n\tPRIMARY KEY (a, ab)\n)"
    assert without_need(table, ["b"]) == table.replace('"b" INTEGER NOT NULL', '"b" INTEGER')
