"""The feed of a store that brings its changes: a cloud's function is called with some of them, and names those it wants
to be brought again.

The handlers are those of `Feed`, and so are the promises: each event is dealt with once, however often and in whichever
order it is brought; one that keeps failing leaves a letter behind after its tries, and holds up nothing but what is
about the same record. Both may follow one store at the same time.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from penstock.errors import Misconfigured, Unavailable, outage_in
from penstock.events.feed_records import REMEMBERED, FeedLetter, letter_about
from penstock.events.handler_patience import HandlerPatience
from penstock.events.handover import Handover, RegisteredHandler
from penstock.kernel.idempotency import Claim, ClaimLost, InProgress, SystemOnce, begin, once_key
from penstock.kernel.store import Store
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.reads import Ref
from penstock.ports.delivery import BroughtChange, DeliveringEngine
from penstock.schema.kinds import instant_text

log = logging.getLogger("penstock.feed")

UNREADABLE = "unreadable"
"The kind of a letter about what could not be read at all."
_PERIOD = timedelta(seconds=60)


class PushedFeed:
    """Hands what is brought to the handlers of a feed."""

    def __init__(
        self, store: Store, name: str, handlers: Sequence[RegisteredHandler], handover: Handover, *, attempts: int
    ) -> None:
        self._store, self._name, self._handlers, self._handover = store, name, handlers, handover
        self._attempts = attempts
        self._patience = HandlerPatience(store, least=1)

    def take(self, event: Mapping[str, Any]) -> list[str]:
        """Deal with the changes in an event; the receipts of those that are to be brought again, in its order."""
        engine = self._store.engine
        if not isinstance(engine, DeliveringEngine):
            raise Misconfigured("this store brings no changes to anybody; set PENSTOCK_STORE to the one that does")
        shapes = list({h.entity.__shape__: None for h in self._handlers})
        deliveries = engine.delivered(shapes, event)
        again: list[BroughtChange] = []
        held: set[str] = set()
        for number, delivery in enumerate(deliveries):
            try:
                done = self._taken(delivery, held)
            except Unavailable as error:  # the store: it would be away for each of the others as well
                log.warning("the feed %s cannot go on for now: %s", self._name, error)
                again += deliveries[number:]
                break
            if not done:
                again.append(delivery)
        return [delivery.receipt for delivery in again if delivery.receipt]

    def _taken(self, delivery: BroughtChange, held: set[str]) -> bool:
        """Is nothing more to be done about it? What failed holds up all that follows about the same record."""
        if delivery.later:
            return False
        if delivery.trouble:
            self._bury_unread(delivery)
        if delivery.entry is None:
            return True
        about = repr(Ref(delivery.entry.shape, delivery.entry.key))
        if about in held:
            return False
        held.add(about)
        done = self._deal_with(delivery.entry)
        if done:
            held.discard(about)
        return done

    def _deal_with(self, entry: FeedEntry) -> bool:
        """Hand an event to each handler that wants it; one that fails keeps no other from its tries."""
        done = True
        for handler in self._handlers:
            if handler.wants(entry):
                try:
                    done &= self._handed(handler, entry)
                except (InProgress, ClaimLost):  # whoever has it may yet die
                    done = False
        return done

    def _handed(self, handler: RegisteredHandler, entry: FeedEntry) -> bool:
        claim = self._handover.claim_freely(handler, entry)
        if claim is None:
            return True
        try:
            self._handover.hand_over(handler, entry, claim, counted=True)
        except (InProgress, ClaimLost):
            raise
        except Exception as error:
            if not entry.unreadable and self._is_worth_trying(handler, claim, error):
                return False
            self._bury(handler, entry, error)
        return True

    def _is_worth_trying(self, handler: RegisteredHandler, claim: Claim, error: Exception) -> bool:
        """May another try mend it? A part of the system that is away takes none, as long as one may wait for it."""
        mark: SystemOnce | None = self._store.lookup(claim.ref)
        if mark is None:
            return True
        if (away := outage_in(error)) is not None:
            since = {handler.name: instant_text(mark.created_at, 6)}
            return self._patience.waits(handler.name, away, since) is not None
        return (mark.tries or 0) < self._attempts

    # Letters

    def _bury(self, handler: RegisteredHandler, entry: FeedEntry, error: Exception) -> None:
        """Leave a letter, with which the event is done: brought again, it is not tried again."""
        claim = self._handover.claim_freely(handler, entry)
        if claim is None:
            return
        with self._store.change(once=claim) as change:
            change.create(letter_about(self._name, handler.name, entry, error, ts=self._store.context.ticks.next()))

    def _bury_unread(self, delivery: BroughtChange) -> None:
        now = self._store.clock.now()
        mark = SystemOnce(
            idempotency_key=once_key(self._name, UNREADABLE, delivery.receipt, delivery.digest),
            created_at=now,
            ttl=int((now + REMEMBERED).timestamp()),
        )
        try:
            claim = begin(self._store, mark, owner=self._name, period=_PERIOD)
        except InProgress:
            return  # another leaves it just now
        if not isinstance(claim, Claim):
            return
        letter = FeedLetter(
            name=self._name,
            ts=self._store.context.ticks.next(),
            handler="*",
            entity="*",
            kind=UNREADABLE,
            subject={},
            position=delivery.receipt,
            error=delivery.trouble,
        )
        with self._store.change(once=claim) as change:
            change.create(letter)
