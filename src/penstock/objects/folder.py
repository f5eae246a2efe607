"""Folders, walked name by name so that no link is ever followed: what is opened here lies beneath where it began."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from penstock.ports.private import FILE, FOLDER

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_LINKED = (errno.ELOOP, errno.ENOTDIR)


class Linked(Exception):
    """A link stands in the way."""


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A descriptor of a folder, by its path; the path itself may contain links."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def within(root: int, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder beneath another; FileNotFoundError when there is none, unless it is to be made."""
    descriptor = os.dup(root)
    try:
        for name in names:
            below = _step(descriptor, name, make)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def _step(above: int, name: str, make: bool) -> int:
    try:
        return _open(name, _DIRECTORY, above)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, FOLDER, dir_fd=above)
    os.fsync(above)  # or the folder, and all in it, could be gone after a power cut
    return _open(name, _DIRECTORY, above)


def open_file(folder: int, name: str) -> int:
    """A descriptor of a plain file; FileNotFoundError for anything else."""
    descriptor = _open(name, _FILE, folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(errno.ENOENT, "not a plain file", name)
    return descriptor


def _open(name: str, flags: int, above: int) -> int:
    try:
        return os.open(name, flags, dir_fd=above)
    except OSError as error:
        if error.errno in _LINKED and _is_link(name, above):
            raise Linked(name) from None
        if error.errno == errno.ENOTDIR:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from None
        raise


def _is_link(name: str, above: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)


def entries(folder: int) -> list[os.DirEntry[str]]:
    """What a folder holds, links left out."""
    with os.scandir(folder) as found:
        return [entry for entry in found if not entry.is_symlink()]


@contextmanager
def locked(folder: int, name: str) -> Iterator[None]:
    """Hold an exclusive lock among all threads and processes of this machine; one that dies gives it back."""
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE, dir_fd=folder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
