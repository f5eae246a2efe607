"""Scope: a store handle bound to one project, for which nothing else exists.

    mine = store.scoped("p1")

Every read and write of the handle passes here, on every engine; where the database can enforce the same by itself
(PostgreSQL's row-level security), it does so beneath. The rules:

- A record belongs to the project that its field ``project_id`` says. Another project's record is as good as absent: not
  got, found, told by the feed, patched, deleted or checked, and no error shows what it holds.
- A write that *names* another project (in a key, in a record, in a value to set) is OutOfScope, whatever is stored. A
  record that leaves its optional project open is written as the handle's own.
- A key without the project in it is one for all projects. Where another's record has it, a put is a Conflict that found
  nothing: that the key is taken is all there is to learn. (Once the other has expired, its place can be taken on SQLite
  and DynamoDB; PostgreSQL's policies keep it until the reaper has been there.)
- Entities without the field belong to no project, so a scoped handle has none of them: feeds, schedules and tables are
  the operator's, who has the store itself. The kernel makes no exception of its own records: messages, audit lines,
  seals, marks of `once` and named leases all say their project.
- What is kept (audit lines, seals) is added to at most, and keys of the API are the operator's altogether: an entity's
  `Rights` say what a scope may do with its own records, and everything else is OutOfScope. PostgreSQL's role has no
  more than these rights.
- A record that the operator moves from one project to another is told to neither.

What it costs: a pattern that does not bind the project is read on until enough own records are found, in an index that
all projects share, with a filter that leaves the others out; a put at a key that does not tell the project carries a
condition, so many of them are sent one by one.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from penstock.errors import Conflict, DamagedRecord, InvalidValue, OutOfScope, Unavailable
from penstock.kernel.audit import EVERYWHERE
from penstock.operations.commit_recovery import conflict
from penstock.operations.conditions import Compare, Condition, Missing, Not, both, holds
from penstock.operations.feed_entry import FeedEntry, FeedSlice, LogSize
from penstock.operations.item_collection import ItemCollection
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Page, Query, Ref, Unreadable, damage
from penstock.operations.scan_page import ScanPage
from penstock.operations.updates import Set, SetIfAbsent
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.ports.engine import Engine, TableSize, Waiter
from penstock.ports.ids import commit_token
from penstock.schema import documents
from penstock.schema.kinds import FieldShape, from_key_text, key_text
from penstock.schema.shape import EntityShape, ViewShape

_CHANGES = 50
"So many changes at least are looked at together while looking for own ones."


def project_text(project: str | UUID) -> str:
    """A project's name as a scope has it."""
    text = str(project)
    documents.text(text)
    if not text or text == EVERYWHERE:
        raise InvalidValue(f"{text!r} names no project, so nothing can be bound to it; give the project's id")
    return text


def scoped_secret(secret: bytes, project: str) -> bytes:
    """What a scope signs its cursors with, so that one of another scope does not open."""
    return hmac.new(secret, b"scope:" + project.encode(), hashlib.sha256).digest()


