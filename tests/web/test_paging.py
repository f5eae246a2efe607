"""A page of records is bounded in bytes as well as in number, and all pages together are all records."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from penstock.schema.role import Role
from penstock.web.paging import FIRST, PAGE_BYTES
from tests.web.films import Film
from tests.web.service import Service

LIST = "/api/films/films"


def fill(service: Service, sizes: list[int]) -> None:
    at = service.clock.now()
    for number, size in enumerate(sizes):
        film = Film(project_id="p1", title=f"f{number:04d}", notes={"text": "x" * size}, created_at=at)
        service.store.create(film)


def pages(client: Any, **asked: Any) -> list[Any]:
    found: list[Any] = []
    while True:
        cursor = {"cursor": found[-1].json()["next"]} if found else {}
        found.append(client.get(LIST, params={"pattern": "of_project", "project_id": "p1", **asked, **cursor}))
        assert found[-1].status_code == 200, found[-1].text
        if found[-1].json()["next"] is None:
            return found


@pytest.mark.parametrize("limit", [1, 7, FIRST, 50, 1000])
@pytest.mark.parametrize("project", [None, "p1"])
def test_all_pages_are_all_records_whatever_their_sizes(service: Service, limit: int, project: str | None) -> None:
    sizes = [10, 350_000, 350_000, 350_000, *[10] * 30, 350_000, *[100_000] * 9, *[40_000] * 20, 10, 350_000]
    fill(service, sizes)
    found = pages(service.client(Role.VIEWER, project=project), limit=limit)
    titles = [item["title"] for page in found for item in page.json()["items"]]
    assert titles == [f"f{n:04d}" for n in range(len(sizes))]
    assert all(0 < len(page.json()["items"]) <= limit for page in found)
    assert all(len(page.content) <= PAGE_BYTES + 1000 for page in found)
    if limit >= 50:
        assert len(found) <= 12, "pages are as full as they may be"


def test_one_record_is_always_shown(service: Service) -> None:
    """As JSON it may have more bytes than a page."""
    at = service.clock.now()
    for number in range(3):
        notes = {"text": "\x01" * 300_000}
        service.store.create(Film(project_id="p1", title=f"f{number}", notes=notes, created_at=at))
    found = pages(service.client(Role.VIEWER), limit=50)
    assert [len(page.json()["items"]) for page in found] == [1, 1, 1]


def test_no_more_records_are_in_memory_than_a_page_may_have(service: Service) -> None:
    fill(service, [350_000] * 100)
    viewer = service.client(Role.VIEWER)
    viewer.get(LIST, params={"pattern": "of_project", "project_id": "p1", "limit": 1})
    tracemalloc.start()
    try:
        page = viewer.get(LIST, params={"pattern": "of_project", "project_id": "p1", "limit": 1000})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(page.json()["items"]) == 2
    assert peak < 30_000_000, "35 MB of records were there"


def test_small_records_are_read_in_few_requests(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(service, [10] * 300)
    asked = list[int | None]()
    find = service.store.engine.find

    def noted(query: Any, *, limit: int | None, after: Any, now: Any) -> Any:
        asked.append(limit)
        return find(query, limit=limit, after=after, now=now)

    monkeypatch.setattr(service.store.engine, "find", noted)
    (page,) = pages(service.client(Role.VIEWER), limit=1000)
    assert len(page.json()["items"]) == 300
    assert len([limit for limit in asked if limit is not None]) <= 3


def test_a_page_that_ends_for_its_bytes_goes_on_behind_its_last_record(tmp_path: Path) -> None:
    """Also where a chunk ends just there."""
    for edge in range(FIRST - 2, FIRST + 3):
        folder = tmp_path / str(edge)
        folder.mkdir()
        service = Service(folder)
        fill(service, [PAGE_BYTES // (edge + 1)] * (edge * 2 + 1))
        found = pages(service.client(Role.VIEWER), limit=200)
        titles = [item["title"] for page in found for item in page.json()["items"]]
        assert titles == [f"f{n:04d}" for n in range(edge * 2 + 1)]
