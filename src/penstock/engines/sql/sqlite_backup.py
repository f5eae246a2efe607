"""A copy of a SQLite file, made by SQLite itself while others read and write it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from penstock.engines.sql.sqlite_errors import meaning
from penstock.errors import InvalidValue, Misconfigured
from penstock.ports.private import make_private_file


def back_up(path: Path, copy: Path) -> None:
    """Write a copy of a file as it stands at one moment; ``copy`` is new, and for its owner alone.

    All pages are read under one view of the file, so writers go on, and what they write is not in it. Whoever has the
    file alone for a moment is waited for: Python's `backup` tries again by itself.
    """
    if not path.is_file():
        raise Misconfigured(f"there is no SQLite file {path} to make a copy of")
    make_private_file(copy)
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            target.execute("pragma journal_mode = delete")  # so that it is one file, and no log beside it
    except sqlite3.Error as error:
        raise meaning(error) from error


def check_sound(path: Path) -> None:
    """InvalidValue unless SQLite finds every page of a file in order."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            found = [row[0] for row in connection.execute("pragma integrity_check(3)")]
    except sqlite3.Error as error:
        raise InvalidValue(f"{path} is no sound SQLite file: {error}") from error
    if found != ["ok"]:
        raise InvalidValue(f"{path} is no sound SQLite file: {'; '.join(found)}")
