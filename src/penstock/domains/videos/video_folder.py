"""A folder of videos: what in it is one by its first bytes, and what is passed over for which reason."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path

from penstock.media.content_type import SNIFFED_BYTES, UNKNOWN, sniff

_VIDEO = ("video/", "application/mxf")


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """Something in a folder, or below it."""

    path: Path
    passed_over: str | None = None
    "Why, if it is no video."
    is_hidden: bool = False
    is_broken: bool = False
    "Could it not be looked at?"


def files_in(folder: Path) -> Iterator[FolderEntry]:
    """All there is in a folder, and then in those below it, by name; links to folders are not followed."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            names = sorted(os.listdir(here))
        except OSError as error:
            yield _broken(here, error)
            continue
        below = []
        for path in (here / name for name in names):
            if path.name.startswith("."):
                yield FolderEntry(path, "it is hidden", is_hidden=True)
            elif not os.path.isdir(path):
                yield _file(path)
            elif os.path.islink(path):
                yield FolderEntry(path, "it is a link to a folder, which is not followed")
            else:
                below.append(path)
        waiting += reversed(below)


def _file(path: Path) -> FolderEntry:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return FolderEntry(path, "it is no file")
        if status.st_size == 0:
            return FolderEntry(path, "it is empty")
        with path.open("rb") as file:
            found = sniff(file.read(SNIFFED_BYTES))
    except OSError as error:
        return _broken(path, error)
    if found == UNKNOWN and (guess_type(path.name)[0] or "").startswith(_VIDEO):
        return FolderEntry(path)  # of a kind that does not show in its first bytes
    if not found.startswith(_VIDEO):
        return FolderEntry(path, "it is no video" if found == UNKNOWN else f"it is no video but {found}")
    return FolderEntry(path)


def _broken(path: Path, error: OSError) -> FolderEntry:
    return FolderEntry(path, f"it cannot be read: {error.strerror or error}", is_broken=True)
