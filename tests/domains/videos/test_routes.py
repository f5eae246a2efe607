"""The catalogue through its doors: sent by signed URLs, watched by links, edited under a version."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from penstock import FrozenClock
from penstock.domains.videos.model import Video, VideoTag
from penstock.domains.videos.video_library import VideoLibrary
from penstock.schema.role import Role
from tests.domains.videos.conftest import BEGUN
from tests.domains.videos.films import made
from tests.domains.videos.story import files, settle
from tests.domains.videos.web import HERE, announced, client_of, sent, service, told

NOW = int(BEGUN.timestamp())


@pytest.fixture
def api(library: VideoLibrary) -> Any:
    return service(library)


@pytest.fixture
def editor(api: Any, library: VideoLibrary) -> TestClient:
    return client_of(api, library, Role.EDITOR)


@pytest.fixture
def guest(api: Any, library: VideoLibrary) -> TestClient:
    return client_of(api, library, None)


Put = Callable[..., Video]


@pytest.fixture
def put(library: VideoLibrary) -> Put:
    """Videos without files, as many as a list needs."""
    from penstock.domains.videos.tagging import tag

    def put(**said: Any) -> Video:
        given = {"video_id": uuid4(), "user_id": "u", "created_at": NOW, "title": "t", "duration": 1, "version": 1}
        video = Video(**{**given, **said})
        with library.store.change() as change:
            change.create(video)
            tag(change, video)
        return video

    return put


def listed(client: TestClient, **asked: Any) -> list[str]:
    """The ids of all pages, two at a time."""
    found: list[str] = []
    cursor = None
    while True:
        page = told(
            client.get("/api/vm/videos", params={**asked, "limit": 2, **({"cursor": cursor} if cursor else {})})
        )
        found += [item["video_id"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            return found


# Sending


def test_a_film_is_sent_by_a_signed_url_and_watched_without_a_key(
    editor: TestClient, guest: TestClient, library: VideoLibrary, film: Path
) -> None:
    """VM-5, VM-7: the record has places only; every byte comes from a signed URL."""
    video_id = sent(editor, film, tags=["demo"])
    settle(library)
    video = told(editor.get(f"/api/vm/videos/{video_id}"))
    assert (video["status"], video["progress"], video["tags"]) == ("ready", 1.0, ["demo"])
    picture = guest.get(video["thumbnail_url"].removeprefix(HERE))
    assert picture.headers["content-type"] == "image/jpeg"
    assert picture.content[:2] == b"\xff\xd8"
    master = guest.get(video["stream_url"])
    assert master.headers["content-type"] == "application/vnd.apple.mpegurl"
    rungs = [line for line in master.text.splitlines() if not line.startswith("#")]
    base = video["stream_url"].rpartition("/")[0]
    playlist = guest.get(f"{base}/{rungs[0]}").text
    pieces = [*re.findall(r'URI="([^"]+)"', playlist), *(u for u in playlist.splitlines() if u and u[0] != "#")]
    assert len(pieces) >= 2
    for piece in pieces:
        got = guest.get(piece.removeprefix(HERE), headers={"Range": "bytes=0-3"})
        assert (got.status_code, len(got.content)) == (206, 4)
    rung, url = next(iter(video["resolutions"].items()))
    assert rung == rungs[0].removesuffix(".m3u8")
    whole = guest.get(url.removeprefix(HERE))
    assert whole.content[4:8] == b"ftyp"
    track = guest.get(video["scrub_track_url"]).text
    sheet = re.findall(r"(http\S+)#xywh", track)[0]
    assert guest.get(sheet.removeprefix(HERE)).content[:2] == b"\xff\xd8"


def test_a_record_says_what_the_file_is_and_not_what_it_is_called(
    editor: TestClient, library: VideoLibrary, tmp_path: Path
) -> None:
    """VM-2, VM-4: an MKV that is called mp4 is what it is."""
    disguised = made(tmp_path / "x.mkv", seconds=1, size="64x48").rename(tmp_path / "holiday.mp4")
    video_id = sent(editor, disguised, content_type="video/mp4")
    settle(library)
    video = told(editor.get(f"/api/vm/videos/{video_id}"))
    assert (video["duration"], video["resolution"], video["status"]) == (1000, "64x48", "ready")
    assert video["format"] in ("matroska", "webm")


def test_only_those_who_may_send_a_film_are_told_where_to(
    api: Any, editor: TestClient, library: VideoLibrary, film: Path
) -> None:
    path = f"/api/vm/submissions/{announced(editor, film)['video_id']}"
    assert told(editor.get(path))["upload"] is not None
    assert told(client_of(api, library, Role.VIEWER).get(path))["upload"] is None


def test_a_large_film_is_sent_in_parts_and_goes_on_where_it_broke(
    editor: TestClient, library: VideoLibrary, film: Path, tmp_path: Path
) -> None:
    large, padding = tmp_path / "large.mp4", 70_000_000
    large.write_bytes(film.read_bytes() + padding.to_bytes(4, "big") + b"free" + bytes(padding - 8))
    body, reserved = large.read_bytes(), announced(editor, large)
    video_id, parts = reserved["video_id"], reserved["upload"]["parts"]
    assert len(parts) == 5
    for part in parts[:3]:
        sent = editor.put(part["url"].removeprefix(HERE), content=body[part["start"] : part["stop"]])
        assert sent.status_code < 300, sent.text
    digest = {"sha256": sha256(body).hexdigest()}
    assert editor.post(f"/api/vm/submissions/{video_id}/complete", json=digest).status_code == 422
    missing = told(editor.get(f"/api/vm/submissions/{video_id}"))["upload"]["parts"]
    assert [part["number"] for part in missing] == [4, 5]
    for part in missing:
        editor.put(part["url"].removeprefix(HERE), content=body[part["start"] : part["stop"]])
    told(editor.post(f"/api/vm/submissions/{video_id}/complete", json=digest), 202)
    settle(library)
    video = told(editor.get(f"/api/vm/videos/{video_id}"))
    assert (video["status"], video["file_size"], video["duration"]) == ("ready", len(body), 2000)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"this is not a film at all, but text", "text"), (b"\x00\x01" * 400, "damaged"), (b"\x89PNG\r\n\x1a\n" * 9, "")],
)
def test_what_is_no_film_is_refused_with_the_reason_and_leaves_nothing(
    editor: TestClient, library: VideoLibrary, tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(content)
    video_id = sent(editor, path)
    settle(library)
    submission = told(editor.get(f"/api/vm/submissions/{video_id}"))
    assert submission["status"] == "refused"
    assert reason in submission["error"]
    assert "MP3" not in submission["error"], "it is asked for a video"
    assert editor.get(f"/api/vm/videos/{video_id}").status_code == 404
    assert files(library) == []
    assert told(editor.get("/api/vm/submissions", params={"user_id": "user_789"}))["items"][0]["status"] == "refused"


def test_a_file_that_has_not_arrived_is_not_looked_at(editor: TestClient, film: Path) -> None:
    video_id = announced(editor, film)["video_id"]
    answer = editor.post(f"/api/vm/submissions/{video_id}/complete", json={"sha256": "0" * 64})
    assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (422, "upload-refused")
    again = told(editor.get(f"/api/vm/submissions/{video_id}"))
    assert (again["status"], bool(again["upload"]["url"])) == ("awaited", True)


def test_other_bytes_than_announced_are_refused(editor: TestClient, library: VideoLibrary, film: Path) -> None:
    reserved = announced(editor, film)
    upload, video_id = reserved["upload"], reserved["video_id"]
    editor.put(upload["url"].removeprefix(HERE), content=film.read_bytes(), headers=upload["headers"])
    path = f"/api/vm/submissions/{video_id}/complete"
    told(editor.post(path, json={"sha256": "0" * 64}), 202)
    settle(library)
    submission = told(editor.get(f"/api/vm/submissions/{video_id}"))
    assert submission["status"] == "refused"
    assert re.search("another SHA-256 .*announce the file again", submission["error"])
    assert "upload" not in submission["error"].lower(), "what we call it inside"
    assert files(library) == []
    again = told(editor.post(path, json={"sha256": sha256(film.read_bytes()).hexdigest()}), 409)
    assert (again["type"], submission["error"] in again["detail"]) == ("submission-refused", True)


def test_two_words_about_one_file_are_refused_before_it_is_looked_at(
    editor: TestClient, library: VideoLibrary, film: Path
) -> None:
    digest = sha256(film.read_bytes()).hexdigest()
    reserved = announced(editor, film, sha256=digest)
    upload, path = reserved["upload"], f"/api/vm/submissions/{reserved['video_id']}"
    editor.put(upload["url"].removeprefix(HERE), content=film.read_bytes(), headers=upload["headers"])
    assert "SHA-256" in told(editor.post(f"{path}/complete", json={"sha256": "0" * 64}), 422)["detail"]
    assert told(editor.get(path))["status"] == "awaited"
    told(editor.post(f"{path}/complete", json={"sha256": digest.upper()}), 202)
    settle(library)
    assert told(editor.get(path))["status"] == "accepted"


def test_a_submission_that_is_repeated_is_the_same(editor: TestClient, library: VideoLibrary, film: Path) -> None:
    body = {"user_id": "u", "title": "t", "size": film.stat().st_size}
    first, second = (
        told(editor.post("/api/vm/videos", json=body, headers={"Idempotency-Key": "once"}), 201) for _ in range(2)
    )
    assert first["video_id"] == second["video_id"]
    assert len(told(editor.get("/api/vm/submissions", params={"user_id": "u"}))["items"]) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 0},
        {"size": 10**11},
        {"title": ""},
        {"tags": ["x"] * 21},
        {"tags": [" "]},
        {"tags": ["x" * 65]},
        {"sha256": "abc"},
        {"content_type": "bogus\r\nX: y"},
        {"content_type": "é"},
        {"view_count": 5},
        {"lasts": 0},
        {"user_id": ""},
    ],
)
def test_a_submission_that_cannot_be_is_refused(editor: TestClient, wrong: dict[str, Any]) -> None:
    """VM-27: nobody brings views along."""
    body = {"user_id": "u", "title": "t", "size": 100, **wrong}
    answer = editor.post("/api/vm/videos", json=body)
    assert 400 <= answer.status_code < 500, answer.text


def test_a_film_that_is_too_large_is_told_so(editor: TestClient) -> None:
    answer = told(editor.post("/api/vm/videos", json={"user_id": "u", "title": "t", "size": 10**11}), 413)
    assert (answer["type"], "record" in answer["hint"]) == ("file-too-large", False)


@pytest.mark.parametrize("without", ["content-type", "content-length"])
def test_a_url_that_is_used_without_its_headers_says_so(editor: TestClient, film: Path, without: str) -> None:
    upload = announced(editor, film)["upload"]
    content: Any = film.read_bytes() if without == "content-type" else iter([film.read_bytes()])
    headers = {} if without == "content-type" else upload["headers"]
    answer = told(editor.put(upload["url"].removeprefix(HERE), content=content, headers=headers), 403)
    assert (answer["type"], "new URL" in answer["hint"]) == ("wrong-headers", False)
    assert without in answer["detail"].lower()


# Watching


def test_a_link_opens_its_own_video_alone_and_ends(
    editor: TestClient, guest: TestClient, library: VideoLibrary, film: Path, clock: FrozenClock
) -> None:
    one, other = sent(editor, film), sent(editor, film)
    settle(library)
    link = told(editor.get(f"/api/vm/videos/{one}"))["stream_url"]
    assert guest.get(link).status_code == 200
    assert guest.get(link.replace(one, other)).status_code == 404
    ticket = link.split("/")[-2]
    later = f"{int(ticket.partition('-')[0]) + 1}-{ticket.partition('-')[2]}"
    for forged in (later, "x", ticket[:-1], f"0{ticket}", f"-{ticket}"):
        assert guest.get(link.replace(ticket, forged)).status_code == 404, forged
    base = link.rpartition("/")[0]
    for name in ("nothing.m3u8", "..%2f..%2fx.m3u8", "180p/%2e%2e", "180p/..%5cx", "x" * 3000 + ".m3u8"):
        assert guest.get(f"{base}/{name}").status_code in (302, 404), name
    clock.advance(timedelta(hours=12))
    assert guest.get(link).status_code == 404


def test_no_url_outlives_the_end_of_its_video(
    editor: TestClient, guest: TestClient, library: VideoLibrary, film: Path, clock: FrozenClock
) -> None:
    video_id = sent(editor, film, lasts=600)
    settle(library)
    video = told(editor.get(f"/api/vm/videos/{video_id}"))
    assert video["expiry_time"] == NOW + 600
    assert video["urls_expire_at"] == "2037-06-06T03:50:00Z"
    base = video["stream_url"].rpartition("/")[0]
    rung = next(iter(video["resolutions"]))
    segment = guest.get(f"{base}/{rung}.m3u8").text.splitlines()[-2]
    assert guest.get(segment.removeprefix(HERE)).status_code == 200
    clock.advance(timedelta(seconds=600))
    for url in (segment, video["thumbnail_url"], f"{base}/master.m3u8", f"{base}/{rung}.m3u8"):
        assert guest.get(url.removeprefix(HERE)).status_code in (403, 404), url
    assert editor.get(f"/api/vm/videos/{video_id}").status_code == 404


def test_what_a_long_film_shows_later_is_signed_when_it_is_shown(
    editor: TestClient, guest: TestClient, library: VideoLibrary, film: Path, clock: FrozenClock
) -> None:
    video_id = sent(editor, film)
    settle(library)
    video = told(editor.get(f"/api/vm/videos/{video_id}"))
    rung, base = next(iter(video["resolutions"])), video["stream_url"].rpartition("/")[0]
    key = f"videos/{video_id}/hls/{rung}/index.m3u8"
    kept = library.objects.get(key).read().decode()
    head, _, tail = kept.partition("#EXTINF")
    segment = tail.splitlines()[1]
    long = head + "".join(f"#EXTINF:6.0,\n{segment}\n" for _ in range(1200)) + "#EXT-X-ENDLIST\n"
    library.objects.put(key, long.encode())
    shown = [line for line in guest.get(f"{base}/{rung}.m3u8").text.splitlines() if line and line[0] != "#"]
    assert len(shown) == 1200
    assert all(line.startswith(HERE) for line in shown[:100])
    clock.advance(timedelta(hours=2))
    assert guest.get(shown[0].removeprefix(HERE)).status_code == 403
    answer = guest.get(f"{base}/{shown[-1]}", follow_redirects=False)
    assert answer.status_code == 302
    assert guest.get(answer.headers["location"].removeprefix(HERE)).status_code == 200


# Finding


def test_videos_are_found_newest_first_in_pages(editor: TestClient, put: Put) -> None:
    """VM-9, VM-11, VM-12, F-VM-2: by user, by category, by both, and by time, both ends included."""
    mine = [put(created_at=NOW + n, category="demo" if n % 2 else "talk") for n in range(5)]
    other = put(user_id="v", created_at=NOW + 9, category="demo")
    ids = [str(video.video_id) for video in mine]
    assert listed(editor, user_id="u") == ids[::-1]
    assert listed(editor, user_id="u", since=NOW + 1, until=NOW + 3) == ids[3:0:-1]
    assert listed(editor, user_id="u", since=NOW + 4) == [ids[4]]
    assert listed(editor, category="demo") == [str(other.video_id), ids[3], ids[1]]
    assert listed(editor, category="demo", user_id="u") == [ids[3], ids[1]]
    assert listed(editor, category="demo", user_id="u", until=NOW + 1) == [ids[1]]
    assert listed(editor, category="demo", since=NOW + 2) == [str(other.video_id), ids[3]]


def test_videos_are_found_by_all_of_some_tags(editor: TestClient, put: Put) -> None:
    """F-VM-7: by one tag, by several, whatever their order; a page may be looked for long."""
    both = [str(put(created_at=NOW + n, tags=frozenset({"a", "b"})).video_id) for n in (0, 3, 7)]
    for n in range(10):
        put(created_at=NOW + n, tags=frozenset({"a", "c"}))
    assert listed(editor, tag=["a", "b"]) == both[::-1]
    assert listed(editor, tag=["b", "a"]) == both[::-1]
    assert len(listed(editor, tag=["a"])) == 13
    assert listed(editor, tag=["a", "b"], since=NOW + 1) == both[:0:-1]
    assert listed(editor, tag=["b", "c"]) == []


@pytest.mark.parametrize(
    "asked", [{}, {"tag": "a", "user_id": "u"}, {"since": 5, "until": 4, "user_id": "u"}, {"user_id": ""}, {"limit": 5}]
)
def test_a_question_that_nothing_answers_is_refused(editor: TestClient, asked: dict[str, Any]) -> None:
    answer = editor.get("/api/vm/videos", params=asked)
    assert answer.status_code in (400, 422), answer.text


def test_moments_the_wrong_way_round_are_told_so(editor: TestClient) -> None:
    problem = told(editor.get("/api/vm/videos?user_id=u&since=5&until=4"), 400)
    assert (problem["type"], "since" in problem["hint"]) == ("empty-span", True)
    problem = told(editor.get(f"/api/vm/videos?user_id=u&since={NOW * 1000}"), 422)
    assert "seconds since 1970" in problem["detail"]


# Editing


def test_an_edit_of_a_stale_version_is_refused_with_the_current_one(editor: TestClient, put: Put) -> None:
    """VM-18."""
    path = f"/api/vm/videos/{put().video_id}"
    assert told(editor.patch(path, json={"version": 1, "title": "New"}))["version"] == 2
    answer = editor.patch(path, json={"version": 1, "title": "Newer"})
    assert answer.status_code == 409
    assert "version 2" in answer.json()["detail"]
    assert told(editor.get(path))["title"] == "New"


def test_tags_are_found_as_they_are_edited(editor: TestClient, library: VideoLibrary, put: Put) -> None:
    video = put(tags=frozenset({"a", "b"}))
    path = f"/api/vm/videos/{video.video_id}"
    told(editor.patch(path, json={"version": 1, "tags": ["b", "c"]}))
    assert listed(editor, tag="a") == []
    assert listed(editor, tag=["b", "c"]) == [str(video.video_id)]
    told(editor.patch(path, json={"version": 2, "tags": []}))
    assert told(editor.get(path))["tags"] is None
    for each in "abc":
        assert list(library.store.find(VideoTag.of_tag(tag=each))) == []


def test_an_end_is_set_without_touching_anything_else(
    editor: TestClient, library: VideoLibrary, put: Put, clock: FrozenClock
) -> None:
    """VM-21, VM-22, F-VM-5: in a day; then it is found by nothing."""
    video = put(tags=frozenset({"a"}), category="demo", view_count=7)
    path = f"/api/vm/videos/{video.video_id}"
    assert told(editor.put(f"{path}/end"))["expiry_time"] == NOW + 86400
    video.expiry_time = NOW + 86400
    assert library.store.get(video.ref) == video
    told(editor.delete(f"{path}/end"))
    clock.advance(timedelta(days=2))
    assert listed(editor, tag="a") == [str(video.video_id)]
    told(editor.put(f"{path}/end", json={"after": 60}))
    clock.advance(timedelta(seconds=60))
    assert editor.get(path).status_code == 404
    for asked in ({"tag": "a"}, {"user_id": "u"}, {"category": "demo"}, {"category": "demo", "user_id": "u"}):
        assert listed(editor, **asked) == []
    assert editor.patch(path, json={"version": 1, "title": "x"}).status_code == 404
    assert editor.put(f"{path}/end").status_code == 404
    assert editor.delete(path).status_code == 404


def test_a_question_that_is_misspelt_is_not_widened_but_refused(editor: TestClient) -> None:
    answer = editor.get("/api/vm/videos", params={"user_id": "u", "untill": 1})
    assert answer.status_code == 422
    assert "did you mean until?" in answer.text


def test_an_end_behind_all_dates_hides_nothing_from_others(editor: TestClient, library: VideoLibrary, put: Put) -> None:
    """Whoever has stored it: the video and the lists it is in are shown."""
    video = put(tags=frozenset({"a"}), expiry_time=253_402_300_800)
    assert editor.get(f"/api/vm/videos/{video.video_id}").status_code == 200
    assert listed(editor, tag="a") == [str(video.video_id)]
    assert editor.put(f"/api/vm/videos/{video.video_id}/end", json={"expiry_time": 253_402_300_800}).status_code == 422


def test_an_end_in_the_past_is_refused(editor: TestClient, put: Put) -> None:
    path = f"/api/vm/videos/{put().video_id}/end"
    assert editor.put(path, json={"expiry_time": NOW}).status_code == 422


def test_a_file_is_said_to_be_there_as_often_as_one_likes(
    editor: TestClient, library: VideoLibrary, film: Path
) -> None:
    video_id = sent(editor, film)
    for key in ("a", "a", "b"):
        path = f"/api/vm/submissions/{video_id}/complete"
        told(editor.post(path, headers={"Idempotency-Key": key}), 202)
    settle(library)
    told(editor.post(f"/api/vm/submissions/{video_id}/complete", headers={"Idempotency-Key": "c"}), 202)
    assert told(editor.get(f"/api/vm/submissions/{video_id}"))["status"] == "accepted"


def test_an_end_of_null_is_no_end(editor: TestClient, put: Put) -> None:
    path = f"/api/vm/videos/{put(expiry_time=NOW + 60).video_id}/end"
    assert told(editor.put(path, json={"expiry_time": None}))["expiry_time"] is None
    assert told(editor.put(path, json={}))["expiry_time"] == NOW + 86400


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"expiry_time": NOW + 60, "after": 60}, "expiry_time or after, not both"),
        ({"expiry_time": None, "after": 60}, "expiry_time or after, not both"),
        ({"after": None}, "after"),
        ({"expiry_time": (NOW + 60) * 1000}, "seconds since 1970"),
        ({"expiry_time": NOW}, "past"),
    ],
)
def test_an_end_that_cannot_be_meant_is_refused(
    editor: TestClient, library: VideoLibrary, put: Put, said: dict[str, Any], message: str
) -> None:
    video = put(expiry_time=NOW + 5)
    problem = told(editor.put(f"/api/vm/videos/{video.video_id}/end", json=said), 422)
    assert message in problem["detail"]
    assert "engine" not in problem["title"]
    assert library.store.get(video.ref) == video


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""},
        {"title": " \t"},
        {"title": None},
        {"title": "x" * 501},
        {"category": ""},
        {"category": " "},
        {"category": "x\ny"},
        {"category": "x" * 101},
        {"tags": ["x\ny"]},
        {"tags": [" "]},
        {"tags": ["x" * 65]},
        {"tags": [str(n) for n in range(21)]},
    ],
)
def test_what_no_announcement_may_say_no_edit_may(editor: TestClient, put: Put, wrong: dict[str, Any]) -> None:
    path = f"/api/vm/videos/{put().video_id}"
    refused = told(editor.patch(path, json={"version": 1, **wrong}), 422)
    assert told(editor.post("/api/vm/videos", json={"user_id": "u", "title": "t", "size": 9, **wrong}), 422)
    assert next(iter(wrong)).removesuffix("s") in refused["detail"]
    assert told(editor.get(path))["version"] == 1


def test_an_edit_of_nothing_is_refused(editor: TestClient, put: Put) -> None:
    path = f"/api/vm/videos/{put().video_id}"
    assert "nothing to change" in told(editor.patch(path, json={"version": 1}), 422)["detail"]
    assert told(editor.get(path))["version"] == 1


def test_a_video_that_nobody_has_seen_was_seen_no_time(editor: TestClient, library: VideoLibrary, put: Put) -> None:
    video = put()
    assert told(editor.get(f"/api/vm/videos/{video.video_id}"))["view_count"] == 0
    assert told(editor.get("/api/vm/videos?user_id=u"))["items"][0]["view_count"] == 0
    assert library.store.get(video.ref).view_count is None, "as the document has it"


def test_the_description_of_the_api_says_what_moments_are_counted_in(api: Any) -> None:
    described = api.openapi()
    schemas = described["components"]["schemas"]
    [find] = [described["paths"]["/api/vm/videos"]["get"]]
    moments = [each for each in find["parameters"] if each.get("name") in ("since", "until")]
    fields = [schemas["SetEnd"]["properties"]["expiry_time"], schemas["VideoView"]["properties"]["expiry_time"]]
    fields += [schemas[name]["properties"]["created_at"] for name in ("VideoView", "SubmissionView")]
    assert len(moments) == 2
    for each in (*moments, *fields):
        assert "since 1970" in each["description"]
    edit = schemas["EditVideo"]["properties"]["title"]
    assert (edit["type"], "default" in edit, "title" in schemas["EditVideo"]["required"]) == ("string", False, False)
