"""Bundles: records as a file of an archive, from which they can be read back exactly.

A bundle is JSON Lines, compressed: each line has the entity, the key and all fields of one record, under the names the
documents give them. Files that left with the records have a line each, which tells where their bytes are. A manifest
beside it tells how many there are and what their lines hash to. The name comes from the content, so that writing the
same records again finds them written.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, TypeVar

from pydantic import ValidationError

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import NotFound
from penstock.files.held_files import HeldFiles
from penstock.lifecycle.archived_file import COPIES, ArchivedFile, DamagedArchive
from penstock.operations.reads import Ref
from penstock.ports.archive import Archive
from penstock.schema.documents import as_stored, large_as_floats
from penstock.schema.kinds import FieldShape, Kind, from_key_text, key_text
from penstock.schema.role import Role

R = TypeVar("R", bound=Entity)

FORMAT, WITH_FILES = "penstock-bundle/1", "penstock-bundle/2"
_LINES, _MANIFEST = ".jsonl.gz", ".json"


@dataclass(frozen=True, slots=True)
class Bundle:
    """Records that are in the archive, and have been read back from there."""

    name: str
    records: int
    bytes: int
    "Of the records' lines, before compression."
    sha256: str
    files: int = 0


# Lines


def line_of(record: Entity, *, seen_by: Role | None = Role.ADMIN) -> bytes:
    """One record as one line. The same values make the same line, whichever engine they are read from.

    An archive keeps the record whole, as it is what will be left of it. A line for others leaves out the personal
    fields that their role does not show (None: all of them), and is no longer one to restore a record from.
    """
    shape, values = record.__shape__, record.__dict__
    hidden = shape.hidden_from(seen_by)
    told = {
        "entity": shape.label,
        "key": {n: key_text(shape.fields[n], values[n]) for n in shape.key.fields},
        "record": {
            f.attribute: _written(f, values[f.name])
            for f in shape.fields.values()
            if values[f.name] is not None and f.name not in hidden
        },
    }
    return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def record_of(line: bytes, entities: Mapping[str, type[Entity]]) -> Entity:
    """The record of a line; DamagedArchive when it is none, or does not fit the declaration any more."""
    try:
        told = _told(line)
        entity = entities.get(told["entity"])
        if entity is None:
            raise DamagedArchive(f"a line of the archive is of {told['entity']!r}, which no domain here declares")
        return _built(entity, told["record"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ValidationError) as error:
        raise DamagedArchive(f"a line of the archive does not fit its declaration: {type(error).__name__}") from error


def _told(line: bytes) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(line)
    return told


def _built(entity: type[Entity], told: dict[str, Any]) -> Entity:
    fields = entity.__shape__.fields
    if unknown := told.keys() - {f.attribute for f in fields.values()}:
        raise DamagedArchive(
            f"an archived {entity.__name__} has {', '.join(sorted(unknown))}, which its declaration no longer has; "
            f"restore it with the declaration it was archived by"
        )
    values = {f.name: _read(f, told[f.attribute]) for f in fields.values() if f.attribute in told}
    missing = [f for n, f in fields.items() if n not in values]
    if all(f.optional for f in missing):
        record: Entity = entity.__shape__.build({n: values.get(n) for n in fields})
        return record
    return entity.model_validate(values)  # a field was added since: its default, or an error, is the model's


def _written(field: FieldShape, value: Any) -> Any:
    match field.kind:
        case Kind.TEXT | Kind.INTEGER | Kind.FLAG | Kind.FLOAT:
            return value
        case Kind.DECIMAL:
            return str(value)
        case Kind.BYTES:
            return base64.b64encode(value).decode()
        case Kind.TEXTS:
            return sorted(value)
        case Kind.DOCUMENT:
            return as_stored(field, value)
    return key_text(field, value)


def _read(field: FieldShape, value: Any) -> Any:
    match field.kind:
        case Kind.TEXT | Kind.INTEGER | Kind.FLAG:
            return value
        case Kind.FLOAT:
            return float(value)
        case Kind.DECIMAL:
            return Decimal(value)
        case Kind.BYTES:
            return base64.b64decode(value, validate=True)
        case Kind.TEXTS:
            return frozenset(value)
        case Kind.DOCUMENT:
            return field.load(value) if field.load else value
    return from_key_text(field, value)


# Writing


def keep(archive: Archive, records: Sequence[Entity], *, files: Sequence[ArchivedFile] = (), **told: Any) -> Bundle:
    """Write records into the archive and read them back; only then may they be removed elsewhere.

    ``files`` left with them, and are in the archive already. ``told`` is added to the manifest. A bundle that an
    interrupted run has left is used, if it is sound; one that is not stays where it is, and another copy is written
    beside it.
    """
    entities = {type(r).__shape__.label: type(r) for r in records}
    written = b"".join(line_of(r) for r in records)
    lines = written + b"".join(file.line() for file in files)
    sha256 = hashlib.sha256(lines).hexdigest()
    beside = {"files": len(files), "file_bytes": sum(f.size for f in files)} if files else {}
    manifest = {
        "format": WITH_FILES if files else FORMAT,
        "records": len(records),
        "bytes": len(lines),
        "sha256": sha256,
        "entities": dict(Counter(r.__shape__.label for r in records)),
        **beside,
        **told,
    }
    stem = f"{records[0].__shape__.label.replace('.', '/')}/{sha256}"
    for copy in range(1, COPIES + 1):
        name = stem + (f".{copy}" if copy > 1 else "") + _LINES
        left = archive.exists(name)
        try:
            if not left:
                archive.put(name, gzip.compress(lines, 6, mtime=0))
            count = len(records) + len(files)
            _compare(_lines(archive, name, sha256, count)[: len(records)], records, entities, name)
            archive.put(manifest_of(name), json.dumps(manifest, indent=2, sort_keys=True).encode() + b"\n")
            if _manifest(archive, name) != (sha256, count):
                raise DamagedArchive(f"{manifest_of(name)} does not come back from the archive as it was written")
        except DamagedArchive:
            if not left:
                raise
        else:
            return Bundle(name, len(records), len(written), sha256, len(files))
    raise DamagedArchive(f"all {COPIES} copies of {stem} in the archive are damaged; look at the archive itself")


def _compare(
    lines: Iterable[bytes], records: Sequence[Entity], entities: Mapping[str, type[Entity]], name: str
) -> None:
    """The hash says that the lines are those written; this says that the records can be made of them again."""
    for line, record in zip(lines, records, strict=True):
        if record_of(line, entities).__dict__ != large_as_floats(record.__dict__):
            raise DamagedArchive(f"{record.ref!r} would not come back from {name} as it is; nothing was removed")


# Reading


def restore(archive: Archive, name: str, domains: Iterable[Domain]) -> Iterator[Entity]:
    """The records of a bundle as they were, in their order; all of it is checked before the first is handed out."""
    entities = {e.__shape__.label: e for d in domains for e in d.entities}
    sha256, count = _manifest(archive, name)
    for line in _lines(archive, name, sha256, count):
        if ArchivedFile.of_line(line) is None:
            yield record_of(line, entities)


def find_record(archive: Archive, name: str, ref: Ref[R], entity: type[R]) -> tuple[R, list[ArchivedFile]]:
    """One record of a bundle as it was, with the files that left with it; NotFound where the bundle has it not."""
    key, files, found = ref.texts(), dict[str, ArchivedFile](), None
    for line in _lines(archive, name, _hash_in(name)):
        if (file := ArchivedFile.of_line(line)) is not None:
            files[file.key] = file
        elif (told := _told(line))["entity"] == ref.shape.label and told["key"] == key:
            found = record_of(line, {ref.shape.label: entity})
    if not isinstance(found, entity):
        raise NotFound(f"{name} in the archive has no {ref!r}")
    held = HeldFiles([found])
    return found, [file for key, file in files.items() if key in held]


def named_records(archive: Archive, name: str, entity: type[R]) -> Iterator[R]:
    """The records of a bundle of one entity, in their order, for whoever has kept its name.

    The name is made of what the bundle holds, so whatever was changed there shows; the manifest is not asked.
    """
    for line in _lines(archive, name, _hash_in(name)):
        record = record_of(line, {entity.__shape__.label: entity})
        assert isinstance(record, entity)
        yield record


def bundles(archive: Archive, prefix: str = "") -> Iterator[str]:
    """The names of the bundles that are complete; ``prefix`` is such as ``films/Scene/``."""
    names = set(archive.list(prefix))
    yield from sorted(n for n in names if n.endswith(_LINES) and manifest_of(n) in names)


def _hash_in(name: str) -> str:
    """What the lines of a bundle hash to, as its name tells."""
    return PurePosixPath(name).name.partition(".")[0]


def manifest_of(name: str) -> str:
    """The name of a bundle's manifest."""
    return name.removesuffix(_LINES) + _MANIFEST


def _manifest(archive: Archive, name: str) -> tuple[str, int]:
    """The hash and the number of lines that a bundle must have, those of files among them."""
    try:
        told = json.loads(archive.get(manifest_of(name)))
        if told["format"] not in (FORMAT, WITH_FILES):
            raise DamagedArchive(f"{name} is a {told['format']}; this version reads {FORMAT} and {WITH_FILES}")
        return str(told["sha256"]), int(told["records"]) + int(told.get("files", 0))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedArchive(f"{manifest_of(name)} is no manifest: {type(error).__name__}") from error


def _lines(archive: Archive, name: str, sha256: str, count: int | None = None) -> list[bytes]:
    """The lines as the archive gives them back, if they are those that were written."""
    try:
        lines = gzip.decompress(archive.get(name))
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedArchive(f"{name} cannot be decompressed: {error}") from error
    found = lines.splitlines(keepends=True)
    if hashlib.sha256(lines).hexdigest() != sha256 or count not in (None, len(found)):
        raise DamagedArchive(f"{name} does not come back from the archive as it was written: {len(found)} lines")
    return found
