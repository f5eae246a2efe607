"""The audit of videos: what became of each, whoever did it, as the feed tells it.

What goes through our own doors has audit lines that say who did it. The feed also tells of what others write to the
table, and of what the database removes by itself.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import UUID4, Field

from penstock.declare import (
    ANYTHING,
    SYSTEM,
    Entity,
    EpochSeconds,
    Expires,
    Range,
    Role,
    Table,
    UtcMicros,
    camel_case,
    key,
    pattern,
)

VIDEO_EVENTS = Table("VideoEvents", partition="videoId", sort="momentEvent", expiry="ttl", naming=camel_case)
KEPT_FOR = timedelta(days=90)


class EventKind(StrEnum):
    INSERT = "insert"
    UPDATE = "update"
    REMOVE = "remove"


class EventCause(StrEnum):
    USER = "user"
    EXPIRY = "expiry"


class VideoEvent(
    Entity,
    table=VIDEO_EVENTS,
    relation="video_events",
    lifetimes=(Expires("ttl"),),
    created_by=SYSTEM,
    seen_by=Role.ADMIN,
):
    """That a video was inserted, updated or removed; it stays when the video is gone."""

    video_id: UUID4 = Field(frozen=True)
    moment: UtcMicros = Field(frozen=True)
    "When, as far as the store tells; else when it was heard of."
    event_id: str = Field(frozen=True)
    "Which of its changes."
    kind: EventKind = Field(frozen=True)
    cause: EventCause = Field(frozen=True)
    "Somebody, or the end of its time."
    changed: frozenset[str] | None = Field(None, frozen=True)
    "The attributes that an update has changed, by their names."
    ttl: EpochSeconds = Field(frozen=True)

    @key("{video_id}", "{moment}#{event_id}")
    def at(self, *, video_id: UUID4, moment: datetime, event_id: str) -> None: ...

    @pattern(at, backwards=True)
    def of_video(self, *, video_id: UUID4, moment: Range[datetime] = ANYTHING) -> None:
        """What became of a video, newest first."""
