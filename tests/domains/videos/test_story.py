"""A film is sent, encoded, watched, found, and forgotten: the same on every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import FrozenClock
from penstock.domains.videos import removal
from penstock.domains.videos.finding import VideoQuestion, find_videos
from penstock.domains.videos.model import SubmissionStatus, VideoStatus
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import NotFound
from tests.domains.videos.story import added, files, seen, settle


def test_a_film_becomes_a_stream_and_is_forgotten(anywhere: VideoLibrary, clock: FrozenClock, film: Path) -> None:
    """VM-19, VM-20: what is inserted is encoded; what is deleted leaves nothing."""
    library = anywhere
    video = added(library, film, tags=["launch", "demo"], category="demo")
    assert seen(library, video.video_id).status is SubmissionStatus.ACCEPTED
    assert (video.status, video.error) == (VideoStatus.READY, None)
    assert (video.duration, video.resolution, video.format) == (2000, "320x180", "mp4")
    assert video.file_size == film.stat().st_size
    assert video.resolutions
    assert video.stream_s3_key in files(library)
    assert video.thumbnail_s3_key in files(library)
    found = find_videos(library.store, VideoQuestion(tags=frozenset({"launch", "demo"})), limit=10)
    assert [each.video_id for each in found.videos] == [video.video_id]
    removal.delete_video(library, video.video_id, by="ann")
    with pytest.raises(NotFound):
        library.video(video.video_id)
    settle(library)
    assert files(library) == []
    assert find_videos(library.store, VideoQuestion(tags=frozenset({"launch"})), limit=10).videos == []
