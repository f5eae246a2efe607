"""Views are counted: the first one and every other, once for a request, and never of a video that is not there."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from penstock import FrozenClock
from penstock.domains.videos import editing, video_removal
from penstock.domains.videos.model import Video, ViewMark
from penstock.domains.videos.video_event import VideoEvent
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.view_counting import correct_views, count_view
from penstock.errors import InvalidValue, NotFound
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from tests.domains.videos.records import a_video
from tests.domains.videos.story import settle

pytestmark = pytest.mark.every_engine


def put(library: VideoLibrary, **said: object) -> Video:
    video = a_video(**said)
    library.store.create(video)
    return video


def counted(library: VideoLibrary, video: Video) -> int | None:
    return library.video(video.video_id).view_count


def marks(library: VideoLibrary, video: Video) -> list[str]:
    return [mark.request_id for mark in library.store.find(ViewMark.of_video(video_id=video.video_id))]


def test_the_first_view_and_the_next_are_counted_and_the_new_value_is_told(everywhere: VideoLibrary) -> None:
    """VM-16, VM-17, F-VM-4: viewCount need not be there."""
    video = put(everywhere)
    assert counted(everywhere, video) is None
    assert count_view(everywhere, video.video_id, request_id="a") == 1
    assert count_view(everywhere, video.video_id, request_id="b") == 2
    assert count_view(everywhere, video.video_id) == 3
    assert counted(everywhere, video) == 3


def test_a_request_that_comes_again_is_counted_once_for_a_day(everywhere: VideoLibrary, clock: FrozenClock) -> None:
    """F-VM-4."""
    video, other = put(everywhere), put(everywhere)
    assert [count_view(everywhere, video.video_id, request_id="a") for _ in range(3)] == [1, 1, 1]
    assert count_view(everywhere, other.video_id, request_id="a") == 1
    clock.advance(timedelta(hours=23))
    assert count_view(everywhere, video.video_id, request_id="a") == 1
    clock.advance(timedelta(hours=2))
    assert count_view(everywhere, video.video_id, request_id="a") == 2


def test_no_ghost_appears_of_a_video_that_is_not_there(everywhere: VideoLibrary, clock: FrozenClock) -> None:
    """VM-22, F-VM-4: nor is one counted whose time is over, though its record still stands."""
    ended = put(everywhere, expiry_time=int(clock.now().timestamp()) + 60)
    assert count_view(everywhere, ended.video_id, request_id="a") == 1
    clock.advance(timedelta(seconds=60))
    for video_id in (uuid4(), ended.video_id):
        for request_id in ("a", "b", None):
            with pytest.raises(NotFound):
                count_view(everywhere, video_id, request_id=request_id)
            assert everywhere.store.lookup(Video.at(video_id=video_id)) is None
    assert marks(everywhere, ended) == ["a"]
    clock.advance(timedelta(seconds=-30))
    assert counted(everywhere, ended) == 1


def test_what_was_counted_goes_with_the_video(anywhere: VideoLibrary) -> None:
    video, other = put(anywhere), put(anywhere)
    for number in range(30):
        count_view(anywhere, video.video_id, request_id=f"{number}")
    count_view(anywhere, other.video_id, request_id="0")
    assert len(marks(anywhere, video)) == 30
    video_removal.delete_video(anywhere, video.video_id, by="ann")
    settle(anywhere)
    assert (marks(anywhere, video), marks(anywhere, other)) == ([], ["0"])


def test_a_view_is_no_edit(library: VideoLibrary) -> None:
    video = put(library, version=1)
    assert count_view(library, video.video_id) == 1
    edited = editing.edit_video(library, video.video_id, {"title": "Another"}, version=1, by="ann")
    assert (edited.version, counted(library, video)) == (2, 1)


@pytest.mark.parametrize("wrong", ["", " ", "a b", "a\n", "\0", "é", "a" * 201])
def test_an_id_that_is_none_is_refused(library: VideoLibrary, wrong: str) -> None:
    video = put(library)
    with pytest.raises(InvalidValue, match="a request id has 1 to 200 printable signs"):
        count_view(library, video.video_id, request_id=wrong)
    assert counted(library, video) is None


def test_a_count_is_corrected_with_a_line_that_says_who_and_why(library: VideoLibrary) -> None:
    video = put(library)
    count_view(library, video.video_id, request_id="a")
    assert correct_views(library, video.video_id, 41, by="the admin", why="a robot watched it") == 41
    assert count_view(library, video.video_id, request_id="b") == 42
    with pytest.raises(NotFound):
        correct_views(library, uuid4(), 41, by="the admin", why="a robot watched it")
    with pytest.raises(InvalidValue):
        correct_views(library, video.video_id, -1, by="the admin", why="a robot watched it")
    (line,) = [x for x in library.store.find(SystemAudit.of_project(project_id=EVERYWHERE)) if x.actor == "the admin"]
    assert line.details["why"] == "a robot watched it"
    (told,) = library.store.find(VideoEvent.of_video(video_id=video.video_id))
    assert told.changed == frozenset({"viewCount"}), "VM-20: among what became of the video, too"
