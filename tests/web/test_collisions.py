"""No two routes answer the same request, and no declaration leads people nowhere: found before anybody asks."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter

from penstock import Action, Domain, Entity, Table, key
from penstock.errors import DeclarationError
from penstock.plugin import DomainPlugin
from tests.web.films import INSTALLED as FILMS
from tests.web.service import Service

_numbers = count()


def plugin(*paths: str, method: str = "GET", name: str = "things", **options: Any) -> DomainPlugin:
    """A domain with routes of its own."""

    class Thing(Entity, table=Table(f"Collision{next(_numbers)}", partition="PK"), **options):
        name: str

        @key("{name}")
        def at(self, *, name: str) -> None: ...

    def answer() -> dict[str, str]:
        return {}

    def routes(context: Any) -> APIRouter:
        router = APIRouter()
        for number, path in enumerate(paths):
            router.add_api_route(path, answer, methods=[method], operation_id=f"{name}{number}")
        return router

    return DomainPlugin(Domain(name, Thing), routes=routes)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/api/things/count", "lies under /api/things"),
        ("/api/things", "lies under /api/things"),
        ("/api/films/shouts", "lies under /api/films"),
        ("/api/ops/mine", "lies under /api/ops"),
        ("/api/{anything}/films", "same path as /api/films/films"),
        ("/{one}/{two}/{three}/{four}", "same path as /(api|console)/"),
        ("/{rest:path}", "same path as"),
        ("/metrics", "same path as /metrics"),
        ("/cinema/{what}", r"/cinema/guests may be the same path as /cinema/\{what\}"),
        ("/objects/mine", "same path as /objects"),
    ],
)
def test_a_route_in_the_place_of_another_is_refused(tmp_path: Path, path: str, told: str) -> None:
    with pytest.raises(DeclarationError, match=told):
        Service(tmp_path, installed=(FILMS, plugin(path)))


def test_routes_beside_others_are_served(tmp_path: Path) -> None:
    fine = plugin(
        "/api/th/things", "/api/th/things/{name}", "/api/th/things/first", "/api/thingsandmore", "/metrics/mine"
    )
    Service(tmp_path, installed=(FILMS, fine))


def test_another_method_of_a_path_is_another_route(tmp_path: Path) -> None:
    Service(tmp_path, installed=(FILMS, plugin("/cinema/shouts", method="DELETE")))


def test_an_action_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    there, nowhere = Action("make", "GET /th/make"), Action("make", "POST /th/make")
    Service(tmp_path, installed=(plugin("/th/make", created_by=there),))
    with pytest.raises(DeclarationError, match="names POST /th/make, which is no route"):
        Service(tmp_path, installed=(plugin("/th/make", created_by=nowhere),))


def test_a_domain_cannot_have_a_collection_where_its_events_are(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="another collection="):
        Service(tmp_path, installed=(plugin(collection="events"),))
