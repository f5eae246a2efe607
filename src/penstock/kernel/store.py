"""The store: typed reads and writes of records, on whichever engine is beneath."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar, overload
from uuid import UUID

from msgspec.structs import replace

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import InvalidValue
from penstock.kernel.arguments import check_domain, check_page, check_place, check_query
from penstock.kernel.batch import Batch
from penstock.kernel.change import Change
from penstock.kernel.examination import EXAMINED, check_examining
from penstock.kernel.handle import StoreHandle
from penstock.kernel.history import HistoryPage, HistorySource, read_history
from penstock.kernel.idempotency import Claim, once_key
from penstock.kernel.layouts.evolving_engine import by_layouts, evolving
from penstock.kernel.layouts.layout_ensuring import LayoutEnsuring
from penstock.kernel.lease import Lease
from penstock.kernel.line_history import LineHistory
from penstock.kernel.own_records import KERNEL
from penstock.kernel.read_replica import ReadReplica
from penstock.kernel.retrying import TRIES, retried
from penstock.kernel.scope import ScopedEngine, project_text, scoped_secret
from penstock.kernel.store_context import StoreContext
from penstock.operations.cursors import decode_cursor, encode_cursor
from penstock.operations.item_collection import ItemCollection
from penstock.operations.plan import PlanStep
from penstock.operations.reads import ANYTHING, Page, Query, Range, Ref, Unreadable
from penstock.ports.clock import Clock, SystemClock
from penstock.ports.engine import Engine

E = TypeVar("E", bound=Entity)
T = TypeVar("T")
R = TypeVar("R")
MOST_COUNTED = 1_000_000


@dataclass(frozen=True, slots=True)
class Listing(Generic[R]):
    """A page of records, and the cursor of the next one (None when this is the last)."""

    records: list[R]
    cursor: str | None
    unreadable: tuple[Unreadable, ...] = ()
    "Records that stand among them and cannot be read."
    examined: int | None = None
    "How many were looked at for a filtered page."
    behind: bool = False
    "It comes from a read replica, and may lack what was written a moment ago."

    def of(self, kind: type[E]) -> list[E]:
        """The records of one kind, of a page that has several."""
        return [record for record in self.records if isinstance(record, kind)]


@dataclass(frozen=True, slots=True)
class Counted:
    """How many records there are, or at least how many: 7, or 100+."""

    number: int
    more: bool = False
    behind: ClassVar[bool] = False
    "It comes from a read replica."

    def __str__(self) -> str:
        return f"{self.number}+" if self.more else str(self.number)


@dataclass(frozen=True, slots=True)
class CountedBehind(Counted):
    """How many a read replica knows of."""

    behind: ClassVar[bool] = True


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
        replica: Engine | ReadReplica | None = None,
    ) -> None:
        context = shared or StoreContext(clock or SystemClock())
        super().__init__(evolving(engine, context.clock) if shared is None else engine, context, project=project)
        self.own = own
        self._replica = replica if isinstance(replica, ReadReplica | None) else self._following(replica)
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
        bound = enforce or self.project is not None

        def view(engine: Engine) -> Engine:
            return ScopedEngine(engine.bound(name) if bound else engine, name)

        replica = None if self._replica is None else self._replica.seen_by(view)
        secret = scoped_secret(self._secret, name)
        return Store(view(self.engine), secret=secret, own=self.own, shared=self.context, project=name, replica=replica)

    def _following(self, replica: Engine) -> ReadReplica:
        """A replica, read by the layouts that the store itself has."""
        return ReadReplica(lambda: by_layouts(self.engine).elsewhere(replica), self.clock)

    def mark(self, *parts: str) -> str:
        """Tells apart what must not be kept in clear, such as addresses, which are so few that a bare hash is guessed.

        The same for all processes that share a secret.
        """
        return hmac.new(self._secret, once_key("mark", *parts).encode(), hashlib.sha256).hexdigest()

    def ensure(self, *domains: Domain, dry_run: bool = False) -> list[PlanStep]:
        """Create what the system itself and the domains need and the store lacks; nothing is ever dropped.

        The store remembers how records lie. What takes more than creating is told, and left for a migration.
        """
        for domain in domains:
            check_domain(domain)
        return LayoutEnsuring(self.engine, self.clock).ensure((self.own, *domains), dry_run=dry_run)

    # Pages

    @overload
    def page(
        self,
        query: Query[R],
        *,
        limit: int = 50,
        cursor: str | None = None,
        examining: int = EXAMINED,
        behind_ok: bool = False,
    ) -> Listing[R]: ...
    @overload
    def page(
        self,
        query: ItemCollection[R],
        *,
        limit: int = 50,
        cursor: str | None = None,
        examining: int = EXAMINED,
        behind_ok: bool = False,
    ) -> Listing[R]: ...
    def page(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        limit: int = 50,
        cursor: str | None = None,
        examining: int = EXAMINED,
        behind_ok: bool = False,
    ) -> Listing[Any]:
        """One page of a pattern, and the cursor of the next.

        Of a filtered query at most ``examining`` records are looked at; a page that found few of them comes back
        short, with a cursor that goes on from there. With ``behind_ok`` it may come from a read replica, if there is
        one, and may then lack what was written a moment ago; ``behind`` says so.
        """
        check_query(query, "page")
        check_page(limit, cursor)
        place = decode_cursor(query, cursor, self._secret) if cursor else None
        page, behind = self._find(query, limit, place, _bound(query, examining), behind_ok=behind_ok)
        after = encode_cursor(query, page.end, self._secret) if page.more else None
        return Listing(page.records, after, page.unreadable, page.examined, behind)

    def _find(
        self,
        query: Query[Any] | ItemCollection[Any],
        limit: int,
        place: Any,
        bound: dict[str, int],
        *,
        behind_ok: bool,
    ) -> tuple[Page[Any], bool]:
        """A page, and whether it comes from a replica."""
        now = self.clock.now()
        if behind_ok and self._replica is not None:
            page = self._replica.find(query, limit=limit, after=place, now=now, **bound)
            if page is not None:
                return page, True
        return self.engine.find(query, limit=limit, after=place, now=now, **bound), False

    def cursor(self, query: Query[Any], record: Entity | Mapping[str, Any]) -> str:
        """The cursor behind a record of a query, or behind the values of its keys, for a page that ends with it."""
        check_place(query, record)
        values = record.__dict__ if isinstance(record, Entity) else record
        return encode_cursor(query, values, self._secret)

    def count(
        self, query: Query[Any], *, up_to: int = 100, examining: int = EXAMINED, behind_ok: bool = False
    ) -> Counted:
        """How many records a pattern has, counted up to a number; also those that cannot be read.

        It takes what reading so many takes, as every store looks at each of them.
        """
        if not 1 <= up_to <= MOST_COUNTED:
            raise InvalidValue(f"records are counted up to a number from 1 to {MOST_COUNTED:,}, not {up_to}")
        if not isinstance(query, Query):
            raise InvalidValue("count takes a pattern with its parameters; of a collection, count each kind")
        bound = _bound(query, examining)
        page, behind = self._find(replace(query, fields=()), up_to, None, bound, behind_ok=behind_ok)
        return (CountedBehind if behind else Counted)(len(page.records) + len(page.unreadable), page.more)

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

    def modify(
        self,
        ref: Ref[E],
        function: Callable[[E], object],
        *,
        by: str | None = None,
        why: str | None = None,
        project: str | None = None,
        under: Lease | None = None,
        once: Claim | None = None,
        tries: int = TRIES,
    ) -> E:
        """Read a record, let ``function`` change it, and save it, anew as long as others are quicker; the record.

        NotFound where none stands, Conflict when others were quicker in all of the ``tries``. The function is called
        for each, so it should do nothing else.
        """

        def attempt() -> E:
            with self.change(by=by, why=why, project=project, under=under, once=once) as change:
                record = change.get(ref)
                function(record)
                return change.save(record)

        return retried(attempt, tries=tries)

    def retried(self, action: Callable[[], T], *, tries: int = TRIES) -> T:
        """What ``action`` gives, done anew as long as a change in it is refused because others were quicker.

        For changes of several records: the action makes the change, and reads in it what it decides by.
        """
        return retried(action, tries=tries)

    def batch(self) -> Batch:
        """Several changes that do not depend on each other, committed together because that is faster."""
        return Batch(self.change, self.commit)

    def close(self) -> None:
        self.engine.close()
        if self._replica is not None:
            self._replica.close()


def _bound(query: Query[Any] | ItemCollection[Any], examining: int) -> dict[str, int]:
    """How many records may be looked at; nothing is said where each that is looked at is found."""
    check_examining(examining)
    return {"examine": examining} if isinstance(query, Query) and query.filter is not None else {}
