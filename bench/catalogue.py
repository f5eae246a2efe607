"""A page of 50 videos, found and made ready to be shown: its cost among few videos and among many (see `sizes`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from uuid import UUID

from bench.contender import Limit
from bench.measure import Effort, Work
from bench.sizes import contests_of_questions
from bench.topic import Contests
from penstock import Entity, Store
from penstock.domains.videos.finding import VideoQuestion, find_videos
from penstock.domains.videos.model import DOMAIN, FOLDER, POSTER, Video, VideoTag
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.video_views import VideoPage, video_in_list
from penstock.runtime.composition import open_objects

QUESTIONS: Mapping[str, VideoQuestion] = {
    "user": VideoQuestion(user_id="user_7"),
    "category": VideoQuestion(category="demo"),
    "user_and_category": VideoQuestion(user_id="user_7", category="demo"),
    "tag": VideoQuestion(tags=frozenset({"launch"})),
}
GROUPS = {
    **{f"sqlite-catalogue.{asked}": "client CPU" for asked in QUESTIONS},
    **{f"postgresql-catalogue.{asked}": "client + server CPU" for asked in QUESTIONS},
}
SMALL, LARGE = "1,000 videos", "300,000 videos"
BASELINE = SMALL
OWN = (SMALL, LARGE)
LIMITS = tuple(
    Limit(
        f"{group}: a page of 50 costs at most 1.1 at 300,000 videos of what it does at 1,000", group, LARGE, SMALL, 1.1
    )
    for group in GROUPS
)
SIZES = {SMALL: 1_000, LARGE: 300_000}
PAGE = 50
_LEAST = 2 * PAGE + 2
_AGO = 1_700_000_000


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Fill one store with few videos and one with many, then find a page of each kind in each of them in turn."""
    return contests_of_questions(groups, effort, SIZES, _fill, _asking, least=_LEAST)


def _fill(store: Store, size: int) -> None:
    store.ensure(DOMAIN)
    store.put_many(_records(size))


def _asking(store: Store, asked: str) -> Work:
    return _finder(store, QUESTIONS[asked])


def _finder(store: Store, asked: VideoQuestion) -> Work:
    library = VideoLibrary(store, open_objects("files:///files"))
    second = find_videos(store, asked, limit=PAGE).cursor

    def find(times: int) -> None:
        for _ in range(times):
            found = find_videos(store, asked, limit=PAGE, cursor=second)
            page = VideoPage(items=[video_in_list(library, video) for video in found.videos], next=found.cursor)
            assert len(page.items) == PAGE

    return find


def _records(size: int) -> Iterator[Entity]:
    """All of one user, of one category, and with one tag: whatever is asked for is found among all of them."""
    tags, chance = frozenset({"launch", "demo"}), Random(size)
    for number in range(size):
        video_id, created_at = UUID(int=chance.getrandbits(128), version=4), _AGO + number
        yield Video(
            video_id=video_id,
            user_id="user_7",
            created_at=created_at,
            title="Product Launch Demo",
            duration=354000,
            category="demo",
            tags=tags,
            version=1,
            thumbnail_s3_key=f"{FOLDER.key(video_id=video_id)}{POSTER}",
        )
        yield VideoTag(tag="launch", created_at=created_at, video_id=video_id, tags=tags)
