"""An engine by whose layouts a store goes: what a declaration means is read and written as the store has it.

Where a layout is the declared one, as it nearly always is, everything is passed on as it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Any, cast

from msgspec.structs import replace

from penstock.errors import DamagedRecord, Unavailable
from penstock.kernel.layouts.derived_entity import DerivedEntity
from penstock.kernel.layouts.derived_writes import DerivedWrites
from penstock.kernel.layouts.knowledge import Knowledge, KnownLayouts
from penstock.operations.feed_entry import FeedEntry, FeedSlice, LogSize
from penstock.operations.item_collection import ItemCollection
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Page, Query, Ref, Unreadable, damage
from penstock.operations.scan_page import ScanPage
from penstock.operations.writes import Patch, Write
from penstock.ports.clock import Clock
from penstock.ports.delivery import BroughtChange, DeliveringEngine
from penstock.ports.engine import Engine, TableSize, Waiter
from penstock.ports.row_passing import Row, RowPassing
from penstock.schema.shape import EntityShape, ViewShape

_LOADED = 1000
"So many writes are loaded by what is known at one moment."


def evolving(engine: Engine, clock: Clock) -> Engine:
    """An engine that goes by the layouts of its store; one that does already, or is around such a one, is that."""
    return engine if hasattr(engine, "knowledge") else _around(engine, Knowledge(engine, clock))


def by_layouts(engine: Engine) -> EvolvingEngine:
    """A store's engine as one that goes by layouts; what stands around that one passes on whatever it does not know."""
    assert isinstance(getattr(engine, "knowledge", None), Knowledge), f"{type(engine).__name__} goes by declarations"
    return cast("EvolvingEngine", engine)


def _around(engine: Engine, knowledge: Knowledge) -> EvolvingEngine:
    kind = EvolvingDelivery if isinstance(engine, DeliveringEngine) else EvolvingEngine
    return kind(engine, knowledge)


