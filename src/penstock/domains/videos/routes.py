"""The API under /api/vm: parse, call one action, render."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, RedirectResponse

from penstock.auth.access import again, brief, needs, public
from penstock.auth.caller import Caller, caller_of
from penstock.domains.videos import editing, finding, submissions, video_removal, view_counting, watching
from penstock.domains.videos.model import Submission
from penstock.domains.videos.moments import Moment
from penstock.domains.videos.tagging import MOST_TAGS
from penstock.domains.videos.video_bodies import CorrectViews, EditVideo, FileSent, SeenVideo, SetEnd, SubmitVideo
from penstock.domains.videos.video_event import VideoEvent
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.video_views import (
    SubmissionPage,
    SubmissionView,
    VideoEventPage,
    VideoPage,
    VideoView,
    ViewCount,
    submission_view,
    video_event_view,
    video_in_list,
    video_view,
)
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext

WATCHED_A_MINUTE = 3000
"Playlists and segments that one address asks for: many watch from behind one."
PLAYLIST, TRACK = "application/vnd.apple.mpegurl", "text/vtt"

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[str | None, Query(max_length=4096)]
Since = Annotated[Moment | None, Query(description="The first second since 1970 that counts.")]
Until = Annotated[Moment | None, Query(description="The last second since 1970 that counts.")]
Word = Annotated[str | None, Query(min_length=1, max_length=200)]


def who_asks(request: Request) -> Caller:
    """Whoever the service has let in."""
    return caller_of(request)


Who = Annotated[Caller, Depends(who_asks)]


def routes(context: DomainContext) -> APIRouter:
    """The router of a running system."""
    router = APIRouter(prefix="/api/vm", tags=["videos"])
    library = VideoLibrary.within(context)
    for add in (_add_submissions, _add_videos, _add_counting, _add_audit, _add_watching):
        add(router, library)
    return router


def _add_submissions(router: APIRouter, library: VideoLibrary) -> None:
    def told_again(request: Request, told: dict[str, Any]) -> SubmissionView:
        return submission(caller_of(request), UUID(told["video_id"]))

    @router.post("/videos", status_code=201)
    @again(told_again)
    def submit(who: Who, body: SubmitVideo) -> SubmissionView:
        """Announce a video, and learn where to send its file."""
        said = {**body.model_dump(), "tags": frozenset(body.tags)}
        wanted = submissions.NewVideo(**said)
        return submission_view(submissions.submit(library.used_by(who), wanted, by=who.name))

    @router.get("/submissions/{video_id}")
    def submission(who: Who, video_id: UUID) -> SubmissionView:
        """What became of a file; or where to send what is missing of it, for those who may."""
        here = library.used_by(who)
        found = submissions.submission_of(here, video_id)
        shown = found if who.may_send() else submissions.Reserved(found.submission, None)
        return submission_view(shown, inspected=submissions.inspected_part(here, found.submission))

    @router.get("/submissions")
    def list_submissions(
        who: Who,
        user_id: Annotated[str, Query(min_length=1, max_length=200)],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> SubmissionPage:
        """What a user has sent, newest first."""
        page = who.store.page(Submission.of_user(user_id=user_id), limit=limit, cursor=cursor)
        items = [submission_view(submissions.Reserved(each, None)) for each in page.records]
        return SubmissionPage(items=items, next=page.cursor)

    @router.post("/submissions/{video_id}/complete", status_code=202)
    @again(told_again)
    def complete(who: Who, video_id: UUID, body: FileSent | None = None) -> SubmissionView:
        """Say that the file is there. It is verified and looked at, and becomes a video or says why not."""
        here = library.used_by(who)
        told = submissions.complete(here, video_id, sha256=body.sha256 if body else None, by=who.name)
        return submission_view(submissions.Reserved(told, None))


def _add_videos(router: APIRouter, library: VideoLibrary) -> None:
    @router.get("/videos")
    def find(
        who: Who,
        user_id: Word = None,
        category: Word = None,
        tag: Annotated[list[str] | None, Query(max_length=MOST_TAGS)] = None,
        since: Since = None,
        until: Until = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> VideoPage:
        """Videos of a user, of a category, of both, or with all of some tags; newest first, both moments included."""
        here = library.used_by(who)
        asked = finding.VideoQuestion(user_id, category, frozenset(tag or ()), since, until)
        found = finding.find_videos(here.store, asked, limit=limit, cursor=cursor)
        return VideoPage(items=[video_in_list(here, video) for video in found.videos], next=found.cursor)

    @router.get("/videos/{video_id}")
    def video(who: Who, video_id: UUID) -> VideoView:
        """A video, and where it can be watched."""
        return video_view(library, library.used_by(who).video(video_id))

    @router.patch("/videos/{video_id}")
    def edit(who: Who, video_id: UUID, body: EditVideo) -> VideoView:
        """Change what is said of a video; refused with the version it has by now if another was quicker."""
        here = library.used_by(who)
        return video_view(library, editing.edit_video(here, video_id, body.changes, version=body.version, by=who.name))

    @router.put("/videos/{video_id}/end")
    def set_end(who: Who, video_id: UUID, body: SetEnd | None = None) -> VideoView:
        """Say when a video ends; in a day, if nothing is said. An expiry_time of null takes its end away."""
        here = library.used_by(who)
        moment = (body or SetEnd()).moment(here.store.clock.now())
        return video_view(library, editing.set_end(here, video_id, moment, by=who.name))

    @router.delete("/videos/{video_id}/end")
    def keep(who: Who, video_id: UUID) -> VideoView:
        """Let a video stay."""
        return video_view(library, editing.set_end(library.used_by(who), video_id, None, by=who.name))

    @router.delete("/videos/{video_id}", status_code=204)
    def delete(who: Who, video_id: UUID) -> None:
        """Remove a video, and everything that was made of it."""
        video_removal.delete_video(library.used_by(who), video_id, by=who.name)


def _add_counting(router: APIRouter, library: VideoLibrary) -> None:
    def told_again(request: Request, told: dict[str, Any]) -> ViewCount:
        video = library.used_by(caller_of(request)).video(UUID(told["video_id"]))
        return ViewCount(video_id=video.video_id, view_count=video.view_count or 0)

    # Whoever may see a video may say so. A view that is counted in memory is not worth a thread.
    @router.post("/videos/{video_id}/views", response_model=ViewCount)
    @needs(Role.VIEWER)
    @again(told_again)
    @_brief_if(library.counter is not None)
    async def count(request: Request, video_id: UUID, body: SeenVideo | None = None) -> Response:
        """Count a view, once for its request_id or its Idempotency-Key; how often the video was seen by now."""
        here, request_id = library.used_by(caller_of(request)), body.request_id if body else None
        seen = view_counting.count_known_view(here, video_id, request_id=request_id)
        if seen is None:
            seen = await run_in_threadpool(view_counting.count_view, here, video_id, request_id=request_id)
        told = ViewCount(video_id=video_id, view_count=seen)
        return Response(told.model_dump_json(), media_type="application/json")

    @router.put("/videos/{video_id}/view-count")
    @needs(Role.ADMIN)
    def correct(who: Who, video_id: UUID, body: CorrectViews) -> ViewCount:
        """Say how often a video was seen in truth, and why that is said."""
        here, said = library.used_by(who), body.view_count
        view_counting.correct_views(here, video_id, said, by=who.name, why=body.why)
        return ViewCount(video_id=video_id, view_count=said)


def _add_audit(router: APIRouter, library: VideoLibrary) -> None:
    @router.get("/videos/{video_id}/audit")
    @needs(Role.ADMIN)
    def audit(who: Who, video_id: UUID, limit: Limit = 50, cursor: Cursor = None) -> VideoEventPage:
        """What became of a video, newest first, whoever did it; also of one that is gone, for 90 days."""
        page = who.store.page(VideoEvent.of_video(video_id=video_id), limit=limit, cursor=cursor)
        return VideoEventPage(items=[video_event_view(each) for each in page.records], next=page.cursor)


def _add_watching(router: APIRouter, library: VideoLibrary) -> None:
    # Players send no keys: whoever has the link may watch until it ends.
    @router.get("/watch/{video_id}/{ticket}/master.m3u8", response_class=PlainTextResponse)
    @public(per_minute=WATCHED_A_MINUTE)
    def master(video_id: UUID, ticket: str) -> PlainTextResponse:
        """The rungs of a stream; a player chooses among them."""
        video = watching.watched(library, video_id, ticket)
        return _told(watching.master_playlist(library, video), PLAYLIST)

    @router.get("/watch/{video_id}/{ticket}/scrub.vtt", response_class=PlainTextResponse)
    @public(per_minute=WATCHED_A_MINUTE)
    def scrub_track(video_id: UUID, ticket: str) -> PlainTextResponse:
        """Which small picture to show of which time."""
        return _told(watching.scrub_track(library, watching.watched(library, video_id, ticket)), TRACK)

    @router.get("/watch/{video_id}/{ticket}/{rung}.m3u8", response_class=PlainTextResponse)
    @public(per_minute=WATCHED_A_MINUTE)
    def playlist(video_id: UUID, ticket: str, rung: str) -> PlainTextResponse:
        """The segments of a rung, each at a URL that leads to its bytes."""
        video = watching.watched(library, video_id, ticket)
        return _told(watching.media_playlist(library, video, rung), PLAYLIST)

    @router.get("/watch/{video_id}/{ticket}/{rung}/{segment}", response_class=RedirectResponse, status_code=302)
    @public(per_minute=WATCHED_A_MINUTE)
    def segment(video_id: UUID, ticket: str, rung: str, segment: str) -> RedirectResponse:
        """The way to a segment that is shown later than what the playlist has signed."""
        video = watching.watched(library, video_id, ticket)
        url = watching.segment_url(library, video, rung, segment).url
        return RedirectResponse(url, status_code=302, headers=_FRESH)


def _brief_if(in_memory: bool) -> Callable[[Endpoint], Endpoint]:
    return brief if in_memory else lambda endpoint: endpoint


_FRESH = {"Cache-Control": "no-store"}


def _told(text: str, media_type: str) -> PlainTextResponse:
    return PlainTextResponse(text, media_type=media_type, headers=_FRESH)
