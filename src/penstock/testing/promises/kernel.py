"""The kernel's own promises, kept on top of an engine: leases, once, audit, messages, the feed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from penstock import FrozenClock, Store, the
from penstock.errors import Conflict
from penstock.events.feed import Feed
from penstock.events.relay import Delivery, Relay
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.kernel.idempotency import Claim, InProgress, Replay, SystemOnce, begin
from penstock.kernel.lease import Lease, LeaseLost, NamedLease, release, take_named
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.operations.feed_entry import FeedEntry
from penstock.ports.engine import Engine
from penstock.ports.sink import Envelope
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.entities import MOMENT, Counter, Status, Ticket, Watched
from penstock.testing.promises.concurrency import at_once
from penstock.testing.promises.promise import Promise

MINUTE = timedelta(minutes=1)
HERE = Ticket.at(queue="q", ticket_id="1")
THERE = Counter.at(name="done")


class _Ear:
    """A sink that remembers what it was told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        self.heard += [m.type for m in messages]
        return [None] * len(messages)


def _finish(store: Store, *, under: Lease | None = None, outcome: str = "fixed") -> None:
    """A transition as a worker makes it: state, counter, audit line and message."""
    with store.change(by="worker", under=under) as change:
        ticket = change.get(HERE)
        change.save(ticket.finish(outcome=outcome))
        change.patch(THERE, the(Counter.total).add(1))
        change.emit("ticket.done", ticket, outcome=outcome)


def _is_done(store: Store) -> list[int]:
    """How often a ticket was finished: by its state, by the counter, by its lines and by its messages."""
    return [
        int(store.get(HERE).status is Status.DONE),
        store.get(THERE).total,
        len(list(store.find(SystemAudit.of_project(project_id=EVERYWHERE)))),
        len(list(store.find(SystemMessage.by_status(status=MessageStatus.PENDING)))),
    ]


def _mark(store: Store) -> SystemOnce:
    now = store.clock.now()
    return SystemOnce(idempotency_key="k", created_at=now, ttl=int((now + timedelta(hours=1)).timestamp()))


class KernelOnTop(Promise):
    """What the kernel builds out of conditional writes, as a smoke test that the engine carries it."""

    @pytest.fixture
    def kernel(self, engine: Engine, clock: FrozenClock) -> Store:
        """A store with the kernel's tables, a ticket and a counter."""
        engine.ensure([*SYSTEM_RECORDS.shapes, Ticket.__shape__, Counter.__shape__, Watched.__shape__])
        store = Store(engine, clock=clock, secret=b"of the suite")
        store.put_many([Ticket(queue="q", ticket_id="1", created_at=MOMENT), Counter(name="done")])
        return store

    def test_of_several_who_ask_for_a_lease_one_has_it_and_its_epoch_grows(
        self, kernel: Store, clock: FrozenClock
    ) -> None:
        def ask(number: int) -> Lease | None:
            return take_named(kernel, "l", owner=str(number), period=MINUTE)

        for epoch in (1, 2, 3):
            (held,) = [lease for lease in at_once(ask) if lease is not None]
            assert (held.epoch, kernel.get(NamedLease.at(name="l")).lease_owner) == (epoch, held.owner)
            if epoch == 1:
                release(kernel, held)
            clock.advance(MINUTE)

    def test_a_change_leaves_state_counter_line_and_message_or_nothing(self, kernel: Store) -> None:
        def finish(number: int) -> bool:
            try:
                with kernel.change(by=f"worker {number}") as change:
                    ticket = change.get(HERE)
                    if ticket.status is Status.DONE:
                        return False
                    change.save(ticket.finish(outcome="fixed"))
                    change.patch(THERE, the(Counter.total).add(1))
                    change.emit("ticket.done", ticket)
            except Conflict:
                return False
            return True

        assert at_once(finish).count(True) == 1
        assert _is_done(kernel) == [1, 1, 1, 1]

    def test_a_fenced_out_owner_changes_nothing(self, kernel: Store, clock: FrozenClock) -> None:
        old = take_named(kernel, "l", owner="worker", period=MINUTE)
        clock.advance(MINUTE)
        new = take_named(kernel, "l", owner="worker", period=MINUTE)
        with pytest.raises(LeaseLost):
            _finish(kernel, under=old)
        assert _is_done(kernel) == [0, 0, 0, 0]
        _finish(kernel, under=new)
        assert _is_done(kernel) == [1, 1, 1, 1]

    def test_what_is_asked_for_once_is_done_once(self, kernel: Store, clock: FrozenClock) -> None:
        def ask(number: int) -> Claim | Replay | None:
            try:
                return begin(kernel, _mark(kernel), owner=str(number), period=MINUTE)
            except InProgress:
                return None

        (first,) = [claim for claim in at_once(ask) if claim is not None]
        clock.advance(MINUTE)
        (second,) = [claim for claim in at_once(ask) if claim is not None]
        assert isinstance(first, Claim)
        assert isinstance(second, Claim)
        for claim, refused in ((first, True), (second, False), (second, True)):
            try:
                with kernel.change(once=claim) as change:
                    change.patch(THERE, the(Counter.total).add(1))
                    change.result = {"by": claim.owner}
            except Conflict:
                assert refused
            else:
                assert not refused
        assert kernel.get(THERE).total == 1
        assert set(map(str, at_once(ask))) == {str(Replay({"by": second.owner}))}
        clock.advance(timedelta(hours=1))
        assert isinstance(ask(9), Claim), "a mark that has expired is invisible at once"

    def test_two_lines_of_one_actor_in_one_microsecond_both_stay(self, kernel: Store, clock: FrozenClock) -> None:
        for store in (kernel, Store(kernel.engine, clock=clock)):
            with store.change(by="ann") as change:
                change.patch(THERE, the(Counter.total).add(1))
        assert kernel.get(THERE).total == 2
        assert len(list(kernel.find(SystemAudit.of_project(project_id=EVERYWHERE)))) == 2

    def test_every_message_is_told_in_order_and_then_no_more(self, kernel: Store) -> None:
        told = [f"event {n}" for n in range(12)]
        for name in told:
            with kernel.change() as change:
                change.emit(name, kernel.get(HERE))
        ear = _Ear()
        relay = Relay(kernel, ear, owner="r", batch=5)
        assert relay.drain() == Delivery(published=len(told))
        assert ear.heard == told
        assert relay.drain() == Delivery()

    def test_a_handler_deals_with_every_change_once(self, kernel: Store, engine: Engine) -> None:
        try:
            engine.changes([Watched.__shape__])
        except NotImplementedError:
            pytest.skip("the engine has no feed")
        seen: list[str] = []

        def follow() -> int:
            feed = Feed(kernel, "f", owner="a")

            @feed.on(Watched, "insert", "remove")
            def note(entry: FeedEntry, claim: Claim) -> None:
                seen.append(f"{entry.kind} {entry.key['label']}")
                with kernel.change(once=claim) as change:
                    change.patch(THERE, the(Counter.total).add(1))

            done = feed.drain()
            feed.close()
            return done

        kernel.put(Watched(shelf="s", label="a"))
        kernel.delete(Watched.at(shelf="s", label="a"))
        assert follow() == 2
        kernel.put(Watched(shelf="s", label="b"))
        assert follow() == 1
        assert seen == ["insert a", "remove a", "insert b"]
        assert kernel.get(THERE).total == 3
