"""The manifest of an export: what there is, how many, and what it hashes to.

    FOLDER/manifest.json                     written last: without it an export is not complete
    FOLDER/records/videos.Video/00000.jsonl.gz
    FOLDER/objects.jsonl                     key, size and SHA-256 of each file
    FOLDER/files/                            the files, as an object store keeps them

A part is JSON Lines, compressed. Each line has the entity, the key and the fields of one record, under the names that
the documents give them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from penstock.errors import PenstockError

FORMAT = "penstock-export/1"
MANIFEST, PROGRESS, OBJECTS, FILES = "manifest.json", "progress.json", "objects.jsonl", "files"


class DamagedExport(PenstockError):
    """An export is not as it was written, or does not fit what is declared here; nothing was imported."""

    slug, http_status = "damaged-export", 422


class ExportPart(Struct, frozen=True):
    """One file of records."""

    name: str
    "Within the folder."
    records: int
    sha256: str
    "Of the file."
    digest: str
    "Of the records, whatever their order."


class ExportedEntity(Struct):
    """The records of one entity."""

    fields: tuple[str, ...]
    "Under the names the documents give them."
    parts: list[ExportPart] = field(default_factory=list)
    place: str | None = None
    "Behind which record to go on, of one that is not complete."
    complete: bool = False
    unreadable: list[str] = field(default_factory=list)
    "Records that stand there and cannot be read, and so are not here."


class Manifest(Struct, kw_only=True):
    """What an export has; while it is made, how far it is."""

    format: str = FORMAT
    made_at: str
    project: str | None = None
    domain: str | None = None
    personal: bool = True
    "Are personal fields in it?"
    encoding: str = "jsonl"
    entities: dict[str, ExportedEntity] = field(default_factory=dict)
    objects: int | None = None
    "How many files; None where they were left out."
    objects_sha256: str | None = None
    "Of the list of files."

    @property
    def records(self) -> int:
        return sum(part.records for entity in self.entities.values() for part in entity.parts)

    def same_question(self, other: Manifest) -> bool:
        """Was the same asked for?"""
        asked = ("format", "project", "domain", "personal", "encoding")
        return all(getattr(self, name) == getattr(other, name) for name in asked)


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write it whole, or not at all."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")


def read_manifest(path: Path) -> Manifest:
    """DamagedExport for what is none, or of another version."""
    if not path.is_file():
        raise DamagedExport(f"{path} is not there; an export that was ended is completed by asking for it again")
    try:
        told: dict[str, Any] = msgspec.json.decode(path.read_bytes())
        if isinstance(told, dict) and told.get("format") != FORMAT:
            raise DamagedExport(f"{path} says {told.get('format')!r}; this version reads {FORMAT}")
        return msgspec.convert(told, Manifest)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise DamagedExport(f"{path} is no manifest: {error}") from error


def write_whole(path: Path, content: bytes) -> None:
    """A file that is there whole, on the disk, or as it was before."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
