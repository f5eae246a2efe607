"""Retention: what has been kept for its time is archived, read back from the archive, and only then removed.

Each rule of an entity (`RetainFor`, `KeepLatest`) can be asked what it would do. A run may die at any point: what was
archived but not removed is found again, and written again only if the batch is no longer the same. A record that was
changed after it was archived stays, and is archived again when its time comes.

Where a rule says so, files leave with their records: copied to the archive, read back, and released with the commit
that removes the records. The sweep takes them to the trash from there, unless another record points at them by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import Conflict, DamagedRecord, InvalidValue, PenstockError
from penstock.files.deletion import ANNOUNCED, release_files
from penstock.kernel.lease import Lease, LeaseLost, release, renew_in_time, take_named
from penstock.kernel.store import Store
from penstock.kernel.unchanged import unchanged
from penstock.lifecycle.archived_file import ArchivedFile, DamagedArchive, keep_file
from penstock.lifecycle.bundle import keep, line_of
from penstock.lifecycle.retention_rule import Rule, rules_of
from penstock.lifecycle.retention_unit import FoundUnits, LeavingUnits, RetentionUnit, parts
from penstock.ports.archive import Archive
from penstock.ports.clock import by_the_slowest
from penstock.ports.object_store import Objects
from penstock.schema.shape import COMMIT_WRITES

_COMMIT = COMMIT_WRITES - 2
"Room for the lease and the audit line."
_ADDED = 10
"Room for what a rule adds to the commit that removes a record, and for the check of it in the others."
_EXAMPLES = 20
"So many of the records that leave are told by name."
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
    files: int = 0
    file_bytes: int = 0
    missing: int = 0
    "Files at which the records point and which are not there, so that nothing of them can be archived."
    examples: list[str] = field(default_factory=list)
    "The first of the records."

    def add(self, unit: RetentionUnit, moment: str | None) -> None:
        self.records += 1
        self.along += len(unit.along)
        self.bytes += unit.bytes
        self.files += len(unit.files)
        self.file_bytes += sum(unit.files.values())
        self.missing += len(unit.missing)
        if len(self.examples) < _EXAMPLES:
            self.examples.append(repr(unit.record.ref))
        if moment is not None:
            self.oldest = moment if self.oldest is None else min(self.oldest, moment)
            self.newest = moment if self.newest is None else max(self.newest, moment)

    def tell(self, found: FoundUnits) -> None:
        """Say what has stayed of all that was found."""
        self.held = found.held
        self.unreadable = sorted({u.name for u in found.unreadable})


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


class HeldLease:
    """A lease that is renewed in time, for as long as whoever has it says to be alive."""

    def __init__(self, store: Store, lease: Lease, period: timedelta) -> None:
        self._store, self.lease, self._period = store, lease, period

    def hold(self) -> Lease:
        """The lease, with enough of its time left; LeaseLost when another has it."""
        self.lease = renew_in_time(self._store, self.lease, period=self._period)
        return self.lease


class Retention:
    """Carries out the retention rules of some domains. Any number of processes may run it.

    ``objects`` is where the files are that leave with records. ``period`` is how long a lease on a rule lasts: longer
    than it takes to archive the records of a batch.
    """

    def __init__(
        self,
        store: Store,
        archive: Archive,
        domains: Iterable[Domain],
        *,
        owner: str,
        objects: Objects | None = None,
        batch: int = 1000,
        batch_bytes: int = 16 * 1024 * 1024,
        period: timedelta = timedelta(minutes=10),
    ) -> None:
        self._store, self._archive, self._owner = store, archive, owner
        self._batch, self._batch_bytes, self._period = batch, batch_bytes, period
        domains = list(domains)
        self._rules = [rule for d in domains for e in d.entities for rule in rules_of(e)]
        self._objects, self._units = objects, LeavingUnits(store, objects, domains)
        if objects is None and (needed := [r.entity.__shape__.label for r in self._rules if r.files]):
            raise InvalidValue(
                f"{', '.join(needed)}: files leave with them; give Retention the store of these, objects=…"
            )

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

    def _plan(self, rule: Rule) -> Due:
        due = Due(rule.entity.__shape__.label, rule.text)
        found = self._units.find(rule, by_the_slowest(self._store.clock))
        for unit in found:
            due.add(unit, rule.moment(unit.record))
        due.tell(found)
        return due

    # Archiving and removing

    def _run(self, rule: Rule, done: Archived, limit: int | None) -> None:
        lease = take_named(self._store, f"retention:{done.entity}", owner=self._owner, period=self._period)
        if lease is None:
            done.busy = True
            return
        held = HeldLease(self._store, lease, self._period)
        try:
            found = self._units.find(rule, by_the_slowest(self._store.clock))
            for batch in parts(islice(found, limit), self._batch, self._batch_bytes):
                self._archive_and_remove(rule, batch, held, done)
            done.tell(found)
        except LeaseLost:
            done.busy = True
        finally:
            release(self._store, held.lease)

    def _archive_and_remove(self, rule: Rule, batch: list[RetentionUnit], held: HeldLease, done: Archived) -> None:
        moments = [m for m in (rule.moment(u.record) for u in batch) if m is not None]
        span = {"oldest": min(moments), "newest": max(moments)} if moments else {}
        files = self._keep_files(batch, held)
        bundle = keep(self._archive, [r for unit in batch for r in unit.records], files=files, **span)
        done.bundles.append(bundle.name)
        for unit in batch:
            done.add(unit, rule.moment(unit.record))
        removal = _Removal(rule, bundle.name, f"{rule.text}; {bundle.records} records in {bundle.name}")
        # What adds to a commit has it for itself, so that there is room.
        most = 1 if rule.files or rule.on_leave is not None else _COMMIT
        for part in parts(batch, most, _COMMIT_BYTES):
            if len(part) == 1:
                part = self._lighten(part[0], removal, held, done)
            self._remove(part, removal, held, done)

    def _keep_files(self, batch: list[RetentionUnit], held: HeldLease) -> list[ArchivedFile]:
        """Copy the files of units into the archive, and read each back."""
        keys = dict.fromkeys(key for unit in batch for key in unit.files)
        if not keys or self._objects is None:
            return []
        kept = (keep_file(self._archive, self._objects, key, alive=held.hold) for key in keys)
        return [file for file in kept if file is not None]

    def _lighten(self, unit: RetentionUnit, removal: _Removal, held: HeldLease, done: Archived) -> list[RetentionUnit]:
        """Remove what goes along with a record and has no room in its commit; what is left of the unit.

        The record leaves last, so that after a run that dies in between the next one finds the others by it; and
        nothing leaves once it was changed.
        """
        along = [RetentionUnit(r, bytes=len(line_of(r))) for r in unit.along]
        record = RetentionUnit(unit.record, bytes=unit.bytes - sum(u.bytes for u in along))
        released = unit.files_to_release(unit.records)
        room = max(1, _COMMIT - _ADDED - len(released) // ANNOUNCED)
        rest, *others = parts([record, *along], room, _COMMIT_BYTES)
        for part in others:
            try:
                self._delete([u.record for u in part], [unit], removal, held, checked=unit.record)
            except LeaseLost:
                raise
            except Conflict:
                done.changed += 1
                return []
        return [replace(unit, along=tuple(u.record for u in rest[1:]))]

    def _remove(self, units: list[RetentionUnit], removal: _Removal, held: HeldLease, done: Archived) -> None:
        """Remove what still stands as it was archived, together with the audit line that tells of it."""
        while units:
            owners = [unit for unit in units for _ in unit.records]
            try:
                self._delete([record for unit in units for record in unit.records], units, removal, held)
            except LeaseLost:
                raise
            except Conflict as refused:
                # What a rule adds is added for a single unit, and comes behind its records.
                refuser = owners[min(refused.position, len(owners) - 1)]
                units = [u for u in units if u is not refuser]
                done.changed += 1
            else:
                done.removed += len(units)
                return

    def _delete(
        self,
        records: Sequence[Entity],
        units: Sequence[RetentionUnit],
        removal: _Removal,
        held: HeldLease,
        *,
        checked: Entity | None = None,
    ) -> None:
        """All of them, or Conflict when one, or the one that is ``checked``, was changed since it was archived."""
        leaves = removal.rule.on_leave
        with self._store.change(by=self._owner, why=removal.why, under=held.hold()) as change:
            for record in records:
                change.delete(record.ref, when=unchanged(record))
            if checked is not None:
                change.check(checked.ref, unchanged(checked))
            for unit in units:
                release_files(change, unit.record, unit.files_to_release(records), seen_at=unit.seen_at)
                if leaves is not None and checked is None:
                    leaves(change, unit.record, removal.bundle)


@dataclass(frozen=True, slots=True)
class _Removal:
    """By which rule records are removed, where they are archived, and what the audit trail says."""

    rule: Rule
    bundle: str
    why: str
