"""A video that is removed while somebody edits it: nothing of it stays, and nothing that is another's goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from penstock.domains.videos import editing, encoding, recognition, video_removal
from penstock.domains.videos.model import SentFile, Video, VideoTag, ViewMark
from penstock.domains.videos.submissions import OnVideo
from penstock.domains.videos.tagging import tag, untag
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.view_counting import count_view
from penstock.errors import Conflict, NotFound
from penstock.kernel.idempotency import Claim, ClaimLost, SystemOnce, begin
from penstock.kernel.record_name import name_of
from penstock.work import Task, TaskStatus, dead_letters
from tests.domains.videos.records import a_video

SHA = "ab" * 32


def inserted(library: VideoLibrary, **said: Any) -> Video:
    video = a_video(sha256=SHA, **said)
    with library.store.change(by="ann") as change:
        change.create(video)
        tag(change, video)
        recognition.take_file(change, video)
    return video


def tagged(library: VideoLibrary, name: str) -> list[Any]:
    return list(library.store.find(VideoTag.of_tag(tag=name)))


def test_tags_that_came_while_it_was_removed_go_with_it(library: VideoLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    video = inserted(library, tags=frozenset({"before"}))
    meanwhile = [True]

    def late(change: Any, read: Video) -> None:
        if meanwhile:
            meanwhile.pop()
            editing.edit_video(library, video.video_id, {"tags": {"after"}}, version=0, by="bob")
        untag(change, read)

    monkeypatch.setattr("penstock.domains.videos.video_removal.untag", late)
    video_removal.delete_video(library, video.video_id, by="ann")
    with pytest.raises(NotFound):
        library.video(video.video_id)
    assert (tagged(library, "before"), tagged(library, "after")) == ([], [])


def test_its_file_is_unknown_again_unless_it_is_another_video_by_now(library: VideoLibrary) -> None:
    first, second = inserted(library), inserted(library)
    video_removal.delete_video(library, first.video_id, by="ann")
    known = recognition.known_file(library.store, second.user_id, SHA)
    assert known is not None
    assert known.video_id == second.video_id
    video_removal.delete_video(library, second.video_id, by="ann")
    assert library.store.lookup(SentFile.at(user_id=second.user_id, sha256=SHA)) is None


def test_what_has_just_ended_keeps_no_other_work_from_being_cancelled(
    library: VideoLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = inserted(library)
    for task in (encoding.make_thumbnails, encoding.transcode):
        with library.store.change() as change:
            task.enqueue(change, OnVideo(video_id=video.video_id), about=video.ref)
    cancel, ended = dead_letters.cancel, [True]

    def late(*given: Any, **options: Any) -> Any:
        if ended:
            ended.pop()
            raise Conflict("it has just ended")
        return cancel(*given, **options)

    monkeypatch.setattr("penstock.domains.videos.video_removal.cancel", late)
    video_removal.delete_video(library, video.video_id, by="ann")
    found = library.store.find(Task.of_record(about=name_of(video.ref)))
    assert sorted(task.status for task in found) == [TaskStatus.CANCELLED, TaskStatus.WAITING]


def test_a_view_that_was_refused_for_another_reason_is_not_said_to_be_counted(
    library: VideoLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = inserted(library)

    def refuse(*given: Any, **options: Any) -> None:
        raise Conflict("somebody is in the way", position=0)

    with monkeypatch.context() as crowded:
        crowded.setattr(library.store.engine, "commit", refuse)
        with pytest.raises(Conflict, match="in the way"):
            count_view(library, video.video_id, request_id="a")
    assert count_view(library, video.video_id, request_id="a") == 1


def test_a_view_whose_claim_was_lost_is_not_said_to_be_counted(library: VideoLibrary) -> None:
    """Another who has the claim by now counts it, or has."""
    store, video = library.store, inserted(library)
    mark = SystemOnce(idempotency_key="k", created_at=store.clock.now(), ttl=2**31)
    claim = begin(store, mark, owner="a", period=timedelta(minutes=1))
    assert isinstance(claim, Claim)
    store.create(ViewMark(video_id=video.video_id, request_id="a", ttl=2**31))
    store.delete(claim.ref)
    with pytest.raises(ClaimLost):
        count_view(replace(library, once=claim), video.video_id, request_id="a")
    assert library.video(video.video_id).view_count is None
