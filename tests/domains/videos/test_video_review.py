"""Videos in the review room: the stream, each size, and the file as it was sent, with its frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from penstock.domains.videos.video_library import VideoLibrary
from tests.domains.videos.story import settle
from tests.domains.videos.test_routes import api, editor, guest  # noqa: F401
from tests.domains.videos.web import sent, told


def test_a_video_is_watched_and_its_frames_are_known_without_looking(
    editor: TestClient,  # noqa: F811
    guest: TestClient,  # noqa: F811
    library: VideoLibrary,
    film: Path,
) -> None:
    video_id = sent(editor, film, category="demo")
    settle(library)
    record = f"/api/videos/videos/{video_id}"
    item: dict[str, Any] = told(editor.get("/api/review/items", params={"record": record}))
    files = {f["file"]: f for f in item["files"]}
    assert files["stream"]["viewer"] == "hls"
    assert guest.get(files["stream"]["stream"]).text.startswith("#EXTM3U")
    assert files["source"]["viewer"] == "video"
    assert files["source"]["film"]["frames"] > 1
    assert [f["viewer"] for name, f in files.items() if name.startswith("film.")] != []
    asked = {"record": record, "file": "source"}
    assert told(editor.get("/api/review/film", params=asked)) == files["source"]["film"]
