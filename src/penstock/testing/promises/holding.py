"""A store that is left behind refuses every write, until somebody lets it take them again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock import Store
from penstock.errors import StoreMoved
from penstock.ports.engine import Engine
from penstock.testing.differences import differs
from penstock.testing.entities import SUITE, Watched, specimen
from penstock.testing.promises.promise import Promise

_WHY = "it has nothing that refuses a write for everybody; whoever writes has to be stopped"


class Holding(Promise):
    """`hold_writes`."""

    @differs("dynamodb", never=_WHY)
    def test_a_held_store_refuses_every_kind_of_write_and_can_be_read(self, store: Store, engine: Engine) -> None:
        store.put(specimen(label="before"))
        engine.hold_writes(SUITE.shapes, told="moved to '100%'")
        try:
            for write in self._writes(store):
                with pytest.raises(StoreMoved, match="moved to '100%'"):
                    write()
            assert store.get(specimen(label="before").ref) == specimen(label="before")
        finally:
            engine.hold_writes(SUITE.shapes, told=None)
        store.put(specimen(label="after"))
        assert store.lookup(specimen(label="after").ref) is not None

    @staticmethod
    def _writes(store: Store) -> list[Callable[[], object]]:
        """Every way to write, of entities with a feed and without."""
        return [
            lambda: store.put(specimen(label="after")),
            lambda: store.create(specimen(label="after")),
            lambda: store.put_many([specimen(label="after")]),
            lambda: store.delete(specimen(label="before").ref),
            lambda: store.put(Watched(shelf="s", label="after")),
        ]

    @differs("dynamodb", never=_WHY)
    def test_a_store_may_be_held_twice_and_let_go_twice(self, store: Store, engine: Engine) -> None:
        for told in ("first", "second"):
            engine.hold_writes(SUITE.shapes, told=told)
        try:
            with pytest.raises(StoreMoved, match="second"):
                store.put(specimen())
        finally:
            for _ in range(2):
                engine.hold_writes(SUITE.shapes, told=None)
        store.put(Watched(shelf="s", label="a"))
        assert [entry.key["label"] for entry in engine.changes([Watched.__shape__])] == ["a"]
