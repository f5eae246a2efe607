"""What people do with the API in these tests: announce a film, send it, look at it, watch it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from penstock.auth.api_keys import create_key
from penstock.domains.videos import PLUGIN
from penstock.domains.videos.video_library import VideoLibrary
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from tests.web.client import Client

HERE = "http://127.0.0.1:1"
"Where signed URLs lead in these tests."


def service(library: VideoLibrary, settings: Mapping[str, str] | None = None, **options: Any) -> Any:
    """The whole service on a library's store and files."""
    context = DomainContext(library.store, library.objects, (settings or {}).get)
    return build_api([PLUGIN], context, options=WebOptions(secret=b"of the tests", strict_claims=True, **options))


def client_of(api: Any, library: VideoLibrary, role: Role | None) -> TestClient:
    """Somebody with a key of a role, or with none."""
    headers = {}
    if role is not None:
        headers["Authorization"] = f"Bearer {create_key(library.store, name=role.value, role=role, by='tests').token}"
    return Client(api, base_url="http://127.0.0.1", headers=headers, raise_server_exceptions=False)


def told(answer: Any, status: int = 200) -> dict[str, Any]:
    """What an answer of some status says."""
    assert answer.status_code == status, answer.text
    said: dict[str, Any] = answer.json()
    return said


def announced(client: TestClient, film: Path, **said: Any) -> dict[str, Any]:
    """A film that will be sent."""
    body = {"user_id": "user_789", "title": "Product Launch Demo", "file_name": film.name, **said}
    return told(client.post("/api/vm/videos", json={"size": film.stat().st_size, **body}), 201)


def sent(client: TestClient, film: Path, **said: Any) -> str:
    """A film that was announced, sent to its signed URL, and said to be there; the id of the video it will be."""
    reserved = announced(client, film, **said)
    upload, video_id = reserved["upload"], str(reserved["video_id"])
    answer = client.put(upload["url"].removeprefix(HERE), content=film.read_bytes(), headers=upload["headers"])
    assert answer.status_code < 300, answer.text
    digest = sha256(film.read_bytes()).hexdigest()
    told(client.post(f"/api/vm/submissions/{video_id}/complete", json={"sha256": digest}), 202)
    return video_id
