"""The outbox: messages commit with their data, and every one is delivered, in order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from penstock import FrozenClock, Store
from penstock.domains.assetcreator.bookkeeping import Outbox
from penstock.domains.assetcreator.model import Project as Studio
from penstock.domains.musicvideo.model import Project
from penstock.errors import Conflict, IllegalMove, InvalidValue, Unavailable
from penstock.events.relay import Delivery, Relay, dead_letters, dismiss, revive
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.ports.sink import Envelope, Undeliverable


@pytest.fixture
def posted(store: Store) -> Store:
    return store


class Listener:
    """A sink that remembers, and fails where it is told to."""

    def __init__(self) -> None:
        self.heard: list[Envelope] = []
        self.failing: dict[str, list[Exception]] = {}

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        outcomes: list[Exception | None] = []
        for message in messages:
            errors = self.failing.get(message.type, [])
            outcomes.append(errors.pop(0) if errors else None)
            if outcomes[-1] is None:
                self.heard.append(message)
        return outcomes

    @property
    def types(self) -> list[str]:
        return [m.type for m in self.heard]


def project(store: Store) -> Project:
    now = store.clock.now()
    return Project(project_id=uuid4(), concept_prompt="a", character_description="b", created_at=now, updated_at=now)


def announce(store: Store, *types: str) -> Project:
    """A project, and messages about it, one change each."""
    record = project(store)
    store.create(record)
    for name in types:
        with store.change(by="ann") as change:
            change.emit(name, record)
    return record


def relay(store: Store, sink: Listener, owner: str = "r") -> Relay:
    return Relay(store, sink, owner=owner, chance=lambda: 1.0)


def test_the_change_and_its_message_are_both_there_or_neither(posted: Store) -> None:
    """AC-36: one commit."""
    record = project(posted)
    with posted.change(by="ann") as change:
        change.create(record)
        change.emit("project.created", record)
    with pytest.raises(Conflict), posted.change(by="ann") as change:
        change.create(record)
        change.emit("project.created.twice", record)
    with pytest.raises(IllegalMove), posted.change(by="ann") as change:
        change.emit("project.never", record)
        change.save(change.get(record.ref).compose())
    pending = list(posted.find(SystemMessage.by_status(status=MessageStatus.PENDING)))
    assert [m.type for m in pending] == ["project.created"]
    assert pending[0].payload == {"project_id": str(record.project_id)}


def test_pending_messages_are_delivered_and_marked(posted: Store) -> None:
    """AC-37, AC-38."""
    announce(posted, "one", "two", "three")
    listener = Listener()
    assert relay(posted, listener).drain() == Delivery(published=3)
    assert listener.types == ["one", "two", "three"]
    assert not list(posted.find(SystemMessage.by_status(status=MessageStatus.PENDING)))


def test_a_failure_holds_back_what_comes_after_it_about_the_same_thing_only(posted: Store, clock: FrozenClock) -> None:
    """F-AC-2: order per aggregate."""
    announce(posted, "a1", "a2", "a3")
    announce(posted, "b1", "b2")
    listener = Listener()
    listener.failing["a2"] = [RuntimeError("no luck")] * 2
    at_work = relay(posted, listener)
    at_work.drain()
    assert [t for t in listener.types if t[0] == "a"] == ["a1"]
    assert [t for t in listener.types if t[0] == "b"] == ["b1", "b2"]
    for _ in range(3):
        clock.advance(timedelta(minutes=5))
        at_work.drain()
    assert [t for t in listener.types if t[0] == "a"] == ["a1", "a2", "a3"]


def test_waiting_messages_do_not_hide_later_ones(posted: Store) -> None:
    """A batch full of messages that must wait does not starve the rest."""
    listener = Listener()
    for number in range(6):
        announce(posted, f"bad{number}")
        listener.failing[f"bad{number}"] = [RuntimeError("no luck")] * 9
    small = Relay(posted, listener, owner="r", batch=3)
    small.drain()
    announce(posted, "good")
    small.drain()
    assert listener.types == ["good"]


def test_what_cannot_be_delivered_becomes_a_dead_letter_that_can_be_sent_again(posted: Store) -> None:
    record = announce(posted, "refused", "later")
    listener = Listener()
    listener.failing["refused"] = [Undeliverable("no such receiver\x00")]
    at_work = relay(posted, listener)
    at_work.drain()
    assert listener.types == []
    (letter,) = dead_letters(posted)
    assert (letter.type, letter.error) == ("refused", "Undeliverable: no such receiver\N{REPLACEMENT CHARACTER}")
    assert letter.project_id == str(record.project_id)
    revive(posted, letter, by="operator")
    at_work.drain()
    assert listener.types == ["refused", "later"]
    assert not list(dead_letters(posted))


def test_a_dead_message_holds_back_those_about_its_thing_until_somebody_decides(
    posted: Store, clock: FrozenClock
) -> None:
    announce(posted, *(f"a{n}" for n in range(6)))
    announce(posted, "b")
    listener = Listener()
    listener.failing["a0"] = [Undeliverable("no such receiver")] * 2
    at_work = relay(posted, listener)
    at_work.drain()
    assert listener.types == ["b"]
    assert [m.type for m in dead_letters(posted)] == ["a0"]
    assert not list(posted.find(SystemMessage.by_status(status=MessageStatus.PENDING))), "they are in nobody's way"
    for letter in dead_letters(posted):
        revive(posted, letter, by="ann")
    at_work.drain()
    assert [m.type for m in dead_letters(posted)] == ["a0"], "once more in vain"
    at_work.close()
    other = relay(posted, listener, "another")
    other.drain()
    assert listener.types == ["b"], "also for a relay that has only come"
    for letter in dead_letters(posted):
        revive(posted, letter, by="ann")
    other.drain()
    assert listener.types == ["b", *(f"a{n}" for n in range(6))]


def test_a_dead_message_that_is_dismissed_lets_the_others_go_on_without_it(posted: Store, clock: FrozenClock) -> None:
    announce(posted, "a0", "a1", "a2")
    listener = Listener()
    listener.failing["a0"] = [Undeliverable("no such receiver")]
    at_work = relay(posted, listener)
    at_work.drain()
    (letter,) = dead_letters(posted)
    dismiss(posted, letter, by="ann")
    at_work.drain()
    assert listener.types == ["a1", "a2"]
    assert not list(dead_letters(posted))
    with pytest.raises(InvalidValue, match="dismissed; only a dead letter"):
        dismiss(posted, letter, by="ann")


def test_a_relay_hears_by_itself_of_what_somebody_decides_elsewhere(posted: Store, clock: FrozenClock) -> None:
    """By the derived route for example, which makes the move and nothing else."""
    announce(posted, "a0", "a1")
    listener = Listener()
    listener.failing["a0"] = [Undeliverable("no such receiver")]
    at_work = relay(posted, listener)
    at_work.drain()
    (letter,) = dead_letters(posted)
    with posted.change(by="ann") as change:
        change.save(change.track(letter).dismiss())
    clock.advance(timedelta(seconds=10))
    at_work.drain()
    assert listener.types == ["a1"]


def test_whoever_dismisses_may_be_overtaken_by_a_relay_that_has_heard_of_it(
    posted: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce(posted, "a0", "a1", "a2")
    listener = Listener()
    listener.failing["a0"] = [Undeliverable("no such receiver")]
    at_work = relay(posted, listener)
    at_work.drain()
    (letter,), seen = dead_letters(posted), Store.get_many

    def overtaken(store: Store, refs: Any) -> Any:
        found = seen(store, refs)
        monkeypatch.setattr(Store, "get_many", seen)
        clock.advance(timedelta(seconds=10))
        at_work.drain()
        return found

    monkeypatch.setattr(Store, "get_many", overtaken)
    dismiss(posted, letter, by="ann")
    assert listener.types == ["a1", "a2"]


def test_many_that_are_held_back_are_read_once_and_never_again(posted: Store, clock: FrozenClock) -> None:
    record = announce(posted, "dead")
    for start in range(0, 120, 40):
        with posted.change(by="ann") as change:
            for number in range(start, start + 40):
                change.emit(f"m{number:03}", record)
    listener = Listener()
    listener.failing["dead"] = [Undeliverable("no such receiver")]
    small = Relay(posted, listener, owner="r", batch=3)
    small.drain()
    assert not list(posted.find(SystemMessage.by_status(status=MessageStatus.PENDING)))
    announce(posted, "good")
    small.drain()
    assert listener.types == ["good"]
    (letter,) = dead_letters(posted)
    revive(posted, letter, by="ann")
    small.drain()
    assert listener.types == ["good", "dead", *(f"m{n:03}" for n in range(120))]


def test_a_sink_that_breaks_down_costs_messages_what_any_failure_costs(posted: Store, clock: FrozenClock) -> None:
    announce(posted, "a")

    class Broken(Listener):
        def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
            raise ZeroDivisionError("a mistake")

    at_work = Relay(posted, Broken(), owner="r", attempts=2)
    for _ in range(3):
        at_work.drain()
        clock.advance(timedelta(minutes=6))
    assert [(m.type, m.error) for m in dead_letters(posted)] == [("a", "ZeroDivisionError: a mistake")]


@pytest.mark.parametrize("error", [ConnectionRefusedError("no"), TimeoutError("late"), Unavailable("away")])
def test_a_sink_that_is_away_is_waited_for_however_it_says_so(
    posted: Store, clock: FrozenClock, error: Exception
) -> None:
    announce(posted, "a1", "a2")

    class Away(Listener):
        away = True

        def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
            if self.away:
                raise error
            return super().deliver(messages)

    sink = Away()
    at_work = Relay(posted, sink, owner="r", attempts=2)
    for _ in range(10):
        at_work.drain()
        clock.advance(timedelta(hours=2))
    assert not list(dead_letters(posted))
    sink.away = False
    at_work.drain()
    assert sink.types == ["a1", "a2"]


def test_after_its_last_attempt_a_message_is_dead(posted: Store, clock: FrozenClock) -> None:
    announce(posted, "hopeless")
    listener = Listener()
    listener.failing["hopeless"] = [RuntimeError("no luck")] * 99
    at_work = Relay(posted, listener, owner="r", attempts=4)
    for _ in range(4):
        at_work.drain()
        clock.advance(timedelta(minutes=6))
    assert [m.attempts for m in dead_letters(posted)] == [4]


def test_one_relay_works_at_a_time_and_another_takes_over(posted: Store, clock: FrozenClock) -> None:
    first, second = Listener(), Listener()
    one, other = relay(posted, first, "one"), relay(posted, second, "other")
    announce(posted, "a")
    assert one.run_once() == Delivery(published=1)
    announce(posted, "b")
    assert other.run_once() == Delivery()
    clock.advance(timedelta(minutes=1))
    assert other.run_once() == Delivery(published=1)
    announce(posted, "c")
    assert one.run_once() == Delivery()
    assert (first.types, second.types) == (["a"], ["b"])


def test_a_relay_that_has_lost_its_duty_tells_nothing_more(posted: Store, clock: FrozenClock) -> None:
    """It stood still within its sink, and another has told the rest: what it told now would come out of order."""
    successor = Listener()

    class Stalling(Listener):
        def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
            outcomes = super().deliver(messages)
            clock.advance(timedelta(minutes=10))
            relay(posted, successor, "successor").drain()
            return outcomes

    announce(posted, "one", "two", "three")
    stalled = Stalling()
    relay(posted, stalled, "stalled").run_once()
    assert stalled.types == ["one"]
    assert successor.types == ["one", "two", "three"]


def test_a_message_delivered_but_not_marked_is_delivered_again_with_the_same_id(
    posted: Store, clock: FrozenClock
) -> None:
    """AC-38: at least once; the receiver recognises it by its id."""
    announce(posted, "a")

    class Dying(Listener):
        def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
            super().deliver(messages)
            raise KeyboardInterrupt

    dying, listener = Dying(), Listener()
    with pytest.raises(KeyboardInterrupt):
        relay(posted, dying, "dying").run_once()
    clock.advance(timedelta(minutes=1))
    relay(posted, listener, "next").run_once()
    assert [m.id for m in dying.heard] == [m.id for m in listener.heard]


def test_a_relay_whose_messages_another_has_marked_goes_on(posted: Store) -> None:
    """AC-38: two may be at work for a moment; what one has marked is no error to the other, however late it shows."""
    for name in ("a", "b", "c"):
        announce(posted, name)

    class Overtaken(Store):
        """Between its looking and its writing another is faster."""

        def lookup(self, ref: Any) -> Any:
            found = super().lookup(ref)
            if isinstance(found, SystemMessage) and found.type == "b":
                mark(found)
            return found

    def mark(message: SystemMessage) -> None:
        with posted.change() as change:
            change.save(change.get(message.ref).publish(forget_at=posted.clock.now() + timedelta(days=1)))

    class Slow(Listener):
        def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
            (first,) = [m for m in posted.find(SystemMessage.by_status(status=MessageStatus.PENDING)) if m.type == "a"]
            mark(first)
            return super().deliver(messages)

    slow = Slow()
    assert relay(Overtaken(posted.engine, clock=posted.clock), slow).run_once() == Delivery(published=1)
    assert sorted(slow.types) == ["a", "b", "c"]
    assert not list(posted.find(SystemMessage.by_status(status=MessageStatus.PENDING)))


def test_published_messages_are_forgotten(posted: Store, clock: FrozenClock) -> None:
    announce(posted, "a")
    (message,) = posted.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    relay(posted, Listener()).drain()
    assert posted.get(message.ref).status is MessageStatus.PUBLISHED
    clock.advance(timedelta(days=7))
    assert posted.lookup(message.ref) is None


def test_a_domain_that_documents_its_outbox_uses_its_own(posted: Store) -> None:
    """AC-6, AC-47: the asset creator's messages and audit lines are items of its own table."""
    studio = Studio(project_id="prj_001", name="Games", created_at=posted.clock.now())
    with posted.change(by="ann") as change:
        change.create(studio)
        change.emit("project.created", studio, job_id="job_1")
    (event,) = posted.find(Outbox.by_status(status=MessageStatus.PENDING))
    assert (event.type, event.job_id, event.project_id) == ("project.created", "job_1", "prj_001")
    listener = Listener()
    Relay(posted, listener, owner="r", outbox=Outbox).drain()
    assert listener.types == ["project.created"]
    assert not list(posted.find(SystemMessage.by_status(status=MessageStatus.PENDING)))


def test_a_big_batch_is_delivered_whole(posted: Store) -> None:
    record = project(posted)
    posted.create(record)
    for start in range(0, 240, 40):
        with posted.change(by="ann") as change:
            for number in range(start, start + 40):
                change.emit(f"m{number}", record, about=project(posted).ref)
    listener = Listener()
    assert relay(posted, listener).drain().published == 240
    assert sorted(listener.types) == sorted(f"m{n}" for n in range(240))
