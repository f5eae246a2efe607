"""Videos: what is known of each, who made it, how often it was seen, and how long it stays."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import UUID4, AfterValidator, Field

from penstock.declare import (
    ANYTHING,
    SYSTEM,
    Action,
    Count,
    Domain,
    Entity,
    EpochSeconds,
    Expires,
    IndexKey,
    Milliseconds,
    Move,
    Range,
    Table,
    WrittenBy,
    camel_case,
    key,
    move,
    number,
    pattern,
)
from penstock.domains.videos.video_event import VideoEvent
from penstock.schema.file_pattern import FilePattern
from penstock.schema.object_key import HoldsKey, ObjectFolder, ObjectKey, validate_s3_key
from penstock.schema.role import Role

VIDEO_METADATA = Table("VideoMetadata", partition="videoId", expiry="expiryTime", feed=True, naming=camel_case)
USER_ID = VIDEO_METADATA.index("UserIdIndex", partition="userId", sort=number("createdAt"))
CATEGORY = VIDEO_METADATA.index("CategoryIndex", partition="category", sort="userDate")
CATEGORY_DATE = VIDEO_METADATA.index("CategoryDateIndex", partition="category", sort=number("createdAt"))
VIDEO_TAGS = Table("VideoTags", partition="tag", sort="dateVideo", expiry="expiryTime", naming=camel_case)
SUBMISSIONS = Table("VideoSubmissions", partition="videoId", expiry="ttl", naming=camel_case)
SUBMITTER = SUBMISSIONS.index("UserIdIndex", partition="userId", sort=number("createdAt"))
VIDEO_VIEWS = Table("VideoViews", partition="videoId", sort="requestId", expiry="ttl", naming=camel_case)
VIDEO_FILES = Table("VideoFiles", partition="userId", sort="sha256", expiry="ttl", naming=camel_case)

EPHEMERAL = timedelta(days=1)
SUBMIT = Action("submit a video", "POST /api/vm/videos")
"What is said of a video is found in its file, which is sent first."
EDIT = Action("edit a video", "PATCH /api/vm/videos/{video_id}")
"What its tags are found by is written in the same commit."
COUNT = Action("count a view", "POST /api/vm/videos/{video_id}/views")
"What a request was counted for is written in the commit that counts it."


def expiry_after(now: datetime, period: timedelta = EPHEMERAL) -> int:
    """The epoch second at which something made ephemeral now comes to its end."""
    return int((now + period).timestamp())


def _s3_path(path: str) -> str:
    """An object key, or the same with its bucket, as the documents write it: s3://bucket/key. No other URL."""
    bucket, _, object_key = path.removeprefix("s3://").partition("/")
    if path.startswith("s3://") and bucket:
        validate_s3_key(object_key, "S3 path")
        return path
    return validate_s3_key(path, "S3 path")


def _without_bucket(path: str) -> str:
    return path.removeprefix("s3://").partition("/")[2] if path.startswith("s3://") else path


S3Path = Annotated[str, AfterValidator(_s3_path), HoldsKey(_without_bucket)]


class VideoStatus(StrEnum):
    UPLOADED = "uploaded"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"


Tags = Annotated[frozenset[str], Field(min_length=1)]


