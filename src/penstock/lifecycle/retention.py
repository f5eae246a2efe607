"""Retention: what has been kept for its time is archived, read back from the archive, and only then removed.

Each rule of an entity (`RetainFor`, `KeepLatest`) can be asked what it would do. A run may die at any point: what was
archived but not removed is found again, and written again only if the batch is no longer the same. A record that was
changed after it was archived stays, and is archived again when its time comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeVar

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import Conflict, DamagedRecord, PenstockError
from penstock.kernel.lease import Lease, LeaseLost, release, renew_in_time, take_named
from penstock.kernel.readable import tell
from penstock.kernel.store import Store
from penstock.kernel.unchanged import unchanged
from penstock.lifecycle.bundle import DamagedArchive, keep, line_of
from penstock.lifecycle.retention_rule import Rule, rules_of
from penstock.operations.reads import Unreadable
from penstock.ports.archive import Archive
from penstock.ports.clock import by_the_slowest
from penstock.schema.shape import COMMIT_WRITES

T = TypeVar("T")

_CHUNK = 100
_COMMIT = COMMIT_WRITES - 2
"Room for the lease and the audit line."
_COMMIT_BYTES = 1024 * 1024
"DynamoDB takes 4 MB in a transaction, records and conditions together."


@dataclass(slots=True)
class Due:
    """What a rule would archive and remove now."""

    entity: str
    rule: str
    records: int = 0
    along: int = 0
    "Records that leave because another does."
    bytes: int = 0
    "Of the archive's lines, before compression."
    oldest: str | None = None
    newest: str | None = None
    held: int = 0
    "Records whose time is over but whose state keeps them: somebody should look at these."
    unreadable: list[str] = field(default_factory=list)
    "Records that cannot be read, and stay: somebody should mend these."

    def add(self, unit: RetentionUnit, moment: str | None) -> None:
        self.records += 1
        self.along += len(unit.along)
        self.bytes += unit.bytes
        if moment is not None:
            self.oldest = moment if self.oldest is None else min(self.oldest, moment)
            self.newest = moment if self.newest is None else max(self.newest, moment)


@dataclass(slots=True)
class Archived(Due):
    """What a rule archived, and what became of it."""

    removed: int = 0
    "Of the records; those that left along with them are not counted again."
    changed: int = 0
    "Archived, but changed or removed by others before they could be removed: they stay as they are."
    bundles: list[str] = field(default_factory=list)
    busy: bool = False
    "Another runner is at it."


@dataclass(frozen=True, slots=True)
class RetentionUnit:
    """A record and those that leave along with it."""

    record: Entity
    along: tuple[Entity, ...] = ()
    bytes: int = 0

    @property
    def records(self) -> tuple[Entity, ...]:
        return (self.record, *self.along)


class Retention:
    """Carries out the retention rules of some domains. Any number of processes may run it.

    ``period`` is how long a lease on a rule lasts: longer than it takes to archive a batch.
    """

    def __init__(
        self,
        store: Store,
        archive: Archive,
        domains: Iterable[Domain],
        *,
        owner: str,
        batch: int = 1000,
        batch_bytes: int = 16 * 1024 * 1024,
        period: timedelta = timedelta(minutes=10),
    ) -> None:
        self._store, self._archive, self._owner = store, archive, owner
        self._batch, self._batch_bytes, self._period = batch, batch_bytes, period
        self._rules = [rule for d in domains for e in d.entities for rule in rules_of(e)]

    def plan(self) -> list[Due]:
        """What each rule would do now. Nothing is changed."""
        return [self._plan(rule) for rule in self._rules]

    def run(self, *, limit: int | None = None) -> list[Archived]:
        """Archive and remove what is due, at most ``limit`` records.

        A rule that cannot be carried out keeps no other from it; its error is raised at the end.
        """
        done: list[Archived] = []
        errors: list[PenstockError] = []
        for rule in self._rules:
            left = None if limit is None else limit - sum(d.records for d in done)
            done.append(Archived(rule.entity.__shape__.label, rule.text))
            try:
                self._run(rule, done[-1], left)
            except (DamagedArchive, DamagedRecord) as error:
                errors.append(error)
        if errors:
            raise errors[0]
        return done

    # Finding

    def _plan(self, rule: Rule) -> Due:
        due = Due(rule.entity.__shape__.label, rule.text)
        for unit in self._units(rule, by_the_slowest(self._store.clock), due):
            due.add(unit, rule.moment(unit.record))
        return due

    def _units(self, rule: Rule, now: datetime, due: Due) -> Iterator[RetentionUnit]:
        """What may leave, with what goes along."""
        unreadable: list[Unreadable] = []
        for chunk in _chunks(self._candidates(rule, now, unreadable), _CHUNK):
            leaving = [r for r in chunk if rule.may_leave(r)]
            due.held += len(chunk) - len(leaving)
            refs = [list(rule.along(r)) for r in leaving]
            damaged: list[Unreadable] = []
            asked = [ref for some in refs for ref in some]
            found = iter(self._store.get_many(asked, unreadable=damaged) if asked else [])
            lost = {u.name for u in damaged}
            for record, some in zip(leaving, refs, strict=True):
                along = tuple(r for r in islice(found, len(some)) if r is not None)
                if not any(repr(ref) in lost for ref in some):  # else it waits for what should leave along with it
                    yield RetentionUnit(record, along, sum(len(line_of(r)) for r in (record, *along)))
            unreadable += damaged
        due.unreadable = sorted({u.name for u in unreadable})
        tell(unreadable)

    def _candidates(self, rule: Rule, now: datetime, unreadable: list[Unreadable]) -> Iterator[Entity]:
        """The records whose time is over."""
        found = rule.find(self._store, now, unreadable)
        if not rule.by_index or self._store.engine.features.strong_index_reads:
            yield from found
            return
        # An index that lags behind shows what was; what is, the records themselves tell.
        for chunk in _chunks(found, _CHUNK):
            for record in self._store.get_many([r.ref for r in chunk], unreadable=unreadable):
                if record is not None and rule.is_due(record, now):
                    yield record

    # Archiving and removing

    def _run(self, rule: Rule, done: Archived, limit: int | None) -> None:
        lease = take_named(self._store, f"retention:{done.entity}", owner=self._owner, period=self._period)
        if lease is None:
            done.busy = True
            return
        try:
            units = islice(self._units(rule, by_the_slowest(self._store.clock), done), limit)
            for batch in _parts(units, self._batch, self._batch_bytes):
                lease = self._archive_and_remove(rule, batch, lease, done)
        except LeaseLost:
            done.busy = True
        finally:
            release(self._store, lease)

    def _archive_and_remove(self, rule: Rule, batch: list[RetentionUnit], lease: Lease, done: Archived) -> Lease:
        moments = [m for m in (rule.moment(u.record) for u in batch) if m is not None]
        span = {"oldest": min(moments), "newest": max(moments)} if moments else {}
        bundle = keep(self._archive, [r for unit in batch for r in unit.records], **span)
        done.bundles.append(bundle.name)
        for unit in batch:
            done.add(unit, rule.moment(unit.record))
        why = f"{rule.text}; {bundle.records} records in {bundle.name}"
        for part in _parts(batch, _COMMIT, _COMMIT_BYTES):
            lease = renew_in_time(self._store, lease, period=self._period)
            if len(part) == 1:
                lease, part = self._lighten(part[0], why, lease, done)
            self._remove(part, why, lease, done)
        return lease

    def _lighten(
        self, unit: RetentionUnit, why: str, lease: Lease, done: Archived
    ) -> tuple[Lease, list[RetentionUnit]]:
        """Remove what goes along with a record and has no room in its commit; what is left of the unit.

        The record leaves last, so that after a run that dies in between the next one finds the others by it.
        """
        along = [RetentionUnit(r, bytes=len(line_of(r))) for r in unit.along]
        record = RetentionUnit(unit.record, bytes=unit.bytes - sum(u.bytes for u in along))
        rest, *others = _parts([record, *along], _COMMIT, _COMMIT_BYTES)
        for part in others:
            lease = renew_in_time(self._store, lease, period=self._period)
            try:
                self._delete([r for u in part for r in u.records], why, lease)
            except LeaseLost:
                raise
            except Conflict:
                done.changed += 1
                return lease, []
        return lease, [RetentionUnit(unit.record, tuple(u.record for u in rest[1:]))]

    def _remove(self, units: list[RetentionUnit], why: str, lease: Lease, done: Archived) -> None:
        """Remove what still stands as it was archived, together with the audit line that tells of it."""
        while units:
            owners = [unit for unit in units for _ in unit.records]
            try:
                self._delete([record for unit in units for record in unit.records], why, lease)
            except LeaseLost:
                raise
            except Conflict as refused:
                units = [u for u in units if u is not owners[refused.position]]
                done.changed += 1
            else:
                done.removed += len(units)
                return

    def _delete(self, records: Iterable[Entity], why: str, lease: Lease) -> None:
        """All of them, or Conflict when one was changed since it was archived."""
        with self._store.change(by=self._owner, why=why, under=lease) as change:
            for record in records:
                change.delete(record.ref, when=unchanged(record))


def _chunks(members: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(members)
    while chunk := list(islice(left, size)):
        yield chunk


def _parts(units: Iterable[RetentionUnit], most: int, most_bytes: int) -> Iterator[list[RetentionUnit]]:
    """Units in parts of at most so many records and, unless one alone has more, so many bytes."""
    part: list[RetentionUnit] = []
    records = size = 0
    for unit in units:
        more = len(unit.records)
        if part and (records + more > most or size + unit.bytes > most_bytes):
            yield part
            part, records, size = [], 0, 0
        part.append(unit)
        records, size = records + more, size + unit.bytes
    if part:
        yield part
