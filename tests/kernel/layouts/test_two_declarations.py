"""Two declarations at work on one store: neither erases what it does not know, and each finds what the other writes."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import Field

from penstock import Expires, FrozenClock, Store, Unreadable, the
from penstock.declare.units import EpochSeconds, UtcMicros, UtcSeconds
from penstock.errors import Conflict, IndexIncomplete, LayoutMismatch
from penstock.kernel.handle import put
from penstock.operations.conditions import Compare
from penstock.operations.updates import Add, Remove, Set
from penstock.testing.entities import MOMENT, Colour
from tests.beneath import beneath
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

TITLE: dict[str, Any] = {"title": str}
NOTED: dict[str, Any] = {**TITLE, "note": str | None}
RATED: dict[str, Any] = {**NOTED, "stars": int, "words": list[str]}
DEFAULTS: dict[str, Any] = {"note": None, "stars": 3, "words": ["a"]}
VALUES: dict[str, Any] = {
    "text": "x",
    "colour": Colour.BLUE,
    "identifier": UUID(int=7),
    "count": -42,
    "ratio": 2.5,
    "whole": 3.0,
    "price": Decimal("1.5"),
    "flag": False,
    "blob": b"\xff\x00",
    "second": MOMENT,
    "micro": MOMENT + timedelta(microseconds=1),
    "day": date(2025, 1, 2),
    "labels": frozenset({"a", "b"}),
    "words": ["x", "y"],
}
KINDS: dict[str, Any] = {name: type(value) | None for name, value in VALUES.items()} | {
    "second": UtcSeconds | None,
    "micro": UtcMicros | None,
    "labels": frozenset[str] | None,
}
SHELF = ("SHELF#{note}", "{stars:03d}#{film_id}")


@pytest.fixture
def old() -> Declared:
    return film(NOTED, defaults={"note": None})


@pytest.fixture
def new() -> Declared:
    return film(RATED, defaults=DEFAULTS)


class TestWhatOneDoesNotKnow:
    """A newer declaration has more fields, or fewer."""

    def test_a_put_of_the_older_keeps_the_fields_of_the_newer(
        self, another: OpenStore, old: Declared, new: Declared
    ) -> None:
        before, after = ensured(another, old), ensured(another, new)
        after.put(new(film_id="a", title="t", note="n", stars=5, words=["x", "y"]))
        before.put(old(film_id="a", title="other"))
        assert after.get(new.at(film_id="a")) == new(film_id="a", title="other", stars=5, words=["x", "y"])
        assert before.get(old.at(film_id="a")) == old(film_id="a", title="other")

    def test_a_record_of_the_older_is_read_by_the_newer_with_its_defaults(
        self, another: OpenStore, old: Declared, new: Declared
    ) -> None:
        before, after = ensured(another, old), ensured(another, new)
        before.put(old(film_id="a", title="t"))
        before.create(old(film_id="b", title="t"))
        before.put_many([old(film_id="c", title="t")])
        for film_id in "abc":
            assert after.get(new.at(film_id=film_id)) == new(film_id=film_id, title="t")

    def test_a_put_of_the_newer_keeps_what_is_declared_no_longer(
        self, another: OpenStore, old: Declared, new: Declared
    ) -> None:
        before, after = ensured(another, new), ensured(another, film(TITLE))
        lesser = film(TITLE)
        before.put(new(film_id="a", title="t", note="n", stars=5, words=["x"]))
        after.put(lesser(film_id="a", title="other"))
        after.put_many([lesser(film_id="a", title="another")])
        with after.change() as change:
            change.put(lesser(film_id="b", title="t"))
        assert before.get(new.at(film_id="a")) == new(film_id="a", title="another", note="n", stars=5, words=["x"])
        assert before.get(new.at(film_id="b")) == new(film_id="b", title="t")

    def test_what_is_declared_no_longer_is_kept_of_a_record_that_is_completed_when_it_is_read(
        self, another: OpenStore
    ) -> None:
        more = film({**TITLE, **KINDS}, defaults=dict.fromkeys(KINDS), index=("DAY#{day}", "{second}#{identifier}"))
        lesser = film({**TITLE, "ticket": UUID}, defaults={"ticket": Field(default_factory=uuid4)})
        before, after = ensured(another, more), ensured(another, lesser)
        before.put(more(film_id="a", title="t", **VALUES))
        after.put(lesser(film_id="a", title="other"))
        kept = more(film_id="a", title="other", **VALUES)
        assert before.get(kept.ref) == kept
        assert list(before.find(more.by_shelf(day=kept.day))) == [kept]

    def test_what_stands_at_the_key_of_an_expired_record_has_nothing_of_it(
        self, another: OpenStore, clock: FrozenClock
    ) -> None:
        ends: dict[str, Any] = {"title": str, "ends": EpochSeconds | None}
        lesser = film(ends, defaults={"ends": None}, lifetimes=(Expires("ends"),))
        more = film({**ends, "note": str | None}, defaults={"ends": None, "note": None}, lifetimes=(Expires("ends"),))
        before, after = ensured(another, lesser), ensured(another, more)
        over = int((clock.now() + timedelta(seconds=10)).timestamp())
        for film_id in "ab":
            after.put(more(film_id=film_id, title="t", note="n", ends=over))
        clock.advance(timedelta(seconds=20))
        before.put(lesser(film_id="a", title="other"))
        before.create(lesser(film_id="b", title="other"))
        for film_id in "ab":
            assert after.get(more.at(film_id=film_id)) == more(film_id=film_id, title="other")

    def test_a_put_on_a_condition_is_refused_by_the_condition_alone(
        self, another: OpenStore, old: Declared, new: Declared
    ) -> None:
        before, after = ensured(another, old), ensured(another, new)
        after.put(new(film_id="a", title="t", stars=5))
        with pytest.raises(Conflict) as refused:
            before.put(old(film_id="a", title="x"), when=Compare("title", "=", "other"))
        assert refused.value.found == {"film_id": "a", "title": "t", "note": None}
        before.put(old(film_id="a", title="x"), when=Compare("title", "=", "t"))
        assert after.get(new.at(film_id="a")).stars == 5

    def test_what_the_store_does_not_know_yet_is_not_written(
        self, another: OpenStore, old: Declared, new: Declared
    ) -> None:
        before, early = ensured(another, old), another()
        early.put(new(film_id="a", title="t"))
        assert early.get(new.at(film_id="a")) == new(film_id="a", title="t")
        with pytest.raises(LayoutMismatch, match="penstock tables apply"):
            early.put(new(film_id="a", title="t", stars=4))
        with pytest.raises(LayoutMismatch, match="penstock tables apply"):
            early.patch(new.at(film_id="a"), Add("stars", 1))
        early.patch(new.at(film_id="a"), Set("title", "u"), when=Compare("stars", "=", 3))
        with pytest.raises(Conflict):
            early.patch(new.at(film_id="a"), Set("title", "v"), when=Compare("stars", "=", 4))
        early.ensure(cinema(new))
        early.put(new(film_id="a", title="t", stars=4))
        assert before.get(old.at(film_id="a")) == old(film_id="a", title="t")

    def test_a_declaration_that_does_not_fit_is_told_so(self, another: OpenStore, old: Declared) -> None:
        before = ensured(another, old)
        before.put(old(film_id="a", title="1"))
        retyped, required = film({**NOTED, "title": int}, defaults={"note": None}), film({**TITLE, "year": int})
        store = another()
        for other, record in (
            (retyped, retyped(film_id="a", title=1)),
            (required, required(film_id="a", title="t", year=1)),
        ):
            with pytest.raises(LayoutMismatch, match=r"cinema\.Film"):
                store.get(other.at(film_id="a"))
            with pytest.raises(LayoutMismatch, match=r"cinema\.Film"):
                store.put(record)
        assert before.get(old.at(film_id="a")) == old(film_id="a", title="1")


class TestIndexes:
    """A newer declaration has no index any more, or another one."""

    def test_the_keys_of_an_index_that_is_declared_no_longer_stay_true(self, another: OpenStore, new: Declared) -> None:
        shelved = film(RATED, defaults=DEFAULTS, index=SHELF)
        before, after = ensured(another, shelved), ensured(another, new)

        def shelf(note: str) -> list[str]:
            return [f.film_id for f in before.find(shelved.by_shelf(note=note))]

        after.put(new(film_id="a", title="t", note="n", stars=2))
        after.put(new(film_id="b", title="t", note="n", stars=1))
        assert shelf("n") == ["b", "a"]
        after.patch(new.at(film_id="a"), Add("stars", -2))
        assert shelf("n") == ["a", "b"]
        after.patch(new.at(film_id="a"), Set("note", "m"))
        assert (shelf("n"), shelf("m")) == (["b"], ["a"])
        after.patch(new.at(film_id="a"), Remove("note"))
        assert shelf("m") == []
        with after.change() as change:
            record = change.get(new.at(film_id="b"))
            record.note = "k"
            change.save(record)
        assert (shelf("n"), shelf("k")) == ([], ["b"])
        with pytest.raises(Conflict):
            after.patch(new.at(film_id="c"), Set("note", "m"))

    def test_the_key_of_an_index_that_is_made_of_unknown_fields_stays_true(self, another: OpenStore) -> None:
        shelved = film(RATED, defaults=DEFAULTS, index=SHELF)
        lesser = film(NOTED, defaults={"note": None})
        before, after = ensured(another, shelved), ensured(another, lesser)

        def shelf(note: str) -> list[str]:
            return [f.film_id for f in before.find(shelved.by_shelf(note=note))]

        before.put(shelved(film_id="a", title="t", note="n", stars=2))
        before.put(shelved(film_id="b", title="t", note="n", stars=1))
        after.put(lesser(film_id="a", title="t", note="m"))
        after.patch(lesser.at(film_id="b"), Set("note", "m"))
        after.put(lesser(film_id="c", title="t", note="m"))
        assert (shelf("n"), shelf("m")) == ([], ["b", "a", "c"])

    def test_a_query_by_an_index_that_is_not_complete_is_refused_where_it_would_leave_records_out(
        self, another: OpenStore, old: Declared
    ) -> None:
        shelved = film(NOTED, defaults={"note": None}, index=("SHELF#{note}", "{film_id}"))
        before = ensured(another, old)
        before.put(old(film_id="a", title="t", note="n"))
        after = ensured(another, shelved)
        if after.engine.features.key_texts:
            with pytest.raises(IndexIncomplete, match="penstock migrate"):
                list(after.find(shelved.by_shelf(note="n")))
        else:
            assert [f.film_id for f in after.find(shelved.by_shelf(note="n"))] == ["a"]
        assert after.get(shelved.at(film_id="a")).note == "n"


class TestReading:
    """What is read of a layout that is not the declared one is as of any."""

    def test_pages_counts_filters_and_some_fields(self, another: OpenStore, old: Declared) -> None:
        keys, index = ("FILMS", "{film_id}"), ("SHELF#{title}", "{film_id}")
        lesser = film(TITLE, keys=keys, index=index)
        more = film(NOTED, defaults={"note": None}, keys=keys, index=index)
        before, after = ensured(another, lesser), ensured(another, more)
        for number in range(7):
            after.put(more(film_id=f"f{number}", title="t" if number % 2 else "u", note="n"))
        store: Store = before
        query = lesser.by_shelf(title="t")
        first = store.page(query, limit=2)
        second = store.page(query, limit=2, cursor=first.cursor)
        assert [f.film_id for f in (*first.records, *second.records)] == ["f1", "f3", "f5"]
        assert all(type(f) is lesser for f in first.records)
        assert store.count(query).number == 3
        assert [f.film_id for f in store.find(query.where(the(lesser.film_id).differs("f3")))] == ["f1", "f5"]
        assert store.get_many([lesser.at(film_id=f"f{n}") for n in (6, 9)]) == [lesser(film_id="f6", title="u"), None]

    def test_one_that_cannot_be_read_is_told_as_the_declaration_has_it_beside_those_that_can(
        self, another: OpenStore, clock: FrozenClock
    ) -> None:
        coloured: dict[str, Any] = {"title": str, "colour": Colour}
        elsewhere: dict[str, Any] = {"domain": "archive", "relation": "archived", "table": "penstock-archive"}
        lesser, kept = film(coloured), film(coloured, **elsewhere)
        more = film({**coloured, "note": str | None}, defaults={"note": None})
        before, _ = ensured(another, lesser), ensured(another, more)
        before.ensure(cinema(kept))
        for declared, options in ((lesser, {}), (kept, elsewhere)):
            before.put(declared(film_id="a", title="t", colour=Colour.RED))
            strange = film({"title": str, "colour": str}, **options)
            writes = [put(strange(film_id="b", title="t", colour="ultraviolet"))]
            beneath(before).commit(writes, now=clock.now(), token="t")
        refs = [declared.at(film_id=film_id) for declared in (lesser, kept) for film_id in "ab"]
        unreadable: list[Unreadable] = []
        found = before.get_many(refs, unreadable=unreadable)
        assert [type(record) for record in found] == [lesser, type(None), kept, type(None)]
        assert {u.shape: u.key for u in unreadable} == {d.__shape__: {"film_id": "b"} for d in (lesser, kept)}
