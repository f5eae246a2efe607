"""Retention units: a record that leaves, with all that leaves along with it, records and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.files.object_reads import lookup, pages
from penstock.files.references import References
from penstock.kernel.readable import tell
from penstock.kernel.store import Store
from penstock.lifecycle.bundle import line_of
from penstock.lifecycle.retention_rule import Rule
from penstock.operations.file_access import files_of, folders_of, found_files
from penstock.operations.reads import Query, Ref, Unreadable
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import is_key

T = TypeVar("T")

_CHUNK = 100
_FILE_LINE = 200
"What the line of a file in the archive has beside its key."


@dataclass(frozen=True, slots=True)
class RetentionUnit:
    """A record and those that leave along with it."""

    record: Entity
    along: tuple[Entity, ...] = ()
    bytes: int = 0
    files: dict[str, int] = field(default_factory=dict)
    "Those that no other record needs, with their sizes; each of those that lie in a folder among them."
    missing: tuple[str, ...] = ()
    "Files of the records' own that are not there."
    seen_at: datetime | None = None
    "Whatever lies in the place of a file and came later is another."

    @property
    def weight(self) -> int:
        """About how many bytes its lines have in the archive, those of its files among them."""
        return self.bytes + sum(len(key) + _FILE_LINE for key in self.files)

    @property
    def records(self) -> tuple[Entity, ...]:
        return (self.record, *self.along)

    def files_to_release(self, records: Iterable[Entity]) -> list[str]:
        """The files and folders that nobody has any more, should these of its records be gone."""
        if not self.files:
            return []
        told = dict.fromkeys(key for r in records for key in found_files(r.__shape__, r.__dict__))
        return [key for key in told if key in self.files or (key.endswith("/") and self._has_files_in(key))]

    def _has_files_in(self, folder: str) -> bool:
        return any(key.startswith(folder) for key in self.files)


class LeavingUnits:
    """Finds what may leave by the rules of some domains."""

    def __init__(self, store: Store, objects: Objects | None, domains: Iterable[Domain]) -> None:
        self._store, self._objects = store, objects
        self._references = References(store, domains)

    def find(self, rule: Rule, now: datetime) -> FoundUnits:
        """What may leave by a rule, with what goes along."""
        return FoundUnits(self, self._store, rule, now)

    def of(self, rule: Rule, records: list[Entity], damaged: list[Unreadable]) -> Iterable[RetentionUnit]:
        """Each record with all that leaves along with it, but those whose company cannot be read."""
        asked = [list(rule.along(r)) for r in records]
        refs = [each for some in asked for each in some if isinstance(each, Ref)]
        found = iter(self._store.get_many(refs, unreadable=damaged) if refs else [])
        lost = {u.name for u in damaged}
        units: list[RetentionUnit] = []
        for record, some in zip(records, asked, strict=True):
            named = [each for each in some if isinstance(each, Ref)]
            along = [r for r in islice(found, len(named)) if r is not None]
            met = len(damaged)
            for query in (each for each in some if isinstance(each, Query)):
                along += self._standing(query, damaged)
            along = list({(r.__shape__.label, repr(r.ref)): r for r in along}.values())
            if len(damaged) == met and not any(repr(ref) in lost for ref in named):
                size = sum(len(line_of(r)) for r in (record, *along))
                units.append(RetentionUnit(record, tuple(along), size))
        return self._with_files(units) if rule.files else units

    def _standing(self, query: Query[Any], damaged: list[Unreadable]) -> Iterable[Entity]:
        """The records that a query finds, as they stand, however far behind its index may be."""
        found: Iterator[Entity] = self._store.find(query, unreadable=damaged)
        if query.pattern.index is None or self._store.engine.features.strong_index_reads:
            return found
        refs = [r.ref for r in found]
        return [r for r in self._store.get_many(refs, unreadable=damaged) if r is not None] if refs else []

    def _with_files(self, units: list[RetentionUnit]) -> Iterator[RetentionUnit]:
        """The same units with the files that nobody else needs; those of one unit's folders at a time."""
        assert self._objects is not None
        leaving = [record for unit in units for record in unit.records]
        keys = {key for record in leaving for key in files_of(record.__shape__, record.__dict__)}
        needed = self._references.told(keys, leaving=leaving) if keys else set()
        sizes = {key: found.size for key in keys - needed if (found := lookup(self._objects, key)) is not None}
        for unit in units:
            seen_at = self._store.clock.now()
            had = dict.fromkeys(key for r in unit.records for key in files_of(r.__shape__, r.__dict__))
            own = {key for r in unit.records for key in found_files(r.__shape__, r.__dict__) if key in had}
            missing = tuple(sorted(own - needed - sizes.keys()))
            files = {key: sizes[key] for key in had if key in sizes}
            for folder in dict.fromkeys(f for r in unit.records for f in folders_of(r.__shape__, r.__dict__)):
                files |= self._files_in(folder, self._objects, leaving)
            yield replace(unit, files=files, missing=missing, seen_at=seen_at)

    def _files_in(self, folder: str, objects: Objects, leaving: list[Entity]) -> dict[str, int]:
        """The files that lie in a folder and that nobody else needs, with their sizes."""
        files: dict[str, int] = {}
        for page in pages(objects, folder):
            # What others have stored under no key of ours can be neither archived nor removed.
            sizes = {found.key: found.size for found in page if is_key(found.key)}
            needed = self._references.told(sizes, leaving=leaving)
            files |= {key: size for key, size in sizes.items() if key not in needed}
        return files


class FoundUnits:
    """The units of a rule as they are found; how many stay, and why, is known when all of them are."""

    def __init__(self, finder: LeavingUnits, store: Store, rule: Rule, now: datetime) -> None:
        self._finder, self._store, self._rule, self._now = finder, store, rule, now
        self.held = 0
        self.unreadable: list[Unreadable] = []

    def __iter__(self) -> Iterator[RetentionUnit]:
        for chunk in chunks(self._candidates(), _CHUNK):
            leaving = [r for r in chunk if self._rule.may_leave(r)]
            self.held += len(chunk) - len(leaving)
            yield from self._finder.of(self._rule, leaving, self.unreadable)
        tell(self.unreadable)

    def _candidates(self) -> Iterator[Entity]:
        """The records whose time is over."""
        found = self._rule.find(self._store, self._now, self.unreadable)
        if not self._rule.by_index or self._store.engine.features.strong_index_reads:
            yield from found
            return
        # An index that lags behind shows what was; what is, the records themselves tell.
        for chunk in chunks(found, _CHUNK):
            for record in self._store.get_many([r.ref for r in chunk], unreadable=self.unreadable):
                if record is not None and self._rule.is_due(record, self._now):
                    yield record


def chunks(members: Iterable[T], size: int) -> Iterator[list[T]]:
    """Members so many at a time."""
    left = iter(members)
    while chunk := list(islice(left, size)):
        yield chunk


def parts(units: Iterable[RetentionUnit], most: int, most_bytes: int) -> Iterator[list[RetentionUnit]]:
    """Units in parts of at most so many records and, unless one alone has more, so many bytes."""
    part: list[RetentionUnit] = []
    records = size = 0
    for unit in units:
        more = len(unit.records)
        if part and (records + more > most or size + unit.weight > most_bytes):
            yield part
            part, records, size = [], 0, 0
        part.append(unit)
        records, size = records + more, size + unit.weight
    if part:
        yield part
