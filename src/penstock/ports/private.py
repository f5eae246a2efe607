"""What lies in the embedded folder is its owner's alone: records, files, keys and secrets."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile, mkstemp

FOLDER, FILE = 0o700, 0o600
"What its owner may do with a folder and with a file, and nobody else."
_OTHERS = 0o077


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone; one that exists stays as it is."""
    if folder.is_dir():
        return
    make_private(folder.parent)
    folder.mkdir(FOLDER, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file for its owner alone, unless there is one.

    It is never open under its name: to close it would free every lock that this process holds on it.
    """
    if path.exists():
        return
    handle, name = mkstemp(dir=path.parent, prefix=".new-")
    os.close(handle)
    try:
        with suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)


def close_to_others(folder: Path) -> None:
    """Close a folder that others can look into, with all that is in it; one that is closed is not walked again.

    The folder itself is the last, so that whoever is interrupted begins anew. Where it is a link to a folder, that one
    is meant; links in it are not followed.
    """
    folder = folder.resolve()
    if not folder.is_dir() or not _is_open(folder):
        return
    for where, folders, files in os.walk(folder):
        for name in (*folders, *files):
            _close(Path(where, name))
    _close(folder)


def keep(text: str, path: Path) -> None:
    """Write a file where there is none. Whoever reads it finds it whole, and of several that begin one is first."""
    with NamedTemporaryFile("w", dir=path.parent) as file:  # which nobody else can read
        file.write(text)
        file.flush()
        with suppress(FileExistsError):
            os.link(file.name, path)


def _is_open(path: Path) -> bool:
    return bool(stat.S_IMODE(path.lstat().st_mode) & _OTHERS)


def _close(path: Path) -> None:
    with suppress(FileNotFoundError, PermissionError):  # it has gone, or is another's, who answers for it
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
