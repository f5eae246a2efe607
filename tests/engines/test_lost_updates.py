"""Eight processes read, change and save the same record: nothing that any of them has written is lost."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.synchronize import Barrier

from penstock import FrozenClock, Store
from penstock.ports.engine import Engine
from penstock.testing.entities import SUITE, Specimen, specimen
from tests.forked import mortal

PROCESSES, TIMES = 8, 10
HERE = Specimen.at(shelf="top", label="one")


def _write(open_one: Callable[[], Engine], number: int, gate: Barrier) -> None:
    mortal()
    store = Store(open_one())
    gate.wait()
    for turn in range(TIMES):

        def grow(record: Specimen, turn: int = turn) -> None:
            record.seen += 1
            record.notes = [*(record.notes or ()), f"{number}.{turn}"]
            record.extra = {**(record.extra or {}), str(number): turn}
            record.labels = (record.labels or frozenset()) | {f"{number}.{turn}"}

        store.modify(HERE, grow)
    store.close()


def test_eight_processes_that_read_change_and_save_lose_nothing(
    open_engine: Callable[[], Engine], clock: FrozenClock
) -> None:
    store = Store(open_engine(), clock=clock)
    store.engine.ensure(SUITE.shapes)
    store.put(specimen())
    context = multiprocessing.get_context("fork")
    gate = context.Barrier(PROCESSES)
    writers = [context.Process(target=_write, args=(open_engine, n, gate), daemon=True) for n in range(PROCESSES)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * PROCESSES
    found, written = store.get(HERE), frozenset(f"{n}.{turn}" for n in range(PROCESSES) for turn in range(TIMES))
    assert found.seen == PROCESSES * TIMES
    assert (len(found.notes or ()), frozenset(found.notes or ())) == (len(written), written)
    assert found.labels == written
    assert found.extra == {str(n): TIMES - 1 for n in range(PROCESSES)}
