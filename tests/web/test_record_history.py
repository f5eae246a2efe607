"""The history of a record at the service: what each role is shown of it, page by page."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Role, Store
from penstock.domains import INSTALLED
from penstock.kernel.history_trace import write_traces
from tests.web.films import Film
from tests.web.routes import doors
from tests.web.service import Service, film
from tests.web.test_permissions import sample

FILMS = "/api/films/films"
ROBOT = f"{FILMS}/p1/Robot"
HISTORY = f"{ROBOT}/history"


@pytest.fixture
def made(service: Service, editor: Any) -> None:
    """A film that was made, shot and rated, and one more change that somebody gave a reason for."""
    assert editor.post(FILMS, json=film()).status_code == 201
    assert editor.post(f"{ROBOT}/moves/shoot").status_code == 200
    assert editor.post(f"{ROBOT}/moves/rate", json={"views": 3}).status_code == 200
    with service.store.change(by="worker", why="it was asked for") as change:
        record = change.get(Film.at(project_id="p1", title="Robot"))
        record.notes = {"a": 1}
        change.save(record)
        change.emit("film.noted", record)


def items(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_editors_are_told_what_was_done_by_whom_and_administrators_also_why(
    editor: Any, admin: Any, made: None
) -> None:
    shown = items(editor.get(HISTORY))
    assert [(i["kind"], i["by"].partition("#")[0], i["action"], i["moved"]) for i in shown] == [
        ("change", "worker", "film.noted", {}),
        ("change", "a editor", "save Film", {"status": ["filmed", "rated"]}),
        ("change", "a editor", "save Film", {"status": ["draft", "filmed"]}),
        ("change", "a editor", "create Film", {"status": [None, "draft"]}),
    ]
    assert [(p["action"], p["state"], p["id"]) for p in shown[0]["parts"]] == [("film.noted", None, None)]
    assert shown[0]["why"] is None
    detailed = items(admin.get(HISTORY, params={"detailed": True}))
    assert detailed[0]["why"] == "it was asked for"
    assert [(p["action"], p["state"]) for p in detailed[0]["parts"]] == [("film.noted", "pending")]
    assert detailed[0]["parts"][0]["id"]


def test_it_comes_in_pages_and_either_way_round(editor: Any, made: None) -> None:
    whole = items(editor.get(HISTORY))
    assert items(editor.get(HISTORY, params={"oldest_first": True})) == whole[::-1]
    found, cursor = [], None
    while True:
        page = editor.get(HISTORY, params={"limit": 1, **({"cursor": cursor} if cursor else {})})
        found += items(page)
        cursor = page.json()["next"]
        if cursor is None:
            break
    assert found == whole
    assert items(editor.get(HISTORY, params={"ts.before": whole[1]["ts"]})) == whole[2:]


@pytest.mark.parametrize(
    "asked",
    [
        *({"limit": "0"}, {"limit": "201"}, {"limit": "x"}, {"cursor": "x" * 5000}, {"ts.since": "yesterday"}),
        *(
            {"detailed": "perhaps"},
            {"since": "2037-01-01T00:00:00Z"},
            {"ts.since": "2037-01-01T00:00:00Z", "ts.after": "2037-01-01T00:00:00Z"},
        ),
    ],
)
def test_what_cannot_be_asked_is_answered_with_what_is_wrong(editor: Any, made: None, asked: dict[str, str]) -> None:
    answer = editor.get(HISTORY, params=asked)
    assert (answer.status_code, answer.json()["type"]) == (422, "invalid-request"), answer.text


def test_a_cursor_of_another_record_is_refused(editor: Any, made: None) -> None:
    editor.post(FILMS, json=film("Other"))
    cursor = editor.get(HISTORY, params={"limit": 1}).json()["next"]
    answer = editor.get(f"{FILMS}/p1/Other/history", params={"cursor": cursor})
    assert (answer.status_code, answer.json()["type"]) == (400, "invalid-cursor")


def test_one_that_never_was_is_not_found_and_one_that_is_gone_is(service: Service, editor: Any, made: None) -> None:
    assert editor.get(f"{FILMS}/p1/Nothing/history").json()["type"] == "not-found"
    with service.store.change(by="worker") as change:
        change.delete(Film.at(project_id="p1", title="Robot"))
    assert editor.get(ROBOT).status_code == 404
    assert items(editor.get(HISTORY))[0]["does"] == "delete"


def test_one_without_a_history_has_an_empty_one(service: Service, editor: Any) -> None:
    service.store.create(Film(**film("Silent")))
    assert items(editor.get(f"{FILMS}/p1/Silent/history")) == []


def test_a_key_of_a_project_sees_what_is_of_its_project(service: Service, made: None) -> None:
    mine, other = service.client(Role.EDITOR, project="p1"), service.client(Role.EDITOR, project="p2")
    assert len(items(mine.get(HISTORY))) == 4
    assert other.get(HISTORY).status_code == 404
    assert mine.get("/api/films/reels/r/history").json()["type"] == "out-of-scope"


def test_a_title_may_be_called_history(editor: Any) -> None:
    editor.post(FILMS, json=film("history"))
    assert editor.get(f"{FILMS}/p1/history").json()["title"] == "history"
    assert len(items(editor.get(f"{FILMS}/p1/history/history"))) == 1


def test_every_record_with_a_history_has_a_route_for_editors_at_least(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=INSTALLED)
    offered = {d.path: d.access.role for d in doors(service.app) if d.path.endswith("/history")}
    entities = [(i.domain.name, e) for i in INSTALLED for e in i.domain.entities if e.__shape__.traced]
    assert len(entities) > 10
    clients = {role: service.client(role) for role in (None, *Role)}
    for domain, entity in entities:
        shape = entity.__shape__
        path = "/".join([f"/api/{domain}/{shape.collection}", *(f"{{{n}}}" for n in shape.key.fields), "history"])
        least = shape.seen_by or Role.EDITOR
        assert offered[path] is (least if least.includes(Role.EDITOR) else Role.EDITOR), path
        asked = path.format(**{n: sample(entity, n) for n in shape.key.fields})
        for role, client in clients.items():
            expected = 401 if role is None else 404 if role.includes(offered[path]) else 403
            assert client.get(asked).status_code == expected, (path, role)


def test_it_is_the_same_anywhere(anywhere: Store, tmp_path: Path) -> None:
    service = Service(tmp_path, store=anywhere, clock=anywhere.clock)  # type: ignore[arg-type]
    editor = service.client(Role.EDITOR)
    editor.post(FILMS, json=film())
    editor.post(f"{ROBOT}/moves/shoot")
    new = items(editor.get(HISTORY))
    assert [i["moved"] for i in new] == [{"status": ["draft", "filmed"]}, {"status": [None, "draft"]}]
    anywhere.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
    write_traces(service.store)
    assert items(service.client(Role.EDITOR).get(HISTORY)) == new
