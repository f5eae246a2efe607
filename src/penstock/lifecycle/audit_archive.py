"""The audit archive: sealed lines that are old enough move to cold storage, where their seals still vouch for them.

    AuditArchive(store, archive, trails, owner="archivist", keep=timedelta(days=365)).run()

Only lines under a seal move, seal by seal, and only if the seal still fits them. Each part of a trail is written to the
archive and read back; then its seals name the files, in one commit; only then are the lines removed from the store, by
what the archive gives back. A run may die at any point: files that no seal names are found and used again, and lines
that still stand though their seal names a file are removed by the next run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from penstock.errors import Conflict, DamagedRecord
from penstock.kernel.audit import EVERYWHERE, AuditLine, SystemAudit
from penstock.kernel.audit_register import AuditedProject, label
from penstock.kernel.lease import Lease, LeaseLost, release, renew_in_time, take_named
from penstock.kernel.seals import Seal, fits, projects
from penstock.kernel.seals.seal import SealDigest, lines
from penstock.kernel.store import Store
from penstock.lifecycle.archived_file import DamagedArchive
from penstock.lifecycle.archived_trails import SealFiles
from penstock.lifecycle.bundle import named_records
from penstock.operations.conditions import Compare, Missing
from penstock.operations.reads import Range, Ref
from penstock.operations.updates import Set
from penstock.operations.writes import Delete
from penstock.ports.archive import Archive
from penstock.ports.clock import by_the_slowest
from penstock.schema.shape import COMMIT_WRITES

log = logging.getLogger("penstock.audit")

_SEALS = COMMIT_WRITES - 10
"So many seals are marked in one commit, beside the register, the lease and the line that tells of it."
_REMOVED = COMMIT_WRITES - 2
"Records that are removed in one commit, beside the lease."
Along = Callable[[AuditLine], Iterable[Ref[Any]]]
"What means nothing without a line, and is removed with it."


@dataclass(slots=True)
class MovedLines:
    """What was, or would be, moved of one project's trail."""

    project: str
    trail: str
    seals: int = 0
    lines: int = 0
    files: list[str] = field(default_factory=list)
    removed: int = 0
    error: str | None = None
    "Why no more was moved: lines that their seal does not vouch for stay where they are."


@dataclass(frozen=True, slots=True)
class _Group:
    """Seals whose lines move together, and the files that hold those of each."""

    seals: list[Seal]
    files: list[list[str]]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for names in self.files for name in names))

    @property
    def lines(self) -> int:
        return sum(seal.count for seal in self.seals)


