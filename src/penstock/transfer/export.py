"""Exports: records, and the files they point at, in a folder that any store can take in again.

Each part of an export is written whole and noted before the next is begun, so that one that was ended goes on there. An
export that is made while others write has every record as it stood at some moment of that time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import msgspec

from penstock.errors import Conflict, InvalidValue
from penstock.files.held_files import HeldFiles
from penstock.kernel.store import Store
from penstock.lifecycle.bundle import line_of, record_of
from penstock.ports.object_store import Objects
from penstock.ports.private import make_private
from penstock.schema.kinds import instant_text
from penstock.schema.role import Role
from penstock.schema.shape import EntityShape
from penstock.transfer.export_encoding import encoding_of
from penstock.transfer.export_manifest import (
    MANIFEST,
    OBJECTS,
    PROGRESS,
    ExportedEntity,
    ExportPart,
    Manifest,
    read_manifest,
    write_manifest,
    write_whole,
)
from penstock.transfer.object_transfer import ObjectTransfer, TransferredObject, every_object
from penstock.transfer.record_digest import RecordDigest
from penstock.transfer.transfer_selection import Selection, check_known

PART = 10_000
"Records of a part, at most."
_PAGE = 1000
_JOURNAL = f"{OBJECTS}.part"


class Export:
    """Writes a selection of a store's records into a folder; ``files`` are where its files come from, and go to."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        selection: Selection,
        *,
        domain: str | None = None,
        personal: bool = True,
        encoding: str = "jsonl",
        files: tuple[Objects, Objects] | None = None,
        part: int = PART,
        told: Callable[[str, int], object] = lambda what, number: None,
    ) -> None:
        self._store, self._folder, self._selection = store, folder, selection
        self._encoding = encoding_of(encoding)
        self._personal, self._files, self._part, self._told = personal, files, part, told
        self._asked = Manifest(
            made_at=instant_text(store.clock.now(), 0),
            project=selection.project,
            domain=domain,
            personal=personal,
            encoding=encoding,
        )

    def run(self) -> Manifest:
        """Write what is missing of the export; the manifest that makes it complete."""
        check_known(self._store, self._selection.shapes)
        manifest = self._begun()
        for entity in self._selection.entities:
            self._export(entity.__shape__, manifest)
        if self._files is not None:
            self._export_files(manifest, *self._files)
        write_manifest(manifest, self._folder / MANIFEST)
        for name in (PROGRESS, _JOURNAL):
            (self._folder / name).unlink(missing_ok=True)
        return manifest

    def _begun(self) -> Manifest:
        """A new manifest, or the one that an export left which was ended."""
        folder, progress = self._folder, self._folder / PROGRESS
        if (folder / MANIFEST).exists():
            raise Conflict(f"{folder} has a complete export; name another folder")
        if progress.exists():
            found = read_manifest(progress)
            if not found.same_question(self._asked):
                raise Conflict(f"{folder} has the beginning of another export; name another folder, or ask as before")
            return found
        if folder.is_dir() and any(folder.iterdir()):
            raise InvalidValue(f"{folder} is not empty; name a folder that is new")
        make_private(folder)
        write_manifest(self._asked, progress)
        return self._asked

    # Records

    def _export(self, shape: EntityShape, manifest: Manifest) -> None:
        fields = tuple(f.attribute for f in shape.fields.values())
        entity = manifest.entities.setdefault(shape.label, ExportedEntity(fields))
        while not entity.complete:
            lines = self._gather(shape, entity)
            if lines:
                entity.parts.append(self._written(shape, lines, len(entity.parts)))
            write_manifest(manifest, self._folder / PROGRESS)
            self._told(shape.label, len(lines))

    def _gather(self, shape: EntityShape, entity: ExportedEntity) -> list[bytes]:
        """The lines of the next part, and where to go on behind it."""
        lines: list[bytes] = []
        now = self._store.clock.now()
        seen_by = Role.ADMIN if self._personal else None
        while len(lines) < self._part and not entity.complete:
            page = self._store.engine.scan(shape, after=entity.place, limit=min(_PAGE, self._part))
            records = (found.record for found in page.found)
            lines += [line_of(r, seen_by=seen_by) for r in records if self._selection.takes(r, now)]
            entity.unreadable += [u.name for u in page.unreadable]
            entity.place, entity.complete = page.place, page.place is None
        return lines

    def _written(self, shape: EntityShape, lines: list[bytes], number: int) -> ExportPart:
        name = f"records/{shape.label}/{number:05d}{self._encoding.ending}"
        digest = RecordDigest()
        for line in lines:
            digest.add(line)
        content = self._encoding.encode(lines, shape)
        make_private((self._folder / name).parent)
        write_whole(self._folder / name, content)
        return ExportPart(name, len(lines), hashlib.sha256(content).hexdigest(), str(digest))

    # Files

    def _export_files(self, manifest: Manifest, source: Objects, beside: Objects) -> None:
        """Copy the files that are meant, and list them by key."""
        done = self._noted()
        transfer = ObjectTransfer(source, beside)
        with (self._folder / _JOURNAL).open("ab") as journal:
            for key in self._meant(manifest, source):
                if key not in done and (carried := transfer.carry(key)) is not None:
                    done[key] = carried
                    journal.write(_noted_line(carried))
                    journal.flush()
                    self._told("files", 1)
        content = b"".join(_noted_line(done[key]) for key in sorted(done))
        write_whole(self._folder / OBJECTS, content)
        manifest.objects, manifest.objects_sha256 = len(done), hashlib.sha256(content).hexdigest()

    def _noted(self) -> dict[str, TransferredObject]:
        """The files that were copied before this export was ended; the last line may be torn."""
        journal = self._folder / _JOURNAL
        if not journal.exists():
            return {}
        whole = journal.read_bytes().rpartition(b"\n")[0]
        journal.write_bytes(whole + b"\n" if whole else b"")
        found = (msgspec.json.decode(line, type=TransferredObject) for line in whole.splitlines())
        return {each.key: each for each in found}

    def _meant(self, manifest: Manifest, source: Objects) -> Iterator[str]:
        """Every file of the store; of a part of its records, those that they point at."""
        if self._selection.whole:
            yield from (listed.key for listed in every_object(source))
            return
        held = HeldFiles()
        entities = {e.__shape__.label: e for e in self._selection.entities}
        for label, entity in manifest.entities.items():
            shape = entities[label].__shape__
            for part in entity.parts if shape.pointing else ():
                for line in self._encoding.decode((self._folder / part.name).read_bytes(), shape):
                    held.add(record_of(line, entities))
        yield from held.keys
        for folder in held.folders:
            yield from (o.key for o in every_object(source, folder) if o.key not in held.keys)


def _noted_line(each: TransferredObject) -> bytes:
    return msgspec.json.encode(asdict(each)) + b"\n"