class EvolvingEngine:
    """Reads and writes by the layouts that a store has."""

    def __init__(self, engine: Engine, knowledge: Knowledge) -> None:
        self.features = engine.features
        self.beneath = engine
        self.knowledge = knowledge
        self._monotonic = knowledge.monotonic

    def __getattr__(self, name: str) -> Any:
        """What an engine can do beside its verbs, its own way."""
        return getattr(self.beneath, name)

    # Reading

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        knowledge = self.knowledge  # as `_reading` has it, which would be felt here
        if self._monotonic() >= knowledge.read_until:
            knowledge.refresh()
        known = knowledge.known
        if len(refs) == 1 and refs[0].shape in known.plain:
            return self.beneath.get(refs, now=now)
        if any(_entity(known, ref.shape) for ref in refs):
            return self._get(known, refs, now)
        return self.beneath.get(refs, now=now)

    def find(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        limit: int | None,
        after: Any,
        now: datetime,
        examine: int | None = None,
    ) -> Page[Any]:
        knowledge = self.knowledge
        if self._monotonic() >= knowledge.read_until:
            knowledge.refresh()
        known = knowledge.known
        bound = {} if examine is None else {"examine": examine}
        if type(query) is Query and query.pattern.entity in known.plain:
            return self.beneath.find(query, limit=limit, after=after, now=now, **bound)
        if isinstance(query, ItemCollection):
            entity_of = [_entity(known, member.pattern.entity) for member in query.members]
            if not any(entity_of):
                return self.beneath.find(query, limit=limit, after=after, now=now)
            return self._collected(query, entity_of, limit, after, now)
        entity = _entity(known, query.pattern.entity)
        if entity is None:
            return self.beneath.find(query, limit=limit, after=after, now=now, **bound)
        page = self.beneath.find(entity.query(query), limit=limit, after=after, now=now, **bound)
        return entity.page(query, page)

    def scan(
        self, shape: EntityShape, *, segment: int = 0, segments: int = 1, after: str | None = None, limit: int = 1000
    ) -> ScanPage:
        entity = _entity(self._reading(), shape)
        there = shape if entity is None else entity.shape
        page = self.beneath.scan(there, segment=segment, segments=segments, after=after, limit=limit)
        if entity is None:
            return page
        records, damaged = entity.records(each.record for each in page.found)
        pairs = zip(page.found, records, strict=True)
        found = [replace(each, record=record, row=None) for each, record in pairs if record is not None]
        return replace(page, found=found, unreadable=(*map(entity.unreadable, page.unreadable), *damaged))

    def row_forms(self, shape: EntityShape) -> tuple[str, ...]:
        """Of a layout that is not the declared one, rows have to be looked into."""
        beneath = self.beneath
        plain = isinstance(beneath, RowPassing) and _entity(self._reading(), shape) is None
        return cast(RowPassing, beneath).row_forms(shape) if plain else ()

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> FeedSlice:
        there, back = self._shapes(shapes)
        told = self.beneath.changes(there, after=after, limit=limit)
        return FeedSlice([_entry(back, entry) for entry in told], position=told.position) if back else told

    def feed_end(self, shapes: Sequence[EntityShape], *, after: str | None = None) -> str | None:
        return self.beneath.feed_end(self._shapes(shapes)[0], after=after)

    def _reading(self) -> KnownLayouts:
        knowledge = self.knowledge
        if self._monotonic() >= knowledge.read_until:
            knowledge.refresh()
        return knowledge.known

    def _get(self, known: KnownLayouts, refs: Sequence[Ref[Any]], now: datetime) -> list[Any | None]:
        entities = [_entity(known, ref.shape) for ref in refs]
        there = [ref if e is None else e.ref(ref) for ref, e in zip(refs, entities, strict=True)]
        told: list[Unreadable] = []
        by_shape = {e.shape: e for e in entities if e is not None}
        try:
            found = self.beneath.get(there, now=now)
        except DamagedRecord as error:
            if error.records is None:
                raise
            found = error.records
            told += [by_shape[u.shape].unreadable(u) if u.shape in by_shape else u for u in error.unreadable]
        records = []
        for each, entity in zip(found, entities, strict=True):
            (record,), damaged = ([each], []) if entity is None else entity.records([each])
            records.append(record)
            told += damaged
        if told:
            raise damage(told, records)
        return records

    def _collected(
        self,
        query: ItemCollection[Any],
        entities: Sequence[DerivedEntity | None],
        limit: int | None,
        after: Any,
        now: datetime,
    ) -> Page[Any]:
        members = tuple(m if e is None else e.query(m) for m, e in zip(query.members, entities, strict=True))
        by_shape = {e.shape: e for e in entities if e is not None}
        page = self.beneath.find(replace(query, members=members), limit=limit, after=after, now=now)
        told = tuple(by_shape[u.shape].unreadable(u) if u.shape in by_shape else u for u in page.unreadable)
        end = page.end if page.more else None
        records = [by_shape[r.__shape__].record(r) if r.__shape__ in by_shape else r for r in page.records]
        return replace(page, records=records, unreadable=told, place=end)

    # Writing

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        knowledge = self.knowledge
        if self._monotonic() >= knowledge.written_until:
            knowledge.register()
        known = knowledge.known
        known.running.append(None)  # as `writing` has it, which would be felt here
        if known is not knowledge.known:
            known.running.pop()
            known = knowledge.writing()
        try:
            plain = known.plain
            for write in writes:
                if write.shape not in plain:
                    return self._commit(known, writes, now, token)
            return self.beneath.commit(writes, now=now, token=token)
        finally:
            known.running.pop()

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        knowledge = self.knowledge
        if self._monotonic() >= knowledge.written_until:
            knowledge.register()
        known = knowledge.known
        known.running.append(None)
        if known is not knowledge.known:
            known.running.pop()
            known = knowledge.writing()
        try:
            if patch.shape in known.plain or _entity(known, patch.shape) is None:
                return self.beneath.patch(patch, now=now, token=token)
            return DerivedWrites(self.beneath, _entities(known), now).patch(patch, token=token)
        finally:
            known.running.pop()

    def load(self, writes: Iterable[Write], *, now: datetime) -> None:
        todo = iter(writes)
        while chunk := list(islice(todo, _LOADED)):
            with self.written_by() as known:
                derived = DerivedWrites(self.beneath, _entities(known), now)
                settled = (derived.loadable(write) for write in chunk)
                self.beneath.load((write for write in settled if write is not None), now=now)

    def load_rows(self, shape: EntityShape, rows: Sequence[Row], *, form: str) -> bool:
        beneath = self.beneath
        with self.written_by() as known:
            plain = isinstance(beneath, RowPassing) and _entity(known, shape) is None
            return plain and cast(RowPassing, beneath).load_rows(shape, rows, form=form)

    def expire(self, shapes: Sequence[EntityShape], *, now: datetime, limit: int = 1000) -> int:
        there, entities = self._shapes(shapes)
        mirrors = [e.derived.mirror for e in entities.values() if e.derived.mirror is not None]
        return self.beneath.expire([*there, *mirrors], now=now, limit=limit)

    @contextmanager
    def written_by(self) -> Iterator[KnownLayouts]:
        """What is written within goes by what is known now, and nobody changes that before it has ended."""
        known = self.knowledge.writing()
        try:
            yield known
        finally:
            known.running.pop()

    def _commit(self, known: KnownLayouts, writes: Sequence[Write], now: datetime, token: str) -> None:
        if any(_entity(known, write.shape) for write in writes):
            DerivedWrites(self.beneath, _entities(known), now).commit(writes, token=token)
        else:
            self.beneath.commit(writes, now=now, token=token)

    # What is the operator's

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[PlanStep]:
        return self.beneath.ensure(shapes, views=views, dry_run=dry_run)

    def trim(self, shapes: Sequence[EntityShape], *, before: str, limit: int = 10_000) -> int:
        return self.beneath.trim(self._shapes(shapes)[0], before=before, limit=limit)

    def hold_writes(self, shapes: Sequence[EntityShape], *, told: str | None) -> None:
        self.beneath.hold_writes(self._shapes(shapes)[0], told=told)

    def log_size(self, shapes: Sequence[EntityShape]) -> LogSize:
        return self.beneath.log_size(self._shapes(shapes)[0])

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        return self.beneath.sizes(self._shapes(shapes)[0])

    def bound(self, project: str) -> Engine:
        engine = self.beneath.bound(project)
        return self if engine is self.beneath else _around(engine, self.knowledge)

    def elsewhere(self, engine: Engine) -> Engine:
        """Another engine with the same records, such as a replica's, by the layouts that are known here."""
        return _around(engine, self.knowledge)

    def listen(self) -> Waiter:
        return self.beneath.listen()

    def close(self) -> None:
        self.knowledge.leave()
        self.beneath.close()

    def _shapes(self, shapes: Sequence[EntityShape]) -> tuple[list[EntityShape], dict[EntityShape, DerivedEntity]]:
        """The shapes as the store has them, and what those are derived from, where they are."""
        known = self._reading()
        entities = [_entity(known, shape) for shape in shapes]
        there = [shape if e is None else e.shape for shape, e in zip(shapes, entities, strict=True)]
        return there, {e.shape: e for e in entities if e is not None}


