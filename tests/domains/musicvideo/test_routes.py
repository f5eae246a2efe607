"""The API under /api/mv, as an editor and a viewer meet it."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from starlette.testclient import TestClient

from penstock import FrozenClock
from penstock.auth.api_keys import create_key
from penstock.domains.musicvideo import DOMAIN, PLUGIN
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import BACKING_TRACK, Project, ProjectStatus
from penstock.files.upload import Upload
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from tests.domains.musicvideo.quick_providers import PICTURE, QuickProviders, film
from tests.domains.musicvideo.story import assert_counted, workers
from tests.web.client import Client

FORM = {
    "mode": "music-video",
    "prompt": "Robot exploring Austin, Texas",
    "characterDescription": "Silver metallic humanoid robot",
}


@pytest.fixture
def api(studio: FilmStudio) -> Any:
    settings = {"MV_SCENE_SECONDS": "0.5", "MV_SCENES": "3"}
    context = DomainContext(studio.store, studio.objects, settings.get)
    return build_api([PLUGIN], context, options=WebOptions(secret=b"of the tests", strict_claims=True))


def client_of(api: Any, studio: FilmStudio, role: Role, project: str | None = None) -> TestClient:
    key = create_key(studio.store, name=f"{role} {project}", role=role, project=project, by="tests")
    return Client(api, base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {key.token}"})


@pytest.fixture
def editor(api: Any, studio: FilmStudio) -> TestClient:
    return client_of(api, studio, Role.EDITOR)


def track() -> dict[str, Any]:
    return {"audio": ("track.mp3", film(1.5, audio=True), "audio/mpeg")}


def created(editor: TestClient) -> str:
    answer = editor.post("/api/mv/projects", data=FORM, files=track())
    assert answer.status_code == 201, answer.text
    told = answer.json()
    assert (told["status"], told["message"]) == ("pending", "Project created successfully")
    return str(told["projectId"])


def filmed(editor: TestClient, studio: FilmStudio) -> str:
    project_id = created(editor)
    answer = editor.post(f"/api/mv/projects/{project_id}/generate")
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    workers(studio).drain()
    return project_id


def test_the_whole_way_through_the_api(editor: TestClient, studio: FilmStudio) -> None:
    """MV-15, MV-16, MV-59, MV-60, MV-63: created, generated, composed, and seen through signed URLs."""
    project_id = filmed(editor, studio)
    told = editor.get(f"/api/mv/projects/{project_id}").json()
    assert (told["status"], told["conceptPrompt"]) == ("processing", FORM["prompt"])
    assert told["characterDescription"] == FORM["characterDescription"]
    assert [scene["displaySequence"] for scene in told["scenes"]] == [1, 2, 3]
    assert "signature=" in told["scenes"][0]["videoClipUrl"]
    assert not any("S3Key" in name for name in [*told, *told["scenes"][0]])
    assert editor.get(f"/api/mv/projects/{project_id}/final-video").json()["detail"] == "Final video not yet available"

    answer = editor.post(f"/api/mv/projects/{project_id}/compose")
    assert (answer.status_code, answer.json()["jobId"]) == (202, f"compose_{project_id}")
    workers(studio).drain()
    final = editor.get(f"/api/mv/projects/{project_id}/final-video").json()
    assert (final["projectId"], final["expiresInSeconds"]) == (project_id, 3600)
    film = editor.get(final["videoUrl"].removeprefix("http://127.0.0.1:1"))
    assert (film.status_code, film.headers["content-type"]) == (200, "video/mp4")
    assert editor.get(f"/api/mv/projects/{project_id}").json()["finalOutputUrl"]


def test_reading_writes_nothing(editor: TestClient, studio: FilmStudio, clock: FrozenClock) -> None:
    """MV-59, MV-60: two reads, two signatures, and not a byte in the record."""
    project_id = filmed(editor, studio)
    before = studio.store.get(Project.at(project_id=UUID(project_id)))
    first = editor.get(f"/api/mv/projects/{project_id}").json()
    clock.advance(timedelta(seconds=30))
    second = editor.get(f"/api/mv/projects/{project_id}").json()
    assert first["audioBackingTrackUrl"] != second["audioBackingTrackUrl"]
    assert studio.store.get(Project.at(project_id=UUID(project_id))) == before
    assert "://" not in before.model_dump_json()


def test_projects_are_listed_by_status_and_recency(editor: TestClient, studio: FilmStudio, clock: FrozenClock) -> None:
    """MV-40, MV-41: which the documents' own API left out."""
    made = []
    for _ in range(3):
        made.append(created(editor))
        clock.advance(timedelta(seconds=1))
    page = editor.get("/api/mv/projects", params={"status": "pending", "limit": 2}).json()
    assert [p["projectId"] for p in page["items"]] == [made[2], made[1]]
    rest = editor.get("/api/mv/projects", params={"status": "pending", "limit": 2, "cursor": page["next"]}).json()
    assert ([p["projectId"] for p in rest["items"]], rest["next"]) == ([made[0]], None)
    oldest = editor.get("/api/mv/projects", params={"status": "pending", "newestFirst": False}).json()
    assert [p["projectId"] for p in oldest["items"]] == made
    assert editor.get("/api/mv/projects", params={"status": "asleep"}).status_code == 422


