"""What no declaration has any more is told, counted, and dropped when somebody asks: nothing else, not too early."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

import pytest

from penstock import Formerly, FrozenClock, Gone, Store
from penstock.errors import LayoutMismatch
from penstock.evolution.leftover_drop import DroppedLeftovers, LeftoverDrop
from penstock.evolution.leftovers import EntityLeftovers, entity_leftovers
from penstock.evolution.migration import Migration
from penstock.kernel.layouts.former_layout import FormerLayout
from penstock.operations.updates import Set
from penstock.operations.validation import prepare
from penstock.operations.writes import Put
from tests.beneath import beneath
from tests.evolution.dying import Killed, dying
from tests.evolution.proof.interleaved import as_another_process
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

SHELF = ("SHELF#{note}", "{film_id}")
WIDE: dict[str, Any] = {"title": str, "note": str | None, "stars": int}


def _wide() -> Declared:
    return film(WIDE, defaults={"note": None, "stars": 3}, index=SHELF)


def _narrow() -> Declared:
    return film({"title": str, "stars": int}, defaults={"stars": 3})


def _stand(store: Store, declared: Declared, number: int = 9) -> None:
    store.put_many([declared(film_id=f"{n}", title="t", note="x" if n % 3 else None) for n in range(number)])


def _left(store: Store, declared: Declared) -> EntityLeftovers | None:
    found = entity_leftovers(store, [cinema(declared)])
    return next((each for each in found if each.label == "cinema.Film"), None)


def _told(store: Store, declared: Declared) -> dict[str, int | None]:
    found = _left(store, declared)
    return {} if found is None else {f"{o.kind} {o.place}": o.records for o in found.found}


def _drop(store: Store, declared: Declared, **options: Any) -> DroppedLeftovers:
    return LeftoverDrop(store, declared.__shape__, page=4, **options).run()


def _stored(store: Store, declared: Declared, *names: str) -> list[dict[str, Any]]:
    """Which of these columns or attributes records have something in, whatever the store remembers."""
    engine = beneath(store)
    if store.engine.features.key_texts:
        return [dict.fromkeys(found.unknown & set(names)) for found in engine.survey(declared.__shape__).found]
    relation = engine.connector.dialect.relation("cinema", declared.__shape__.relation)
    for name in names:
        with engine.connector.administration(reading=True) as connection:
            columns = [c[0] for c in connection.exec_driver_sql(f"select * from {relation} limit 0").cursor.description]
        if name in columns:
            return [{name: None}]
    return []


def test_a_field_and_an_index_that_are_declared_no_longer_are_counted_and_dropped(
    store: Store, another: OpenStore
) -> None:
    wide, narrow = _wide(), _narrow()
    before = ensured(another, wide)
    _stand(before, wide)
    before.close()
    after = ensured(another, narrow)
    key_texts = after.engine.features.key_texts
    expected: dict[str, int | None] = {
        "attribute note": 6,
        "attribute GSI1PK": 6,
        "attribute GSI1SK": 6,
        "index GSI1": None,
    }
    if not key_texts:
        expected = {"column note": 6, "index cinema_films_gsi1": None, "index films_gsi1": None}
    told = _told(after, narrow)
    assert told.items() <= expected.items()
    assert len(told) == (4 if key_texts else 2)
    assert any(_stored(after, narrow, "note"))

    done = _drop(after, narrow)
    assert {f"{o.kind} {o.place}": o.records for o in done.dropped} == told
    assert not any(_stored(after, narrow, "note", "GSI1PK"))
    assert _left(after, narrow) is None
    assert after.ensure(cinema(narrow), dry_run=True) == []
    assert list(after.find(FormerLayout.of_entity(label="cinema.Film"))) == []
    assert [after.get(narrow.at(film_id=f"{n}")).title for n in range(9)] == ["t"] * 9
    after.put(narrow(film_id="new", title="u"))
    assert after.get(narrow.at(film_id="new")).stars == 3


def test_the_place_that_a_renamed_field_had_is_dropped(store: Store, another: OpenStore) -> None:
    old, new = film({"author": str}), film({"writer": Annotated[str, Formerly("author")]})
    before = ensured(another, old)
    before.put_many([old(film_id=f"{n}", author="a") for n in range(9)])
    before.close()
    after = ensured(another, new)
    found = _left(after, new)
    assert found is None or found.refused is not None
    with pytest.raises(LayoutMismatch, match="run `penstock migrate` first"):
        _drop(after, new)
    Migration(after, new.__shape__).run()
    assert after.ensure(cinema(new), dry_run=True) == []
    assert list(_told(after, new).values()) == [9]
    _drop(after, new)
    assert not any(_stored(after, new, "author"))
    assert [after.get(new.at(film_id=f"{n}")).writer for n in range(9)] == ["a"] * 9


def test_a_required_field_that_is_gone_needs_no_value_while_it_goes(store: Store, another: OpenStore) -> None:
    old = film({"title": str, "author": str})
    new = film({"title": str}, gone=(Gone("author", written_as=""),))
    before = ensured(another, old)
    before.put(old(film_id="a", title="t", author="x"))
    before.close()
    after, other = ensured(another, new), another()

    def write(told: str) -> None:
        other.engine.knowledge.renew()  # type: ignore[attr-defined]
        other.put(new(film_id=told, title="u"))

    LeftoverDrop(after, new.__shape__, tell=write).run()
    assert not any(_stored(after, new, "author"))
    assert other.get(new.at(film_id="a")).title == "t"
    assert other.get(new.at(film_id="for nobody to ask for it any more")).title == "u"
    with pytest.raises(LayoutMismatch):  # whoever needs it is told so
        another().get(old.at(film_id="a"))


def test_while_another_declaration_runs_nothing_is_dropped_and_nothing_is_refused_to_it(
    store: Store, another: OpenStore, clock: FrozenClock
) -> None:
    wide, narrow = _wide(), _narrow()
    before = ensured(another, wide)
    _stand(before, wide)
    after = ensured(another, narrow)
    as_another_process(before)
    asked = []

    def ask(told: str) -> None:
        before.patch(wide.at(film_id="1"), Set("title", "by the older"))
        asked.append([f.film_id for f in before.find(wide.by_shelf(note="x"))])

    def sleep(seconds: float) -> None:
        clock.advance(timedelta(seconds=seconds))
        ask("")

    clock.sleep = sleep  # type: ignore[method-assign]
    with pytest.raises(LayoutMismatch, match=r"other declarations still run, at .*Nothing was dropped"):
        _drop(after, narrow, tell=ask)
    assert asked
    assert all(found == ["1", "2", "4", "5", "7", "8"] for found in asked)
    assert len(_told(after, narrow)) in (2, 4)
    assert after.ensure(cinema(narrow), dry_run=True) != []
    before.put(wide(film_id="1", title="t", note="y"))
    assert [f.film_id for f in before.find(wide.by_shelf(note="y"))] == ["1"]


def test_an_older_declaration_drops_nothing_of_a_newer_one(store: Store, another: OpenStore) -> None:
    wide, narrow = _wide(), _narrow()
    before, after = ensured(another, narrow), ensured(another, wide)
    _stand(after, wide)
    assert _left(before, narrow) is None
    with pytest.raises(LayoutMismatch, match="newer"):
        _drop(before, narrow)
    assert after.get(wide.at(film_id="1")).note == "x"


def test_while_records_are_on_their_way_nothing_is_dropped(store: Store, another: OpenStore) -> None:
    old, new = film({"author": str}), film({"writer": Annotated[str, Formerly("author")]})
    before = ensured(another, old)
    before.put_many([old(film_id=f"{n}", author="a") for n in range(9)])
    after = ensured(another, new)
    with pytest.raises(Killed):
        Migration(dying(another(), 6), new.__shape__, segments=1, page=3).run()
    with pytest.raises(LayoutMismatch, match="is just being changed"):
        _drop(after, new)
    assert Migration(after, new.__shape__).run().stage == "complete"


def test_what_somebody_else_has_made_stays(store: Store, another: OpenStore) -> None:
    """A column or an attribute that no layout had, and one of which a foreign index speaks."""
    wide, narrow = _wide(), _narrow()
    before = ensured(another, wide)
    _stand(before, wide, 3)
    before.close()
    after = ensured(another, narrow)
    key_texts = after.engine.features.key_texts
    if key_texts:
        foreign = film({**WIDE, "theirs": str}, defaults={"note": None, "stars": 3})
        beneath(after).commit([_put(foreign, film_id="7", title="t", note="x", theirs="kept")], **_now(after))
    else:
        relation = beneath(after).connector.dialect.relation("cinema", "films")
        with beneath(after).connector.administration() as connection:
            connection.exec_driver_sql(f"alter table {relation} add column theirs text")
            connection.exec_driver_sql(f"update {relation} set theirs = 'kept'")
            connection.exec_driver_sql(f"create index their_notes on {relation} (note)")
    done = _drop(after, narrow)
    assert any(_stored(after, narrow, "theirs"))
    if key_texts:
        assert not any(_stored(after, narrow, "note"))
    else:
        assert [o.kept for o in done.kept] == ["indexes that no layout had speak of it: their_notes"]
        assert any(_stored(after, narrow, "note"))
        with beneath(after).connector.administration() as connection:
            connection.exec_driver_sql(f"drop index {'cinema.' * (after.engine.features.embedded is False)}their_notes")
        assert list(_told(after, narrow)) == ["column note"]
        _drop(after, narrow)
        assert not any(_stored(after, narrow, "note"))
        assert any(_stored(after, narrow, "theirs"))


def _put(declared: Declared, **values: Any) -> Put:
    shape = declared.__shape__
    return Put(shape, prepare(shape, declared(**values).__dict__))


def _now(store: Store) -> dict[str, Any]:
    return {"now": store.clock.now(), "token": "t" * 32}


def test_a_table_that_was_left_is_dropped(store: Store, another: OpenStore) -> None:
    old, new = (
        _wide(),
        film(WIDE, defaults={"note": None, "stars": 3}, index=SHELF, table="penstock-movies", relation="movies"),
    )
    before = ensured(another, old)
    _stand(before, old)
    before.close()
    after = ensured(another, new)
    Migration(after, new.__shape__).run()
    name = "penstock-films" if after.engine.features.key_texts else "films"
    assert _told(after, new) == {f"table {name}": 9}
    done = _drop(after, new)
    assert [o.place for o in done.dropped] == [name]
    assert _told(after, new) == {}
    missing = beneath(after).ensure([old.__shape__], dry_run=True)
    assert "create table" in [step.kind for step in missing]
    assert len(list(after.find(new.by_shelf(note="x")))) == 6


def test_a_table_that_was_left_stays_where_others_have_something_in_it(store: Store, another: OpenStore) -> None:
    old, new = (
        _wide(),
        film(WIDE, defaults={"note": None, "stars": 3}, index=SHELF, table="penstock-movies", relation="movies"),
    )
    before = ensured(another, old)
    _stand(before, old)
    before.close()
    after = ensured(another, new)
    Migration(after, new.__shape__).run()
    if after.engine.features.key_texts:
        foreign = film({"title": str}, keys=("BOOK#{film_id}", "META"))
        beneath(after).commit([_put(foreign, film_id="7", title="t")], **_now(after))
    else:
        relation = beneath(after).connector.dialect.relation("cinema", "films")
        with beneath(after).connector.administration() as connection:
            connection.exec_driver_sql(f"alter table {relation} add column theirs text")
    done = _drop(after, new)
    assert done.dropped == ()
    assert ["that no layout had" in (o.kept or "") for o in done.kept] == [True]
    assert len(_told(after, new)) == 1


@pytest.mark.parametrize("commits", [pytest.param(n, marks=pytest.mark.long if n != 4 else ()) for n in range(1, 7)])
def test_killed_anywhere_it_is_gone_on_with(store: Store, another: OpenStore, commits: int) -> None:
    wide, narrow = _wide(), _narrow()
    before = ensured(another, wide)
    _stand(before, wide)
    before.close()
    after = ensured(another, narrow)
    for _ in range(20):
        try:
            _drop(dying(another(), commits), narrow)
            break
        except Killed:
            after.put(narrow(film_id="1", title="u"))
            assert after.get(narrow.at(film_id="2")).title == "t"
        if commits < 4:  # which is not enough to come to an end
            _drop(after, narrow)
            break
    assert not any(_stored(after, narrow, "note"))
    assert _left(after, narrow) is None
    assert after.ensure(cinema(narrow), dry_run=True) == []


def test_whoever_follows_the_feed_is_told_of_what_is_left(store: Store, another: OpenStore) -> None:
    """SQLite's triggers speak of every column, and would keep one from being dropped."""
    wide = film(WIDE, defaults={"note": None, "stars": 3}, feed=True)
    narrow = film({"title": str, "stars": int}, defaults={"stars": 3}, feed=True)
    before = ensured(another, wide)
    _stand(before, wide)
    before.close()
    after = ensured(another, narrow)
    begun = after.engine.feed_end([narrow.__shape__])
    _drop(after, narrow)
    after.put(narrow(film_id="1", title="u"))
    told = after.engine.changes([narrow.__shape__], after=begun)
    assert [entry.new.title for entry in told][-1] == "u"
    assert not any(_stored(after, narrow, "note"))


