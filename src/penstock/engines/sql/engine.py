"""The SQL engine: one code for PostgreSQL and SQLite. A `Connector` says how statements reach the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from msgspec.structs import replace

from penstock.engines.sql.connector import Connector, Refused
from penstock.engines.sql.dialects import DIALECTS
from penstock.engines.sql.feed_table import feed_end, log_size, read_changes, trim_changes
from penstock.engines.sql.held_writes import hold_writes
from penstock.engines.sql.leftover_objects import drop_leftovers, standing_leftovers
from penstock.engines.sql.retold_rows import Retell, compile_retelling
from penstock.engines.sql.row_collections import RowCollections
from penstock.engines.sql.row_copies import copy_columns
from penstock.engines.sql.row_reads import PAGE, RowForm, RowReads
from penstock.engines.sql.row_scans import raw_rows, scan_rows
from penstock.engines.sql.row_surveys import survey_rows
from penstock.engines.sql.rows import Row, unreadable_row
from penstock.engines.sql.schema import ensure
from penstock.engines.sql.statement import FAR, Statement
from penstock.engines.sql.statements import Statements
from penstock.engines.sql.table_sizes import table_sizes
from penstock.errors import Conflict, DamagedRecord
from penstock.operations.commit_recovery import conflict, needs_token, stands_as_written, witness
from penstock.operations.conditions import All, fields_of
from penstock.operations.copied_page import CopiedPage
from penstock.operations.feed_entry import FeedSlice, LogSize
from penstock.operations.item_collection import ItemCollection
from penstock.operations.leftover import DroppedPage, Leftover
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Page, Query, RawPlace, Ref, Unreadable, damage
from penstock.operations.scan_page import RowPage, ScanPage
from penstock.operations.spelling import AsStored, holds_as_read
from penstock.operations.writes import Patch, Put, Write
from penstock.ports.engine import Features, TableSize, Waiter
from penstock.schema.former_places import FormerPlaces
from penstock.schema.shape import EntityShape, ViewShape

W = TypeVar("W", bound=Write)

_BATCH, _LOADED = 200, 1000


class SqlEngine:
    """Carries out reads and writes in tables, one for each entity."""

    def __init__(self, connector: Connector, *, known: dict[EntityShape, Statements] | None = None) -> None:
        self.connector = connector
        self.features = Features(embedded=not connector.loses_answers)
        self._known: dict[EntityShape, Statements] = {} if known is None else known
        self._known_bound: dict[EntityShape, Statements] = {}
        self._retellings: dict[tuple[EntityShape, str], Retell] = {}
        self._reads = RowReads(connector, self.statements)
        self._collections = RowCollections(self._reads, self.statements)

    def statements(self, shape: EntityShape) -> Statements:
        known = self._known.get(shape)
        if known is None:
            known = self._known[shape] = Statements(shape, self.connector.dialect)
        return known

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[PlanStep]:
        return ensure(self.connector, shapes, views, dry_run=dry_run)

    def leftovers(
        self, shape: EntityShape, places: FormerPlaces, left: Mapping[str, EntityShape], *, counted: bool
    ) -> list[Leftover]:
        return standing_leftovers(self.connector, shape, places, left, counted=counted)

    def drop(
        self, shape: EntityShape, leftovers: Sequence[Leftover], *, after: str | None = None, limit: int = 100
    ) -> DroppedPage:
        return drop_leftovers(self.connector, shape, leftovers)

    # Reading

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        if len(refs) == 1:
            return [self._get_one(refs[0], now)]
        found: dict[tuple[Any, ...], Any] = {}
        by_shape: dict[EntityShape, dict[tuple[Any, ...], Mapping[str, Any]]] = {}
        for ref in refs:
            by_shape.setdefault(ref.shape, {})[_identity(ref.shape, ref.key)] = ref.key
        unreadable: list[Unreadable] = []
        for shape, keys in by_shape.items():
            statements = self.statements(shape)
            todo = iter(keys.values())
            while chunk := list(islice(todo, _BATCH)):
                statement = statements.get_many(chunk, _epoch(now))
                for row in self.connector.rows(statement.text, statement.parameters):
                    try:
                        record = statements.codec.record(row)
                    except DamagedRecord as error:
                        unreadable.append(unreadable_row(statements.codec, shape, row, error))
                    else:
                        found[_identity(shape, record.__dict__)] = record
        records = [found.get(_identity(ref.shape, ref.key)) for ref in refs]
        if unreadable:
            raise damage(unreadable, records)
        return records

    def _get_one(self, ref: Ref[Any], now: datetime) -> Any | None:
        statements = self.statements(ref.shape)
        parameters = statements.codec.bind_key(ref.key)
        if ref.shape.expiry:
            parameters = (*parameters, _epoch(now))
        rows = self.connector.rows(statements.get, parameters)
        try:
            return statements.codec.record(rows[0]) if rows else None
        except DamagedRecord as error:
            raise damage([unreadable_row(statements.codec, ref.shape, rows[0], error)], [None]) from error

    def find(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        limit: int | None,
        after: Any,
        now: datetime,
        examine: int | None = None,
    ) -> Page[Any]:
        if isinstance(query, ItemCollection):
            return self._collections.find(query, limit, after, _epoch(now))
        if query.filter is not None or query.fields is not None or after.__class__ is RawPlace:
            return self._reads.find(query, limit, after, _epoch(now), examine)
        statements = self.statements(query.pattern.entity)
        most = limit or PAGE
        statement = statements.find(query, min(most + 1, FAR), after, _epoch(now))
        rows = self.connector.rows(statement.text, statement.parameters)
        more = len(rows) > most
        if more:
            rows = rows[:most]
        record = statements.codec.record
        try:
            return Page([record(row) for row in rows], more)
        except DamagedRecord:
            return RowForm(statements, tuple(statements.shape.fields)).page(query, rows, more=more)

    def scan(
        self, shape: EntityShape, *, segment: int = 0, segments: int = 1, after: str | None = None, limit: int = 1000
    ) -> ScanPage:
        return scan_rows(self.connector, self.statements(shape), segment, after, limit)

    def row_forms(self, shape: EntityShape) -> tuple[str, ...]:
        dialect = self.connector.dialect
        return (dialect.name, *sorted(dialect.rows_taken - {dialect.name}))

    def scan_rows(self, shape: EntityShape, *, form: str, after: str | None = None, limit: int = 1000) -> RowPage:
        page = raw_rows(self.connector, self.statements(shape), after, limit)
        if form == self.connector.dialect.name:
            return page
        retell = self._retellings.get((shape, form))
        if retell is None:
            retell = compile_retelling(shape, self.connector.dialect, DIALECTS[form])
            self._retellings[shape, form] = retell
        return replace(page, told=list(map(retell, page.rows)))

    def read_row(self, shape: EntityShape, row: Row) -> Any:
        return self.statements(shape).codec.record(row)

    def load_rows(self, shape: EntityShape, rows: Sequence[Row], *, form: str) -> bool:
        taken = form in self.connector.dialect.rows_taken
        if taken:
            statements = self.statements(shape)
            self.connector.many(statements.put_text, list(rows), pivot=statements.put_pivot)
        return taken

    def survey(self, shape: EntityShape, *, after: str | None = None, limit: int = 1000) -> ScanPage:
        return survey_rows(self.connector, self.statements(shape), after, limit)

    # Writing

    def copy_fields(
        self, shape: EntityShape, pairs: Mapping[str, str], *, after: str | None = None, limit: int = 1000
    ) -> CopiedPage:
        return copy_columns(self.connector, self.statements(shape), pairs, after, limit)

    def others_wrote(self) -> bool:
        return self.connector.others_wrote()

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        moment = _epoch(now)
        if len(writes) == 1 and isinstance(writes[0], Put) and writes[0].when is None:
            statements = self.statements(writes[0].shape)
            self.connector.run(statements.put_text, statements.codec.bind(writes[0].values))
            return
        todo = []
        wake: list[Put] = []
        for write in writes:
            shape = write.shape
            statements = self._known.get(shape) or self.statements(shape)
            todo.append(statements.write(write, moment))
            if shape.wakes and isinstance(write, Put):  # what becomes of it later concerns nobody who waits
                wake.append(write)
        remembered = token if self.connector.loses_answers and needs_token(writes) else None
        spelled: set[int] = set()
        while True:
            try:
                return self.connector.together(todo, token=remembered, wake=wake)
            except Refused as refused:
                if refused.repeated and self._was_applied(writes, now):
                    return None
                position = refused.position
            again = self._spelled(writes[position], now, position=position, tried=position in spelled)
            todo[position] = self.statements(again.shape).write(again, moment)
            spelled.add(position)

    def _was_applied(self, writes: Sequence[Write], now: datetime) -> bool:
        """After a lost answer: does what stands there prove that the commit had been applied?"""
        proof = witness(writes) or (writes[0] if len(writes) == 1 else None)
        if proof is None:
            return False
        found = self._get_one(Ref(proof.shape, proof.key), now)
        return stands_as_written(proof, found.__dict__ if found is not None else None)

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        statements = self.statements(patch.shape)
        remembered = token if self.connector.loses_answers and needs_token((patch,)) else None

        def run(patch: Patch) -> list[tuple[Any, ...]] | None:
            statement = statements.patch(patch, _epoch(now), returning=True)
            return self.connector.run(statement.text, statement.parameters, token=remembered)

        rows = run(patch)
        if rows is not None and not rows:
            try:
                rows = run(self._spelled(patch, now))
            except Conflict as refused:
                if not stands_as_written(patch, refused.found):
                    raise
                rows = None
        if rows is None:
            found = self._get_one(Ref(patch.shape, patch.key), now)
            if found is None:  # it was applied, and then somebody removed the record
                raise conflict(patch, None, position=0)
            return found
        if not rows:
            self._spelled(patch, now, tried=True)
        return statements.codec.record(rows[0])

    def load(self, writes: Iterable[Write], *, now: datetime) -> None:
        todo = iter(writes)
        while chunk := list(islice(todo, _LOADED)):
            for group in self._grouped(chunk, _epoch(now)):
                pivot = group[0].pivot if _differ(group) else None
                self.connector.many(group[0].text, [s.parameters for s in group], pivot=pivot)

    def _grouped(self, writes: list[Write], moment: int) -> list[list[Statement]]:
        """Writes in their order, with neighbours of the same text put together, by their keys.

        Of two who write the same records at once, none then waits for the other while the other waits for it.
        """
        groups: list[list[Statement]] = []
        for write in writes:
            statement = self.statements(write.shape).write(write, moment)
            if not groups or groups[-1][0].text != statement.text:
                groups.append([])
            groups[-1].append(statement)
        return [sorted(found, key=_place) for found in groups]

    def expire(self, shapes: Sequence[EntityShape], *, now: datetime, limit: int = 1000) -> int:
        removed = 0
        for shape in shapes:
            if shape.expiry and removed < limit:
                removed += self._expire_one(shape, _epoch(now), limit - removed)
        return removed

    def _expire_one(self, shape: EntityShape, moment: int, limit: int) -> int:
        return self.connector.expire(self.statements(shape).expire, (moment, limit), watched=shape.table.feed)

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> FeedSlice:
        return read_changes(self.connector, self.statements, shapes, after=after, limit=limit)

    def feed_end(self, shapes: Sequence[EntityShape], *, after: str | None = None) -> str | None:
        return feed_end(self.connector, shapes, after=after)

    def trim(self, shapes: Sequence[EntityShape], *, before: str, limit: int = 10_000) -> int:
        return trim_changes(self.connector, shapes, before=before, limit=limit)

    def hold_writes(self, shapes: Sequence[EntityShape], *, told: str | None) -> None:
        hold_writes(self.connector, shapes, told=told)

    def log_size(self, shapes: Sequence[EntityShape]) -> LogSize:
        return log_size(self.connector, shapes)

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        return table_sizes(self.connector, self.statements, shapes)

    def bound(self, project: str) -> SqlEngine:
        connector = self.connector.bound(project)
        # Statements are compiled once for all projects, as they do not depend on which it is.
        return self if connector is self.connector else SqlEngine(connector, known=self._known_bound)

    def listen(self) -> Waiter:
        return self.connector.listen()

    def room(self) -> int | None:
        """How many bytes there is room for, where that can be told from here."""
        ask = getattr(self.connector, "room", None)
        return None if ask is None else ask()

    def close(self) -> None:
        self.connector.close()

    # Refusals

    def _spelled(self, write: W, now: datetime, *, position: int = 0, tried: bool = False) -> W:
        """A refused write in the spelling of what stands there; Conflict if that was tried, or if its condition does
        not hold of what stands there as it is read."""
        statements, names = self.statements(write.shape), sorted(fields_of(write.when))
        asked = statements.standing(write.key, names, _epoch(now))
        rows = self.connector.rows(asked.text, asked.parameters)
        found = statements.codec.record(rows[0]).__dict__ if rows else None
        if tried or not names or not holds_as_read(write, found):
            raise conflict(write, found, position=position)
        stored = rows[0][len(write.shape.fields) :]
        return replace(write, when=All(tuple(AsStored(n, "=", v) for n, v in zip(names, stored, strict=True))))


def _identity(shape: EntityShape, values: Mapping[str, Any]) -> tuple[Any, ...]:
    return (shape, *(values[n] for n in shape.key.fields))


def _differ(statements: Sequence[Statement]) -> bool:
    """Is each of another record? One statement over many rows comes to none of them twice."""
    return len({_place(s) for s in statements}) == len(statements)


def _place(statement: Statement) -> tuple[Any, ...]:
    return statement.place or ()


def _epoch(now: datetime) -> int:
    return int(now.timestamp())
