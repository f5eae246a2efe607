"""A request's route is found among the few that begin as its path does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

import pytest
from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Match
from starlette.testclient import TestClient
from starlette.types import Scope

from penstock.cli.routes_reference import shipped_api
from penstock.runtime.discovery import discover
from penstock.runtime.settings import Settings
from penstock.web.route_index import RouteIndex

PIECES = ("p1", str(UUID(int=7)), "7", "a%2Fb", "videos", "")


@pytest.fixture(scope="module")
def shipped() -> FastAPI:
    app: FastAPI = shipped_api(discover(Settings()))
    return app


def first(routes: Sequence[BaseRoute], scope: Scope) -> BaseRoute | None:
    return next((route for route in routes if route.matches(scope)[0] is Match.FULL), None)


def scope(method: str, path: str, *, root: str = "") -> Scope:
    decoded, path = root + path.replace("%2F", "/"), root + path
    return {"type": "http", "method": method, "path": decoded, "raw_path": path.encode(), "root_path": root}


def paths(app: FastAPI) -> list[str]:
    """One or more of every route, each parameter filled in several ways."""
    templates = sorted({str(getattr(route, "path", "/")) for route in app.routes})
    return [re.sub(r"\{[^}]*\}", piece, template) for template in templates for piece in PIECES]


def test_the_same_route_answers_as_if_each_were_asked(shipped: FastAPI) -> None:
    index = RouteIndex(shipped.router)
    found = 0
    for path in paths(shipped)[::3]:
        for method, root in (("GET", ""), ("POST", "/behind")):
            asked = scope(method, path, root=root)
            expected = first(shipped.routes, asked)
            among = first(index.candidates(asked), asked)
            assert among is expected, (method, path)
            found += expected is not None
    assert found > 300


def test_few_of_many_routes_are_asked(shipped: FastAPI) -> None:
    index = RouteIndex(shipped.router)
    path = f"/api/vm/videos/{UUID(int=7)}/views"
    assert len(shipped.routes) > 400
    assert len(index.candidates(scope("POST", path))) < 20


def test_the_first_of_several_that_match_answers_and_others_are_left_to_the_router() -> None:
    router = APIRouter(redirect_slashes=False)
    router.add_api_route("/a/{x}", lambda x: f"one {x}")
    router.add_api_route("/a/b", lambda: "never")
    router.add_api_route("/{x}/b/c", lambda x: f"wide {x}")
    router.add_api_route("/a/b/c", lambda: "never")
    app = FastAPI()
    app.router = router
    router.middleware_stack = RouteIndex(router)
    client = TestClient(app)
    assert client.get("/a/b").json() == "one b"
    assert client.get("/a/b/c").json() == "wide a"
    assert client.post("/a/b").status_code == 405
    assert client.get("/nowhere").status_code == 404