class EvolvingDelivery(EvolvingEngine):
    """The same of an engine whose store can bring changes."""

    def delivered(self, shapes: Sequence[EntityShape], event: Mapping[str, Any]) -> list[BroughtChange]:
        engine: Any = self.beneath
        try:
            there, back = self._shapes(shapes)
        except Unavailable:  # so that nobody knows by which layout they were written
            return [BroughtChange(brought.receipt, later=True) for brought in engine.delivered(shapes, event)]
        brought: list[BroughtChange] = engine.delivered(there, event)
        return [b if b.entry is None else replace(b, entry=_entry(back, b.entry)) for b in brought] if back else brought


class _Unknown:
    """Stands for what was not asked yet."""


_UNKNOWN: Any = _Unknown()


def _entity(known: KnownLayouts, shape: EntityShape) -> DerivedEntity | None:
    found = known.entities.get(shape, _UNKNOWN)
    return known.derive(shape) if found is _UNKNOWN else found


def _entities(known: KnownLayouts) -> Callable[[EntityShape], DerivedEntity | None]:
    return lambda shape: _entity(known, shape)


def _entry(back: dict[EntityShape, DerivedEntity], entry: FeedEntry) -> FeedEntry:
    entity = back.get(entry.shape)
    if entity is None:
        return entry
    (old, new), damaged = entity.records([entry.old, entry.new])
    told = (*map(entity.unreadable, entry.unreadable), *damaged)
    return replace(entry, shape=entity.declared, old=old, new=new, unreadable=told)
