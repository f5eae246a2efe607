"""Notes at the service: lists of a record's threads, and what people do with notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from annotated_types import Ge, Le, MaxLen
from fastapi import Path, Query, Request
from starlette.responses import Response

from penstock.auth.answered import AnsweredChange
from penstock.auth.caller import Caller, caller_of
from penstock.declare.attr import the
from penstock.kernel.store import Store
from penstock.operations.reads import Query as StoreQuery
from penstock.review import noting
from penstock.review.note import Note, NoteStatus
from penstock.review.noting import NewNote, NoteAuthor, find_note
from penstock.review.review_item import ReviewDesk
from penstock.review.review_subject import ReviewSubject
from penstock.schema.role import Role
from penstock.web.reviewing.record_parameter import RecordPath, subject_of
from penstock.web.reviewing.review_bodies import (
    EditNote,
    MoveNote,
    NoteOrder,
    NotePage,
    NoteView,
    ReplyPage,
    ReplyView,
    WriteNote,
    WriteReply,
)
from penstock.web.reviewing.review_views import NoteReader
from penstock.web.reviewing.route_entry import RouteEntry

V = TypeVar("V")
NoteId = Annotated[str, MaxLen(64), Path()]
ThreadId = Annotated[str | None, MaxLen(64), Query(description="Of a reply: the note that its thread begins with.")]
NoteLimit = Annotated[int, Ge(1), Le(100), Query(description="At most so many.")]
NoteCursor = Annotated[str | None, MaxLen(4096), Query(description="`next` of the page before.")]
_ORDERS = {
    NoteOrder.NEWEST: Note.newest_threads,
    NoteOrder.OLDEST: Note.oldest_threads,
    NoteOrder.POSITION: Note.threads_in_place,
}
_NOTES = "/api/review/notes"


def author_of(caller: Caller) -> NoteAuthor:
    """Somebody with a key, as whoever reads a note is told of them."""
    name = caller.name.rpartition("#")[0] or caller.name
    return NoteAuthor(caller.name, name, is_admin=caller.role is not None and caller.role.includes(Role.ADMIN))


def note_page(
    store: Store,
    desk: ReviewDesk,
    subject: ReviewSubject,
    reader: NoteReader,
    *,
    order: NoteOrder = NoteOrder.NEWEST,
    status: NoteStatus | None = None,
    file: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> NotePage:
    """Some threads of a record."""
    query: StoreQuery[Note] = _ORDERS[order](begins=subject.about)
    if status is not None:
        query = query.where(the(Note.status).equals(status))
    if file is not None:
        query = query.where(the(Note.file).equals(file))
    page = store.page(query, limit=limit, cursor=cursor)
    notes, open_threads = desk.notes_of(store, subject)
    return NotePage(
        items=[reader.note(subject, each) for each in page.records],
        next=page.cursor,
        topic=subject.topic,
        notes=notes,
        open_threads=open_threads,
    )


def note_routes(desk: ReviewDesk) -> Sequence[RouteEntry]:
    """The routes of notes."""
    return [*_reading(desk), *_writing(desk), *_settling(desk)]


def _reading(desk: ReviewDesk) -> Sequence[RouteEntry]:
    def notes(
        request: Request,
        record: RecordPath,
        order: NoteOrder = NoteOrder.NEWEST,
        status: NoteStatus | None = None,
        file: Annotated[str | None, MaxLen(200), Query(description="Only those on this file.")] = None,
        limit: NoteLimit = 50,
        cursor: NoteCursor = None,
    ) -> NotePage:
        """The threads of a record, each with what begins it and its first replies."""
        caller = caller_of(request)
        subject, reader = subject_of(caller, desk.known, record), NoteReader(caller.store, caller.name)
        asked: dict[str, Any] = {"order": order, "status": status, "file": file, "limit": limit, "cursor": cursor}
        return note_page(caller.store, desk, subject, reader, **asked)

    def replies(
        request: Request, note_id: NoteId, record: RecordPath, limit: NoteLimit = 50, cursor: NoteCursor = None
    ) -> ReplyPage:
        """The replies to a note, in order."""
        caller = caller_of(request)
        subject, reader = subject_of(caller, desk.known, record), NoteReader(caller.store, caller.name)
        query = Note.of_record(about=subject.about, thread_id=note_id)
        page = caller.store.page(query, limit=limit, cursor=cursor)
        return ReplyPage(items=[reader.reply(n) for n in page.records if not n.is_first], next=page.cursor)

    def note(request: Request, note_id: NoteId, record: RecordPath) -> NoteView:
        """A thread, by the note that begins it."""
        caller = caller_of(request)
        subject = subject_of(caller, desk.known, record)
        found = find_note(caller.store, subject, note_id, also_deleted=True)
        return NoteReader(caller.store, caller.name).note(subject, found)

    return [
        RouteEntry("GET", _NOTES, notes, NotePage, gives=(400,)),
        RouteEntry("GET", f"{_NOTES}/{{note_id}}", note, NoteView),
        RouteEntry("GET", f"{_NOTES}/{{note_id}}/replies", replies, ReplyPage, gives=(400,)),
    ]


def _writing(desk: ReviewDesk) -> Sequence[RouteEntry]:
    def write_note(request: Request, record: RecordPath, body: WriteNote) -> NoteView:
        """Begin a thread about a record, one of its files, or a place in it."""
        caller = caller_of(request)
        subject = subject_of(caller, desk.known, record)
        said = new_note(desk, subject, body)

        def attempt(change: AnsweredChange) -> NoteView:
            written = noting.write(change, subject, author_of(caller), said)
            return change.answer(NoteReader(caller.store, caller.name).note(subject, written))

        return _changed(caller, attempt)

    def write_reply(request: Request, note_id: NoteId, record: RecordPath, body: WriteReply) -> ReplyView:
        """Add to a thread."""
        caller = caller_of(request)
        subject = subject_of(caller, desk.known, record)

        def attempt(change: AnsweredChange) -> ReplyView:
            written = noting.reply(change, subject, author_of(caller), note_id, body.text)
            return change.answer(NoteReader(caller.store, caller.name).reply(written))

        return _changed(caller, attempt)

    return [
        RouteEntry("POST", _NOTES, write_note, NoteView, 201, gives=(409,)),
        RouteEntry("POST", f"{_NOTES}/{{note_id}}/replies", write_reply, ReplyView, 201, gives=(409,)),
    ]


def _settling(desk: ReviewDesk) -> Sequence[RouteEntry]:
    def edit_note(request: Request, note_id: NoteId, record: RecordPath, body: EditNote) -> ReplyView:
        """Say something else instead: whoever wrote a note may, if nobody has changed it since it was read."""
        caller = caller_of(request)
        subject = subject_of(caller, desk.known, record)

        def attempt(change: AnsweredChange) -> ReplyView:
            note = find_note(caller.store, subject, note_id, thread_id=body.thread_id)
            noting.edit(change, subject, author_of(caller), note, version=body.version, text=body.text)
            return change.answer(NoteReader(caller.store, caller.name).reply(note))

        return _changed(caller, attempt)

    def moved(request: Request, note_id: str, record: str, body: MoveNote, how: Callable[..., Note]) -> NoteView:
        caller = caller_of(request)
        subject = subject_of(caller, desk.known, record)

        def attempt(change: AnsweredChange) -> NoteView:
            note = find_note(caller.store, subject, note_id)
            how(change, subject, author_of(caller), note, version=body.version)
            return change.answer(NoteReader(caller.store, caller.name).note(subject, note))

        return _changed(caller, attempt)

    def resolve_note(request: Request, note_id: NoteId, record: RecordPath, body: MoveNote) -> NoteView:
        """Say that a thread needs nobody any more."""
        return moved(request, note_id, record, body, noting.resolve)

    def reopen_note(request: Request, note_id: NoteId, record: RecordPath, body: MoveNote) -> NoteView:
        """Say that it does after all."""
        return moved(request, note_id, record, body, noting.reopen)

    def delete_note(request: Request, note_id: NoteId, record: RecordPath, thread_id: ThreadId = None) -> Response:
        """Remove a note: whoever wrote it may, and administrators. The audit trail keeps that there was one."""
        caller = caller_of(request)
        subject = subject_of(caller, desk.known, record)

        def attempt(change: AnsweredChange) -> Response:
            note = find_note(caller.store, subject, note_id, thread_id=thread_id)
            noting.delete(change, subject, author_of(caller), note)
            return change.answer(Response(status_code=204))

        return _changed(caller, attempt)

    one = f"{_NOTES}/{{note_id}}"
    return [
        RouteEntry("PATCH", one, edit_note, ReplyView, gives=(409,)),
        RouteEntry("POST", f"{one}/resolve", resolve_note, NoteView, gives=(409,)),
        RouteEntry("POST", f"{one}/reopen", reopen_note, NoteView, gives=(409,)),
        RouteEntry("DELETE", one, delete_note, None, 204, gives=(409,)),
    ]


def new_note(desk: ReviewDesk, subject: ReviewSubject, said: Any) -> NewNote:
    """What somebody says, if the file they speak of is one of the record's."""
    if said.file is not None:
        desk.check_file(subject, said.file)
    return NewNote(said.text, said.pin, said.file, said.edition)


def _changed(caller: Caller, attempt: Callable[[AnsweredChange], V]) -> V:
    """What a change of the caller gives, made anew as long as others are quicker."""

    def try_once() -> V:
        with caller.change() as change:
            return attempt(change)

    return caller.store.retried(try_once)
