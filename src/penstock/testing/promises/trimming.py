"""Changes that nobody needs any more are forgotten on request, and whoever comes too late for them is told so."""

from __future__ import annotations

import pytest

from penstock import Store
from penstock.errors import FeedTrimmed
from penstock.operations.feed_entry import FeedEntry, LogSize
from penstock.ports.engine import Engine
from penstock.testing.entities import SUITE, Alarm, Specimen, Watched
from penstock.testing.promises.promise import Promise


def _labels(entries: list[FeedEntry]) -> list[str]:
    return [e.key.get("label") or e.key["bell"] for e in entries]


class Trimming(Promise):
    """`trim` and `log_size`."""

    @pytest.fixture
    def trimmed(self, store: Store, engine: Engine) -> Engine:
        """An engine that keeps its changes until it is told to forget them; ten are there."""
        for n in range(10):
            store.put(Watched(shelf="s", label=f"{n}"))
        if engine.log_size(SUITE.shapes) == LogSize(0):
            pytest.skip("the store forgets changes by itself")
        return engine

    def test_a_store_that_forgets_by_itself_has_nothing_to_forget(self, store: Store, engine: Engine) -> None:
        store.put(Watched(shelf="s", label="a"))
        end = engine.feed_end(SUITE.shapes)
        kept = engine.log_size(SUITE.shapes).entries
        assert end is not None
        assert engine.trim(SUITE.shapes, before=end) == kept
        assert engine.trim(SUITE.shapes, before=end) == 0
        assert engine.trim([Specimen.__shape__], before=end) == 0, "of what has no feed nothing is kept"

    def test_changes_up_to_a_position_are_forgotten_and_later_ones_kept(self, trimmed: Engine) -> None:
        told = trimmed.changes(SUITE.shapes)
        assert trimmed.trim(SUITE.shapes, before=told[5].position) == 6
        assert _labels(trimmed.changes(SUITE.shapes)) == ["6", "7", "8", "9"]
        assert _labels(trimmed.changes(SUITE.shapes, after=told[5].position)) == ["6", "7", "8", "9"]
        assert trimmed.trim(SUITE.shapes, before=told[5].position) == 0

    def test_the_oldest_are_forgotten_first_and_not_more_than_was_said(self, trimmed: Engine) -> None:
        told = trimmed.changes(SUITE.shapes)
        assert trimmed.trim(SUITE.shapes, before=told[8].position, limit=3) == 3
        assert _labels(trimmed.changes(SUITE.shapes)) == [f"{n}" for n in range(3, 10)]

    def test_a_reader_that_comes_too_late_is_told_so(self, trimmed: Engine) -> None:
        told = trimmed.changes(SUITE.shapes)
        trimmed.trim(SUITE.shapes, before=told[5].position)
        for seen in told[:5]:
            with pytest.raises(FeedTrimmed, match="kept no longer"):
                trimmed.changes(SUITE.shapes, after=seen.position)
        assert len(trimmed.changes(SUITE.shapes)) == 4, "whoever goes on all the same begins with the oldest kept"

    def test_whoever_began_before_there_was_anything_is_told_so_as_well(self, store: Store, engine: Engine) -> None:
        beginning = engine.feed_end(SUITE.shapes)
        store.put(Watched(shelf="s", label="a"))
        end = engine.feed_end(SUITE.shapes)
        assert end is not None
        if engine.trim(SUITE.shapes, before=end) == 0:
            pytest.skip("the store forgets changes by itself")
        with pytest.raises(FeedTrimmed):
            engine.changes(SUITE.shapes, after=beginning)

    def test_when_all_are_forgotten_the_feed_goes_on(self, trimmed: Engine, store: Store) -> None:
        end = trimmed.feed_end(SUITE.shapes)
        assert end is not None
        assert trimmed.trim(SUITE.shapes, before=end) == 10
        assert trimmed.changes(SUITE.shapes, after=end) == []
        again = trimmed.feed_end(SUITE.shapes)
        store.put(Watched(shelf="s", label="new"))
        for place in (None, end, again):
            assert _labels(trimmed.changes(SUITE.shapes, after=place)) == ["new"]

    def test_changes_of_other_entities_are_kept_and_their_readers_not_disturbed(
        self, trimmed: Engine, store: Store
    ) -> None:
        early = trimmed.changes(SUITE.shapes)[0].position
        store.put(Alarm(shelf="s", bell="b"))
        end = trimmed.feed_end(SUITE.shapes)
        assert end is not None
        assert trimmed.trim([Watched.__shape__], before=end) == 10
        assert _labels(trimmed.changes([Alarm.__shape__], after=early)) == ["b"]
        with pytest.raises(FeedTrimmed):
            trimmed.changes(SUITE.shapes, after=early)

    def test_a_commit_may_be_forgotten_in_parts(self, trimmed: Engine, store: Store) -> None:
        with store.change() as change:
            for label in "abcd":
                change.create(Watched(shelf="t", label=label))
        told = [e for e in trimmed.changes(SUITE.shapes) if e.key["shelf"] == "t"]
        assert trimmed.trim(SUITE.shapes, before=told[1].position) == 12
        assert trimmed.changes(SUITE.shapes) == told[2:]
        assert trimmed.changes(SUITE.shapes, after=told[1].position) == told[2:]
        with pytest.raises(FeedTrimmed):
            trimmed.changes(SUITE.shapes, after=told[0].position)

    def test_the_size_of_the_log_is_told(self, trimmed: Engine) -> None:
        size = trimmed.log_size(SUITE.shapes)
        assert size.entries == 10
        assert size.oldest is not None
        told = trimmed.changes(SUITE.shapes)
        trimmed.trim(SUITE.shapes, before=told[3].position)
        later = trimmed.log_size(SUITE.shapes)
        assert later.entries == 6
        assert later.oldest is not None
        assert later.oldest >= size.oldest
        assert trimmed.log_size([Alarm.__shape__]) == LogSize(0)
