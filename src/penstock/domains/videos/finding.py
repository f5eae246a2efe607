"""Finding videos: by user, by category, by both, or by tags; newest first, in pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.declare import ANYTHING, Range, between, since, until
from penstock.domains.videos.errors import EmptySpan, IncompleteQuestion
from penstock.domains.videos.model import Video, VideoTag
from penstock.kernel.store import Store
from penstock.operations.reads import Query

_EXAMINED = 1000
"So many videos of a tag are looked at for a page of those that have others too."
_AT_ONCE = 200
"So many of them in one query, of how few there may ever be."


@dataclass(frozen=True, slots=True)
class VideoQuestion:
    """Which videos: what is said here holds of all of them."""

    user_id: str | None = None
    category: str | None = None
    tags: frozenset[str] = frozenset()
    since: int | None = None
    until: int | None = None
    "Both moments are included."


@dataclass(frozen=True, slots=True)
class FoundVideos:
    """Some of them, and the cursor of the next ones; None when these are the last."""

    videos: Sequence[Video]
    cursor: str | None


def find_videos(store: Store, asked: VideoQuestion, *, limit: int, cursor: str | None = None) -> FoundVideos:
    """A page of the videos that are asked for, newest first."""
    created_at = _span(asked)
    if asked.tags and asked.user_id is None and asked.category is None:
        return _tagged(store, asked, created_at, limit=limit, cursor=cursor)
    page = store.page(_query(asked, created_at), limit=limit, cursor=cursor)
    return FoundVideos(page.records, page.cursor)


def _query(asked: VideoQuestion, created_at: Range[int]) -> Query[Video]:
    if asked.tags:
        raise IncompleteQuestion("tags are not asked for together with a user or a category; ask by one of them")
    if asked.user_id is not None and asked.category is not None:
        return Video.by_category(category=asked.category, user_id=asked.user_id, created_at=created_at).reversed()
    if asked.user_id is not None:
        return Video.by_user(user_id=asked.user_id, created_at=created_at).reversed()
    if asked.category is not None:
        return Video.newest_of_category(category=asked.category, created_at=created_at)
    raise IncompleteQuestion("nothing was asked for by which videos are found")


def _tagged(
    store: Store, asked: VideoQuestion, created_at: Range[int], *, limit: int, cursor: str | None
) -> FoundVideos:
    """Those of the first tag that have the others as well; each record of a tag tells all of its video."""
    query = VideoTag.of_tag(tag=min(asked.tags), created_at=created_at)
    found: list[VideoTag] = []
    examined = 0
    while True:
        page = store.page(query, limit=max(limit, _AT_ONCE), cursor=cursor)
        examined, cursor = examined + len(page.records), page.cursor
        for record in page.records:
            if asked.tags <= record.tags:
                found.append(record)
                if len(found) == limit:
                    is_last = record is page.records[-1]
                    cursor = page.cursor if is_last else store.cursor(query, record)
                    break
        if cursor is None or len(found) == limit or examined >= _EXAMINED:
            break
    videos = store.get_many([Video.at(video_id=record.video_id) for record in found])
    return FoundVideos([video for video in videos if video is not None], cursor)


def _span(asked: VideoQuestion) -> Range[int]:
    match asked.since, asked.until:
        case None, None:
            return ANYTHING
        case None, int(high):
            return until(high)
        case int(low), None:
            return since(low)
        case int(low), int(high) if low > high:
            raise EmptySpan(f"since {low} is later than until {high}; no moment lies between them")
        case int(low), int(high):
            return between(low, high)
    raise AssertionError
