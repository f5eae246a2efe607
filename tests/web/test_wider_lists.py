"""Lists take a filter, a choice of fields and a count, and name beside the others what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.schema.role import Role
from tests.web.films import Film
from tests.web.guests import INSTALLED as GUESTS
from tests.web.service import Service
from tests.web.test_personal import PROJECT, guest

LIST = "/api/films/films"


@pytest.fixture
def films(service: Service) -> Service:
    at = service.clock.now()
    for number in range(9):
        rated_by = "ann" if number % 2 else None
        project = "p2" if number == 8 else "p1"
        service.store.create(
            Film(project_id=project, title=f"f{number}", views=number, rated_by=rated_by, created_at=at)
        )
    return service


def ask(service: Service, *, project: str | None = None, **asked: Any) -> Any:
    viewer = service.client(Role.VIEWER, project=project)
    return viewer.get(LIST, params={"pattern": "of_project", "project_id": "p1", **asked})


def titles(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["title"] for item in answer.json()["items"]]


def test_a_list_is_filtered_by_other_fields(films: Service) -> None:
    assert titles(ask(films, where="views>=6")) == ["f6", "f7"]
    assert titles(ask(films, where=["views>=3", "rated_by=ann"])) == ["f3", "f5", "f7"]
    assert titles(ask(films, where=["!rated_by", "views!=2", "status=draft"])) == ["f0", "f4", "f6"]
    assert titles(ask(films, where="created_at<2000-01-01T00:00:00Z")) == []
    by_status = {"pattern": "by_status", "status": "draft", "where": "views>6", "project_id": None}
    asked = {name: value for name, value in by_status.items() if value is not None}
    whole, own = (films.client(Role.VIEWER, project=p).get(LIST, params=asked) for p in (None, "p1"))
    assert (titles(whole), titles(own)) == (["f7", "f8"], ["f7"])
    assert whole.json()["examined"] == 9
    assert "examined" not in own.json(), "how many others there are is not told"


def test_pages_of_a_filter_are_all_of_it(films: Service) -> None:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = ask(films, where="rated_by=ann", limit=1, **cursor)
        found += titles(page)
        if page.json()["next"] is None:
            break
        cursor = {"cursor": page.json()["next"]}
    assert found == ["f1", "f3", "f5", "f7"]
    assert ask(films, where="rated_by=bob", **cursor).status_code == 400


def test_only_some_fields_are_shown(films: Service) -> None:
    page = ask(films, fields="views,tags", limit=2).json()
    key = {"project_id": "p1"}
    assert page["items"] == [{**key, "title": f"f{n}", "views": n, "tags": None} for n in (0, 1)]
    again = ask(films, fields="views", limit=2, cursor=page["next"]).json()
    assert [item["views"] for item in again["items"]] == [2, 3]


def test_some_fields_of_large_records_go_on_behind_the_last(service: Service) -> None:
    at = service.clock.now()
    for number in range(8):
        notes = {"text": "x" * 300_000}
        service.store.create(Film(project_id="p1", title=f"f{number}", notes=notes, created_at=at))
    first = ask(service, fields="notes", limit=50)
    assert titles(first) == ["f0", "f1", "f2"]
    assert titles(ask(service, fields="notes", cursor=first.json()["next"]))[0] == "f3"


def test_a_list_can_be_counted(films: Service) -> None:
    assert ask(films, count=100, limit=1).json()["count"] == {"number": 8, "more": False}
    assert ask(films, count=5, limit=1).json()["count"] == {"number": 5, "more": True}
    assert ask(films, count=5, where="views>=6").json()["count"] == {"number": 2, "more": False}
    assert ask(films, count=5, project="p2").json()["count"] == {"number": 0, "more": False}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"where": "views>=many"}, "valid integer"),
        ({"where": "nothing=1"}, "has no field 'nothing'; there are project_id"),
        ({"where": "notes=1"}, "is a document"),
        ({"where": "views >= 1"}, "is no condition"),
        ({"where": "!views=1"}, "is no condition"),
        ({"where": ""}, "is no condition"),
        ({"where": ["views=1"] * 11}, ""),
        ({"fields": "title,nothing"}, "has no field 'nothing'"),
        ({"fields": ""}, "has no field"),
        ({"count": "0"}, ""),
        ({"whre": "views=1"}, "did you mean where?"),
        ({"count": ["1", "2"]}, "more than once"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_by_its_name(films: Service, asked: dict[str, Any], words: str) -> None:
    answer = ask(films, **asked)
    assert answer.status_code == 422, answer.text
    assert words in answer.json()["detail"]
    assert answer.json()["fields"]


def test_nobody_asks_by_what_they_are_not_shown(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(GUESTS,))
    service.store.create(guest())
    url = "/api/guestbook/guests"
    asked = {"pattern": "of_project", "project_id": PROJECT}
    for role, status in ((Role.VIEWER, 403), (Role.ADMIN, 200)):
        client = service.client(role)
        for more in ({"where": "words=x"}, {"where": "!words"}, {"fields": "words"}):
            answer = client.get(url, params={**asked, **more})
            assert answer.status_code == status, answer.text


def test_a_record_that_cannot_be_read_is_named_beside_the_others(films: Service) -> None:
    connector: Any = films.store.engine.connector  # type: ignore[attr-defined]
    connector.run("update films_films set status = 'burnt' where title in ('f2', 'f7')", ())
    page = ask(films).json()
    assert [item["title"] for item in page["items"]] == ["f0", "f1", "f3", "f4", "f5", "f6"]
    assert [u["record"] for u in page["unreadable"]] == [
        "Film(project_id=p1, title=f2)",
        "Film(project_id=p1, title=f7)",
    ]
    assert "burnt" not in str(page)
    assert "unreadable" not in ask(films, limit=2).json()
    assert titles(ask(films, fields="views", limit=9))[:3] == ["f0", "f1", "f2"]
