"""Statements of the documents that hold across the parts: what is stored when, where files lie, and what may fail."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from penstock import FrozenClock, Store
from penstock.auth.api_keys import create_key
from penstock.domains.musicvideo import PLUGIN, projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.final_cut import ToCompose
from penstock.domains.musicvideo.model import Project, ProjectStatus, Scene, SceneStatus
from penstock.errors import Unavailable
from penstock.media.compose import Cut
from penstock.objects.s3 import S3Connection, S3Objects
from penstock.operations.writes import Patch
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work import Task, TaskStatus
from penstock.work.domain_context import DomainContext
from tests.domains.musicvideo.quick_providers import PICTURE, QuickProviders, film
from tests.domains.musicvideo.story import ANN, assert_counted, begun, generated, later, scenes, workers
from tests.domains.speech.faults import FailingStore
from tests.servers.seaweedfs import ACCESS_KEY, SECRET_KEY, SeaweedFS
from tests.web.client import Client

FORM = {"prompt": "Robot exploring Austin, Texas", "characterDescription": "Silver robot"}
SETTINGS = {"MV_SCENE_SECONDS": "0.5", "MV_SCENES": "2"}


def client_of(studio: FilmStudio) -> TestClient:
    context = DomainContext(studio.store, studio.objects, SETTINGS.get)
    api = build_api([PLUGIN], context, options=WebOptions(secret=b"of the tests", strict_claims=True))
    key = create_key(studio.store, name="editor", role=Role.EDITOR, by="tests")
    return Client(api, base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {key.token}"})


def created(editor: TestClient, mode: str, files: Any) -> str:
    answer = editor.post("/api/mv/projects", data={**FORM, "mode": mode}, files=files)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["projectId"])


def track() -> tuple[str, tuple[str, bytes, str]]:
    return "audio", ("track.mp3", film(2.0, audio=True), "audio/mpeg")


def picture() -> tuple[str, tuple[str, bytes, str]]:
    return "images", ("picture.png", PICTURE, "image/png")


# When it was written


def test_updated_at_names_the_second_of_the_last_write_and_two_within_it_differ_by_their_etag(
    studio: FilmStudio, clock: FrozenClock, tmp_path: Path
) -> None:
    """MV-21: through the API; createdAt stays."""
    project = begun(studio, tmp_path)
    editor = client_of(studio)
    path = f"/api/musicvideo/projects/{project.project_id}"
    seen = [editor.get(path)]
    clock.advance(timedelta(seconds=90, milliseconds=200))
    for order in ([2, 1], [1, 2]):
        with studio.store.change(by=ANN) as change:
            found = change.get(project.ref)
            found.scene_order = order
            change.save(found)
        seen.append(editor.get(path))
        clock.advance(timedelta(milliseconds=300))
    first, second, third = (answer.json() for answer in seen)
    assert {each["created_at"] for each in (first, second, third)} == {"2025-11-17T10:00:00Z"}
    assert [each["updated_at"] for each in (first, second, third)] == [
        "2025-11-17T10:00:00Z",
        "2025-11-17T10:01:30Z",
        "2025-11-17T10:01:30Z",
    ]
    assert len({answer.headers["etag"] for answer in seen}) == 3
    kept = editor.get(path, headers={"If-None-Match": seen[1].headers["etag"]})
    assert kept.status_code == 200, "what was written within the same second is not taken for what is known"


# Where files lie


@pytest.mark.parametrize(
    ("mode", "files", "key", "name"),
    [
        ("music-video", [track(), picture()], "characterImageUrl", "character.png"),
        ("ad-creative", [picture()], "productImageUrl", "product.jpg"),
    ],
)
def test_pictures_lie_where_the_documents_have_them(
    anywhere: FilmStudio, mode: str, files: Any, key: str, name: str
) -> None:
    """MV-51, MV-52: the character of a music video, the product of an advertisement; the record holds the key."""
    editor = client_of(anywhere)
    project_id = created(editor, mode, files)
    place = f"mv/projects/{project_id}/{name}"
    record = anywhere.store.get(Project.at(project_id=UUID(project_id)))
    pointed = {record.character_image_s3_key, record.product_image_s3_key}
    assert pointed == {place, None}
    assert anywhere.objects.get(place).read() == PICTURE
    told = editor.get(f"/api/mv/projects/{project_id}").json()
    assert urlsplit(told[key]).path.endswith(place)
    assert [told[other] for other in ("characterImageUrl", "productImageUrl") if other != key] == [None]


def test_a_scene_has_the_pictures_of_its_project_as_references(anywhere: FilmStudio, tmp_path: Path) -> None:
    """MV-29: a list of keys where there are some, and no attribute where there are none."""
    picture_file = tmp_path / "p.png"
    picture_file.write_bytes(PICTURE)
    with_picture = generated(anywhere, tmp_path, images=[picture_file])
    without = generated(anywhere, tmp_path)
    key = f"mv/projects/{with_picture.project_id}/character.png"
    assert [s.reference_image_s3_keys for s in scenes(anywhere, with_picture.project_id)] == [[key]] * 3
    assert [s.reference_image_s3_keys for s in scenes(anywhere, without.project_id)] == [None] * 3


# URLs


@pytest.fixture
def bucket(seaweedfs_server: SeaweedFS) -> str:
    return seaweedfs_server.create_bucket("musicvideo-urls")


def test_a_url_of_the_api_is_amazons_and_opens_for_an_hour(
    studio: FilmStudio, seaweedfs_server: SeaweedFS, bucket: str, clock: FrozenClock
) -> None:
    """MV-61: https://{bucket}.s3.amazonaws.com/{key}?…X-Amz-Signature=…; a real S3 server opens it, and none other.

    What is stored is stored on that server. The URL is then asked of it under Amazon's own name, as a browser would ask
    Amazon: what is signed is the host, the path and the hour.
    """
    given: dict[str, Any] = {"region": "us-east-1", "access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
    here = replace(studio, objects=S3Objects(S3Connection(bucket, endpoint=seaweedfs_server.url, **given)))
    amazon = replace(studio, objects=S3Objects(S3Connection(bucket, **given)))
    project_id = created(client_of(here), "music-video", [track(), picture()])
    told = client_of(amazon).get(f"/api/mv/projects/{project_id}").json()
    for url, name in ((told["characterImageUrl"], "character.png"), (told["audioBackingTrackUrl"], "audio.mp3")):
        parts = urlsplit(url)
        assert (parts.scheme, parts.netloc) == ("https", f"{bucket}.s3.amazonaws.com")
        assert parts.path == f"/mv/projects/{project_id}/{name}"
        signed = parse_qs(parts.query)
        assert signed["X-Amz-Expires"] == ["3600"]
        assert len(signed["X-Amz-Signature"][0]) == 64
    assert asked(seaweedfs_server, told["characterImageUrl"]) == (200, PICTURE)
    other = told["characterImageUrl"].replace("character.png", "audio.mp3")
    assert asked(seaweedfs_server, other)[0] == 403
    longer = told["characterImageUrl"].replace("X-Amz-Expires=3600", "X-Amz-Expires=7200")
    assert asked(seaweedfs_server, longer)[0] == 403


def asked(server: SeaweedFS, url: str) -> tuple[int, bytes]:
    """What a server answers to whoever believes it to be the host of a URL."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}", headers={"Host": parts.netloc})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