@pytest.mark.parametrize(
    ("form", "files", "words"),
    [
        ({"mode": "opera"}, track(), "mode must be 'ad-creative' or 'music-video'"),
        ({}, None, "Audio file required for music-video mode"),
        ({"mode": "ad-creative"}, None, "Product images required for ad-creative mode"),
        ({"prompt": "  "}, track(), "prompt has 2 characters"),
        ({"directorConfig": "neon-noar"}, track(), "did you mean"),
        ({}, {"audio": ("a.mp3", b"no music " * 99, "audio/mpeg")}, ""),
        ({"mode": "ad-creative"}, {"images": ("p.png", b"\x89PNG\r\n\x1a\n broken", "image/png")}, ""),
    ],
)
def test_a_project_that_cannot_be_leaves_nothing(
    editor: TestClient, studio: FilmStudio, form: dict[str, str], files: Any, words: str
) -> None:
    """MV-50: a clear answer, no record, no file."""
    answer = editor.post("/api/mv/projects", data={**FORM, **form}, files=files or {"none": b""})
    assert 400 <= answer.status_code < 500
    assert words in answer.json()["detail"]
    assert not any(studio.store.find(Project.by_status(status=ProjectStatus.PENDING)))
    assert studio.objects.list().objects == []


def test_scenes_are_added_edited_ordered_trimmed_and_deleted(editor: TestClient, studio: FilmStudio) -> None:
    """MV-26, MV-27, MV-39, MV-74: each by its own route."""
    project_id = filmed(editor, studio)
    path = f"/api/mv/projects/{project_id}/scenes"
    added = editor.post(path, json={"sceneConcept": "A dance on the roof at night"})
    assert (added.status_code, added.json()["sequence"], added.json()["displaySequence"]) == (201, 4, 4)
    workers(studio).drain()
    assert editor.post(path, json={"sceneConcept": "short"}).status_code == 422
    edited = editor.patch(f"{path}/2", json={"prompt": "At dawn", "negativePrompt": "No cars"})
    assert (edited.json()["prompt"], edited.json()["negativePrompt"]) == ("At dawn", "No cars")
    assert editor.patch(f"{path}/2", json={"prompt": ""}).status_code == 422
    assert editor.patch(f"{path}/2", json={"status": "failed"}).status_code == 422
    order = editor.patch(f"{path}/reorder", json={"sceneOrder": [4, 3, 2, 1]})
    assert [s["sequence"] for s in order.json()["scenes"]] == [4, 3, 2, 1]
    assert editor.patch(f"{path}/reorder", json={"sceneOrder": [4, 3]}).status_code == 400
    trimmed = editor.post(f"{path}/2/trim", json={"trimPoints": {"in": 0.1, "out": 0.3}})
    assert (trimmed.status_code, trimmed.json()["status"]) == (202, "processing")
    assert editor.post(f"{path}/2/trim", json={"trimPoints": {"in": 0.1, "out": 0.3}}).status_code == 409
    workers(studio).drain()
    told = editor.get(f"/api/mv/projects/{project_id}").json()["scenes"][2]
    assert (told["trimPoints"], told["status"]) == ({"in": 0.1, "out": 0.3}, "completed")
    assert told["workingVideoClipUrl"]
    assert editor.post(f"{path}/3/lipsync", json={"lyrics": "La la"}).status_code == 202
    assert editor.post(f"{path}/4/regenerate").status_code == 202
    workers(studio).drain()
    assert editor.delete(f"{path}/1").status_code == 204
    assert editor.delete(f"{path}/1").status_code == 404
    assert_counted(studio, UUID(project_id))


