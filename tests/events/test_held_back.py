"""What is held back behind a dead message: it goes on when somebody has decided, and costs nothing until then."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.domains.musicvideo.model import Project
from penstock.events.relay import dead_letters, dismiss
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.outbox import Message, MessageStatus, SystemMessage
from penstock.ports.sink import Undeliverable
from tests.kernel.test_outbox import Listener, announce, relay

LOOK = timedelta(seconds=10)
Things = dict[str, Project]


@pytest.fixture
def listener() -> Listener:
    """One that never takes the first message about a thing."""
    deaf = Listener()
    for thing in "abc":
        deaf.failing[f"{thing}0"] = [Undeliverable("no such receiver")] * 9
    return deaf


@pytest.fixture
def things(store: Store) -> Things:
    """Three things, and two messages about each."""
    return {thing: announce(store, f"{thing}0", f"{thing}1") for thing in "abc"}


def letter(store: Store, type: str) -> Message:
    (found,) = [m for m in dead_letters(store) if m.type == type]
    return found


def decide(store: Store, type: str) -> None:
    """As by the derived route, which makes the move and nothing else."""
    with store.change(by="ann") as change:
        change.save(change.track(letter(store, type)).dismiss())


def held(store: Store) -> list[Message]:
    """The messages of which it is noted that they are held back."""
    notes = store.find(HeldMessage.of_outbox(outbox=SystemMessage.__shape__.label))
    return [store.get(SystemMessage.at(event_id=note.event_id)) for note in notes]


def test_a_relay_that_has_only_come_knows_of_every_dead_message(
    store: Store, listener: Listener, things: Things
) -> None:
    first = relay(store, listener)
    first.drain()
    first.close()
    with store.change(by="ann") as change:
        for thing, record in things.items():
            change.emit(f"{thing}2", record)
    relay(store, listener, "another").drain()
    assert listener.types == []
    assert sorted(m.type for m in held(store)) == ["a1", "a2", "b1", "b2", "c1", "c2"]


def test_what_one_who_died_has_decided_is_acted_on_by_the_next(
    store: Store, listener: Listener, things: Things
) -> None:
    first = relay(store, listener)
    first.drain()
    decide(store, "b0")
    decide(store, "c0")
    first.close()
    written: list[int] = []

    class Counting(Store):
        def batch(self) -> Any:
            written.append(1)
            return super().batch()

    relay(Counting(store.engine, clock=store.clock), listener, "another").drain()
    assert sorted(listener.types) == ["b1", "c1"]
    assert len(written) == 2, "what waits still is left as it is"
    assert [(m.type, m.status) for m in held(store)] == [("a1", MessageStatus.HELD)]


def test_however_many_are_dead_each_has_its_turn_to_be_looked_at(
    store: Store, listener: Listener, things: Things, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.events.held_back._LOOKED_AT", 2)
    at_work = relay(store, listener)
    at_work.drain()
    decide(store, "c0")
    for _ in range(2):
        clock.advance(LOOK)
        at_work.drain()
    assert listener.types == ["c1"]


def test_dead_messages_are_looked_at_every_ten_seconds_and_not_each_time(
    store: Store, listener: Listener, things: Things, clock: FrozenClock
) -> None:
    looked: list[str] = []

    class Counting(Store):
        def get_many(self, *refs: Any, **options: Any) -> Any:
            looked.append("again")
            return super().get_many(*refs, **options)

        def find(self, *asked: Any, **options: Any) -> Any:
            if asked[0].values == {"status": MessageStatus.DEAD}:
                looked.append("all")
            return super().find(*asked, **options)

    at_work = relay(Counting(store.engine, clock=clock), listener)
    at_work.drain()
    assert looked.count("all") == 1
    for seconds, looks in ((0, 0), (9, 0), (1, 3), (9, 0), (1, 3)):
        looked.clear()
        clock.advance(timedelta(seconds=seconds))
        at_work.drain()
        at_work.drain()
        assert looked == ["again"] * looks
    for thing in "abc":
        decide(store, f"{thing}0")
    clock.advance(LOOK)
    at_work.drain()
    looked.clear()
    clock.advance(LOOK)
    at_work.drain()
    assert (looked, sorted(listener.types)) == ([], ["a1", "b1", "c1"]), "and no more once somebody has decided"


def test_messages_that_are_gone_hold_nobody_back(
    store: Store, listener: Listener, things: Things, clock: FrozenClock
) -> None:
    """Somebody has cleared the store by hand."""
    at_work = relay(store, listener)
    at_work.drain()
    store.delete(letter(store, "a0").ref)
    store.delete(next(m for m in held(store) if m.type == "b1").ref)
    dismiss(store, letter(store, "b0"), by="ann")
    clock.advance(LOOK)
    at_work.drain()
    assert listener.types == ["a1"]
    assert [m.type for m in held(store)] == ["c1"]


def test_one_that_another_has_marked_meanwhile_is_not_held_back(
    store: Store, listener: Listener, things: Things, clock: FrozenClock
) -> None:
    """Two relays may be at work for a moment; the others about the same thing wait all the same."""
    relay(store, listener).drain()
    with store.change(by="ann") as change:
        for number in range(2, 5):
            change.emit(f"a{number}", things["a"])

    class Overtaken(Store):
        def batch(self) -> Any:
            for message in store.find(SystemMessage.by_status(status=MessageStatus.PENDING)):
                if message.type == "a3":
                    with store.change() as change:
                        change.save(change.track(message).publish(forget_at=clock.now() + LOOK))
            return super().batch()

    clock.advance(timedelta(minutes=1))
    relay(Overtaken(store.engine, clock=clock), listener, "another").drain()
    assert listener.types == []
    assert sorted(m.type for m in held(store)) == ["a1", "a2", "a4", "b1", "c1"]


def test_a_relay_that_is_on_duty_again_knows_what_another_has_buried_meanwhile(
    store: Store, listener: Listener
) -> None:
    first, second = relay(store, listener), relay(store, listener, "another")
    first.drain()
    first.close()
    thing = announce(store, "a0", "a1")
    second.drain()
    second.close()
    with store.change(by="ann") as change:
        change.emit("a2", thing)
    first.drain()
    assert listener.types == []
    assert sorted(m.type for m in held(store)) == ["a1", "a2"]
