"""What may happen at each step of a copy: nothing is lost by it, and what cannot be copied is told by its name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict, InvalidValue, StoreMoved
from penstock.events.feed import Feed
from penstock.events.feed_records import FeedPlace
from penstock.kernel.idempotency import Claim
from penstock.operations.feed_entry import FeedEntry
from penstock.transfer import comparison
from penstock.transfer.export import Export
from penstock.transfer.imported_export import check_empty
from penstock.transfer.live_copy import LiveCopy
from penstock.transfer.transfer_selection import Selection, watched
from penstock.transfer.transfer_state import TransferState
from tests.transfer.films import Reel, Shelf, reel

Told = Callable[[str, int], object]
FIVE = Reel.at(project_id="p3", number=5)


class Ended(Exception):
    """The process that copies has ended."""


@pytest.fixture
def other(opened: Callable[[str], Store]) -> Store:
    return opened("other")


def copying(full: Store, other: Store, selection: Selection, told: Told = lambda what, number: None) -> LiveCopy:
    return LiveCopy(full, other, selection, origin="here", goal="there", told=told)


def once(what: str, act: Callable[[], object]) -> Told:
    """At the first such step of a copy."""
    left = [act]

    def told(step: str, number: int) -> None:
        if step == what and left:
            left.pop()()

    return told


def ending() -> None:
    raise Ended


def damage(tmp_path: Path, number: int) -> None:
    """A record is written that nobody can read, past all that would refuse it."""
    with closing(sqlite3.connect(tmp_path / "full.db")) as connection:
        connection.execute("update reels_reel set status = 'torn' where number = ?", (number,))
        connection.commit()


def renamed(store: Store, title: str) -> None:
    store.put(reel(5, at=store.clock.now(), title=title))


# Beginning


def test_what_is_filled_from_one_store_is_not_filled_from_another(
    full: Store, other: Store, selection: Selection
) -> None:
    with pytest.raises(Ended):
        copying(full, other, selection, once("reels.Reel", ending)).run()
    elsewhere = LiveCopy(full, other, selection, origin="elsewhere", goal="there")
    with pytest.raises(Conflict, match="there is being filled from here, not from elsewhere"):
        elsewhere.run()


def test_the_log_is_kept_from_where_the_copy_begins(full: Store, other: Store, selection: Selection) -> None:
    """As it is kept for a feed that stands there; whoever trims it would take the changes away otherwise."""
    position: list[str | None] = []
    begun = once("reels.Reel", lambda: position.append(full.get(FeedPlace.at(name="copy")).position))
    end = full.engine.feed_end(watched(selection.shapes))
    copying(full, other, selection, begun).run()
    assert position == [end]


def test_an_entity_that_is_complete_is_not_read_again(full: Store, other: Store, selection: Selection) -> None:
    with pytest.raises(Ended):
        copying(full, other, selection, once("compared", ending)).run()
    before = other.get(TransferState.at(name="copy")).records
    assert copying(full, other, selection).run().records == before
    assert (before["reels.Reel"], before["reels.Shelf"]) == (25, 7), "all but the one that has ended"


def test_a_copy_that_was_given_up_is_begun_anew_from_nothing(full: Store, other: Store, selection: Selection) -> None:
    """What was changed since is in no log, so that nothing can be carried over behind what was copied."""
    with pytest.raises(Ended):
        copying(full, other, selection, once("compared", ending)).run()
    copying(full, other, selection).abandon()
    assert full.lookup(FeedPlace.at(name="copy")) is None, "the log is not kept for it"
    renamed(full, "after it was given up")
    with pytest.raises(Conflict, match="not empty"):
        copying(full, other, selection).run()


def test_a_copy_that_has_stopped_writers_and_is_given_up_lets_them_go_on(
    full: Store, other: Store, selection: Selection
) -> None:
    copying(full, other, selection).run()
    with pytest.raises(StoreMoved):
        renamed(full, "too late")
    copying(full, other, selection).abandon()
    renamed(full, "goes on here")


def test_a_copy_that_was_left_alone_for_too_long_is_begun_anew(full: Store, other: Store, selection: Selection) -> None:
    with pytest.raises(Ended):
        copying(full, other, selection, once("reels.Reel", ending)).run()
    renamed(full, "and then this was forgotten")
    shapes = watched(selection.shapes)
    end = full.engine.feed_end(shapes)
    assert end is not None
    full.engine.trim(shapes, before=end)
    with pytest.raises(Conflict, match="left alone for so long that changes are forgotten"):
        copying(full, other, selection).run()


# What cannot be read


@pytest.mark.parametrize("step", ["before", "reels.Reel"])
def test_a_record_that_cannot_be_read_is_named_and_the_store_goes_on(
    full: Store, other: Store, selection: Selection, tmp_path: Path, step: str
) -> None:
    """Whether it was so before, or became so behind the copy's back."""
    if step == "before":
        damage(tmp_path, 5)
    with pytest.raises(Conflict, match=r"Reel\(project_id=p3, number=5\) cannot be read, so it cannot be copied"):
        copying(full, other, selection, once(step, lambda: damage(tmp_path, 5))).run()
    full.put(Shelf(name="goes on"))


def test_an_export_names_what_cannot_be_read_and_is_for_its_owner_alone(
    full: Store, selection: Selection, tmp_path: Path
) -> None:
    damage(tmp_path, 5)
    manifest = Export(full, tmp_path / "out", selection).run()
    assert manifest.entities["reels.Reel"].unreadable == ["Reel(project_id=p3, number=5)"]
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "letter").write_text("keep this")
    with pytest.raises(InvalidValue, match="is not empty"):
        Export(full, tmp_path / "theirs", selection).run()


