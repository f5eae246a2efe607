"""Whose fault it is that a message was not told: its own, the sink's, or nobody's."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Throttled, Unavailable
from penstock.events import receiver as module
from penstock.events.receiver import Receiver, Spared
from penstock.kernel.outbox import Message, MessageStatus, SystemMessage
from penstock.ports.sink import Envelope
from tests.kernel.test_outbox import announce


class Scripted:
    """A sink that answers what it is told to."""

    def __init__(self) -> None:
        self.answers: dict[str, Exception] = {}

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        return [self.answers.get(message.type) for message in messages]


@pytest.fixture
def sink() -> Scripted:
    return Scripted()


def messages(store: Store, *types: str) -> dict[str, Message]:
    for each in types:
        announce(store, each)
    return {m.type: m for m in store.find(SystemMessage.by_status(status=MessageStatus.PENDING))}


def test_one_that_fails_while_others_are_taken_since_it_failed_last_is_at_fault_itself(
    store: Store, sink: Scripted
) -> None:
    """Also where it is told alone: the others got through a moment ago."""
    known, receiver = messages(store, "a", "b"), Receiver(store, sink)
    sink.answers["a"] = Unavailable("nobody answers")
    (first,) = receiver.tell([known["a"]])
    assert isinstance(first, Spared)
    assert receiver.is_away
    assert receiver.tell([known["b"]]) == [None]
    (second,) = receiver.tell([known["a"]])
    assert second is sink.answers["a"]


def test_a_sink_that_has_too_many_is_left_alone_for_a_moment(store: Store, sink: Scripted, clock: FrozenClock) -> None:
    known, receiver = messages(store, "a", "b"), Receiver(store, sink)
    sink.answers["a"] = Throttled("too many at once")
    spared, taken = receiver.tell([known["a"], known["b"]])
    assert (isinstance(spared, Spared), taken, receiver.is_away) == (True, None, False)
    assert not receiver.may_be_told()
    clock.advance(timedelta(seconds=1))
    assert receiver.may_be_told()


def test_of_what_has_failed_only_so_much_is_remembered(
    store: Store, sink: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 3)
    names = [f"m{n}" for n in range(6)]
    known, receiver = messages(store, *names), Receiver(store, sink)
    for name in names:
        sink.answers[name] = RuntimeError("no luck")
        receiver.tell([known[name]])
    assert list(receiver.failing) == [known[name].aggregate for name in names[3:]]
