"""Views through the API: counted once for a request, told with the new value, and written by nobody but an admin."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid1, uuid4

import pytest
from starlette.testclient import TestClient

from penstock import FrozenClock
from penstock.declare.move_arguments import move_model
from penstock.domains.videos import PLUGIN
from penstock.domains.videos.editing import edit_video
from penstock.domains.videos.model import Video
from penstock.domains.videos.submissions import NewVideo
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import InvalidValue
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from tests.domains.videos.records import a_video
from tests.domains.videos.web import client_of, service, told
from tests.web.routes import Door, doors
from tests.work.soon import soon

FORGED = 777_777


@pytest.fixture(params=["exact", "burst"])
def api(request: pytest.FixtureRequest, library: VideoLibrary) -> Iterator[Any]:
    """Either way to count."""
    context = DomainContext(library.store, library.objects, {"VM_COUNTING": request.param}.get)
    yield build_api([PLUGIN], context, options=WebOptions(secret=b"of the tests", strict_claims=True))
    context.close()


@pytest.fixture
def viewer(api: Any, library: VideoLibrary) -> TestClient:
    return client_of(api, library, Role.VIEWER)


def put(library: VideoLibrary, **said: Any) -> str:
    video = a_video(**said)
    library.store.create(video)
    return str(video.video_id)


def counted(library: VideoLibrary, video_id: str) -> int | None:
    return library.store.get(Video.at(video_id=UUID(video_id))).view_count


def views(video_id: object) -> str:
    return f"/api/vm/videos/{video_id}/views"


def test_whoever_may_see_a_video_is_counted_and_told_the_new_value(viewer: TestClient, library: VideoLibrary) -> None:
    """VM-16, VM-17."""
    video = put(library)
    answers = [told(viewer.post(views(video), json={"request_id": each})) for each in ("a", "a", "b", "a")]
    assert [answer["view_count"] for answer in answers] == [1, 1, 2, 2]
    assert answers[0]["video_id"] == video
    assert told(viewer.post(views(video)))["view_count"] == 3
    soon(lambda: counted(library, video) == 3)


def test_a_key_of_the_request_does_as_well_as_an_id_in_it(viewer: TestClient, library: VideoLibrary) -> None:
    video, key = put(library), {"Idempotency-Key": "one"}
    answers = [viewer.post(views(video), headers=key) for _ in range(3)]
    assert [told(answer)["view_count"] for answer in answers] == [1, 1, 1]
    assert [answer.headers.get("Idempotent-Replayed") for answer in answers] == [None, "true", "true"]
    both: dict[str, Any] = {"headers": {"Idempotency-Key": "two"}, "json": {"request_id": "x"}}
    assert told(viewer.post(views(video), **both))["view_count"] == 2
    both["headers"] = {"Idempotency-Key": "three"}
    assert told(viewer.post(views(video), **both))["view_count"] == 2, "the id in it was counted before"
    soon(lambda: counted(library, video) == 2)


def test_a_video_that_is_not_there_is_not_found(viewer: TestClient, library: VideoLibrary, clock: FrozenClock) -> None:
    """VM-22, F-VM-4."""
    now = int(clock.now().timestamp())
    ended = put(library, expiry_time=now + 60)
    told(viewer.post(views(ended)))
    clock.advance(timedelta(seconds=60))
    for video in (ended, uuid4()):
        for body in ({"request_id": "a"}, {}, None):
            assert told(viewer.post(views(video), json=body), 404)["type"] == "not-found"
    assert viewer.post(views(uuid1()), json={"request_id": "a"}).status_code in (404, 422)


def test_what_is_no_view_is_refused(viewer: TestClient, library: VideoLibrary) -> None:
    video = put(library)
    wrong: list[Any] = [{"request_id": each} for each in ("", "a b", "a" * 201, 7)]
    for body in (*wrong, {"count": 2}, {"request_id": "a", "view_count": 7}, [1]):
        told(viewer.post(views(video), json=body), 422)
    assert counted(library, video) is None


def test_a_key_that_is_revoked_counts_no_more(api: Any, library: VideoLibrary) -> None:
    """In a burst a moment later, as who calls is not asked for each view."""
    video, admin, viewer = put(library), client_of(api, library, Role.ADMIN), client_of(api, library, Role.VIEWER)
    told(viewer.post(views(video)))
    (key,) = [k for k in told(admin.get("/api/ops/keys"))["items"] if k["role"] == "viewer"]
    told(admin.post("/api/ops/keys/revoke", params={"key_id": key["key_id"]}))
    soon(lambda: viewer.post(views(video)).status_code == 401)


# Nobody but an admin writes viewCount


def test_an_admin_corrects_a_count_and_says_why(library: VideoLibrary) -> None:
    """VM-27."""
    api, video = service(library), put(library, view_count=9)
    path, body = f"/api/vm/videos/{video}/view-count", {"view_count": 4, "why": "a robot watched it"}
    for role in (None, Role.VIEWER, Role.EDITOR):
        told(client_of(api, library, role).put(path, json=body), 403 if role else 401)
    admin = client_of(api, library, Role.ADMIN)
    wrongs = ({"view_count": -1, "why": "x"}, {"view_count": 4}, {"view_count": 10**40, "why": "x"})
    for wrong in (*wrongs, {"view_count": 4, "why": " \n"}):
        told(admin.put(path, json=wrong), 422)
    told(admin.put(f"/api/vm/videos/{uuid4()}/view-count", json=body), 404)
    assert counted(library, video) == 9
    assert told(admin.put(path, json=body))["view_count"] == 4
    assert counted(library, video) == 4
    lines = [
        x for x in library.store.find(SystemAudit.of_project(project_id=EVERYWHERE)) if x.actor.startswith("admin")
    ]
    assert lines[-1].details["why"] == "a robot watched it"


def _forgeries(door: Door, video_id: str) -> Iterator[dict[str, Any]]:
    """Requests to a route that name the video, and try to give it a count: each beside what the route asks for."""
    fitting = door.request("p1")
    path = door.path.replace("{video_id}", video_id)
    asked = {"method": door.method, "url": path if "{" not in path else fitting["url"]}
    query, body = fitting["params"], fitting["json"] if isinstance(fitting.get("json"), dict) else {}
    both = {"view_count": FORGED, "viewCount": FORGED}
    yield {**asked, "params": {**query, **both}, "json": body}
    for forged in (both, {"view_count": FORGED}, {"viewCount": {"add": FORGED}}, {"changes": both}):
        yield {**asked, "params": query, "json": {**body, **forged}}
    yield {**asked, "params": query, "data": dict.fromkeys(both, str(FORGED))}
    yield {**asked, "params": query, "json": [{"op": "replace", "path": "/viewCount", "value": FORGED}]}


def test_no_route_lets_anybody_but_an_admin_write_the_count(library: VideoLibrary) -> None:
    """VM-27, F-VM-9: every route that writes, with the count in its body, its query or a form."""
    api, video = service(library), a_video(version=1, view_count=5)
    library.store.create(video)
    editor, at = client_of(api, library, Role.EDITOR), Video.at(video_id=video.video_id)
    writing = [door for door in doors(api) if door.method not in ("GET", "HEAD", "OPTIONS")]
    assert {"PUT /api/vm/videos/{video_id}/view-count", "PATCH /api/vm/videos/{video_id}"} <= set(map(str, writing))
    for door in writing:
        before = library.store.get(at).view_count
        for forged in _forgeries(door, str(video.video_id)):
            answer = editor.request(**forged)
            assert answer.status_code != 500, (str(door), forged, answer.text)
            found = library.store.lookup(at)
            if found is None:
                assert door.method == "DELETE"
                library.store.create(video)
                break
            counted = answer.status_code == 200 and door.path.endswith("/views")
            assert found.view_count == (before or 0) + counted, (str(door), forged)
            before = found.view_count


def test_no_edit_and_no_move_takes_the_count(library: VideoLibrary) -> None:
    """VM-27: what people say of a video, here and on the command line, has no place for it."""
    video = a_video(version=1)
    library.store.create(video)
    with pytest.raises(InvalidValue, match="view_count of a video cannot be edited"):
        edit_video(library, video.video_id, {"view_count": 7}, version=1, by="ann")
    for move in Video.__moves__.values():
        model = move_model(move, move.name)
        assert model is None or "view_count" not in model.model_fields
    assert "view_count" not in NewVideo.__dataclass_fields__
