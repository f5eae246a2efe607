"""Writes of one process while another one migrates a million records of the same SQLite file.

The middle one of many writes counts, in wall time: what the machine does besides is not told with it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.contender import Limit
from bench.measure import Contest, Effort, Round
from bench.migrating import AFTER, RECORDS, NamedFilm, OldFilm, in_a_copy, stand
from bench.topic import Contests
from penstock import Store, open_store
from penstock.evolution.migration import Migration

GROUPS = {"sqlite-beside-migration.writes": "wall time of a write"}
USUAL, BESIDE = "with nothing beside it", "beside penstock migrate"
BASELINE = USUAL
OWN = (BESIDE,)
LIMITS = tuple(Limit(f"{group}: at most 1.5 of their usual time", group, BESIDE, USUAL, 1.5) for group in GROUPS)
_LEAST, _ROUNDS, _WRITES = 20_000, 5, 1000


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Every round has a file of its own, with the same records."""
    ways: dict[str, Callable[[Path], float]] = {USUAL: _written, BESIDE: _written_beside}
    for group in groups:
        with TemporaryDirectory() as folder:
            left = Path(folder) / "left.db"
            stand(left, effort.sized(RECORDS, least=_LEAST))
            rounds: dict[str, Round] = {
                name: partial(in_a_copy, left, way) for name, way in ways.items() if effort.wants(name)
            }
            yield group, Contest(rounds, _ROUNDS)


def _written(file: Path) -> float:
    """Seconds of a write, the one in the middle."""
    with closing(open_store(f"sqlite:///{file}")) as store:
        return median(_write(store, number) for number in range(_WRITES))


def _write(store: Store, number: int) -> float:
    begun = perf_counter()
    store.put(OldFilm(film_id=f"new {number:09d}", author="ann", title="A film", views=number))
    return perf_counter() - begun


def _written_beside(file: Path) -> float:
    with _migrating(file):
        return _written(file)


@contextmanager
def _migrating(file: Path) -> Iterator[None]:
    """A process that migrates, from now on."""
    command = [sys.executable, "-m", "bench.beside_migration", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("filling")
            yield
        finally:
            process.kill()


def _migrate(file: str) -> None:
    with closing(open_store(f"sqlite:///{file}")) as store:
        store.ensure(AFTER)
        Migration(store, NamedFilm.__shape__, tell=lambda told: print(f"{told.stage}\n", end="", flush=True)).run()


if __name__ == "__main__":
    _migrate(sys.argv[1])
