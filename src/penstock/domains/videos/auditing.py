"""Auditing: a line of each insert, update and removal of a video, once however often it is told."""

from __future__ import annotations

import hashlib
from uuid import UUID, uuid4

from penstock.domains.videos.model import Video
from penstock.domains.videos.video_event import KEPT_FOR, EventCause, EventKind, VideoEvent
from penstock.kernel.store import Store
from penstock.operations.feed_entry import FeedEntry

COUNTED = frozenset({"viewCount"})
_DIGITS, _LONGEST_ID = 40, 64


def is_audited(entry: FeedEntry) -> bool:
    """Is a change worth a line? A view is counted by the video itself."""
    return entry.kind != "update" or changed_attributes(entry) != COUNTED


def event_of(store: Store, entry: FeedEntry) -> VideoEvent:
    """The line of a change."""
    now = store.clock.now()
    return VideoEvent(
        video_id=entry.key["video_id"],
        moment=entry.at or now,
        event_id=_id(entry.id),
        kind=EventKind(entry.kind),
        cause=EventCause(entry.cause),
        changed=changed_attributes(entry) if entry.kind == "update" else None,
        ttl=int((now + KEPT_FOR).timestamp()),
    )


def corrected_views(store: Store, video_id: UUID) -> VideoEvent:
    """The line of a count that somebody has corrected."""
    now = store.clock.now()
    return VideoEvent(
        video_id=video_id,
        moment=now,
        event_id=str(uuid4()),
        kind=EventKind.UPDATE,
        cause=EventCause.USER,
        changed=COUNTED,
        ttl=int((now + KEPT_FOR).timestamp()),
    )


def changed_attributes(entry: FeedEntry) -> frozenset[str] | None:
    """The names of the attributes that an update has changed; None where that cannot be told, or no declared one."""
    old, new = entry.old, entry.new
    if old is None or new is None:
        return None
    fields = Video.__shape__.fields.values()
    changed = {f.attribute for f in fields if f.stored and getattr(old, f.name) != getattr(new, f.name)}
    return frozenset(changed) or None


def _id(told: str) -> str:
    """What tells a change from others, as a key can have it: numbers in their order, and nothing long."""
    if len(told) > _LONGEST_ID:
        return hashlib.sha256(told.encode()).hexdigest()
    return told.zfill(_DIGITS) if told.isdigit() else told
