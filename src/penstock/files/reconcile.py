"""Reconciling: files that no record points at, and records whose file is missing, found in both directions.

It reports first and acts on request. A file without a record goes to the trash once it is older than the grace; a file
that a record misses comes back from there. Nothing is touched of which it cannot be known whether a record needs it.

A folder that a record holds may be empty: which files it should have, nobody says. But what went from it to the trash
comes back, unless all that lies in the folder now came later: then it is another's.

A domain owns what lies under the beginnings of its file patterns. All domains that keep files in one object store must
be given together: files of one that is not would seem to belong to nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from penstock.declare.domain import Domain
from penstock.errors import InvalidKey
from penstock.files.held_files import HeldFiles
from penstock.files.object_reads import every, lookup
from penstock.files.references import References
from penstock.files.trash import Trash
from penstock.files.upload import UNSETTLED, Upload
from penstock.kernel.store import Store
from penstock.operations.file_access import files_of
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import ListedObject
from penstock.schema.object_key import folders_above

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
        held = self._compare_records(there, report)
        self._compare_trash(there, held, report)
        self._compare_files(there, held, report)
        report.unreadable = sorted({u.name for u in self._references.unreadable})
        return report

    def run(self) -> Reconciled:
        """Move orphans to the trash, and what is missing back from it."""
        report = self.plan()
        for found in report.orphans:
            report.discarded += self._trash.put(found)
        for key in sorted({missing.key for missing in report.missing if missing.in_trash}):
            report.restored += self._trash.restore(key)
        return report

    def _compare_records(self, there: dict[str, ListedObject], report: Reconciled) -> HeldFiles:
        """Every file that a record points at; those that are missing are noted."""
        held = HeldFiles()
        for record in self._references.records():
            held.add(record)
            for key in files_of(record.__shape__, record.__dict__):
                if key not in there and not self._stands(key):
                    in_trash = self._trash.find(key) is not None
                    report.missing.append(MissingFile(repr(record.ref), key, in_trash))
        return held

    def _compare_trash(self, there: dict[str, ListedObject], held: HeldFiles, report: Reconciled) -> None:
        """Note the files in the trash that went there from a folder which a record holds."""
        if not held.folders:
            return
        gone: dict[str, tuple[str, datetime]] = {}
        for key, found in self._trash.files():
            folder = None if key in there else held.folder_of(key)
            if folder is not None:
                gone[key] = folder, max(found.modified_at, gone.get(key, ("", found.modified_at))[1])
        oldest = _oldest({folder for folder, _ in gone.values()}, there)
        noted = {missing.key for missing in report.missing}
        for key, (folder, at) in gone.items():
            if key not in noted and oldest.get(folder, at) <= at and not self._stands(key):
                report.missing.append(MissingFile(held.folders[folder], key, in_trash=True))

    def _stands(self, key: str) -> bool:
        try:
            return lookup(self._objects, key) is not None
        except InvalidKey:
            return False  # another writer has stored what is no key

    def _compare_files(self, there: dict[str, ListedObject], held: HeldFiles, report: Reconciled) -> None:
        """Note the files that nobody points at."""
        for status in UNSETTLED:
            waiting = Upload.by_status(status=status)
            for upload in self._store.find(waiting, unreadable=self._references.unreadable):
                held.keys.add(upload.target)
        # The file of an upload that cannot be read may be any of them.
        lost = any(u.shape is Upload.__shape__ for u in self._references.unreadable)
        before = self._store.clock.now() - self._grace
        suspects = (found for key, found in there.items() if key not in held)
        while some := list(islice(suspects, _LOOKED_UP)):
            told = self._references.told(found.key for found in some)
            for found in some:
                if found.key in told:
                    continue
                if found.modified_at > before:
                    report.young += 1
                elif lost or self._references.may_be_hidden(found.key):
                    report.undecided += 1
                else:
                    report.orphans.append(found)


def _oldest(folders: set[str], there: dict[str, ListedObject]) -> dict[str, datetime]:
    """When the oldest of the files came that lie in each of the folders."""
    oldest: dict[str, datetime] = {}
    for found in there.values() if folders else ():
        for folder in folders.intersection(folders_above(found.key)):
            oldest[folder] = min(oldest.get(folder, found.modified_at), found.modified_at)
    return oldest


def _outermost(prefixes: Iterable[str]) -> list[str]:
    """The prefixes without those that lie within another."""
    kept: list[str] = []
    for prefix in sorted(set(prefixes)):
        if not kept or not prefix.startswith(kept[-1]):
            kept.append(prefix)
    return kept
