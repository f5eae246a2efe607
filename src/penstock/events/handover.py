"""Handing over an event: a handler gets it with a claim, once, and does not hear of what it writes itself with that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from penstock.declare.entity import Entity
from penstock.errors import Conflict, outage_in
from penstock.events.feed_records import REMEMBERED
from penstock.events.self_writes import SelfWrites, difference, expected_once_less
from penstock.kernel.idempotency import Claim, Replay, SystemOnce, begin, once_key, seize
from penstock.kernel.lease import Lease
from penstock.kernel.store import Store
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.reads import Ref, damage

Handler = Callable[[FeedEntry, Claim], object]
_SELF_WRITE = "echo"
"What marks of a handler's own writes are made of; it is in the keys of those that are stored."


@dataclass(frozen=True, slots=True)
class RegisteredHandler:
    """A handler with its name, and which changes it is registered for."""

    name: str
    entity: type[Entity]
    kinds: frozenset[str]
    cause: str | None
    handle: Handler
    when: Callable[[FeedEntry], bool] | None = None

    def wants(self, entry: FeedEntry) -> bool:
        return (
            entry.shape is self.entity.__shape__
            and entry.kind in self.kinds
            and (self.cause is None or entry.cause == self.cause)
            and (self.when is None or self.when(entry))
        )


class Handover:
    """Hands the events of a feed to its handlers: a change that one commits with its claim happens once."""

    def __init__(self, store: Store, feed: str, *, owner: str, period: timedelta) -> None:
        self._store, self._feed, self._owner, self._period = store, feed, owner, period

    def claim(self, handler: RegisteredHandler, entry: FeedEntry, lease: Lease) -> Claim | None:
        """The claim by which a handler deals with an event; None if it has already, or has caused it itself."""
        mark = self._mark(handler, entry, "event", entry.id)
        # Whoever still has the claim has died or lost the feed's lease: under it nobody else is at work.
        claim = seize(self._store, mark, owner=self._owner, period=self._period, under=lease)
        if isinstance(claim, Replay) or self._was_written_by(handler, entry, claim):
            return None
        return claim

    def claim_freely(self, handler: RegisteredHandler, entry: FeedEntry) -> Claim | None:
        """The same where nobody has a lease, as several may be brought the event; InProgress while another is at it."""
        mark = self._mark(handler, entry, "event", entry.id)
        claim = begin(self._store, mark, owner=self._owner, period=self._period)
        if isinstance(claim, Replay) or self._was_written_by(handler, entry, claim):
            return None
        return claim

    def once_more(self, handler: RegisteredHandler, entry: FeedEntry) -> None:
        """Hand an event to a handler that has failed on it before."""
        mark = self._mark(handler, entry, "event", entry.id)
        claim = begin(self._store, mark, owner=self._owner, period=self._period)
        if isinstance(claim, Claim):  # nobody else can have had it: it is of this moment
            self.hand_over(handler, entry, claim)

    def hand_over(self, handler: RegisteredHandler, entry: FeedEntry, claim: Claim, *, counted: bool = False) -> None:
        """Let a handler deal with an event; what it raises ends its claim, and is raised.

        ``counted``: the claim's mark counts what was in vain, unless a part of the system was away.
        """
        if "update" in handler.kinds:
            claim = replace(
                claim,
                self_writes=SelfWrites(Ref(entry.shape, entry.key), partial(self._mark, handler, entry, _SELF_WRITE)),
            )
        try:
            if entry.unreadable:
                raise damage(entry.unreadable)
            handler.handle(entry, claim)
        except Exception as error:
            with suppress(Conflict):
                self._store.commit([claim.failed(counted=counted and outage_in(error) is None)])
            raise
        with suppress(Conflict):  # the handler has ended its claim with its own change
            self._store.commit([claim.done(None)])

    def _was_written_by(self, handler: RegisteredHandler, entry: FeedEntry, claim: Claim) -> bool:
        """Was this the event of what the handler itself wrote? It is expected once."""
        if entry.kind != "update" or entry.unreadable or (changed := difference(entry.old, entry.new)) is None:
            return False
        expected = self._mark(handler, entry, _SELF_WRITE, changed).ref
        while (found := self._store.lookup(expected)) is not None:
            try:
                self._store.commit([claim.done(None), expected_once_less(found)])
            except Conflict as refused:
                if refused.position > 0:  # others of its kind have come or gone
                    continue
                # Else another has the claim now, and finds the same.
            return True
        return False

    def _mark(self, handler: RegisteredHandler, entry: FeedEntry, *what: str) -> SystemOnce:
        now = self._store.clock.now()
        # The mark is of the record's project, so that a handler may end its claim in that project's scope.
        subject = entry.new if entry.new is not None else entry.old
        project = getattr(subject, "project_id", None)
        return SystemOnce(
            idempotency_key=once_key(self._feed, handler.name, repr(Ref(entry.shape, entry.key)), *what),
            project_id=None if project is None else str(project),
            created_at=now,
            ttl=int((now + REMEMBERED).timestamp()),
        )
