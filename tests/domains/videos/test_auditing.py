"""The audit of videos: a line of each insert, update and removal, whoever made it, and none of views."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, the
from penstock.domains.videos import editing, video_removal
from penstock.domains.videos.model import Video
from penstock.domains.videos.video_library import VideoLibrary
from penstock.events.feed_records import FeedPlace
from penstock.schema.role import Role
from tests.domains.videos.story import feed_of
from tests.domains.videos.streams import inserted
from tests.domains.videos.web import client_of, service


def lines(library: VideoLibrary, video: Video) -> list[tuple[str, str, list[str] | None]]:
    client = client_of(service(library), library, Role.ADMIN)
    answer = client.get(f"/api/vm/videos/{video.video_id}/audit")
    assert answer.status_code == 200, answer.text
    return [(each["kind"], each["cause"], each["changed"]) for each in answer.json()["items"]]


def test_inserts_updates_and_removals_are_audited_once_and_views_are_not(
    anywhere: VideoLibrary, clock: FrozenClock
) -> None:
    """VM-20: newest first, with the names of what changed and no values; also when the video is gone."""
    library = anywhere
    video = inserted(library, version=1, view_count=1)
    library.store.patch(video.ref, the(Video.view_count).add(1))
    clock.advance(timedelta(seconds=1))
    editing.edit_video(library, video.video_id, {"title": "x", "tags": frozenset({"a"})}, version=1, by="ann")
    library.store.patch(video.ref, the(Video.view_count).add(1))
    clock.advance(timedelta(seconds=1))
    video_removal.delete_video(library, video.video_id, by="ann")
    feed = feed_of(library)
    feed.drain()
    told = [
        ("remove", "user", None),
        ("update", "user", ["tags", "title", "version"]),
        ("insert", "user", None),
    ]
    assert lines(library, video) == told
    library.store.delete(FeedPlace.at(name="videos"))
    feed.drain()
    assert lines(library, video) == told, "told again, it is the same line"
    assert list(feed.letters()) == []


def test_an_end_is_told_from_a_removal_by_somebody(library: VideoLibrary, clock: FrozenClock) -> None:
    """VM-20: on SQL the reaper removes it."""
    video = inserted(library, expiry_time=int(clock.now().timestamp()) + 60)
    clock.advance(timedelta(hours=1))
    assert library.store.engine.expire([Video.__shape__], now=clock.now()) == 1
    feed_of(library).drain()
    assert lines(library, video)[0] == ("remove", "expiry", None)


def test_what_others_write_to_the_table_is_audited(streamed: VideoLibrary, table: Any, name: str) -> None:
    """VM-20: the stream tells of writes that went through no door of ours."""
    video = inserted(streamed)
    table.update_item(
        TableName=name,
        Key={"videoId": {"S": str(video.video_id)}},
        UpdateExpression="set #t = :t, ofOthers = :t",
        ExpressionAttributeNames={"#t": "title"},
        ExpressionAttributeValues={":t": {"S": "other"}},
    )
    table.delete_item(TableName=name, Key={"videoId": {"S": str(video.video_id)}})
    feed_of(streamed).drain()
    assert lines(streamed, video) == [("remove", "user", None), ("update", "user", ["title"]), ("insert", "user", None)]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_only_administrators_read_the_audit(library: VideoLibrary, role: Role) -> None:
    video = inserted(library)
    feed_of(library).drain()
    api = service(library)
    client = client_of(api, library, role)
    for path in (f"/api/vm/videos/{video.video_id}/audit", f"/api/videos/video_events?video_id={video.video_id}"):
        assert client.get(path).status_code == 403
    admin = client_of(api, library, Role.ADMIN)
    assert admin.get(f"/api/vm/videos/{video.video_id}/audit").status_code == 200
