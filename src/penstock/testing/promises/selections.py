"""Filters, choices of fields and bounded counts mean the same on every engine, whatever the size of a page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Query, Store, Unreadable, between, select, the
from penstock.errors import FilterTooWide, InvalidCursor, InvalidValue
from penstock.operations.conditions import Condition, Missing, Present, holds
from penstock.testing.crates import Label, Parcel, ParcelNote, Size, parcel, strange
from penstock.testing.entities import MOMENT, Colour, Reading, Specimen
from penstock.testing.promises.damage import Damage

ALL = Parcel.of_crate(crate="c")
RED = Parcel.by_colour(crate="c", colour=Colour.RED)
HEAVY = the(Parcel.weight).since(10)

FILTERS: list[Condition] = [
    HEAVY,
    the(Parcel.weight).between(3, 12),
    the(Parcel.weight).between(12, 3),
    the(Parcel.weight).differs(4),
    the(Parcel.weight).absent(),
    ~the(Parcel.weight).exists() | the(Parcel.grade).equals(Colour.RED),
    the(Parcel.grade).one_of(Colour.BLUE, Colour.RED) & the(Parcel.weight).before(15),
    the(Parcel.title).after("t05") & the(Parcel.title).until("t11"),
    the(Parcel.sent).since(MOMENT.replace(microsecond=0)),
    the(Parcel.number).since(7),
    the(Parcel.number).until(3) | the(Parcel.weight).equals(14),
    the(Parcel.crate).equals("c"),
    ~(the(Parcel.colour).equals(Colour.RED) & HEAVY),
]


def many() -> list[Parcel]:
    colours = list(Colour)
    return [
        parcel(
            n,
            colour=Colour.RED if n % 2 else Colour.BLUE,
            grade=colours[n % 3],
            title=f"t{n:02d}",
            weight=None if n % 5 == 0 else n,
            sent=MOMENT + timedelta(hours=n - 10) if n % 4 else None,
        )
        for n in range(20)
    ]


def in_pages(store: Store, query: Query[Any], size: int, **options: Any) -> list[Any]:
    """All records of a query, a page at a time; a page of a filtered query may be short."""
    records: list[Any] = []
    cursor: str | None = None
    for _ in range(200):
        page = store.page(query, limit=size, cursor=cursor, **options)
        assert len(page.records) <= size
        records += page.records
        cursor = page.cursor
        if cursor is None:
            return records
    raise AssertionError("the pages never end")


class Selections(Damage):
    """What more can be asked of a pattern."""

    @pytest.fixture
    def parcels(self, depot: Store) -> Store:
        """Twenty parcels, with labels and look-alikes between them."""
        depot.put_many([*many(), *(Label(crate="c", name=f"PARCEL#00{n}") for n in range(10))])
        depot.put_many([ParcelNote(crate="c", number=n, note=m) for n in range(20) for m in range(3)])
        return depot

    # Filters

    def test_a_filter_means_what_a_condition_of_a_write_means(self, parcels: Store) -> None:
        for condition in FILTERS:
            for query in (ALL, ALL.reversed(), RED, Parcel.of_crate(crate="c", number=between(4, 15))):
                whole = list(parcels.find(query))
                expected = [p for p in whole if holds(condition, p.__dict__)]
                assert list(parcels.find(query.where(condition))) == expected, condition

    def test_pages_of_a_filter_join_to_the_whole_whatever_is_examined_for_each(self, parcels: Store) -> None:
        for condition in FILTERS[:2] + FILTERS[9:11]:
            for query in (ALL.where(condition), RED.reversed().where(condition)):
                whole = list(parcels.find(query))
                for size, examining in ((1, 10_000), (3, 1), (3, 7), (50, 3), (5, 20)):
                    assert in_pages(parcels, query, size, examining=examining) == whole

    def test_a_page_tells_how_much_it_has_examined_and_goes_on_from_there(self, depot: Store) -> None:
        depot.put_many([parcel(n, weight=n) for n in range(12)])
        query = ALL.where(the(Parcel.weight).equals(11))
        page = depot.page(query, limit=5, examining=4)
        assert (page.records, page.examined) == ([], 4)
        assert page.cursor is not None
        assert [p.number for p in depot.page(query, cursor=page.cursor).records] == [11]
        assert depot.page(query, limit=5).cursor is None
        first = depot.first(query)
        assert first is not None
        assert first.number == 11

    def test_a_search_that_examines_too_much_says_so_instead_of_reading_on(self, depot: Store) -> None:
        depot.put_many([parcel(n, weight=n) for n in range(12)])
        last = ALL.where(the(Parcel.weight).equals(11))
        for most in (1, 5, 11):
            with pytest.raises(FilterTooWide, match=rf"{most} records were examined.*examining=None") as refused:
                depot.first(last, examining=most)
            assert refused.value.examined == most
            with pytest.raises(FilterTooWide):
                list(depot.find(last.reversed().where(the(Parcel.number).until(11)), examining=most))
        for enough in (12, 13, None):
            found = depot.first(last, examining=enough)
            assert found is not None
            assert [p.number for p in depot.find(last, examining=enough)] == [found.number] == [11]
            assert depot.first(ALL.where(the(Parcel.weight).equals(99)), examining=enough) is None

    def test_what_was_found_before_is_given_and_nothing_else_is_bounded(self, depot: Store) -> None:
        depot.put_many([parcel(n, weight=n) for n in range(12)])
        some = ALL.where(the(Parcel.weight).one_of(1, 3, 11))
        found = depot.find(some, examining=6)
        assert [next(found).number, next(found).number] == [1, 3]
        with pytest.raises(FilterTooWide):
            next(found)
        first = depot.first(some, examining=2)
        assert first is not None
        assert first.number == 1
        assert len(list(depot.find(ALL, examining=3))) == 12, "what is looked at is found"
        for wrong in (0, -1, 1_000_001, True, "5", 2.5):
            with pytest.raises(InvalidValue, match="examines 1 to"):
                depot.find(ALL.where(HEAVY), examining=wrong)  # type: ignore[arg-type]
            with pytest.raises(InvalidValue, match="examines 1 to"):
                depot.first(ALL.where(HEAVY), examining=wrong)  # type: ignore[arg-type]

    def test_a_search_goes_on_from_page_to_page_as_far_as_it_may(self, depot: Store) -> None:
        depot.put_many([parcel(n, weight=n) for n in range(1200)])
        light = ALL.where(the(Parcel.weight).since(0))
        assert len(list(depot.find(light, examining=1200))) == 1200
        with pytest.raises(FilterTooWide):
            list(depot.find(light, examining=1199))

    def test_a_cursor_is_of_one_filter(self, parcels: Store) -> None:
        cursor = parcels.page(ALL.where(HEAVY), limit=1).cursor
        assert cursor is not None
        for other in (ALL, ALL.where(the(Parcel.weight).since(11)), ALL.where(HEAVY).where(HEAVY)):
            with pytest.raises(InvalidCursor):
                parcels.page(other, cursor=cursor)

    def test_a_filter_speaks_of_the_fields_of_what_is_found(self, depot: Store) -> None:
        for wrong in (Present(), Missing(), the(Specimen.shelf).equals("x"), the(Parcel.weight).exists() & Missing()):
            with pytest.raises(InvalidValue, match=r"where|no field"):
                ALL.where(wrong)
        for bound in (0, -1, 1_000_001):
            with pytest.raises(InvalidValue, match="examines 1 to"):
                depot.page(ALL.where(HEAVY), examining=bound)

    def test_fields_that_are_keys_themselves_can_be_filtered_by(self, store: Store) -> None:
        store.put_many([Reading(sensor="s", taken=n, meter="m", value=n % 3) for n in range(9)])
        for query in (Reading.by_sensor(sensor="s"), Reading.by_meter(meter="m")):
            late = query.where(the(Reading.taken).since(5) & the(Reading.value).until(1))
            assert sorted(r.taken for r in store.find(late)) == [6, 7]

    # Some fields

    def test_some_fields_come_as_get_gives_them(self, parcels: Store) -> None:
        whole = [(p.title, p.weight, p.number, p.grade, p.sent, p.size, p.notes) for p in parcels.find(ALL)]
        fields = (Parcel.title, Parcel.weight, Parcel.number, Parcel.grade, Parcel.sent, Parcel.size, Parcel.notes)
        assert list(parcels.find(select(ALL, *fields))) == whole
        assert list(parcels.find(select(ALL.reversed(), Parcel.number))) == [(n,) for n in range(19, -1, -1)]
        by_index = [(p.crate, p.seen) for p in parcels.find(RED)]
        assert list(parcels.find(select(RED, Parcel.crate, Parcel.seen))) == by_index
        assert whole[0][5] == Size(width=1)

    def test_pages_of_some_fields_join_to_the_whole(self, parcels: Store) -> None:
        for query in (ALL, RED, ALL.where(HEAVY), RED.reversed().where(HEAVY)):
            expected = [(p.weight, p.title) for p in parcels.find(query)]
            for size in (1, 4, 20):
                assert in_pages(parcels, select(query, Parcel.weight, Parcel.title), size, examining=6) == expected
        one = parcels.page(select(ALL, Parcel.title), limit=3)
        assert [p.title for p in parcels.page(ALL, limit=1, cursor=one.cursor).records] == ["t03"]

    def test_what_has_ended_is_neither_counted_nor_chosen_though_its_end_is_not_read(
        self, depot: Store, clock: FrozenClock
    ) -> None:
        end = int((clock.now() + timedelta(hours=1)).timestamp())
        depot.put_many([parcel(n, weight=n, ends_at=end if n % 2 else None) for n in range(6)])
        clock.advance(timedelta(hours=2))
        assert list(depot.find(select(ALL, Parcel.weight))) == [(0,), (2,), (4,)]
        assert [p.number for p in depot.find(ALL.where(the(Parcel.weight).since(1)))] == [2, 4]
        assert str(depot.count(ALL)) == "3"

    def test_what_is_missing_or_cannot_be_read_is_told_of_some_fields_too(self, damaged: Store) -> None:
        assert [n for (n,) in damaged.find(select(ALL, Parcel.number))] == [0, 1, 2, 3, 4, 5]
        unreadable: list[Unreadable] = []
        grades = list(damaged.find(select(ALL, Parcel.number, Parcel.grade), unreadable=unreadable))
        assert [n for n, _ in grades] == [0, 2, 3, 4]
        assert len(unreadable) == 2
        found = list(damaged.find(ALL.where(the(Parcel.number).since(4)), unreadable=unreadable))
        assert [p.number for p in found] == [4]
        assert len(unreadable) == 3

    def test_a_choice_names_fields_of_what_is_found(self) -> None:
        with pytest.raises(InvalidValue, match="which has no Specimen"):
            select(ALL, Specimen.title)
        with pytest.raises(InvalidValue, match="at least one"):
            select(ALL)

    # Counting

    def test_records_are_counted_up_to_a_number(self, parcels: Store) -> None:
        assert [str(parcels.count(ALL, up_to=n)) for n in (1, 19, 20, 21, 1000)] == ["1+", "19+", "20", "20", "20"]
        assert str(parcels.count(RED.reversed(), up_to=5)) == "5+"
        counted = parcels.count(ALL.where(HEAVY))
        assert (counted.number, counted.more) == (len([p for p in many() if p.weight and p.weight >= 10]), False)
        assert parcels.count(ALL.where(the(Parcel.number).until(2))).number == 3
        assert parcels.count(Parcel.of_crate(crate="c", number=between(5, 8))).number == 4
        assert str(parcels.count(Parcel.of_crate(crate="elsewhere"))) == "0"

    def test_a_count_looks_at_so_many_and_says_when_there_is_more(self, depot: Store) -> None:
        depot.put_many([parcel(n, weight=n) for n in range(12)])
        counted = depot.count(ALL.where(the(Parcel.weight).since(10)), examining=5)
        assert counted.more
        assert counted.number == 0
        for wrong in (0, 1_000_001):
            with pytest.raises(InvalidValue, match="counted up to"):
                depot.count(ALL, up_to=wrong)

    def test_those_that_cannot_be_read_are_counted(self, damaged: Store) -> None:
        damaged.put(strange(7, weight=7))
        assert str(damaged.count(ALL)) == "7"
        assert str(damaged.count(ALL.where(the(Parcel.weight).equals(7)))) == "1"
