"""One store with few records and one with many: the same work on each, in turn.

The cost is the CPU of both sides: on PostgreSQL the server's process is counted with the client's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from bench.measure import Clock, Contest, Effort, Work, contest
from bench.topic import Contests
from penstock import Store, open_store
from penstock.runtime.settings import Settings
from tests.servers import Postgres

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
            server = stack.enter_context(Postgres()) if group.startswith("postgresql") else None
            sized = {name: effort.sized(size, least=least) for name, size in sizes.items()}
            yield group, _contest(server, effort, sized, fill, stack)


def _contest(
    server: Postgres | None,
    effort: Effort,
    sizes: Mapping[str, int],
    fill: Callable[[Store, int], Work],
    stack: ExitStack,
) -> Contest:
    directory = Path(stack.enter_context(TemporaryDirectory()))
    works: dict[str, Work] = {}
    clocks: dict[str, Clock] = {}
    for position, (name, size) in enumerate(sizes.items()):
        database = f"sqlite:///{directory}/{position}.db" if server is None else server.create_database(f"b{position}")
        store = open_store(database, settings=Settings(secret=SECRET))
        stack.callback(store.close)
        works[name] = fill(store, size)
        clocks[name] = process_time if server is None else _both_sides(store)
    return contest(works, effort, clocks=clocks)


def _both_sides(store: Store) -> Clock:
    """CPU seconds of this process and of the server process behind the store's one connection."""
    ((process,),) = store.engine.connector.rows("select pg_backend_pid()", ())  # type: ignore[attr-defined]
    told = Path(f"/proc/{process}/schedstat")

    def clock() -> float:
        return process_time() + int(told.read_text().split()[0]) / 1e9

    return clock
