"""Imports: all of an export is verified before the first record of it is written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from pydantic import ValidationError

from penstock.declare.entity import Entity
from penstock.errors import Conflict, NotFound, PenstockError
from penstock.files.object_reads import examine
from penstock.kernel.store import Store
from penstock.lifecycle.bundle import line_of, record_of
from penstock.operations.validation import prepare
from penstock.operations.writes import Put, Write
from penstock.ports.object_store import Objects
from penstock.ports.scanning import scanned
from penstock.schema.role import Role
from penstock.transfer.export_encoding import ExportEncoding, encoding_of
from penstock.transfer.export_manifest import (
    MANIFEST,
    OBJECTS,
    DamagedExport,
    ExportedEntity,
    ExportPart,
    Manifest,
    read_manifest,
)
from penstock.transfer.object_transfer import ObjectTransfer, TransferredObject
from penstock.transfer.record_digest import RecordDigest
from penstock.transfer.transfer_state import TransferState

_NAMED = 10
"So many damages are told by name."
_IMPORT = "import"


@dataclass
class Verified:
    """What an export turned out to be."""

    records: int = 0
    files: int = 0
    damages: list[str] = field(default_factory=list)

    def check(self) -> None:
        """DamagedExport that names what is damaged."""
        if self.damages:
            shown = "\n".join(f"  {damage}" for damage in self.damages[:_NAMED])
            more = f"\n  and {len(self.damages) - _NAMED} more" if len(self.damages) > _NAMED else ""
            raise DamagedExport(f"the export is damaged, and nothing was imported:\n{shown}{more}")


class ImportedExport:
    """An export in a folder, on its way into a store; ``files`` are where its files lie, and where they go."""

    def __init__(
        self,
        folder: Path,
        entities: Iterable[type[Entity]],
        *,
        files: tuple[Objects, Objects] | None = None,
        told: Callable[[str, int], object] = lambda what, number: None,
    ) -> None:
        self._folder, self._files, self._told = folder, files, told
        self._entities: Mapping[str, type[Entity]] = {e.__shape__.label: e for e in entities}
        self.manifest: Manifest = read_manifest(folder / MANIFEST)
        self._encoding: ExportEncoding = encoding_of(self.manifest.encoding)

    # Verification

    def verify(self) -> Verified:
        """Read everything once: sums, numbers, and every record through its declaration. Nothing is written."""
        found = Verified()
        for label, exported in self.manifest.entities.items():
            entity = self._entities.get(label)
            if entity is None:
                found.damages.append(f"{label}: no domain here declares it")
                continue
            for part in exported.parts:
                self._verify_part(found, entity, exported, part)
        if self._files is not None:
            self._verify_files(found, self._files[0])
        return found

    def _verify_part(self, found: Verified, entity: type[Entity], exported: ExportedEntity, part: ExportPart) -> None:
        try:
            lines = self._lines(entity, part)
        except DamagedExport as error:
            found.damages.append(f"{part.name}: {error}")
            return
        digest = RecordDigest()
        for number, line in enumerate(lines, 1):
            try:
                digest.add(self._checked(entity, line))
            except PenstockError as error:
                found.damages.append(f"{part.name}, record {number}: {error}")
        if digest.records == len(lines) and (digest.records, str(digest)) != (part.records, part.digest):
            found.damages.append(f"{part.name}: its {digest.records} records are not the manifest's {part.records}")
        found.records += digest.records
        self._told("verified", len(lines))

    def _lines(self, entity: type[Entity], part: ExportPart) -> Sequence[bytes]:
        path = self._folder / part.name
        if not path.is_file() or self._folder.resolve() not in path.resolve().parents:
            raise DamagedExport("is missing")
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != part.sha256:
            raise DamagedExport("does not hash to what the manifest says")
        return self._encoding.decode(content, entity.__shape__)

    def _checked(self, entity: type[Entity], line: bytes) -> bytes:
        """The line as this declaration would write it, after all checks that a new record is put to."""
        record = record_of(line, {entity.__shape__.label: entity})
        try:
            entity.__shape__.check(dict(record.__dict__))
        except ValidationError as error:
            where = error.errors(include_url=False, include_input=False)[0]
            raise DamagedExport(f"{'.'.join(map(str, where['loc']))}: {where['msg']}") from error
        except (TypeError, AttributeError) as error:
            raise DamagedExport(f"does not fit its declaration: {error}") from error
        prepare(entity.__shape__, dict(record.__dict__))
        return line_of(record, seen_by=Role.ADMIN if self.manifest.personal else None)

    def _verify_files(self, found: Verified, beside: Objects) -> None:
        if self.manifest.objects is None:
            found.damages.append(f"{OBJECTS}: the export has no files; import it without")
            return
        try:
            listed = self._listed()
        except DamagedExport as error:
            found.damages.append(f"{OBJECTS}: {error}")
            return
        for each in listed:
            try:
                seen = examine(beside, each.key)
            except NotFound:
                found.damages.append(f"the file {each.key}: is missing")
                continue
            if (seen.size, seen.sha256) != (each.size, each.sha256):
                found.damages.append(f"the file {each.key}: its bytes are not those that were exported")
            self._told("verified files", 1)
        found.files = len(listed)

    def _listed(self) -> list[TransferredObject]:
        path = self._folder / OBJECTS
        content = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(content).hexdigest() != self.manifest.objects_sha256:
            raise DamagedExport("does not hash to what the manifest says")
        try:
            listed = [msgspec.json.decode(line, type=TransferredObject) for line in content.splitlines()]
        except msgspec.DecodeError as error:
            raise DamagedExport(f"is no list of files: {error}") from error
        if len(listed) != self.manifest.objects:
            raise DamagedExport(f"has {len(listed)} files, not the {self.manifest.objects} of the manifest")
        return listed

    # Writing

    def run(self, store: Store, *, into_existing: bool = False) -> Verified:
        """Verify all, then write all; one that was ended goes on with the part it was at.

        Conflict where records stand already, unless that is wanted: then those of the same key are replaced.
        """
        found = self.verify()
        found.check()
        state = self._begun(store, into_existing=into_existing)
        for label, exported in self.manifest.entities.items():
            for part in exported.parts[state.records.get(label, 0) :]:
                store.engine.load(self._writes(self._entities[label], part), now=store.clock.now())
                state.records = {**state.records, label: state.records.get(label, 0) + 1}
                store.put(state)
                self._told(label, part.records)
        if self._files is not None:
            transfer = ObjectTransfer(*self._files)
            for each in self._listed():
                transfer.carry(each.key)
                self._told("files", 1)
        state.ended_at = store.clock.now()
        store.put(state)
        return found

    def _writes(self, entity: type[Entity], part: ExportPart) -> Iterator[Write]:
        shape = entity.__shape__
        for line in self._lines(entity, part):
            yield Put(shape, prepare(shape, record_of(line, self._entities).__dict__))

    def _begun(self, store: Store, *, into_existing: bool) -> TransferState:
        """The state of this import, new or taken up; ``records`` tells how many parts of each entity are there."""
        origin = hashlib.sha256((self._folder / MANIFEST).read_bytes()).hexdigest()
        found = store.lookup(TransferState.at(name=_IMPORT))
        if found is not None and found.origin == origin and found.ended_at is None:
            return found
        if not into_existing:
            check_empty(store, list(self._entities.values()))
        state = TransferState(name=_IMPORT, origin=origin, begun_at=store.clock.now())
        store.put(state)
        return state


def check_empty(store: Store, entities: Sequence[type[Entity]]) -> None:
    """Conflict where a store has records of any of these entities."""
    taken = list(_with_records(store, entities))
    if taken:
        more = f" and {len(taken) - _NAMED} more" if len(taken) > _NAMED else ""
        raise Conflict(
            f"the store is not empty: it has records of {', '.join(taken[:_NAMED])}{more}; name an empty one"
        )


def _with_records(store: Store, entities: Sequence[type[Entity]]) -> Iterator[str]:
    for entity in entities:
        shape = entity.__shape__
        if any(page.found or page.unreadable for page in scanned(store.engine, shape)):
            yield shape.label
