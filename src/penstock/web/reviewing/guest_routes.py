"""What the holder of a link does: look at one record and its files, read and write notes, and decide if they may.

Every request names the link in its path, so the log has the route's template instead. A link that never was, has ended
or was revoked is answered alike. The store is the whole one, and nothing is ever asked of it but the link's own record:
no request names another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

from annotated_types import MaxLen
from fastapi import Path, Request
from starlette.responses import HTMLResponse, Response

from penstock.auth.access import again, heavy, personal, public
from penstock.auth.answered import AnsweredChange
from penstock.auth.caller import Caller, caller_of
from penstock.auth.guest_link import GuestLink, LinkRight, checked_name, find_link, note_visit
from penstock.errors import NotPermitted
from penstock.kernel.store import Store
from penstock.operations.reads import Ref
from penstock.review import noting
from penstock.review.noting import NoteAuthor
from penstock.review.review_item import ReviewDesk
from penstock.review.review_subject import ReviewSubject
from penstock.review.viewer_data import film_of, plot_of, waveform_of
from penstock.web.identity import Guard
from penstock.web.reviewing.errors import NoSuchLink
from penstock.web.reviewing.guest_page import GUEST_HEADERS, guest_page
from penstock.web.reviewing.item_routes import FileParameter
from penstock.web.reviewing.note_routes import NoteCursor, NoteId, NoteLimit, new_note, note_page
from penstock.web.reviewing.review_bodies import (
    FilmView,
    GuestDecision,
    GuestNote,
    GuestReply,
    NoteOrder,
    NotePage,
    NoteView,
    PlotView,
    ReplyView,
    ReviewItemView,
    WaveformView,
)
from penstock.web.reviewing.review_views import ItemTeller, NoteReader, film_view, plot_view, waveform_view
from penstock.web.reviewing.route_entry import RouteEntry

V = TypeVar("V")
LinkToken = Annotated[str, MaxLen(200), Path()]
_LOOKS, _WRITES = 120, 20
"Requests a minute from one address, to each route."


@dataclass(frozen=True, slots=True)
class GuestVisit:
    """A guest at the one record their link leads to."""

    store: Store
    link: GuestLink
    subject: ReviewSubject
    path: str

    def author(self, name: str) -> NoteAuthor:
        """The guest, under the name they give; two who have the same link and name are one."""
        known = checked_name(name)
        return NoteAuthor(f"guest:{self.link.link_id}:{known}", known, link_id=self.link.link_id)

    def needs(self, right: LinkRight) -> None:
        """NotPermitted if the link does not give this right."""
        if not self.link.may(right):
            raise NotPermitted(f"this link does not let anybody {right.value}; ask whoever sent it for another")

    def caller(self, caller: Caller, author: NoteAuthor) -> Caller:
        """Who makes what they do, in the audit trail."""
        return replace(caller, name=f"{author.name} (guest)#{self.link.link_id}", store=self.store)


class GuestDoor:
    """Lets guests in by their links."""

    def __init__(self, desk: ReviewDesk) -> None:
        self.desk, self.teller = desk, ItemTeller(desk)
        self._store = desk.context.store

    def visit(self, request: Request, token: str) -> GuestVisit:
        """The guest of a link that works; NoSuchLink for any other, which is written down."""
        link = find_link(self._store, token)
        subject = None if link is None else self._subject(link)
        if link is None or subject is None:
            refused = NoSuchLink("this link leads nowhere: it has ended, or was never made")
            guard: Guard = request.app.state.guard
            guard.note(request, refused, request.scope["route"].path_format)
            raise refused
        return GuestVisit(self._store, link, subject, f"/guest/{token}")

    def item(self, request: Request, token: str) -> ReviewItemView:
        """The item, and that it was looked at."""
        visit = self.visit(request, token)
        note_visit(self._store, visit.link)
        return self.teller.to_guest(visit.store, visit.link, visit.subject, path=visit.path)

    def notes(self, visit: GuestVisit, **asked: Any) -> NotePage:
        """The notes on the item."""
        reader = NoteReader(visit.store, "")
        page = note_page(visit.store, self.desk, visit.subject, reader, **asked)
        return page.model_copy(update={"topic": None})

    def _subject(self, link: GuestLink) -> ReviewSubject | None:
        kind = self.desk.known.lookup_kind(link.domain, link.collection)
        if kind is None:
            return None
        ref: Ref[Any] = self.desk.known.ref(kind, link.parts)
        record = self._store.lookup(ref)
        return None if record is None else ReviewSubject(ref, record)


GuestShell = Callable[[Request], Response | None]
"The console's page, for a guest; None where the console was not built."


def guest_routes(desk: ReviewDesk, shell: GuestShell) -> Sequence[RouteEntry]:
    """The routes of guests."""
    door = GuestDoor(desk)
    return [*_looking(door, shell), *_drawing(door), *_speaking(door)]


def _looking(door: GuestDoor, shell: GuestShell) -> Sequence[RouteEntry]:
    @personal
    @public(per_minute=_LOOKS)
    def guest_start(request: Request, token: LinkToken) -> Response:
        """A page for whoever was sent a link: with viewers for a browser, which says so where the link leads nowhere;
        without a script for all else."""
        whole = shell(request) if "text/html" in request.headers.get("accept", "") else None
        if whole is not None:
            whole.headers.update({**GUEST_HEADERS, "Content-Security-Policy": whole.headers["content-security-policy"]})
            return whole
        item = door.item(request, token)
        notes = door.notes(door.visit(request, token), order=NoteOrder.OLDEST)
        return HTMLResponse(guest_page(item, notes), headers=GUEST_HEADERS)

    @personal
    @public(per_minute=_LOOKS)
    def guest_item(request: Request, token: LinkToken) -> ReviewItemView:
        """The one item that a link leads to."""
        return door.item(request, token)

    @personal
    @public(per_minute=_LOOKS)
    def guest_notes(
        request: Request,
        token: LinkToken,
        order: NoteOrder = NoteOrder.NEWEST,
        limit: NoteLimit = 50,
        cursor: NoteCursor = None,
    ) -> NotePage:
        """The notes on it."""
        return door.notes(door.visit(request, token), order=order, limit=limit, cursor=cursor)

    return [
        RouteEntry("GET", "/guest/{token}", guest_start, None, is_page=True),
        RouteEntry("GET", "/guest/{token}/item", guest_item, ReviewItemView),
        RouteEntry("GET", "/guest/{token}/notes", guest_notes, NotePage, gives=(400,)),
    ]


def _drawing(door: GuestDoor) -> Sequence[RouteEntry]:
    def shown(request: Request, token: str, file: str) -> Any:
        return door.desk.item(door.visit(request, token).subject).file(file)

    @personal
    @heavy("decoding")
    @public(per_minute=_WRITES)
    def guest_film(request: Request, token: LinkToken, file: FileParameter) -> FilmView:
        """How many frames a film of the item has, and how fast they follow each other."""
        return film_view(film_of(door.desk.sidecars, shown(request, token, file)))

    @personal
    @heavy("decoding")
    @public(per_minute=_WRITES)
    def guest_waveform(request: Request, token: LinkToken, file: FileParameter) -> WaveformView:
        """How loud a sound of the item is."""
        return waveform_view(waveform_of(door.desk.sidecars, shown(request, token, file)))

    @personal
    @heavy("decoding")
    @public(per_minute=_WRITES)
    def guest_plot(request: Request, token: LinkToken, file: FileParameter) -> PlotView:
        """The curves in a file of the item."""
        return plot_view(plot_of(door.desk.sidecars, shown(request, token, file)))

    return [
        RouteEntry("GET", "/guest/{token}/film", guest_film, FilmView),
        RouteEntry("GET", "/guest/{token}/waveform", guest_waveform, WaveformView),
        RouteEntry("GET", "/guest/{token}/plot", guest_plot, PlotView),
    ]


def _speaking(door: GuestDoor) -> Sequence[RouteEntry]:
    @personal
    @public(per_minute=_WRITES)
    def guest_write(request: Request, token: LinkToken, body: GuestNote) -> NoteView:
        """Begin a thread, if the link lets one comment."""
        visit = door.visit(request, token)
        visit.needs(LinkRight.COMMENT)
        author, said = visit.author(body.name), new_note(door.desk, visit.subject, body)

        def attempt(change: AnsweredChange) -> NoteView:
            written = noting.write(change, visit.subject, author, said)
            return change.answer(NoteReader(visit.store, author.id).note(visit.subject, written))

        return _changed(visit, caller_of(request), author, attempt)

    @personal
    @public(per_minute=_WRITES)
    def guest_reply(request: Request, token: LinkToken, note_id: NoteId, body: GuestReply) -> ReplyView:
        """Add to a thread, if the link lets one comment."""
        visit = door.visit(request, token)
        visit.needs(LinkRight.COMMENT)
        author = visit.author(body.name)

        def attempt(change: AnsweredChange) -> ReplyView:
            written = noting.reply(change, visit.subject, author, note_id, body.text)
            return change.answer(NoteReader(visit.store, author.id).reply(written))

        return _changed(visit, caller_of(request), author, attempt)

    def decided(request: Request, told: dict[str, Any]) -> ReviewItemView:
        return door.item(request, request.path_params["token"])

    @personal
    @public(per_minute=_WRITES)
    @again(decided)
    def guest_decide(request: Request, token: LinkToken, body: GuestDecision) -> ReviewItemView:
        """Decide, if the link lets one; as whoever made the link could."""
        visit = door.visit(request, token)
        visit.needs(LinkRight.DECIDE)
        caller = visit.caller(caller_of(request), visit.author(body.name))
        role, reason = visit.link.role, body.reason
        door.desk.decide(caller, visit.subject, body.decision, role=role, mark=body.mark, reason=reason)
        return door.item(request, token)

    return [
        RouteEntry("POST", "/guest/{token}/notes", guest_write, NoteView, 201, gives=(409,)),
        RouteEntry("POST", "/guest/{token}/notes/{note_id}/replies", guest_reply, ReplyView, 201, gives=(409,)),
        RouteEntry("POST", "/guest/{token}/decisions", guest_decide, ReviewItemView, gives=(409,)),
    ]


def _changed(visit: GuestVisit, caller: Caller, author: NoteAuthor, attempt: Callable[[AnsweredChange], V]) -> V:
    guest = visit.caller(caller, author)

    def try_once() -> V:
        with guest.change() as change:
            return attempt(change)

    return visit.store.retried(try_once)
