"""A backup of the embedded store: its file by SQLite's own way, and the files that its records point at.

    FOLDER/backup.json     written last: what there is, and what it hashes to
    FOLDER/store.db        the store at one moment
    FOLDER/objects.jsonl   key, size and SHA-256 of each file
    FOLDER/files/          the files, as an object store keeps them

A file is written before a record points at it, and removed after none does. So files are copied before the moment of
the store's copy and again after it: together they have every file that a record of that moment points at. What is
there beyond that, nobody points at, and a sweep of the restored system finds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct, field

from penstock.declare.domain import Domain
from penstock.errors import Conflict, InvalidValue, NotFound, Unavailable
from penstock.files.held_files import HeldFiles
from penstock.files.object_reads import examine, lookup
from penstock.kernel.store import Store
from penstock.ports.clock import Clock, SystemClock
from penstock.ports.object_store import Objects
from penstock.ports.private import make_private
from penstock.ports.scanning import scanned
from penstock.runtime.composition import embedded_file, open_objects, open_store
from penstock.schema.kinds import instant_text
from penstock.transfer.export_manifest import FILES, OBJECTS, DamagedExport, write_whole
from penstock.transfer.object_transfer import ObjectTransfer, TransferredObject, every_object

FORMAT = "penstock-backup/1"
_MANIFEST, _STORE = "backup.json", "store.db"


class BackupManifest(Struct, kw_only=True):
    """What a backup has."""

    format: str = FORMAT
    made_at: str
    store_sha256: str
    objects: int
    objects_sha256: str
    missing: list[str] = field(default_factory=list)
    "Files that records point at, and that were nowhere."


def back_up_system(
    store: str,
    objects: str,
    folder: Path,
    domains: Iterable[Domain],
    *,
    clock: Clock | None = None,
    told: Callable[[str, int], object] = lambda what, number: None,
) -> BackupManifest:
    """Make a backup of an embedded system while it runs; the folder must be new."""
    from penstock.engines.sql.sqlite_backup import back_up

    if folder.exists() and any(folder.iterdir()):
        raise InvalidValue(f"{folder} is not empty; name a folder that is new")
    path, source = embedded_file(store), open_objects(objects)
    make_private(folder)
    beside = _beside(folder)
    transfer = ObjectTransfer(source, beside)
    transfer.run(lambda size: told("files", 1))
    back_up(path, folder / _STORE)
    transfer.run(lambda size: told("files", 1))
    missing = _missing(folder / _STORE, source, beside, domains)
    listed = [_noted(beside, each.key) for each in every_object(beside)]
    content = b"".join(msgspec.json.encode(each) + b"\n" for each in sorted(listed, key=lambda each: each.key))
    write_whole(folder / OBJECTS, content)
    manifest = BackupManifest(
        made_at=instant_text((clock or SystemClock()).now(), 0),
        store_sha256=_sha256(folder / _STORE),
        objects=len(listed),
        objects_sha256=hashlib.sha256(content).hexdigest(),
        missing=missing,
    )
    write_whole(folder / _MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    return manifest


def restore_system(
    folder: Path, store: str, objects: str, *, told: Callable[[str, int], object] = lambda what, number: None
) -> BackupManifest:
    """Put a backup where there is no store yet; all of it is verified before anything is written."""
    from penstock.engines.sql.sqlite_backup import back_up

    path = embedded_file(store)
    if path.exists():
        raise Conflict(f"{path} is there already; move it away, or name another store")
    manifest = _verified(folder, told)
    make_private(path.parent)
    transfer = ObjectTransfer(_beside(folder), open_objects(objects))
    transfer.run(lambda size: told("files", 1))
    beside = path.with_name(f".{path.name}.restored")
    beside.unlink(missing_ok=True)
    back_up(folder / _STORE, beside)
    beside.rename(path)  # last: a store that is there has its files
    return manifest


def _verified(folder: Path, told: Callable[[str, int], object]) -> BackupManifest:
    path = folder / _MANIFEST
    if not path.is_file():
        raise DamagedExport(f"{path} is not there: this is no backup, or one that was not completed")
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=BackupManifest)
    except msgspec.DecodeError as error:
        raise DamagedExport(f"{path} is no manifest of a backup: {error}") from error
    if manifest.format != FORMAT:
        raise DamagedExport(f"{path} says {manifest.format!r}; this version reads {FORMAT}")
    damages = list(_damages(folder, manifest, told))
    if damages:
        shown = "\n".join(f"  {damage}" for damage in damages[:10])
        raise DamagedExport(f"the backup is damaged, and nothing was restored:\n{shown}")
    return manifest


def _damages(folder: Path, manifest: BackupManifest, told: Callable[[str, int], object]) -> Iterator[str]:
    from penstock.engines.sql.sqlite_backup import check_sound

    if not (folder / _STORE).is_file() or _sha256(folder / _STORE) != manifest.store_sha256:
        yield f"{_STORE}: is missing, or does not hash to what the manifest says"
    else:
        check_sound(folder / _STORE)
    listing = folder / OBJECTS
    content = listing.read_bytes() if listing.is_file() else b""
    if hashlib.sha256(content).hexdigest() != manifest.objects_sha256:
        yield f"{OBJECTS}: is missing, or does not hash to what the manifest says"
        return
    beside = _beside(folder)
    for line in content.splitlines():
        each = msgspec.json.decode(line, type=TransferredObject)
        try:
            found = examine(beside, each.key)
        except NotFound:
            yield f"the file {each.key}: is missing"
            continue
        if (found.size, found.sha256) != (each.size, each.sha256):
            yield f"the file {each.key}: its bytes are not those that were kept"
        told("verified files", 1)


def _missing(path: Path, source: Objects, beside: Objects, domains: Iterable[Domain]) -> list[str]:
    """The files that records of the copy point at, and that are nowhere; Unavailable if one is, but was not copied."""
    from penstock.engines.sql.sqlite_backup import back_up

    with TemporaryDirectory(dir=path.parent, prefix=".check-") as scratch:
        back_up(path, Path(scratch, path.name))  # whoever opens a store writes to its file
        copy = open_store(f"sqlite:///{scratch}/{path.name}")
        lost = sorted(key for key in _held(copy, domains) if lookup(beside, key) is None)
        copy.close()
    if there := [key for key in lost if lookup(source, key) is not None]:
        raise Unavailable(f"the file {there[0]} came and was not copied; make the backup anew, in another folder")
    return lost


def _held(store: Store, domains: Iterable[Domain]) -> Iterator[str]:
    for shape in (s for d in domains for s in d.shapes if s.pointing):
        for page in scanned(store.engine, shape):
            yield from HeldFiles(found.record for found in page.found).keys


def _noted(beside: Objects, key: str) -> TransferredObject:
    found = examine(beside, key)
    return TransferredObject(key, found.size, found.sha256)


def _beside(folder: Path) -> Objects:
    return open_objects(f"files:///{(folder / FILES).absolute()}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