class ScopedEngine:
    """An engine that has the records of one project only."""

    def __init__(self, engine: Engine, project: str) -> None:
        self.features = engine.features
        self.project = project
        self._engine = engine

    # Reading

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        records: list[Any | None] = [None] * len(refs)
        for ref in refs:
            self._check(ref.shape, ref.shape.rights.read, "read")
        asked = [(place, ref) for place, ref in enumerate(refs) if not self._named_otherwise(ref.shape, ref.key)]
        if not asked:
            return records
        unreadable: tuple[Unreadable, ...] = ()
        try:
            found = self._engine.get([ref for _, ref in asked], now=now)
        except DamagedRecord as damaged:
            unreadable, found = self._own_unreadable(damaged.unreadable), damaged.records or [None] * len(asked)
        for (place, ref), record in zip(asked, found, strict=True):
            if record is not None and self._is_own(ref.shape, record.__dict__):
                records[place] = record
        if unreadable:
            raise damage(unreadable, records)
        return records

    def find(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        limit: int | None,
        after: Any,
        now: datetime,
        examine: int | None = None,
    ) -> Page[Any]:
        """Own records only, as many as were asked for while there are so many.

        Without a limit, ``more`` may announce a page that turns out to hold none.
        """
        if isinstance(query, ItemCollection):
            query = replace(query, members=tuple(self._confined(m) for m in query.members))
            page = self._engine.find(query, limit=limit, after=after, now=now)
        else:
            confined = self._confined(query)
            if self._named_otherwise(query.pattern.entity, query.values):
                return Page([], more=False)
            bound = {} if examine is None else {"examine": examine}
            page = self._engine.find(confined, limit=limit, after=after, now=now, **bound)
            if confined is not query and page.examined is not None:
                page = replace(page, examined=None, untold=page.examined)  # how many others there are is not told
        if page.unreadable:
            page = replace(page, unreadable=self._own_unreadable(page.unreadable))
        return page

    def _confined(self, query: Query[Any]) -> Query[Any]:
        """The query, of own records only; what is others' is left out by the store, before anything is counted."""
        shape = query.pattern.entity
        self._check(shape, shape.rights.read, "read")
        if query.values.get(self._field(shape).name) is not None and self._is_own(shape, query.values):
            return query
        return replace(query, filter=both(self._own(shape), query.filter))

    def _own_unreadable(self, unreadable: Iterable[Unreadable]) -> tuple[Unreadable, ...]:
        """Another's record that cannot be read is as good as absent, like any other of another."""
        return tuple(u for u in unreadable if u.project == self.project)

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> FeedSlice:
        for shape in shapes:
            self._check(shape, shape.rights.read, "read")
        own: list[FeedEntry] = []
        size = max(limit, _CHANGES)  # others' changes are passed over many at a time, however few are asked for
        while True:
            part = self._engine.changes(shapes, after=after, limit=size)
            own += [e for e in part if e.project == self.project]
            after = part.position
            if len(own) > limit:
                return FeedSlice(own[:limit], position=own[limit - 1].position)
            if len(own) == limit or len(part) < size:
                return FeedSlice(own, position=after)

    def feed_end(self, shapes: Sequence[EntityShape], *, after: str | None = None) -> str | None:
        for shape in shapes:
            self._field(shape)
        return self._engine.feed_end(shapes, after=after)

    # Writing

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        admitted = [self._admit(w) for w in writes]
        todo = list(admitted)
        passed: set[int] = set()
        for _ in range(2 * len(writes) + 8):
            try:
                self._engine.commit(todo, now=now, token=token)
            except Conflict as refused:
                at = refused.position
                found = self._visible(writes[at].shape, refused.found)
                if at in passed:  # it was absent or another's, and is ours now
                    passed.remove(at)
                    todo[at] = admitted[at]
                elif found is None and _succeeds_on_nothing(writes[at]) and admitted[at] is not writes[at]:
                    passed.add(at)
                    todo[at] = Check(writes[at].shape, writes[at].key, Not(self._own(writes[at].shape)))
                else:
                    raise conflict(writes[at], found, position=at) from None
                if len(passed) == len(todo):
                    return
                token = commit_token()  # it is another commit now
            else:
                return
        raise Unavailable("the records of a commit keep changing hands; try again")

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        admitted = self._admit(patch)
        assert isinstance(admitted, Patch)
        try:
            record = self._engine.patch(admitted, now=now, token=token)
        except Conflict as refused:
            raise conflict(patch, self._visible(patch.shape, refused.found), position=0) from None
        if not self._is_own(patch.shape, record.__dict__):  # replaced by another's before it was read back
            raise conflict(patch, None, position=0)
        return record

    def load(self, writes: Iterable[Write], *, now: datetime) -> None:
        self._engine.load(self._loadable(writes, now), now=now)

    def _loadable(self, writes: Iterable[Write], now: datetime) -> Iterator[Write]:
        """The writes that need no condition; the others are committed one by one."""
        for write in writes:
            if write.shape.project_in_key:
                yield self._admit(write)
            else:
                self.commit([write], now=now, token=commit_token())

    # What is the operator's

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[PlanStep]:
        raise self._operators("tables are created and grown")

    def expire(self, shapes: Sequence[EntityShape], *, now: datetime, limit: int = 1000) -> int:
        raise self._operators("expired records are removed")

    def trim(self, shapes: Sequence[EntityShape], *, before: str, limit: int = 10_000) -> int:
        raise self._operators("changes are forgotten")

    def log_size(self, shapes: Sequence[EntityShape]) -> LogSize:
        raise self._operators("changes are kept")

    def scan(
        self, shape: EntityShape, *, segment: int = 0, segments: int = 1, after: str | None = None, limit: int = 1000
    ) -> ScanPage:
        raise self._operators("records are walked through")

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        raise self._operators("tables are measured")

    def bound(self, project: str) -> Engine:
        if project != self.project:
            raise OutOfScope(
                f"a store bound to {self.project} cannot be bound to another project; use the store itself"
            )
        return self

    def listen(self) -> Waiter:
        return self._engine.listen()

    def close(self) -> None:
        """Nothing: connections belong to the store that was bound."""

    def _operators(self, what: str) -> OutOfScope:
        return OutOfScope(f"{what} for all projects at once; use the store itself, not one bound to {self.project}")

    # What is whose

    def _field(self, shape: EntityShape) -> FieldShape:
        if shape.project is None:
            raise OutOfScope(
                f"{shape.label} has no project_id, so it belongs to no project; use the store itself, not one bound to "
                f"{self.project}"
            )
        return shape.project

    def _check(self, shape: EntityShape, allowed: bool, what: str) -> None:
        """OutOfScope for what belongs to no project, or is not a scope's to do."""
        self._field(shape)
        if not allowed:
            raise OutOfScope(
                f"a store bound to a project may not {what} records of {shape.label}; use the store itself, not one "
                f"bound to {self.project}"
            )

    def _check_rights(self, write: Write) -> None:
        shape, rights = write.shape, write.shape.rights
        match write:
            case Put(when=Missing(None)):
                self._check(shape, rights.add, "add")
            case Put() | Patch():
                self._check(shape, rights.change, "change")
            case Delete():
                self._check(shape, rights.remove, "remove")
            case _:
                self._check(shape, rights.read and rights.change, "check")

    def _is_own(self, shape: EntityShape, values: Mapping[str, Any]) -> bool:
        field = self._field(shape)
        value = values.get(field.name)
        return value is not None and key_text(field, value) == self.project

    def _named_otherwise(self, shape: EntityShape, values: Mapping[str, Any]) -> bool:
        """Is it plain from a key or a query that only another project's records are asked for?"""
        return values.get(self._field(shape).name) is not None and not self._is_own(shape, values)

    def _visible(self, shape: EntityShape, found: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return found if found is not None and self._is_own(shape, found) else None

    def _own(self, shape: EntityShape) -> Condition:
        """That the record is of this project."""
        return Compare(self._field(shape).name, "=", self._value(shape))

    def _value(self, shape: EntityShape) -> Any:
        """The project as the entity's field holds it."""
        try:
            return from_key_text(self._field(shape), self.project)
        except ValueError:
            raise OutOfScope(f"{shape.label} has UUIDs for projects, so none is of {self.project}") from None

    # How a write is kept within the project

    def _admit(self, write: Write) -> Write:
        """The write, on the condition that it meets no other project's record; OutOfScope when it names one."""
        shape = write.shape
        field = self._field(shape)
        self._check_rights(write)
        if isinstance(write, Put) and write.values.get(field.name) is None:
            write = replace(write, values={**write.values, field.name: self._value(shape)})
        if self._named_otherwise(shape, write.key) or (isinstance(write, Patch) and self._moves(write)):
            raise OutOfScope(f"{shape.label}: the write names another project than {self.project}")
        if shape.project_in_key:
            return write
        own = self._own(shape)
        match write:
            case Put(when=Missing(None)):
                return write
            case Put(when=when) if holds(when, None):
                return replace(write, when=both(when, Missing() | own))
            case Check(when=when):
                return replace(write, when=Not(own) | when if holds(when, None) else own & when)
            case _:
                return replace(write, when=both(own, write.when))

    def _moves(self, patch: Patch) -> bool:
        """Would it give the record to another project, or to none?"""
        field = self._field(patch.shape)
        for update in patch.updates:
            if update.field == field.name:
                kept = isinstance(update, Set | SetIfAbsent) and self._is_own(patch.shape, {field.name: update.value})
                if not kept:
                    return True
        return False


def _succeeds_on_nothing(write: Write) -> bool:
    """Is it a delete that is content to find no record?"""
    return isinstance(write, Delete) and holds(write.when, None)
