"""Scenes in the review room: the clip as it is shown, and filmed again."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from penstock.domains.musicvideo.film_studio import FilmStudio
from tests.domains.musicvideo.story import workers
from tests.domains.musicvideo.test_routes import api, editor, filmed  # noqa: F401


def item(client: TestClient, record: str) -> dict[str, Any]:
    answer = client.get("/api/review/items", params={"record": record})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_scene_is_looked_at_and_filmed_again(editor: TestClient, studio: FilmStudio) -> None:  # noqa: F811
    project = filmed(editor, studio)
    scene = f"/api/musicvideo/scenes/{project}/2"
    seen = item(editor, scene)
    assert (seen["files"][0]["file"], seen["files"][0]["viewer"]) == ("clip", "video")
    assert (seen["previous"][-1], seen["next"][-1]) == ("1", "3")
    facts = editor.get("/api/review/film", params={"record": scene, "file": "clip"}).json()
    assert facts["frames"] >= 2
    body = {"decision": "request_changes", "mark": seen["mark"]}
    again = editor.post("/api/review/decisions", params={"record": scene}, json=body)
    assert again.json()["states"] == {"status": "processing"}, again.text
    workers(studio).drain()
    assert item(editor, scene)["states"] == {"status": "completed"}


def test_the_track_of_a_project_is_heard(editor: TestClient, studio: FilmStudio) -> None:  # noqa: F811
    project = f"/api/musicvideo/projects/{filmed(editor, studio)}"
    files = {f["file"]: f["viewer"] for f in item(editor, project)["files"]}
    assert files["track"] == "audio"
    waveform = editor.get("/api/review/waveform", params={"record": project, "file": "track"})
    assert waveform.status_code == 200, waveform.text
