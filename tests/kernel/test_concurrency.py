"""Eight writers, each with its own engine on the same store, as processes have: nothing is lost, one wins."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock import FrozenClock, Store, the
from penstock.errors import Conflict
from penstock.kernel.change import Change
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Missing
from penstock.operations.writes import Write
from penstock.ports.engine import Engine
from penstock.testing.entities import MOMENT, SUITE, Counter, Specimen, Status, Ticket, specimen
from penstock.testing.promises.concurrency import THREADS, at_once

ROUNDS = 5


@pytest.fixture
def stores(open_engine: Callable[[], Engine], clock: FrozenClock) -> list[Store]:
    engines = [open_engine() for _ in range(THREADS)]
    engines[0].ensure(SUITE.shapes)
    return [Store(engine, clock=clock) for engine in engines]


def test_eight_writers_of_one_counter_lose_nothing(stores: list[Store]) -> None:
    stores[0].put(Counter(name="c"))

    def count(number: int) -> None:
        for _ in range(10):
            stores[number].patch(Counter.at(name="c"), the(Counter.total).add(1))

    at_once(count)
    assert stores[0].get(Counter.at(name="c")).total == THREADS * 10


def test_one_of_eight_creates_wins(stores: list[Store]) -> None:
    for turn in range(ROUNDS):

        def create(number: int, turn: int = turn) -> bool:
            try:
                stores[number].create(specimen(label=f"prize {turn}", count=number))
            except Conflict:
                return False
            return True

        won = at_once(create)
        assert won.count(True) == 1
        assert stores[0].get(Specimen.at(shelf="top", label=f"prize {turn}")).count == won.index(True)


def test_one_of_eight_commits_wins_and_leaves_all_of_itself(stores: list[Store]) -> None:
    stores[0].put(Counter(name="c"))
    for turn in range(ROUNDS):

        def commit(number: int, turn: int = turn) -> bool:
            writes: list[Write] = [
                put(specimen(label=f"prize {turn}", count=number), when=Missing()),
                patch(Counter.at(name="c"), the(Counter.total).add(1)),
                put(specimen(shelf="by writer", label=f"{turn} {number}")),
            ]
            try:
                stores[number].commit(writes)
            except Conflict as conflict:
                return conflict.position != 0
            return True

        assert at_once(commit).count(True) == 1
    assert stores[0].get(Counter.at(name="c")).total == ROUNDS
    assert len(list(stores[0].find(Specimen.by_shelf(shelf="by writer")))) == ROUNDS


def test_every_record_is_moved_by_one_of_eight(stores: list[Store]) -> None:
    """F-X-3: a queue of work; the index finds, the conditional write decides, whatever all of them have seen."""
    stores[0].put_many([Ticket(queue="q", ticket_id=f"{n:02d}", created_at=MOMENT, priority=n) for n in range(12)])

    def look(number: int) -> list[tuple[Change, Ticket]]:
        changes = [(stores[number].change(), found.ref) for found in stores[number].find(Ticket.by_priority(queue="q"))]
        return [(change, change.get(ref)) for change, ref in changes]

    seen = at_once(look)
    assert {ticket.status for each in seen for _, ticket in each} == {Status.NEW}

    def work(number: int) -> list[str]:
        done = []
        for change, mine in seen[number]:
            try:
                with change:
                    change.save(mine.start())
            except Conflict:
                continue
            done.append(mine.ticket_id)
        return done

    done = sorted(ticket for tickets in at_once(work) for ticket in tickets)
    assert done == [f"{n:02d}" for n in range(12)]
    assert list(stores[0].find(Ticket.by_status(status=Status.NEW))) == []
