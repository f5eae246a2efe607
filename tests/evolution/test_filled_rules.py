"""Fields that are unique or computed from now on: records that stand claim their values, and have what is computed."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any

import pytest

from penstock import Formerly, Store, Unique, UniqueWithin, begins, computed
from penstock.errors import IndexIncomplete, LayoutMismatch, NotUnique
from penstock.evolution.migration import Migration, MigrationProgress
from penstock.evolution.pending import pending_migrations
from penstock.kernel.layouts.stored_layout import StoredLayout
from penstock.operations.conditions import Compare
from penstock.operations.updates import Set
from tests.beneath import beneath
from tests.evolution.dying import Killed, dying
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

SHELF = ("SHELF#{loud}", "{film_id}")


def _shouted(title: str) -> str:
    return title.upper()


def _old(**options: Any) -> Declared:
    return film({"title": str, "league": str}, **options)


FIELDS: dict[str, Any] = {"title": str, "league": str}
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "unique": ({**FIELDS, "title": Unique[str]}, {}),
    "unique within": ({**FIELDS, "title": Annotated[str, UniqueWithin("league")]}, {}),
    "unique, with a rule": ({**FIELDS, "slug": Unique[str]}, {"slug": begins(_shouted, of="title")}),
    "unique and computed": ({**FIELDS, "loud": Unique[str]}, {"loud": computed(_shouted, of="title")}),
    "computed": ({**FIELDS, "loud": str}, {"loud": computed(_shouted, of="title")}),
}
FOLLOWING = ["unique", "unique within", "unique and computed"]
"Those whose unique values change with the title; a rule speaks of the first alone."
UNIQUE = [kind for kind in KINDS if "unique" in kind]


def _new(kind: str, **options: Any) -> Declared:
    fields, defaults = KINDS[kind]
    return film(fields, defaults=defaults, **options)


def _stand(store: Store, declared: Declared, number: int = 9) -> None:
    store.put_many([declared(film_id=f"{n}", title=f"t{n}", league="a") for n in range(number)])


def _run(store: Store, declared: Declared, **options: Any) -> MigrationProgress:
    return Migration(store, declared.__shape__, **{"segments": 1, "page": 4, "shut_out": True, **options}).run()


def _raw(store: Store, declared: Declared, name: str) -> dict[str, Any]:
    page = beneath(store).scan(declared.__shape__, limit=100)
    return {found.record.film_id: found.record.__dict__[name] for found in page.found}


@pytest.mark.parametrize("kind", UNIQUE)
def test_every_record_claims_its_value(store: Store, another: OpenStore, kind: str) -> None:
    """Each did so when all of it was written next, and until then another could have the same."""
    old, new = _old(), _new(kind)
    before = ensured(another, old)
    _stand(before, old)
    before.close()
    after = ensured(another, new)
    (pending,) = pending_migrations(after, [cinema(new)])
    assert pending.is_to_be_done
    assert pending.undone == []
    done = _run(after, new)
    assert (done.stage, done.looked_at, done.written) == ("complete", 9, 9)
    assert after.ensure(cinema(new), dry_run=True) == []
    with pytest.raises(NotUnique):
        after.create(new(film_id="x", title="t4", league="a"))
    after.delete(new.at(film_id="4"))
    after.create(new(film_id="x", title="t4", league="a"))
    after.put(new(film_id="1", title="t1", league="a"))
    with pytest.raises(LayoutMismatch, match=r"go on with a newer one|declaration knows nothing"):
        another().put(old(film_id="y", title="t5", league="a"))


@pytest.mark.parametrize("kind", UNIQUE)
def test_two_that_have_the_same_are_both_named_and_nobody_is_shut_out(
    store: Store, another: OpenStore, kind: str
) -> None:
    old, new = _old(), _new(kind)
    before = ensured(another, old)
    _stand(before, old)
    before.put(old(film_id="twin", title="t7", league="a"))
    after = ensured(another, new)
    for _ in range(2):  # as often as one likes
        with pytest.raises(LayoutMismatch, match="must be unique") as told:
            _run(after, new)
        assert "Film(film_id=7)" in str(told.value)
        assert "Film(film_id=twin)" in str(told.value)
        assert after.get(StoredLayout.at(label="cinema.Film")).stage == "filling"
    before.put(old(film_id="more", title="more", league="a"))
    assert {before.get(old.at(film_id=n)).title for n in ("7", "twin")} == {"t7"}
    if kind in FOLLOWING:
        before.patch(old.at(film_id="twin"), Set("title", "another"))
    else:  # it may have what the rule said of its first title, if it was looked at before the other
        after.patch(new.at(film_id="twin"), Set("slug", _shouted("another")))
    assert _run(after, new).stage == "complete"
    for title in ("t7", "another", "more"):
        with pytest.raises(NotUnique):
            after.create(new(film_id="x", title=title, league="a"))


def test_what_is_the_same_elsewhere_may_be_so(store: Store, another: OpenStore) -> None:
    old, new = _old(), _new("unique within")
    before = ensured(another, old)
    _stand(before, old)
    before.put(old(film_id="twin", title="t7", league="b"))
    before.close()
    after = ensured(another, new)
    assert _run(after, new).stage == "complete"
    with pytest.raises(NotUnique):
        after.create(new(film_id="x", title="t7", league="b"))


@pytest.mark.parametrize("kind", FOLLOWING)
def test_claims_of_others_who_are_gone_are_taken_over(store: Store, another: OpenStore, kind: str) -> None:
    """The older declaration changes and removes what the newer one has claimed, and frees nothing."""
    old, new = _old(), _new(kind)
    before = ensured(another, old)
    after = ensured(another, new)
    after.put_many([new(film_id=n, title=f"t{n}", league="a") for n in "ab"])
    before.delete(old.at(film_id="a"))
    before.patch(old.at(film_id="b"), Set("title", "other"))
    before.put_many([old(film_id=n, title=t, league="a") for n, t in (("c", "ta"), ("d", "tb"))])
    assert _run(after, new).stage == "complete"
    for title in ("ta", "tb", "other"):
        with pytest.raises(NotUnique):
            after.create(new(film_id="x", title=title, league="a"))


@pytest.mark.parametrize("kind", [*FOLLOWING, "computed"])
def test_both_declarations_write_until_the_older_is_shut_out(store: Store, another: OpenStore, kind: str) -> None:
    old, new = _old(), _new(kind)
    before, after = ensured(another, old), ensured(another, new)
    _stand(before, old)
    turn = [0]

    def write(told: MigrationProgress) -> None:
        turn[0] += 1
        after.put(new(film_id="1", title=f"new {turn[0]}", league="a"))
        after.modify(new.at(film_id="2"), lambda record: setattr(record, "title", f"changed {turn[0]}"))
        assert before.get(old.at(film_id="1")).title == f"new {turn[0]}"
        before.put(old(film_id="3", title=f"old {turn[0]}", league="a"))
        before.patch(old.at(film_id="4"), Set("title", f"patched {turn[0]}"))
        found = [after.get(new.at(film_id=n)) for n in "34"]
        assert [f.title for f in found] == [f"old {turn[0]}", f"patched {turn[0]}"]
        assert [f.loud for f in found if hasattr(f, "loud")] in ([], [f"OLD {turn[0]}", f"PATCHED {turn[0]}"])
        with pytest.raises(NotUnique) if kind != "computed" else nullcontext():
            after.put(new(film_id="1", title=f"changed {turn[0]}", league="a"))
        after.put(new(film_id="1", title=f"new {turn[0]}", league="a"))

    def until_closed(told: MigrationProgress) -> None:
        if told.stage == "filling":
            write(told)

    _run(after, new, tell=until_closed)
    assert turn[0] > 2
    for title in (f"new {turn[0]}", f"changed {turn[0]}", f"old {turn[0]}", f"patched {turn[0]}"):
        with pytest.raises(NotUnique) if kind != "computed" else nullcontext():
            after.create(new(film_id=title, title=title, league="a"))
    if "loud" in new.__shape__.fields:
        assert _raw(after, new, "loud")["3"] == f"OLD {turn[0]}"


def test_what_is_computed_is_stored_of_every_record_before_anybody_asks_by_it(store: Store, another: OpenStore) -> None:
    """SQL found none of the records that stood: their column was empty."""
    old, new = _old(), _new("computed", index=SHELF)
    before = ensured(another, old)
    _stand(before, old)
    before.close()
    after = ensured(another, new)
    assert after.get(new.at(film_id="1")).loud == "T1"
    with pytest.raises(IndexIncomplete):
        list(after.find(new.by_shelf(loud="T1")))
    _run(after, new)
    assert [f.film_id for f in after.find(new.by_shelf(loud="T1"))] == ["1"]
    assert _raw(after, new, "loud") == {f"{n}": f"T{n}" for n in range(9)}
    assert after.ensure(cinema(new), dry_run=True) == []
    with pytest.raises(LayoutMismatch, match="computed of title"):
        another().patch(old.at(film_id="1"), Set("title", "x"))


def test_a_field_that_was_given_is_computed_from_now_on(store: Store, another: OpenStore) -> None:
    old = film({"title": str, "loud": str}, index=SHELF)
    new = film({"title": str, "loud": str}, defaults={"loud": computed(_shouted, of="title")}, index=SHELF)
    before = ensured(another, old)
    before.put_many([old(film_id=n, title=n, loud="quiet") for n in "abc"])
    after = ensured(another, new)
    assert after.get(new.at(film_id="a")).loud == "A"
    with pytest.raises(IndexIncomplete):
        list(after.find(new.by_shelf(loud="A")))
    after.patch(new.at(film_id="b"), Set("title", "bb"), when=Compare("loud", "=", "B"))
    _run(after, new)
    assert _raw(after, new, "loud") == {"a": "A", "b": "BB", "c": "C"}
    assert [f.film_id for f in after.find(new.by_shelf(loud="BB"))] == ["b"]
    assert list(after.find(new.by_shelf(loud="quiet"))) == []


def test_a_new_name_and_uniqueness_come_together(store: Store, another: OpenStore) -> None:
    old = film({"author": str, "title": str})
    new = film({"writer": Annotated[str, Formerly("author")], "title": Unique[str]})
    before = ensured(another, old)
    before.put_many([old(film_id=str(n), author="a", title=str(n)) for n in range(9)])
    before.close()
    after = ensured(another, new)
    assert _run(after, new).stage == "complete"
    assert pending_migrations(after, [cinema(new)]) == []
    assert after.get(new.at(film_id="3")).writer == "a"
    with pytest.raises(NotUnique):
        after.create(new(film_id="x", writer="b", title="3"))


@pytest.mark.parametrize("kind", ["unique", "unique and computed"])
@pytest.mark.parametrize("commits", [pytest.param(4, marks=pytest.mark.long), 5])
def test_killed_again_and_again_it_comes_to_its_end(store: Store, another: OpenStore, kind: str, commits: int) -> None:
    old, new = _old(), _new(kind)
    before = ensured(another, old)
    _stand(before, old)
    before.close()
    after = ensured(another, new)
    deaths = 0
    while deaths < 60:
        try:
            _run(dying(another(), commits), new)
            break
        except Killed:
            deaths += 1
            assert after.get(new.at(film_id="1")).title == "t1"
    assert deaths > 1
    for n in range(9):
        with pytest.raises(NotUnique):
            after.create(new(film_id="x", title=f"t{n}", league="a"))


def test_a_newer_declaration_that_computes_no_more_goes_on(store: Store, another: OpenStore) -> None:
    """What it leaves behind shuts out nobody who knows as little of it."""
    first, second = _new("unique and computed"), _old()
    third = film({**FIELDS, "note": str | None}, defaults={"note": None})
    before, after, latest = ensured(another, first), ensured(another, second), ensured(another, third)
    latest.put(third(film_id="a", title="t", league="a", note="x"))
    after.patch(second.at(film_id="a"), Set("title", "u"))
    assert latest.get(third.at(film_id="a")).note == "x"
    assert before.get(first.at(film_id="a")).title == "u"