class AuditArchive:
    """Moves lines of audit trails to an archive once they are older than ``keep``. Any number of processes may."""

    def __init__(
        self,
        store: Store,
        archive: Archive,
        trails: Sequence[type[AuditLine]] = (SystemAudit,),
        *,
        owner: str,
        keep: timedelta,
        batch: int = 5000,
        batch_bytes: int = 8 * 1024 * 1024,
        period: timedelta = timedelta(minutes=10),
        along: Along | None = None,
    ) -> None:
        self._store, self._archive, self._trails, self._owner = store, archive, trails, owner
        self._keep, self._period = keep, period
        self._batch, self._batch_bytes = batch, batch_bytes
        self._along = along

    def plan(self, project: str | None = None) -> list[MovedLines]:
        """What would be moved now, of one project or of all. Nothing is changed."""
        told = []
        for trail, name in self._projects(project):
            due = MovedLines(name, label(trail))
            for seal in self._due(trail, name):
                due.seals, due.lines = due.seals + 1, due.lines + seal.count
            if due.seals:
                told.append(due)
        return told

    def run(self, project: str | None = None) -> list[MovedLines] | None:
        """Move what is due, of one project or of all; None while another process is at it.

        A trail that cannot be moved keeps no other from it: what is wrong is told, and its lines stay.
        """
        lease = take_named(self._store, "audit-archive", owner=self._owner, period=self._period)
        if lease is None:
            return None
        done: list[MovedLines] = []
        try:
            for trail, name in self._projects(project):
                moved = MovedLines(name, label(trail))
                lease = self._move(trail, moved, lease)
                if moved.seals or moved.removed or moved.error:
                    done.append(moved)
        except LeaseLost:
            log.warning("another process has taken over the archiving of audit lines")
        finally:
            release(self._store, lease)
        return done

    # Finding

    def _projects(self, project: str | None) -> Iterator[tuple[type[AuditLine], str]]:
        for trail in self._trails:
            yield from ((trail, name) for name in ([project] if project else projects(self._store, trail=trail)))

    def _due(self, trail: type[AuditLine], project: str) -> Iterator[Seal]:
        """The seals whose lines are all old enough and stand in the store."""
        over = by_the_slowest(self._store.clock) - self._keep
        known = self._store.lookup(AuditedProject.at(trail=label(trail), project_id=project))
        last = (known.archived if known else None) or 0
        after = Range(low=last, open_low=True)
        for seal in self._store.find(Seal.of_trail(project_id=project, trail=label(trail), number=after)):
            if seal.until > over or seal.archived is not None:
                return
            yield seal

    # Moving

    def _move(self, trail: type[AuditLine], moved: MovedLines, lease: Lease) -> Lease:
        try:
            lease = self._remove_left(trail, moved, lease)
            for seals in self._grouped(self._due(trail, moved.project)):
                lease = renew_in_time(self._store, lease, period=self._period)
                group = self._write(trail, seals)
                self._mark(trail, group, lease)
                moved.seals, moved.lines = moved.seals + len(group.seals), moved.lines + group.lines
                moved.files += group.names
                lease = self._remove(trail, group.names, moved, lease)
        except LeaseLost:
            raise
        except (DamagedRecord, DamagedArchive, Conflict) as damage:
            log.error("audit lines of %s (%s) stay where they are: %s", moved.project, moved.trail, damage)
            moved.error = str(damage)
        return lease

    def _grouped(self, seals: Iterator[Seal]) -> Iterator[list[Seal]]:
        """Neighbours that fill a file together, or one that fills several."""
        group: list[Seal] = []
        for seal in seals:
            if group and (sum(s.count for s in group) + seal.count > self._batch or len(group) == _SEALS):
                yield group
                group = []
            group.append(seal)
        if group:
            yield group

    def _write(self, trail: type[AuditLine], seals: list[Seal]) -> _Group:
        """Write the lines of some seals to the archive, if the seals fit them."""
        told = {"project": seals[0].project_id, "seals": [seals[0].number, seals[-1].number]}
        files = SealFiles(self._archive, self._batch, self._batch_bytes, told)
        for seal in seals:
            files.begin()
            digest = SealDigest(seal)
            for line in lines(self._store, trail, seal.project_id, seal.span):
                if not fits(line):
                    raise _unsound(seal)
                digest.add(line)
                files.add(line)
            if (digest.count, digest.end()) != (seal.count, seal.digest):
                raise _unsound(seal)
        files.flush()
        return _Group(seals, files.named)

    def _mark(self, trail: type[AuditLine], group: _Group, lease: Lease) -> None:
        """Have the seals name the files, in one commit with the line that tells of it."""
        first, last = group.seals[0], group.seals[-1]
        why = (
            f"moved {group.lines} lines of {first.project_id} ({first.trail}), seals {first.number} to {last.number}, "
            f"to the archive"
        )
        register = AuditedProject.at(trail=label(trail), project_id=first.project_id)
        with self._store.change(by=self._owner, why=why, project=EVERYWHERE, under=lease) as change:
            for seal, files in zip(group.seals, group.files, strict=True):
                stands = Missing("archived") & Compare("digest", "=", seal.digest)
                change.patch(seal.ref, Set("archived", files), when=stands)
            change.patch(register, Set("archived", last.number))

    # Removing

    def _remove_left(self, trail: type[AuditLine], moved: MovedLines, lease: Lease) -> Lease:
        """Remove what a run that died has moved and not removed."""
        known = self._store.lookup(AuditedProject.at(trail=label(trail), project_id=moved.project))
        if known is None or not known.archived:
            return lease
        newest = self._store.lookup(Seal.at(project_id=moved.project, trail=label(trail), number=known.archived))
        if newest is None:
            return lease
        left = next(lines(self._store, trail, moved.project, Range(high=newest.until)), None)
        if left is None:
            return lease
        for seal in self._store.find(Seal.of_trail(project_id=moved.project, trail=label(trail))):
            if left is None or seal.archived is None:
                break
            if seal.until >= left.ts:
                lease = self._remove(trail, seal.archived, moved, lease)
                left = next(lines(self._store, trail, moved.project, _between(seal, newest)), None)
        return lease

    def _remove(self, trail: type[AuditLine], names: Iterable[str], moved: MovedLines, lease: Lease) -> Lease:
        """Remove from the store what the archive gives back, as far as it still stands there as it was moved."""
        for name in names:
            removals = self._removals(named_records(self._archive, name, trail))
            while some := list(islice(removals, _REMOVED)):
                lease = renew_in_time(self._store, lease, period=self._period)
                moved.removed += self._delete(some, lease)
        return lease

    def _removals(self, archived: Iterable[AuditLine]) -> Iterator[Delete]:
        """A line goes behind what goes along with it, so that a run that dies in between finds the rest by the line."""
        for line in archived:
            yield from (Delete(ref.shape, ref.key) for ref in (self._along(line) if self._along else ()))
            as_moved = Compare("hash", "=", line.hash) if line.hash is not None else Missing("hash")
            yield Delete(line.__shape__, line.ref.key, Missing() | as_moved)

    def _delete(self, some: list[Delete], lease: Lease) -> int:
        """All but lines that were changed since, which stay for whoever verifies; how many lines."""
        while some:
            try:
                with self._store.change(under=lease) as change:
                    for each in some:
                        change.delete(Ref(each.shape, each.key), when=each.when)
            except LeaseLost:
                raise
            except Conflict as refused:
                del some[refused.position]
            else:
                break
        return sum(each.when is not None for each in some)


def _between(seal: Seal, newest: Seal) -> Range[datetime]:
    return Range(low=seal.until, high=newest.until, open_low=True)


def _unsound(seal: Seal) -> DamagedRecord:
    return DamagedRecord(
        f"seal {seal.number} of {seal.project_id} ({seal.trail}) does not vouch for the lines that stand under it, so "
        f"they stay in the store; run: penstock audit verify"
    )
