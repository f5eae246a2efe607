"""The feed of several entities has one end, so that none of them is overtaken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock import Store, open_store
from penstock.kernel.handle import put
from penstock.testing.entities import SUITE, Alarm, Watched


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
