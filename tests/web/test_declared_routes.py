"""What a client must know of a declaration to draw it, and that it says what the service does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import Domain, Entity, Role, Table, key
from penstock.cli import names
from penstock.declare.command_words import read_word
from penstock.domains import INSTALLED
from penstock.plugin import DomainPlugin
from tests.web.films import INSTALLED as FILMS
from tests.web.films import Film
from tests.web.service import Service, film

NAMES = [plugin.domain.name for plugin in INSTALLED]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(tmp_path_factory.mktemp("declared"), installed=(*INSTALLED, FILMS), streams=0)


def declared(service: Service, name: str, role: Role, project: str | None = None) -> dict[str, Any]:
    answer = service.client(role, project=project).get(f"/api/declared/{name}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def collection(told: dict[str, Any], name: str) -> dict[str, Any]:
    return next(c for c in told["collections"] if c["name"] == name)


def named(things: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(t for t in things if t["name"] == name)


def test_every_domain_is_told_in_short(everything: Service) -> None:
    items = everything.client(Role.VIEWER).get("/api/declared").json()["items"]
    assert [i["name"] for i in items] == [*NAMES, "films"]
    music = named(items, "musicvideo")
    assert (music["title"], music["first"]) == (
        "Music videos",
        {"collection": "projects", "pattern": "recent_by_status"},
    )
    assert {c["name"]: c["patterns"] for c in music["collections"]} == {
        "projects": 2,
        "scenes": 1,
        "character_references": 1,
    }
    assert named(items, "films")["first"] == {"collection": "films", "pattern": "of_project"}
    assert "ops" in [i["name"] for i in everything.client(Role.ADMIN).get("/api/declared").json()["items"]]


def test_a_film_is_told_whole(everything: Service) -> None:
    films = collection(declared(everything, "films", Role.EDITOR), "films")
    assert (films["label"], films["summary"], films["key"]) == (
        "films.Film",
        "A film of a project.",
        ["project_id", "title"],
    )
    assert films["record_path"] == "/api/films/films/{project_id}/{title}"
    kinds = {f["name"]: f["kind"] for f in films["fields"]}
    assert kinds == {
        "project_id": "text",
        "title": "text",
        "status": "state",
        "views": "integer",
        "tags": "set",
        "notes": "map",
        "rated_by": "text",
        "rated_at": "time",
        "created_at": "time",
    }
    created = named(films["fields"], "created_at")
    assert (created["precision"], created["frozen"], created["required"]) == ("seconds", True, True)
    by_status = named(films["patterns"], "by_status")
    assert by_status["path"] == "/api/films/films?pattern=by_status"
    assert by_status["cli"] == ["penstock", "ls", "films.Film.by_status"]
    status, moment = by_status["parameters"]
    assert (status["needed"], status["values"], status["cli"]) == (
        True,
        ["draft", "filmed", "rated"],
        "status={status}",
    )
    assert moment["words"] == [f"created_at.{w}" for w in ("since", "after", "before", "until")]
    (machine,) = films["states"]
    assert (machine["field"], machine["initial"]) == ("status", "draft")
    rate = named(machine["moves"], "rate")
    assert (rate["origins"], rate["to"], rate["may"]) == (["filmed"], "rated", True)
    assert list(rate["arguments"]["properties"]) == ["views"], "who and when are filled in"
    assert rate["path"] == "/api/films/films/{project_id}/{title}/moves/rate"
    assert films["creation"]["may"]
    assert "status" not in films["creation"]["body"]["properties"]
    assert films["history"]["may"]
    assert films["live"]
    assert films["reviewed"]
    own = declared(everything, "ops", Role.ADMIN)["collections"]
    assert not any(each["reviewed"] for each in own), "the system's own records are nobody's work"


def test_units_files_lifetimes_and_personal_fields_are_told(everything: Service) -> None:
    audios = collection(declared(everything, "speech", Role.ADMIN), "audios")
    assert named(audios["fields"], "duration")["unit"] == "seconds"
    text = named(audios["fields"], "text")
    assert (text["seen_by"], text.get("hidden", False)) == ("admin", False)
    assert audios["lifetimes"] == [{"rule": "expires", "field": "ttl"}]
    assert named(audios["fields"], "s3_key")["files"]["content_types"] == ["audio/wav"]
    assert audios["creation"]["permission"] == {"by": "action", "action": "speak"}
    scenes = collection(declared(everything, "musicvideo", Role.VIEWER), "scenes")
    assert named(scenes["fields"], "reference_image_s3_keys")["items"] == "file"
    assert scenes["files_path"] == f"{scenes['record_path']}/files"


def test_actions_are_told_with_their_routes_and_forms(everything: Service) -> None:
    music = declared(everything, "musicvideo", Role.EDITOR)
    create = named(music["actions"], "create")
    assert (create["routes"], create["creates"], create["may"]) == (["POST /api/mv/projects"], ["projects"], True)
    route = next(r for r in music["routes"] if (r["method"], r["path"]) == ("POST", "/api/mv/projects"))
    assert route["body"]
    viewer = named(declared(everything, "musicvideo", Role.VIEWER)["actions"], "create")
    assert not viewer["may"]


def test_records_lead_to_others(everything: Service) -> None:
    music = declared(everything, "musicvideo", Role.VIEWER)
    (scenes,) = collection(music, "projects")["related"]
    assert (scenes["collection"], scenes["pattern"], scenes["values"]) == (
        "scenes",
        "of_project",
        {"project_id": "project_id"},
    )
    (project,) = collection(music, "scenes")["references"]
    assert project["path"] == "/api/musicvideo/projects/{project_id}"
    tasks = [r["collection"] for r in collection(declared(everything, "ops", Role.ADMIN), "tasks")["related"]]
    assert "attempts" in tasks
    assert "feed_letters" not in tasks, "that two things have a name relates nothing"


def test_what_is_personal_is_hidden_by_role_and_no_list_is_asked_by_it(everything: Service) -> None:
    viewer = declared(everything, "speech", Role.VIEWER)
    assert [c["name"] for c in viewer["collections"]] == ["cleanup_runs"], "the others are for administrators"
    for role in (Role.VIEWER, Role.EDITOR):
        for name in NAMES:
            for each in declared(everything, name, role)["collections"]:
                hidden = {f["name"] for f in each["fields"] if f.get("hidden")}
                assert not any(hidden & set(p["where"]) for p in each["patterns"])


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("project", [None, "11111111-1111-4111-8111-111111111111"])
def test_what_may_be_done_is_what_the_service_does(everything: Service, role: Role, project: str | None) -> None:
    """Every list, creation and move of every domain: no button leads to a refusal, and none is missing."""
    client = everything.client(role, project=project)
    shown = [item["name"] for item in client.get("/api/declared").json()["items"]]
    asked = 0
    for name in shown:
        for each in client.get(f"/api/declared/{name}").json()["collections"]:
            for path, may in doors(each):
                method = "GET" if "?" in path else "POST"
                answer = client.request(method, path, json=[] if method == "POST" else None)
                kind = answer.json().get("type")
                refused = kind in ("forbidden", "not-permitted", "out-of-scope", "no-such-route", "method-not-allowed")
                assert refused is not may, f"{role} {project} {method} {path}: {kind}"
                asked += 1
    assert asked > 20


def doors(each: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """What is asked without anything that fits: whoever is let in is told so by what does not."""
    for pattern in each["patterns"]:
        yield f"{pattern['path']}&limit=0", pattern["may"]
    if not each["creation"]["may"]:
        yield each["path"], False
    for machine in each["states"]:
        for move in machine["moves"]:
            if move.get("path") and not move["may"]:
                yield move["path"].format_map(dict.fromkeys(each["key"], "x")), False


def test_a_bound_caller_is_told_of_nothing_that_belongs_to_no_project(everything: Service) -> None:
    items = everything.client(Role.ADMIN, project="p1").get("/api/declared").json()["items"]
    assert "novae" not in [i["name"] for i in items]
    assert [c["name"] for c in named(items, "films")["collections"]] == ["films"]
    assert everything.client(Role.ADMIN, project="p1").get("/api/declared/novae").status_code == 404


def test_a_domain_that_is_not_there_is_told_with_those_that_are(everything: Service) -> None:
    for role, name in ((Role.VIEWER, "ops"), (Role.ADMIN, "paintings")):
        refused = everything.client(role).get(f"/api/declared/{name}")
        assert (refused.status_code, refused.json()["type"]) == (404, "not-found")
        assert "musicvideo" in refused.json()["detail"]
    assert everything.client().get("/api/declared").status_code == 401


def test_it_is_small_and_asked_for_once(everything: Service) -> None:
    client = everything.client(Role.ADMIN)
    for path in ("/api/declared", *(f"/api/declared/{name}" for name in (*NAMES, "films", "ops"))):
        first = client.get(path)
        assert (first.headers["content-encoding"], first.status_code) == ("gzip", 200)
        assert int(first.headers["content-length"]) < 20_000, path
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        plain = client.get(path, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.json() == first.json()


def test_the_command_line_does_what_is_said_of_it(tmp_path: Path) -> None:
    """List, show and move, by the words that the service tells for them."""
    service = Service(tmp_path)
    told = collection(declared(service, "films", Role.EDITOR), "films")
    values = {"project_id": "p1", "title": "Robot", "status": "draft", "views": "3"}
    by_status = named(told["patterns"], "by_status")
    word = by_status["parameters"][0]["cli"].format_map(values)
    assert read_word(word) == ("status", "draft")
    shape = Film.__shape__
    assert by_status["cli"][2] == shape.patterns["by_status"].label
    assert names.query(shape.patterns["by_status"], [word]).values["status"].value == "draft"
    assert told["show_cli"][:3] == ["penstock", "show", shape.label]
    shown = [w.format_map(values) for w in told["show_cli"][3:]]
    assert repr(names.ref(Film, shown)) == repr(Film.at(project_id="p1", title="Robot"))
    (machine,) = told["states"]
    rate = [w.format_map(values) for w in named(machine["moves"], "rate")["cli"]]
    assert rate == ["penstock", "move", "films.Film", "rate", "project_id=p1", "title=Robot", "views=3"]


def test_creating_by_the_form_that_is_told_works(service: Service) -> None:
    told = collection(declared(service, "films", Role.EDITOR), "films")
    record = film()
    assert set(told["creation"]["body"]["required"]) <= set(record)
    assert service.client(Role.EDITOR).post(told["path"], json=record).status_code == 201


def test_a_schema_that_refers_to_others_is_whole(everything: Service) -> None:
    for name in NAMES:
        told = json.dumps(declared(everything, name, Role.ADMIN))
        assert "#/components/" not in told


class Shelf(Entity, table=Table("DeclaredShelves", partition="PK")):
    """Nobody has hinted at anything here."""

    name: str

    @key("{name}")
    def at(self, *, name: str) -> None: ...


def test_a_domain_without_hints_is_told_all_the_same(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(DomainPlugin(Domain("book_shelves", Shelf)),))
    (item,) = service.client(Role.VIEWER).get("/api/declared").json()["items"]
    assert (item["title"], item["collections"][0]["patterns"]) == ("Book shelves", 0)
