"""The feed tells every committed change, in order, with what stood before and after."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from penstock import FrozenClock, Store, the
from penstock.errors import Conflict
from penstock.kernel.handle import put
from penstock.operations.conditions import Missing, Present
from penstock.operations.feed_entry import FeedEntry
from penstock.ports.engine import Engine
from penstock.testing.entities import SUITE, Alarm, Watched, full_values, specimen
from penstock.testing.promises.promise import Promise


def _all(engine: Engine, *, limit: int = 100) -> list[FeedEntry]:
    """The whole feed, in parts."""
    out: list[FeedEntry] = []
    while part := engine.changes(SUITE.shapes, after=out[-1].position if out else None, limit=limit):
        assert len(part) <= limit
        out += part
    return out


def _told(entries: list[FeedEntry]) -> list[tuple[str, Any]]:
    return [(e.kind, e.key.get("label") or e.key.get("bell")) for e in entries]


class FeedPromises(Promise):
    """`changes`."""

    def test_inserts_updates_and_removals_are_told_in_order(self, store: Store, engine: Engine) -> None:
        here = Watched.at(shelf="s", label="a")
        store.put(Watched(shelf="s", label="a", count=1))
        store.put(Watched(shelf="s", label="a", count=2))
        store.patch(here, the(Watched.count).add(1))
        store.delete(here)
        entries = _all(engine)
        assert _told(entries) == [("insert", "a"), ("update", "a"), ("update", "a"), ("remove", "a")]
        assert [e.old and e.old.count for e in entries] == [None, 1, 2, 3]
        assert [e.new and e.new.count for e in entries] == [1, 2, 3, None]
        assert {e.cause for e in entries} == {"user"}
        assert all(dict(e.key) == {"shelf": "s", "label": "a"} for e in entries)

    def test_every_kind_of_value_is_told_equal(self, store: Store, engine: Engine) -> None:
        first = Watched(shelf="s", label="a", **full_values())
        price = Decimal("0.12345678901234567890123456789012345678")
        second = first.model_copy(update={"ratio": 1 / 3, "price": price, "count": 2**63 - 1, "blob": b""})
        store.put(first)
        store.put(second)
        entries = _all(engine)
        assert [e.new for e in entries] == [first, second]
        assert entries[1].old == first

    def test_a_commit_is_told_whole(self, store: Store, engine: Engine) -> None:
        store.commit([put(Watched(shelf="s", label=x)) for x in "ab"] + [put(Alarm(shelf="s", bell="c"))])
        assert sorted(_told(_all(engine))) == [("insert", "a"), ("insert", "b"), ("insert", "c")]

    def test_a_refused_commit_is_not_told(self, store: Store, engine: Engine) -> None:
        with pytest.raises(Conflict):
            store.commit([put(Watched(shelf="s", label="a")), put(Watched(shelf="s", label="b"), when=Present())])
        assert _all(engine) == []

    def test_the_feed_goes_on_behind_a_position(self, store: Store, engine: Engine) -> None:
        store.put(Watched(shelf="s", label="a"))
        seen = _all(engine)
        store.put(Watched(shelf="s", label="b"))
        assert _told(engine.changes(SUITE.shapes, after=seen[-1].position)) == [("insert", "b")]

    def test_a_position_lies_behind_all_that_was_looked_at(self, store: Store, engine: Engine) -> None:
        store.put(Alarm(shelf="s", bell="a"))
        for n in range(5):
            store.put(Watched(shelf="s", label=f"{n}"))
        told = engine.changes([Alarm.__shape__])
        assert engine.changes(SUITE.shapes, after=told.position) == []
        assert engine.changes([Alarm.__shape__], after=told.position).position == told.position
        store.put(Alarm(shelf="s", bell="b"))
        assert _told(engine.changes(SUITE.shapes, after=told.position)) == [("insert", "b")]
        first = engine.changes(SUITE.shapes, limit=2)
        assert first.position == first[-1].position

    def test_the_end_of_the_feed_is_behind_all_and_before_whatever_comes(self, store: Store, engine: Engine) -> None:
        engine.feed_end(SUITE.shapes)
        for n in range(3):
            store.put(Watched(shelf="s", label=f"{n}"))
        end = engine.feed_end(SUITE.shapes)
        assert engine.changes(SUITE.shapes, after=end) == []
        store.put(Watched(shelf="s", label="x"))
        assert _told(engine.changes(SUITE.shapes, after=end)) == [("insert", "x")]
        further = engine.feed_end(SUITE.shapes, after=end)
        assert engine.changes(SUITE.shapes, after=further) == []

    def test_the_feed_is_read_in_parts_of_any_size(self, store: Store, engine: Engine) -> None:
        for n in range(7):
            store.put(Watched(shelf="s", label="x", count=n))
            store.put(Alarm(shelf="s", bell=f"{n}"))
        for limit in (1, 2, 3, 100):
            entries = _all(engine, limit=limit)
            assert [e.new.count for e in entries if e.shape is Watched.__shape__] == list(range(7))
            assert len(entries) == 14

    def test_a_feed_of_one_entity_leaves_the_others_out(self, store: Store, engine: Engine) -> None:
        store.put(Watched(shelf="s", label="a"))
        store.put(Alarm(shelf="s", bell="b"))
        assert _told(engine.changes([Alarm.__shape__])) == [("insert", "b")]

    def test_a_table_without_a_feed_tells_nothing(self, store: Store, engine: Engine) -> None:
        store.put(specimen())
        assert _all(engine) == []

    def test_what_changes_nothing_is_not_told(self, store: Store, engine: Engine) -> None:
        store.put(Watched(shelf="s", label="a", **full_values()))
        store.put(Watched(shelf="s", label="a", **full_values()))
        store.delete(Watched.at(shelf="s", label="b"))
        assert _told(_all(engine)) == [("insert", "a")]

    def test_batches_are_told(self, store: Store, engine: Engine) -> None:
        store.put_many([Watched(shelf="s", label=f"{n:02d}") for n in range(30)])
        assert sorted(_told(_all(engine))) == [("insert", f"{n:02d}") for n in range(30)]

    def test_a_removal_by_expiry_is_told_as_such(self, store: Store, engine: Engine, clock: FrozenClock) -> None:
        if engine.features.native_expiry:
            pytest.skip("the database removes records when it likes")
        end = int(clock.now().timestamp()) + 5
        store.put(Watched(shelf="s", label="a", ends_at=end))
        clock.advance(timedelta(seconds=5))
        engine.expire(SUITE.shapes, now=clock.now())
        store.put(Watched(shelf="s", label="b"), when=Missing())
        entries = _all(engine)
        assert [(e.kind, e.cause) for e in entries] == [("insert", "user"), ("remove", "expiry"), ("insert", "user")]
        assert entries[1].old.ends_at == end
