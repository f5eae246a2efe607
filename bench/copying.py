"""A store of a million records that moves to another database, beside a load that somebody has written by hand.

Wall time counts, as whoever moves waits. The load by hand reads rows and writes them, a thousand in a transaction, and
compares nothing; the copy also follows what is written meanwhile, and compares every record at the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from uuid import UUID

import psycopg

from bench.contender import Limit
from bench.databases import Databases
from bench.measure import Contest, Effort, Round
from bench.topic import Contests
from penstock import Domain, Entity, IndexKey, Store, Table, key, open_store
from penstock.declare.units import UtcMicros
from penstock.runtime.composition import embedded_file
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.transfer.live_copy import LiveCopy
from penstock.transfer.transfer_selection import select

GROUPS = {
    "sqlite-copying.rate": "wall time of a record, to another file",
    "postgresql-copying.rate": "wall time of a record, from a file",
}
HAND, COPY = "a load by hand", "penstock copy"
BASELINE = HAND
OWN = (COPY,)
LIMITS = tuple(Limit(f"{group}: at least half the rate of a load by hand", group, COPY, HAND, 2.0) for group in GROUPS)
RECORDS, _LEAST, _ROUNDS, _PAGE = 1_000_000, 500, 3, 1000
_FILMS = Table("BenchMovedFilms", partition="PK", sort="SK")
_BY_USER = _FILMS.index("GSI1", partition="GSI1PK", sort="GSI1SK")
_COLUMNS = "film_id, user_id, title, status, views, created_at, notes"


class MovedFilm(Entity, table=_FILMS, relation="films"):
    """A record as most are: an id, an index, some texts, a number, a moment and a small document."""

    film_id: UUID
    user_id: str
    title: str
    status: str
    views: int
    created_at: UtcMicros
    notes: dict[str, str]

    @key("FILM#{film_id}", "FILM")
    def at(self, *, film_id: UUID) -> None: ...

    by_user = IndexKey(_BY_USER, "USER#{user_id}", "{created_at}")


DOMAIN = Domain("bench_moved", MovedFilm)


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One file that is left for all; a new database for each round."""
    records = effort.sized(RECORDS, least=_LEAST)
    for group in groups:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            source = open_store(f"sqlite:///{folder}/left.db")
            stack.callback(source.close)
            source.ensure(DOMAIN)
            source.put_many(_films(records))
            databases = Databases(group, stack, as_shipped=True)
            ways: dict[str, Callable[[str], float]] = {
                HAND: partial(_by_hand, folder / "left.db"),
                COPY: partial(_copied, source),
            }
            rounds: dict[str, Round] = {
                name: partial(_measured, databases, way, records) for name, way in ways.items() if effort.wants(name)
            }
            yield group, Contest(rounds, _ROUNDS)


def _films(number: int) -> Iterator[MovedFilm]:
    now = datetime.now(UTC)
    for each in range(number):
        yield MovedFilm(
            film_id=UUID(int=(each << 64) + each * 2654435761 % 2**64),
            user_id=f"user {each % 1000}",
            title=f"A film whose title has some words, number {each}",
            status="new",
            views=each,
            created_at=now,
            notes={"said": "some words about it, and what somebody thought of them", "by": "ann"},
        )


def _measured(databases: Databases, way: Callable[[str], float], records: int) -> float:
    """Microseconds of a record, into a new database with the same tables and indexes."""
    url = databases.new_url()
    with closing(open_store(url)) as store:
        store.ensure(DOMAIN)
    return way(url) / records * 1e6


def _copied(source: Store, url: str) -> float:
    with closing(open_store(url)) as target:
        selection = select([DOMAIN], [SYSTEM_RECORDS])
        copy = LiveCopy(source, target, selection, origin="left", goal=url)
        begun = perf_counter()
        copy.run()
        taken = perf_counter() - begun
        copy.abandon()  # so that the next round finds it as this one did
        return taken


def _by_hand(left: Path, url: str) -> float:
    begun = perf_counter()
    with closing(sqlite3.connect(left)) as connection:
        rows = connection.execute(f"select {_COLUMNS} from bench_moved_films")
        pages = iter(lambda: rows.fetchmany(_PAGE), [])
        (_into_file if url.startswith("sqlite") else _into_postgres)(url, pages)
    return perf_counter() - begun


def _into_file(url: str, pages: Iterator[list[tuple[object, ...]]]) -> None:
    with closing(sqlite3.connect(embedded_file(url), isolation_level=None)) as target:
        target.execute("pragma synchronous = normal")
        for page in pages:
            target.execute("begin")
            target.executemany(f"insert into bench_moved_films ({_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)", page)
            target.execute("commit")


def _into_postgres(url: str, pages: Iterator[list[tuple[object, ...]]]) -> None:
    text = f"insert into bench_moved.films ({_COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s)"
    with psycopg.connect(url, autocommit=True) as target:
        for page in pages:
            with target.transaction(), target.cursor() as cursor:
                cursor.executemany(text, page)
