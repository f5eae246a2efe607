"""The result does not depend on the page size, and a cursor goes on where its page ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest

from penstock import Entity, Query, Range, Store, between, since
from penstock.errors import InvalidCursor, InvalidValue
from penstock.testing.entities import (
    MOMENT,
    Reading,
    Scene,
    SceneVersion,
    Specimen,
    Status,
    Task,
    Ticket,
    specimen,
)
from penstock.testing.promises.promise import Promise

E = TypeVar("E", bound=Entity)


def by_pages(store: Store, query: Query[E], size: int) -> list[E]:
    """All records of a query, a page at a time; no page but the last may be short."""
    records: list[E] = []
    cursor: str | None = None
    while True:
        page = store.page(query, limit=size, cursor=cursor)
        assert len(page.records) <= size
        records += page.records
        if page.cursor is None:
            return records
        assert len(page.records) == size
        cursor = page.cursor


class Paging(Promise):
    """`find` with a limit, and cursors."""

    @pytest.mark.parametrize("size", [1, 2, 3, 5, 10, 11, 100])
    def test_pages_join_to_the_whole(self, store: Store, size: int) -> None:
        names = ["a", "a#", "a#b", "a%", "b c", "é", "\uffff", "\U00010000", "🐟", "~"]
        store.put_many([specimen(label=n) for n in names])
        store.put_many([Task(job="j", name=n, at=MOMENT) for n in names])
        queries: list[Query[Any]] = [Specimen.by_shelf(shelf="top"), Task.by_job(job="j")]
        for query in queries:
            whole = list(store.find(query))
            assert len(whole) == 10
            assert by_pages(store, query, size) == whole
            assert by_pages(store, query.reversed(), size) == whole[::-1]

    @pytest.mark.parametrize("size", [1, 2, 3, 7])
    def test_pages_of_an_index_join_to_the_whole_even_where_keys_are_equal(self, store: Store, size: int) -> None:
        store.put_many(
            [
                Ticket(
                    queue=f"q{n % 3}",
                    ticket_id=f"{n:03d}",
                    created_at=MOMENT + timedelta(seconds=n // 6),
                    priority=n % 2,
                )
                for n in range(20)
            ]
        )
        for query in (Ticket.by_status(status=Status.NEW), Ticket.by_priority(queue="q1")):
            whole = list(store.find(query))
            assert by_pages(store, query, size) == whole
            assert by_pages(store, query.reversed(), size) == whole[::-1]

    def test_pages_of_native_numbers_join_to_the_whole(self, store: Store) -> None:
        store.put_many([Reading(sensor="s", taken=n, meter="m", value=n % 3) for n in range(10)])
        for query in (Reading.by_sensor(sensor="s"), Reading.by_meter(meter="m")):
            assert by_pages(store, query, 3) == list(store.find(query))

    def test_a_page_that_ends_with_the_last_record_has_no_cursor(self, store: Store) -> None:
        store.put_many([specimen(label=n) for n in "abcd"])
        page = store.page(Specimen.by_shelf(shelf="top"), limit=2)
        page = store.page(Specimen.by_shelf(shelf="top"), limit=2, cursor=page.cursor)
        assert [s.label for s in page.records] == ["c", "d"]
        assert page.cursor is None

    def test_a_page_is_full_although_look_alikes_lie_between(self, store: Store) -> None:
        reel = uuid4()
        store.put_many([Scene(reel=reel, sequence=n) for n in range(1, 8)])
        store.put_many([SceneVersion(reel=reel, sequence=n, version=v) for n in range(1, 8) for v in range(1, 6)])
        for size in (1, 2, 3, 7):
            assert [s.sequence for s in by_pages(store, Scene.by_reel(reel=reel), size)] == list(range(1, 8))
            assert [s.sequence for s in by_pages(store, Scene.by_grade(grade="good"), size)] == list(range(1, 8))

    def test_pages_keep_within_a_range(self, store: Store) -> None:
        store.put_many([Reading(sensor="s", taken=n) for n in range(20)])
        query = Reading.by_sensor(sensor="s", taken=between(5, 12))
        for size in (1, 3, 8):
            assert [r.taken for r in by_pages(store, query, size)] == list(range(5, 13))
            assert [r.taken for r in by_pages(store, query.reversed(), size)] == list(range(12, 4, -1))

    def test_what_is_written_before_the_cursor_does_not_shift_the_next_page(self, store: Store) -> None:
        query = Specimen.by_shelf(shelf="top")
        store.put_many([specimen(label=n) for n in "bdfh"])
        page = store.page(query, limit=2)
        store.put_many([specimen(label=n) for n in "aceg"])
        rest = store.page(query, limit=10, cursor=page.cursor)
        assert [s.label for s in rest.records] == ["e", "f", "g", "h"]

    def test_a_cursor_outlives_the_record_it_stands_behind(self, store: Store) -> None:
        query = Ticket.by_status(status=Status.NEW)
        tickets = [Ticket(queue="q", ticket_id=f"{n}", created_at=MOMENT + timedelta(seconds=n)) for n in range(6)]
        store.put_many(tickets)
        page = store.page(query, limit=3)
        store.delete(tickets[2].ref)
        rest = store.page(query, limit=10, cursor=page.cursor)
        assert [t.ticket_id for t in rest.records] == ["3", "4", "5"]

    def test_more_is_found_than_one_answer_holds(self, store: Store) -> None:
        many = [specimen(label=f"{n:03d}", text="x" * 30_000) for n in range(50)]
        store.put_many(many)
        assert [s.label for s in store.find(Specimen.by_shelf(shelf="top"))] == [s.label for s in many]
        assert len(by_pages(store, Specimen.by_shelf(shelf="top"), 45)) == 50

    def test_a_cursor_is_a_short_text_fit_for_a_url(self, store: Store) -> None:
        store.put_many([specimen(label=f"ä#{n}/?&") for n in range(3)])
        cursor = store.page(Specimen.by_shelf(shelf="top"), limit=1).cursor
        assert cursor is not None
        assert cursor.replace("-", "").replace("_", "").isalnum()
        assert cursor.isascii()

    def test_a_cursor_of_another_query_is_refused(self, store: Store) -> None:
        store.put_many([specimen(shelf=s, label=n) for s in ("top", "low") for n in "abc"])
        query = Specimen.by_shelf(shelf="top")
        cursor = store.page(query, limit=1).cursor
        assert cursor is not None
        others = [Specimen.by_shelf(shelf="low"), query.reversed(), Specimen.by_shelf(shelf="top", label=since("a"))]
        for other in others:
            with pytest.raises(InvalidCursor):
                store.page(other, cursor=cursor)

    def test_a_cursor_of_other_ends_is_refused(self, store: Store) -> None:
        """Whether the records at the ends belong to a range is a part of the question."""
        store.put_many([specimen(label=n) for n in "abcde"])
        ends = [(low, high) for low in (False, True) for high in (False, True)]
        ranges = [Range(low="a", high="e", open_low=low, open_high=high) for low, high in ends]
        queries = [Specimen.by_shelf(shelf="top", label=r) for r in ranges]
        cursors = [store.page(query, limit=1).cursor for query in queries]
        for asked, query in enumerate(queries):
            for made, cursor in enumerate(cursors):
                assert cursor is not None
                if made != asked:
                    with pytest.raises(InvalidCursor):
                        store.page(query, cursor=cursor)

    def test_whoever_changes_what_was_found_does_not_change_what_is_found_next(self, store: Store) -> None:
        many = [Ticket(queue="q", ticket_id=f"{n}", created_at=MOMENT, priority=n) for n in range(1010, 0, -1)]
        store.put_many(many)
        found = []
        for each in store.find(Ticket.by_priority(queue="q")):
            found.append(each.ticket_id)
            each.priority = 0
        assert found == [each.ticket_id for each in many]

    def test_a_cursor_that_was_altered_is_refused(self, store: Store) -> None:
        store.put_many([specimen(label=n) for n in "abc"])
        query = Specimen.by_shelf(shelf="top")
        cursor = store.page(query, limit=1).cursor
        assert cursor is not None
        swapped = ("B" if cursor[3] == "A" else "A").join([cursor[:3], cursor[4:]])
        for wrong in ("x", "é", cursor[:-8], swapped, "A" * 200):
            with pytest.raises(InvalidCursor):
                store.page(query, cursor=wrong)

    def test_a_page_has_at_least_one_record_and_at_most_a_thousand(self, store: Store) -> None:
        for limit in (0, -1, 1001):
            with pytest.raises(InvalidValue, match="1 to 1000"):
                store.page(Specimen.by_shelf(shelf="top"), limit=limit)

    def test_the_first_record_is_found_alone(self, store: Store) -> None:
        assert store.first(Scene.by_reel(reel=UUID(int=1))) is None
        store.put_many([Scene(reel=UUID(int=1), sequence=n) for n in (5, 3, 4)])
        first = store.first(Scene.by_reel(reel=UUID(int=1)))
        last = store.first(Scene.by_reel(reel=UUID(int=1)).reversed())
        assert (first and first.sequence, last and last.sequence) == (3, 5)
