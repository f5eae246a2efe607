"""A copy of a SQLite file: one file, made while others write, and looked at before anybody relies on it."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.sql.sqlite_backup import back_up, check_sound
from penstock.errors import InvalidValue


@pytest.fixture
def original(tmp_path: Path) -> Path:
    made = tmp_path / "original.db"
    with closing(sqlite3.connect(made)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table films (id integer primary key, name text unique)")
        connection.executemany("insert into films (name) values (?)", [(f"film {n}",) for n in range(2000)])
        connection.commit()
    return made


def test_a_copy_is_one_file_that_needs_nothing_beside_it(original: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backup" / "copy.db"
    copy.parent.mkdir()
    back_up(original, copy)
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("pragma journal_mode").fetchone() == ("delete",)
        assert connection.execute("select count(*) from films").fetchone() == (2000,)
    assert list(copy.parent.iterdir()) == [copy]
    check_sound(copy)


def test_whoever_has_the_file_for_a_moment_is_waited_for(original: Path, tmp_path: Path) -> None:
    """As by one who makes room in it: nobody else can even read it meanwhile."""
    with closing(sqlite3.connect(original, isolation_level=None, check_same_thread=False)) as owner:
        owner.execute("pragma journal_mode = delete")
        owner.execute("begin exclusive")
        letting_go = threading.Timer(0.3, owner.rollback)
        letting_go.start()
        back_up(original, tmp_path / "copy.db")
        letting_go.join()
    check_sound(tmp_path / "copy.db")


def test_a_page_that_does_not_fit_the_others_is_found_before_anything_is_restored(original: Path) -> None:
    """Such a file opens, and answers most questions."""
    with closing(sqlite3.connect(original, isolation_level=None)) as connection:
        connection.execute("pragma writable_schema = on")
        connection.execute("delete from sqlite_master where name = 'sqlite_autoindex_films_1'")
    with pytest.raises(InvalidValue, match="is no sound SQLite file"):
        check_sound(original)
