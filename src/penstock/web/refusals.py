"""Refusals in the audit trail: every one is counted there, but a flood of them does not write a flood of lines.

The first refusal of somebody for a reason is written down at once. Those that follow within a minute are counted, and
their number is written when the minute is over. Of strangers, who can have any number of addresses, so many a minute
have lines of their own; the rest share one. The access log has every single one.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from penstock.errors import PenstockError
from penstock.kernel.audit import EVERYWHERE, SystemAudit, entry
from penstock.kernel.audit_register import enlist
from penstock.kernel.store import Store

log = logging.getLogger("penstock.refusals")

WINDOW = timedelta(minutes=1)
MOST = 50
"Lines of strangers in a minute; further ones share one."
OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Who was refused what, and why."""

    who: str
    project: str
    slug: str
    route: str
    stranger: bool = False
    "Nobody gave them a key, so there may be any number of them."


@dataclass(slots=True)
class _Count:
    since: datetime
    untold: int = 0


class Refusals:
    """Writes refusals down, of one process."""

    def __init__(self, store: Store, *, write: Callable[[Refusal, int], None] | None = None) -> None:
        self._store = store
        self._write = write or self._audit
        self._counts: dict[Refusal, _Count] = {}
        self._lock = threading.Lock()

    def note(
        self, who: str, error: PenstockError, route: str, *, project: str | None = None, stranger: bool = False
    ) -> None:
        """Somebody was refused."""
        refusal = Refusal(who, project or EVERYWHERE, error.slug, route, stranger)
        now = self._store.clock.now()
        with self._lock:
            due = self._ended(now)
            if stranger and refusal not in self._counts and sum(r.stranger for r in self._counts) >= MOST:
                refusal = Refusal(OTHERS, EVERYWHERE, error.slug, OTHERS)
            count = self._counts.get(refusal)
            if count is None:
                self._counts[refusal] = _Count(now)
                due.append((refusal, 1))
            else:
                count.untold += 1
        self._tell(due)

    def flush(self) -> None:
        """Write what was only counted so far, on the way out."""
        with self._lock:
            due = self._ended(datetime.max.replace(tzinfo=self._store.clock.now().tzinfo))
        self._tell(due)

    def _ended(self, now: datetime) -> list[tuple[Refusal, int]]:
        """Forget the counts whose minute is over; those that have something to tell."""
        over = [r for r, c in self._counts.items() if now - c.since >= WINDOW]
        counts = [(refusal, self._counts.pop(refusal).untold) for refusal in over]
        return [(refusal, untold) for refusal, untold in counts if untold]

    def _tell(self, due: list[tuple[Refusal, int]]) -> None:
        for refusal, count in due:
            try:
                self._write(refusal, count)
            except PenstockError:
                # A store that is away must not turn a refusal into something else.
                log.warning("%d refusals of %s (%s) could not be audited", count, refusal.who, refusal.slug)

    def _audit(self, refusal: Refusal, count: int) -> None:
        line = entry(
            SystemAudit,
            project_id=refusal.project,
            ts=self._store.context.ticks.next(),
            actor=refusal.who,
            action=f"refused: {refusal.slug}",
            details={"route": refusal.route, "times": str(count)},
        )
        enlist(self._store, refusal.project)  # as of a change: nobody would seal what is not registered
        self._store.commit([line])