def test_what_is_begun_is_told_to_whoever_would_migrate(store: Store, another: OpenStore) -> None:
    wide, narrow = _wide(), _narrow()
    before = ensured(another, wide)
    _stand(before, wide)
    before.close()
    after = ensured(another, narrow)

    def die(told: str) -> None:
        raise Killed

    with pytest.raises(Killed):
        _drop(after, narrow, tell=die)
    with pytest.raises(LayoutMismatch, match="--drop-leftovers"):
        Migration(after, narrow.__shape__).run()
    assert _left(after, narrow) is not None
    _drop(after, narrow)
    assert Migration(after, narrow.__shape__).run().stage == "complete"


def test_what_was_dropped_by_one_that_died_before_it_said_so_is_told_to_its_own_alone(
    store: Store, another: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide, narrow, narrower = _wide(), _narrow(), film({"title": str})
    before = ensured(another, wide)
    _stand(before, wide)
    before.close()
    after, drop_all = ensured(another, narrow), LeftoverDrop._drop_all

    def drop_and_die(self: LeftoverDrop, stored: Any) -> DroppedLeftovers:
        drop_all(self, stored)
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(LeftoverDrop, "_drop_all", drop_and_die)
        _drop(after, narrow)
    found, other = _left(after, narrow), _left(another(), narrower)
    assert found is not None
    assert (found.found, found.refused) == ((), None)
    assert other is not None
    assert "cinema.Film is just being changed; let that come to its end" in str(other.refused)
    with pytest.raises(LayoutMismatch, match="just being changed; let that"):
        _drop(another(), narrower)
    _drop(after, narrow)
    assert _left(after, narrow) is None


def test_what_another_begins_to_change_in_the_same_moment_is_not_dropped(
    store: Store, another: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide, narrow = _wide(), _narrow()
    newer = film({"heading": Annotated[str, Formerly("title")], "stars": int}, defaults={"stars": 3})
    before = ensured(another, wide)
    _stand(before, wide)
    before.close()
    after, why_not = ensured(another, narrow), LeftoverDrop._why_not

    def look_and_wait(self: LeftoverDrop, stored: Any) -> str | None:
        said = why_not(self, stored)
        with pytest.raises(Killed):
            Migration(dying(another(), 6), newer.__shape__, segments=1, page=3).run()
        return said

    monkeypatch.setattr(LeftoverDrop, "_why_not", look_and_wait)
    with pytest.raises(LayoutMismatch, match=r"just being changed by another process\. Nothing was dropped"):
        _drop(after, narrow)
    assert any(_stored(after, narrow, "note"))
