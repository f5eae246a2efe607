"""What auditors look for is found in a long trail as in a short one: piece by piece, and page by page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from penstock import Store
from penstock.kernel import audit_search
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.audit_search import AuditQuestion

P = "550e8400-e29b-41d4-a716-446655440000"
BOB = AuditQuestion(P, actor="bob")


@pytest.fixture
def trail(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Ten lines, of which every fourth is bob's: 0, 4 and 8; three are read at a time."""
    monkeypatch.setattr(audit_search, "_CHUNK", 3)
    for number in range(10):
        actor = "ann" if number % 4 else "bob"
        ts = store.clock.now() + timedelta(seconds=number)
        store.create(SystemAudit(project_id=P, ts=ts, actor=actor, action=str(number), details={}))
    return store


def pages(store: Store, question: AuditQuestion, *, limit: int) -> Iterator[str]:
    """Of each page, the actions of its lines."""
    cursor: str | None = None
    while True:
        page = question.page(store, SystemAudit, limit=limit, cursor=cursor)
        yield " ".join(line.action for line in page.records)
        if page.cursor is None:
            return
        assert page.cursor != cursor, "it goes on"
        cursor = page.cursor


def test_a_page_is_filled_from_as_many_pieces_as_it_takes(trail: Store) -> None:
    assert list(pages(trail, BOB, limit=9)) == ["8 4 0"]


def test_a_page_goes_on_behind_the_one_before(trail: Store) -> None:
    assert list(pages(trail, AuditQuestion(P), limit=4)) == ["9 8 7 6", "5 4 3 2", "1 0"]
    assert list(pages(trail, BOB, limit=2)) == ["8 4", "0"]


def test_where_too_many_would_be_looked_at_a_page_is_short_and_goes_on(
    trail: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_search, "EXAMINED", 2)
    assert list(pages(trail, BOB, limit=9)) == ["8", "4", "", "0"]


def test_an_export_has_each_line_once_in_order(trail: Store) -> None:
    def told(most: int) -> tuple[str, bool]:
        *lines, cursor = BOB.lines(trail, SystemAudit, most=most)
        return " ".join(line.action for line in lines if isinstance(line, AuditLine)), cursor is None

    assert told(9) == ("0 4 8", True)
    assert told(2) == ("0 4", False)


def test_an_export_begins_before_more_is_read_than_is_shown_first(
    trail: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, read = trail.page, []

    def told(*asked: Any, **options: Any) -> Any:
        read.append(page(*asked, **options))
        return read[-1]

    monkeypatch.setattr(trail, "page", told)
    first = next(AuditQuestion(P).lines(trail, SystemAudit, most=9))
    assert isinstance(first, AuditLine)
    assert first.action == "0"
    assert len(read) == 1
