"""Records move to another key, or to another table, while both declarations write."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

import pytest

from penstock import Formerly, FrozenClock, Store
from penstock.errors import Conflict
from penstock.evolution.backfill import Backfill, FilledPage
from penstock.evolution.migration import Migration, MigrationProgress, pause_migration
from penstock.evolution.pending import pending_migrations
from penstock.kernel.layouts.knower import FRESH
from penstock.operations.conditions import Compare
from penstock.operations.updates import Set
from tests.beneath import beneath
from tests.evolution.dying import Killed, dying
from tests.evolution.traffic import traffic
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

FIELDS: dict[str, Any] = {"title": str, "note": str | None, "stars": int}
SHELF = ("SHELF#{note}", "{stars:06d}#{film_id}")
RECORDS = 40


def _film(**options: Any) -> Declared:
    return film(FIELDS, defaults={"note": None, "stars": 3}, index=SHELF, **options)


MOVED: dict[str, Any] = {"table": "penstock-movies", "relation": "movies"}
KINDS: dict[str, Callable[[], Declared]] = {
    "another key": lambda: _film(keys=("MOVIE#{film_id}", "META")),
    "another sort key": lambda: _film(keys=("FILM#{film_id}", "MOVIE")),
    "another table": lambda: _film(**MOVED),
    "another key in another table": lambda: _film(keys=("{film_id}", "META"), **MOVED),
}


def _many(declared: Declared, number: int = RECORDS) -> list[Any]:
    return [declared(film_id=f"old-{n:04d}", title="t", note="xyz"[n % 3], stars=n % 7) for n in range(number)]


def _told(record: Any) -> dict[str, Any]:
    return dict(record.__dict__)


def _migration(store: Store, declared: Declared, **options: Any) -> Migration:
    return Migration(store, declared.__shape__, **{"segments": 2, "page": 7, **options})


def _raw(store: Store, declared: Declared) -> dict[str, dict[str, Any]]:
    """What stands where a declaration has its records, whatever the store remembers."""
    page = beneath(store).scan(declared.__shape__, limit=10_000)
    assert not page.unreadable
    return {found.record.film_id: _told(found.record) for found in page.found}


@pytest.mark.parametrize("kind", KINDS)
def test_both_write_all_the_while_and_every_answer_is_right(
    store: Store, another: OpenStore, clock: FrozenClock, engine_name: str, kind: str
) -> None:
    """A changed key template gave an empty plan, and records vanished."""
    old, new = _film(), KINDS[kind]()
    ensured(another, old).put_many(_many(old))
    after = ensured(another, new)
    removes = engine_name != "dynoxide"  # whose walks end where an item is removed at the wrong moment
    with traffic(lambda: [(another(), old), (another(), new)], removes=removes) as writers:
        if pending_migrations(after, [cinema(new)]):
            with pytest.raises(Killed):
                _migration(dying(another(), 9), new).run()
            assert _migration(after, new).run().stage == "complete"
        answered = sum(w.answered for w in writers)
        clock.advance(timedelta(seconds=FRESH))  # whoever was not waited for hears of it now
        while sum(w.answered for w in writers) < answered + 6 and all(w.is_alive() for w in writers):
            writers[0].join(0.01)
    assert sum(w.refused for w in writers) == 0
    expected = {f.film_id: _told(f) for f in _many(new)}
    expected |= {n: {"film_id": n, **v} for w in writers for n, v in w.films.items()}
    assert _raw(after, new) == expected
    if after.engine.features.key_texts and "table" not in kind:
        assert _raw(after, old) == {}
    found = [f.film_id for note in "xyz" for f in after.find(new.by_shelf(note=note))]
    assert sorted(found) == sorted(n for n, v in expected.items() if v["note"] is not None)
    assert after.ensure(cinema(new), dry_run=True) == []


@pytest.mark.parametrize("kind", ["another key", "another table"])
def test_what_is_written_at_one_place_is_judged_once_and_stands_at_both(
    store: Store, another: OpenStore, kind: str
) -> None:
    old, new = _film(), KINDS[kind]()
    before, after = ensured(another, old), ensured(another, new)
    before.put_many(_many(old, 9))
    if not pending_migrations(after, [cinema(new)]):
        return
    stages = []

    def look(told: MigrationProgress) -> None:
        stages.append(told.stage)
        for opened, declared in ((before, old), (after, new)):
            ref = declared.at(film_id="old-0004")
            stars = opened.get(ref).stars
            opened.patch(ref, Set("title", "q"), when=Compare("stars", "=", stars))
            opened.modify(ref, lambda record: setattr(record, "stars", record.stars + 1))
            with pytest.raises(Conflict):
                opened.patch(ref, Set("title", "r"), when=Compare("stars", "=", stars))
            with pytest.raises(Conflict):
                opened.create(declared(film_id="old-0004", title="t"))
            with pytest.raises(Conflict):
                opened.patch(declared.at(film_id="none"), Set("title", "r"))
            opened.create(declared(film_id="more", title="t"))
            opened.patch(declared.at(film_id="more"), Set("title", "u"))
            assert [s.get(d.at(film_id="more")).title for s, d in ((before, old), (after, new))] == ["u", "u"]
            opened.delete(declared.at(film_id="more"))
            assert [s.lookup(d.at(film_id="more")) for s, d in ((before, old), (after, new))] == [None, None]

    _migration(after, new, segments=1, tell=look).run()
    assert {"filling", "switched"} <= set(stages)
    assert after.get(new.at(film_id="old-0004")).stars == 4 + 2 * len(stages)
    before.put(old(film_id="late", title="t"))
    assert _raw(after, new).keys() == {"late", *(f"old-{n:04d}" for n in range(9))}


@pytest.mark.parametrize("kind", ["another key", "another table"])
def test_a_record_that_changes_while_it_is_brought_along_is_as_it_was_written_last(
    store: Store, another: OpenStore, kind: str
) -> None:
    old, new = _film(), KINDS[kind]()
    before, after = ensured(another, old), ensured(another, new)
    before.put_many(_many(old, 9))
    if not pending_migrations(after, [cinema(new)]):
        return
    engine, turn = beneath(after), [0]
    commit, moved = engine.commit, new.__shape__

    def overtaken(writes: Any, **options: Any) -> None:
        """Whatever is brought to its other place is changed right before that, the first times."""
        if turn[0] < 4 and writes[-1].shape.key.partition.text + writes[-1].shape.table.name == (
            moved.key.partition.text + moved.table.name
        ):
            turn[0] += 1
            before.patch(old.at(film_id=writes[-1].key["film_id"]), Set("title", f"turn {turn[0]}"))
        commit(writes, **options)

    engine.commit = overtaken
    assert _migration(after, new, segments=1, page=100).run().stage == "complete"
    assert turn == [4]
    assert sorted({values["title"] for values in _raw(after, new).values()}) == ["t", "turn 4"]


@pytest.mark.parametrize("kind", ["another key", "another table"])
def test_whoever_only_reads_never_misses_a_record(store: Store, another: OpenStore, kind: str) -> None:
    old, new = _film(), KINDS[kind]()
    before, after, reader = ensured(another, old), ensured(another, new), another()
    before.put_many(_many(old, 9))
    if not pending_migrations(after, [cinema(new)]):
        return

    def look(told: MigrationProgress) -> None:
        after.put(new(film_id="old-0001", title=told.stage, note="x"))
        assert reader.get(old.at(film_id="old-0001")).title == told.stage
        assert "old-0001" in [f.film_id for f in reader.find(old.by_shelf(note="x"))]

    _migration(after, new, segments=1, tell=look).run()
    after.put(new(film_id="old-0001", title="now", note="x"))
    assert reader.get(old.at(film_id="old-0001")).title == "now"


@pytest.mark.parametrize("kind", ["another key", "another table"])
@pytest.mark.parametrize("commits", [pytest.param(n, marks=pytest.mark.long if n != 5 else ()) for n in (3, 4, 5)])
def test_killed_again_and_again_it_comes_to_its_end(store: Store, another: OpenStore, kind: str, commits: int) -> None:
    old, new = _film(), KINDS[kind]()
    before, after = ensured(another, old), ensured(another, new)
    before.put_many(_many(old, 9))
    if not pending_migrations(after, [cinema(new)]):
        return
    for deaths in range(80):
        try:
            _migration(dying(another(), commits), new, segments=1).run()
            break
        except Killed:
            before.patch(old.at(film_id=f"old-{deaths % 9:04d}"), Set("title", str(deaths)))
    assert deaths > 1
    assert len(_raw(after, new)) == 9
    assert _raw(after, new) == {f"old-{n:04d}": _told(before.get(old.at(film_id=f"old-{n:04d}"))) for n in range(9)}


def test_what_is_left_at_former_keys_is_removed_in_one_walk_and_looked_for_in_another(
    store: Store, another: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on a server that loses its place with the item at it; there it was as many walks as pages."""
    old, new = _film(), KINDS["another key"]()
    before, after = ensured(another, old), ensured(another, new)
    before.put_many(_many(old))
    if not pending_migrations(after, [cinema(new)]):
        return  # where keys are no texts
    walks: list[str | None] = []
    remove = Backfill.remove

    def counted(self: Backfill, segment: int, segments: int, place: str | None, *, limit: int) -> FilledPage:
        walks.append(place)
        return remove(self, segment, segments, place, limit=limit)

    monkeypatch.setattr(Backfill, "remove", counted)
    assert _migration(after, new, segments=1).run().stage == "complete"
    assert walks.count(None) == 2
    assert (len(_raw(after, new)), len(_raw(after, old))) == (RECORDS, 0)


