"""The records of a review: notes in threads, what is known of each record that has some, and the news of them.

A note is found by the record it is on, which is named as in the audit trail. All notes of a record stand together, so
that they are read, and go, together. The news of a record are one small record beside them: whoever watches hears that
something was said, and asks for what it is; so nobody hears what they may not see.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.move import move
from penstock.declare.pattern import pattern
from penstock.declare.table import Table
from penstock.declare.units import Count, EpochSeconds, UtcMicros, UtcMillis, UtcSeconds
from penstock.operations.reads import ANYTHING, Range
from penstock.review.pin import Pin

REVIEW = Table("penstock_review", partition="PK", sort="SK")
BY_BEGINNING = REVIEW.index("GSI1", partition="GSI1PK", sort="GSI1SK")
BY_POSITION = REVIEW.index("GSI2", partition="GSI2PK", sort="GSI2SK")
NEWS = Table("penstock_review_news", partition="PK", sort="SK", expiry="ttl", feed=True)

NEWS_KEPT = timedelta(days=30)


class NoteStatus(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"


class Note(Entity, table=REVIEW, relation="review_notes", collection="notes"):
    """What somebody has to say of a record. The first of a thread tells its state, and how many replies it has."""

    __moved_by_work__ = True
    __traced__ = False

    about: str = Field(frozen=True)
    "The name (`record_name`) of the record."
    thread_id: str = Field(frozen=True)
    "The id of the note that began the thread."
    note_id: str = Field(frozen=True)
    begins: str | None = Field(default=None, frozen=True)
    "As `about`, of a note that begins a thread: only those are in the lists of a record."
    project_id: str | None = None
    author: str = Field(frozen=True)
    "Who may edit it: as in the audit trail."
    author_name: str = Field(frozen=True)
    link_id: str | None = Field(default=None, frozen=True)
    "The link by which a guest has written it."
    text: str
    file: str | None = Field(default=None, frozen=True)
    "One of the record's files, by its name in the review item."
    edition: str | None = Field(default=None, frozen=True)
    "Which bytes of that file were looked at."
    pin: dict[str, Any] | None = Field(default=None, frozen=True)
    position: Count = Field(default=0, frozen=True)
    status: NoteStatus = NoteStatus.OPEN
    version: Count = 1
    "Grows with each edit, and with each change of the state; not with replies."
    replies: Count = 0
    created_at: UtcMillis = Field(frozen=True)
    edited_at: UtcMillis | None = None
    resolved_at: UtcMillis | None = None
    resolved_by: str | None = None
    deleted_at: UtcMillis | None = None
    "Of one that was deleted and stays without its text, because there are replies to it."

    @key("NOTES#{about}", "{thread_id}#{note_id}")
    def at(self, *, about: str, thread_id: str, note_id: str) -> None: ...

    by_beginning = IndexKey(BY_BEGINNING, "THREADS#{begins}", "{note_id}")
    by_place = IndexKey(BY_POSITION, "THREADS#{begins}", "{position:016d}#{note_id}")

    @pattern(at)
    def of_record(self, *, about: str, thread_id: str | None = None) -> None:
        """All notes of a record, thread by thread; or those of one thread, in order."""

    @pattern(by_beginning)
    def oldest_threads(self, *, begins: str) -> None:
        """What threads of a record begin with, oldest first."""

    @pattern(by_beginning, backwards=True)
    def newest_threads(self, *, begins: str) -> None:
        """What threads of a record begin with, newest first."""

    @pattern(by_place)
    def threads_in_place(self, *, begins: str) -> None:
        """What threads of a record begin with, by where they are pinned."""

    @move(NoteStatus.OPEN, to=NoteStatus.RESOLVED)
    def resolve(self, *, by: str, at: datetime) -> None:
        """It needs nobody any more."""
        self.resolved_by, self.resolved_at, self.version = by, at, self.version + 1

    @move(NoteStatus.RESOLVED, to=NoteStatus.OPEN)
    def reopen(self) -> None:
        """It does after all."""
        self.resolved_by, self.resolved_at, self.version = None, None, self.version + 1

    @property
    def is_first(self) -> bool:
        """Does it begin its thread?"""
        return self.note_id == self.thread_id

    @property
    def pinned(self) -> Pin | None:
        """Where it is."""
        return None if self.pin is None else Pin.model_validate(self.pin)


class ReviewedRecord(Entity, table=REVIEW, relation="reviewed_records"):
    """A record that has notes or links: how many, and how to find out whether it still stands."""

    __moved_by_work__ = True
    __traced__ = False

    about: str
    domain: str
    collection: str
    parts: dict[str, str]
    "Of its key, as texts."
    project_id: str | None = None
    notes: Count = 0
    "Replies among them."
    open_threads: Count = 0
    look_at: UtcSeconds
    "When to look whether it still stands."

    @key("REVIEWED#{about}", "REVIEWED")
    def at(self, *, about: str) -> None: ...

    to_look_at = IndexKey(BY_BEGINNING, "REVIEWED", "{look_at}")

    @pattern(to_look_at)
    def due(self, *, look_at: Range[datetime] = ANYTHING) -> None:
        """Those that are to be looked for, the longest due first."""


class NoteNews(Entity, table=NEWS, relation="review_news", collection="note_news", lifetimes=(Expires("ttl"),)):
    """That something was said of a record, and what was last: for whoever watches."""

    __moved_by_work__ = True
    __traced__ = False

    topic: str
    "Stands for the record, whose name is not everybody's to see."
    project_id: str | None = None
    event: str
    "note.written, note.edited, note.resolved, note.reopened or note.deleted."
    thread_id: str
    note_id: str
    told_at: UtcMicros
    ttl: EpochSeconds

    @key("TOPIC#{topic}", "NEWS")
    def at(self, *, topic: str) -> None: ...


REVIEW_RECORDS: tuple[type[Entity], ...] = (Note, ReviewedRecord, NoteNews)
