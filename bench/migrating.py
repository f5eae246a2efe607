"""A field gets another name in a million records that stand, beside the same done by hand.

Wall time counts, as whoever migrates waits. By hand a column is added and filled in batches of a thousand rows, each
noted so that it could be gone on with, and compared at the end, as `penstock migrate` does all of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated

from bench.contender import Limit
from bench.measure import Contest, Effort, Round
from bench.topic import Contests
from penstock import Domain, Entity, Formerly, Table, key, open_store
from penstock.evolution.migration import Migration
from penstock.ports.clock import SystemClock

GROUPS = {"sqlite-migrating.rate": "wall time of a record that gets another name for a field"}
HAND, MIGRATE = "batches by hand", "penstock migrate"
BASELINE = HAND
OWN = (MIGRATE,)
LIMITS = tuple(
    Limit(f"{group}: at most twice the time of batches by hand", group, MIGRATE, HAND, 2.0) for group in GROUPS
)
RECORDS, _LEAST, _ROUNDS, _BATCH = 1_000_000, 2_000, 3, 1000


class NamedFilm(Entity, table=Table("BenchNamedFilms", partition="PK", sort="SK"), relation="films"):
    """A film before its author was called a writer."""

    film_id: str
    author: str
    title: str
    views: int

    @key("FILM#{film_id}", "FILM")
    def at(self, *, film_id: str) -> None: ...


OldFilm, BEFORE = NamedFilm, Domain("bench_named", NamedFilm)


class NamedFilm(  # type: ignore[no-redef]
    Entity, table=Table("BenchNamedFilms", partition="PK", sort="SK"), relation="films"
):
    """The same since."""

    film_id: str
    writer: Annotated[str, Formerly("author")]
    title: str
    views: int

    @key("FILM#{film_id}", "FILM")
    def at(self, *, film_id: str) -> None: ...


AFTER = Domain("bench_named", NamedFilm)


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Every round has a file of its own, with the same records."""
    records = effort.sized(RECORDS, least=_LEAST)
    ways = {HAND: partial(_by_hand, records=records), MIGRATE: partial(_migrated, records=records)}
    for group in groups:
        with TemporaryDirectory() as folder:
            left = Path(folder) / "left.db"
            stand(left, records)
            rounds: dict[str, Round] = {
                name: partial(in_a_copy, left, way) for name, way in ways.items() if effort.wants(name)
            }
            yield group, Contest(rounds, _ROUNDS)


def stand(file: Path, records: int) -> None:
    """A file with films as they were."""
    with closing(open_store(f"sqlite:///{file}")) as store:
        store.ensure(BEFORE)
        store.put_many(
            OldFilm(film_id=f"{n:09d}", author=f"author {n % 1000}", title="A film", views=n) for n in range(records)
        )
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")


def in_a_copy(left: Path, way: Callable[[Path], float]) -> float:
    """Microseconds of something that takes seconds, in a copy of the file."""
    there = left.with_name("there.db")
    for name in ("there.db", "there.db-wal", "there.db-shm"):
        left.with_name(name).unlink(missing_ok=True)
    copyfile(left, there)
    return way(there) * 1e6


def _migrated(file: Path, *, records: int) -> float:
    with closing(open_store(f"sqlite:///{file}", clock=_NobodyElse(skew=timedelta(0)))) as store:
        begun = perf_counter()
        store.ensure(AFTER)
        done = Migration(store, NamedFilm.__shape__).run()
        taken = perf_counter() - begun
        assert (done.stage, done.written) == ("complete", records)
        return taken / records


class _NobodyElse(SystemClock):
    """Nobody reads meanwhile, whose lease of 15 seconds would have to end; by hand that is not waited for either."""

    def sleep(self, seconds: float) -> None:
        return


def _by_hand(file: Path, *, records: int) -> float:
    begun = perf_counter()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("pragma synchronous = normal")
        connection.execute("alter table bench_named_films add column writer text")
        connection.execute("create table progress (place text)")
        place: str | None = ""
        while place is not None:
            place = _batch(connection, place)
        wrong = "select count(*) from bench_named_films where writer is not author"
        assert connection.execute(wrong).fetchone() == (0,)
    return (perf_counter() - begun) / records


def _batch(connection: sqlite3.Connection, place: str) -> str | None:
    """Fill the rows behind a place; the next one."""
    behind = "select film_id from bench_named_films where film_id > ? order by film_id limit 1 offset ?"
    found: tuple[str] | None = connection.execute(behind, (place, _BATCH - 1)).fetchone()
    end = found[0] if found else "~"
    connection.execute("begin immediate")
    fill = "update bench_named_films set writer = author where film_id > ? and film_id <= ? and writer is not author"
    connection.execute(fill, (place, end))
    connection.execute("delete from progress")
    connection.execute("insert into progress values (?)", (end,))
    connection.execute("commit")
    return end if found else None
