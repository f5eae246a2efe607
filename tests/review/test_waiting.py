"""What waits for a decision is listed kind by kind, for those who may decide, without a word of anybody's."""

from __future__ import annotations

from typing import Any

from penstock import Role
from tests.review.shots import ShotStatus, Sketch
from tests.web.service import Service

WAITING = "/api/review/waiting"


def groups(client: Any, **asked: Any) -> dict[str, Any]:
    answer = client.get(WAITING, params=asked)
    assert answer.status_code == 200, answer.text
    return {group["key"]: group for group in answer.json()["items"]}


def test_what_waits_is_found_by_the_declaration_alone_on_every_engine(studio_anywhere: Service) -> None:
    studio = studio_anywhere
    for name in ("c", "a", "b"):
        studio.store.create(Sketch(name=name))
    studio.store.create(Sketch(name="done", status=ShotStatus.APPROVED))
    editor = studio.client(Role.EDITOR)
    (group,) = groups(editor, limit=2).values()
    assert (group["key"], group["entity"], group["state"]) == ("shots.sketches.shown", "Sketch", "shown")
    assert [item["record"] for item in group["items"]] == ["/api/shots/sketches/a", "/api/shots/sketches/b"]
    assert (group["items"][0]["title"], group["items"][0]["states"]) == ("a", {"status": "shown"})
    assert group["count"] == {"number": 3, "more": False}
    rest = editor.get(f"{WAITING}/{group['key']}", params={"cursor": group["next"]}).json()
    assert ([item["title"] for item in rest["items"]], rest["next"]) == (["c"], None)


def test_nobody_is_told_of_what_they_could_not_decide(studio: Service) -> None:
    studio.store.create(Sketch(name="a"))
    assert groups(studio.client(Role.VIEWER)) == {}
    refused = studio.client(Role.VIEWER).get(f"{WAITING}/shots.sketches.shown")
    assert (refused.status_code, refused.json()["type"]) == (404, "not-found")
    assert groups(studio.client(Role.EDITOR, project="p1")) == {}, "what is of no project is not theirs to see"


def test_a_browser_gets_the_room_and_others_a_page_without_a_script(studio: Service) -> None:
    body = {"label": "Bob", "rights": [], "hours": 1}
    record = "/api/shots/shots/p1/Robot/1"
    path = studio.client(Role.EDITOR).post("/api/review/links", params={"record": record}, json=body).json()["path"]
    plain = studio.client().get(path)
    assert "<script" not in plain.text
    page = studio.client().get(path, headers={"Accept": "text/html,*/*"})
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["x-robots-tag"] == "noindex"
