"""How records lie is of one store: it does not move, is no other for a copy that watches, and stops who knows less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import LayoutMismatch
from penstock.kernel.layouts.evolving_engine import by_layouts
from penstock.kernel.layouts.stored_layout import EDITION, StoredLayout
from penstock.kernel.own_records import KERNEL
from penstock.runtime.composition import open_store
from penstock.schema.fingerprint import digest_of
from penstock.transfer.export import Export
from penstock.transfer.live_copy import LiveCopy
from penstock.transfer.transfer_selection import OF_ONE_STORE, Selection, select, watched
from tests.kernel.layouts.films import cinema, film
from tests.transfer.films import DOMAIN, Shelf

OLD = film()
NEW = film({"title": str, "year": int | None}, defaults={"year": None})
RATED = film({"title": str, "stars": int}, defaults={"stars": 3})
RETYPED = film({"title": int})


@pytest.fixture
def stores(tmp_path: Path, clock: FrozenClock) -> Iterator[Callable[[str, Any], Store]]:
    """Opens the store of a file with one declaration of films."""
    with ExitStack() as stack:

        def opened(name: str, declared: Any) -> Store:
            store = stack.enter_context(closing(open_store(f"sqlite:///{tmp_path / name}.db", clock=clock)))
            store.ensure(cinema(declared))
            return store

        yield opened


def test_a_copied_store_has_layouts_of_its_own(stores: Callable[[str, Any], Store]) -> None:
    source, target = stores("source", OLD), stores("target", NEW)
    source.ensure(cinema(NEW))
    source.put(NEW(film_id="1", title="one", year=1999))
    LiveCopy(source, target, _selection(NEW), origin="here", goal="there").run()
    assert target.get(NEW.at(film_id="1")).year == 1999
    assert source.get(EDITION).number > target.get(EDITION).number
    assert source.get(StoredLayout.at(label="cinema.Film")).former != []
    assert target.get(StoredLayout.at(label="cinema.Film")).former == []


def test_what_the_other_store_has_more_than_is_copied_begins_with_its_defaults(
    stores: Callable[[str, Any], Store],
) -> None:
    source, newer = stores("source", OLD), stores("target", RATED)
    source.put(OLD(film_id="1", title="one"))
    LiveCopy(source, stores("target", OLD), _selection(OLD), origin="here", goal="there").run()
    assert newer.get(RATED.at(film_id="1")) == RATED(film_id="1", title="one", stars=3)


def test_whoever_declares_less_than_a_store_has_leaves_nothing_behind(
    stores: Callable[[str, Any], Store], tmp_path: Path
) -> None:
    source = stores("source", OLD)
    source.ensure(cinema(NEW))
    source.put(NEW(film_id="1", title="one", year=1999))
    older = stores("source", OLD)
    with pytest.raises(LayoutMismatch, match=r"newer layouts of cinema\.Film .*left behind"):
        Export(older, tmp_path / "export", _selection(OLD)).run()
    with pytest.raises(LayoutMismatch, match=r"newer layouts of cinema\.Film"):
        LiveCopy(older, stores("target", OLD), _selection(OLD), origin="here", goal="there").run()
    assert not (tmp_path / "export").exists()


def test_records_that_are_to_lie_otherwise_are_migrated_first(stores: Callable[[str, Any], Store]) -> None:
    stores("source", OLD).put(OLD(film_id="1", title="1"))
    source = stores("source", RETYPED)
    with pytest.raises(LayoutMismatch, match=r"cinema\.Film are to lie otherwise; run `penstock migrate`"):
        LiveCopy(source, stores("target", RETYPED), _selection(RETYPED), origin="here", goal="there").run()


def test_what_is_watched_lies_as_it_is_declared(opened: Callable[[str], Store]) -> None:
    store = opened("one")
    (shelf,) = watched([Shelf.__shape__])
    assert shelf.table.feed
    assert digest_of(shelf) == digest_of(Shelf.__shape__)
    store.engine.ensure([shelf])
    store.put(Shelf(name="a"))
    assert [entry.shape for entry in store.engine.changes([shelf])] == [shelf]
    assert shelf in by_layouts(store.engine).knowledge.known.plain, "it is passed on as it came"


def test_what_a_store_knows_of_its_layouts_is_not_selected() -> None:
    of_layouts = {e for e in KERNEL.entities if e.__module__.startswith("penstock.kernel.layouts.")}
    assert len(of_layouts) == 5
    assert of_layouts <= set(OF_ONE_STORE)
    assert not of_layouts & set(select([DOMAIN], [KERNEL]).entities)


def _selection(declared: Any) -> Selection:
    return Selection((declared,))
