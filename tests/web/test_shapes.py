"""One shape for every error and every page, over every route there is."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Mount

from penstock.domains import INSTALLED
from penstock.schema.role import Role
from penstock.web.hints import HINTS
from penstock.web.problems import Problem
from penstock.web.reference import all_errors
from tests.web.films import INSTALLED as FILMS
from tests.web.routes import doors
from tests.web.service import Service, film


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """All domains that ship, and the one of the tests."""
    return Service(tmp_path_factory.mktemp("shapes"), installed=(*INSTALLED, FILMS))


def assert_problem(answer: Any, status: int | None = None) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    body: dict[str, Any] = answer.json()
    Problem.model_validate(body)
    assert body["status"] == answer.status_code
    assert status is None or answer.status_code == status, answer.text
    assert body["request_id"] == answer.headers["x-request-id"] != ""
    assert body["hint"]
    return body


def test_every_route_goes_through_the_guard_or_needs_a_signature(everything: Service) -> None:
    app: FastAPI = everything.app
    others = [r for r in app.routes if not isinstance(r, APIRoute)]
    assert [(type(r), r.path) for r in others] == [(Mount, "/objects")]  # type: ignore[attr-defined]
    assert len(list(doors(app))) > 100


def test_the_document_says_how_one_answer_leads_to_the_next_request(everything: Service) -> None:
    paths = everything.app.openapi()["paths"]
    films, one = paths["/api/films/films"], paths["/api/films/films/{project_id}/{title}"]
    moves = [f"films_films_{move}" for move in ("shoot", "redo", "rate")]
    for operation, status, where, targets in (
        (films["post"], "201", "", ["films_films_get", *moves]),
        (films["get"], "200", "/items/0", ["films_films_get", *moves]),
        (one["get"], "200", "", moves),
    ):
        links = operation["responses"][status]["links"]
        assert set(links) == {link["operationId"] for link in links.values()} == set(targets)
        for link in links.values():
            assert link["parameters"] == {f"path.{n}": f"$response.body#{where}/{n}" for n in ("project_id", "title")}
    assert "links" not in paths["/api/films/films/{project_id}/{title}/history"]["get"]["responses"]["200"]


def test_every_refusal_of_every_route_is_a_problem(everything: Service) -> None:
    with closing(everything.client()) as stranger, closing(everything.client(Role.ADMIN)) as admin:
        for door in doors(everything.app):
            asked = door.request("p1")
            if door.access.role is not None:
                assert assert_problem(stranger.request(**asked), 401)["type"] == "unauthenticated", str(door)
            refused = admin.request("TRACE", asked["url"])
            assert assert_problem(refused, 405)["type"] == "method-not-allowed"
            assert door.method in refused.headers["allow"].split(", ")
            if any(p.get("required") for p in door.operation.get("parameters", ())) and "{" not in door.path:
                missing = admin.request(door.method, door.path)
                assert assert_problem(missing, 422)["fields"], str(door)
            if "json" in asked:
                broken = admin.request(door.method, asked["url"], params=asked["params"], content=b"{", headers=JSON)
                assert_problem(broken, 422)


JSON = {"Content-Type": "application/json"}


def test_every_list_has_the_page_envelope(everything: Service) -> None:
    lists = [d for d in doors(everything.app) if d.is_list]
    assert len(lists) > 30
    with closing(everything.client(Role.ADMIN)) as admin:
        for door in lists:
            answer = admin.request(**door.request("p1"))
            assert answer.status_code == 200, (str(door), answer.text)
            assert set(answer.json()) == {"items", "next"}, str(door)
            assert isinstance(answer.json()["items"], list)


def test_every_answer_to_a_request_that_fits_is_documented(everything: Service) -> None:
    admin = everything.client(Role.ADMIN)
    for door in doors(everything.app):
        if door.is_stream or not door.operation or not door.path.startswith(("/api/films", "/cinema", "/api/ops")):
            continue
        if door.path == "/cinema/crash":
            continue
        answer = admin.request(**door.request("p1"))
        assert str(answer.status_code) in door.operation["responses"], (str(door), answer.text)
        if answer.status_code >= 400:
            assert_problem(answer)


def test_what_is_not_there_is_a_problem_too(service: Service) -> None:
    admin = service.client(Role.ADMIN)
    assert assert_problem(admin.get("/nowhere"), 404)["type"] == "no-such-route"
    assert assert_problem(admin.get("/api/films/films/"), 404)["type"] == "no-such-route"
    assert assert_problem(admin.get("/objects/a"), 403)["type"] == "url-refused"
    assert assert_problem(admin.post("/objects/a"), 405)["type"] == "method-not-allowed"
    missing = admin.get("/api/films/films/p1/none")
    assert assert_problem(missing, 404)["type"] == "not-found"


def test_a_mistake_of_ours_tells_nothing_but_its_request(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    answer = service.client(Role.ADMIN).get("/cinema/crash")
    told = assert_problem(answer, 500)
    assert told["type"] == "unexpected"
    assert "swordfish" not in answer.text
    assert "swordfish" in caplog.text, "the log has what the answer leaves out"
    assert any(getattr(r, "request_id", None) == told["request_id"] for r in caplog.records)


def test_a_path_tells_all_methods_it_takes(service: Service) -> None:
    refused = service.client(Role.ADMIN).delete("/api/films/films")
    assert refused.headers["allow"] == "GET, POST"


def test_a_field_that_does_not_fit_is_named_but_not_repeated(editor: Any) -> None:
    told = assert_problem(editor.post("/api/films/films", json=film(views="secret")), 422)
    assert told["type"] == "invalid-request"
    assert [f["where"] for f in told["fields"]] == ["body.views"]
    assert "secret" not in str(told)


def test_half_a_character_is_refused_and_can_be_answered(editor: Any) -> None:
    body = b'{"project_id": "p1", "title": "\\ud800", "created_at": "2037-01-01T00:00:00Z"}'
    assert_problem(editor.post("/api/films/films", content=body, headers=JSON), 422)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"])
def test_a_moment_that_utc_cannot_hold_is_refused(editor: Any, moment: str) -> None:
    assert_problem(editor.post("/api/films/films", json=film(created_at=moment)), 422)
    asked = {"pattern": "by_status", "status": "draft", "created_at.since": moment}
    assert_problem(editor.get("/api/films/films", params=asked), 422)


def test_every_kind_of_error_has_a_hint_and_a_slug_of_its_own() -> None:
    kinds = all_errors()
    assert len({k.slug for k in kinds}) == len(kinds) > 35
    unknown = set(HINTS) - {k.slug for k in kinds}
    assert not unknown, f"hints of errors that do not exist: {unknown}"


def test_the_pages_load_nothing_from_anywhere(service: Service, tmp_path: Path) -> None:
    for path in ("/", "/docs"):
        answer = service.client().get(path)
        assert answer.status_code in (200, 503)  # where the console is not built, its page says so
        assert "http://" not in answer.text.replace("http://127.0.0.1", "")
        assert "https://" not in answer.text
        assert set(re.findall("src=.{9}", answer.text)) <= {'src="/assets/'[:13]}
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert "{{" not in answer.text
