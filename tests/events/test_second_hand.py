"""Events in several hands: whoever comes second finds what the first has left, and takes nothing from anybody."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store, the
from penstock.domains.videos.model import Video
from penstock.errors import OBJECTS, Conflict, Unavailable
from penstock.events.feed import Feed
from penstock.events.handover import Handover, RegisteredHandler
from penstock.events.held_back import let_go_on
from penstock.events.relay import Delivery
from penstock.events.self_writes import SelfWrites
from penstock.kernel.handle import patch
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.idempotency import Claim, Once, SystemOnce, once_key
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.writes import Write
from penstock.testing.entities import Watched
from tests.events.test_feed import video, watched
from tests.kernel.test_outbox import Listener, announce, relay

__all__ = ["watched"]

DAY = timedelta(days=1)


# The relay


def test_the_first_that_is_taken_while_others_are_in_doubt_lets_all_go(store: Store, clock: FrozenClock) -> None:
    """Only messages have failed that may themselves be the reason; another gets through, so the sink is there."""
    listener = Listener()
    listener.failing["a"] = [ValueError("cannot be read"), Unavailable("no answer"), Unavailable("no answer")]
    at_work = relay(store, listener)
    announce(store, "a")
    assert at_work.run_once() == Delivery(postponed=1)
    clock.advance(timedelta(seconds=2))
    assert at_work.run_once() == Delivery(postponed=1)
    for new in "bcd":
        announce(store, new)
    assert at_work.run_once().published == 3
    assert sorted(listener.types) == ["b", "c", "d"]


@pytest.mark.parametrize("status", [MessageStatus.PENDING, MessageStatus.PUBLISHED])
def test_a_note_of_what_is_not_held_any_more_is_only_removed(
    store: Store, clock: FrozenClock, status: MessageStatus
) -> None:
    announce(store, "a")
    (message,) = store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    if status is MessageStatus.PUBLISHED:
        with store.change() as change:
            change.save(change.track(message).publish(forget_at=clock.now() + DAY))
    outbox = SystemMessage.__shape__.label
    store.put(
        HeldMessage(
            outbox=outbox,
            thing=once_key(message.aggregate),
            ts=message.ts,
            event_id=message.event_id,
            aggregate=message.aggregate,
        )
    )
    let_go_on(store, SystemMessage, message.aggregate)
    assert store.get(message.ref).status is status
    assert list(store.find(HeldMessage.of_outbox(outbox=outbox))) == []


# Marks of a handler's own writes


def mark_of(store: Store) -> Any:
    def mark(difference: str) -> Once:
        now = store.clock.now()
        return SystemOnce(idempotency_key=difference, created_at=now, ttl=int((now + DAY).timestamp()))

    return mark


def title(store: Store, text: str) -> list[Write]:
    return [patch(video(1).ref, the(Video.title).set(text))]


def test_of_two_that_count_one_mark_the_second_counts_anew(watched: Store) -> None:
    """The mark says how many such writes are still to come; one that came meanwhile is not forgotten."""
    watched.create(video(1, title="a"))
    for _ in range(2):
        watched.commit(SelfWrites(video(1).ref, mark_of(watched)).join(watched, title(watched, "b")))
        watched.patch(video(1).ref, the(Video.title).set("a"))
    mine = SelfWrites(video(1).ref, mark_of(watched))
    writes = mine.join(watched, title(watched, "b"))
    noted = writes[-1]
    (expected,) = [watched.get(SystemOnce.at(**noted.key))]
    assert expected.result == {"expected": 2}
    watched.patch(expected.ref, the(SystemOnce.result).set({"expected": 1}))  # one of them has come
    with pytest.raises(Conflict) as refused:
        watched.commit(writes)
    assert refused.value.position == 1
    assert mine.was_refused(noted, refused.value), "it is nobody's refusal but the mark's: try again"
    watched.commit(mine.join(watched, title(watched, "b")))
    assert watched.get(expected.ref).result == {"expected": 2}


def test_an_own_write_that_came_while_another_is_looked_for_is_looked_for_again(watched: Store) -> None:
    """Two of the same mark: both are told, each is taken from the count once, and a third is heard of."""
    meanwhile: list[Any] = []

    class Busy(Store):
        def commit(self, writes: Sequence[Write]) -> None:
            if meanwhile and len(writes) == 2:
                meanwhile.pop()()
            super().commit(writes)

    heard: list[str] = []
    feed = Feed(Busy(watched.engine, clock=watched.clock), "f", owner="a")

    @feed.on(Video, "insert", "update")
    def stamp(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.new.title)
        if entry.kind == "insert":
            with watched.change(once=claim) as change:
                change.patch(entry.new.ref, the(Video.title).set("b"))

    watched.create(video(1, title="a"))
    assert feed.run_once()
    ours = [m for m in marks(watched) if m.status.value == "in_progress" and m.owner is None]
    assert len(ours) == 1
    watched.patch(ours[0].ref, the(SystemOnce.result).set({"expected": 2}))
    meanwhile.append(lambda: watched.patch(ours[0].ref, the(SystemOnce.result).set({"expected": 1})))
    feed.drain()
    assert heard == ["a"]
    assert watched.lookup(ours[0].ref) is None, "the one that was left has come now"


def marks(store: Store) -> list[SystemOnce]:
    return [scanned.record for scanned in store.engine.scan(SystemOnce.__shape__).found]


# Handing over


def handed(store: Store, handle: Any) -> tuple[Handover, RegisteredHandler, FeedEntry]:
    store.create(video(1))
    (entry,) = [e for e in store.engine.changes([Video.__shape__], limit=100) if e.key == video(1).ref.key]
    handler = RegisteredHandler("handle", Video, frozenset({"insert"}), None, handle)
    return Handover(store, "f", owner="a", period=timedelta(minutes=1)), handler, entry


def test_what_a_handler_failed_for_is_told_though_its_claim_is_lost(watched: Store) -> None:
    def fail(entry: FeedEntry, claim: Claim) -> None:
        watched.delete(claim.ref)  # somebody who came later has ended it
        raise ValueError("this is why")

    handover, handler, entry = handed(watched, fail)
    claim = handover.claim_freely(handler, entry)
    assert claim is not None
    with pytest.raises(ValueError, match="this is why"):
        handover.hand_over(handler, entry, claim)


@pytest.mark.parametrize(("error", "tries"), [(ValueError("no"), 1), (Unavailable("away", part=OBJECTS), None)])
def test_a_part_that_is_away_costs_no_try(watched: Store, error: Exception, tries: int | None) -> None:
    def fail(entry: FeedEntry, claim: Claim) -> None:
        raise error

    handover, handler, entry = handed(watched, fail)
    claim = handover.claim_freely(handler, entry)
    assert claim is not None
    with pytest.raises(type(error)):
        handover.hand_over(handler, entry, claim, counted=True)
    assert watched.get(claim.ref).tries == tries


def test_who_begins_to_listen_hears_of_what_was_passed_over_and_not_noted(watched: Store) -> None:
    """A feed remembers how far nothing was for it; that holds only for the handlers it had."""
    feed, heard = Feed(watched, "f", owner="a"), list[str]()

    @feed.on(Watched, "insert")
    def other(entry: FeedEntry, claim: Claim) -> None: ...

    watched.create(video(2))
    assert feed.run_once() == 0, "how far that is, is written down, and not again in the next minutes"
    watched.create(video(1))
    assert feed.run_once() == 0

    @feed.on(Video, "insert")
    def made(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.new.title)

    feed.drain()
    assert heard == [video(1).title]
