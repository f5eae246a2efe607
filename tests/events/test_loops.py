"""The loops of relays and feeds: they sit out what passes, say what does not, and leave their duty to others."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from penstock import Store
from penstock.domains.videos.model import Video
from penstock.errors import OBJECTS, STORE, Misconfigured, Unavailable
from penstock.events.feed import Feed
from penstock.events.relay import Delivery, Relay
from penstock.kernel.idempotency import Claim
from penstock.operations.feed_entry import FeedEntry
from tests.events.test_feed import _Watch, video
from tests.kernel.test_outbox import Listener, announce, relay


def failing(act: Callable[[], Any], *errors: Exception) -> Callable[[], Any]:
    """The same, after these failures."""
    left = list(errors)

    def attempt() -> Any:
        if left:
            raise left.pop(0)
        return act()

    return attempt


def ending(act: Callable[[], Any], stop: Event, times: int) -> Callable[[], Any]:
    """The same, so many times at most."""
    done: list[None] = []

    def counted() -> Any:
        done.append(None)
        if len(done) >= times:
            stop.set()
        return act()

    return counted


def test_a_relay_that_cannot_go_on_says_so_and_leaves_its_duty_to_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no waiting mends is for whoever runs it, who would otherwise see a relay that tells nothing."""
    listener, stop = Listener(), Event()
    at_work = relay(store, listener)
    announce(store, "a")
    at_work.run_once()
    waiter = store.engine.listen()
    monkeypatch.setattr(store.engine, "listen", lambda: waiter)
    broken = failing(at_work.run_once, Misconfigured("there is no such table"))
    monkeypatch.setattr(at_work, "run_once", ending(broken, stop, 2))
    with pytest.raises(Misconfigured, match="no such table"):
        at_work.run(stop)
    assert not waiter.wait(30), "it has ended listening"
    announce(store, "b")
    assert relay(store, listener, "another").run_once() == Delivery(published=1)


def test_a_relay_sits_out_a_store_that_is_away_also_while_it_ends(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener, stop = Listener(), Event()
    at_work = relay(store, listener)
    announce(store, "a")
    away = Unavailable("nobody is there", part=STORE)
    monkeypatch.setattr(at_work, "run_once", ending(failing(at_work.run_once, away), stop, 2))
    monkeypatch.setattr(at_work, "close", failing(at_work.close, away))
    at_work.run(stop)
    assert listener.types == ["a"]


class Ears:
    """A waiter that notes how it is used, and waits for nobody."""

    def __init__(self) -> None:
        self.noted: list[object] = []

    def busy(self) -> None:
        self.noted.append("busy")

    def wait(self, seconds: float) -> bool:
        self.noted.append(seconds)
        return False

    def close(self) -> None:
        self.noted.append("closed")


def test_a_relay_waits_for_news_only_when_it_has_told_everything(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ears, stop = Ears(), Event()
    monkeypatch.setattr(store.engine, "listen", lambda: ears)
    at_work = Relay(store, Listener(), owner="r", batch=1)
    announce(store, "a", "b")
    monkeypatch.setattr(at_work, "run_once", ending(at_work.run_once, stop, 4))
    at_work.run(stop)
    assert ears.noted == ["busy", "busy", 1.0, 1.0, "closed"]


def test_a_feed_whose_duty_another_has_looks_now_and_then(store: Store) -> None:
    assert Feed(store, "f", owner="a").run_once() == 0
    watch = _Watch(times=2)
    Feed(store, "f", owner="b").run(watch)
    assert watch.waited == [5.0, 5.0]


def test_a_feed_sits_out_what_its_handler_needs_and_the_store_also_while_it_ends(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, stop, heard = Feed(store, "f", owner="a", attempts=1), Event(), list[str]()
    needed = failing(lambda: None, Unavailable("the disk is gone", part=OBJECTS))

    @feed.on(Video, "insert")
    def hear(entry: FeedEntry, claim: Claim) -> None:
        needed()
        heard.append(entry.key["video_id"])
        stop.set()

    store.create(video(1))
    away = Unavailable("nobody is there", part=STORE)
    monkeypatch.setattr(feed, "_place", ending(failing(feed._place, away), stop, 9))
    monkeypatch.setattr(feed, "close", failing(feed.close, away))
    feed.run(stop)
    assert (len(heard), list(feed.letters())) == (1, [])
