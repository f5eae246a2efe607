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
from tests.sinks.receiver import Receiver, answers

SECRET = "shared"


@pytest.fixture
def sink(receiver: Receiver, clock: FrozenClock) -> Iterator[WebhookSink]:
    sink = WebhookSink(
        receiver.url, secret=SECRET, source="/penstock/test", clock=clock, timeout=timedelta(seconds=0.5)
    )
    yield sink
    sink.close()


def arrivals(receiver: Receiver) -> Iterator[tuple[str, str]]:
    for seen in receiver.taken:
        yield seen.event["subject"], seen.event["id"]


@pytest.mark.parametrize("seed", range(3))
def test_everything_is_told_in_order_to_a_receiver_that_keeps_failing(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, sink: WebhookSink, seed: int
) -> None:
    told = announce(outbox_store, projects=5, messages=8)
    bad = [answers(500)] * 8 + [answers(503, Retry_After="9"), answers(429), answers(408), behaviours.stays_silent]
    bad += [behaviours.drops] * 6 + [behaviours.drips, behaviours.speaks_no_http, behaviours.floods_with_headers]
    bad += [behaviours.floods, behaviours.sends_gzip_nonsense, behaviours.hangs_up_later] + [behaviours.accepts] * 20
    random.Random(seed).shuffle(bad)
    receiver.script += bad
    relay = Relay(outbox_store, sink, owner="r", attempts=50, chance=lambda: 1.0)
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
    assert (done.published, done.buried) == (1, 1)
    (dead,) = dead_letters(outbox_store)
    assert dead.event_id == first
    assert dead.error is not None
    assert str(status) in dead.error
    assert "in-the-url" not in dead.error
    revive(outbox_store, dead, by="ann")
    assert tell_everything(relay, clock).published == 1
    assert [i for _, i in arrivals(receiver)] == [second, first]
    assert list(dead_letters(outbox_store)) == []


def test_a_receiver_that_stays_away_makes_dead_letters_in_the_end(
    outbox_store: Store, clock: FrozenClock, receiver: Receiver, sink: WebhookSink
) -> None:
    announce(outbox_store, projects=1, messages=1)
    receiver.usually = answers(503)
    done = tell_everything(Relay(outbox_store, sink, owner="r", attempts=4), clock)
    assert (done.postponed, done.buried, len(receiver.seen)) == (3, 1, 4)
