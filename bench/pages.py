"""A page of 50 from the middle of an index: what it costs among few records and among many (see `sizes`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from bench.contender import Limit
from bench.measure import Effort, Work
from bench.sizes import SECRET, contests_by_size
from bench.topic import Contests
from penstock import Store
from penstock.domains.musicvideo.model import DOMAIN, Project, ProjectStatus
from penstock.operations.cursors import encode_cursor

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
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Fill one store with few records and one with many, then read a page of each in turn."""
    return contests_by_size(groups, effort, SIZES, _reader, least=2 * PAGE + 2)


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