def test_a_video_is_uploaded_by_a_form_and_by_a_signed_url(editor: TestClient, studio: FilmStudio) -> None:
    """MV-31, MV-50: both become the clip; what is no film is refused with a reason."""
    project_id = filmed(editor, studio)
    path = f"/api/mv/projects/{project_id}"
    sent = editor.post(f"{path}/scenes/1/upload_video", files={"file": ("mine.mp4", film(1.0), "video/mp4")})
    assert (sent.status_code, sent.json()["status"]) == (202, "processing")
    fake = editor.post(f"{path}/scenes/2/upload_video", files={"file": ("fake.mp4", b"text" * 99, "video/mp4")})
    assert (fake.status_code, fake.json()["type"].rpartition("/")[2]) == (422, "unusable-file")

    content = film(1.5)
    body = {"kind": "scene", "sequence": 3, "size": len(content), "contentType": "video/mp4"}
    place = editor.post(f"{path}/uploads", json=body).json()
    put = editor.put(place["url"].removeprefix("http://127.0.0.1:1"), content=content, headers=place["headers"])
    assert put.status_code in (200, 201, 204)
    done = editor.post(f"{path}/uploads/{place['uploadId']}/finalize", json={"sha256": sha256(content).hexdigest()})
    assert (done.status_code, done.json()["status"], done.json()["inspected"]) == (202, "arrived", 0.0)
    workers(studio).drain()
    found = editor.get(f"{path}/uploads/{place['uploadId']}").json()
    assert (found["status"], found["url"], found["error"]) == ("done", None, None)
    upload = studio.store.history(Upload.at(upload_id=place["uploadId"]), oldest_first=True).entries
    assert [e.does for e in upload] == ["create", "save", "save"]
    assert len({e.by for e in upload}) == 1
    scenes = editor.get(path).json()["scenes"]
    assert [round(s["shownDuration"], 1) for s in scenes] == [1.0, 0.5, 1.5]


def test_a_track_is_played_for_whoever_has_none(api: Any, editor: TestClient, studio: FilmStudio) -> None:
    """What is got is taken as the track of a project; viewers begin none."""
    asked: dict[str, str | int] = {"prompt": "Robot exploring Austin, Texas", "scenes": 2}
    played = editor.get("/api/mv/backing_track", params=asked)
    assert (played.status_code, played.headers["content-type"]) == (200, "audio/mpeg")
    sent = {"audio": ("track.mp3", played.content, "audio/mpeg")}
    assert editor.post("/api/mv/projects", data=FORM, files=sent).status_code == 201
    assert editor.get("/api/mv/backing_track", params={**asked, "scenes": 9}).status_code == 422
    assert client_of(api, studio, Role.VIEWER).get("/api/mv/backing_track", params=asked).status_code == 403


def test_characters_are_drawn_uploaded_and_used(editor: TestClient, studio: FilmStudio) -> None:
    """MV-58, MV-17: up to four to choose from; a project begins with one by its id."""
    drawn = editor.post(
        "/api/mv/generate_character_reference", json={"characterDescription": "A silver robot", "numImages": 2}
    )
    assert (drawn.status_code, len(drawn.json())) == (201, 2)
    character = drawn.json()[0]["characterReferenceId"]
    found = editor.get(f"/api/mv/get_character_reference/{character}")
    assert f"mv/outputs/character_reference/{character}.png" in found.json()["imageUrl"]
    sent = editor.get(f"/api/mv/get_character_reference/{character}", params={"redirect": True}, follow_redirects=False)
    assert sent.status_code == 302
    uploaded = editor.post("/api/mv/upload_character_reference", files={"file": ("c.png", PICTURE, "image/png")})
    assert uploaded.status_code == 201
    fake = editor.post("/api/mv/upload_character_reference", files={"file": ("c.png", b"text", "image/png")})
    assert fake.status_code == 422
    answer = editor.post("/api/mv/projects", data={**FORM, "characterReferenceImageId": character}, files=track())
    project_id = answer.json()["projectId"]
    assert character in editor.get(f"/api/mv/projects/{project_id}").json()["characterImageUrl"]
    unknown = editor.post("/api/mv/projects", data={**FORM, "characterReferenceImageId": str(uuid4())}, files=track())
    assert unknown.status_code == 404


