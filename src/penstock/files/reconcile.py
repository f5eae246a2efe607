"""Reconciling: files that no record points at, and records whose file is missing, found in both directions.

It reports first and acts on request. A file without a record goes to the trash once it is older than the grace; a file
that a record misses comes back from there. Nothing is touched of which it cannot be known whether a record needs it.

A domain owns what lies under the beginnings of its file patterns. All domains that keep files in one object store must
be given together: files of one that is not would seem to belong to nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice

from penstock.declare.domain import Domain
from penstock.errors import InvalidKey
from penstock.files.object_reads import every, lookup
from penstock.files.references import References
from penstock.files.trash import Trash
from penstock.files.upload import Upload, UploadStatus
from penstock.kernel.store import Store
from penstock.operations.file_access import files_of
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import ListedObject

_LOOKED_UP = 100


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A record that points at nothing."""

    record: str
    key: str
    in_trash: bool


@dataclass(slots=True)
class Reconciled:
    """What does not fit together, and what was done about it."""

    orphans: list[ListedObject] = field(default_factory=list)
    "Files past their grace that no record points at."
    missing: list[MissingFile] = field(default_factory=list)
    young: int = 0
    "Files that no record points at yet."
    undecided: int = 0
    "Files at which a record might point that cannot be found."
    hidden: list[str] = field(default_factory=list)
    "Entities whose records cannot all be found, so that not all their files were looked for."
    unreadable: list[str] = field(default_factory=list)
    "Records that cannot be read; no file at which one of their kind may point is an orphan."
    discarded: int = 0
    "Orphans that are in the trash now."
    restored: int = 0
    "Missing files that came back from the trash."

    @property
    def orphan_bytes(self) -> int:
        return sum(found.size for found in self.orphans)


class Reconciliation:
    """Compares the records of some domains with the files of an object store."""

    def __init__(
        self,
        store: Store,
        objects: Objects,
        trash: Trash,
        domains: Iterable[Domain],
        *,
        grace: timedelta = timedelta(days=1),
    ) -> None:
        self._store, self._objects, self._trash, self._grace = store, objects, trash, grace
        domains = list(domains)
        self._references = References(store, domains)
        self._prefixes = _outermost(f"{p.prefix}/" for d in domains for p in d.files if p.prefix)

    def plan(self) -> Reconciled:
        """What would be done now. Nothing is changed."""
        report = Reconciled(hidden=[entity.__shape__.label for entity in self._references.hidden])
        # The files first: a record that is written meanwhile points at a file that is here, or too young.
        there = {found.key: found for prefix in self._prefixes for found in every(self._objects, prefix)}
        self._references.unreadable.clear()
        needed = self._compare_records(there, report)
        self._compare_files(there, needed, report)
        report.unreadable = sorted({u.name for u in self._references.unreadable})
        return report

    def run(self) -> Reconciled:
        """Move orphans to the trash, and what is missing back from it."""
        report = self.plan()
        for found in report.orphans:
            report.discarded += self._trash.put(found)
        for key in {missing.key for missing in report.missing if missing.in_trash}:
            report.restored += self._trash.restore(key)
        return report

    def _compare_records(self, there: dict[str, ListedObject], report: Reconciled) -> set[str]:
        """Every file that a record points at; those that are missing are noted."""
        needed: set[str] = set()
        for record in self._references.records():
            for key in files_of(record.__shape__, record.__dict__):
                needed.add(key)
                if key not in there and not self._stands(key):
                    in_trash = self._trash.find(key) is not None
                    report.missing.append(MissingFile(repr(record.ref), key, in_trash))
        return needed

    def _stands(self, key: str) -> bool:
        try:
            return lookup(self._objects, key) is not None
        except InvalidKey:
            return False  # another writer has stored what is no key

    def _compare_files(self, there: dict[str, ListedObject], needed: set[str], report: Reconciled) -> None:
        """Note the files that nobody points at."""
        waiting = Upload.by_status(status=UploadStatus.OPEN)
        for upload in self._store.find(waiting, unreadable=self._references.unreadable):
            needed.add(upload.target)
        before = self._store.clock.now() - self._grace
        suspects = (found for key, found in there.items() if key not in needed)
        while some := list(islice(suspects, _LOOKED_UP)):
            told = self._references.told(found.key for found in some)
            for found in some:
                if found.key in told:
                    continue
                if found.modified_at > before:
                    report.young += 1
                elif self._references.may_be_hidden(found.key):
                    report.undecided += 1
                else:
                    report.orphans.append(found)


def _outermost(prefixes: Iterable[str]) -> list[str]:
    """The prefixes without those that lie within another."""
    kept: list[str] = []
    for prefix in sorted(set(prefixes)):
        if not kept or not prefix.startswith(kept[-1]):
            kept.append(prefix)
    return kept
