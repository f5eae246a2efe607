"""A new index has every record, old ones too, and is right at every moment while both declarations write."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import IndexIncomplete, LayoutMismatch
from penstock.evolution.migration import Migration
from penstock.evolution.pending import pending_migrations
from penstock.kernel.layouts.knower import FRESH
from penstock.kernel.layouts.migration_segment import MigrationSegment
from penstock.kernel.layouts.stored_layout import StoredLayout
from penstock.operations.updates import Add, Set
from tests.beneath import beneath
from tests.evolution.dying import Killed, dying
from tests.evolution.traffic import Writer, traffic
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

FIELDS: dict[str, Any] = {"title": str, "note": str | None, "stars": int}
DEFAULTS: dict[str, Any] = {"note": None, "stars": 3}
SHELF = ("SHELF#{note}", "{stars:06d}#{film_id}")
RECORDS = 120


@pytest.fixture
def old() -> Declared:
    return film(FIELDS, defaults=DEFAULTS)


@pytest.fixture
def new() -> Declared:
    return film(FIELDS, defaults=DEFAULTS, index=SHELF)


@pytest.fixture
def keyed(store: Store) -> Store:
    """A store in which an index has to be filled."""
    if not store.engine.features.key_texts:
        pytest.skip("an index of this store is complete as soon as it is there")
    return store


def _many(declared: Declared, number: int = RECORDS) -> list[Any]:
    return [declared(film_id=f"old-{n:04d}", title="t", note="xyz"[n % 3], stars=n % 7) for n in range(number)]


def _check_whole(store: Store, new: Declared, writers: Sequence[Writer]) -> None:
    for note in "xyz":
        expected = {(f.stars, f.film_id) for f in _many(new) if f.note == note}
        expected |= {(v["stars"], n) for w in writers for n, v in w.films.items() if v["note"] == note}
        assert [(f.stars, f.film_id) for f in store.find(new.by_shelf(note=note))] == sorted(expected)


def _migration(store: Store, declared: Declared, **options: Any) -> Migration:
    return Migration(store, declared.__shape__, **{"segments": 2, "page": 7, **options})


def test_50_records_from_before_are_found_by_a_new_index(another: OpenStore, old: Declared, new: Declared) -> None:
    """On DynamoDB none of them were, and nobody was told."""
    before = ensured(another, old)
    before.put_many(_many(old, 50))
    after = ensured(another, new)
    if after.engine.features.key_texts:
        with pytest.raises(IndexIncomplete):
            list(after.find(new.by_shelf(note="x")))
        done = _migration(after, new).run()
        assert (done.stage, done.looked_at, done.written, done.unreadable) == ("complete", 50, 50, 0)
    assert len([f for note in "xyz" for f in after.find(new.by_shelf(note=note))]) == 50
    assert after.ensure(cinema(new), dry_run=True) == []


def test_what_is_to_be_migrated_is_told_until_it_is_done(
    keyed: Store, another: OpenStore, old: Declared, new: Declared
) -> None:
    before = ensured(another, old)
    before.put_many(_many(old, 20))
    after = ensured(another, new)
    (pending,) = pending_migrations(after, [cinema(new)])
    assert (pending.label, [s.what for s in pending.steps], pending.stage) == (
        "cinema.Film",
        ["cinema.Film in GSI1"],
        None,
    )
    assert pending_migrations(before, [cinema(old)]) == []
    with pytest.raises(Killed):
        _migration(dying(another(), 4), new).run()
    assert [p.stage for p in pending_migrations(after, [cinema(new)])] == ["filling"]
    _migration(after, new).run()
    assert pending_migrations(after, [cinema(new)]) == []


def test_the_older_declaration_keeps_the_new_index_true(
    keyed: Store, another: OpenStore, old: Declared, new: Declared
) -> None:
    """In a rolling deploy an old process patched a field of the index, and queries returned what did not match."""
    before, after = ensured(another, old), ensured(another, new)
    before.put_many(_many(old))
    _migration(after, new).run()
    before.patch(old.at(film_id="old-0000"), Set("note", "y"))
    before.put(old(film_id="old-0001", title="t", note="x"))
    for note in "xyz":
        found = list(after.find(new.by_shelf(note=note)))
        assert all(f.note == note for f in found)
    assert after.get(new.at(film_id="old-0000")) in list(after.find(new.by_shelf(note="y")))
    assert after.get(new.at(film_id="old-0001")) in list(after.find(new.by_shelf(note="x")))


def test_a_key_is_made_of_what_was_read_only_while_that_stands(
    keyed: Store, another: OpenStore, old: Declared, new: Declared
) -> None:
    """Between reading a record and making its key, the older declaration changes it."""
    before, after = ensured(another, old), ensured(another, new)
    before.put_many(_many(old, 9))
    engine = beneath(after)
    scan = engine.scan

    def overtaken(*args: Any, **options: Any) -> Any:
        page = scan(*args, **options)
        for found in page.found:
            if found.stale:
                before.patch(old.at(film_id=found.record.film_id), Set("note", "z"), Add("stars", 1))
        return page

    engine.scan = overtaken
    done = _migration(after, new).run()
    assert (done.looked_at, done.written) == (9, 0)
    assert [list(after.find(new.by_shelf(note=note))) for note in "xy"] == [[], []]
    assert len(list(after.find(new.by_shelf(note="z")))) == 9


@pytest.mark.long  # in threads, as it happens; `proof` shows the same always, one step after the other
@pytest.mark.parametrize("dies", [None, 3, 9])
def test_both_write_all_the_while_and_every_answer_is_right(
    keyed: Store,
    another: OpenStore,
    clock: FrozenClock,
    engine_name: str,
    old: Declared,
    new: Declared,
    dies: int | None,
) -> None:
    ensured(another, old).put_many(_many(old))
    after = ensured(another, new)
    removes = engine_name != "dynoxide"  # whose walks end where an item is removed at the wrong moment
    with traffic(lambda: [(another(), old), (another(), new)], removes=removes) as writers:
        if dies is not None:
            runner = dying(another(), dies)
            with pytest.raises(Killed):
                _migration(runner, new).run()
        _migration(after, new).run()
        answered = sum(w.answered for w in writers)
        clock.advance(timedelta(seconds=FRESH))  # whoever was not waited for hears of it now
        while sum(w.answered for w in writers) < answered + 6 and all(w.is_alive() for w in writers):
            writers[0].join(0.01)
    _check_whole(after, new, writers)
    assert list(after.find(MigrationSegment.of_migration(label="cinema.Film"))) == []
    page = beneath(after).scan(new.__shape__, limit=10_000)
    assert [found for found in page.found if found.stale] == []


def test_killed_at_every_commit_it_is_gone_on_with_and_comes_to_its_end(
    keyed: Store, another: OpenStore, old: Declared, new: Declared
) -> None:
    before, after = ensured(another, old), ensured(another, new)
    before.put_many(_many(old, 9))
    deaths = 0
    while True:
        deaths += 1
        runner = dying(another(), 3)  # it is known, and notes one page at most
        try:
            _migration(runner, new, segments=1).run()
            break
        except Killed:
            assert deaths < 40
            before.patch(old.at(film_id=f"old-{deaths % 9:04d}"), Set("stars", deaths % 7))
    assert deaths > 3
    found = [f for note in "xyz" for f in after.find(new.by_shelf(note=note))]
    assert sorted(f.film_id for f in found) == [f"old-{n:04d}" for n in range(9)]


def test_tables_grow_when_a_migration_has_come_to_its_end(
    keyed: Store, another: OpenStore, old: Declared, new: Declared
) -> None:
    ensured(another, old).put_many(_many(old, 20))
    after = ensured(another, new)
    runner = dying(another(), 4)
    with pytest.raises(Killed):
        _migration(runner, new).run()
    more = film({**FIELDS, "more": str | None}, defaults={**DEFAULTS, "more": None}, index=SHELF)
    assert [s.kind for s in after.ensure(cinema(more))] == ["refused"]
    with pytest.raises(LayoutMismatch, match="another declaration"):
        _migration(after, more).run()
    _migration(after, new).run()
    after.ensure(cinema(more))
    assert "more" in after.get(StoredLayout.at(label="cinema.Film")).layout.fields
