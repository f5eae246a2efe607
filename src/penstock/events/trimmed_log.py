"""The log of changes: kept for those who follow it, and trimmed behind them.

A store that keeps its log in tables keeps it for ever, unless somebody trims it. What every feed has come past, and is
old enough that no event stream takes up there, goes. What is older still, or one of too many, goes even if a feed has
not come to it: a feed that stands still, or is gone, must not fill the store. That is told: in the log, by the feed's
place, and, should it come back, by a letter of its own.

How old an entry is, is told by marks: from time to time the end of the log is written down. A clock that jumps makes
one mark too many, and trims nothing before its time: so many marks as hours must lie behind what is trimmed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.lifetime import Expires
from penstock.declare.pattern import pattern
from penstock.declare.units import EpochSeconds, UtcSeconds
from penstock.errors import Conflict, FeedTrimmed, InvalidValue
from penstock.events.feed_records import FeedPlace
from penstock.kernel.lease import release, take_named
from penstock.kernel.store import Store
from penstock.kernel.system import SYSTEM
from penstock.operations.conditions import Compare
from penstock.operations.feed_entry import LogSize
from penstock.operations.reads import ANYTHING, Range
from penstock.operations.updates import Set

log = logging.getLogger("penstock.feed")

LONGEST = timedelta(days=2)
"So old an entry may become, whoever has not come to it: less than the feed remembers what it has handled."
FOR_STREAMS = timedelta(days=1)
"So old it becomes at least, for event streams that are taken up again."
MOST = 1_000_000
"So many entries are kept at most."
_BETWEEN = timedelta(hours=1)
"Between two marks."
_PLACE = re.compile(r"(\D?)(\d+(?::\d+)*)")
"A position of a log that is one line: numbers, the greater the later, behind a sign that tells how they are meant."
_PART, _PARTS = 10_000, 100
"Entries that are removed at a time, and how often in a round."


class LogMark(Entity, table=SYSTEM, relation="feed_marks", lifetimes=(Expires("ttl"),)):
    """Where the log ended at a moment."""

    __moved_by_work__ = True

    ts: UtcSeconds
    position: str
    ttl: EpochSeconds

    @key("FEED_MARKS", "{ts}")
    def at(self, *, ts: datetime) -> None: ...

    @pattern(at)
    def by_time(self, *, ts: Range[datetime] = ANYTHING) -> None:
        """The marks, oldest first."""


@dataclass(frozen=True, slots=True)
class LogRound:
    """What one round of trimming did."""

    removed: int = 0
    missed: list[str] = field(default_factory=list)
    "Feeds that had not come to what was removed."


class TrimmedLog:
    """Trims the log of some domains' changes. Any number of processes may; one at a time is at it."""

    def __init__(
        self,
        store: Store,
        domains: Iterable[Domain],
        *,
        owner: str,
        longest: timedelta = LONGEST,
        for_streams: timedelta = FOR_STREAMS,
        most: int = MOST,
        period: timedelta = timedelta(minutes=5),
    ) -> None:
        if not _BETWEEN <= longest < timedelta(days=3):
            raise InvalidValue(f"the log of changes is kept for an hour at least and less than 3 days, not {longest}")
        self._store, self._owner, self._period = store, owner, period
        self._longest, self._for_streams, self.most = longest, min(for_streams, longest), most
        self._shapes = [s for d in domains for s in d.shapes if s.table.feed]

    @property
    def kept(self) -> str:
        """How long an entry stays, in words."""
        hours = int(self._for_streams.total_seconds() // 3600), int(self._longest.total_seconds() // 3600)
        return f"{hours[0]} hours behind the slowest feed, {hours[1]} at most, and {self.most:,} entries at most"

    def size(self) -> LogSize | None:
        """How many entries there are; None where the store trims its log by itself, or there is none."""
        if not self._shapes or self._store.engine.features.native_trimming:
            return None
        return self._store.engine.log_size(self._shapes)

    def oldest(self) -> datetime | None:
        """Since when it is kept at least, as far as the marks tell."""
        marks = self._marks()
        return marks[0].ts if marks else None

    def run_once(self) -> LogRound:
        """Trim what may go, up to a bound; nothing while another process is at it."""
        if self.size() is None:
            return LogRound()
        lease = take_named(self._store, "change-log", owner=self._owner, period=self._period)
        if lease is None:
            return LogRound()
        try:
            return self._trim()
        finally:
            release(self._store, lease)

    def _trim(self) -> LogRound:
        marks = self._marks()
        places = list(self._store.find(FeedPlace.by_name()))
        removed = self._trim_behind(self._free(marks, places))
        removed += self._trim_behind(self._older_than(marks, self._longest))
        removed += self._trim_to_most()
        self._mark(marks)
        return LogRound(removed, self._tell_missed(places))

    def _free(self, marks: Sequence[LogMark], places: Sequence[FeedPlace]) -> str | None:
        """Up to where every feed has come, and no event stream is expected any more."""
        kept = self._older_than(marks, self._for_streams)
        # One that has missed something is told so, and needs nothing that is left from before it comes back.
        reached = [place.position for place in places if place.missed_at is None]
        return earliest([kept, *reached])

    def _older_than(self, marks: Sequence[LogMark], age: timedelta) -> str | None:
        """Where the log ended so long ago, by the clock and by as many marks."""
        over = self._store.clock.now() - age
        old = [mark for mark in marks[: -(age // _BETWEEN)] if mark.ts <= over]
        return old[-1].position if old else None

    def _trim_behind(self, position: str | None) -> int:
        if position is None:
            return 0
        removed = 0
        for _ in range(_PARTS):
            last = self._store.engine.trim(self._shapes, before=position, limit=_PART)
            removed += last
            if last < _PART:
                break
        return removed

    def _trim_to_most(self) -> int:
        """Remove the oldest of too many entries, whoever has not come to them."""
        too_many = self._store.engine.log_size(self._shapes).entries - self.most
        end = self._store.engine.feed_end(self._shapes)
        removed = 0
        while end is not None and too_many - removed > 0:
            last = self._store.engine.trim(self._shapes, before=end, limit=min(_PART, too_many - removed))
            removed += last
            if not last:
                break
        return removed

    def _tell_missed(self, places: Sequence[FeedPlace]) -> list[str]:
        """The feeds that have just missed something; each is told once, until it is followed again."""
        missed = []
        for place in places:
            if place.missed_at is not None or not self._is_behind(place):
                continue
            log.error("the log of changes was trimmed before the feed %s came so far; is it followed?", place.name)
            missed.append(place.name)
            stands = Compare("position", "=", place.position)
            try:
                self._store.patch(place.ref, Set("missed_at", self._store.clock.now()), when=stands)
            except Conflict:
                continue  # it has just been followed, and finds out itself
        return missed

    def _is_behind(self, place: FeedPlace) -> bool:
        try:
            self._store.engine.changes(self._shapes, after=place.position, limit=1)
        except FeedTrimmed:
            return True
        return False

    # Marks

    def _marks(self) -> list[LogMark]:
        return list(self._store.find(LogMark.by_time()))

    def _mark(self, marks: Sequence[LogMark]) -> None:
        """Write down where the log ends, once an hour; also after a mark that a wrong clock has put into the future."""
        now = self._store.clock.now()
        lately = any(abs(now - mark.ts) < _BETWEEN for mark in marks)
        end = None if lately else self._store.engine.feed_end(self._shapes)
        if end is None:
            return
        ttl = int((now + self._longest + timedelta(days=1)).timestamp())
        self._store.put(LogMark(ts=now, position=end, ttl=ttl))


def earliest(positions: Sequence[str | None]) -> str | None:
    """The one that comes first; None where it cannot be told, as one is not known or was made by another version."""
    places = [_PLACE.fullmatch(position or "") for position in positions]
    if any(place is None for place in places) or len({place[1] for place in places if place}) > 1:
        return None
    return min((place for place in places if place), key=lambda place: [int(n) for n in place[2].split(":")])[0]