class Video(Entity, table=VIDEO_METADATA, relation="videos", lifetimes=(Expires("expiry_time"),), created_by=SUBMIT):
    """One video. Its pictures and encodings are objects; only their places are here."""

    video_id: UUID4
    user_id: str
    created_at: EpochSeconds = Field(frozen=True)
    title: str
    duration: Milliseconds
    status: VideoStatus = VideoStatus.UPLOADED
    category: str | None = None
    file_size: Count | None = None
    format: str | None = None
    resolution: str | None = None
    resolutions: Annotated[dict[str, S3Path] | None, WrittenBy(SYSTEM)] = None
    thumbnail_s3_key: Annotated[ObjectKey | None, WrittenBy(SYSTEM)] = None
    tags: Tags | None = None
    view_count: Annotated[Count | None, WrittenBy(COUNT)] = None
    version: Annotated[Count | None, WrittenBy(SYSTEM)] = None
    "Grows by one with each edit by people. Views and encodings are no edits."
    expiry_time: EpochSeconds | None = None
    folder: Annotated[ObjectFolder | None, WrittenBy(SYSTEM)] = None
    "Where all files of the video lie, those that are being made among them."
    source_s3_key: Annotated[ObjectKey | None, WrittenBy(SYSTEM)] = None
    "The file as it was sent."
    sha256: Annotated[str | None, WrittenBy(SYSTEM)] = None
    "Of that file."
    stream_s3_key: Annotated[ObjectKey | None, WrittenBy(SYSTEM)] = None
    "The master playlist, once the first segments are there."
    scrub_s3_key: Annotated[ObjectKey | None, WrittenBy(SYSTEM)] = None
    "Small pictures of all of it on one sheet, and the track that says which is of when."
    scrub_track_s3_key: Annotated[ObjectKey | None, WrittenBy(SYSTEM)] = None
    found: Annotated[dict[str, Any] | None, WrittenBy(SYSTEM)] = None
    "What was found in the file, for whoever encodes it."
    error: Annotated[str | None, WrittenBy(SYSTEM)] = None

    @key("{video_id}")
    def at(self, *, video_id: UUID4) -> None: ...

    by_creation = IndexKey(USER_ID, "{user_id}", "{created_at}")
    by_user_and_date = IndexKey(CATEGORY, "{category}", "{user_id}#{created_at:010d}")
    by_date = IndexKey(CATEGORY_DATE, "{category}", "{created_at}")

    @pattern(by_creation)
    def by_user(self, *, user_id: str, created_at: Range[int] = ANYTHING) -> None:
        """A user's videos, or those of a span of time, oldest first."""

    @pattern(by_user_and_date)
    def by_category(self, *, category: str, user_id: str | None = None, created_at: Range[int] = ANYTHING) -> None:
        """The videos of a category; within it a user's, and of those a span of time."""

    @pattern(by_date, backwards=True)
    def newest_of_category(self, *, category: str, created_at: Range[int] = ANYTHING) -> None:
        """The videos of a category, whoever made them, newest first."""

    process = Move(VideoStatus.UPLOADED, VideoStatus.READY, VideoStatus.FAILED, to=VideoStatus.PROCESSING, by=SYSTEM)

    @move(VideoStatus.PROCESSING, to=VideoStatus.READY, by=SYSTEM)
    def finish(self, *, resolutions: dict[str, S3Path], thumbnail_s3_key: ObjectKey | None = None) -> None:
        """It can be watched."""
        self.resolutions, self.error = resolutions, None
        if thumbnail_s3_key is not None:
            self.thumbnail_s3_key = thumbnail_s3_key

    @move(VideoStatus.UPLOADED, VideoStatus.PROCESSING, to=VideoStatus.FAILED, by=SYSTEM)
    def fail(self, *, error: str | None = None) -> None:
        """It cannot be encoded; for which reason."""
        self.error = error


class VideoTag(Entity, table=VIDEO_TAGS, relation="video_tags", lifetimes=(Expires("expiry_time"),), created_by=EDIT):
    """That a video has a tag: DynamoDB finds nothing by what is in a set. It has all its tags, and its end."""

    tag: str
    created_at: EpochSeconds = Field(frozen=True)
    video_id: UUID4
    tags: Annotated[Tags, WrittenBy(SYSTEM)]
    expiry_time: Annotated[EpochSeconds | None, WrittenBy(SYSTEM)] = None

    @key("{tag}", "{created_at:010d}#{video_id}")
    def at(self, *, tag: str, created_at: int, video_id: UUID4) -> None: ...

    @pattern(at, backwards=True)
    def of_tag(self, *, tag: str, created_at: Range[int] = ANYTHING) -> None:
        """The videos that have a tag, newest first."""


