"""Audit lines as auditors look for them: by who, what, which record and when, newest first.

A trail has one order, by time. Whatever else is asked for is looked for within it, a bounded number of lines at a time:
a page may be short, and its cursor goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from penstock.kernel.audit import AuditLine
from penstock.kernel.history_trace import told_records
from penstock.kernel.store import Listing, Store
from penstock.operations.reads import ANYTHING, Range

EXAMINED = 2000
"So many lines are looked at for one page."
_CHUNK = 200


@dataclass(frozen=True, slots=True)
class AuditQuestion:
    """Which lines of a project's trail are meant."""

    project: str
    actor: str | None = None
    "How the name of whoever did it begins."
    action: str | None = None
    "How the action begins."
    record: str | None = None
    "The name of a record that it was done to, or how that begins."
    ts: Range[datetime] = ANYTHING

    def fits(self, line: AuditLine) -> bool:
        """Is the line one of them?"""
        if self.actor is not None and not line.actor.startswith(self.actor):
            return False
        if self.action is not None and not line.action.startswith(self.action):
            return False
        return self.record is None or any(name.startswith(self.record) for name, _ in told_records(line))

    def page(
        self, store: Store, trail: Any, *, limit: int, cursor: str | None = None, newest_first: bool = True
    ) -> Listing[AuditLine]:
        """Some of the lines, and the cursor of the next."""
        query = trail.of_project(project_id=self.project, ts=self.ts)
        query = query.reversed() if newest_first else query
        found: list[AuditLine] = []
        examined = 0
        while examined < EXAMINED:
            some = store.page(query, limit=min(_CHUNK, max(limit, 50)), cursor=cursor)
            for line in some.records:
                examined += 1
                if self.fits(line):
                    found.append(line)
                if len(found) == limit and (line is not some.records[-1] or some.cursor is not None):
                    return Listing(found, store.cursor(query, line), some.unreadable, examined)
            cursor = some.cursor
            if cursor is None:
                break
        return Listing(found, cursor, examined=examined)

    def lines(self, store: Store, trail: Any, *, most: int) -> Iterator[AuditLine | str | None]:
        """The lines in order, at most so many; then the cursor behind them, None if there are no more."""
        cursor: str | None = None
        left = most
        while left > 0:
            page = self.page(store, trail, limit=min(left, _CHUNK), cursor=cursor, newest_first=False)
            yield from page.records
            left, cursor = left - len(page.records), page.cursor
            if cursor is None:
                break
        yield cursor
