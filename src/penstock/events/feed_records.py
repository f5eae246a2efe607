"""What a feed keeps: how far it has come, and letters about the events that could not be dealt with."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.move import Move
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds, UtcMicros, UtcSeconds
from penstock.errors import told
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.documents import kept
from penstock.schema.kinds import key_text

LONGEST_ERROR = 500
REMEMBERED = timedelta(days=3)
"Longer than any store keeps its feed, so that a repetition is always recognised."
MISSED = "missed"
"The kind of a letter that tells of no single event, but of changes that were trimmed before the feed came to them."


class FeedPlace(Entity, table=SYSTEM, relation="feeds"):
    """How far a feed has been followed, and how often its next event has been tried in vain."""

    __moved_by_work__ = True

    name: str
    position: str | None = None
    tries: Count = 0
    noted_at: UtcSeconds | None = None
    "When it was last followed, within ten minutes."
    missed_at: UtcMicros | None = None
    "When changes were trimmed that it had not come to; until it is followed again."
    in_vain: dict[str, str] | None = None
    "Since when handlers have failed for a part of the system that answers, by their names; until they succeed."

    @key("FEED#{name}", "PLACE")
    def at(self, *, name: str) -> None: ...

    in_line = IndexKey(BY_STATUS, "FEED_PLACES", "{name}")

    @pattern(in_line)
    def by_name(self, *, name: Range[str] = ANYTHING) -> None:
        """How far each feed has come."""


class LetterStatus(StrEnum):
    DEAD = "dead"
    SETTLED = "settled"


class FeedLetter(Entity, table=SYSTEM, relation="feed_letters", lifetimes=(Expires("ttl"),)):
    """An event that a handler could not deal with."""

    __moved_by_work__ = True

    name: str
    ts: UtcMicros
    handler: str
    entity: str
    kind: str
    subject: dict[str, str]
    position: str
    error: str
    status: LetterStatus = LetterStatus.DEAD
    ttl: EpochSeconds | None = None

    @key("FEED#{name}", "LETTER#{ts}")
    def at(self, *, name: str, ts: datetime) -> None: ...

    in_status = IndexKey(BY_STATUS, "FEED_LETTERS#{status}", "{ts}")

    @pattern(at)
    def of_feed(self, *, name: str, ts: Range[datetime] = ANYTHING) -> None:
        """The events a feed's handlers could not deal with, oldest first."""

    @pattern(in_status)
    def by_status(self, *, status: LetterStatus, ts: Range[datetime] = ANYTHING) -> None:
        """Those of all feeds that wait for a person, or are settled, oldest first."""

    settle = Move(LetterStatus.DEAD, to=LetterStatus.SETTLED)


def letter_about(name: str, handler: str, entry: FeedEntry, error: Exception, *, ts: datetime) -> FeedLetter:
    """A letter about an event that a handler of a feed could not deal with, for this reason."""
    fields = entry.shape.fields
    return FeedLetter(
        name=name,
        ts=ts,
        handler=handler,
        entity=entry.shape.label,
        kind=entry.kind,
        subject={n: key_text(fields[n], v) for n, v in entry.key.items()},
        position=entry.position,
        error=kept(f"{type(error).__name__}: {told(error)}", LONGEST_ERROR),
    )
