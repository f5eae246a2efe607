"""A film is sent, encoded, watched, found, and forgotten: the same on every engine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock
from penstock.domains.videos import DOMAIN, video_removal, view_counting, watching
from penstock.domains.videos.finding import VideoQuestion, find_videos
from penstock.domains.videos.model import Submission, SubmissionStatus, Video, VideoStatus, VideoTag, ViewMark
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import NotFound
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.lifecycle.reaper import Reaper
from penstock.work import Task, TaskStatus
from tests.domains.videos.films import made
from tests.domains.videos.story import added, feed_of, files, seen, settle, submitted, workers

SAID: dict[str, Any] = {"tags": ["launch", "demo"], "category": "demo"}


def _rows(library: VideoLibrary, video: Video) -> list[object]:
    """All that is kept of a video."""
    store = library.store
    tags = [each for tag in SAID["tags"] for each in store.find(VideoTag.of_tag(tag=tag))]
    users = [*store.find(Video.by_user(user_id=video.user_id)), *store.find(Submission.of_user(user_id=video.user_id))]
    views = store.find(ViewMark.of_video(video_id=video.video_id))
    return [*tags, *users, *views, *store.find(Video.newest_of_category(category="demo"))]


@pytest.mark.every_engine
def test_a_film_becomes_a_stream_and_is_deleted_with_everything(anywhere: VideoLibrary, film: Path) -> None:
    """VM-19, VM-20: what is inserted is encoded; what is deleted leaves nothing."""
    library = anywhere
    video = added(library, film, **SAID)
    assert seen(library, video.video_id).status is SubmissionStatus.ACCEPTED
    assert (video.status, video.error) == (VideoStatus.READY, None)
    assert (video.duration, video.resolution, video.format) == (2000, "320x180", "mp4")
    assert video.file_size == film.stat().st_size
    kept = files(library)
    assert video.resolutions
    assert {video.stream_s3_key, video.thumbnail_s3_key, video.scrub_s3_key, *video.resolutions.values()} <= set(kept)
    found = find_videos(library.store, VideoQuestion(tags=frozenset(SAID["tags"])), limit=10)
    assert [each.video_id for each in found.videos] == [video.video_id]
    assert len(_rows(library, video)) == 5
    rung = next(iter(video.resolutions))
    assert f"{rung}.m3u8" in watching.master_playlist(library, video)
    assert watching.media_playlist(library, video, rung).count("#EXTINF") == sum(k.endswith(".m4s") for k in kept)
    assert [view_counting.count_view(library, video.video_id, request_id=each) for each in ("a", "b", "a")] == [1, 2, 2]
    video_removal.delete_video(library, video.video_id, by="ann")
    with pytest.raises(NotFound):
        library.video(video.video_id)
    settle(library)
    assert files(library) == []
    assert _rows(library, video) == []


def test_whoever_listens_is_told_that_a_film_is_ready_and_its_sizes_by_name(
    library: VideoLibrary, tmp_path: Path
) -> None:
    video = added(library, made(tmp_path / "film.mp4", seconds=0.4, size="640x360", sound=False))
    told = library.store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    (ready,) = [each.payload for each in told if each.type == "video.ready"]
    assert ready == {"video_id": str(video.video_id), "rungs": ["240p", "360p"]}


def test_a_film_whose_time_is_over_is_hidden_at_once_and_leaves_nothing(
    anywhere: VideoLibrary, film: Path, clock: FrozenClock
) -> None:
    """VM-21, VM-22, VM-23: gone for whoever asks; its files follow when the database has removed the record."""
    library = anywhere
    video = added(library, film, lasts=3600, **SAID)
    clock.advance(timedelta(seconds=3599))
    assert library.video(video.video_id).expiry_time == video.created_at + 3600
    clock.advance(timedelta(seconds=1))
    assert library.store.lookup(video.ref) is None
    assert find_videos(library.store, VideoQuestion(tags=frozenset(SAID["tags"])), limit=10).videos == []
    settle(library)
    assert files(library), "they stay as long as the record does"
    clock.advance(timedelta(hours=1))
    if library.store.engine.features.native_expiry:
        library.store.delete(video.ref)  # as the database does within two days
    Reaper(library.store, [DOMAIN], owner="tests").run_once()
    settle(library)
    assert files(library) == []
    assert _rows(library, video) == []


def test_a_video_that_is_deleted_while_it_waits_is_not_encoded(library: VideoLibrary, film: Path) -> None:
    """Everything that was to be done for it is given up."""
    video_id = submitted(library, film).video_id
    workers(library).drain()
    feed = feed_of(library)
    feed.drain()
    feed.close()
    waiting = list(library.store.find(Task.by_status(status=TaskStatus.WAITING)))
    assert sorted(task.name for task in waiting) == ["videos.make_thumbnails", "videos.transcode"]
    video_removal.delete_video(library, video_id, by="ann")
    assert list(library.store.find(Task.by_status(status=TaskStatus.WAITING))) == []
    settle(library)
    assert files(library) == []


def test_the_articles_snippets_run_on_what_the_system_wrote(
    dynamo_library: VideoLibrary, raw_table: Callable[[str], Any], film: Path
) -> None:
    """VM-8, VM-11, VM-16, VM-17, VM-18, VM-21, F-VM-2, F-VM-3, F-VM-4, F-VM-5, F-VM-7: corrected where it was wrong."""
    library = dynamo_library
    video = added(library, film, **SAID)
    table, key = raw_table("VideoMetadata"), {"videoId": str(video.video_id)}
    item = table.get_item(Key=key)["Item"]
    assert (item["title"], item["duration"], item["tags"]) == ("Product Launch Demo", 2000, set(SAID["tags"]))
    assert set(item["resolutions"]) == {"180p"}
    of_user = table.query(
        IndexName="UserIdIndex",
        KeyConditionExpression="userId = :uid AND createdAt BETWEEN :start AND :end",
        ExpressionAttributeValues={":uid": "user_789", ":start": video.created_at, ":end": video.created_at},
    )
    assert [each["videoId"] for each in of_user["Items"]] == [str(video.video_id)]
    for expected in (1, 2):
        counted = table.update_item(
            Key=key,
            UpdateExpression="SET viewCount = if_not_exists(viewCount, :zero) + :inc",
            ConditionExpression="attribute_exists(videoId)",
            ExpressionAttributeValues={":inc": 1, ":zero": 0},
            ReturnValues="UPDATED_NEW",
        )
        assert counted["Attributes"] == {"viewCount": expected}
    table.update_item(
        Key=key,
        UpdateExpression="SET title = :t, version = version + :one",
        ConditionExpression="version = :current",
        ExpressionAttributeValues={":t": "New", ":one": 1, ":current": item["version"]},
    )
    table.update_item(
        Key=key, UpdateExpression="SET expiryTime = :end", ExpressionAttributeValues={":end": video.created_at + 86400}
    )
    now = library.video(video.video_id)
    assert (now.title, now.view_count, now.version, now.duration) == ("New", 2, 2, 2000)
    assert now.expiry_time == video.created_at + 86400
    settle(library)
    assert library.video(video.video_id).status is VideoStatus.READY, "an update starts nothing"
    tasks = [task.name for status in TaskStatus for task in library.store.find(Task.by_status(status=status))]
    assert sorted(tasks) == ["videos.inspect_file", "videos.make_thumbnails", "videos.transcode"]
