"""Outbox, relay and webhook together: everything arrives, in order, however badly the receiver behaves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest

from penstock import FrozenClock, Store
from penstock.events.relay import Relay, dead_letters, revive
from penstock.kernel.outbox import MessageStatus
from penstock.sinks import WebhookSink, verify
from tests.sinks import receiver as behaviours
from tests.sinks.outbox import announce, in_order_of_arrival, messages, tell_everything
from tests.sinks.receiver import Behaviour, Receiver, answers

SECRET = "shared"


@pytest.fixture
def sink(receiver: Receiver, clock: FrozenClock) -> Iterator[WebhookSink]:
    """Patient: whoever is slow here is a busy machine."""
    yield from opened(receiver, clock, timedelta(seconds=20))


@pytest.fixture
def hasty_sink(receiver: Receiver, clock: FrozenClock) -> Iterator[WebhookSink]:
    """For a receiver that is silent at times."""
    yield from opened(receiver, clock, timedelta(seconds=0.5))


def opened(receiver: Receiver, clock: FrozenClock, timeout: timedelta) -> Iterator[WebhookSink]:
    sink = WebhookSink(receiver.url, secret=SECRET, source="/penstock/test", clock=clock, timeout=timeout)
    yield sink
    sink.close()


def arrivals(receiver: Receiver) -> Iterator[tuple[str, str]]:
    for seen in receiver.taken:
        yield seen.event["subject"], seen.event["id"]


@pytest.mark.parametrize("seed", range(3))
def test_everything_is_told_in_order_to_a_receiver_that_keeps_failing(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, hasty_sink: WebhookSink, seed: int
) -> None:
    told = announce(outbox_store, projects=5, messages=8)
    bad = [answers(500)] * 8 + [answers(503, Retry_After="9"), answers(429), answers(408), behaviours.stays_silent]
    bad += [behaviours.drops] * 6 + [behaviours.drips, behaviours.speaks_no_http, behaviours.floods_with_headers]
    bad += [behaviours.floods, behaviours.sends_gzip_nonsense, behaviours.hangs_up_later] + [behaviours.accepts] * 20
    random.Random(seed).shuffle(bad)
    receiver.script += bad
    relay = Relay(outbox_store, hasty_sink, owner="r", attempts=50, chance=lambda: 1.0)
    done = tell_everything(relay, clock)
    assert (done.published, done.buried) == (40, 0)
    assert in_order_of_arrival(arrivals(receiver)) == told
    assert messages(outbox_store, MessageStatus.PENDING) == []
    copies = Counter(i for _, i in arrivals(receiver))
    assert max(copies.values()) > 1, "no connection was dropped after a message was taken"
    bodies: dict[str, bytes] = {}
    for seen in receiver.taken:
        assert bodies.setdefault(seen.headers["Idempotency-Key"], seen.body) == seen.body, "a repetition differs"
        assert verify(SECRET, seen.headers["Penstock-Signature"], seen.body, now=clock.now(), tolerance=timedelta(9))


def test_a_failure_holds_back_only_what_is_about_the_same_thing(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, sink: WebhookSink
) -> None:
    told = announce(outbox_store, projects=2, messages=3)
    (unlucky, *_), lucky = told.values()

    def fails_for_one(handler: behaviours._Handler, seen: behaviours.Seen) -> None:
        (answers(500) if seen.event["id"] == unlucky else behaviours.accepts)(handler, seen)

    receiver.usually = fails_for_one
    done = Relay(outbox_store, sink, owner="r").drain()
    assert (done.published, done.postponed) == (3, 1)
    assert [i for _, i in arrivals(receiver)] == lucky
    receiver.usually = behaviours.accepts
    clock.advance(timedelta(seconds=2))
    assert Relay(outbox_store, sink, owner="r").drain().published == 0, "another relay holds the lease"
    clock.advance(timedelta(minutes=1))
    assert Relay(outbox_store, sink, owner="r").drain().published == 3
    assert in_order_of_arrival(arrivals(receiver)) == told


@pytest.mark.parametrize("status", [404, 410, 301])
def test_a_refused_message_becomes_a_dead_letter_that_can_be_revived(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, sink: WebhookSink, status: int
) -> None:
    told = announce(outbox_store, projects=1, messages=2)
    ((first, second),) = told.values()
    receiver.script.append(answers(status))
    relay = Relay(outbox_store, sink, owner="r")
    done = tell_everything(relay, clock)
    assert (done.published, done.buried) == (0, 1)
    (dead,) = dead_letters(outbox_store)
    assert dead.event_id == first
    assert dead.error is not None
    assert str(status) in dead.error
    assert "in-the-url" not in dead.error
    revive(outbox_store, dead, by="ann")
    assert tell_everything(relay, clock).published == 2
    assert [i for _, i in arrivals(receiver)] == [first, second]
    assert list(dead_letters(outbox_store)) == []


@pytest.mark.parametrize(
    "away", [answers(500), answers(503), answers(429), answers(408), behaviours.speaks_no_http, behaviours.drops]
)
def test_a_receiver_that_is_away_for_six_minutes_is_told_everything_in_order_afterwards(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, sink: WebhookSink, away: Behaviour
) -> None:
    told = announce(outbox_store, projects=3, messages=6)
    relay = Relay(outbox_store, sink, owner="r")
    receiver.usually = away
    for _ in range(360):
        relay.drain()
        clock.advance(timedelta(seconds=1))
    assert list(dead_letters(outbox_store)) == []
    assert {m.attempts for m in messages(outbox_store, MessageStatus.PENDING)} == {0}
    receiver.usually = behaviours.accepts
    clock.advance(timedelta(minutes=1))
    assert relay.drain().published == 18
    assert in_order_of_arrival(arrivals(receiver)) == told


def test_a_receiver_that_is_away_is_tried_with_one_message_a_minute(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, sink: WebhookSink
) -> None:
    relay = Relay(outbox_store, sink, owner="r")
    receiver.usually = answers(503)
    told: dict[str, list[str]] = {}
    for _ in range(60):
        told |= announce(outbox_store, projects=1, messages=1)
        for _ in range(6):
            relay.drain()
            clock.advance(timedelta(seconds=10))
    assert 55 <= len(receiver.seen) <= 75, "an hour has sixty minutes"
    assert len({seen.event["subject"] for seen in receiver.seen}) > 40, "one that nobody takes does not stand for all"
    receiver.usually = behaviours.accepts
    clock.advance(timedelta(minutes=1))
    assert relay.drain().published == 60
    assert in_order_of_arrival(arrivals(receiver)) == told


def test_a_message_that_alone_is_never_taken_dies_and_holds_back_its_own_only(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, sink: WebhookSink
) -> None:
    told = announce(outbox_store, projects=2, messages=4)
    (unlucky, *_), _ = told.values()

    def fails_for_one(handler: behaviours._Handler, seen: behaviours.Seen) -> None:
        (answers(500) if seen.event["id"] == unlucky else behaviours.accepts)(handler, seen)

    receiver.usually = fails_for_one
    relay = Relay(outbox_store, sink, owner="r", attempts=4)
    others: dict[str, list[str]] = {}
    for _ in range(8):
        others |= announce(outbox_store, projects=1, messages=1)
        relay.drain()
        clock.advance(timedelta(minutes=5))
    (dead,) = dead_letters(outbox_store)
    assert (dead.event_id, dead.attempts) == (unlucky, 4)
    assert messages(outbox_store, MessageStatus.PENDING) == [], "what is held back is in nobody's way"
    receiver.usually = behaviours.accepts
    revive(outbox_store, dead, by="ann")
    relay.drain()
    assert in_order_of_arrival(arrivals(receiver)) == told | others


def test_a_new_message_does_not_wait_for_one_that_may_itself_be_the_reason(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, sink: WebhookSink
) -> None:
    told = announce(outbox_store, projects=2, messages=1)
    (unlucky,), _ = told.values()

    def fails_for_one(handler: behaviours._Handler, seen: behaviours.Seen) -> None:
        (answers(500) if seen.event["id"] == unlucky else behaviours.accepts)(handler, seen)

    receiver.usually = fails_for_one
    relay = Relay(outbox_store, sink, owner="r")
    relay.drain()
    clock.advance(timedelta(minutes=1))
    assert relay.drain().postponed, "now it is alone, and the receiver may as well be away"
    announce(outbox_store, projects=1, messages=1)
    assert relay.drain().published == 1


def test_too_many_at_once_cost_no_message_an_attempt(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, sink: WebhookSink
) -> None:
    told = announce(outbox_store, projects=12, messages=1)
    relay = Relay(outbox_store, sink, owner="r", attempts=2)
    for _ in range(12):
        receiver.usually = answers(429)
        receiver.script.append(behaviours.accepts)
        relay.drain()
        clock.advance(timedelta(minutes=1))
    assert list(dead_letters(outbox_store)) == []
    assert in_order_of_arrival(arrivals(receiver)).keys() == told.keys()
