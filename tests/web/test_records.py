"""The routes a domain has by its declaration."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from penstock import Domain, Entity, FrozenClock, Store, Table, key
from penstock.declare.record_address import record_path
from penstock.domains.assetcreator.model import DOMAIN as ASSET_CREATOR
from penstock.errors import DeclarationError
from penstock.kernel.audit import SystemAudit
from penstock.kernel.unchanged import unchanged
from penstock.operations.updates import Set
from penstock.plugin import DomainPlugin
from penstock.schema.role import Role
from penstock.web import records
from tests.web.films import Film
from tests.web.routes import doors
from tests.web.service import Service, film
from tests.web.serving import serving

KEY = {"project_id": "p1", "title": "Robot"}
FILMS = "/api/films/films"
ROBOT = f"{FILMS}/p1/Robot"
MOVES = f"{ROBOT}/moves"


@pytest.fixture
def made(editor: Any) -> Any:
    answer = editor.post(FILMS, json=film(tags=["b", "a", "c"], notes={"z": 1, "a": [1.5]}))
    assert answer.status_code == 201, answer.text
    return answer


def titles(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["title"] for item in answer.json()["items"]]


def test_a_record_is_created_in_its_first_state_and_got_as_it_was_answered(editor: Any, made: Any) -> None:
    got = editor.get(ROBOT)
    assert got.json() == made.json()
    assert got.json()["status"] == "draft"
    assert got.json()["tags"] == ["a", "b", "c"]
    assert got.headers["etag"] == made.headers["etag"]
    assert editor.post(FILMS, json=film()).json()["type"] == "conflict"


def test_a_state_cannot_be_given_or_set(editor: Any, made: Any) -> None:
    assert editor.post(FILMS, json=film("Other", status="rated")).json()["type"] == "invalid-request"


TEXTS = (
    "a/b",
    "../x",
    "..",
    ".",
    "ä ö?&=#%",
    "%2F",
    "a%2Fb",
    "%",
    "+",
    "moves",
    "a/moves/shoot",
    "日本/🎬",
    "2037-01-01",
    "/",
)


@pytest.mark.parametrize("title", TEXTS)
@pytest.mark.parametrize("project", ["p1", "p/1", ".."])
def test_keys_may_hold_any_text(editor: Any, project: str, title: str) -> None:
    made = editor.post(FILMS, json=film(title, project=project))
    assert made.status_code == 201
    path = record_path(FILMS, {"project_id": project, "title": title})
    assert made.headers["location"] == path
    assert path.count("/") == FILMS.count("/") + 2, "each part of the key is one segment"
    got = editor.get(path)
    assert (got.status_code, got.json()["project_id"], got.json()["title"]) == (200, project, title)
    assert editor.post(f"{path}/moves/shoot").json()["title"] == title


def test_parts_that_look_the_same_once_decoded_are_other_records(editor: Any) -> None:
    for project, title in (("a/b", "c"), ("a", "b/c")):
        editor.post(FILMS, json=film(title, project=project))
        path = record_path(FILMS, {"project_id": project, "title": title})
        moved = editor.post(f"{path}/moves/shoot", headers={"Idempotency-Key": "one"})
        expected = "filmed" if project == "a/b" else "key-reused"
        assert moved.json().get("status" if moved.status_code == 200 else "type") == expected


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("p1/", 422, "invalid-key"),
        ("/Robot", 422, "invalid-key"),
        ("p1", 404, "no-such-route"),
        ("p1/Robot/", 404, "no-such-route"),
        ("p1/a/b", 404, "no-such-route"),
        ("p1/%FF", 422, "invalid-key"),
        ("p1/%00", 422, "invalid-key"),
        ("p1/%ED%A0%80", 422, "invalid-key"),
        ("p1/none", 404, "not-found"),
    ],
)
def test_a_key_that_cannot_be_is_refused_in_a_sentence(editor: Any, path: str, status: int, kind: str) -> None:
    refused = editor.get(f"{FILMS}/{path}")
    assert (refused.status_code, refused.json()["type"]) == (status, kind), refused.text


def test_a_record_can_be_got_from_a_real_server(service: Service, editor: Any) -> None:
    """A test's client makes a request's scope itself; what a server makes of the path is another matter."""
    editor.post(FILMS, json=film("a/b ?%", project=".."))
    headers = {"Authorization": f"Bearer {service.key(Role.VIEWER)}"}
    path = record_path(FILMS, {"project_id": "..", "title": "a/b ?%"})
    with serving(service.app) as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["title"]) == (200, "a/b ?%")
        connection.close()


def test_a_list_takes_its_own_parameters_and_says_which(editor: Any) -> None:
    refused = editor.get(FILMS, params={"pattern": "of_project", "status": "draft"}).json()
    assert {f["where"]: f["message"] for f in refused["fields"]} == {
        "query.status": "of_project does not take it",
        "query.project_id": "of_project needs it",
    }
    assert editor.get(FILMS).status_code == 422, "which of its lists is not known"
    assert editor.get(FILMS, params={"pattern": "by_views"}).status_code == 422


def test_ranges_are_bounded_as_in_python(editor: Any) -> None:
    for day in range(1, 6):
        editor.post(FILMS, json=film(f"f{day}", created_at=f"2037-01-0{day}T00:00:00Z"))

    def between(**bounds: str) -> list[str]:
        asked = {f"created_at.{word}": f"2037-01-0{day}T00:00:00Z" for word, day in bounds.items()}
        return titles(editor.get(FILMS, params={"pattern": "by_status", "status": "draft", **asked}))

    assert between() == ["f1", "f2", "f3", "f4", "f5"]
    assert between(since="2", until="4") == ["f2", "f3", "f4"]
    assert between(after="2", before="4") == ["f3"]
    assert between(since="4") == ["f4", "f5"]
    assert between(before="2") == ["f1"]
    texts = {"pattern": "of_project", "project_id": "p1", "title.starting_with": "f"}
    assert len(titles(editor.get(FILMS, params=texts))) == 5


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"created_at.since": "2037-01-01T00:00:00Z", "created_at.after": "2037-01-01T00:00:00Z"}, "created_at.after"),
        ({"created_at.from": "2037-01-01T00:00:00Z"}, "query"),
        ({"created_at.since": "2037-01-01T00:00:00"}, "created_at.since"),
        ({"created_at.since": "yesterday"}, "created_at.since"),
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"Status": "draft"}, "query"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_by_name(editor: Any, asked: dict[str, str], named: str) -> None:
    refused = editor.get(FILMS, params={"pattern": "by_status", "status": "draft", **asked})
    assert refused.json()["type"] == "invalid-request", refused.text
    assert named in str(refused.json()["fields"])


def test_a_misspelt_parameter_is_answered_with_the_right_one(editor: Any) -> None:
    refused = editor.get(
        FILMS, params={"pattern": "by_status", "status": "draft", "created_at.sinc": "2037-01-01T00:00:00Z"}
    )
    assert "unknown parameter created_at.sinc: did you mean created_at.since?" in refused.json()["detail"]
    assert refused.json()["fields"][0]["where"] == "query.created_at.sinc"
    assert editor.get(f"{FILMS}?pattern=by_status&status=draft&status=filmed").json()["type"] == "invalid-request"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("qwxyz", "unknown parameter qwxyz: there are behind_ok, count, created_at.after,"),
        ("limits", "unknown parameter limits: did you mean limit?"),
        ("", "unknown parameter without a name: there are"),
        ("a\nb\x00", "unknown parameter a?b?: there are"),
        ("x" * 5000, f"unknown parameter {'x' * 40}…: there are"),
        ("ünbekannt\ud800", "unknown parameter ünbekannt"),
    ],
    ids=lambda text: text[:12].encode("unicode_escape").decode(),
)
def test_an_unknown_parameter_is_named_with_what_there_is_instead(editor: Any, name: str, told: str) -> None:
    asked = quote(name.encode("utf-8", "surrogatepass"), safe="")
    refused = editor.get(f"{FILMS}?pattern=by_status&status=draft&{asked}=1")
    assert (refused.status_code, refused.json()["type"]) == (422, "invalid-request")
    assert told in refused.json()["detail"]
    assert len(refused.json()["detail"]) <= 500


def test_of_many_unknown_parameters_the_first_are_named(editor: Any) -> None:
    refused = editor.get(FILMS, params={"pattern": "by_status", "status": "draft", **{f"zz{n}": 1 for n in range(9)}})
    assert "zz0" in refused.json()["detail"]
    assert [f["where"] for f in refused.json()["fields"]] == ["query.zz0", "query.zz1", "query.zz2"]


def test_pages_follow_each_other_and_their_cursors_cannot_be_forged(editor: Any) -> None:
    for number in range(7):
        editor.post(FILMS, json=film(f"f{number}"))
    seen, cursor = [], None
    while True:
        asked = {"pattern": "of_project", "project_id": "p1", "limit": 3, **({"cursor": cursor} if cursor else {})}
        page = editor.get(FILMS, params=asked)
        seen += titles(page)
        cursor = page.json()["next"]
        if cursor is None:
            break
    assert seen == [f"f{n}" for n in range(7)]
    first = editor.get(FILMS, params={"pattern": "of_project", "project_id": "p1", "limit": 3}).json()["next"]
    for forged in (first[:-1], first + "A", "AAAA", "é", first.swapcase()):
        refused = editor.get(FILMS, params={"pattern": "of_project", "project_id": "p1", "cursor": forged})
        assert (refused.status_code, refused.json()["type"]) == (400, "invalid-cursor"), forged
    elsewhere = editor.get(FILMS, params={"pattern": "of_project", "project_id": "p2", "cursor": first})
    assert elsewhere.json()["type"] == "invalid-cursor"


def test_moves_are_verbs_and_leave_an_audit_line(service: Service, editor: Any, made: Any) -> None:
    assert editor.post(f"{MOVES}/rate", json={"views": 1}).json()["type"] == "illegal-move"
    assert editor.post(f"{MOVES}/shoot").json()["status"] == "filmed"
    rated = editor.post(f"{MOVES}/rate", json={"views": 3})
    assert (rated.json()["status"], rated.json()["views"]) == ("rated", 3)
    assert editor.post(f"{MOVES}/rate", json={"views": -1}).status_code in (409, 422)
    lines = list(service.store.find(SystemAudit.of_project(project_id="p1")))
    assert [line.details["changes"][0].get("states") for line in lines] == [
        {"status": [None, "draft"]},
        {"status": ["draft", "filmed"]},
        {"status": ["filmed", "rated"]},
    ]
    assert all(line.actor.startswith("a editor#") for line in lines)


def test_a_move_checks_what_it_is_given(editor: Any, made: Any) -> None:
    editor.post(f"{MOVES}/shoot")
    bodies: tuple[Any, ...] = ({}, {"views": "many"}, {"views": -1}, {"views": 1, "more": 2}, [], None)
    for body in bodies:
        refused = editor.post(f"{MOVES}/rate", json=body)
        assert (refused.status_code, refused.json()["type"]) == (422, "invalid-request"), body
    assert editor.get(ROBOT).json()["status"] == "filmed"


# ETags


def test_a_record_that_is_known_is_not_sent_again(editor: Any, made: Any) -> None:
    etag = made.headers["etag"]
    for header in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        answer = editor.get(ROBOT, headers={"If-None-Match": header})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)
    assert editor.get(ROBOT, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_move_with_if_match_meets_the_record_that_was_seen(service: Service, editor: Any, made: Any) -> None:
    etag = made.headers["etag"]
    service.store.patch(Film.at(**KEY), Set("views", 5))
    refused = editor.post(f"{MOVES}/shoot", headers={"If-Match": etag})
    assert (refused.status_code, refused.json()["type"]) == (412, "precondition-failed")
    assert editor.post(f"{MOVES}/shoot", headers={"If-Match": f"W/{etag}"}).status_code == 412
    fresh = editor.get(ROBOT).headers["etag"]
    assert editor.post(f"{MOVES}/shoot", headers={"If-Match": fresh}).status_code == 200
    assert editor.post(f"{MOVES}/redo", headers={"If-Match": "*"}).status_code == 200


@pytest.mark.parametrize(
    ("field", "value"), [("views", 9), ("notes", {"cut": {"by": "bob"}}), ("tags", frozenset({"red"}))]
)
def test_a_change_between_reading_and_committing_is_noticed(
    service: Service, editor: Any, made: Any, monkeypatch: pytest.MonkeyPatch, field: str, value: Any
) -> None:
    """Another writer changes a field, not the state, after the ETag was compared: only the condition can notice."""

    def meanwhile(record: Any) -> Any:
        condition = unchanged(record)
        service.store.patch(Film.at(**KEY), Set(field, value))
        return condition

    monkeypatch.setattr(records, "unchanged", meanwhile)
    refused = editor.post(f"{MOVES}/shoot", headers={"If-Match": made.headers["etag"]})
    assert (refused.status_code, refused.json()["type"]) == (409, "conflict")
    assert service.store.get(Film.at(**KEY)).status == "draft"


NOTES = {"b": 1, "a": [1.5, None, "é", {"z": True, "n": 10**17, "f": 1e30, "w": 2.0}], "g": {}, "e": []}


def test_what_has_not_changed_can_be_moved_whatever_is_in_it(
    anywhere: Store, tmp_path: Path, clock: FrozenClock
) -> None:
    """Documents and sets are compared as they were read, on every engine."""
    service = Service(tmp_path, store=anywhere, clock=clock)
    editor = service.client(Role.EDITOR)
    described: dict[str, dict[str, Any]] = {"Robot": {"notes": NOTES, "tags": ["b", "a"]}, "Bare": {}}
    for title, more in described.items():
        path = f"{FILMS}/p1/{title}"
        assert editor.post(FILMS, json=film(title, **more)).status_code == 201
        etag = editor.get(path).headers["etag"]
        assert editor.post(f"{path}/moves/shoot", headers={"If-Match": etag}).status_code == 200
        refused = editor.post(f"{path}/moves/redo", headers={"If-Match": etag})
        assert refused.json()["type"] == "precondition-failed"


# What is not served


def test_what_the_kernel_keeps_for_a_domain_is_the_administrators_to_look_at(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(DomainPlugin(ASSET_CREATOR),))
    found = {(d.method, d.path): d.access.role for d in doors(service.app) if d.path.startswith("/api/assetcreator")}
    kept = {
        (m, p): r for (m, p), r in found.items() if p.split("/")[3] in ("audit_lines", "messages", "idempotency_marks")
    }
    assert set(kept.values()) == {Role.ADMIN}
    assert [p for m, p in kept if m == "POST"] == [
        f"/api/assetcreator/messages/{{event_id}}/moves/{move}" for move in ("revive", "dismiss")
    ]
    assert found["GET", "/api/assetcreator/jobs"] is Role.VIEWER


def test_a_domain_cannot_take_the_place_of_the_service(tmp_path: Path) -> None:
    class Thing(Entity, table=Table("WebThings", partition="PK"), relation="things"):
        name: str

        @key("{name}")
        def at(self, *, name: str) -> None: ...

    with pytest.raises(DeclarationError, match="routes of its own"):
        Service(tmp_path, installed=(DomainPlugin(Domain("ops", Thing)),))


def test_the_same_requests_have_the_same_answers_on_every_engine(
    anywhere: Store, clock: FrozenClock, tmp_path: Path
) -> None:
    service = Service(tmp_path, store=anywhere, clock=clock)
    editor = service.client(Role.EDITOR)
    made = film(notes={"b": [1, 2.5], "a": None}, tags=["y", "x"])
    first, again = (editor.post(FILMS, json=made, headers={"Idempotency-Key": "1"}) for _ in range(2))
    assert (first.status_code, again.status_code, again.headers["idempotent-replayed"]) == (201, 201, "true")
    assert first.json() == again.json() == editor.get(ROBOT).json()
    etag = editor.get(ROBOT).headers["etag"]
    assert etag == first.headers["etag"] == '"0254cfc281f4943c5b617f6876c78312"'
    moved = editor.post(f"{MOVES}/shoot", headers={"If-Match": etag, "Idempotency-Key": "2"})
    assert moved.json()["status"] == "filmed"
    assert editor.post(f"{MOVES}/shoot", headers={"If-Match": etag}).status_code == 412
    assert titles(editor.get(FILMS, params={"pattern": "by_status", "status": "filmed"})) == ["Robot"]
    bound = service.client(Role.EDITOR, project="p1")
    assert bound.get(ROBOT).status_code == 200
    guest = service.client()
    assert [guest.get("/cinema/guests").status_code for _ in range(5)] == [200, 200, 200, 429, 429]
