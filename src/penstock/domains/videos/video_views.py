"""Videos as answers show them, with URLs that were signed just now and end with the video."""

from __future__ import annotations

from typing import Annotated

from pydantic import UUID4, BaseModel, BeforeValidator, Field

from penstock.declare.units import Count, EpochSeconds, Milliseconds, UtcMicros, UtcSeconds
from penstock.domains.videos.encoding import transcode
from penstock.domains.videos.model import SubmissionStatus, Video, VideoStatus
from penstock.domains.videos.submissions import Reserved
from penstock.domains.videos.video_event import EventCause, EventKind, VideoEvent
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.watching import watch_path
from penstock.files.signed_view import SignedView, UrlOf, shared_fields
from penstock.files.upload_view import UploadView
from penstock.kernel.record_name import name_of
from penstock.kernel.store import Store
from penstock.work import Progress, Task

API = "/api/vm"


def _seen(count: int | None) -> int:
    return count or 0


SeenCount = Annotated[Count, BeforeValidator(_seen)]
"Of a video that nobody has seen, no count is stored."


class VideoInList(SignedView):
    """A video, and its picture."""

    video_id: UUID4
    user_id: str
    created_at: EpochSeconds = Field(description="When its file was accepted, in seconds since 1970.")
    title: str
    duration: Milliseconds = Field(description="In milliseconds, as its frames tell.")
    status: VideoStatus = Field(description="It can be watched once it is `ready`; `failed` has an `error`.")
    category: str | None
    tags: list[str] | None
    file_size: Count | None = Field(description="Bytes of the file that was sent.")
    format: str | None = Field(description="The container that the file truly is.")
    resolution: str | None = Field(description="Width and height of the film, such as 1920x1080.")
    view_count: SeenCount = Field(description="How often it was seen.")
    version: Count | None = Field(description="Grows by one with each edit; an edit says which it is of.")
    expiry_time: EpochSeconds | None = Field(description="When it ends, in seconds since 1970; null: it stays.")
    error: str | None = Field(description="Why it could not be encoded.")
    thumbnail_url: Annotated[str | None, UrlOf("thumbnail_s3_key", show_as="image/jpeg")] = Field(
        description="A picture of it, signed just now."
    )
    urls_expire_at: UtcSeconds | None = Field(description="Until then the signed URLs lead somewhere.")


class VideoView(VideoInList):
    """A video, and where it can be watched."""

    progress: float = Field(ge=0, le=1, description="How much of it is encoded.")
    stream_url: str | None = Field(
        description="The path, on this service, of a playlist that opens without a key, once there is something to see."
    )
    scrub_track_url: str | None = Field(
        description="The path, on this service, of WebVTT that says which picture to show of which time."
    )
    resolutions: dict[str, str] = Field(description="Of each rung an MP4, at a signed URL.")


class ViewCount(BaseModel):
    """How often a video was seen."""

    video_id: UUID4
    view_count: Count


class VideoPage(BaseModel):
    items: list[VideoInList]
    next: str | None = Field(description="Ask with this `cursor` for the next ones.")


class SubmissionView(BaseModel):
    """What becomes of a file: `awaited`, `arrived`, and then a video, or the reason why not."""

    video_id: UUID4
    user_id: str
    created_at: EpochSeconds
    title: str
    status: SubmissionStatus
    error: str | None
    inspected: float | None = Field(None, description="While it is looked at: how much of it is, of 1.")
    upload: UploadView | None = Field(None, description="Where to send what is missing of it.")


class SubmissionPage(BaseModel):
    items: list[SubmissionView]
    next: str | None


class VideoEventView(BaseModel):
    """That a video was inserted, updated or removed."""

    moment: UtcMicros
    kind: EventKind
    cause: EventCause = Field(description="Somebody, or the end of its time.")
    changed: list[str] | None = Field(description="The attributes that an update has changed.")


class VideoEventPage(BaseModel):
    items: list[VideoEventView]
    next: str | None


def video_event_view(event: VideoEvent) -> VideoEventView:
    """A line of the audit."""
    changed = None if event.changed is None else sorted(event.changed)
    return VideoEventView(moment=event.moment, kind=event.kind, cause=event.cause, changed=changed)


def video_in_list(library: VideoLibrary, video: Video) -> VideoInList:
    """A video as a list shows it."""
    return VideoInList.of(video, library.signer(video))


def video_view(library: VideoLibrary, video: Video) -> VideoView:
    """A video by itself."""
    signer = library.signer(video)
    link = f"{API}/{watch_path(library, video)}"
    made = {rung: path for rung, path in (video.resolutions or {}).items() if not path.startswith("s3://")}
    return VideoView.of(
        video,
        signer,
        progress=encoded_share(library.store, video),
        stream_url=f"{link}/master.m3u8" if video.stream_s3_key else None,
        scrub_track_url=f"{link}/scrub.vtt" if video.scrub_track_s3_key else None,
        resolutions={rung: signer.url(path, "video/mp4") for rung, path in made.items()},
    )


def submission_view(reserved: Reserved, *, inspected: float | None = None) -> SubmissionView:
    """What was announced, and where to send it, or how much of it is looked at."""
    where = UploadView.of_reserved(reserved.where) if reserved.where is not None else None
    return SubmissionView(**shared_fields(SubmissionView, reserved.submission), upload=where, inspected=inspected)


def encoded_share(store: Store, video: Video) -> float:
    """How much of a video is encoded, of 1."""
    if video.status is VideoStatus.READY:
        return 1.0
    tasks = [t for t in store.find(Task.of_record(about=name_of(video.ref))) if t.name == transcode.name]
    told = store.lookup(Progress.at(task_id=tasks[-1].task_id)) if tasks else None
    return told.fraction if told is not None else 0.0
