"""Files in an archive: each under the hash of its bytes, read back and compared before anybody relies on it.

    files/9f/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

The same bytes are kept once, however many records had them. A copy that is damaged stays where it is, and another is
written beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from penstock.errors import Conflict, NotFound, PenstockError
from penstock.files.object_reads import examine, lookup
from penstock.ports.archive import Archive
from penstock.ports.object_store import Objects

COPIES = 9
"How many damaged copies of one thing may lie in the archive before somebody has to look."


class DamagedArchive(PenstockError):
    """What the archive gives back is not what was written; nothing is removed on the strength of it."""

    slug = "damaged-archive"


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file that is in the archive, and has been read back from there."""

    key: str
    "Where it lay, and would lie again."
    name: str
    "Of the copy in the archive."
    sha256: str
    size: int

    def line(self) -> bytes:
        """As one line of a bundle."""
        told = {"file": self.key, "name": self.name, "sha256": self.sha256, "size": self.size}
        return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> ArchivedFile | None:
        """The file of a line; None where that is of a record."""
        try:
            told = json.loads(line)
            if "file" not in told:
                return None
            return cls(str(told["file"]), str(told["name"]), str(told["sha256"]), int(told["size"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DamagedArchive(f"a line of the archive tells of no file: {type(error).__name__}") from error


def keep_file(archive: Archive, objects: Objects, key: str, *, alive: Callable[[], object]) -> ArchivedFile | None:
    """Copy a file into the archive and read it back; None when there is none any more.

    However large it is, a piece of it at a time is in memory; ``alive`` is called with each.
    """
    try:
        found = examine(objects, key, alive=alive)
        stem = f"files/{found.sha256[:2]}/{found.sha256}"
        for copy in range(1, COPIES + 1):
            file = ArchivedFile(key, stem + (f".{copy}" if copy > 1 else ""), found.sha256, found.size)
            left = archive.exists(file.name)
            if not left:
                with objects.get(key) as download:
                    archive.put(file.name, checked_pieces(file, download, key, alive=alive))
            if is_sound(archive, file, alive=alive):
                return file
            if not left:
                raise DamagedArchive(
                    f"{key} does not come back from the archive as it was written; nothing was removed"
                )
    except NotFound:
        if lookup(objects, key) is None:
            return None
        raise
    raise DamagedArchive(f"all {COPIES} copies of {stem} in the archive are damaged; look at the archive itself")


def is_sound(archive: Archive, file: ArchivedFile, *, alive: Callable[[], object] = lambda: None) -> bool:
    """Does the archive give back the very bytes that were written?"""
    try:
        for _ in checked_pieces(file, archive.pieces(file.name), file.name, alive=alive):
            pass
    except DamagedArchive:
        return False
    return True


def bring_back(archive: Archive, objects: Objects, file: ArchivedFile) -> None:
    """Have a file lie again where it lay, with the same bytes; Conflict where others lie there by now."""
    try:
        if not is_sound(archive, file):
            raise DamagedArchive(
                f"{file.name} is not what was written to the archive; {file.key} cannot be had from it"
            )
        pieces = checked_pieces(file, archive.pieces(file.name), file.name)
        objects.put(file.key, pieces, absent=True)
    except NotFound:
        raise DamagedArchive(f"the archive has lost {file.name}; {file.key} cannot be had from it") from None
    except Conflict:
        pass  # it never went, or somebody else has brought it back
    if examine(objects, file.key).sha256 != file.sha256:
        raise Conflict(f"another file lies at {file.key} by now; move it away, and ask again")


def checked_pieces(
    file: ArchivedFile, pieces: Iterable[bytes], place: str, *, alive: Callable[[], object] = lambda: None
) -> Iterator[bytes]:
    """The pieces of a file as they pass; DamagedArchive at their end when they were others than it has."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        alive()
        digest.update(piece)
        size += len(piece)
        yield piece
    if (size, digest.hexdigest()) != (file.size, file.sha256):
        raise DamagedArchive(f"{place} has {size} bytes that are not those which were first read of it; try again")
