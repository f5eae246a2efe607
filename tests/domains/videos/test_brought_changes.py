"""Brought changes keep the promises of a feed: about own writes, order, outages and claims that are lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from penstock import FrozenClock, the
from penstock.domains.videos.model import Video
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import OBJECTS, STORE, Unavailable
from penstock.events.feed import Feed
from penstock.kernel.idempotency import Claim
from penstock.kernel.outages import outages_of
from penstock.operations.feed_entry import FeedEntry
from tests.domains.videos.streams import Record, event_of, inserted, receipt

Read = Callable[[], list[Record]]


def test_a_handler_does_not_hear_of_what_it_writes_itself(streamed: VideoLibrary, read: Read) -> None:
    video = inserted(streamed)
    feed, heard = Feed(streamed.store, "own", owner="a"), []

    @feed.on(Video, "insert", "update")
    def name(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.kind)
        with streamed.store.change(once=claim) as change:
            change.patch(video.ref, the(Video.title).set("named"))

    first = read()
    assert feed.pushed().take(event_of(first)) == []
    later = read()[len(first) :]
    assert [record["eventName"] for record in later] == ["MODIFY"]
    assert feed.pushed().take(event_of(later)) == []
    assert heard == ["insert"]


def test_what_follows_about_a_record_waits_for_what_failed_though_it_would_not_fail_itself(
    streamed: VideoLibrary, read: Read
) -> None:
    video = inserted(streamed)
    streamed.store.patch(video.ref, the(Video.title).set("b"))
    feed, heard = Feed(streamed.store, "in-order", owner="a"), []

    @feed.on(Video, "insert", "update")
    def hear(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.kind)
        if entry.kind == "insert":
            raise ValueError("not yet")

    records = read()
    assert feed.pushed().take(event_of(records)) == [receipt(record) for record in records]
    assert heard == ["insert"]


def test_where_the_store_goes_away_all_that_follows_is_brought_again(
    streamed: VideoLibrary, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    videos = [inserted(streamed) for _ in range(3)]
    feed, heard = Feed(streamed.store, "away", owner="a"), []

    @feed.on(Video, "insert")
    def hear(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.new.video_id)

    pushed, begin = feed.pushed(), feed._handover.claim_freely

    def going_away(*asked: object) -> Claim | None:
        if heard:
            raise Unavailable("nobody answers", part=STORE)
        return begin(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(feed._handover, "claim_freely", going_away)
    records = read()
    assert pushed.take(event_of(records)) == [receipt(record) for record in records[1:]]
    monkeypatch.undo()
    assert pushed.take(event_of(records[1:])) == []
    assert sorted(heard) == sorted(video.video_id for video in videos)


def test_one_whose_claim_was_taken_over_is_brought_again_and_stops_no_other(
    streamed: VideoLibrary, read: Read, clock: FrozenClock
) -> None:
    slow = inserted(streamed)
    inserted(streamed)
    records = read()
    done: list[str] = []

    def following(owner: str) -> Feed:
        feed = Feed(streamed.store, "slow", owner=owner)

        @feed.on(Video, "insert")
        def rename(entry: FeedEntry, claim: Claim) -> None:
            if owner == "slow" and entry.new.video_id == slow.video_id:
                clock.advance(timedelta(minutes=5))
                assert following("quick").pushed().take(event_of(records[:1])) == []
            with streamed.store.change(once=claim) as change:
                change.patch(Video.at(video_id=entry.new.video_id), the(Video.title).set(owner))
            done.append(owner)

        return feed

    assert following("slow").pushed().take(event_of(records)) == [receipt(records[0])]
    assert done == ["quick", "slow"], "what comes after is dealt with"
    assert following("slow").pushed().take(event_of(records)) == []
    assert done == ["quick", "slow"]


def test_a_handler_that_fails_for_an_hour_for_a_part_that_answers_has_the_tries_of_any_other(
    streamed: VideoLibrary, read: Read, clock: FrozenClock
) -> None:
    inserted(streamed)
    outages_of(streamed.store).lookout(OBJECTS, probe=lambda: None)
    feed = Feed(streamed.store, "in-vain", owner="a", attempts=2)

    @feed.on(Video, "insert")
    def need(entry: FeedEntry, claim: Claim) -> None:
        raise Unavailable("nobody answers here", part=OBJECTS)

    pushed, records = feed.pushed(), read()
    for _ in range(3):
        assert pushed.take(event_of(records)) == [receipt(record) for record in records]
    clock.advance(timedelta(minutes=61))
    assert pushed.take(event_of(records)) == []
    assert [letter.handler for letter in feed.letters()] == ["need"]
