"""More than one answer holds, whatever the page size: 2 MB of records, batches of hundreds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import pytest

from penstock import FrozenClock, Query, Ref, Store
from penstock.errors import DamagedRecord
from penstock.operations.reads import Page, Unreadable
from penstock.ports.engine import Engine
from penstock.testing.entities import MOMENT, SUITE, Specimen, Status, Task, Ticket, specimen
from penstock.testing.promises.paging import by_pages
from penstock.testing.simulation import SimulatedEngine
from tests.kernel.everywhere import Everywhere, open_everywhere
from tests.kernel.thing_history import tie_groups

MANY = [specimen(shelf="large", label=f"{n:04d}", text=f"{n % 10}" * 5_000) for n in range(400)]
TASKS = [Task(job="j", name=f"{'ab#'[n % 3]}", at=MOMENT, attempt=n, note="x" * 4_000) for n in range(300)]
TICKETS = [
    Ticket(queue=f"q{n % 7}", ticket_id=f"{n:04d}", created_at=MOMENT, priority=n // 100, outcome="x" * 4_000)
    for n in range(350)
]


@pytest.fixture(scope="module")
def everywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    """All engines, with the same two megabytes in each of three patterns."""
    with open_everywhere(request, tmp_path_factory.mktemp("pages"), SUITE.shapes) as opened:
        for store in opened.stores.values():
            store.put_many([*MANY, *TASKS, *TICKETS])
        yield opened


@pytest.mark.parametrize("size", [7, 100, 399, 400, 1000])
def test_two_megabytes_are_the_same_in_pages_of_any_size_everywhere(everywhere: Everywhere, size: int) -> None:
    labels = [s.label for s in MANY]
    query = Specimen.by_shelf(shelf="large")
    for name, store in everywhere.stores.items():
        assert [s.label for s in by_pages(store, query, size)] == labels, name
        assert [s.label for s in by_pages(store, query.reversed(), size)] == labels[::-1], name


def test_all_of_a_pattern_is_found_without_naming_a_size(everywhere: Everywhere) -> None:
    expected = sorted(TASKS, key=lambda t: (t.name.encode(), t.attempt))
    for name, store in everywhere.stores.items():
        assert list(store.find(Specimen.by_shelf(shelf="large"))) == MANY, name
        assert list(store.find(Task.by_job(job="j"))) == expected, name


@pytest.mark.parametrize("size", [50, 333])
def test_an_index_of_equal_keys_is_the_same_in_pages_of_any_size(everywhere: Everywhere, size: int) -> None:
    queries: list[Query[Ticket]] = [Ticket.by_status(status=Status.NEW), Ticket.by_priority(queue="q3")]
    for query in queries:
        expected = tie_groups(query, everywhere.model)
        for name, store in everywhere.stores.items():
            whole = list(store.find(query))
            assert tie_groups(query, store, whole) == expected, name
            assert by_pages(store, query, size) == whole, name
            assert by_pages(store, query.reversed(), size) == whole[::-1], name


def test_a_record_that_is_moved_does_not_move_the_end_of_its_page() -> None:
    last = Ticket(queue="q", ticket_id="1", created_at=MOMENT)
    end = Page([last], more=True).end
    last.start()
    assert (last.status, end["status"]) == (Status.OPEN, Status.NEW)


def test_damage_that_says_nothing_of_the_others_is_raised_also_to_whoever_gave_a_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Store(SimulatedEngine(), clock=FrozenClock())

    def fails(refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any]:
        raise DamagedRecord("the page of the database is torn")

    monkeypatch.setattr(store.engine, "get", fails)
    told: list[Unreadable] = []
    with pytest.raises(DamagedRecord, match="torn"):
        store.get_many([MANY[0].ref, MANY[1].ref], unreadable=told)
    assert told == []


def test_two_hundred_and_fifty_are_read_and_two_hundred_and_sixty_written_at_once(
    open_engine: Callable[[], Engine], clock: FrozenClock
) -> None:
    engine = open_engine()
    engine.ensure(SUITE.shapes)
    store = Store(engine, clock=clock)
    many = [specimen(shelf=f"s{n % 3}", label=f"{n:04d}", text="x" * 2_000) for n in range(260)]
    store.put_many(many)
    wanted = [many[(n * 7) % 260] for n in range(250)]
    assert store.get_many([s.ref for s in wanted]) == wanted
    store.delete_many(s.ref for s in many[10:])
    assert [s for s in store.get_many([s.ref for s in many]) if s is not None] == many[:10]
