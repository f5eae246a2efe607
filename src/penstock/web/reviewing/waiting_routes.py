"""What waits for a decision at the service, kind by kind, each list with its cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from annotated_types import Ge, Le, MaxLen
from fastapi import Path, Query, Request

from penstock.auth.caller import caller_of
from penstock.declare.record_address import path_of
from penstock.review.review_item import ReviewDesk
from penstock.review.review_subject import ReviewSubject
from penstock.review.short_title import short_title
from penstock.review.waiting_queue import WaitingPage, find_queue, waiting_page, waiting_queues
from penstock.web.reviewing.note_routes import NoteCursor, NoteLimit
from penstock.web.reviewing.review_bodies import WaitingGroup, WaitingGroups, WaitingRecord
from penstock.web.reviewing.review_views import LONGEST_TITLE
from penstock.web.reviewing.route_entry import RouteEntry

QueueKey = Annotated[str, MaxLen(200), Path(description="The key of a group.")]
FewLimit = Annotated[int, Ge(1), Le(20), Query(description="At most so many of each group.")]
_WAITING = "/api/review/waiting"


def waiting_routes(desk: ReviewDesk) -> Sequence[RouteEntry]:
    """The routes of what waits."""

    def titled(subject: ReviewSubject) -> str:
        return short_title(desk.title(subject), LONGEST_TITLE)

    def told(page: WaitingPage) -> WaitingGroup:
        shape = page.queue.entity.__shape__
        return WaitingGroup(
            key=page.queue.key,
            domain=shape.domain or "",
            collection=shape.collection,
            entity=shape.name,
            state=page.queue.state,
            count=page.count,
            items=[
                WaitingRecord(record=path_of(each.record), title=titled(each), states=desk.states(each))
                for each in page.subjects
            ],
            next=page.next,
        )

    def waiting(request: Request, limit: FewLimit = 10) -> WaitingGroups:
        """What waits for a decision that you may make: of each kind of record and each state, the first."""
        caller = caller_of(request)
        queues = waiting_queues(desk, caller)
        pages = [waiting_page(caller.store, queue, limit=limit) for queue in queues]
        return WaitingGroups(items=[told(page) for page in pages if page.subjects or page.next is not None])

    def waiting_group(
        request: Request, key: QueueKey, limit: NoteLimit = 50, cursor: NoteCursor = None
    ) -> WaitingGroup:
        """One group, and more of it."""
        caller = caller_of(request)
        return told(waiting_page(caller.store, find_queue(desk, caller, key), limit=limit, cursor=cursor))

    return [
        RouteEntry("GET", _WAITING, waiting, WaitingGroups),
        RouteEntry("GET", f"{_WAITING}/{{key}}", waiting_group, WaitingGroup, gives=(400,)),
    ]
