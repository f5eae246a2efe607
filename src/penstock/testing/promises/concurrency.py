"""Writers at the same moment: nothing is lost, and a race has one winner."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier
from typing import TypeVar

from penstock import Store, the
from penstock.errors import Conflict
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Missing
from penstock.operations.writes import Write
from penstock.testing.entities import MOMENT, Counter, Specimen, Ticket, specimen
from penstock.testing.promises.promise import Promise

T = TypeVar("T")
THREADS = 8


def at_once(action: Callable[[int], T]) -> list[T]:
    """What an action returns in each of some threads that start together."""
    barrier = Barrier(THREADS)

    def run(number: int) -> T:
        barrier.wait()
        return action(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


class Concurrency(Promise):
    """Threads that share one engine."""

    def test_no_increment_is_lost(self, store: Store) -> None:
        store.put(Counter(name="c"))

        def increment(_: int) -> None:
            for _ in range(10):
                store.patch(Counter.at(name="c"), the(Counter.total).add(1))

        at_once(increment)
        assert store.get(Counter.at(name="c")).total == THREADS * 10

    def test_a_counter_that_need_not_be_exact_tells_everyone_another_number(self, store: Store) -> None:
        store.put(Counter(name="c"))
        grown = the(Counter.total).add(1)

        def increment(_: int) -> list[int]:
            return [store.patch(Counter.at(name="c"), grown, exact=False).total for _ in range(10)]

        seen = [n for numbers in at_once(increment) for n in numbers]
        assert sorted(seen) == list(range(1, THREADS * 10 + 1))

    def test_one_of_several_creates_wins(self, store: Store) -> None:
        def create(number: int) -> bool:
            try:
                store.create(specimen(label="prize", count=number))
            except Conflict as lost:
                return lost.found is None
            return True

        won = at_once(create)
        assert won.count(True) == 1
        assert store.get(Specimen.at(shelf="top", label="prize")).count == won.index(True)

    def test_one_of_several_commits_wins(self, store: Store) -> None:
        store.put(Counter(name="c"))

        def commit(number: int) -> bool:
            writes: list[Write] = [
                put(specimen(label="prize", count=number), when=Missing()),
                patch(Counter.at(name="c"), the(Counter.total).add(1)),
            ]
            try:
                store.commit(writes)
            except Conflict:
                return False
            return True

        assert at_once(commit).count(True) == 1
        assert store.get(Counter.at(name="c")).total == 1

    def test_no_increment_within_commits_is_lost(self, store: Store) -> None:
        store.put_many([Counter(name="left", total=100), Counter(name="right", total=100)])

        def transfer(number: int) -> None:
            for turn in range(3):
                writes: list[Write] = [
                    patch(Counter.at(name="left"), the(Counter.total).add(-1)),
                    patch(Counter.at(name="right"), the(Counter.total).add(1)),
                    put(specimen(label=f"{number}-{turn}"), when=Missing()),
                ]
                # Half of the threads take the two in the other order.
                store.commit(writes if number % 2 else writes[::-1])

        at_once(transfer)
        left, right = store.get_many([Counter.at(name="left"), Counter.at(name="right")])
        assert (left and left.total, right and right.total) == (100 - THREADS * 3, 100 + THREADS * 3)
        assert len(list(store.find(Specimen.by_shelf(shelf="top")))) == THREADS * 3

    def test_writers_of_the_same_records_in_any_order_are_not_refused(self, store: Store) -> None:
        """Whoever meets another waits for its turn; only a condition refuses a write."""
        names = [f"{n:02d}" for n in range(12)]
        store.put_many([Counter(name=name) for name in names])

        def write(number: int) -> None:
            chance = Random(number)
            for _ in range(3):
                store.commit([patch(Counter.at(name=n), the(Counter.total).add(1)) for n in chance.sample(names, 9)])
                store.put_many([specimen(label=name, count=number) for name in chance.sample(names, 12)])

        at_once(write)
        assert sum(c.total for c in store.get_many([Counter.at(name=n) for n in names]) if c) == THREADS * 3 * 9
        assert len(list(store.find(Specimen.by_shelf(shelf="top")))) == 12

    def test_one_of_several_moves_wins(self, store: Store) -> None:
        store.put(Ticket(queue="q", ticket_id="1", created_at=MOMENT))

        def finish(number: int) -> bool:
            try:
                with store.change() as change:
                    ticket = change.get(Ticket.at(queue="q", ticket_id="1"))
                    if ticket.outcome is not None:
                        return False
                    change.save(ticket.finish(outcome=str(number)))
            except Conflict:
                return False
            return True

        won = at_once(finish)
        assert won.count(True) == 1
        assert store.get(Ticket.at(queue="q", ticket_id="1")).outcome == str(won.index(True))