def test_what_is_left_at_former_keys_goes_no_quicker_than_is_asked_for_and_may_be_paused(
    store: Store, another: OpenStore, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = _film(), KINDS["another key"]()
    before, after, other = ensured(another, old), ensured(another, new), another()
    before.put_many(_many(old))
    if not pending_migrations(after, [cinema(new)]):
        return  # where keys are no texts
    begun: list[float] = []
    remove = Backfill.remove

    def asked_to_pause(self: Backfill, *args: Any, **options: Any) -> FilledPage:
        begun.append(clock.monotonic())
        if len(begun) == 1:
            pause_migration(other, "cinema.Film")
        return remove(self, *args, **options)

    monkeypatch.setattr(Backfill, "remove", asked_to_pause)
    assert _migration(after, new, segments=1, rate=1).run().stage == "paused"
    assert len(begun) == 1
    assert _migration(after, new, segments=1, rate=1).run().stage == "complete"
    assert begun[-1] - begun[1] >= RECORDS - 7, "all but those of the first page were still there"
    assert (len(_raw(after, new)), len(_raw(after, old))) == (RECORDS, 0)


def test_a_field_has_another_name_in_the_table_that_it_moves_to(store: Store, another: OpenStore) -> None:
    old = _film()
    new = film(
        {"heading": Annotated[str, Formerly("title")], "note": str | None, "stars": int},
        defaults={"note": None, "stars": 3},
        index=SHELF,
        **MOVED,
    )
    before, after = ensured(another, old), ensured(another, new)
    before.put_many(_many(old, 9))

    def look(told: MigrationProgress) -> None:
        before.put(old(film_id="a", title=told.stage))
        assert after.get(new.at(film_id="a")).heading == told.stage

    _migration(after, new, segments=1, tell=look).run()
    assert {values["heading"] for n, values in _raw(after, new).items() if n != "a"} == {"t"}
    before.put(old(film_id="a", title="late"))
    assert after.get(new.at(film_id="a")).heading == "late"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"keys": ("FILM#{film_id}", "{title}"), "relation": "movies"}, "named by other fields"),
        ({"keys": ("FILM#{film_id}#", "META")}, "another word"),
        ({"keys": ("{film_id}", "META")}, "another word"),
    ],
)
def test_what_cannot_move_is_refused_with_what_to_do(
    store: Store, another: OpenStore, options: dict[str, Any], why: str
) -> None:
    old, new = _film(), _film(**options)
    ensured(another, old).put_many(_many(old, 3))
    steps = another().ensure(cinema(new))
    if why == "another word" and not store.engine.features.key_texts:
        assert steps == []
        return
    assert {step.kind for step in steps} == {"refused"}
    assert any(why in step.detail for step in steps)
