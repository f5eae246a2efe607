"""Scratch folders: gone when the work is done; those of a process that was killed go when the next one begins.

A folder is locked for as long as its process lives, by the system itself, so nobody has to ask who is still alive.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_PREFIX = "penstock-scratch-"
_NEW = 60.0
"Seconds in which a folder may have been made and not locked yet."


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """An empty folder for the time of some work."""
    _remove_abandoned(os.getpid())
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{purpose}-") as folder, _locked(folder):
        yield Path(folder)


@cache
def _remove_abandoned(process: int) -> None:
    """Once in the life of a process."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is another's, still at work, or gone already
            if time.time() - folder.lstat().st_mtime > _NEW:
                with _locked(str(folder)):
                    shutil.rmtree(folder)


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Hold a folder; BlockingIOError where another does."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(held)
