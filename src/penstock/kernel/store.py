"""The store: typed reads and writes of records, on whichever engine is beneath."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from msgspec.structs import replace

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import InvalidValue, NotFound
from penstock.kernel.batch import Batch
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim, once_key
from penstock.kernel.last_modified import touching
from penstock.kernel.lease import Lease
from penstock.kernel.own_records import KERNEL
from penstock.kernel.scope import ScopedEngine, project_text, scoped_secret
from penstock.kernel.store_context import StoreContext
from penstock.operations.conditions import Condition, Missing
from penstock.operations.cursors import decode_cursor, encode_cursor
from penstock.operations.index_keys import settle
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Query, Ref
from penstock.operations.updates import Update
from penstock.operations.validation import check_commit, prepare, prepare_updates
from penstock.operations.writes import Delete, Patch, Put, Write
from penstock.ports.clock import Clock, SystemClock
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True)
class Listing(Generic[E]):
    """A page of records, and the cursor of the next one (None when this is the last)."""

    records: list[E]
    cursor: str | None


class Store:
    """Reads and writes records. One handle may be shared by threads."""

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock | None = None,
        secret: bytes | None = None,
        own: Domain = KERNEL,
        context: StoreContext | None = None,
    ) -> None:
        self.engine = engine
        self.context = context or StoreContext(clock or SystemClock())
        "What this handle shares with the other handles of the same store."
        self.clock: Clock = self.context.clock
        self.own = own
        "What the system keeps for itself. The kernel needs its own records; whoever has more brings all of them."
        # Without a configured secret cursors end with the process, which is safe and soon noticed.
        self._secret = secret or os.urandom(32)
        self.project: str | None = None
        "The project this handle is bound to; None when it sees everything."

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
        scoped = Store(ScopedEngine(engine, name), secret=secret, own=self.own, context=self.context)
        scoped.project = name
        return scoped

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

    # Reading

    def get(self, ref: Ref[E]) -> E:
        """The record, or NotFound."""
        record = self.engine.get((ref,), now=self.clock.now())[0]
        if record is None:
            raise NotFound(f"there is no {ref!r}")
        return record  # type: ignore[no-any-return]

    def lookup(self, ref: Ref[E]) -> E | None:
        """The record, or None."""
        return self.engine.get((ref,), now=self.clock.now())[0]

    def get_many(self, refs: Iterable[Ref[E]]) -> list[E | None]:
        """The records in the order of their refs, None where none stands; any number of them."""
        return self.engine.get(list(refs), now=self.clock.now())

    def find(self, query: Query[E]) -> Iterator[E]:
        """Every record of a pattern, in order, fetched page by page as they are consumed."""
        place: Mapping[str, Any] | None = None
        while True:
            page = self.engine.find(query, limit=None, after=place, now=self.clock.now())
            # Copied before the record is given away: whoever changes it must not change where the next page begins.
            place = dict(page.records[-1].__dict__) if page.more else None
            yield from page.records
            if place is None:
                return

    def first(self, query: Query[E]) -> E | None:
        """The first record of a pattern, or None."""
        page = self.engine.find(query, limit=1, after=None, now=self.clock.now())
        return page.records[0] if page.records else None

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

    # Writing

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
        return Change(self, by=by, why=why, project=project or self.project, under=under, once=once)

    def batch(self) -> Batch:
        """Several changes that do not depend on each other, committed together because that is faster."""
        return Batch(self)

    def put(self, record: Entity, *, when: Condition | None = None) -> None:
        """Write a whole record, replacing what stands there, if the condition holds of it."""
        self.engine.commit((put(record, when=when),), now=self.clock.now(), token=commit_token())

    def create(self, record: Entity) -> None:
        """Write a record where none stands; Conflict where one does."""
        self.commit([put(record, when=Missing())])

    def patch(
        self,
        ref: Ref[E],
        *updates: Update,
        when: Condition | None = None,
        given: E | None = None,
        exact: bool = True,
    ) -> E:
        """Change some fields of a record that stands, and return it as it stands now.

        ``given`` is the record as it was read, for index keys that need fields the patch does not set. A patch that
        counts or appends is applied once even when its answer is lost, unless it need not be ``exact``, which makes
        a busy counter cheaper.
        """
        now = self.clock.now()
        write = replace(patch(ref, *touching(ref.shape, updates, now), when=when, given=given), exact=exact)
        return self.engine.patch(write, now=now, token=commit_token())  # type: ignore[no-any-return]

    def delete(self, ref: Ref[Any], *, when: Condition | None = None) -> None:
        """Remove a record if the condition holds; removing what is not there succeeds."""
        self.commit([Delete(ref.shape, ref.key, when)])

    def commit(self, writes: Sequence[Write]) -> None:
        """All of the writes or none."""
        check_commit(writes)
        self.engine.commit(writes, now=self.clock.now(), token=commit_token())

    def put_many(self, records: Iterable[Entity]) -> None:
        """Write any number of records, in parts; each replaces what stands there."""
        self.engine.load((put(r) for r in records), now=self.clock.now())

    def delete_many(self, refs: Iterable[Ref[Any]]) -> None:
        """Remove any number of records, in parts."""
        self.engine.load((Delete(r.shape, r.key) for r in refs), now=self.clock.now())

    def close(self) -> None:
        self.engine.close()


def put(record: Entity, *, when: Condition | None = None) -> Put:
    """The write of a whole record."""
    shape = record.__shape__
    return Put(shape, prepare(shape, record.__dict__), when)


def patch(ref: Ref[Any], *updates: Update, when: Condition | None = None, given: Entity | None = None) -> Patch:
    """The write of some fields, with the index keys that change with them."""
    write = Patch(ref.shape, ref.key, prepare_updates(ref.shape, updates), when)
    return settle(write, given.__dict__ if given is not None else None)
