"""An index has keys of another template, or holds other records: no answer is wrong, and none tells of fewer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import IndexIncomplete, LayoutMismatch
from penstock.evolution.migration import Migration, MigrationProgress
from penstock.evolution.pending import pending_migrations
from penstock.kernel.layouts.knower import FRESH
from penstock.operations.updates import Set
from tests.beneath import beneath
from tests.evolution.dying import Killed, dying
from tests.evolution.traffic import traffic
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

FIELDS: dict[str, Any] = {"title": str, "note": str | None, "stars": int}
BY_NAME, BY_STARS = ("SHELF#{note}", "{film_id}"), ("SHELF#{note}", "{stars:06d}#{film_id}")
FEW, MANY = {"stars": frozenset({0, 1, 2})}, {"stars": frozenset({1, 2, 3, 4})}
RECORDS = 60
Shelf = tuple[tuple[str, str], Mapping[str, frozenset[Any]] | None]
CHANGES: dict[str, tuple[Shelf, Shelf]] = {
    "another sort key": ((BY_NAME, None), (BY_STARS, None)),
    "another partition key": ((("S#{note}", "{film_id}"), None), (BY_NAME, None)),
    "other records": ((BY_NAME, FEW), (BY_NAME, MANY)),
    "all records": ((BY_STARS, FEW), (BY_STARS, None)),
    "another key of other records": ((BY_STARS, None), (BY_NAME, MANY)),
}


def _declared(shelf: Shelf) -> Declared:
    return film(FIELDS, defaults={"note": None, "stars": 3}, index=shelf[0], when=shelf[1])


@pytest.fixture(params=CHANGES)
def sides(request: pytest.FixtureRequest) -> tuple[Declared, Declared]:
    """The older declaration and the newer."""
    old, new = CHANGES[request.param]
    return _declared(old), _declared(new)


@pytest.fixture
def reshelved() -> tuple[Declared, Declared]:
    old, new = CHANGES["another sort key"]
    return _declared(old), _declared(new)


@pytest.fixture
def keyed(store: Store) -> Store:
    """A store that keeps the texts of keys."""
    if not store.engine.features.key_texts:
        pytest.skip("this store keeps no texts of keys")
    return store


def _many(declared: Declared, number: int = RECORDS) -> list[Any]:
    return [declared(film_id=f"old-{n:04d}", title="t", note="xyz"[n % 3], stars=n % 7) for n in range(number)]


def _expected(declared: Declared, note: str, films: list[Any]) -> list[str]:
    index = declared.__shape__.indexes["GSI1"]
    found = [f for f in films if f.note == note and index.holds(f.__dict__)]
    return [f.film_id for f in sorted(found, key=lambda f: [f.__dict__[n] for n in index.key.sort.names])]


def _found(store: Store, declared: Declared, note: str) -> list[str]:
    return [f.film_id for f in store.find(declared.by_shelf(note=note))]


def _migration(store: Store, declared: Declared, **options: Any) -> Migration:
    return Migration(store, declared.__shape__, **{"segments": 2, "page": 7, **options})


def test_both_write_all_the_while_and_no_answer_is_wrong(
    store: Store, another: OpenStore, clock: FrozenClock, engine_name: str, sides: tuple[Declared, Declared]
) -> None:
    """A changed template or condition gave an empty plan, and rows vanished or lingered."""
    old, new = sides
    ensured(another, old).put_many(_many(old))
    after = ensured(another, new)
    removes = engine_name != "dynoxide"  # whose walks end where an item is removed at the wrong moment
    with traffic(lambda: [(another(), old), (another(), new)], removes=removes) as writers:
        if pending_migrations(after, [cinema(new)]):
            with pytest.raises(Killed):
                _migration(dying(another(), 6), new).run()
        _migration(after, new).run()
        answered = sum(w.answered for w in writers)
        clock.advance(timedelta(seconds=FRESH))  # whoever was not waited for hears of it now
        while sum(w.answered for w in writers) < answered + 6 and all(w.is_alive() for w in writers):
            writers[0].join(0.01)
    page = beneath(after).scan(new.__shape__, limit=10_000)
    assert [found for found in page.found if found.stale] == []
    for note in "xyz":
        assert _found(after, new, note) == _expected(new, note, [found.record for found in page.found])
    assert after.ensure(cinema(new), dry_run=True) == []


def test_it_is_told_before_and_done_by_a_migration(
    keyed: Store, another: OpenStore, reshelved: tuple[Declared, Declared]
) -> None:
    old, new = reshelved
    before = ensured(another, old)
    before.put_many(_many(old, 9))
    after = another()
    (step,) = after.ensure(cinema(new))
    assert (step.kind, step.name) == ("needs a migration", "cinema.Film in GSI1")
    with pytest.raises(IndexIncomplete, match="penstock migrate"):
        _found(after, new, "x")
    assert _found(before, old, "x") == _expected(old, "x", _many(old, 9))
    done = _migration(after, new).run()
    assert (done.stage, done.looked_at, done.written) == ("complete", 9, 9)
    assert _found(after, new, "x") == _expected(new, "x", _many(new, 9))
    with pytest.raises(LayoutMismatch, match="newer declaration"):
        _found(before, old, "x")
    before.patch(old.at(film_id="old-0000"), Set("note", "y"))
    assert "old-0000" in _found(after, new, "y")


def test_whoever_only_reads_hears_of_it_before_a_key_is_another(
    keyed: Store, another: OpenStore, clock: FrozenClock, reshelved: tuple[Declared, Declared]
) -> None:
    """A process that writes nothing tells nobody what it knows, and would miss what has its new key."""
    old, new = reshelved
    ensured(another, old).put_many(_many(old, 9))
    after, reader = ensured(another, new), another()
    writer = another()
    assert _found(reader, old, "x") == _expected(old, "x", _many(old, 9))
    stages: set[str] = set()

    def look(told: MigrationProgress) -> None:
        stages.add(told.stage)
        writer.put(new(film_id="old-0000", title="t", note="x", stars=0))
        try:
            assert "old-0000" in _found(reader, old, "x")
        except LayoutMismatch:
            stages.add("refused")

    _migration(after, new, tell=look).run()
    assert {"filling", "refused"} <= stages


@pytest.mark.parametrize("commits", [pytest.param(n, marks=pytest.mark.long if n != 4 else ()) for n in (3, 4, 5)])
def test_killed_again_and_again_it_comes_to_its_end(
    keyed: Store, another: OpenStore, commits: int, reshelved: tuple[Declared, Declared]
) -> None:
    old, new = reshelved
    before, after = ensured(another, old), ensured(another, new)
    before.put_many(_many(old, 9))
    for deaths in range(60):
        try:
            _migration(dying(another(), commits), new, segments=1).run()
            break
        except Killed:
            before.patch(old.at(film_id=f"old-{deaths % 9:04d}"), Set("note", "x"))
    assert deaths > 1
    films = [after.get(new.at(film_id=f"old-{n:04d}")) for n in range(9)]
    assert [_found(after, new, note) for note in "xyz"] == [_expected(new, note, films) for note in "xyz"]


def test_an_index_cannot_have_other_attributes(keyed: Store, another: OpenStore) -> None:
    old = film(FIELDS, defaults={"note": None}, index=BY_NAME)
    new = film(FIELDS, defaults={"note": None}, index=BY_NAME, index_attributes=("other", "GSI1SK"))
    ensured(another, old).put_many(_many(old, 3))
    (step,) = another().ensure(cinema(new), dry_run=True)
    assert (step.kind, step.name) == ("refused", "cinema.Film in GSI1")
    assert "another name" in step.detail
