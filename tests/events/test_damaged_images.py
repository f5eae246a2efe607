"""An image that cannot be read ends no feed: whoever should hear of it has a letter instead."""

from __future__ import annotations

from collections.abc import Callable

from penstock import FrozenClock, Store
from penstock.events.feed import Feed
from penstock.kernel.idempotency import Claim
from penstock.operations.feed_entry import FeedEntry
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.crates import RINGERS, TOWER, Bell, StrangeBell
from penstock.testing.entities import Colour


def test_a_feed_goes_on_past_what_cannot_be_read(open_engine: Callable[[], Engine], clock: FrozenClock) -> None:
    store = Store(open_engine(), clock=clock, own=SYSTEM_RECORDS)
    store.ensure(TOWER)
    assert RINGERS.shapes[0].domain == TOWER.shapes[0].domain
    feed = Feed(store, "bells", owner="a")
    heard: list[tuple[str, str]] = []

    @feed.on(Bell, "insert", "update", "remove")
    def hear(entry: FeedEntry, claim: Claim) -> None:
        heard.append((entry.kind, entry.key["name"]))

    store.create(Bell(name="first"))
    store.create(StrangeBell(name="odd", sound="a creak"))
    store.create(Bell(name="last"))
    feed.drain()
    assert heard == [("insert", "first"), ("insert", "last")]
    (letter,) = feed.letters()
    assert (letter.kind, letter.subject, letter.handler) == ("insert", {"name": "odd"}, "hear")
    assert "DamagedRecord" in letter.error

    store.put(Bell(name="odd", sound=Colour.BLUE))
    feed.retry(letter)
    assert heard[-1] == ("insert", "odd")
    assert list(feed.letters()) == []

    store.put(StrangeBell(name="first", sound="a creak"))
    store.delete(Bell.at(name="first"))
    store.create(Bell(name="new"))
    feed.drain()
    assert heard[-1] == ("insert", "new")
    assert [letter.kind for letter in feed.letters()] == ["update", "update", "remove"], "also of what was damaged"
