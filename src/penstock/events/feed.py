"""The feed: handlers that follow the changes of records, whoever made them.

Every committed insert, update and removal reaches each handler registered for it at least once, in order. A handler
gets a claim (see `idempotency`) for the event: a change that it commits with that claim happens once, however often the
event is repeated. A handler that keeps failing on an event leaves a letter behind, to be tried again, and goes on. So
does a feed that comes back after so long that changes were trimmed which it had not come to (see `trimmed_log`).
What a handler writes to the record of its event with that claim does not come back to it. What it writes without it is
an event like any other's: a handler that sets a field to what it is already ends there, one that counts never would.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event

from penstock.declare.entity import Entity
from penstock.errors import FeedTrimmed, InvalidValue, PenstockError, Unavailable, outage_in
from penstock.events.feed_records import (
    LONGEST_ERROR,
    MISSED,
    REMEMBERED,
    FeedLetter,
    FeedPlace,
    LetterStatus,
    letter_about,
)
from penstock.events.handler_patience import HandlerPatience
from penstock.events.handover import Handler, Handover, RegisteredHandler
from penstock.events.pushed_feed import PushedFeed
from penstock.kernel.lease import Duty, Lease, LeaseLost
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.reads import Ref
from penstock.schema.documents import kept
from penstock.schema.kinds import from_key_text
from penstock.schema.shape import EntityShape

log = logging.getLogger("penstock.feed")

_IDLE, _OFF_DUTY = 1.0, 5.0
"Seconds until one looks again: for changes, and for the duty that another process has."
_NOTED = timedelta(minutes=10)
"After so long a feed for which nothing came says how far it is: what lies before need not be kept for it."


class _PartAway(Exception):
    """A handler needs a part of the system that is away."""


@dataclass(frozen=True, slots=True)
class FeedLag:
    """How far a feed is behind what has happened."""

    name: str
    behind: bool
    oldest_at: datetime | None
    "When the change was made that it comes to next; None where the store does not tell."
    noted_at: datetime | None
    "When it was last followed, within ten minutes."
    missed_at: datetime | None
    tries: int
    "How often its next event has been tried in vain."


class Feed:
    """Follows the changes of a store under a name. Several processes may; one at a time is at work."""

    def __init__(
        self,
        store: Store,
        name: str,
        *,
        owner: str,
        attempts: int = 5,
        period: timedelta = timedelta(seconds=60),
        batch: int = 100,
    ) -> None:
        self._store, self._name, self._owner = store, name, owner
        self._attempts, self._batch = attempts, batch
        self._handlers: list[RegisteredHandler] = []
        self._passed: tuple[str | None, str | None] = (None, None)
        "A position, and how far nothing follows it that is for this feed."
        self._tries = 0
        "How often the next event has been tried in vain: each time one waits twice as long."
        self._duty = Duty(store, f"feed:{name}", owner=owner, period=period)
        self._handover = Handover(store, name, owner=owner, period=period)
        self._patience = HandlerPatience(store, least=attempts)

    def on(
        self,
        entity: type[Entity],
        *kinds: str,
        cause: str | None = None,
        when: Callable[[FeedEntry], bool] | None = None,
    ) -> Callable[[Handler], Handler]:
        """Register a handler for inserts, updates or removals of an entity, of any cause or of one (user, expiry).

        Those for which ``when`` is false cost it nothing.
        """
        if not entity.__shape__.table.feed:
            raise InvalidValue(f"{entity.__name__} has no feed; declare its table with feed=True")
        if unknown := set(kinds) - {"insert", "update", "remove"}:
            raise InvalidValue(f"a change is insert, update or remove, not {', '.join(sorted(unknown))}")

        def register(handle: Handler) -> Handler:
            name = getattr(handle, "__name__", repr(handle))
            if any(h.name == name for h in self._handlers):
                raise InvalidValue(f"the feed {self._name} has a handler {name} already; name this one otherwise")
            self._handlers.append(RegisteredHandler(name, entity, frozenset(kinds), cause, handle, when))
            self._passed = (None, None)
            return handle

        return register

    @property
    def follows(self) -> list[EntityShape]:
        """The entities whose changes some handler may want."""
        return list({h.entity.__shape__: None for h in self._handlers})

    def pushed(self) -> PushedFeed:
        """The same handlers, for changes that are brought instead of being asked for."""
        return PushedFeed(self._store, self._name, self._handlers, self._handover, attempts=self._attempts)

    def run_once(self) -> int:
        """Deal with the next events; how many. None while another process is at work, or the next event waits.

        One whose handler needs a part of the system that is away waits for it, and spends no try. If the part answers
        whenever it is asked, that is so for an hour.
        """
        lease = self._duty.hold()
        try:
            return 0 if lease is None else self._follow(lease)
        except _PartAway as away:
            outages_of(self._store).met(away)
            return 0

    def _follow(self, lease: Lease) -> int:
        place = self._place()
        shapes = self.follows
        # Where nothing was for us, others' changes are not looked at again.
        known, reached = self._passed
        after = reached if known == place.position else place.position
        try:
            entries = self._store.engine.changes(shapes, after=after, limit=self._batch)
        except FeedTrimmed as trimmed:
            with suppress(LeaseLost):
                self._begin_anew(place, lease, trimmed)
                return self._follow(lease)
            return 0
        self._passed = (place.position, after if entries else entries.position)
        done = 0
        with suppress(LeaseLost):  # whoever has it now goes on
            passed: str | None = None
            for entry in entries:
                if not any(handler.wants(entry) for handler in self._handlers):
                    passed, done = entry.position, done + 1  # any number of them are noted at once
                    continue
                if passed is not None:
                    self._note(place, lease, passed, tries=0)
                    passed = None
                if self._deal_with(entry, lease, place):
                    self._note(place, lease, place.position, tries=place.tries + 1)
                    break
                self._note(place, lease, entry.position, tries=0)
                done += 1
            if passed is not None:
                self._note(place, lease, passed, tries=0)
            if not entries:
                self._note_passed(place, lease)
        self._tries = place.tries
        return done

    def drain(self, *, rounds: int = 1000) -> int:
        """Follow the feed until nothing new is there."""
        total = 0
        for _ in range(rounds):
            done = self.run_once()
            total += done
            if not done and not self._place().tries:
                break
        return total

    def run(self, stop: Event) -> None:
        """Follow the feed until told to stop; where another process does, look now and then whether it still does."""
        outages = outages_of(self._store)
        try:
            while not stop.is_set():
                try:
                    self._step(stop)
                except (_PartAway, PenstockError) as error:
                    if not outages.sit_out(error, stop):
                        raise
        finally:
            with suppress(Unavailable):  # its time ends by itself
                self.close()

    def _step(self, stop: Event) -> None:
        lease = self._duty.hold()
        if lease is None:
            stop.wait(_OFF_DUTY)
        elif not self._follow(lease):
            stop.wait(_IDLE * 2**self._tries)

    def close(self) -> None:
        """Let another process take over at once."""
        self._duty.leave()

    def in_vain(self) -> dict[str, datetime]:
        """The handlers that fail for a part of the system which answers, and since when: they hold up the feed."""
        return {name: datetime.fromisoformat(since) for name, since in (self._place().in_vain or {}).items()}

    # Letters

    def lag(self) -> FeedLag:
        """How far it is behind: whether a change follows its place, and since when that has waited."""
        place = self._store.lookup(FeedPlace.at(name=self._name)) or FeedPlace(name=self._name)
        shapes = self.follows
        try:
            waiting = list(self._store.engine.changes(shapes, after=place.position, limit=1))
        except FeedTrimmed:
            waiting = []
        first = waiting[0].at if waiting else None
        return FeedLag(self._name, bool(waiting), first, place.noted_at, place.missed_at, place.tries)

    def letters(self) -> Iterator[FeedLetter]:
        """The events that could not be dealt with and still wait."""
        for letter in self._store.find(FeedLetter.of_feed(name=self._name)):
            if letter.status is LetterStatus.DEAD:
                yield letter

    def retry(self, letter: FeedLetter, *, by: str | None = None) -> None:
        """Hand an event to its handler again, with the record as it is now, or without one if it is gone.

        The letter is settled if that works. One that tells of changes which are gone, or of no record, is settled only.
        """
        if letter.kind == MISSED or not letter.subject:
            return self._settle(letter, by)
        handler = next((h for h in self._handlers if h.name == letter.handler), None)
        if handler is None:
            raise InvalidValue(f"the feed {self._name} has no handler {letter.handler} any more")
        shape = handler.entity.__shape__
        subject = {n: from_key_text(shape.fields[n], t) for n, t in letter.subject.items()}
        record = self._store.lookup(Ref(shape, subject))
        again = f"{letter.position} tried again at {self._store.context.ticks.next().isoformat()}"
        entry = FeedEntry(shape, letter.kind, subject, None, record, "user", letter.position, again)
        self._handover.once_more(handler, entry)
        self._settle(letter, by)

    def _settle(self, letter: FeedLetter, by: str | None) -> None:
        with self._store.change(by=by) as change:
            settled = change.track(letter).settle()
            settled.ttl = int((self._store.clock.now() + REMEMBERED).timestamp())
            change.save(settled)

    # One event

    def _deal_with(self, entry: FeedEntry, lease: Lease, place: FeedPlace) -> bool:
        """Hand an event to each handler that wants it; True when one failed and is to be tried again.

        One that fails keeps no other from its tries, and those that are done are not asked again.
        """
        failed = False
        for handler in self._handlers:
            if not handler.wants(entry):
                continue
            claim = self._handover.claim(handler, entry, lease)
            if claim is None:
                continue
            try:
                self._handover.hand_over(handler, entry, claim)
            except Exception as error:
                if (away := outage_in(error)) is not None and self._waits(handler, away, place, lease):
                    raise _PartAway(str(away)) from error  # a try less would not bring it back
                if place.tries + 1 >= self._attempts or entry.unreadable:  # which trying again does not mend
                    self._leave_letter(handler, entry, error)
                else:
                    failed = True
            else:
                if place.in_vain:
                    place.in_vain = dict(self._patience.succeeded(handler.name, place.in_vain)) or None
        return failed

    def _waits(self, handler: RegisteredHandler, away: Unavailable, place: FeedPlace, lease: Lease) -> bool:
        """Is a handler to wait for a part of the system? Since when it does in vain is written down."""
        known = place.in_vain or {}
        waits = self._patience.waits(handler.name, away, known)
        if waits is not None and waits is not known:
            place.in_vain = dict(waits)
            self._note(place, lease, place.position, tries=place.tries)
        return waits is not None

    def _leave_letter(self, handler: RegisteredHandler, entry: FeedEntry, error: Exception) -> None:
        self._store.create(letter_about(self._name, handler.name, entry, error, ts=self._store.context.ticks.next()))

    # Where the feed stands

    def _place(self) -> FeedPlace:
        found = self._store.lookup(FeedPlace.at(name=self._name))
        return found if found is not None else FeedPlace(name=self._name)

    def _note(self, place: FeedPlace, lease: Lease, position: str | None, *, tries: int) -> None:
        """Remember how far the feed was followed, if it is still ours to follow."""
        place.position, place.tries, place.missed_at = position, tries, None
        place.noted_at = self._store.clock.now()
        with self._store.change(under=lease) as change:
            change.put(place)

    def _note_passed(self, place: FeedPlace, lease: Lease) -> None:
        """Remember now and then how far nothing was for this feed, so that the log is not kept for it."""
        reached, now = self._passed[1], self._store.clock.now()
        if reached != place.position and (place.noted_at is None or abs(now - place.noted_at) >= _NOTED):
            self._note(place, lease, reached, tries=0)
            self._passed = (reached, reached)

    def _begin_anew(self, place: FeedPlace, lease: Lease, trimmed: FeedTrimmed) -> None:
        """Go on with the oldest change that is kept, and leave a letter that some were missed, in one commit."""
        log.error("the feed %s has missed changes, and goes on with the oldest kept: %s", self._name, trimmed)
        letter = FeedLetter(
            name=self._name,
            ts=self._store.context.ticks.next(),
            handler="*",
            entity="*",
            kind=MISSED,
            subject={},
            position=place.position or "",
            error=kept(f"{type(trimmed).__name__}: {trimmed}", LONGEST_ERROR),
        )
        place.position, place.tries, place.missed_at = None, 0, None
        place.noted_at = self._store.clock.now()
        with self._store.change(under=lease) as change:
            change.create(letter)
            change.put(place)
        self._passed = (None, None)
