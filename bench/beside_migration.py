"""Writes of one process while another one migrates a million records of the same SQLite file.

They follow each other without a pause, and wall time counts: of the middle one of many, which what the machine does
besides hardly touches; of all of them; and of the one that only one of a hundred is slower than.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean, median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.contender import Limit
from bench.measure import Contest, Effort, Round
from bench.migrating import AFTER, RECORDS, NamedFilm, OldFilm, in_a_copy, stand
from bench.topic import Contests
from penstock import Store, open_store
from penstock.evolution.migration import Migration

GROUPS = {
    "sqlite-beside-migration.writes": "wall time of a write",
    "sqlite-beside-migration.mean": "wall time of a write",
    "sqlite-beside-migration.p99": "wall time of a write",
}
USUAL, BESIDE = "with nothing beside it", "beside penstock migrate"
BASELINE = USUAL
OWN = (BESIDE,)
LIMITS = tuple(
    Limit(
        f"sqlite-beside-migration.{name}: at most 1.5 of their usual time",
        f"sqlite-beside-migration.{name}",
        BESIDE,
        USUAL,
        1.5,
    )
    for name in ("writes", "mean")
)
_LEAST, _ROUNDS, _WRITES = 20_000, 5, 5000
_Told = Callable[[Sequence[float]], float]
_TOLD: dict[str, _Told] = {"writes": median, "mean": fmean, "p99": lambda seconds: quantiles(seconds, n=100)[98]}


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Every round has a file of its own, with the same records."""
    ways: dict[str, Callable[..., float]] = {USUAL: _written, BESIDE: _written_beside}
    with TemporaryDirectory() as folder:
        left = Path(folder) / "left.db"
        stand(left, effort.sized(RECORDS, least=_LEAST))
        for group in groups:
            told = _TOLD[group.partition(".")[2]]
            rounds: dict[str, Round] = {
                name: partial(in_a_copy, left, partial(way, told)) for name, way in ways.items() if effort.wants(name)
            }
            yield group, Contest(rounds, _ROUNDS)


def _written(told: _Told, file: Path) -> float:
    """Seconds of a write, as they are told."""
    with closing(open_store(f"sqlite:///{file}")) as store:
        return told([_write(store, number) for number in range(_WRITES)])


def _write(store: Store, number: int) -> float:
    begun = perf_counter()
    store.put(OldFilm(film_id=f"new {number:09d}", author="ann", title="A film", views=number))
    return perf_counter() - begun


def _written_beside(told: _Told, file: Path) -> float:
    with _migrating(file):
        return _written(told, file)


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
