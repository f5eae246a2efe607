"""The store: typed reads and writes of records, on whichever engine is beneath."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import InvalidValue
from penstock.kernel.batch import Batch
from penstock.kernel.change import Change
from penstock.kernel.handle import StoreHandle
from penstock.kernel.history import HistoryPage, HistorySource, read_history
from penstock.kernel.idempotency import Claim, once_key
from penstock.kernel.lease import Lease
from penstock.kernel.line_history import LineHistory
from penstock.kernel.own_records import KERNEL
from penstock.kernel.scope import ScopedEngine, project_text, scoped_secret
from penstock.kernel.store_context import StoreContext
from penstock.operations.cursors import decode_cursor, encode_cursor
from penstock.operations.plan import PlanStep
from penstock.operations.reads import ANYTHING, Query, Range, Ref
from penstock.ports.clock import Clock, SystemClock
from penstock.ports.engine import Engine

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True)
class Listing(Generic[E]):
    """A page of records, and the cursor of the next one (None when this is the last)."""

    records: list[E]
    cursor: str | None


class Store(StoreHandle):
    """Reads and writes records. One handle may be shared by threads.

    ``own`` is what the system keeps for itself: the kernel needs its own records, and whoever has more brings all. A
    handle of a single project has the ``shared`` context of its store, and with it the clock.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock | None = None,
        secret: bytes | None = None,
        own: Domain = KERNEL,
        shared: StoreContext | None = None,
        project: str | None = None,
    ) -> None:
        super().__init__(engine, shared or StoreContext(clock or SystemClock()), project=project)
        self.own = own
        # Without a configured secret cursors end with the process, which is safe and soon noticed.
        self._secret = secret or os.urandom(32)

    def scoped(self, project: str | UUID, *, enforce: bool = True) -> Store:
        """A handle that sees and changes one project only; `penstock.kernel.scope` has the rules.

        Where the database itself can bind a session to a project it does, and Misconfigured says what is missing for
        it; ``enforce=False`` does without.
        """
        name = project_text(project)
        if name == self.project:
            return self
        engine = self.engine.bound(name) if enforce or self.project else self.engine
        secret = scoped_secret(self._secret, name)
        return Store(ScopedEngine(engine, name), secret=secret, own=self.own, shared=self.context, project=name)

    def mark(self, *parts: str) -> str:
        """Tells apart what must not be kept in clear, such as addresses, which are so few that a bare hash is guessed.

        The same for all processes that share a secret.
        """
        return hmac.new(self._secret, once_key("mark", *parts).encode(), hashlib.sha256).hexdigest()

    def ensure(self, *domains: Domain, dry_run: bool = False) -> list[PlanStep]:
        """Create what the system itself and the domains need and the store lacks; nothing is ever dropped."""
        steps: list[PlanStep] = []
        for domain in (self.own, *domains):
            steps += self.engine.ensure(domain.shapes, views=domain.view_shapes, dry_run=dry_run)
        # What several domains need is planned for each, but would be created once.
        return list(dict.fromkeys(steps))

    # Pages

    def page(self, query: Query[E], *, limit: int = 50, cursor: str | None = None) -> Listing[E]:
        """One page of a pattern, and the cursor of the next."""
        if not 1 <= limit <= 1000:
            raise InvalidValue(f"a page has 1 to 1000 records, not {limit}")
        place = decode_cursor(query, cursor, self._secret) if cursor else None
        page = self.engine.find(query, limit=limit, after=place, now=self.clock.now())
        after = encode_cursor(query, page.records[-1].__dict__, self._secret) if page.more else None
        return Listing(page.records, after)

    def cursor(self, query: Query[E], record: E) -> str:
        """The cursor behind a record of a query, for a page that ends with it."""
        return encode_cursor(query, record.__dict__, self._secret)

    def history(
        self,
        ref: Ref[Any],
        *,
        ts: Range[datetime] = ANYTHING,
        oldest_first: bool = False,
        detailed: bool = False,
        beside: Sequence[HistorySource] = (),
        limit: int = 50,
        cursor: str | None = None,
    ) -> HistoryPage:
        """What was done to a record by changes that say who makes them (``by=``), newest first, a page at a time.

        That of a record that is gone can be asked for as well. ``beside`` are further sources, as work has one for
        tasks (`TASK_HISTORY`); ``detailed`` entries also tell how their messages stand, and which attempts tasks had.
        """
        return read_history(
            self,
            ref,
            (LineHistory(), *beside),
            secret=self._secret,
            ts=ts,
            oldest_first=oldest_first,
            detailed=detailed,
            limit=limit,
            cursor=cursor,
        )

    # Changes

    def change(
        self,
        *,
        by: str | None = None,
        why: str | None = None,
        project: str | None = None,
        under: Lease | None = None,
        once: Claim | None = None,
    ) -> Change:
        """Several reads and writes that commit together, with their audit line and their messages."""
        return Change(self, by=by, why=why, project=project, under=under, once=once)

    def batch(self) -> Batch:
        """Several changes that do not depend on each other, committed together because that is faster."""
        return Batch(self.change, self.commit)

    def close(self) -> None:
        self.engine.close()