def test_a_store_that_has_only_what_cannot_be_read_is_not_empty(
    full: Store, other: Store, selection: Selection, tmp_path: Path
) -> None:
    full.delete_many([reel(n, at=full.clock.now()).ref for n in range(1, 26) if n != 5])
    damage(tmp_path, 5)
    with pytest.raises(Conflict, match=r"records of reels\.Reel"):
        check_empty(full, [Reel])


# Changes


def test_of_a_record_that_changed_twice_the_other_store_tells_both(
    full: Store, other: Store, selection: Selection
) -> None:
    def twice() -> None:
        for title in ("first", "second"):
            renamed(full, title)

    copying(full, other, selection, once("reels.Reel", twice)).run()
    told = other.engine.changes([Reel.__shape__], limit=1000)
    assert [e.new.title for e in told if e.key == FIVE.key][-2:] == ["first", "second"]


def test_what_was_written_since_it_was_compared_is_compared_again(
    full: Store, other: Store, selection: Selection
) -> None:
    compared: list[str] = []

    def meddle(what: str, number: int) -> None:
        if what == "compared" and not compared:
            compared.append("once")
            renamed(full, "by its owner")
        elif what == "changes" and compared == ["once"] and number:
            compared.append("twice")
            renamed(other, "by somebody else")

    with pytest.raises(Conflict, match=r"differ in reels\.Reel\(project_id=p3, number=5\)"):
        copying(full, other, selection, meddle).run()
    assert compared == ["once", "twice"]
    renamed(full, "goes on here")


def test_a_change_that_is_not_carried_over_yet_is_not_noted_as_if_it_were(
    full: Store, other: Store, selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Ended):
        copying(full, other, selection, once("reels.Reel", ending)).run()
    renamed(full, "carried over by the next one")

    def dies(self: LiveCopy, entries: Any) -> None:
        raise Ended

    with monkeypatch.context() as death:
        death.setattr(LiveCopy, "_apply", dies)
        with pytest.raises(Ended):
            copying(full, other, selection).run()
    copying(full, other, selection).run()
    assert other.get(FIVE).title == "carried over by the next one"


@pytest.mark.parametrize("who", ["full", "other"])
def test_a_record_that_only_one_has_is_a_difference(full: Store, other: Store, selection: Selection, who: str) -> None:
    copying(full, other, selection).run()
    copying(full, other, selection).abandon()
    (full if who == "full" else other).put(reel(77, at=full.clock.now()))
    seen: list[int] = []
    found = comparison.Comparison(full, other, selection).of_all(lambda label, number: seen.append(number))
    assert [name for name in found if "number=77" in name] == ["reels.Reel(project_id=p3, number=77)"]


def test_what_cannot_be_read_here_is_not_the_same_as_nothing_there(
    full: Store, other: Store, selection: Selection, tmp_path: Path
) -> None:
    damage(tmp_path, 5)
    assert list(comparison.Comparison(full, other, selection).of({"five": FIVE})) == ["five"]


def test_records_in_another_order_are_met_however_far_apart(
    full: Store, other: Store, selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only so many wait to be met; those that are forgotten are asked for."""
    copying(full, other, selection).run()
    copying(full, other, selection).abandon()
    monkeypatch.setattr(comparison, "_PAGE", 2)
    monkeypatch.setattr(comparison, "_WINDOW", 3)
    monkeypatch.setattr(comparison, "common_form", lambda *given: None)
    of, most = comparison._Met.take, [0]

    def take(self: Any, one: Any, others: Any) -> None:
        of(self, one, list(reversed(others)) if len(others) > 1 else others)
        most[0] = max(most[0], self.waiting)

    monkeypatch.setattr(comparison._Met, "take", take)
    for number in range(30, 60):  # only here, and in front of all others
        full.put(reel(number, at=full.clock.now()))
    found = comparison.Comparison(full, other, selection).of_all(lambda label, number: None)
    assert sorted(r.key["number"] for r in found.values() if r.shape.name == "Reel") == list(range(30, 60))
    assert most[0] <= 3 + 2 * 2, "so many wait, and those of two pages"


# Feeds


def following(store: Store, heard: list[int]) -> Feed:
    feed = Feed(store, "reels", owner="test")

    @feed.on(Reel, "insert", "update")
    def hear(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.key["number"])

    return feed


def test_a_feed_that_is_behind_the_bulk_is_to_be_followed_first(
    full: Store, other: Store, selection: Selection, clock: FrozenClock
) -> None:
    heard: list[int] = []
    feed = following(full, heard)
    feed.drain()
    clock.advance(timedelta(minutes=20))
    feed.run_once()
    full.put(reel(50, at=clock.now()))
    with pytest.raises(Conflict, match="the feed reels is behind what was copied in bulk; have it followed"):
        copying(full, other, selection).run()
    feed.drain()

    def told(what: str, number: int) -> None:
        if what == "changes" and full.lookup(reel(60, at=clock.now()).ref) is None:
            full.put(reel(60, at=clock.now()))  # which is carried over
        if what == "compared" and heard[-1] != 60:
            feed.drain()
            feed.close()

    copying(full, other, selection, told).run()
    assert heard[-2:] == [50, 60]
    heard.clear()
    other.put(reel(51, at=clock.now()))
    following(other, heard).drain()
    assert heard == [51], "it goes on there behind all that it has heard here"
    assert other.lookup(FeedPlace.at(name="copy")) is None
