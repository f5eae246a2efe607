"""The simulated engine: all records in memory, in plain Python, with every promise of the suite.

It says everything in the simplest way: conditions as `holds` means them, updates as `apply` means them, and index keys
as they are stored beside a record. Nothing of it waits, and nothing is kept when the process ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from threading import RLock
from typing import Any, NamedTuple

from penstock.errors import Misconfigured, StoreMoved
from penstock.operations.commit_recovery import conflict, required
from penstock.operations.conditions import fields_of, holds
from penstock.operations.feed_entry import FeedSlice, LogSize
from penstock.operations.item_collection import ItemCollection
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Page, Query, Ref
from penstock.operations.scan_page import ScanPage
from penstock.operations.spelling import holds_exactly
from penstock.operations.writes import Check, Patch, Write
from penstock.ports.engine import Engine, Features, TableSize, Waiter
from penstock.ports.waiting import PollingWaiter
from penstock.schema.shape import EntityShape, ViewShape
from penstock.testing.simulation.change_log import ChangeLog, LoggedRow, Relation
from penstock.testing.simulation.row_finding import find_collection, find_rows, scan_rows
from penstock.testing.simulation.row_writing import row_after
from penstock.testing.simulation.stored_row import Identity, StoredRow, got, identity

Address = tuple[Relation, Identity]
"Where a row stands."


class Touched(NamedTuple):
    """One row that a commit has written: what stood there, and what stands there now."""

    address: Address
    shape: EntityShape
    old: StoredRow | None
    new: StoredRow | None
    number: int
    "Of the transaction."


Changed = dict[Address, tuple[EntityShape, StoredRow | None]]
"What a commit leaves at each address."


class SimulatedEngine:
    """Carries out reads and writes on records in memory. Threads may share it."""

    features = Features(key_texts=True)
    knowledge: None = None
    "Whoever acts in a run has the same declarations, so that nobody asks how records lie, and no call is made for it."

    def __init__(self) -> None:
        self.tables: dict[Relation, dict[Identity, StoredRow]] = {}
        self.shapes: dict[Relation, EntityShape] = {}
        self.known: set[tuple[str, str]] = set()
        "What was ensured."
        self.logged: set[Relation] = set()
        "The tables whose changes are told."
        self.held: dict[Relation, str] = {}
        "What is told to whoever writes to a table that takes no more."
        self.log = ChangeLog()
        self.tokens: set[str] = set()
        self.journal: list[Touched] = []
        "What was written, in order, for whoever watches."
        self.begun: int | None = None
        "The number of a transaction that began before others that have committed, and commits next."
        self.lag = 0
        "So many of the last commits are not seen yet through an index."
        self.digest = 0
        "The same whenever the same records stand."
        self._lock = RLock()

    def copy(self) -> SimulatedEngine:
        """The same records in a store of its own."""
        made = type(self)()
        made.tables = {relation: dict(rows) for relation, rows in self.tables.items()}
        made.shapes, made.known, made.tokens = dict(self.shapes), set(self.known), set(self.tokens)
        made.logged, made.held, made.log = set(self.logged), dict(self.held), self.log.copy()
        return made

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[PlanStep]:
        with self._lock:
            steps = [PlanStep(*key) for key in dict.fromkeys(_needed(shapes)) if key not in self.known]
            if not dry_run:
                self.known.update((step.kind, step.name) for step in steps)
                for shape in shapes:
                    self.tables.setdefault(relation(shape), {})
                    self.shapes[relation(shape)] = shape
                self.logged.update(relation(shape) for shape in shapes if shape.table.feed)
            return steps

    # Reading

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        with self._lock:
            return got(refs, [self.standing(ref.shape, ref.key, now) for ref in refs])

    def find(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        limit: int | None,
        after: Any,
        now: datetime,
        examine: int | None = None,
    ) -> Page[Any]:
        with self._lock:
            if isinstance(query, ItemCollection):
                return find_collection(lambda q: self._live(q, now), query, limit=limit, after=after)
            return find_rows(self._live(query, now), query, limit=limit, after=after, examine=examine)

    def scan(
        self, shape: EntityShape, *, segment: int = 0, segments: int = 1, after: str | None = None, limit: int = 1000
    ) -> ScanPage:
        with self._lock:
            rows = [] if segment else self.table(shape).values()  # one walk is all there is
            return scan_rows(rows, shape, after=after, limit=limit)

    def _live(self, query: Query[Any], now: datetime) -> Iterator[StoredRow]:
        shape, moment = query.pattern.entity, int(now.timestamp())
        return (row for row in self.seen(query).values() if row.is_live(shape, moment))

    def seen(self, query: Query[Any]) -> Mapping[Identity, StoredRow]:
        """The rows that a query is answered from; through an index that lags, those of an earlier moment."""
        rows = self.table(query.pattern.entity)
        if not self.lag or query.pattern.index is None:
            return rows
        return self._as_before(relation(query.pattern.entity), rows)

    def _as_before(self, table: Relation, rows: dict[Identity, StoredRow]) -> Mapping[Identity, StoredRow]:
        """The rows of a table without the last commits."""
        unseen, before = set(list(dict.fromkeys(t.number for t in reversed(self.journal)))[: self.lag]), dict(rows)
        for touched in reversed(self.journal):
            if touched.number in unseen and touched.address[0] == table:
                self._put(before, touched.address[1], touched.old)
        return before

    def table(self, shape: EntityShape) -> dict[Identity, StoredRow]:
        found = self.tables.get(relation(shape))
        if found is None:
            raise Misconfigured(f"there is no table {shape.relation}; run `penstock tables apply`")
        return found

    def standing(self, shape: EntityShape, key: Mapping[str, Any], now: datetime) -> StoredRow | None:
        row = self.table(shape).get(identity(shape, key))
        return row if row is not None and row.is_live(shape, int(now.timestamp())) else None

    # Writing

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        with self._lock:
            if token in self.tokens:
                return
            number, self.begun = self.begun or self.log.begin(), None
            try:
                for position, write in enumerate(writes):
                    self.judge(write, position, now)
                self.apply(number, self._left_by(writes), now, cause="user")
            finally:
                self.log.roll_back(number)
            self.tokens.add(token)

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        with self._lock:
            self.commit([patch], now=now, token=token)
            # As it stands after the patch, even where the patch has ended it.
            row = self.table(patch.shape).get(identity(patch.shape, patch.key))
            if row is None:  # it was applied, and then somebody removed the record
                raise conflict(patch, None, position=0)
            return got([Ref(patch.shape, patch.key)], [row])[0]

    def load(self, writes: Iterable[Write], *, now: datetime) -> None:
        for write in writes:
            with self._lock:
                left = self._left_by([write])
                self.apply(self.log.begin(), left, now, cause="user")

    def expire(self, shapes: Sequence[EntityShape], *, now: datetime, limit: int = 1000) -> int:
        with self._lock:
            moment = int(now.timestamp())
            ended: list[tuple[EntityShape, Identity]] = [
                (shape, key)
                for shape in shapes
                if shape.expiry
                for key, row in self.table(shape).items()
                if not row.is_live(shape, moment)
            ][:limit]
            gone: Changed = {(relation(shape), key): (shape, None) for shape, key in ended}
            self._check_taken(gone)
            self.apply(self.log.begin(), gone, now, cause="expiry")
            return len(ended)

    def open_early(self, writes: Sequence[Write], *, now: datetime) -> int:
        """Begin a transaction that commits later; it sees what others have committed by then."""
        return self.log.begin()

    def judge(self, write: Write, position: int, now: datetime) -> None:
        """Refuse a write whose condition does not hold."""
        condition, row = required(write), self.standing(write.shape, write.key, now)
        if condition is None:
            return
        if row is None:
            if not holds(condition, None):
                raise conflict(write, None, position=position)
        elif not holds_exactly(write.shape, condition, row.some(write.shape, fields_of(condition))):
            (found,) = got([Ref(write.shape, write.key)], [row])
            raise conflict(write, None if found is None else found.__dict__, position=position)

    def _left_by(self, writes: Iterable[Write]) -> Changed:
        left: Changed = {}
        for write in writes:
            if not isinstance(write, Check):
                address = (relation(write.shape), identity(write.shape, write.key))
                left[address] = (write.shape, row_after(write, self.table(write.shape).get(address[1])))
        self._check_taken(left)
        return left

    def _check_taken(self, left: Changed) -> None:
        for table, _ in left:
            if table in self.held:
                raise StoreMoved(self.held[table])

    def apply(self, number: int, left: Changed, now: datetime, *, cause: str) -> None:
        """Let a commit be seen, and be told by the log."""
        told: list[LoggedRow] = []
        for place, (address, (shape, new)) in enumerate(left.items(), 1):
            rows = self.tables[address[0]]
            old = rows.get(address[1])
            self._put(rows, address[1], new)
            self._note(Touched(address, shape, old, new, number))
            if (
                address[0] in self.logged
                and not (old is new is None)
                and (old is None or new is None or old.values != new.values)
            ):
                kind = "insert" if old is None else "update" if new is not None else "remove"
                told.append(LoggedRow((number, place), address[0], kind, old, new, cause, now))
        self.log.commit(number, told)

    def _note(self, touched: Touched) -> None:
        self.journal.append(touched)
        for row in (touched.old, touched.new):
            if row is not None:
                self.digest ^= hash((touched.address, row.digest))

    def _put(self, rows: dict[Identity, StoredRow], key: Identity, row: StoredRow | None) -> None:
        if row is None:
            rows.pop(key, None)
        else:
            rows[key] = row

    # Changes

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> FeedSlice:
        watched = {relation(shape): shape for shape in shapes if shape.table.feed}
        with self._lock:
            return self.log.read(watched, after=after, limit=limit) if watched else FeedSlice(position=after)

    def feed_end(self, shapes: Sequence[EntityShape], *, after: str | None = None) -> str | None:
        if not any(shape.table.feed for shape in shapes):
            return None
        with self._lock:
            number, place = self.log.end()
            return f"{number}.{place}"

    def trim(self, shapes: Sequence[EntityShape], *, before: str, limit: int = 10_000) -> int:
        with self._lock:
            return self.log.trim({relation(s) for s in shapes if s.table.feed}, before=before, limit=limit)

    def hold_writes(self, shapes: Sequence[EntityShape], *, told: str | None) -> None:
        with self._lock:
            for shape in shapes:
                if told is not None:
                    self.held[relation(shape)] = told
                    continue
                self.held.pop(relation(shape), None)
                if not shape.table.feed:
                    self.logged.discard(relation(shape))

    def log_size(self, shapes: Sequence[EntityShape]) -> LogSize:
        return self.log.size({relation(s) for s in shapes if s.table.feed})

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        return [self._size(shape) for shape in shapes]

    def _size(self, shape: EntityShape) -> TableSize:
        rows = self.table(shape)
        column = shape.fields[shape.expiry].column if shape.expiry else ""
        ends = [row.values[column] for row in rows.values() if row.values.get(column) is not None]
        return TableSize(shape.relation, (shape.label,), len(rows), first_end=min(ends, default=None))

    def bound(self, project: str) -> Engine:
        return self

    def listen(self) -> Waiter:
        return PollingWaiter()

    def close(self) -> None:
        """There is nothing to give back."""


class EvolvingEngine(SimulatedEngine):
    """The same where actors have different declarations: the store remembers its layouts, and everybody asks for them.

    Those questions are calls like any other, and so points.
    """

    @property
    def knowledge(self) -> None:  # type: ignore[override] # whoever has none is given one by the store
        raise AttributeError("it goes by declarations")


def relation(shape: EntityShape) -> Relation:
    """The table of an entity. Two declarations may share it, an older one and a newer."""
    return shape.domain, shape.relation


def _needed(shapes: Iterable[EntityShape]) -> Iterator[tuple[str, str]]:
    for shape in shapes:
        yield "create table", ".".join(filter(None, relation(shape)))
        for field in shape.fields.values():
            yield "add column", f"{shape.relation}.{field.column}"
        for index in shape.indexes.values():
            yield "create index", f"{shape.relation}.{index.place.name}"
