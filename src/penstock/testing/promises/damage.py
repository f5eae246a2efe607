"""A record that cannot be read keeps nobody from the others, and is told beside them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock import FrozenClock, Store, Unreadable, between
from penstock.errors import DamagedRecord
from penstock.ports.engine import Engine
from penstock.testing.crates import DEPOT, Crate, Parcel, parcel, strange
from penstock.testing.entities import Colour
from penstock.testing.promises.promise import Promise

ALL = Parcel.of_crate(crate="c")


class Damage(Promise):
    """What becomes of reads that meet a record in a form its declaration does not allow."""

    @pytest.fixture
    def depot(self, engine: Engine, clock: FrozenClock) -> Store:
        """A store with the tables of several kinds in one partition, empty."""
        engine.ensure(DEPOT.shapes)
        return Store(engine, clock=clock, secret=b"of the suite")

    @pytest.fixture
    def damaged(self, depot: Store) -> Store:
        """Six parcels, of which the second and the last cannot be read."""
        depot.put_many([parcel(n) for n in (0, 2, 3, 4)])
        depot.put_many([strange(1), strange(5)])
        return depot

    def test_all_that_can_be_read_is_found_before_the_others_are_told(self, damaged: Store) -> None:
        found: list[int] = []
        with pytest.raises(DamagedRecord) as told:
            found.extend(p.number for p in damaged.find(ALL))
        assert found == [0, 2, 3, 4]
        assert [u.name for u in told.value.unreadable] == [
            "Parcel(crate=c, number=1)",
            "Parcel(crate=c, number=5)",
        ]
        assert "ultraviolet" not in str(told.value), "of a record the key is told, and no other value"

    def test_whoever_brings_a_list_is_told_there(self, damaged: Store) -> None:
        for query, expected in ((ALL, [0, 2, 3, 4]), (ALL.reversed(), [4, 3, 2, 0])):
            unreadable: list[Unreadable] = []
            assert [p.number for p in damaged.find(query, unreadable=unreadable)] == expected
            assert len(unreadable) == 2
        through_index = Parcel.by_colour(crate="c", colour=Colour.RED)
        unreadable = []
        assert sorted(p.number for p in damaged.find(through_index, unreadable=unreadable)) == [0, 2, 3, 4]
        assert len(unreadable) == 2

    @pytest.mark.parametrize("size", [1, 2, 3, 6, 10])
    def test_pages_go_on_past_what_cannot_be_read(self, damaged: Store, size: int) -> None:
        for query, expected in (
            (ALL, ["0", "!1", "2", "3", "4", "!5"]),
            (ALL.reversed(), ["!5", "4", "3", "2", "!1", "0"]),
            (Parcel.of_crate(crate="c", number=between(1, 3)), ["!1", "2", "3"]),
        ):
            seen: list[str] = []
            cursor = None
            while True:
                page = damaged.page(query, limit=size, cursor=cursor)
                assert len(page.records) + len(page.unreadable) <= size
                seen += [str(p.number) for p in page.records]
                seen += [f"!{u.name[-2]}" for u in page.unreadable]
                cursor = page.cursor
                if cursor is None:
                    break
            assert sorted(seen) == sorted(expected)
            assert [s for s in seen if s[0] != "!"] == [s for s in expected if s[0] != "!"]

    def test_those_that_can_be_read_are_got_with_the_error(self, damaged: Store) -> None:
        damaged.put(Crate(crate="c"))
        refs = [parcel(n).ref for n in (0, 1, 9, 5, 4)]
        with pytest.raises(DamagedRecord) as told:
            damaged.get_many([Crate.at(crate="c"), *refs])
        records = told.value.records
        assert records is not None
        assert [r if r is None else type(r).__name__ for r in records] == [
            "Crate",
            "Parcel",
            None,
            None,
            None,
            "Parcel",
        ]
        unreadable: list[Unreadable] = []
        found = damaged.get_many(refs, unreadable=unreadable)
        assert [None if p is None else p.number for p in found] == [0, None, None, None, 4]
        assert {u.name for u in unreadable} == {"Parcel(crate=c, number=1)", "Parcel(crate=c, number=5)"}

    def test_one_that_is_asked_for_alone_is_told_as_such(self, damaged: Store) -> None:
        for ask in (damaged.get, damaged.lookup):
            with pytest.raises(DamagedRecord):
                ask(parcel(1).ref)
        unreadable: list[Unreadable] = []
        assert damaged.get_many([parcel(1).ref], unreadable=unreadable) == [None]
        assert [u.name for u in unreadable] == ["Parcel(crate=c, number=1)"]

    def test_the_first_is_not_another_one_unless_that_is_told(self, damaged: Store) -> None:
        with pytest.raises(DamagedRecord):
            damaged.first(ALL.reversed())
        unreadable: list[Unreadable] = []
        last = damaged.first(ALL.reversed(), unreadable=unreadable)
        assert last is not None
        assert (last.number, len(unreadable)) == (4, 1)

    def test_what_has_ended_is_not_told_either(self, depot: Store, clock: FrozenClock) -> None:
        end = int((clock.now() + timedelta(hours=1)).timestamp())
        depot.put_many([strange(1, ends_at=end), strange(2)])
        clock.advance(timedelta(hours=2))
        unreadable: list[Unreadable] = []
        assert list(depot.find(ALL, unreadable=unreadable)) == []
        assert [u.name for u in unreadable] == ["Parcel(crate=c, number=2)"]
