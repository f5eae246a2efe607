"""A store remembers how its records lie, tells every difference by kind, and an older declaration changes nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable

from penstock import FrozenClock, Store
from penstock.kernel.layouts.stored_layout import EDITION, LayoutEdition, StoredLayout
from penstock.kernel.own_records import KERNEL
from penstock.operations.plan import OLDER, PlanStep
from penstock.ports.engine import Engine
from penstock.schema.fingerprint import fingerprint_of
from tests.kernel.layouts.films import Declared, cinema, film

TITLE = {"title": str}
SHELF = ("SHELF#{title}", "{film_id}")


def _told(steps: list[PlanStep]) -> dict[str, str]:
    return {step.name: step.kind for step in steps if step.name.startswith("cinema.Film")}


def _layout(store: Store) -> StoredLayout:
    return store.get(StoredLayout.at(label="cinema.Film"))


def test_a_store_remembers_every_entity_it_was_ensured_with(store: Store) -> None:
    declared = film()
    store.ensure(cinema(declared))
    for shape in (*KERNEL.shapes, declared.__shape__):
        stored = store.get(StoredLayout.at(label=shape.label))
        assert stored.layout == fingerprint_of(shape)
        assert (stored.generation, stored.former) == (1, [])
    digests = store.get(EDITION).marks
    assert digests["cinema.Film"] == fingerprint_of(declared.__shape__).digest
    assert digests.keys() >= {shape.label for shape in KERNEL.shapes}


def test_a_dry_run_remembers_nothing(store: Store) -> None:
    store.ensure(dry_run=False)
    store.ensure(cinema(film()), dry_run=True)
    assert store.lookup(StoredLayout.at(label="cinema.Film")) is None


def test_ensuring_again_changes_no_layout(store: Store) -> None:
    store.ensure(cinema(film()))
    before = store.get(EDITION)
    assert store.ensure(cinema(film())) == []
    assert store.get(EDITION) == before


def test_what_is_additive_is_done_and_remembered(store: Store) -> None:
    old, new = film(), film({**TITLE, "year": int}, defaults={"year": 1900})
    store.ensure(cinema(old))
    planned = store.ensure(cinema(new), dry_run=True)
    assert _told(planned) == {"cinema.Film.year": "additive"}
    assert _told(store.ensure(cinema(new))) == _told(planned)
    assert _layout(store).layout == fingerprint_of(new.__shape__)
    assert _layout(store).announced is None
    assert _layout(store).generation == 3, "it was announced, and then became so"
    assert store.ensure(cinema(new)) == []


def test_an_older_declaration_changes_neither_tables_nor_layouts(store: Store) -> None:
    old, new = film(index=SHELF), film({**TITLE, "year": int}, defaults={"year": 1900}, index=SHELF)
    newer = film({**TITLE, "year": int, "note": str | None}, defaults={"year": 1900, "note": None}, index=SHELF)
    for declared in (old, new, newer):
        store.ensure(cinema(declared))
    before = _layout(store), store.get(EDITION)
    for declared in (old, new):
        assert [s.kind for s in store.ensure(cinema(declared))] == [OLDER]
    assert (_layout(store), store.get(EDITION)) == before


def test_what_takes_a_migration_is_told_and_not_done(store: Store, engine_name: str) -> None:
    store.ensure(cinema(film({"title": int})))
    store.put(film({"title": int})(film_id="a", title=1))
    before = _layout(store)
    for declared in (film({"title": str}), film({"title": int, "year": int})):
        planned = store.ensure(cinema(declared), dry_run=True)
        assert planned == store.ensure(cinema(declared))
        assert all(step.is_advice for step in planned)
        assert planned
        assert _layout(store) == before


def test_what_is_declared_no_longer_is_told_as_left_over_and_stays(store: Store) -> None:
    old = film({**TITLE, "note": str | None}, defaults={"note": None}, index=SHELF)
    new = film({**TITLE, "year": int}, defaults={"year": 1900})
    store.ensure(cinema(old))
    left = {"cinema.Film.note": "leftover", "cinema.Film in GSI1": "leftover"}
    assert _told(store.ensure(cinema(new))) == {**left, "cinema.Film.year": "additive"}
    assert _told(store.ensure(cinema(new), dry_run=True)) == left
    layout = _layout(store).layout
    assert {*layout.fields} == {"film_id", "title", "note", "year"}
    assert {*layout.indexes} == {"GSI1"}
    assert [s.kind for s in store.ensure(cinema(old))] == [OLDER]


def test_a_new_index_is_complete_at_once_only_where_it_is_only_speed(store: Store) -> None:
    old, new = film(), film(index=SHELF)
    store.ensure(cinema(old))
    told = _told(store.ensure(cinema(new)))
    if store.engine.features.key_texts:
        assert told == {"cinema.Film in GSI1": "needs a backfill"}
        assert _layout(store).layout.indexes == {}
    else:
        assert told == {"cinema.Film in GSI1": "additive"}
        assert {*_layout(store).layout.indexes} == {"GSI1"}


def test_two_may_ensure_two_domains_at_once_and_both_are_remembered(
    store: Store, open_engine: Callable[[], Engine], clock: FrozenClock
) -> None:
    store.ensure()
    declared: list[Declared] = [film({**TITLE, f"f{n}": str | None}, defaults={f"f{n}": None}) for n in range(4)]
    failures: list[BaseException] = []

    def run(one: Declared) -> None:
        try:
            Store(open_engine(), clock=clock).ensure(cinema(one))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in declared]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    edition: LayoutEdition = store.get(EDITION)
    assert edition.marks["cinema.Film"] == _layout(store).digest
    assert {*_layout(store).layout.fields} >= {"film_id", "title", "f0", "f1", "f2", "f3"}
