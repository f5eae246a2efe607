"""`penstock migrate` as people use it: what is to be done, that it is done, and how it is stopped."""

from __future__ import annotations

from typing import Annotated

import pytest

from penstock import Formerly, Store
from penstock.cli.migrate import bring_along
from penstock.errors import LayoutMismatch
from tests.cli.conftest import Penstock
from tests.kernel.layouts.films import cinema, film


def test_where_records_lie_as_declared_nothing_is_to_be_done(penstock: Penstock, store: Store) -> None:
    assert "Nothing is to be migrated." in penstock("migrate", "--dry-run").out
    assert "Nothing is to be migrated." in penstock("migrate").out
    assert "Nothing is being migrated." in penstock("migrate", "--pause").out
    assert penstock("migrate", "--dry-run", "--json").json == []


def test_tables_that_others_wrote_are_looked_through(penstock: Penstock, store: Store) -> None:
    url = "sqlite:///.penstock/penstock.db"
    assert "No record of these domains is there." in penstock("adopt", url).out
    assert penstock("adopt", url, "--json").json["missing"] == []


def test_a_system_that_comes_up_brings_its_records_along(store: Store) -> None:
    old = film({"author": str})
    new = film({"writer": Annotated[str, Formerly("author")]})
    store.ensure(cinema(old))
    store.put_many([old(film_id=name, author=name) for name in "abc"])
    bring_along(store, [cinema(new)])
    assert [store.get(new.at(film_id=name)).writer for name in "abc"] == ["a", "b", "c"]
    assert store.ensure(cinema(new), dry_run=True) == []


def test_a_system_does_not_come_up_on_records_that_it_cannot_bring_along(store: Store) -> None:
    old, new = film({"author": str}), film({"author": int})
    store.ensure(cinema(old))
    with pytest.raises(LayoutMismatch, match=r"cinema\.Film cannot be migrated: .*Retyped"):
        bring_along(store, [cinema(new)])
