"""One store with few records and one with many: the same work on each, in turn.

The cost is the CPU of both sides: on PostgreSQL the server's process is counted with the client's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from time import process_time

from bench.databases import Databases
from bench.measure import Clock, Contest, Effort, Work, contest
from bench.topic import Contests
from penstock import Store, open_store
from penstock.runtime.settings import Settings

SECRET = "bench"


def contests_by_size(
    groups: Sequence[str],
    effort: Effort,
    sizes: Mapping[str, int],
    fill: Callable[[Store, int], Work],
    *,
    least: int,
) -> Contests:
    """For each group a contest between stores of these sizes; ``fill`` gives a store its records and tells the work."""
    for group in groups:
        with ExitStack() as stack:
            sized = {name: effort.sized(size, least=least) for name, size in sizes.items()}
            yield group, _contest(group, effort, sized, fill, stack)


def contests_of_questions(
    groups: Sequence[str],
    effort: Effort,
    sizes: Mapping[str, int],
    fill: Callable[[Store, int], None],
    asking: Callable[[Store, str], Work],
    *,
    least: int,
) -> Contests:
    """The same where the groups of a product ask several things of the same stores; ``asking`` tells which work."""
    for product, asked in groupby(groups, key=lambda group: group.partition(".")[0]):
        with ExitStack() as stack:
            databases = Databases(product, stack)
            stores = {name: _opened(databases, stack) for name in sizes}
            for name, store in stores.items():
                fill(store, effort.sized(sizes[name], least=least))
                store.engine.connector.run("analyze", ())  # type: ignore[attr-defined]
            clocks = {n: process_time if databases.are_files else both_sides(s) for n, s in stores.items()}
            for group in asked:
                works = {name: asking(store, group.partition(".")[2]) for name, store in stores.items()}
                yield group, contest(works, effort, clocks=clocks)


def _opened(databases: Databases, stack: ExitStack) -> Store:
    store = open_store(databases.new_url(), settings=Settings(secret=SECRET))
    stack.callback(store.close)
    return store


def _contest(
    group: str, effort: Effort, sizes: Mapping[str, int], fill: Callable[[Store, int], Work], stack: ExitStack
) -> Contest:
    databases = Databases(group, stack)
    works: dict[str, Work] = {}
    clocks: dict[str, Clock] = {}
    for name, size in sizes.items():
        store = _opened(databases, stack)
        works[name] = fill(store, size)
        clocks[name] = process_time if databases.are_files else both_sides(store)
    return contest(works, effort, clocks=clocks)


def both_sides(store: Store) -> Clock:
    """CPU seconds of this process and of the server process behind the store's one connection."""
    ((process,),) = store.engine.connector.rows("select pg_backend_pid()", ())  # type: ignore[attr-defined]
    told = Path(f"/proc/{process}/schedstat")

    def clock() -> float:
        return process_time() + int(told.read_text().split()[0]) / 1e9

    return clock
