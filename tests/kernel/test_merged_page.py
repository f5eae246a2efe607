"""Several patterns are one list: in one order, each record once, however the pages fall."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock import FrozenClock, Store
from penstock.errors import InvalidCursor
from penstock.kernel.merged_page import merged_page
from penstock.operations.conditions import Compare
from penstock.work.job import JobStatus, PipelineJob
from penstock.work.working import WORKING

QUERIES = [PipelineJob.by_status(status=s).reversed() for s in JobStatus]


def fill(store: Store, clock: FrozenClock, number: int) -> list[str]:
    store.ensure(WORKING)
    for n in range(number):
        now = clock.now() + timedelta(seconds=n // 3)  # some at one moment
        store.put(
            PipelineJob(
                job_id=f"{n:03d}",
                pipeline="a.b" if n % 4 else "c.d",
                input={},
                status=list(JobStatus)[n % 5],
                created_at=now,
                updated_at=now,
            )
        )
    return [f"{n:03d}" for n in range(number)]


@pytest.mark.parametrize("limit", [1, 4, 7, 50])
def test_all_pages_are_all_records_once_and_in_order(store: Store, clock: FrozenClock, limit: int) -> None:
    known = fill(store, clock, 40)
    seen: list[PipelineJob] = []
    cursor = None
    while True:
        page = merged_page(store, QUERIES, order=lambda j: j.updated_at, limit=limit, cursor=cursor)
        assert len(page.records) <= limit
        seen += page.records
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(j.job_id for j in seen) == known
    moments = [j.updated_at for j in seen]
    assert moments == sorted(moments, reverse=True)


def test_a_filtered_list_may_have_short_pages_and_comes_to_its_end(store: Store, clock: FrozenClock) -> None:
    fill(store, clock, 40)
    asked = [q.where(Compare("pipeline", "=", "c.d")) for q in QUERIES]
    seen: list[str] = []
    cursor, pages = None, 0
    while True:
        page = merged_page(store, asked, order=lambda j: j.updated_at, limit=50, cursor=cursor, examining=3)
        seen += [j.job_id for j in page.records]
        cursor, pages = page.cursor, pages + 1
        if cursor is None:
            break
    assert sorted(seen) == [f"{n:03d}" for n in range(0, 40, 4)]
    assert pages > 1


@pytest.mark.parametrize("cursor", ["", "x", "bm9uZQ", "W251bGxd", "WyItIl0"])
def test_a_cursor_of_another_list_is_refused(store: Store, clock: FrozenClock, cursor: str) -> None:
    store.ensure(WORKING)
    with pytest.raises(InvalidCursor):
        merged_page(store, QUERIES, order=lambda j: j.updated_at, limit=5, cursor=cursor)
