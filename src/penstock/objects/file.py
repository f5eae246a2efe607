"""Files that are written once: not there until they are complete and on the disk, then never changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from penstock.errors import Unavailable
from penstock.ports.private import FILE

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Written:
    """A complete file that has only a name by chance, in a folder for such files."""

    folder: int
    name: str
    descriptor: int
    sha256: str

    def move(self, folder: int, name: str) -> None:
        """Give it a name to be found by, in one step, replacing what has it."""
        os.replace(self.name, name, src_dir_fd=self.folder, dst_dir_fd=folder)
        os.fsync(folder)

    @property
    def status(self) -> os.stat_result:
        return os.fstat(self.descriptor)


class Unfinished:
    """A file on its way, written piece by piece."""

    def __init__(self, folder: int, name: str, descriptor: int) -> None:
        self._folder, self._name, self._descriptor = folder, name, descriptor
        self._digest = sha256()

    def write(self, piece: bytes) -> None:
        self._digest.update(piece)
        left = memoryview(piece)
        while left:
            left = left[os.write(self._descriptor, left) :]

    def complete(self) -> Written:
        """All of it is written, and now on the disk."""
        os.fsync(self._descriptor)
        return Written(self._folder, self._name, self._descriptor, self._digest.hexdigest())


@contextmanager
def unfinished(folder: int) -> Iterator[Unfinished]:
    """A new file to write to; it is gone in the end unless it was completed and moved."""
    name = os.urandom(16).hex()
    with closed(os.open(name, _NEW, FILE, dir_fd=folder)) as descriptor:
        try:
            yield Unfinished(folder, name, descriptor)
        finally:
            remove(folder, name)


@contextmanager
def written(folder: int, content: Iterable[bytes]) -> Iterator[Written]:
    """A file with these bytes, on the disk; it is gone in the end unless it was moved."""
    with unfinished(folder) as new:
        for piece in content:
            new.write(piece)
        yield new.complete()


def read(descriptor: int, start: int, stop: int) -> Iterator[bytes]:
    """Some bytes of a file, in pieces."""
    while start < stop:
        piece = os.pread(descriptor, min(_PIECE, stop - start), start)
        if not piece:
            raise Unavailable("a file became shorter while it was read", part=None)
        start += len(piece)
        yield piece


def identity(status: os.stat_result) -> str:
    """Which file it is; because files are replaced and never changed, that tells what is in it."""
    return f"{status.st_mtime_ns:x}-{status.st_ino:x}-{status.st_size:x}"


def moment(status: os.stat_result) -> datetime:
    """When it was written."""
    return datetime.fromtimestamp(status.st_mtime, UTC)


def exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def remove(folder: int, name: str) -> None:
    """Remove a file; one that is not there is removed already."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


@contextmanager
def closed(descriptor: int) -> Iterator[int]:
    """A descriptor that is closed in the end."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)
