"""A page of 50 from the middle of an index: what it costs among few records and among many.

The cost is the CPU of both sides: on PostgreSQL the server's process is counted with the client's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from uuid import UUID

from bench.contender import Limit
from bench.measure import Clock, Contest, Effort, Work, contest
from bench.topic import Contests
from penstock import Store, open_store
from penstock.domains.musicvideo.model import DOMAIN, Project, ProjectStatus
from penstock.operations.cursors import encode_cursor
from penstock.runtime.settings import Settings
from tests.servers import Postgres

GROUPS = {"sqlite-pages.page": "client CPU", "postgresql-pages.page": "client + server CPU"}
SMALL, LARGE = "1,000 records", "300,000 records"
BASELINE = SMALL
OWN = (SMALL, LARGE)
LIMITS = tuple(
    Limit(f"{group}: a page of 50 costs the same at 1,000 and at 300,000 records", group, LARGE, SMALL, 1.25)
    for group in GROUPS
)
SIZES = {SMALL: 1_000, LARGE: 300_000}
PAGE = 50
SECRET = "bench"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Fill one store with few records and one with many, then read a page of each in turn."""
    for group in groups:
        with ExitStack() as stack:
            yield group, _contest(group, effort, stack)


def _contest(group: str, effort: Effort, stack: ExitStack) -> Contest:
    directory = Path(stack.enter_context(TemporaryDirectory()))
    server = stack.enter_context(Postgres()) if group.startswith("postgresql") else None
    works: dict[str, Work] = {}
    clocks: dict[str, Clock] = {}
    for position, (name, size) in enumerate(SIZES.items()):
        database = f"sqlite:///{directory}/{size}.db" if server is None else server.create_database(f"b{position}")
        store = open_store(database, settings=Settings(secret=SECRET))
        stack.callback(store.close)
        works[name] = _reader(store, effort.sized(size, least=2 * PAGE + 2))
        clocks[name] = process_time if server is None else both_sides(store)
    return contest(works, effort, clocks=clocks)


def _reader(store: Store, size: int) -> Work:
    store.ensure(DOMAIN)
    store.put_many(_projects(size))
    if hasattr(store.engine, "connector"):
        store.engine.connector.run("analyze", ())
    query = Project.by_status(status=ProjectStatus.PENDING)
    middle = encode_cursor(query, _project(size // 2).__dict__, SECRET.encode())

    def read(times: int) -> None:
        for _ in range(times):
            assert len(store.page(query, limit=PAGE, cursor=middle).records) == PAGE

    return read


def _projects(size: int) -> Iterator[Project]:
    return (_project(number) for number in range(size))


def _project(number: int) -> Project:
    moment = NOW + timedelta(seconds=number)
    return Project(
        project_id=UUID(int=number),
        concept_prompt="Robot exploring Austin, Texas",
        character_description="Silver metallic humanoid robot",
        created_at=moment,
        updated_at=moment,
    )


def both_sides(store: Store) -> Callable[[], float]:
    """CPU seconds of this process and of the server process behind the store's one connection."""
    ((process,),) = store.engine.connector.rows("select pg_backend_pid()", ())  # type: ignore[attr-defined]
    told = Path(f"/proc/{process}/schedstat")

    def clock() -> float:
        return process_time() + int(told.read_text().split()[0]) / 1e9

    return clock
