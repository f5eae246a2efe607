"""What people do with notes: write, reply, edit, resolve, reopen, delete. Each is part of a change of whoever does it.

Writing counts the notes of the record and tells the news in the same commit. The record's own history has it too: the
message of the change is about the record, and says nothing of what was written.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from penstock.declare.attr import the
from penstock.errors import InvalidKey, InvalidValue, NotFound
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.review.errors import NotYours, StaleNote, TooManyNotes
from penstock.review.note import NEWS_KEPT, Note, NoteNews, NoteStatus, ReviewedRecord
from penstock.review.pin import Pin
from penstock.review.review_subject import ReviewSubject

LONGEST_TEXT = 5000
MOST_REPLIES = 200
MOST_NOTES = 10_000
"Of one record, replies among them."
LOOKED_AT = timedelta(days=1)
"So often it is looked whether a record that has notes still stands."
_BLANKS = frozenset("\n\t")


@dataclass(frozen=True, slots=True)
class NoteAuthor:
    """Who writes."""

    id: str
    "As in the audit trail."
    name: str
    is_admin: bool = False
    link_id: str | None = None
    "Of a guest."


@dataclass(frozen=True, slots=True)
class NewNote:
    """What somebody has to say, and where."""

    text: str
    pin: Pin | None = None
    file: str | None = None
    edition: str | None = None


def write(change: Change, subject: ReviewSubject, author: NoteAuthor, said: NewNote) -> Note:
    """Begin a thread."""
    now = change.store.context.ticks.next()
    note_id = _id(now)
    note = _note(subject, author, note_id, note_id, said, now)
    _count(change, subject, notes=1, open_threads=1)
    return _told(change, subject, change.create(note), "note.written")


def reply(change: Change, subject: ReviewSubject, author: NoteAuthor, thread_id: str, text: str) -> Note:
    """Add to a thread; one that was resolved stays so until somebody opens it again."""
    first = _first(change.store, subject, thread_id)
    if first.replies >= MOST_REPLIES:
        raise TooManyNotes(f"the thread has {first.replies} replies, which is as many as it can; begin another")
    now = change.store.context.ticks.next()
    note = _note(subject, author, thread_id, _id(now), NewNote(text), now)
    # On the condition that it still stands: whoever deletes it meanwhile leaves no reply to nothing.
    change.patch(first.ref, the(Note.replies).add(1), when=the(Note.replies).before(MOST_REPLIES))
    _count(change, subject, notes=1)
    return _told(change, subject, change.create(note), "note.written")


def edit(change: Change, subject: ReviewSubject, author: NoteAuthor, note: Note, *, version: int, text: str) -> Note:
    """Say something else instead; StaleNote if it is not the version that its author has seen."""
    if note.author != author.id:
        raise NotYours(f"the note is by {note.author_name}; only they may edit it")
    _check_version(note, version)
    change.track(note)
    note.text, note.version, note.edited_at = plain_text(text), version + 1, change.store.clock.now()
    change.save(note, when=the(Note.version).equals(version))
    return _told(change, subject, note, "note.edited")


def resolve(change: Change, subject: ReviewSubject, author: NoteAuthor, note: Note, *, version: int) -> Note:
    """Say that a thread needs nobody any more."""
    _check_version(_as_first(note), version)
    change.track(note).resolve(by=author.name, at=change.store.clock.now())
    change.save(note, when=the(Note.version).equals(version))
    _count(change, subject, open_threads=-1)
    return _told(change, subject, note, "note.resolved")


def reopen(change: Change, subject: ReviewSubject, author: NoteAuthor, note: Note, *, version: int) -> Note:
    """Say that it does after all."""
    _check_version(_as_first(note), version)
    change.track(note).reopen()
    change.save(note, when=the(Note.version).equals(version))
    _count(change, subject, open_threads=1)
    return _told(change, subject, note, "note.reopened")


def delete(change: Change, subject: ReviewSubject, author: NoteAuthor, note: Note) -> None:
    """Remove a note. The audit trail keeps that there was one; where it has replies, an empty one keeps its place."""
    if note.author != author.id and not author.is_admin:
        raise NotYours(f"the note is by {note.author_name}; only they or an administrator may delete it")
    if not note.is_first:
        _leave_thread(change, subject, note)
    elif note.replies:
        _blank(change, subject, note)
    else:
        _remove_thread(change, subject, note, notes=1)
    _told(change, subject, note, "note.deleted")


def find_note(
    store: Store, subject: ReviewSubject, note_id: str, *, thread_id: str | None = None, also_deleted: bool = False
) -> Note:
    """A note of a record, by its id and that of its thread, which is its own if none is given; or NotFound."""
    try:
        note = store.lookup(Note.at(about=subject.about, thread_id=thread_id or note_id, note_id=note_id))
    except InvalidKey:
        note = None  # it cannot be the id of any
    if note is None or (note.deleted_at is not None and not also_deleted):
        raise NotFound(f"there is no such note on {subject.ref!r}")
    return note


def plain_text(text: str) -> str:
    """A text as it is kept: plain, without what no keyboard writes, and not empty."""
    kept = text.replace("\r\n", "\n").strip()
    if not 0 < len(kept) <= LONGEST_TEXT:
        raise InvalidValue(f"a note has 1 to {LONGEST_TEXT} characters, not {len(kept)}")
    if strange := next((c for c in kept if not c.isprintable() and c not in _BLANKS), None):
        raise InvalidValue(f"a note is plain text; it has the character U+{ord(strange):04X}, which is none")
    return kept


def _id(now: datetime) -> str:
    """An id that sorts by the moment it was made at, to the microsecond: replies are read in their order."""
    return f"{int(now.timestamp() * 1_000_000):015x}{secrets.token_hex(5)}"


def _note(
    subject: ReviewSubject, author: NoteAuthor, thread_id: str, note_id: str, said: NewNote, now: datetime
) -> Note:
    return Note(
        about=subject.about,
        thread_id=thread_id,
        note_id=note_id,
        begins=subject.about if note_id == thread_id else None,
        project_id=subject.project,
        author=author.id,
        author_name=author.name,
        link_id=author.link_id,
        text=plain_text(said.text),
        file=said.file,
        edition=said.edition,
        pin=None if said.pin is None else said.pin.model_dump(mode="json", exclude_none=True),
        position=0 if said.pin is None else said.pin.position,
        created_at=now,
    )


def _first(store: Store, subject: ReviewSubject, thread_id: str) -> Note:
    """What a thread begins with, also one that was deleted and keeps its place."""
    first = store.lookup(Note.at(about=subject.about, thread_id=thread_id, note_id=thread_id))
    if first is None:
        raise NotFound(f"there is no such thread on {subject.ref!r}")
    return first


def _as_first(note: Note) -> Note:
    if not note.is_first:
        raise InvalidValue("a thread is resolved as a whole, by the note it begins with, and not by a reply")
    return note


def _check_version(note: Note, version: int) -> None:
    if note.version != version:
        raise StaleNote(f"the note has version {note.version}, not {version}: it was changed since it was read")


# Deleting


def _leave_thread(change: Change, subject: ReviewSubject, reply: Note) -> None:
    """Remove a reply, and the empty place before it if it was the last."""
    first = _first(change.store, subject, reply.thread_id)
    change.delete(reply.ref, when=the(Note.author).equals(reply.author))
    if first.deleted_at is not None and first.replies == 1:
        _remove_thread(change, subject, first, notes=1)
        return
    change.patch(first.ref, the(Note.replies).add(-1), when=the(Note.replies).equals(first.replies))
    _count(change, subject, notes=-1)


def _blank(change: Change, subject: ReviewSubject, first: Note) -> None:
    was_open = first.status is NoteStatus.OPEN
    change.track(first)
    first.text, first.deleted_at, first.version = "", change.store.clock.now(), first.version + 1
    # With as many replies: were the last one deleted meanwhile, an empty place would be left for ever.
    change.save(first, when=the(Note.replies).equals(first.replies))
    _count(change, subject, notes=-1, open_threads=-1 if was_open else 0)


def _remove_thread(change: Change, subject: ReviewSubject, first: Note, *, notes: int) -> None:
    change.delete(first.ref, when=the(Note.replies).equals(first.replies) & the(Note.status).equals(first.status))
    is_open = first.status is NoteStatus.OPEN and first.deleted_at is None
    _count(change, subject, notes=-notes, open_threads=-1 if is_open else 0)


# What is known of the record


def remember(change: Change, subject: ReviewSubject) -> None:
    """Have it looked for from time to time whether a record still stands, as something of it is kept here."""
    _count(change, subject)


def _count(change: Change, subject: ReviewSubject, *, notes: int = 0, open_threads: int = 0) -> None:
    ref = ReviewedRecord.at(about=subject.about)
    known = change.store.lookup(ref)
    if known is None:
        change.create(_reviewed(subject, change.store.clock.now(), notes, open_threads))
        return
    if notes > 0 and known.notes >= MOST_NOTES:
        raise TooManyNotes(f"{subject.ref!r} has {known.notes} notes, which is as many as it can")
    if notes or open_threads:
        updates = (the(ReviewedRecord.notes).add(notes), the(ReviewedRecord.open_threads).add(open_threads))
        change.patch(ref, *updates)


def _reviewed(subject: ReviewSubject, now: datetime, notes: int, open_threads: int) -> ReviewedRecord:
    shape = subject.ref.shape
    return ReviewedRecord(
        about=subject.about,
        domain=shape.domain or "",
        collection=shape.collection,
        parts=subject.ref.texts(),
        project_id=subject.project,
        notes=max(notes, 0),
        open_threads=max(open_threads, 0),
        look_at=now + LOOKED_AT,
    )


def _told(change: Change, subject: ReviewSubject, note: Note, event: str) -> Note:
    """Tell of it: those who watch, and whoever messages are sent to; neither what it says."""
    now = change.store.clock.now()
    change.put(
        NoteNews(
            topic=subject.topic,
            project_id=subject.project,
            event=event,
            thread_id=note.thread_id,
            note_id=note.note_id,
            told_at=now,
            ttl=int((now + NEWS_KEPT).timestamp()),
        )
    )
    change.emit(event, subject.record, note_id=note.note_id, thread_id=note.thread_id)
    return note
