"""Counting: how often a video was seen.

A view is counted once for a request id, however often its request comes: the commit that counts it also writes down for
which request it did, and that is known for a day. In bursts, where a deployment has chosen that, views are counted in
memory first (see `BurstCounter`).
"""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import UUID

from penstock.declare.attr import the
from penstock.domains.videos.auditing import corrected_views
from penstock.domains.videos.burst_counter import BurstCounter
from penstock.domains.videos.model import Video, ViewMark
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import Conflict, InvalidValue
from penstock.kernel.store import Store

REMEMBERED = timedelta(days=1)
"So long a request is known that was counted."
LONGEST_REQUEST_ID, PRINTED = 200, r"^[\x21-\x7e]+$"
"An id has so many signs at most; of those that can be printed, and no space."


def count_view(library: VideoLibrary, video_id: UUID, *, request_id: str | None = None) -> int:
    """Count a view of a video that is there, once for a request id; how often it was seen by now.

    A request without an id, and without a claim of its own, is one of its own each time it comes.
    """
    _check(request_id)
    counter = _counter_of(library)
    if counter is not None:
        return counter.count(video_id, request_id=request_id)
    return _count_exactly(library, video_id, request_id)


def count_known_view(library: VideoLibrary, video_id: UUID, *, request_id: str | None = None) -> int | None:
    """The same where it takes no waiting, as within a burst; None if the view is yet to be counted."""
    _check(request_id)
    counter = _counter_of(library)
    return None if counter is None else counter.count_known(video_id, request_id=request_id)


def correct_views(library: VideoLibrary, video_id: UUID, view_count: int, *, by: str, why: str) -> int:
    """Say how often a video was seen in truth; views that come meanwhile are added to that."""
    library.video(video_id)
    with library.store.change(by=by, why=why) as change:
        change.patch(Video.at(video_id=video_id), the(Video.view_count).set(view_count))
        # By this change alone: whoever follows the feed takes it for a view.
        change.create(corrected_views(library.store, video_id))
    return view_count


def forget_views(store: Store, video_id: UUID) -> None:
    """Forget which requests were counted for a video that is gone."""
    store.delete_many(mark.ref for mark in store.find(ViewMark.of_video(video_id=video_id)))


def _count_exactly(library: VideoLibrary, video_id: UUID, request_id: str | None) -> int:
    store = library.store
    until = int((store.clock.now() + REMEMBERED).timestamp())
    mark = None if request_id is None else ViewMark(video_id=video_id, request_id=request_id, ttl=until)
    try:
        with store.change(once=library.once) as change:
            change.patch(Video.at(video_id=video_id), the(Video.view_count).add(1))
            if mark is not None:
                change.create(mark)
            change.result = {"video_id": str(video_id)}
    except Conflict as refused:
        if type(refused) is not Conflict:
            raise  # a claim that was lost
        seen = library.video(video_id).view_count  # or there is none
        if mark is None or store.lookup(mark.ref) is None:
            raise
        if library.once is not None:
            with store.change(once=library.once) as change:
                change.result = {"video_id": str(video_id)}
        return seen or 0
    # Others may have been counted since; neither answer is wrong.
    return library.video(video_id).view_count or 0


def _counter_of(library: VideoLibrary) -> BurstCounter | None:
    # It works on the whole store. Whoever has a single project of it has no videos.
    return library.counter if library.store.project is None else None


def _check(request_id: str | None) -> None:
    if request_id is None:
        return
    if len(request_id) > LONGEST_REQUEST_ID or not re.fullmatch(PRINTED, request_id):
        raise InvalidValue(
            f"a request id has 1 to {LONGEST_REQUEST_ID} printable signs and no space, not {request_id[:20]!r}"
        )
