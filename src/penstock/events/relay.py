"""The relay: tells pending messages to a sink, in order, at least once.

Any number of processes may run one; a lease lets a single one deliver at a time, and another takes over when it dies.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from threading import Event
from typing import Any

from penstock.errors import Conflict, InvalidValue, PenstockError, Unavailable, told
from penstock.events.held_back import HeldBack, let_go_on
from penstock.events.receiver import Receiver, Spared
from penstock.kernel.lease import Duty
from penstock.kernel.outages import outages_of
from penstock.kernel.outbox import Message, MessageStatus, SystemMessage
from penstock.kernel.readable import readable
from penstock.kernel.store import Store
from penstock.net.backoff import Backoff
from penstock.ports.sink import Sink, Undeliverable
from penstock.schema.documents import kept
from penstock.schema.shape import COMMIT_WRITES

_LONGEST_ERROR = 500
_BACKOFF = Backoff(first=1.0, longest=300.0, jitter=0.5)
_HEADS = 1000
"Messages among which one is chosen to try a sink with that is away."
_IDLE = 1.0
"Seconds after which a relay that nobody wakes looks for messages that are due again."


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one round of the relay achieved."""

    published: int = 0
    postponed: int = 0
    buried: int = 0

    def __add__(self, other: Delivery) -> Delivery:
        return Delivery(self.published + other.published, self.postponed + other.postponed, self.buried + other.buried)

    @property
    def total(self) -> int:
        return self.published + self.postponed + self.buried


