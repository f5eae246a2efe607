"""Links for guests at the service: made, listed and revoked by editors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import Path, Request

from penstock.auth.access import again, needs
from penstock.auth.caller import Caller, caller_of
from penstock.auth.guest_link import GuestLink, LinkStatus, LinkTarget, NewLink, create_link, new_link_token
from penstock.errors import InvalidKey, NotFound
from penstock.kernel.store import Store
from penstock.review.noting import remember
from penstock.review.review_item import ReviewDesk
from penstock.review.review_subject import ReviewSubject
from penstock.schema.role import Role
from penstock.web.reviewing.note_routes import NoteCursor, NoteLimit
from penstock.web.reviewing.record_parameter import RecordPath, subject_of
from penstock.web.reviewing.review_bodies import GuestLinkView, LinkPage, MakeLink, NewLinkView
from penstock.web.reviewing.review_views import link_fields, link_view
from penstock.web.reviewing.route_entry import RouteEntry

LinkId = Annotated[str, MaxLen(64), Path()]
_LINKS = "/api/review/links"


def link_routes(desk: ReviewDesk) -> Sequence[RouteEntry]:
    """The routes of links. The store is the whole one: no scope has links, so it is looked whose record each is of."""
    store = desk.context.store

    def made_again(request: Request, told: dict[str, Any]) -> NewLinkView:
        link = _link(store, caller_of(request), told["link_id"])
        return NewLinkView(**link_fields(link, store), path=None)

    @again(made_again)
    def make_link(request: Request, record: RecordPath, body: MakeLink) -> NewLinkView:
        """Let a guest look at one record, and perhaps say or decide something. Where it leads is told once: sent again
        under the same Idempotency-Key, the request makes no other link, and is answered without it."""
        caller = caller_of(request)
        subject = subject_of(caller, desk.known, record)
        made = store.retried(lambda: _made(store, caller, subject, body))
        return NewLinkView(**link_fields(made.record, store), path=f"/guest/{made.token}")

    @needs(Role.EDITOR)
    def links(request: Request, record: RecordPath, limit: NoteLimit = 50, cursor: NoteCursor = None) -> LinkPage:
        """The links that lead to a record, newest first, those that have ended among them."""
        caller = caller_of(request)
        subject = subject_of(caller, desk.known, record)
        page = store.page(GuestLink.of_record(about=subject.about), limit=limit, cursor=cursor)
        return LinkPage(items=[link_view(each, store) for each in page.records], next=page.cursor)

    def revoke_link(request: Request, link_id: LinkId) -> GuestLinkView:
        """End a link at once, for good."""
        caller = caller_of(request)

        def attempt() -> GuestLink:
            link = _link(store, caller, link_id)
            if link.status is LinkStatus.REVOKED:
                return link
            with store.change(by=caller.name, project=link.project_id) as change:
                return change.save(change.track(link).revoke(at=store.clock.now(), by=caller.name))

        return link_view(store.retried(attempt), store)

    return [
        RouteEntry("POST", _LINKS, make_link, NewLinkView, 201, gives=(409,)),
        RouteEntry("GET", _LINKS, links, LinkPage, gives=(400,)),
        RouteEntry("DELETE", f"{_LINKS}/{{link_id}}", revoke_link, GuestLinkView, gives=(409,)),
    ]


def _made(store: Store, caller: Caller, subject: ReviewSubject, body: MakeLink) -> NewLink:
    target = LinkTarget(
        subject.about,
        subject.ref.shape.domain or "",
        subject.ref.shape.collection,
        subject.ref.texts(),
        subject.project,
    )
    with store.change(by=caller.name, project=subject.project, once=caller.claim) as change:
        made = create_link(
            change,
            target,
            label=body.label,
            rights=frozenset(body.rights),
            role=caller.role or Role.VIEWER,
            lasts=timedelta(hours=body.hours),
            by=caller.name,
            token=new_link_token(),
        )
        remember(change, subject)
        change.result = {"link_id": made.record.link_id}
    return made


def _link(store: Store, caller: Caller, link_id: str) -> GuestLink:
    """A link that is the caller's to see: of their project, if they are bound to one."""
    try:
        found = store.lookup(GuestLink.at(link_id=link_id))
    except InvalidKey:
        found = None
    if found is None or caller.project not in (None, found.project_id):
        raise NotFound("there is no such link")
    return found
