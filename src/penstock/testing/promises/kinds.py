"""Several kinds of records are read together, by their keys or as one partition, in one order on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock import Entity, ItemCollection, Store, Unreadable, between, since, starting_with, the, together
from penstock.errors import InvalidCursor, InvalidValue
from penstock.testing.crates import Crate, Label, Parcel, ParcelNote, parcel, strange
from penstock.testing.entities import Colour, Counter, Reading, Specimen, specimen
from penstock.testing.promises.damage import Damage

NAMES = ["A", "CRATE", "CRATF", "PARCEL", "PARCEL$", "Z", "é", "🐟"]
EVERYTHING = together(Crate.at(crate="c"), Parcel.of_crate(crate="c"), Label.of_crate(crate="c"))
PAINTED = together(
    Parcel.by_colour(crate="c", colour=Colour.RED),
    Label.by_colour(crate="c", colour=Colour.RED),
)


def sort_key(record: Entity) -> bytes:
    """What the table sorts a record by."""
    sort = record.__shape__.key.sort
    return sort.encode(record.__dict__).encode() if sort is not None else b""


def page_by_page(store: Store, asked: ItemCollection[Any], size: int) -> Iterator[Any]:
    cursor: str | None = None
    while True:
        page = store.page(asked, limit=size, cursor=cursor)
        assert len(page.records) + len(page.unreadable) == size or page.cursor is None
        assert page.records or page.unreadable or cursor is None, "a cursor is there only if more is"
        yield from page.records
        cursor = page.cursor
        if cursor is None:
            return


class Kinds(Damage):
    """Reads of more than one entity."""

    @pytest.fixture
    def partition(self, depot: Store) -> Store:
        """A partition with records of four kinds, and others beside it."""
        depot.put_many([Crate(crate="c", owner="ann"), Crate(crate="d")])
        depot.put_many([parcel(n, title=f"t{n}") for n in range(9)])
        depot.put_many([Label(crate="c", name=n) for n in NAMES])
        depot.put_many([ParcelNote(crate="c", number=n, note=m) for n in range(9) for m in range(2)])
        depot.put_many([Parcel(crate="d", number=1), Label(crate="d", name="PARCEL")])
        return depot

    def test_kinds_of_a_partition_come_as_one_in_the_order_of_their_sort_keys(self, partition: Store) -> None:
        found = list(partition.find(EVERYTHING))
        assert {type(r).__name__ for r in found} == {"Crate", "Parcel", "Label"}
        assert len(found) == 1 + 9 + len(NAMES)
        assert [sort_key(r) for r in found] == sorted(sort_key(r) for r in found)
        assert list(partition.find(EVERYTHING.reversed())) == found[::-1]
        first, last = partition.first(EVERYTHING), partition.first(EVERYTHING.reversed())
        assert (first, last) == (found[0], found[-1])
        assert found[0] == Label(crate="c", name="A")

    @pytest.mark.parametrize("size", [1, 2, 5, 17, 18, 100])
    def test_pages_of_several_kinds_join_to_the_whole(self, partition: Store, size: int) -> None:
        whole = list(partition.find(EVERYTHING))
        assert list(page_by_page(partition, EVERYTHING, size)) == whole
        assert list(page_by_page(partition, EVERYTHING.reversed(), size)) == whole[::-1]
        painted = list(partition.find(PAINTED))
        assert list(page_by_page(partition, PAINTED, size)) == painted

    def test_a_collection_lies_in_an_index_too(self, partition: Store) -> None:
        partition.put(parcel(20, title="CRATE", colour=Colour.BLUE))
        found = list(partition.find(PAINTED))
        names = [r.title if isinstance(r, Parcel) else r.name for r in found]
        assert names == sorted([*NAMES, *(f"t{n}" for n in range(9))], key=str.encode)

    def test_each_kind_may_be_bounded_or_filtered_by_itself(self, partition: Store) -> None:
        asked = together(
            Parcel.of_crate(crate="c", number=between(2, 5)).where(the(Parcel.title).differs("t3")),
            Label.of_crate(crate="c", name=since("PARCEL")),
        )
        for size in (1, 3, 50):
            page = list(page_by_page(partition, asked, size))
            assert [sort_key(r) for r in page] == sorted(sort_key(r) for r in page)
            assert [r.number for r in page if isinstance(r, Parcel)] == [2, 4, 5]
            assert {r.name for r in page if isinstance(r, Label)} == set(NAMES[3:])
        nothing = together(Parcel.of_crate(crate="c", number=between(5, 2)), Label.of_crate(crate="c"))
        assert len(list(partition.find(nothing))) == len(NAMES)

    def test_a_page_gives_the_records_of_each_kind(self, partition: Store) -> None:
        page = partition.page(EVERYTHING)
        assert [c.owner for c in page.of(Crate)] == ["ann"]
        assert [p.number for p in page.of(Parcel)] == list(range(9))
        assert len(page.of(Label)) == len(NAMES)

    def test_what_is_written_before_the_cursor_does_not_come_late(self, depot: Store) -> None:
        depot.put_many([parcel(n) for n in range(4)])
        page = depot.page(EVERYTHING, limit=2)
        depot.put_many([Crate(crate="c"), Label(crate="c", name="A"), Label(crate="c", name="Z")])
        rest = depot.page(EVERYTHING, cursor=page.cursor).records
        assert [r.number if isinstance(r, Parcel) else r for r in rest] == [2, 3, Label(crate="c", name="Z")]

    def test_a_cursor_of_another_collection_is_refused(self, partition: Store) -> None:
        cursor = partition.page(EVERYTHING, limit=3).cursor
        assert cursor is not None
        others = (
            EVERYTHING.reversed(),
            PAINTED,
            together(Parcel.of_crate(crate="c"), Label.of_crate(crate="c")),
            together(Crate.at(crate="d"), Parcel.of_crate(crate="d"), Label.of_crate(crate="d")),
        )
        for other in others:
            with pytest.raises(InvalidCursor):
                partition.page(other, cursor=cursor)
        with pytest.raises(InvalidCursor):
            partition.page(Parcel.of_crate(crate="c"), cursor=cursor)

    def test_a_collection_lies_in_one_partition_of_one_table(self) -> None:
        whole = Parcel.of_crate(crate="c")
        wrong: list[tuple[Any, str]] = [
            ((whole, Label.of_crate(crate="d")), "two partitions"),
            ((whole, Label.by_colour(crate="c", colour=Colour.RED)), "in one index"),
            ((whole, Specimen.by_shelf(shelf="c")), "one table"),
            ((whole, whole), "twice"),
            ((), "takes keys and patterns"),
            ((Parcel,), "takes keys and patterns"),
        ]
        for members, words in wrong:
            with pytest.raises(InvalidValue, match=words):
                together(*members)

    @pytest.mark.parametrize("size", [1, 2, 3, 9])
    def test_kinds_are_found_past_what_cannot_be_read(self, depot: Store, size: int) -> None:
        depot.put_many([parcel(0), parcel(3), Label(crate="c", name="PARCEL#0002"), Label(crate="c", name="Z")])
        depot.put_many([strange(1), strange(4)])
        for asked in (EVERYTHING, EVERYTHING.reversed()):
            unreadable: list[Unreadable] = []
            whole = list(depot.find(asked, unreadable=unreadable))
            assert (len(whole), len(unreadable)) == (4, 2)
            assert list(page_by_page(depot, asked, size)) == whole

    # By their keys

    def test_records_of_several_kinds_are_got_at_once(self, store: Store, depot: Store) -> None:
        many = [parcel(n, title="x" * 100) for n in range(120)]
        mixed: list[Entity] = [specimen(label="s"), Reading(sensor="r", taken=1), Counter(name="n"), Crate(crate="c")]
        store.put_many([*many, *mixed])
        refs = [r.ref for r in [*many[:60], *mixed, *many[60:]]]
        missing = [Crate.at(crate="none"), Specimen.at(shelf="none", label="none")]
        found = store.get_many([*refs, *missing, *refs[:3]])
        assert found == [*many[:60], *mixed, *many[60:], None, None, *many[:3]]
        assert store.get_many([]) == []

    def test_what_one_prefix_finds_is_of_one_kind(self, partition: Store) -> None:
        found = partition.find(Label.of_crate(crate="c", name=starting_with("PARCEL")))
        assert [r.name for r in found] == ["PARCEL", "PARCEL$"]
