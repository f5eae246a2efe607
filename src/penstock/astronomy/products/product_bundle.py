"""A bundle: all products of a nova in one zip, with a manifest and a checksum of every file.

``manifest.json`` tells what is inside, ``SHA256SUMS`` is read by ``sha256sum --check``. The same files and the same
manifest make the same bytes, whenever and from wherever they are written.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from penstock.astronomy.products.bundle_name import check_names
from penstock.astronomy.products.whole_file import whole_file
from penstock.astronomy.products.zip_form import member
from penstock.errors import InvalidValue

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
FORMAT = "penstock-nova-bundle/1"
MOST_ENTRIES = 100_000
_AT_ONCE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """A file that goes into a bundle: its name there, and where its bytes come from."""

    name: str
    content: bytes | Path | Callable[[], IO[bytes]]
    "The bytes, the path of a file, or a function that opens them."
    sha256: str | None = None
    "What the bytes are known to hash to; the bundle is not written if they do not."


@dataclass(frozen=True, slots=True)
class BundledFile:
    """A file as it stands in a bundle."""

    name: str
    bytes: int
    sha256: str


def write_bundle(path: Path, entries: Iterable[BundleEntry], manifest: Mapping[str, Any]) -> list[BundledFile]:
    """Write a bundle, each file read once and piece by piece; what stands in it, in order of name.

    InvalidValue if a name is unsafe or stands twice, or bytes are not those promised; nothing is written then.
    """
    listed = sorted(_bounded(entries), key=lambda entry: entry.name)
    check_names([entry.name for entry in listed], reserved=(MANIFEST, SUMS))
    with whole_file(path) as unfinished, zipfile.ZipFile(unfinished, "w", allowZip64=True) as archive:
        files = [_add(archive, entry) for entry in listed]
        told = {**manifest, "format": FORMAT, "files": [_told(file) for file in files]}
        text = json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        last = _add(archive, BundleEntry(MANIFEST, text.encode()))
        sums = "".join(f"{file.sha256}  {file.name}\n" for file in [*files, last])
        _add(archive, BundleEntry(SUMS, sums.encode()))
    return files


def _bounded(entries: Iterable[BundleEntry]) -> list[BundleEntry]:
    listed = []
    for entry in entries:
        listed.append(entry)
        if len(listed) > MOST_ENTRIES:
            raise InvalidValue(f"a bundle has at most {MOST_ENTRIES:,} files; make several")
    return listed


def _told(file: BundledFile) -> dict[str, Any]:
    return {"name": file.name, "bytes": file.bytes, "sha256": file.sha256}


def _add(archive: zipfile.ZipFile, entry: BundleEntry) -> BundledFile:
    digest, size = hashlib.sha256(), 0
    # Zip64 for all, so that the bytes do not depend on whether the size was known beforehand.
    with _opened(entry) as source, archive.open(member(entry.name), "w", force_zip64=True) as target:
        while piece := source.read(_AT_ONCE):
            digest.update(piece)
            size += len(piece)
            target.write(piece)
    if entry.sha256 is not None and entry.sha256.lower() != digest.hexdigest():
        raise InvalidValue(f"{entry.name} hashes to {digest.hexdigest()}, not to {entry.sha256}: it was changed")
    return BundledFile(entry.name, size, digest.hexdigest())


@contextmanager
def _opened(entry: BundleEntry) -> Iterator[IO[bytes]]:
    content = entry.content
    if isinstance(content, bytes):
        yield io.BytesIO(content)
    else:
        with content.open("rb") if isinstance(content, Path) else content() as source:
            yield source
