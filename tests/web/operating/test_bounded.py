"""No answer takes more of the store because there is more in it: requests to the engine are counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.role import Role
from penstock.work.job import JobStatus, PipelineJob
from penstock.work.task import QueueHint
from tests.web.operating.test_bulk import bury
from tests.web.operating.workshop import POTTERY, Pot, PotStatus, Workshop, told

PATHS = (
    "/api/work/inbox",
    "/api/work/jobs?limit=20",
    "/api/work/jobs?limit=20&name=pottery",
    "/api/work/jobs?limit=20&project=p1&name=pottery",
    "/api/work/queues?limit=5",
    "/api/work/leases",
    "/api/work/workers",
    "/api/ops/audit?project=p1&limit=20",
    "/api/ops/audit?project=p1&limit=20&actor=nobody",
    "/api/ops/keys?limit=20",
    "/api/ops/bulk",
)


class CountedEngine:
    """An engine that counts what it is asked, and how many records it gives."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.asked: Counter[str] = Counter()

    def find(self, query: Any, **more: Any) -> Any:
        page = self._engine.find(query, **more)
        self.asked["requests"] += 1
        self.asked["records"] += len(page.records)
        return page

    def get(self, refs: Any, **more: Any) -> Any:
        self.asked["requests"] += 1
        self.asked["records"] += len(refs)
        return self._engine.get(refs, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


@pytest.fixture
def counted(anywhere: Store, clock: FrozenClock, tmp_path: Path) -> tuple[Workshop, CountedEngine]:
    engine = CountedEngine(anywhere.engine)
    store = Store(engine, clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    return Workshop(tmp_path, store=store), engine


def fill(shop: Workshop, number: int, prefix: str) -> None:
    """As much of everything as is said."""
    now = shop.store.clock.now()
    bury(shop, number, f"{prefix}p1")
    shop.store.put_many(
        Pot(project_id="p1", name=f"{prefix}{n}", made_at=now, status=PotStatus.CRACKED) for n in range(number)
    )
    shop.store.put_many(
        PipelineJob(
            job_id=f"{prefix}{n:06d}",
            pipeline="workshop.pottery",
            project_id="p1",
            input={},
            status=JobStatus.PAUSED,
            steps=["form", "glaze"],
            created_at=now,
            updated_at=now,
        )
        for n in range(number)
    )
    shop.store.put_many(
        QueueHint(project_id=f"{prefix}{n}", name="workshop.bake", touched_at=now) for n in range(number)
    )
    for n in range(number // 10):
        shop.tick(seconds=1)
        with shop.store.change(by="ann") as change:
            change.create(Pot(project_id="p1", name=f"{prefix}audited{n}", made_at=now))


def test_what_an_answer_takes_does_not_grow_with_what_there_is(counted: tuple[Workshop, CountedEngine]) -> None:
    shop, engine = counted
    admin = shop.client(Role.ADMIN)

    def costs() -> dict[str, Counter[str]]:
        found = {}
        for path in PATHS:
            engine.asked = Counter()
            answer = told(admin.get(path))
            assert len(str(answer)) < 200_000
            found[path] = engine.asked
        return found

    fill(shop, 300, "a")
    few = costs()
    fill(shop, 1500, "b")
    many = costs()
    for path in PATHS:
        assert many[path]["requests"] <= few[path]["requests"] + 12, (path, few[path], many[path])
        assert many[path]["records"] <= max(few[path]["records"], 2200), (path, few[path], many[path])


def test_a_jobs_page_takes_the_same_of_a_long_job_as_of_a_short_one(counted: tuple[Workshop, CountedEngine]) -> None:
    shop, engine = counted
    job = shop.job()
    editor = shop.client(Role.EDITOR)

    def costs(rounds: int, begin: int) -> Counter[str]:
        for number in range(begin, begin + rounds):
            shop.workers.drain()
            shop.tick(seconds=1)
            POTTERY.reject(shop.store, job, round=number, by="bob")
        engine.asked = Counter()
        for part in ("", "/timeline?limit=10", "/why"):
            told(editor.get(f"/api/work/jobs/{job}{part}"))
        return engine.asked

    few = costs(15, 1)
    many = costs(45, 16)
    assert many["requests"] <= few["requests"] + 6, (few, many)
    assert many["records"] <= few["records"] * 2 + 300, (few, many)
