"""Tags: for each tag of a video a record by which the video is found, written by the commit that writes its tags."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.domains.videos.model import Video, VideoTag
from penstock.errors import InvalidValue
from penstock.kernel.change import Change
from penstock.operations.reads import Ref

MOST_TAGS, LONGEST_TAG = 20, 64
"With its tags, old and new, a video is written in one commit, which DynamoDB makes of a hundred records at most."


def checked_tags(tags: Iterable[str] | None) -> frozenset[str] | None:
    """Tags as they are kept: without space around them, none twice; None where there are none."""
    kept = frozenset(each.strip() for each in tags or ())
    if "" in kept:
        raise InvalidValue("a tag is empty; leave it out")
    if too_long := [tag for tag in kept if len(tag) > LONGEST_TAG]:
        raise InvalidValue(f"the tag {too_long[0][:20]}… has {len(too_long[0])} characters; at most {LONGEST_TAG}")
    if len(kept) > MOST_TAGS:
        raise InvalidValue(f"{len(kept)} tags are too many for a video; at most {MOST_TAGS}")
    return kept or None


def tag(change: Change, video: Video) -> None:
    """Let a new video be found by its tags."""
    for record in _records(video):
        change.create(record)


def retag(change: Change, before: Video, after: Video) -> None:
    """Let a video be found by its tags as they are now, until its end as it is now."""
    for old in (before.tags or frozenset()) - (after.tags or frozenset()):
        change.delete(_ref(before, old))
    for record in _records(after):
        change.put(record)


def untag(change: Change, video: Video, *, but: Video | None = None) -> None:
    """Let a video be found by no tag, except as one that stands in its place by now is found."""
    kept = [] if but is None else [_ref(but, each) for each in but.tags or ()]
    for each in video.tags or ():
        if (ref := _ref(video, each)) not in kept:
            change.delete(ref)


def _records(video: Video) -> list[VideoTag]:
    tags = video.tags or frozenset()
    return [
        VideoTag(
            tag=each,
            created_at=video.created_at,
            video_id=video.video_id,
            tags=tags,
            expiry_time=video.expiry_time,
        )
        for each in sorted(tags)
    ]


def _ref(video: Video, each: str) -> Ref[VideoTag]:
    return VideoTag.at(tag=each, created_at=video.created_at, video_id=video.video_id)