# States


def test_composing_is_set_for_the_job_that_is_queued(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MV-68, F-MV-2: queued with the very commit that queues the job; composing from then on that a worker has it."""
    project = generated(studio, tmp_path)
    seen: list[ProjectStatus] = []
    compose = quick.compose

    def look(*given: Any) -> Cut:
        seen.append(studio.store.get(project.ref).status)
        return compose(*given)

    monkeypatch.setattr(quick, "compose", look)
    projects.compose(studio, project.project_id, by=ANN)
    waiting = studio.store.find(Task.by_status(status=TaskStatus.WAITING))
    (job,) = [task for task in waiting if task.name == "musicvideo.compose"]
    assert ToCompose.model_validate(job.input).project_id == project.project_id
    assert studio.store.get(project.ref).status is ProjectStatus.QUEUED
    workers(studio).drain()
    assert seen == [ProjectStatus.COMPOSING]
    assert studio.store.get(project.ref).status is ProjectStatus.COMPLETED


def test_no_state_says_composing_where_no_job_was_queued(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-68, F-MV-4: both, or neither."""
    project = generated(studio, tmp_path)
    store: Any = FailingStore(studio.store, commit=lambda writes: True)
    with pytest.raises(Unavailable, match="commit is refused"):
        projects.compose(replace(studio, store=store), project.project_id, by=ANN)
    assert studio.store.get(project.ref).status is ProjectStatus.PROCESSING
    names = [task.name for task in studio.store.find(Task.by_status(status=TaskStatus.WAITING))]
    assert "musicvideo.compose" not in names


class UpdateFailed(RuntimeError):
    """Nothing that a store says of itself: a mistake somewhere on the way to it."""


class Moody(FailingStore):
    error = UpdateFailed


def test_a_state_of_a_scene_that_cannot_be_written_fails_no_request(
    studio: FilmStudio, tmp_path: Path, quick: QuickProviders
) -> None:
    """MV-73, F-MV-5: requests are answered, siblings go on, and nothing is forgotten: it is written by the next try."""
    left = [1]

    def refuses(writes: Any) -> bool:
        patches = [w for w in writes if isinstance(w, Patch) and w.shape is Scene.__shape__]
        moved = [w for w in patches if w.key["sequence"] == 2]
        wanted = bool(moved) and left[0] > 0
        left[0] -= wanted
        return wanted

    store: Any = Moody(studio.store, commit=refuses)
    moody = replace(studio, store=store)
    editor = client_of(studio)
    project_id = begun(studio, tmp_path).project_id
    answer = editor.post(f"/api/mv/projects/{project_id}/generate", json={"scenes": 2})
    assert answer.status_code == 202
    hands = workers(moody)
    hands.drain()
    assert left == [0], "an update has failed"
    told = editor.get(f"/api/mv/projects/{project_id}")
    assert told.status_code == 200
    assert [s["status"] for s in told.json()["scenes"] if s["sequence"] != 2] == ["completed"]
    assert told.json()["scenes"][1]["status"] in ("pending", "processing")
    assert editor.patch(f"/api/mv/projects/{project_id}/scenes/1", json={"prompt": "At night"}).status_code == 200
    assert_counted(studio, project_id)
    later(studio, minutes=6)
    hands.drain()
    assert [s.status for s in scenes(studio, project_id)] == [SceneStatus.COMPLETED] * 2
    assert_counted(studio, project_id)


# One database


ALONE = """
import json, os, sys
opened = []
sys.addaudithook(lambda event, told: opened.append(str(told[0])) if event == "sqlite3.connect" else None)
from starlette.testclient import TestClient
from penstock.auth.api_keys import create_key
from penstock.runtime.discovery import discover
from penstock.runtime.service import Service
from penstock.runtime.settings import read_settings
from penstock.operations.writes import Patch
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
plugins = discover(read_settings(()))
service = Service(read_settings(tuple(p.domain for p in plugins)), plugins)
service.start(background=False)
api = build_api(plugins, service.context, options=WebOptions(secret=b"of the tests"))
key = create_key(service.context.store, name="editor", role=Role.EDITOR, by="tests")
client = TestClient(api, base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {key.token}"})
form = {"mode": "music-video", "prompt": "Robot exploring Austin", "characterDescription": "Silver"}
made = client.post("/api/mv/projects", data=form, files={"audio": ("a.mp3", open("track.mp3", "rb"), "audio/mpeg")})
path = f"/api/mv/projects/{made.json()['projectId']}"
statuses = [made.status_code, client.get(path).status_code, client.post(path + "/generate").status_code]
statuses += [client.get("/api/mv/projects", params={"status": "queued"}).status_code, client.delete(path).status_code]
service.stop()
there = sorted(os.path.join(place, name) for place, _, names in os.walk(".") for name in names)
drivers = sorted({"psycopg", "sqlite3"} & set(sys.modules))
print(json.dumps({"statuses": statuses, "opened": opened, "drivers": drivers, "files": there}))
"""


def test_with_dynamodb_no_sql_database_is_opened_or_made(dynamo: Store, dynamo_url: str, tmp_path: Path) -> None:
    """MV-75: by no request, in a process of its own; nor is a driver of one so much as imported."""
    (tmp_path / "track.mp3").write_bytes(film(2.0, audio=True))
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")},
        "PENSTOCK_STORE": f"dynamodb://us-east-1?endpoint={dynamo_url}",
        "PENSTOCK_OBJECTS": f"files:///{tmp_path}/files",
        "PENSTOCK_DOMAINS": "musicvideo",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }
    command = [sys.executable, "-c", ALONE]
    ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["statuses"] == [201, 200, 202, 200, 409], "what waits for a worker is not deleted"
    assert (told["opened"], told["drivers"]) == ([], [])
    assert not [name for name in told["files"] if name.endswith((".db", ".sqlite", ".sqlite3"))]