class Relay:
    """Delivers the messages of one outbox to one sink.

    A sink that is away is waited for: one message at a time is tried, ever less often, and no message's attempts are
    spent. If others get through while one does not, it is that message's own fault.
    """

    def __init__(
        self,
        store: Store,
        sink: Sink,
        *,
        owner: str,
        outbox: type[Message] = SystemMessage,
        attempts: int = 10,
        keep: timedelta = timedelta(days=7),
        period: timedelta = timedelta(seconds=30),
        batch: int = 100,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store, self._outbox = store, outbox
        self._attempts, self._keep = attempts, keep
        self._batch = min(batch, COMMIT_WRITES)
        self._chance = chance
        self._duty = Duty(store, f"relay:{outbox.__shape__.label}", owner=owner, period=period)
        self._held_back = HeldBack(store, outbox)
        self._receiver = Receiver(store, sink)

    def run_once(self) -> Delivery:
        """Deliver what is due, one batch; nothing while another relay is at work, or the sink is left alone."""
        lease = self._duty.hold()
        if lease is None:
            return Delivery()
        self._held_back.begin(lease.epoch)
        self._held_back.decided()
        if not self._receiver.may_be_told():
            return self._tell_somebody_new()
        if self._receiver.is_away:
            return self._tell_one()
        return self._tell_all()

    def _tell_all(self) -> Delivery:
        done = Delivery()
        waiting = list(islice(self._due(), self._batch))
        # Of one thing only one message travels at a time, so that a failure never lets a later one overtake it.
        while waiting and not self._receiver.is_away and self._duty.hold():
            round_, waiting = _first_of_each(waiting)
            told = self._tell(round_)
            done += told
            failed = self._receiver.failing
            waiting = [m for m in waiting if m.aggregate not in failed]
        return done

    def _tell_one(self) -> Delivery:
        """Try a sink that is away with one message, each time about something else; the first answer lets all go."""
        heads: dict[str, Message] = {}
        for message in islice(self._due(), _HEADS):
            heads.setdefault(message.aggregate, message)
        if not heads:
            self._receiver.pass_on()
            return Delivery()
        done = self._tell([heads[self._receiver.next_of(heads)]])
        return done if self._receiver.is_away else done + self._tell_all()

    def _tell_somebody_new(self) -> Delivery:
        """Where only messages have failed that may themselves be the reason, another one need not wait for them."""
        if not self._receiver.is_in_doubt:
            return Delivery()
        new = next((m for m in islice(self._due(), _HEADS) if m.aggregate not in self._receiver.failing), None)
        if new is None:
            return Delivery()
        done = self._tell([new])
        return done if self._receiver.is_away else done + self._tell_all()

    def _tell(self, messages: Sequence[Message]) -> Delivery:
        """Tell messages about different things, and write down what became of them."""
        outcomes = self._receiver.tell(messages)
        spared = sum(isinstance(outcome, Spared) for outcome in outcomes)
        ended = [(m, o) for m, o in zip(messages, outcomes, strict=True) if not isinstance(o, Spared)]
        done = self._record([m for m, _ in ended], [o for _, o in ended]) if ended else Delivery()
        return done + Delivery(postponed=spared)

    def drain(self, *, rounds: int = 1000) -> Delivery:
        """Deliver until nothing is due."""
        done = Delivery()
        for _ in range(rounds):
            last = self.run_once()
            done += last
            if not last.total:
                break
        return done

    def run(self, stop: Event) -> None:
        """Deliver until told to stop: at once what is announced, and what must be tried again when it is due."""
        waiter = self._store.engine.listen()
        outages = outages_of(self._store)
        try:
            while not stop.is_set():
                try:
                    if self.run_once().total:
                        waiter.busy()
                    else:
                        waiter.wait(_IDLE)
                except PenstockError as error:
                    if not outages.sit_out(error, stop):
                        raise
        finally:
            waiter.close()
            with suppress(Unavailable):  # its time ends by itself
                self.close()

    def close(self) -> None:
        """Let another relay take over at once."""
        self._duty.leave()

    def _due(self) -> Iterator[Message]:
        """The oldest pending messages that may be told now; one that waits holds back later ones about its thing."""
        now = self._store.clock.now()
        waits: set[str] = set()
        held: dict[str, list[Message]] = {}
        try:
            for message in readable(self._store, self._pending()):
                thing = message.aggregate
                if thing in waits:
                    continue
                if thing in held or self._held_back.holds(thing):
                    held.setdefault(thing, []).append(message)
                elif message.retry_at is not None and message.retry_at > now:
                    waits.add(thing)
                else:
                    yield message
        finally:
            if held:
                self._held_back.hold_back(m for some in held.values() for m in some)

    def _pending(self) -> Any:
        return self._outbox.by_status(status=MessageStatus.PENDING)  # type: ignore[attr-defined]

    def _record(self, messages: Sequence[Message], outcomes: Sequence[Exception | None]) -> Delivery:
        """Write down what became of the messages, together where possible."""
        try:
            return self._write(messages, outcomes)
        except Conflict:
            # Another has marked one of them meanwhile; the rest is still ours to mark.
            done = Delivery()
            for message, outcome in zip(messages, outcomes, strict=True):
                fresh = self._store.lookup(message.ref)
                if fresh is not None and fresh.status is MessageStatus.PENDING:
                    with suppress(Conflict):  # marked in the moment between
                        done += self._write([fresh], [outcome])
            return done

    def _write(self, messages: Sequence[Message], outcomes: Sequence[Exception | None]) -> Delivery:
        done = Delivery()
        with self._store.change() as change:
            for message, outcome in zip(messages, outcomes, strict=True):
                done += self._mark(change.track(message), outcome)
                change.save(message)
        return done

    def _mark(self, message: Message, outcome: Exception | None) -> Delivery:
        now = self._store.clock.now()
        if outcome is None:
            message.publish(forget_at=now + self._keep)
            return Delivery(published=1)
        error = kept(f"{type(outcome).__name__}: {told(outcome)}", _LONGEST_ERROR)
        if isinstance(outcome, Undeliverable) or message.attempts + 1 >= self._attempts:
            message.bury(error=error)
            self._held_back.note(message)
            return Delivery(buried=1)
        pause = timedelta(seconds=_BACKOFF.pause(message.attempts + 1, self._chance))
        message.postpone(until=now + pause, error=error)
        return Delivery(postponed=1)


def dead_letters(store: Store, outbox: type[Message] = SystemMessage) -> Iterator[Message]:
    """The messages that could not be told, oldest first."""
    yield from store.find(outbox.by_status(status=MessageStatus.DEAD))  # type: ignore[attr-defined]


def revive(store: Store, message: Message, *, by: str) -> None:
    """Send a dead letter again; the later messages about the same thing follow it."""
    if message.status is not MessageStatus.DEAD:
        raise InvalidValue(f"{message.ref!r} is {message.status.value}; only a dead letter can be sent again")
    with store.change(by=by) as change:
        change.save(change.track(message).revive())


def dismiss(store: Store, message: Message, *, by: str) -> None:
    """Give a dead letter up: the later messages about the same thing go on without it."""
    if message.status is not MessageStatus.DEAD:
        raise InvalidValue(f"{message.ref!r} is {message.status.value}; only a dead letter can be dismissed")
    with store.change(by=by) as change:
        change.save(change.track(message).dismiss())
    let_go_on(store, type(message), message.aggregate)


def _first_of_each(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """The first message about each thing, and the rest in order."""
    seen: set[str] = set()
    first: list[Message] = []
    rest: list[Message] = []
    for message in messages:
        (rest if message.aggregate in seen else first).append(message)
        seen.add(message.aggregate)
    return first, rest