def test_what_could_not_be_drawn_is_told(editor: TestClient, studio: FilmStudio, quick: QuickProviders) -> None:
    """Of each scene, of the project as a whole, and of a character's picture; a film from elsewhere is as it is."""
    quick.not_drawn = ["bagpipes"]
    project_id = filmed(editor, studio)
    told = editor.get(f"/api/mv/projects/{project_id}").json()
    assert told["notDrawn"] == ["bagpipes"]
    assert [scene["notDrawn"] for scene in told["scenes"]] == [["bagpipes"]] * 3
    drawn = editor.post("/api/mv/generate_character_reference", json={"characterDescription": "A piper"})
    assert drawn.json()[0]["notDrawn"] == ["bagpipes"]
    character = drawn.json()[0]["characterReferenceId"]
    assert editor.get(f"/api/mv/get_character_reference/{character}").json()["notDrawn"] == ["bagpipes"]
    sent = {"file": ("film.mp4", film(), "video/mp4")}
    assert editor.post(f"/api/mv/projects/{project_id}/scenes/1/upload_video", files=sent).status_code == 202
    quick.not_drawn = []
    assert editor.post(f"/api/mv/projects/{project_id}/scenes/2/regenerate").status_code == 202
    workers(studio).drain()
    told = editor.get(f"/api/mv/projects/{project_id}").json()
    assert [scene["notDrawn"] for scene in told["scenes"]] == [None, None, ["bagpipes"]]


def test_states_are_moved_by_hand_only_where_that_is_safe(editor: TestClient, studio: FilmStudio) -> None:
    """MV-62, MV-65: no blind PATCH of a status, no counter behind the back of its scenes."""
    project_id = filmed(editor, studio)
    path = f"/api/mv/projects/{project_id}"
    refused = editor.patch(path, json={"status": "completed"})
    assert refused.status_code == 409
    assert "only its own work moves it on" in refused.json()["detail"]
    assert editor.patch(path, json={"status": "nonsense"}).status_code == 422
    assert editor.patch(path, json={"finalOutputS3Key": f"mv/projects/{uuid4()}/final.mp4"}).status_code == 422
    for verb in (f"projects/{project_id}/moves/fail", f"scenes/{project_id}/1/moves/fail", "scenes", "projects"):
        assert editor.post(f"/api/musicvideo/{verb}", json={}).json()["type"] == "not-permitted"
    editor.post(f"{path}/compose")
    workers(studio).drain()
    for status in ("pending", "queued", "generating_scenes", "composing", "failed"):
        refused = editor.patch(path, json={"status": status})
        assert (refused.status_code, "by hand it goes to processing" in refused.json()["detail"]) == (409, True)
    assert editor.patch(path, json={"status": "processing"}).json()["status"] == "processing"


def test_one_project_is_not_anothers(api: Any, editor: TestClient, studio: FilmStudio) -> None:
    """F-MV-6: a key of one project sees, changes and uploads nothing of another."""
    mine, theirs = filmed(editor, studio), filmed(editor, studio)
    bound = client_of(api, studio, Role.EDITOR, project=mine)
    assert bound.get(f"/api/mv/projects/{mine}").status_code == 200
    for method, path, body in (
        ("GET", "", None),
        ("PATCH", "/scenes/1", {"prompt": "Mine now"}),
        ("POST", "/compose", None),
        ("DELETE", "", None),
        ("POST", "/uploads", {"kind": "audio", "size": 9, "contentType": "audio/mpeg"}),
        ("GET", "/final-video", None),
    ):
        refused = bound.request(method, f"/api/mv/projects/{theirs}{path}", json=body)
        assert refused.status_code in (403, 404), (method, path)
    viewer = client_of(api, studio, Role.VIEWER)
    assert viewer.get(f"/api/mv/projects/{mine}").status_code == 200
    assert viewer.post(f"/api/mv/projects/{mine}/compose").status_code == 403
    body = {"kind": "audio", "size": 9, "contentType": "audio/mpeg"}
    place = bound.post(f"/api/mv/projects/{mine}/uploads", json=body).json()["uploadId"]
    told = [each.get(f"/api/mv/projects/{mine}/uploads/{place}").status_code for each in (bound, viewer)]
    assert told == [200, 403], "whoever knows where to send a file can replace it"


