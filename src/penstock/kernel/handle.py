"""A handle of a store: typed reads, and writes that are made at once.

Everything of the kernel that needs no more than this takes a handle; `Store` adds changes, scopes and pages to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, overload

from msgspec.structs import replace

from penstock.declare.entity import Entity
from penstock.errors import DamagedRecord, NotFound
from penstock.kernel.arguments import (
    check_given,
    check_query,
    check_ref,
    check_several,
    check_updates,
    shape_of,
)
from penstock.kernel.examination import EXAMINED, most_examined, too_wide
from penstock.kernel.last_modified import with_moment
from penstock.kernel.store_context import StoreContext
from penstock.kernel.upkeep import commit_with_upkeep
from penstock.kernel.version import begin_version, with_version
from penstock.operations.conditions import Condition, Missing
from penstock.operations.index_keys import settle
from penstock.operations.item_collection import ItemCollection
from penstock.operations.reads import Page, Query, Ref, Unreadable, damage
from penstock.operations.updates import Update
from penstock.operations.validation import check_commit, prepare, prepare_updates
from penstock.operations.writes import Delete, Patch, Put, Write
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token

E = TypeVar("E", bound=Entity)
R = TypeVar("R")
"A record, or a tuple of some of its fields."
_BEFORE_EVERY_END = datetime.min.replace(tzinfo=UTC)


class StoreHandle:
    """Reads and writes records. One handle may be shared by threads."""

    def __init__(self, engine: Engine, context: StoreContext, *, project: str | None = None) -> None:
        self.engine = engine
        self.context = context
        "What this handle shares with the other handles of the same store."
        self.clock: Clock = context.clock
        self.project = project
        "The project this handle is bound to; None when it sees everything."

    # Reading

    def get(self, ref: Ref[E]) -> E:
        """The record, or NotFound."""
        if type(ref) is not Ref:  # which every read asks
            check_ref(ref, "get")
        record = self.engine.get((ref,), now=self.clock.now())[0]
        if record is None:
            raise NotFound(f"there is no {ref!r}")
        return record  # type: ignore[no-any-return]

    def lookup(self, ref: Ref[E]) -> E | None:
        """The record, or None."""
        if type(ref) is not Ref:
            check_ref(ref, "lookup")
        return self.engine.get((ref,), now=self.clock.now())[0]

    def get_many(self, refs: Iterable[Ref[E]], *, unreadable: list[Unreadable] | None = None) -> list[E | None]:
        """The records in the order of their refs, None where none stands; any number of them, of any kinds.

        Where some cannot be read, DamagedRecord has the others (``.records``); or the list that is given is told of
        them, and None stands in their places.
        """
        check_several(refs, "get_many")
        several = list(refs)
        for ref in several:
            check_ref(ref, "get_many")
        try:
            return self.engine.get(several, now=self.clock.now())
        except DamagedRecord as damaged:
            if unreadable is None or damaged.records is None:
                raise
            unreadable += damaged.unreadable
            return damaged.records

    @overload
    def find(
        self, query: Query[R], *, unreadable: list[Unreadable] | None = None, examining: int | None = EXAMINED
    ) -> Iterator[R]: ...
    @overload
    def find(
        self, query: ItemCollection[R], *, unreadable: list[Unreadable] | None = None, examining: int | None = EXAMINED
    ) -> Iterator[R]: ...
    def find(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        unreadable: list[Unreadable] | None = None,
        examining: int | None = EXAMINED,
    ) -> Iterator[Any]:
        """Every record of a pattern, in order, fetched page by page as they are consumed.

        Those that cannot be read are passed over and told at the end, by DamagedRecord or in the list that is given.
        Of a filtered query at most ``examining`` records are looked at; FilterTooWide says so where more follow. With
        None all are.
        """
        check_query(query, "find")  # at once, and not when somebody consumes it
        return self._found(self._pages(query, None, most_examined(query, examining)), unreadable)

    def _found(self, pages: Iterator[Page[Any]], unreadable: list[Unreadable] | None) -> Iterator[Any]:
        met: list[Unreadable] = [] if unreadable is None else unreadable
        for page in pages:
            met += page.unreadable
            yield from page.records
        if met and unreadable is None:
            raise damage(met)

    def _pages(
        self, query: Query[Any] | ItemCollection[Any], limit: int | None, most: int | None
    ) -> Iterator[Page[Any]]:
        """The pages of a query, as far as so many of its records may be examined."""
        place: Any = None
        left = most
        while True:
            bound = {} if left is None else {"examine": max(left, 1)}
            page = self.engine.find(query, limit=limit, after=place, now=self.clock.now(), **bound)
            if left is not None:
                if left <= 0 and page.looked_at:
                    raise too_wide(query, most)
                left -= page.looked_at
            # Before the record is given away: whoever changes it must not change where the next page begins.
            place = page.end
            yield page
            if place is None:
                return

    @overload
    def first(
        self, query: Query[R], *, unreadable: list[Unreadable] | None = None, examining: int | None = EXAMINED
    ) -> R | None: ...
    @overload
    def first(
        self, query: ItemCollection[R], *, unreadable: list[Unreadable] | None = None, examining: int | None = EXAMINED
    ) -> R | None: ...
    def first(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        unreadable: list[Unreadable] | None = None,
        examining: int | None = EXAMINED,
    ) -> Any | None:
        """The first record of a pattern, or None; DamagedRecord when that cannot be read.

        With a list those that cannot be read are told there, and the first that can be is given. Of a filtered query
        at most ``examining`` records are looked at, as by `find`.
        """
        check_query(query, "first")
        for page in self._pages(query, 1, most_examined(query, examining)):
            if page.unreadable and unreadable is None:
                raise damage(page.unreadable)
            if unreadable is not None:
                unreadable += page.unreadable
            if page.records:
                return page.records[0]
        return None

    # Writing

    def put(self, record: Entity, *, when: Condition | None = None) -> None:
        """Write a whole record, replacing what stands there, if the condition holds of it."""
        write = put(record, when=when)
        if write.shape.needs_upkeep:
            return self.commit([write])
        self.engine.commit((write,), now=self.clock.now(), token=commit_token())

    def create(self, record: Entity) -> None:
        """Write a record where none stands; Conflict where one does."""
        write = put(record, when=Missing())
        begin_version(record)
        self.commit([write])

    def patch(
        self,
        ref: Ref[E],
        *updates: Update,
        when: Condition | None = None,
        given: E | None = None,
        exact: bool = True,
        witness: bool = False,
    ) -> E:
        """Change some fields of a record that stands, and return it as it stands now.

        ``given`` is the record as it was read, for index keys that need fields the patch does not set. A patch that
        counts or appends is applied once even when its answer is lost, unless it need not be ``exact``, which makes
        a busy counter cheaper. So is one that ends its own condition; it is cheaper if it is a ``witness``: if no other
        write ever leaves there what it sets.
        """
        check_ref(ref, "patch")  # before its shape is asked for anything
        now = self.clock.now()
        moved = with_moment(ref.shape, updates, self.context.ticks.latest())
        write = replace(patch(ref, *moved, when=when, given=given), exact=exact, witness=witness)
        if not ref.shape.claimed_by.isdisjoint([u.field for u in write.updates]):
            self.commit([write])
            return self._as_patched(write)  # type: ignore[no-any-return]
        return self.engine.patch(write, now=now, token=commit_token())  # type: ignore[no-any-return]

    def delete(self, ref: Ref[Any], *, when: Condition | None = None) -> None:
        """Remove a record if the condition holds; removing what is not there succeeds."""
        check_ref(ref, "delete", when)
        self.commit([Delete(ref.shape, ref.key, when)])

    def commit(self, writes: Sequence[Write]) -> None:
        """All of the writes or none."""
        check_commit(writes)
        for write in writes:
            if write.shape.needs_upkeep:
                return commit_with_upkeep(self.engine, self.clock, writes, project=self.project)
        self.engine.commit(writes, now=self.clock.now(), token=commit_token())

    def put_many(self, records: Iterable[Entity]) -> None:
        """Write any number of records, in parts; each replaces what stands there."""
        check_several(records, "put_many")
        self.engine.load(self._loadable(put(r) for r in records), now=self.clock.now())

    def delete_many(self, refs: Iterable[Ref[Any]]) -> None:
        """Remove any number of records, in parts."""
        check_several(refs, "delete_many")
        self.engine.load(self._loadable(_deletion(r) for r in refs), now=self.clock.now())

    def _loadable(self, writes: Iterable[Write]) -> Iterator[Write]:
        """The writes that depend on nothing that stands; the others are committed one by one."""
        for write in writes:
            if write.shape.needs_upkeep:
                self.commit([write])
            else:
                yield write

    def _as_patched(self, write: Patch) -> Any:
        """The record after a patch that was committed with more than itself, even where the patch has ended it."""
        ref: Ref[Any] = Ref(write.shape, write.key)
        found = self.engine.get((ref,), now=_BEFORE_EVERY_END)[0]
        if found is None:
            raise NotFound(f"{ref!r} was patched, and has been removed since")
        return found


def _deletion(ref: Ref[Any]) -> Delete:
    check_ref(ref, "delete_many")
    return Delete(ref.shape, ref.key)


def put(record: Entity, *, when: Condition | None = None) -> Put:
    """The write of a whole record."""
    shape = shape_of(record, "put", when)
    return Put(shape, prepare(shape, record.__dict__), when)


def patch(ref: Ref[Any], *updates: Update, when: Condition | None = None, given: Entity | None = None) -> Patch:
    """The write of some fields, with the index keys that change with them."""
    check_ref(ref, "patch", when)
    check_updates(ref.shape, updates)
    if given is not None:
        check_given(ref.shape, given)
    write = Patch(ref.shape, ref.key, prepare_updates(ref.shape, with_version(ref.shape, updates)), when)
    return settle(write, given.__dict__ if given is not None else None)
