"""What signed URLs say of their files. F-MV-9: a key ends as documented whatever was sent; its ending tells nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from PIL import Image
from starlette.testclient import TestClient

from penstock.auth.api_keys import create_key
from penstock.domains.musicvideo import PLUGIN
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import BACKING_TRACK
from penstock.media.ffmpeg import binary
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from tests.domains.musicvideo.story import begun, workers
from tests.web.client import Client


@pytest.fixture
def editor(studio: FilmStudio) -> TestClient:
    context = DomainContext(studio.store, studio.objects, {"MV_SCENE_SECONDS": "0.5", "MV_SCENES": "1"}.get)
    key = create_key(studio.store, name="editor", role=Role.EDITOR, project=None, by="tests")
    api = build_api([PLUGIN], context, options=WebOptions(secret=b"of the tests", strict_claims=True))
    return Client(api, base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {key.token}"})


def label(editor: TestClient, url: str) -> tuple[str, str]:
    """What a browser is told that the file is, and whether it shows it when it is opened by itself."""
    answer = editor.get(url.removeprefix("http://127.0.0.1:1"))
    assert answer.status_code == 200
    return answer.headers["content-type"], answer.headers["content-disposition"]


def made(into: Path, source: str) -> Path:
    command = [binary(), "-v", "error", "-nostdin", "-f", "lavfi", "-i", source, str(into)]
    subprocess.run(command, check=True, timeout=60)
    return into


def drawn(into: Path) -> Path:
    Image.new("RGB", (64, 64), "teal").save(into)
    return into


def told_of(editor: TestClient, project_id: UUID) -> dict[str, Any]:
    told: dict[str, Any] = editor.get(f"/api/mv/projects/{project_id}").json()
    return told


def test_what_was_sent_is_labelled_as_what_it_is(editor: TestClient, studio: FilmStudio, tmp_path: Path) -> None:
    song, photo = made(tmp_path / "song.ogg", "sine=duration=0.5"), drawn(tmp_path / "photo.jpg")
    film = made(tmp_path / "film.webm", "testsrc2=size=64x36:rate=12:duration=0.5")
    project_id = begun(studio, tmp_path, audio=song, images=[photo]).project_id
    editor.post(f"/api/mv/projects/{project_id}/generate", json={"scenes": 1})
    workers(studio).drain()
    editor.post(f"/api/mv/projects/{project_id}/scenes/1/upload_video", files={"file": film.read_bytes()})
    workers(studio).drain()
    told = told_of(editor, project_id)
    scene = told["scenes"][0]
    assert label(editor, told["audioBackingTrackUrl"]) == ("audio/ogg", "attachment")
    assert label(editor, told["characterImageUrl"]) == ("image/jpeg", "attachment")
    assert label(editor, scene["referenceImageUrls"][0]) == ("image/jpeg", "attachment")
    assert label(editor, scene["videoClipUrl"]) == ("video/webm", "attachment")
    assert label(editor, scene["thumbnailUrl"]) == ("image/jpeg", "inline"), "that is always made here"


def test_a_product_and_a_character_are_labelled_as_what_they_are(
    editor: TestClient, studio: FilmStudio, tmp_path: Path
) -> None:
    photo = drawn(tmp_path / "photo.webp")
    told = told_of(editor, begun(studio, tmp_path, mode="ad-creative", audio=None, images=[photo]).project_id)
    assert label(editor, told["productImageUrl"]) == ("image/webp", "attachment")
    sent = editor.post("/api/mv/upload_character_reference", files={"file": photo.read_bytes()}).json()
    assert label(editor, sent["imageUrl"]) == ("image/webp", "attachment")


@pytest.mark.parametrize(
    "page", [b"<!doctype html><script>alert(1)</script>", b"<svg xmlns='http://www.w3.org/2000/svg'/>"]
)
def test_a_page_among_the_files_is_never_shown(
    editor: TestClient, studio: FilmStudio, tmp_path: Path, page: bytes
) -> None:
    project_id = begun(studio, tmp_path).project_id
    studio.objects.put(BACKING_TRACK.key(project_id=project_id), page)
    url = told_of(editor, project_id)["audioBackingTrackUrl"]
    assert label(editor, url) == ("application/octet-stream", "attachment")