class SubmissionStatus(StrEnum):
    AWAITED = "awaited"
    ARRIVED = "arrived"
    ACCEPTED = "accepted"
    REFUSED = "refused"


class Submission(
    Entity, table=SUBMISSIONS, relation="video_submissions", lifetimes=(Expires("ttl"),), created_by=SUBMIT
):
    """A video that somebody sends: what is said of it, and what becomes of its file."""

    video_id: UUID4
    "Of the video that it will be."
    user_id: str
    created_at: EpochSeconds = Field(frozen=True)
    title: str
    category: str | None = None
    tags: Tags | None = None
    lasts: Count | None = None
    "Seconds from its insertion to its end, if it is to have one."
    file_name: str
    upload_id: str
    status: SubmissionStatus = SubmissionStatus.AWAITED
    sha256: str | None = None
    error: str | None = None
    ttl: EpochSeconds

    @key("{video_id}")
    def at(self, *, video_id: UUID4) -> None: ...

    by_creation = IndexKey(SUBMITTER, "{user_id}", "{created_at}")

    @pattern(by_creation, backwards=True)
    def of_user(self, *, user_id: str, created_at: Range[int] = ANYTHING) -> None:
        """What a user has sent, newest first."""

    @move(SubmissionStatus.AWAITED, to=SubmissionStatus.ARRIVED, by=SUBMIT)
    def arrive(self, *, sha256: str | None) -> None:
        """All of the file is there, as whoever sent it says."""
        self.sha256 = sha256 or self.sha256

    accept = Move(SubmissionStatus.ARRIVED, to=SubmissionStatus.ACCEPTED, by=SYSTEM)

    @move(SubmissionStatus.AWAITED, SubmissionStatus.ARRIVED, to=SubmissionStatus.REFUSED, by=SYSTEM)
    def refuse(self, *, error: str) -> None:
        """It does not become a video; for which reason."""
        self.error = error

    @move(SubmissionStatus.REFUSED, to=SubmissionStatus.ARRIVED, by=SYSTEM)
    def look_again(self) -> None:
        """Nobody got to the end of its file, which is still there, and somebody has it looked at again."""
        self.error = None


class ViewMark(
    Entity,
    table=VIDEO_VIEWS,
    relation="video_views",
    lifetimes=(Expires("ttl"),),
    created_by=COUNT,
    seen_by=Role.ADMIN,
):
    """That a request was counted as a view of a video; it is not counted again while this is known."""

    video_id: UUID
    request_id: str
    ttl: EpochSeconds

    @key("{video_id}", "{request_id}")
    def at(self, *, video_id: UUID, request_id: str) -> None: ...

    @pattern(at)
    def of_video(self, *, video_id: UUID) -> None:
        """The requests that were counted for a video."""


class SentFile(Entity, table=VIDEO_FILES, relation="video_files", lifetimes=(Expires("ttl"),), created_by=SUBMIT):
    """What a file of a user has become, or is becoming: by it a file that is sent again is recognised."""

    user_id: str
    sha256: str
    video_id: Annotated[UUID4, WrittenBy(SYSTEM)]
    ttl: Annotated[EpochSeconds | None, WrittenBy(SYSTEM)] = None
    "As long as it is no video yet; a video takes it along when it goes."

    @key("{user_id}", "{sha256}")
    def at(self, *, user_id: str, sha256: str) -> None: ...

    @pattern(at)
    def of_user(self, *, user_id: str) -> None:
        """The files of a user that are known."""


FOLDER, FILES = FilePattern("videos/{video_id}/"), FilePattern("videos/{video_id}/**")
"All files of a video lie in a folder of its own, so that they can go together."
TRANSCODED = FilePattern("transcoded/**")
"Encodings that others have made, where the article has them."
POSTER, SCRUB_SHEET, SCRUB_TRACK = "poster.jpg", "scrub.jpg", "scrub.vtt"
STREAM = "hls"

DOMAIN = Domain(
    "videos", Video, VideoTag, Submission, SentFile, ViewMark, VideoEvent, files=(FOLDER, FILES, TRANSCODED)
)