def test_a_project_that_is_there_is_not_begun_again(api: Any, studio: FilmStudio) -> None:
    """F-MV-6: whose key is for one project begins it once, and keeps its files."""
    bound = client_of(api, studio, Role.EDITOR, project=str(uuid4()))
    project_id = created(bound)
    other = {"audio": ("other.mp3", film(1.0, audio=True), "audio/mpeg")}
    again = bound.post("/api/mv/projects", data=FORM, files=other)
    assert (again.status_code, again.json()["type"].rpartition("/")[2]) == (409, "not-now")
    assert f"project {project_id} is there already" in again.json()["detail"]
    assert studio.objects.get(BACKING_TRACK.key(project_id=UUID(project_id))).read() == track()["audio"][1]


def test_with_the_key_of_a_project_no_shared_picture_is_made(api: Any, studio: FilmStudio) -> None:
    """F-MV-6, MV-58: nothing is drawn or kept, and whoever asks is told what to do instead."""
    bound = client_of(api, studio, Role.EDITOR, project=str(uuid4()))
    drawn = bound.post("/api/mv/generate_character_reference", json={"characterDescription": "A silver robot"})
    sent = bound.post("/api/mv/upload_character_reference", files={"file": ("c.png", PICTURE, "image/png")})
    asked = bound.get(f"/api/mv/get_character_reference/{uuid4()}")
    for refused in (drawn, sent, asked):
        assert refused.status_code == 403
        assert "upload a picture to the project" in refused.json()["detail"]
    assert studio.objects.list().objects == []


def test_what_is_sent_twice_happens_once_and_is_told_with_new_urls(editor: TestClient, studio: FilmStudio) -> None:
    """MV-60: no answer with a URL is kept; the repeated request is answered anew from its record."""
    project_id = filmed(editor, studio)
    path = f"/api/mv/projects/{project_id}"
    for verb, body in (
        ("scenes", {"sceneConcept": "A dance on the roof at night"}),
        ("scenes/1/regenerate", None),
        ("uploads", {"kind": "audio", "size": 9, "contentType": "audio/mpeg"}),
    ):
        first, second = (
            editor.post(f"{path}/{verb}", json=body, headers={"Idempotency-Key": f"k-{verb}"}) for _ in range(2)
        )
        assert first.status_code == second.status_code < 300, verb
        assert second.headers["Idempotent-Replayed"] == "true"
        assert set(first.json()) == set(second.json())
        assert first.json().get("sequence") == second.json().get("sequence")
    assert editor.get(path).json()["sceneCount"] == 4
    drawn = {"characterDescription": "A silver robot", "numImages": 2}
    first, second = (
        editor.post("/api/mv/generate_character_reference", json=drawn, headers={"Idempotency-Key": "k"})
        for _ in range(2)
    )
    assert [c["characterReferenceId"] for c in first.json()] == [c["characterReferenceId"] for c in second.json()]
    assert all(c["imageUrl"] for c in second.json())


def test_directors_and_flavors_are_listed(editor: TestClient) -> None:
    """What a project can be begun with."""
    directors = editor.get("/api/mv/get_director_configs").json()
    assert len(directors) >= 4
    assert all(d["name"] and d["summary"] for d in directors)
    assert all("negativePrompt" in d for d in directors)
    assert {f["mode"] for f in editor.get("/api/mv/get_config_flavors").json()} == {"music-video", "ad-creative"}


def test_the_domain_ships(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-76: its tables are made once, and again without harm."""
    assert studio.store.ensure(DOMAIN) == []
