"""A POST with an Idempotency-Key happens once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi import APIRouter

from penstock.auth.access import public
from penstock.kernel.store import Store
from penstock.plugin import DomainPlugin
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext
from tests.web.films import DOMAIN, Reel
from tests.web.service import Service, film

FILMS = "/api/films/films"
SHOUT = "/cinema/shouts"
KEY = {"project_id": "p1", "title": "Robot"}


def once(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def test_a_repetition_gets_the_first_answer(editor: Any) -> None:
    first = editor.post(SHOUT, json={"name": "r"}, headers=once("k"))
    again = editor.post(SHOUT, json={"name": "r"}, headers=once("k"))
    assert first.json() == again.json() == {"shouts": 1}
    assert (first.status_code, again.status_code) == (201, 201)
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert editor.post(SHOUT, json={"name": "r"}).json() == {"shouts": 2}, "without a key it happens again"


def test_the_answer_of_a_move_is_kept_with_its_etag(editor: Any) -> None:
    editor.post(FILMS, json=film())
    first = editor.post(f"{FILMS}/p1/Robot/moves/shoot", headers=once("k"))
    again = editor.post(f"{FILMS}/p1/Robot/moves/shoot", headers=once("k"))
    assert first.content == again.content
    assert first.headers["etag"] == again.headers["etag"]
    assert editor.post(f"{FILMS}/p1/Robot/moves/shoot").status_code == 409


@pytest.mark.parametrize(
    "other",
    [
        {"json": {"name": "other"}},
        {"json": {"name": "r"}, "params": {"x": "1"}},
        {"url": FILMS, "json": film()},
    ],
)
def test_a_key_belongs_to_one_request(editor: Any, other: dict[str, Any]) -> None:
    editor.post(SHOUT, json={"name": "r"}, headers=once("k"))
    refused = editor.post(**{"url": SHOUT, **other}, headers=once("k"))
    assert (refused.status_code, refused.json()["type"]) == (422, "key-reused")


def test_another_caller_has_keys_of_its_own(service: Service, editor: Any) -> None:
    editor.post(SHOUT, json={"name": "r"}, headers=once("k"))
    assert service.client(Role.EDITOR).post(SHOUT, json={"name": "r"}, headers=once("k")).json() == {"shouts": 2}


def test_a_guest_has_keys_of_its_own(tmp_path: Path) -> None:
    """Nobody gets what was made for another, nor is told that a key is taken, because both have chosen the same."""

    def routes(context: DomainContext) -> APIRouter:
        router = APIRouter()

        @router.post("/tickets", status_code=201)
        @public(per_minute=100)
        def ticket(wish: dict[str, str]) -> dict[str, str]:
            return {"ticket": str(uuid4())}

        return router

    service = Service(tmp_path, installed=(DomainPlugin(DOMAIN, routes=routes),))

    def ask(address: str, wish: str = "front") -> Any:
        asking = service.client(address=(address, 1))
        return asking.post("/tickets", json={"row": wish}, headers=once("1"))

    first = ask("203.0.113.1").json()
    assert ask("203.0.113.1").json() == first
    assert ask("203.0.113.2").json() != first
    assert ask("203.0.113.3", "back").status_code == 201
    assert ask("2001:db8::1").json() == ask("2001:db8::2").json(), "who is one client is one guest"


def test_a_refused_request_may_be_sent_again_under_its_key(editor: Any) -> None:
    refused = editor.post(f"{FILMS}/p1/Robot/moves/shoot", headers=once("k"))
    assert refused.status_code == 404
    editor.post(FILMS, json=film())
    assert editor.post(f"{FILMS}/p1/Robot/moves/shoot", headers=once("k")).status_code == 200


@pytest.mark.parametrize("key", ["", "x" * 201, "ä"])
def test_a_key_that_is_none_is_refused(editor: Any, key: str) -> None:
    refused = editor.post(SHOUT, json={"name": "r"}, headers={"Idempotency-Key": key.encode()})
    assert refused.json()["type"] == "invalid-request"


def test_an_answer_is_forgotten_after_its_time(service: Service, editor: Any) -> None:
    editor.post(SHOUT, json={"name": "r"}, headers=once("k"))
    service.clock.advance(timedelta(hours=25))
    assert editor.post(SHOUT, json={"name": "r"}, headers=once("k")).json() == {"shouts": 2}


def test_an_answer_too_large_to_keep_is_not_carried_out_again(service: Service, editor: Any) -> None:
    big = film(notes={"text": "x" * 250_000})
    assert editor.post(FILMS, json=big, headers=once("k")).status_code == 201
    again = editor.post(FILMS, json=big, headers=once("k"))
    assert (again.status_code, again.json()["type"]) == (409, "answer-not-kept")


def test_of_many_at_once_one_happens(service: Service) -> None:
    """Those that come while it runs are told to wait; those that come later get its answer."""
    key = service.key(Role.EDITOR)
    gate = threading.Barrier(8)

    def send(_: int) -> Any:
        client = service.client(key=key)
        gate.wait()
        return client.post(SHOUT, json={"name": "r"}, headers=once("k"))

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(send, range(8)))
    kinds = {a.json().get("type", "done") for a in answers}
    assert kinds <= {"done", "in-progress"}
    assert all(a.json() == {"shouts": 1} for a in answers if a.status_code == 201)
    assert service.store.get(Reel.at(name="r")).shouts == 1


def test_a_request_that_is_being_carried_out_is_told_so(
    service: Service, editor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    put = Store.put

    def again(store: Store, record: Any, **more: Any) -> None:
        if isinstance(record, Reel) and not seen:
            seen.append(editor.post(SHOUT, json={"name": "r"}, headers=once("k")))
        put(store, record, **more)

    monkeypatch.setattr(Store, "put", again)
    assert editor.post(SHOUT, json={"name": "r"}, headers=once("k")).status_code == 201
    assert (seen[0].status_code, seen[0].json()["type"]) == (409, "in-progress")


def test_a_move_and_its_answer_are_one_commit(service: Service, editor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process dies right after the commit: the repetition gets the answer, and nothing happens twice."""
    editor.post(FILMS, json=film())

    class Died(BaseException): ...

    commits: list[int] = []
    real = Store.commit

    def dying(store: Store, writes: Any) -> None:
        real(store, writes)
        commits.append(len(writes))
        if len(commits) == 2:  # the first one was the mark
            raise Died

    monkeypatch.setattr(Store, "commit", dying)
    with suppress(BaseException):  # whatever the server makes of it
        editor.post(f"{FILMS}/p1/Robot/moves/shoot", headers=once("k"))
    assert len(commits) == 2
    again = editor.post(f"{FILMS}/p1/Robot/moves/shoot", headers=once("k"))
    assert (again.status_code, again.json()["status"]) == (200, "filmed")
    assert again.headers["idempotent-replayed"] == "true"


def test_a_bound_caller_keeps_its_marks_in_its_project(service: Service) -> None:
    client = service.client(Role.EDITOR, project="p1")
    for _ in range(2):
        assert client.post(FILMS, json=film(), headers=once("k")).status_code == 201
    marks = service.store.engine.connector.rows("select project_id from penstock_once", ())  # type: ignore[attr-defined]
    assert [row[0] for row in marks] == ["p1"]


def test_what_opens_by_itself_is_not_kept(service: Service, editor: Any) -> None:
    """MV-60, F-TA-5: nor is it given out again, unless its route makes a new one."""
    first = editor.post("/cinema/links", json={"name": "a.wav"}, headers=once("k"))
    assert "signature=" in first.json()["url"]
    again = editor.post("/cinema/links", json={"name": "a.wav"}, headers=once("k"))
    assert (again.status_code, again.json()["type"]) == (409, "answer-not-kept")
    assert "which are never kept" in again.json()["detail"]
