"""Videos: what is known of each, who made it, how often it was seen, and how long it stays."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import UUID4, AfterValidator, Field

from penstock.declare import (
    ANYTHING,
    SYSTEM,
    Count,
    Domain,
    Entity,
    EpochSeconds,
    Expires,
    IndexKey,
    Milliseconds,
    Move,
    Range,
    Role,
    Table,
    WrittenBy,
    camel_case,
    key,
    move,
    number,
    pattern,
)
from penstock.schema.object_key import HoldsKey, ObjectKey, validate_s3_key

VIDEO_METADATA = Table("VideoMetadata", partition="videoId", expiry="expiryTime", feed=True, naming=camel_case)
USER_ID = VIDEO_METADATA.index("UserIdIndex", partition="userId", sort=number("createdAt"))
CATEGORY = VIDEO_METADATA.index("CategoryIndex", partition="category", sort="userDate")

EPHEMERAL = timedelta(days=1)


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


class Video(
    Entity, table=VIDEO_METADATA, relation="videos", lifetimes=(Expires("expiry_time"),), created_by=Role.EDITOR
):
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
    tags: Annotated[frozenset[str], Field(min_length=1)] | None = None
    view_count: Annotated[Count | None, WrittenBy(SYSTEM)] = None
    version: Annotated[Count | None, WrittenBy(SYSTEM)] = None
    expiry_time: EpochSeconds | None = None

    @key("{video_id}")
    def at(self, *, video_id: UUID4) -> None: ...

    by_creation = IndexKey(USER_ID, "{user_id}", "{created_at}")
    by_user_and_date = IndexKey(CATEGORY, "{category}", "{user_id}#{created_at:010d}")

    @pattern(by_creation)
    def by_user(self, *, user_id: str, created_at: Range[int] = ANYTHING) -> None:
        """A user's videos, or those of a span of time, oldest first."""

    @pattern(by_user_and_date)
    def by_category(self, *, category: str, user_id: str | None = None, created_at: Range[int] = ANYTHING) -> None:
        """The videos of a category; within it a user's, and of those a span of time."""

    process = Move(VideoStatus.UPLOADED, VideoStatus.READY, VideoStatus.FAILED, to=VideoStatus.PROCESSING, by=SYSTEM)

    @move(VideoStatus.PROCESSING, to=VideoStatus.READY, by=SYSTEM)
    def finish(self, *, resolutions: dict[str, S3Path], thumbnail_s3_key: ObjectKey) -> None:
        """It can be watched."""
        self.resolutions, self.thumbnail_s3_key = resolutions, thumbnail_s3_key

    fail = Move(VideoStatus.UPLOADED, VideoStatus.PROCESSING, to=VideoStatus.FAILED, by=SYSTEM)


DOMAIN = Domain("videos", Video)
