"""What follows an insertion and a removal, under fire: told twice, with poison in front, with workers that die."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock import FrozenClock
from penstock.domains.videos import encoding, video_removal
from penstock.domains.videos.model import Submission, Video, VideoStatus, VideoTag
from penstock.domains.videos.video_library import VideoLibrary
from penstock.events.feed_records import FeedPlace
from penstock.kernel.record_name import name_of
from penstock.media.adaptive import encode_adaptive
from penstock.schema.role import Role
from penstock.work import Task, TaskAttempt
from tests.domains.videos.story import added, feed_of, files, settle, submitted, workers
from tests.domains.videos.streams import inserted
from tests.domains.videos.web import client_of, service

BOTH = ["videos.make_thumbnails", "videos.transcode"]


def tasks_of(library: VideoLibrary, video_id: Any) -> list[Task]:
    found = library.store.find(Task.of_record(about=name_of(Video.at(video_id=video_id))))
    return sorted(found, key=lambda task: task.name)


def test_one_set_of_thumbnails_and_one_stream_are_made_however_often_the_insertion_is_told(
    library: VideoLibrary, film: Path
) -> None:
    """VM-19, VM-20, F-VM-6: what is made is written back to the video, which begins nothing."""
    video = added(library, film)
    made = files(library)
    for _ in range(2):
        library.store.delete(FeedPlace.at(name="videos"))
        settle(library)
    tasks = tasks_of(library, video.video_id)
    assert [task.name for task in tasks] == BOTH
    for task in tasks:
        assert [a.outcome for a in library.store.find(TaskAttempt.of_task(task_id=task.task_id))] == ["done"]
    assert files(library) == made
    assert library.video(video.video_id).status is VideoStatus.READY


def test_poison_in_front_blocks_nothing(streamed: VideoLibrary, table: Any, name: str) -> None:
    """F-VM-5, F-VM-6: the feed itself; an item that was wiped by a put of its end alone."""
    table.put_item(TableName=name, Item={"videoId": {"S": str(uuid4())}, "expiryTime": {"N": "4102444800"}})
    table.put_item(TableName=name, Item={"videoId": {"S": "9a1b-ghij-klmnopqrstuv"}})
    video = inserted(streamed)
    feed = feed_of(streamed)
    feed.drain()
    assert [task.name for task in tasks_of(streamed, video.video_id)] == BOTH
    assert sorted(letter.handler for letter in feed.letters()) == ["audit", "audit", "begin_work", "begin_work"]


def test_a_worker_that_is_killed_leaves_its_work_to_another(
    library: VideoLibrary, film: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-VM-6: in the middle of encoding; one stream comes of it all the same."""
    video_id = submitted(library, film).video_id
    real = encode_adaptive

    class Killed(BaseException):
        pass

    def dying(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(encoding, "encode_adaptive", real)
        raise Killed

    monkeypatch.setattr(encoding, "encode_adaptive", dying)
    with pytest.raises(Killed):
        settle(library)
    clock.advance(timedelta(minutes=30))
    assert workers(library).rescue() == 1
    clock.advance(timedelta(minutes=30))
    settle(library)
    assert library.video(video_id).status is VideoStatus.READY
    assert [task.name for task in tasks_of(library, video_id)] == BOTH


@pytest.mark.parametrize("how", ["somebody", "its end"])
def test_a_removal_cancels_the_encoding_that_runs_and_leaves_nothing(
    library: VideoLibrary, film: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """VM-20, VM-21, VM-23: rows and objects, those among them that are put there while it is removed."""
    video_id = submitted(library, film, tags=["launch"], lasts=3600).video_id
    real = encode_adaptive

    def interrupted(*given: Any, **more: Any) -> Any:
        made = real(*given, **more)
        if how == "somebody":
            video_removal.delete_video(library, video_id, by="ann")
        else:
            clock.advance(timedelta(hours=2))
            assert library.store.engine.expire([Video.__shape__], now=clock.now()) == 1
        feed_of(library, owner="another").drain()
        return made

    monkeypatch.setattr(encoding, "encode_adaptive", interrupted)
    settle(library)
    clock.advance(timedelta(minutes=10))
    settle(library)
    assert files(library) == []
    assert library.store.lookup(Video.at(video_id=video_id)) is None
    assert library.store.lookup(Submission.at(video_id=video_id)) is None
    assert list(library.store.find(VideoTag.of_tag(tag="launch"))) == []
    assert {task.status.value for task in tasks_of(library, video_id)} <= {"cancelled", "done"}


def test_the_encoding_of_a_video_whose_end_has_come_is_given_up(
    library: VideoLibrary, film: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VM-23: nobody can watch it any more, though its record may stand for days until the database removes it."""
    video_id = submitted(library, film, lasts=5).video_id
    begun, finished = clock.now(), []

    def ending(*given: Any, grown: Any, **more: Any) -> Any:
        def publish(path: Path) -> None:
            grown(path)
            if path.name == "master.m3u8" and clock.now() == begun:
                clock.advance(timedelta(seconds=5))

        finished.append(encode_adaptive(*given, grown=publish, **more))
        return finished[-1]

    monkeypatch.setattr(encoding, "encode_adaptive", ending)
    settle(library)
    assert clock.now() > begun
    assert finished == []
    library.store.engine.expire([Video.__shape__], now=clock.now())
    clock.advance(timedelta(minutes=30))
    settle(library)
    assert files(library) == []
    assert {task.status.value for task in tasks_of(library, video_id)} <= {"cancelled", "done"}


def test_an_end_is_set_without_touching_anything_else(streamed: VideoLibrary, table: Any, name: str) -> None:
    """VM-21, F-VM-5: the whole item but its end is as it was."""
    video = inserted(streamed, tags=["launch"], category="demo", view_count=7, version=3)
    client = client_of(service(streamed), streamed, Role.EDITOR)
    key = {"videoId": {"S": str(video.video_id)}}
    before = table.get_item(TableName=name, Key=key)["Item"]
    answer = client.put(f"/api/vm/videos/{video.video_id}/end")
    assert answer.status_code == 200, answer.text
    after = table.get_item(TableName=name, Key=key)["Item"]
    end = int(streamed.store.clock.now().timestamp()) + 86400
    assert after == {**before, "expiryTime": {"N": str(end)}}
