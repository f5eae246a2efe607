"""`penstock migrate` as people use it: what is to be done, that it is done, and how it is stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import pytest
import typer

from penstock import Formerly, FrozenClock, Store, open_store
from penstock.cli.drop_leftovers import drop_all, leftover_steps
from penstock.cli.migrate import bring_along
from penstock.errors import LayoutMismatch
from tests.cli.conftest import Penstock
from tests.kernel.layouts.films import cinema, film


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[Store]:
    """A store whose clock need not be waited for, in which a declaration with a note was used."""
    url, clock = f"sqlite:///{tmp_path / 'films.db'}", FrozenClock()
    wide = film({"author": str, "note": str | None}, defaults={"note": None})
    with closing(open_store(url, clock=clock)) as before:
        before.ensure(cinema(wide))
        before.put_many([wide(film_id=name, author=name, note="x") for name in "abc"])
    with closing(open_store(url, clock=clock)) as store:
        yield store


def test_where_records_lie_as_declared_nothing_is_to_be_done(penstock: Penstock, store: Store) -> None:
    assert "Nothing is to be migrated." in penstock("migrate", "--dry-run").out
    assert "Nothing is to be migrated." in penstock("migrate").out
    assert "Nothing is being migrated." in penstock("migrate", "--pause").out
    assert penstock("migrate", "--dry-run", "--json").json == []


def test_tables_that_others_wrote_are_looked_through(penstock: Penstock, store: Store) -> None:
    url = "sqlite:///.penstock/penstock.db"
    assert "No record of these domains is there." in penstock("adopt", url).out
    assert penstock("adopt", url, "--json").json["missing"] == []


def test_a_system_that_comes_up_brings_its_records_along(patient: Store) -> None:
    new = film({"writer": Annotated[str, Formerly("author")], "note": str | None}, defaults={"note": None})
    bring_along(patient, [cinema(new)])
    assert [patient.get(new.at(film_id=name)).writer for name in "abc"] == ["a", "b", "c"]
    assert patient.ensure(cinema(new), dry_run=True) == []


def test_a_system_does_not_come_up_on_records_that_it_cannot_bring_along(store: Store) -> None:
    old, new = film({"author": str}), film({"author": int})
    store.ensure(cinema(old))
    with pytest.raises(LayoutMismatch, match=r"cinema\.Film cannot be migrated: .*Retyped"):
        bring_along(store, [cinema(new)])


def test_what_no_declaration_has_any_more_is_told_and_dropped_when_asked(
    patient: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    narrow = film({"author": str})
    patient.ensure(cinema(narrow))
    (step,) = leftover_steps(patient, [cinema(narrow)])
    assert (step.kind, step.name) == ("leftover", "cinema_films.note")
    assert "--drop-leftovers" in step.detail

    drop_all(patient, [cinema(narrow)], dry_run=True, rate=None, as_json=True)
    (told,) = json.loads(capsys.readouterr().out)
    assert told["leftovers"] == [{"kind": "column", "name": "cinema_films.note", "records": 3, "kept": None}]
    drop_all(patient, [cinema(narrow)], dry_run=False, rate=None, as_json=False)
    assert "cinema_films.note" in capsys.readouterr().out
    drop_all(patient, [cinema(narrow)], dry_run=True, rate=None, as_json=False)
    assert "Nothing is left of former layouts." in capsys.readouterr().out


def test_leftovers_that_cannot_be_dropped_yet_are_told_and_the_command_fails(
    patient: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    new = film({"writer": Annotated[str, Formerly("author")]})
    patient.ensure(cinema(new))
    with pytest.raises(typer.Exit):
        drop_all(patient, [cinema(new)], dry_run=False, rate=None, as_json=False)
    assert "run `penstock migrate` first" in " ".join(capsys.readouterr().err.split())


def test_a_store_without_leftovers_says_so(penstock: Penstock, store: Store) -> None:
    assert "Nothing is left of former layouts." in penstock("migrate", "--drop-leftovers", "--dry-run").out
    assert penstock("migrate", "--drop-leftovers", "--json").json == []
