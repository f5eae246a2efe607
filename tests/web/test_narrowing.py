"""Whoever sees every project may have a request see one of them, and never another than their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest
from fastapi import Request

from penstock import FrozenClock, Role, Store
from penstock.auth.access import brief
from penstock.auth.api_keys import list_keys, revoke_key
from penstock.auth.caller import caller_of
from penstock.domains.assetcreator import PLUGIN as ASSETS
from penstock.domains.assetcreator.model import Project
from penstock.domains.musicvideo import PLUGIN as MUSIC
from penstock.domains.musicvideo.model import Project as Concept
from penstock.domains.musicvideo.model import ProjectStatus as ConceptStatus
from penstock.web import identity
from penstock.web.route import AdmittedRoute
from tests.web.films import INSTALLED as FILMS
from tests.web.films import Film
from tests.web.service import HERE, Service, film

LIST = "/api/films/films?pattern=by_status&status=draft"


@pytest.fixture
def anyones(anywhere: Store, clock: FrozenClock, tmp_path: Path) -> Service:
    """Films of two projects, on every engine."""
    service = Service(tmp_path, store=anywhere, clock=clock)
    editor = service.client(Role.EDITOR)
    for title, project in (("a", "p1"), ("b", "p2")):
        assert editor.post("/api/films/films", json=film(title, project)).status_code == 201
    return service


def titles(answer: object) -> list[str]:
    return [item["title"] for item in answer.json()["items"]]  # type: ignore[attr-defined]


def test_an_unbound_caller_is_narrowed_to_one_project(anyones: Service) -> None:
    client = anyones.client(Role.EDITOR)
    assert sorted(titles(client.get(LIST))) == ["a", "b"]
    assert titles(client.get(LIST, headers={"X-Project": "p2"})) == ["b"]
    assert client.get("/api/films/films/p1/a", headers={"X-Project": "p2"}).status_code == 404
    refused = client.post("/api/films/films", json=film("c", "p1"), headers={"X-Project": "p2"})
    assert (refused.status_code, refused.json()["type"]) == (403, "out-of-scope")


def test_a_bound_caller_may_name_its_own_project_and_no_other(anyones: Service) -> None:
    bound = anyones.client(Role.EDITOR, project="p1")
    assert titles(bound.get(LIST, headers={"X-Project": "p1"})) == ["a"]
    refused = bound.get(LIST, headers={"X-Project": "p2"})
    assert (refused.status_code, refused.json()["type"]) == (403, "forbidden")
    assert "bound to the project p1" in refused.json()["detail"]


def test_without_keys_the_local_administrator_is_narrowed_too(tmp_path: Path) -> None:
    service = Service(tmp_path, authentication=False)
    local = service.client(address=HERE)
    for title, project in (("a", "p1"), ("b", "p2")):
        assert local.post("/api/films/films", json=film(title, project)).status_code == 201
    assert titles(local.get(LIST, headers={"X-Project": "p1"})) == ["a"]


def test_a_name_in_any_script_is_percent_encoded(service: Service) -> None:
    admin = service.client(Role.ADMIN)
    assert admin.post("/api/films/films", json=film("a", "projet à moi")).status_code == 201
    assert titles(admin.get(LIST, headers={"X-Project": quote("projet à moi")})) == ["a"]


@pytest.mark.parametrize("wrong", ["", "-", "%ff", "x" * 600])
def test_what_names_no_project_is_refused_by_name(service: Service, wrong: str) -> None:
    refused = service.client(Role.ADMIN).get(LIST, headers={"X-Project": wrong})
    assert (refused.status_code, refused.json()["type"]) == (422, "invalid-request")
    assert "X-Project" in refused.json()["detail"]


def test_two_projects_at_once_are_refused(service: Service) -> None:
    refused = service.client(Role.ADMIN).get(LIST, headers=[("X-Project", "p1"), ("X-Project", "p2")])
    assert refused.status_code == 422


def add_brief(service: Service) -> None:
    @brief
    def whose(request: Request) -> dict[str, str | None]:
        return {"project": caller_of(request).project}

    service.app.router.add_api_route("/whose", whose, methods=["GET"], route_class_override=AdmittedRoute)


def test_who_was_let_in_for_one_project_is_not_let_in_for_another_by_that(service: Service) -> None:
    """A brief route remembers its caller for a moment: with what they were narrowed to."""
    add_brief(service)
    client = service.client(Role.VIEWER)
    asked = [{"X-Project": "p1"}, {}, {"X-Project": "p2"}, {"X-Project": "p1"}]
    assert [client.get("/whose", headers=h).json()["project"] for h in asked] == ["p1", None, "p2", "p1"]


def test_who_was_let_in_is_remembered_for_a_moment_and_so_are_not_too_many(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "_MOMENT", 0.0)
    monkeypatch.setattr(identity, "_REMEMBERED", 2)
    add_brief(service)
    for client in [service.client(Role.VIEWER) for _ in range(3)]:
        assert client.get("/whose").status_code == 200
    assert len(service.app.state.guard._just_now) == 1, "a third has the others forgotten"
    for key in list(list_keys(service.store)):
        revoke_key(service.store, key.key_id, by="tests")
    assert client.get("/whose").status_code == 401, "the moment is over"


def test_pages_of_other_origins_may_send_it(tmp_path: Path) -> None:
    service = Service(tmp_path, cors_origins=("https://studio.example",))
    asked = {"Origin": "https://studio.example", "Access-Control-Request-Method": "GET"}
    answer = service.client().options(LIST, headers={**asked, "Access-Control-Request-Headers": "x-project"})
    assert answer.status_code == 200


def test_the_header_is_described_once(service: Service) -> None:
    document = service.app.openapi()
    assert document["components"]["parameters"]["Project"]["name"] == "X-Project"
    operation = document["paths"]["/api/films/films"]["get"]
    assert {"$ref": "#/components/parameters/Project"} in operation["parameters"]
    assert "X-Project" not in str(document["paths"]["/healthz"])


# The projects there are


def test_projects_are_found_by_how_their_ids_begin(anyones: Service) -> None:
    client = anyones.client(Role.VIEWER)
    found = client.get("/api/projects").json()
    assert [p["project"] for p in found["items"]] == ["p1", "p2"]
    assert not found["more"]
    assert [p["project"] for p in client.get("/api/projects?prefix=p2").json()["items"]] == ["p2"]
    assert client.get("/api/projects?limit=1").json()["more"]
    assert client.get("/api/projects?prefix=nothing").json() == {"items": [], "more": False}


def test_a_bound_caller_may_switch_to_nothing_else(anyones: Service) -> None:
    bound = anyones.client(Role.ADMIN, project="p1")
    assert [p["project"] for p in bound.get("/api/projects").json()["items"]] == ["p1"]
    assert bound.get("/api/projects?prefix=p2").json()["items"] == []


def test_a_domain_tells_the_titles_of_its_projects(anywhere: Store, clock: FrozenClock, tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(ASSETS, MUSIC, FILMS), store=anywhere, clock=clock)
    for number, name in enumerate(("Robots", "Rivers", "Castles")):
        with service.store.change(by="tests", project=f"id-{number}") as change:
            change.create(Project(project_id=f"id-{number}", name=name, created_at=clock.now()))
            change.create(Film(project_id=f"id-{number}", title="a", created_at=clock.now()))
    with service.store.change(by="tests", project="zz") as change:
        change.create(Film(project_id="zz", title="a", created_at=clock.now()))
    client = service.client(Role.VIEWER)

    def found(prefix: str) -> list[tuple[str, str | None]]:
        answer = client.get("/api/projects", params={"prefix": prefix})
        return [(p["project"], p["title"]) for p in answer.json()["items"]]

    assert found("") == [("id-2", "Castles"), ("id-1", "Rivers"), ("id-0", "Robots"), ("zz", None)]
    assert found("ri") == [("id-1", "Rivers")]
    assert found("id-0") == [("id-0", "Robots")]
    bound = service.client(Role.VIEWER, project="id-1").get("/api/projects").json()["items"]
    assert bound == [{"project": "id-1", "title": "Rivers", "domain": "assetcreator"}]


def test_a_project_is_found_by_its_title_in_whatever_state_it_is(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(MUSIC,))
    now, ids = service.clock.now(), [UUID(int=number + 1) for number, _ in enumerate(ConceptStatus)]
    for each, status in zip(ids, ConceptStatus, strict=True):
        told: dict[str, Any] = {"concept_prompt": f"Volcano, {status}", "character_description": "Ann"}
        service.store.put(Concept(project_id=each, status=status, **told, created_at=now, updated_at=now))
    answer = service.client(Role.VIEWER).get("/api/projects", params={"prefix": "volc"}).json()
    assert {p["project"]: p["title"] for p in answer["items"]} == {
        str(each): f"Volcano, {status}" for each, status in zip(ids, ConceptStatus, strict=True)
    }
