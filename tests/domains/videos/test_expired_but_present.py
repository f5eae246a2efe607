"""A video that has come to its end is gone for everybody at once, though the database has not removed it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from fastapi.routing import APIRoute

from penstock import FrozenClock
from penstock.domains.videos.model import Video
from penstock.domains.videos.video_library import VideoLibrary
from penstock.kernel.record_name import name_of
from penstock.schema.role import Role
from penstock.work import Task
from tests.domains.videos.story import feed_of, workers
from tests.domains.videos.streams import inserted
from tests.domains.videos.web import client_of, service

TITLE = "Of yesterday"
MASTER = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n180p/index.m3u8\n"
RUNG = '#EXTM3U\n#EXT-X-MAP:URI="init.mp4"\n#EXTINF:1.0,\nsegment_00001.m4s\n#EXT-X-ENDLIST\n'
BODIES: dict[str, Any] = {"PATCH": {"title": "x", "version": 1}, "PUT": {"after": 60}}


@pytest.fixture(params=["library", "streamed"])
def kept(request: pytest.FixtureRequest) -> VideoLibrary:
    """Where nobody removes what has ended: SQLite without its reaper, and a server without TTL."""
    library: VideoLibrary = request.getfixturevalue(request.param)
    return library


def watchable(library: VideoLibrary, **said: Any) -> Video:
    """A video with the files by which it is watched."""
    video = inserted(library, category="demo", tags=["short"], status="ready", version=1, title=TITLE, **said)
    named = {"hls/master.m3u8": MASTER, "hls/180p/index.m3u8": RUNG, "scrub.vtt": "WEBVTT\n", "scrub.jpg": "", "p": ""}
    for name, text in named.items():
        library.objects.put(f"{video.folder}{name}", text.encode())
    video.stream_s3_key = f"{video.folder}hls/master.m3u8"
    video.scrub_s3_key, video.scrub_track_s3_key = f"{video.folder}scrub.jpg", f"{video.folder}scrub.vtt"
    library.store.put(video)
    return video


def test_no_route_list_playlist_or_count_tells_of_an_ended_video(kept: VideoLibrary, clock: FrozenClock) -> None:
    """VM-22, VM-23: every route that names a video is tried, those of records as well."""
    end = int((clock.now() + timedelta(minutes=5)).timestamp())
    video, stays = watchable(kept, expiry_time=end), watchable(kept)
    api = service(kept)
    client = client_of(api, kept, Role.ADMIN)
    link = client.get(f"/api/vm/videos/{video.video_id}").json()["stream_url"].rpartition("/")[0]
    watched = [f"{link}/{name}" for name in ("master.m3u8", "180p.m3u8", "180p/segment_00001.m4s", "scrub.vtt")]
    lists = [
        *(
            f"/api/vm/videos?{asked}"
            for asked in ("user_id=u", "category=demo", "user_id=u&category=demo", "tag=short")
        ),
        *(
            "/api/videos/videos?pattern=by_user&user_id=u",
            "/api/videos/videos?pattern=newest_of_category&category=demo",
        ),
        "/api/videos/video_tags?pattern=of_tag&tag=short",
    ]

    def statuses() -> dict[str, int]:
        return {path: client.get(path, follow_redirects=False).status_code for path in watched}

    assert set(statuses().values()) == {200, 302}
    assert all(_ids(client.get(path)) == {str(video.video_id), str(stays.video_id)} for path in lists)

    clock.advance(timedelta(minutes=5))
    assert set(statuses().values()) == {404}
    for path in lists:
        assert _ids(client.get(path)) == {str(stays.video_id)}, path
    for asked in (Video.by_user(user_id="u"), Video.newest_of_category(category="demo")):
        assert kept.store.count(asked).number == 1
    # These tell what became of a video, and not the video.
    besides = ("/api/vm/videos/{video_id}/audit", "/api/vm/submissions/", "/api/videos/video_submissions")
    tried = 0
    for route in [r for r in _routes(api) if "{video_id}" in r.path and "ticket" not in r.path]:
        if route.path.startswith(besides) or "/history" in route.path:
            continue
        for method in (route.methods or set()) - {"HEAD", "OPTIONS"}:
            path = route.path.replace("{video_id}", str(video.video_id))
            answer = client.request(method, path, json=BODIES.get(method))
            assert answer.status_code in (404, 405, 410, 422) or method == "POST", (method, path, answer.text)
            assert TITLE not in answer.text
            tried += 1
    assert tried >= 5


def test_the_work_on_a_video_that_ends_meanwhile_is_not_done(kept: VideoLibrary, clock: FrozenClock) -> None:
    """VM-22: a task that comes to an ended video leaves it alone."""
    video = inserted(kept, expiry_time=int(clock.now().timestamp()) + 60)
    feed_of(kept).drain()
    clock.advance(timedelta(minutes=2))
    workers(kept).drain()
    tasks = list(kept.store.find(Task.of_record(about=name_of(video.ref))))
    assert len(tasks) == 2
    assert {task.status.value for task in tasks} == {"done"}


def _ids(answer: Any) -> set[str]:
    assert answer.status_code == 200, answer.text
    told = answer.json()
    return {str(each.get("video_id") or each.get("videoId")) for each in told["items"]}


def _routes(api: Any) -> list[APIRoute]:
    return [route for route in api.routes if isinstance(route, APIRoute)]
