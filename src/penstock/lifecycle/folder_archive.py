"""An archive in a folder: files that are complete and on the disk, or not there at all."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import ARCHIVE, InvalidValue, NotFound, Unavailable
from penstock.ports.private import FILE, make_private
from penstock.ports.stored_object import Body, pieces_of

# Plain in every file system, in a URL and in an object store; a leading dot is for our own unfinished files.
_NAME = re.compile(r"[A-Za-z0-9_=-][A-Za-z0-9._=-]{0,199}(/[A-Za-z0-9_=-][A-Za-z0-9._=-]{0,199}){0,15}")
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class FolderArchive:
    """Files under one folder, which is made when the first of them is written."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def put(self, name: str, content: Body) -> bool:
        target = self._path(name)
        with _told(self.folder):
            make_private(self.folder)
            make_private(target.parent)
            self._stay_inside(target, name)
            if target.exists():
                return False
            unfinished = target.parent / f".{target.name}.{os.urandom(8).hex()}"
            try:
                _write(unfinished, content)
                written = _named(unfinished, target)
            finally:
                unfinished.unlink(missing_ok=True)
            for folder in (target.parent, *target.parent.parents):
                _flush(folder)
                if folder == self.folder:
                    break
            return written

    def get(self, name: str) -> bytes:
        path = self._path(name)
        with _told(self.folder):
            self._stay_inside(path, name)
            try:
                return path.read_bytes()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                raise NotFound(f"the archive {self.folder} has no {name}") from None

    def pieces(self, name: str) -> Iterator[bytes]:
        path = self._path(name)
        with _told(self.folder):
            self._stay_inside(path, name)
            try:
                file = path.open("rb")
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                raise NotFound(f"the archive {self.folder} has no {name}") from None
        with file, _told(self.folder):
            yield from pieces_of(file)

    def exists(self, name: str) -> bool:
        with _told(self.folder):
            path = self._path(name)
            self._stay_inside(path, name)
            return path.is_file()

    def list(self, prefix: str = "") -> Iterator[str]:
        with _told(self.folder):
            found = (p.relative_to(self.folder).as_posix() for p in self.folder.rglob("*") if p.is_file())
            names = sorted(n for n in found if n.startswith(prefix) and _NAME.fullmatch(n))
        yield from names

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise InvalidValue(
                f"{name!r} cannot be the name of an archived file; use letters, digits and . _ = - between single /"
            )
        return self.folder / name

    def _stay_inside(self, path: Path, name: str) -> None:
        """A link within the folder must not lead out of it."""
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise InvalidValue(f"{name!r} leads out of the archive {self.folder}; remove the link")


def _write(path: Path, content: Body) -> None:
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, FILE)) as file:
        for piece in pieces_of(content):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _named(unfinished: Path, target: Path) -> bool:
    """Give a finished file its name, in one step; False when there is one already."""
    try:
        os.link(unfinished, target)  # unlike a rename, a link never replaces
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if target.exists():
            return False
        unfinished.rename(target)
    return True


def _flush(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = f"the archive {folder} cannot be used: {error.strerror or error}"
        raise Unavailable(said, part=ARCHIVE) from error
