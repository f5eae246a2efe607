"""Reviews as answers show them, with URLs that were signed just now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec

from penstock.auth.caller import Caller
from penstock.auth.guest_link import GuestLink, LinkRight
from penstock.declare.entity import Entity
from penstock.declare.record_address import path_of
from penstock.kernel.store import Store
from penstock.media.content_type import SHOWN_INLINE
from penstock.media.waveform import Waveform
from penstock.operations.reads import Ref
from penstock.ports.object_store import ObjectStore
from penstock.review.note import Note
from penstock.review.review_item import ReviewDesk, ReviewItem, ShownFile
from penstock.review.review_subject import ReviewSubject
from penstock.review.reviewable import ReviewChoice
from penstock.review.short_title import short_title
from penstock.review.viewer import FilmFacts
from penstock.schema.role import Role
from penstock.web.reviewing.review_bodies import (
    ChoiceView,
    FilmView,
    GuestLinkView,
    NoteView,
    PlotView,
    ReplyView,
    ReviewFileView,
    ReviewItemView,
    VersionInStack,
    WaveformView,
)

DECISIONS = "/api/review/decisions"
URLS_LAST, GUEST_URLS_LAST = timedelta(hours=1), timedelta(minutes=10)
_FIRST_REPLIES = 20
LONGEST_TITLE = 200
"Of a record, as people read it."


@dataclass(frozen=True, slots=True)
class NoteReader:
    """Who reads notes: which of them are theirs."""

    store: Store
    author: str

    def note(self, subject: ReviewSubject, note: Note) -> NoteView:
        """What begins a thread, with the first replies."""
        return NoteView(
            **self._told(note),
            file=note.file,
            edition=note.edition,
            pin=note.pinned,
            status=note.status,
            resolved_at=note.resolved_at,
            resolved_by=note.resolved_by,
            deleted=note.deleted_at is not None,
            replies=note.replies,
            first_replies=self._replies(subject, note) if note.replies else [],
        )

    def reply(self, note: Note) -> ReplyView:
        return ReplyView(**self._told(note))

    def _replies(self, subject: ReviewSubject, first: Note) -> list[ReplyView]:
        query = Note.of_record(about=subject.about, thread_id=first.thread_id)
        page = self.store.page(query, limit=_FIRST_REPLIES + 1)
        return [self.reply(each) for each in page.records if not each.is_first][:_FIRST_REPLIES]

    def _told(self, note: Note) -> dict[str, Any]:
        names = ("note_id", "thread_id", "text", "version", "created_at", "edited_at")
        told = {name: getattr(note, name) for name in names}
        return {
            **told,
            "author": note.author_name,
            "guest": note.link_id is not None,
            "mine": note.author == self.author,
        }


class ItemTeller:
    """Tells review items, to people and to guests."""

    def __init__(self, desk: ReviewDesk) -> None:
        self._desk = desk

    def to_caller(self, caller: Caller, subject: ReviewSubject) -> ReviewItemView:
        """An item as somebody with a key sees it."""
        item = self._desk.item(subject)
        versions, more = self._desk.versions(caller.store, subject)
        previous, following = self._desk.neighbours(caller.store, subject)
        is_editor = caller.role is not None and caller.role.includes(Role.EDITOR)
        return ReviewItemView(
            **self._shared(caller.store, item, URLS_LAST),
            record=path_of(subject.record),
            topic=subject.topic,
            decisions=[choice_view(choice, item) for choice in item.choices_of(caller.role)],
            may_comment=is_editor,
            versions=[self._version(subject, ReviewSubject(each.ref, each)) for each in versions],
            more_versions=more,
            previous=self._path(caller.store, previous),
            next=self._path(caller.store, following),
        )

    def to_guest(self, store: Store, link: GuestLink, subject: ReviewSubject, *, path: str) -> ReviewItemView:
        """The one item that a link leads to, and nothing that leads away from it."""
        item = self._desk.item(subject)
        choices = item.choices_of(link.role) if link.may(LinkRight.DECIDE) else []
        return ReviewItemView(
            **self._shared(store, item, GUEST_URLS_LAST),
            record=None,
            topic=None,
            decisions=[_by_review(choice, item, f"{path}/decisions") for choice in choices],
            may_comment=link.may(LinkRight.COMMENT),
            versions=[],
            more_versions=False,
            previous=None,
            next=None,
        )

    def _shared(self, store: Store, item: ReviewItem, lasts: timedelta) -> dict[str, Any]:
        notes, open_threads = self._desk.notes_of(store, item.subject)
        shape = item.subject.ref.shape
        return {
            "domain": shape.domain or "",
            "entity": shape.name,
            "title": short_title(item.title, LONGEST_TITLE),
            "states": item.states,
            "mark": item.mark,
            "files": [file_view(self._desk.context.objects, each, lasts) for each in item.files],
            "notes": notes,
            "open_threads": open_threads,
        }

    def _version(self, shown: ReviewSubject, other: ReviewSubject) -> VersionInStack:
        return VersionInStack(
            record=path_of(other.record),
            title=short_title(self._desk.title(other), LONGEST_TITLE),
            states=self._desk.states(other),
            shown=other.about == shown.about,
            made_at=made_at(other.record),
        )

    def _path(self, store: Store, ref: Ref[Any] | None) -> str | None:
        found = None if ref is None else store.lookup(ref)
        return None if found is None else path_of(found)


def made_at(record: Entity) -> datetime | None:
    """When a record was made: by a field of the usual name, or the moment in its key."""
    values = record.__dict__
    named = [values.get(name) for name in ("created_at", "made_at", "ts")]
    found = [*named, *(values[part.name] for part in record.__shape__.key_fields)]
    return next((each for each in found if isinstance(each, datetime)), None)


def file_view(objects: ObjectStore, file: ShownFile, lasts: timedelta) -> ReviewFileView:
    """A file, and where it can be got for now."""
    declared, stored = file.declared, file.stored
    shown_as = stored.content_type if stored is not None and stored.content_type in SHOWN_INLINE else None
    signed = None if stored is None else objects.download_url(declared.key, expires=lasts, show_as=shown_as)
    poster = None if declared.poster is None else objects.download_url(declared.poster, expires=lasts)
    return ReviewFileView(
        file=declared.name,
        title=declared.title or declared.name,
        viewer=file.viewer,
        there=stored is not None,
        content_type=None if stored is None else stored.content_type,
        size=None if stored is None else stored.size,
        edition=file.edition,
        url=None if signed is None else signed.url,
        poster_url=None if poster is None else poster.url,
        stream=declared.stream,
        film=None if file.film is None else film_view(file.film),
        urls_expire_at=None if signed is None else signed.expires_at,
    )


def choice_view(choice: ReviewChoice, item: ReviewItem) -> ChoiceView:
    """A decision, and the route that makes it."""
    record = item.subject.record
    if choice.route is None:
        return _by_review(choice, item, f"{DECISIONS}?{urlencode({'record': path_of(record)})}")
    method, _, path = choice.route(record).partition(" ")
    body = choice.body(record)
    return ChoiceView(
        decision=choice.kind,
        title=choice.title,
        reason=choice.reason,
        reason_field=choice.reason_field,
        method=method,
        path=path,
        body=None if body is None else dict(body),
    )


def _by_review(choice: ReviewChoice, item: ReviewItem, path: str) -> ChoiceView:
    """The same by the route that makes any decision."""
    return ChoiceView(
        decision=choice.kind,
        title=choice.title,
        reason=choice.reason,
        reason_field="reason",
        method="POST",
        path=path,
        body={"decision": choice.kind.value, "mark": item.mark},
    )


def film_view(facts: FilmFacts) -> FilmView:
    return FilmView(**asdict(facts))


def waveform_view(found: Waveform) -> WaveformView:
    duration_ms = round(found.duration.total_seconds() * 1000)
    return WaveformView(**asdict(found), duration_ms=duration_ms)


def plot_view(contents: bytes) -> PlotView:
    told: Mapping[str, Any] = msgspec.json.decode(contents)
    return PlotView(**told)


def link_view(link: GuestLink, store: Store) -> GuestLinkView:
    """A link, without its token."""
    return GuestLinkView(**link_fields(link, store))


def link_fields(link: GuestLink, store: Store) -> dict[str, Any]:
    """What is told of a link."""
    names = ("link_id", "label", "status", "created_at", "created_by", "expires_at", "revoked_at", "visits")
    return {
        **{name: getattr(link, name) for name in (*names, "last_visit_at")},
        "rights": sorted(link.rights or ()),
        "works": link.works_at(store.clock.now()),
    }
