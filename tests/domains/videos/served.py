"""The API on a library, as people of each role meet it."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from penstock.auth.api_keys import create_key
from penstock.domains.videos import PLUGIN
from penstock.domains.videos.video_library import VideoLibrary
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from tests.domains.videos.story import context_of


def service(library: VideoLibrary) -> Any:
    options = WebOptions(secret=b"of the tests", strict_claims=True)
    return build_api([PLUGIN], context_of(library), options=options)


def client_of(api: Any, library: VideoLibrary, role: Role) -> TestClient:
    key = create_key(library.store, name=role.value, role=role, by="tests")
    headers = {"Authorization": f"Bearer {key.token}"}
    return TestClient(api, base_url="http://127.0.0.1", headers=headers, raise_server_exceptions=False)
