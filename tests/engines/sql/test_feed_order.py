"""The feed of several entities has one end, so that none of them is overtaken."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock import Store, open_store
from penstock.errors import FeedTrimmed, InvalidCursor
from penstock.kernel.handle import put
from penstock.operations.feed_entry import LogSize
from penstock.testing.entities import SUITE, Alarm, Watched
from tests.servers import Postgres


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{folder}/x.db")
    store.ensure(SUITE)
    yield store
    store.close()


@pytest.mark.parametrize("first", ["watched", "alarm"])
def test_what_commits_while_the_feed_is_read_is_told_next_time_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """The log is read for one entity after the other; between them both may change."""
    shapes = [Watched.__shape__, Alarm.__shape__]
    if first == "alarm":
        shapes.reverse()
    with opened(tmp_path) as store:
        engine: Any = store.engine
        rows, read = engine.connector.rows, list[str]()

        def interrupted(text: str, parameters: tuple[Any, ...]) -> Any:
            found = rows(text, parameters)
            if "penstock_changes where" in text:
                read.append(text)
                if len(read) == 1:
                    store.commit([put(Watched(shelf="s", label="w")), put(Alarm(shelf="s", bell="a"))])
            return found

        store.put(Watched(shelf="s", label="before"))
        monkeypatch.setattr(engine.connector, "rows", interrupted)
        told = engine.changes(shapes)
        later = engine.changes(shapes, after=told.position)
        keys = [e.key.get("label") or e.key.get("bell") for e in (*told, *later)]
        assert sorted(keys) == ["a", "before", "w"], "each is told once"


def test_a_log_of_an_earlier_version_is_completed_and_goes_on(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.put(Alarm(shelf="s", bell="of before"))
    with closing(sqlite3.connect(tmp_path / "x.db")) as file:
        for (trigger,) in file.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            file.execute(f'drop trigger "{trigger}"')
        file.execute("drop table penstock_trimmed")
        file.execute("alter table penstock_changes drop column at")
    with opened(tmp_path) as store:
        engine, shapes = store.engine, [Alarm.__shape__]
        assert engine.ensure(SUITE.shapes) == []
        store.put(Alarm(shelf="s", bell="new"))
        told = engine.changes(shapes)
        assert [e.key["bell"] for e in told] == ["of before", "new"]
        assert engine.log_size(shapes) == LogSize(2), "nobody knows when the first was written"
        assert engine.trim(shapes, before=told[0].position) == 1
        assert engine.log_size(shapes).oldest is not None


def test_what_is_no_position_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as store, pytest.raises(InvalidCursor, match="not a position"):
        store.engine.changes([Alarm.__shape__], after="@1:2")


def test_changes_that_are_forgotten_while_they_are_read_are_told_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as store:
        _forgotten_before(store, "penstock_changes where position >", monkeypatch)


def test_on_a_server_they_are_told_to_be_so_too(postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_store(postgres_server.create_database("forgotten"))) as store:
        store.engine.ensure([Alarm.__shape__])
        _forgotten_before(store, "jsonb_populate_record", monkeypatch)  # they were listed already


def _forgotten_before(store: Store, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader is told that changes were forgotten in the moment before its statement."""
    engine: Any = store.engine
    shapes, rows = [Alarm.__shape__], engine.connector.rows
    beginning = engine.feed_end(shapes)
    store.put(Alarm(shelf="s", bell="a"))

    def interrupted(text: str, parameters: tuple[Any, ...]) -> Any:
        if statement in text:
            monkeypatch.undo()
            assert engine.trim(shapes, before=engine.feed_end(shapes)) == 1
        return rows(text, parameters)

    monkeypatch.setattr(engine.connector, "rows", interrupted)
    with pytest.raises(FeedTrimmed):
        engine.changes(shapes, after=beginning)
