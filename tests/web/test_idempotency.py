"""A POST with an Idempotency-Key happens once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from penstock.auth.access import public
from penstock.auth.caller import Caller, caller_of
from penstock.errors import Conflict
from penstock.kernel.change import Change
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


def test_a_slash_within_a_name_is_told_from_one_between_two(editor: Any) -> None:
    for project, title in (("a/b", "c"), ("a", "b/c")):
        assert editor.post(FILMS, json=film(title, project)).status_code == 201
    shot = editor.post(f"{FILMS}/a%2Fb/c/moves/shoot", headers=once("k"))
    assert (shot.status_code, shot.json()["project_id"]) == (200, "a/b")
    assert editor.post(f"{FILMS}/a%2Fb/c/moves/shoot", headers=once("k")).json() == shot.json()
    refused = editor.post(f"{FILMS}/a/b%2Fc/moves/shoot", headers=once("k"))
    assert refused.json()["type"] == "key-reused", "it is another film"


def test_a_path_that_is_no_text_is_refused_by_the_part_that_is_none(editor: Any) -> None:
    for headers in ({}, once("k")):
        refused = editor.post(f"{FILMS}/p1/%FF/moves/shoot", headers=headers)
        assert (refused.status_code, refused.json()["type"]) == (422, "invalid-key")
        assert "title" in refused.json()["detail"]


def form(boundary: str, *values: str) -> dict[str, Any]:
    parts = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="x"\r\n\r\n{v}\r\n' for v in values)
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return {"content": f"{parts}--{boundary}--\r\n", "headers": kind | once("k")}


def test_a_form_is_the_same_whatever_parts_it(tmp_path: Path) -> None:
    _, editor = own(tmp_path, lambda caller: {"id": uuid4().hex})
    first = editor.post("/own", **form("ABC", "cat", "dog"))
    again = editor.post("/own", **form("XYZ-0123", "cat", "dog"))
    assert (first.status_code, again.json()) == (201, first.json())


@pytest.mark.parametrize(
    "values",
    [
        ("catABC", "dog"),
        ("cat--ABC", "dog"),
        ("cat\n--ABC", "dog"),
        ("\r\n--cat", "dog"),
        ("catdog",),
        ("cat", "dog", ""),
        ('cat\r\nContent-Disposition: form-data; name="x"\r\n\r\ndog',),
    ],
)
def test_what_parts_a_form_is_told_from_the_same_text_within_a_value(tmp_path: Path, values: tuple[str, ...]) -> None:
    _, editor = own(tmp_path, lambda caller: {"id": uuid4().hex})
    assert editor.post("/own", **form("ABC", "cat", "dog")).status_code == 201
    assert editor.post("/own", **form("ABC", *values)).json()["type"] == "key-reused"


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


def test_a_request_that_was_refused_before_it_succeeded_is_remembered_as_long_as_any(
    service: Service, editor: Any
) -> None:
    """That it was refused is soon forgotten; that it was done is not."""
    shoot = f"{FILMS}/p1/Robot/moves/shoot"
    assert editor.post(shoot, headers=once("k")).status_code == 404
    editor.post(FILMS, json=film())
    done = editor.post(shoot, headers=once("k"))
    assert done.status_code == 200
    service.clock.advance(timedelta(hours=1))
    again = editor.post(shoot, headers=once("k"))
    assert (again.status_code, again.json()) == (200, done.json())
    assert again.headers["Idempotent-Replayed"] == "true"


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
    put = Change.put

    def again(change: Change, record: Any, **more: Any) -> Any:
        if isinstance(record, Reel) and not seen:
            seen.append(editor.post(SHOUT, json={"name": "r"}, headers=once("k")))
        return put(change, record, **more)

    monkeypatch.setattr(Change, "put", again)
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


def own(tmp_path: Path, act: Callable[[Caller], Any], *, status: int = 201, model: Any = None, **options: Any) -> Any:
    """An editor of a service with one route of its own, which does this."""

    def routes(context: DomainContext) -> APIRouter:
        router = APIRouter()

        @router.post("/own", status_code=status, response_model=model)
        def route(request: Request) -> Any:
            return act(caller_of(request))

        return router

    service = Service(tmp_path, installed=(DomainPlugin(DOMAIN, routes=routes),), **options)
    return service, service.client(Role.EDITOR)


def reel(name: str) -> Reel:
    return Reel(name=name)


def test_a_route_that_writes_apart_from_its_claim_is_found_by_tests(tmp_path: Path) -> None:
    """It would happen twice if the process died before its answer was noted; with or without a key, it is told."""

    def forgetful(caller: Caller) -> dict[str, str]:
        caller.store.put(reel("r"))
        return {}

    _, strict = own(tmp_path, forgetful)
    for headers in ({}, once("k")):
        answer = strict.post("/own", headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (500, "declaration")
    (tmp_path / "lenient").mkdir()
    _, lenient = own(tmp_path / "lenient", forgetful, strict_claims=False)
    assert lenient.post("/own", headers=once("k")).status_code == 201


def test_a_change_by_a_caller_without_its_answer_writes_nothing(tmp_path: Path) -> None:
    def silent(caller: Caller) -> dict[str, str]:
        with caller.change() as change:
            change.create(reel("r"))
        return {}

    service, editor = own(tmp_path, silent, strict_claims=False)
    assert editor.post("/own").json()["type"] == "declaration"
    assert service.store.lookup(Reel.at(name="r")) is None


@pytest.mark.parametrize(("status", "model"), [(200, None), (201, dict[str, str | datetime]), (204, None)])
def test_the_answer_that_a_change_keeps_is_the_one_that_is_sent(tmp_path: Path, status: int, model: Any) -> None:
    def shouting(caller: Caller) -> Any:
        with caller.change() as change:
            change.create(reel("r"))
            return change.answer(None if status == 204 else {"name": "r", "at": datetime(2037, 1, 1, tzinfo=UTC)})

    _, editor = own(tmp_path, shouting, status=status, model=model)
    first, again = (editor.post("/own", headers=once("k")) for _ in range(2))
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert (status, "true") == (again.status_code, again.headers["idempotent-replayed"])


def test_a_refusal_that_a_route_returns_is_not_kept(tmp_path: Path) -> None:
    """As little as one that it raises: whoever asks again under the same key is answered anew."""
    statuses = [404, 429, 201]

    def undecided(caller: Caller) -> Any:
        return JSONResponse({"left": len(statuses)}, statuses.pop(0))

    _, editor = own(tmp_path, undecided)
    answers = [editor.post("/own", headers=once("k")) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [404, 429, 201, 201]
    assert ["idempotent-replayed" in answer.headers for answer in answers] == [False, False, False, True]


def test_each_try_of_a_request_makes_the_same_ids(tmp_path: Path) -> None:
    """Until it is forgotten: a key that is used anew days later makes new ones."""
    made: list[UUID] = []

    def failing(caller: Caller) -> Any:
        made.extend([caller.id("film"), caller.id("film"), caller.id("poster")])
        raise Conflict("not now", position=0, found=None)

    service, editor = own(tmp_path, failing)
    for _ in range(2):
        assert editor.post("/own", headers=once("k")).status_code == 409
    film, same, poster, *second = made
    assert film == same != poster
    assert second == [film, film, poster]
    service.clock.advance(timedelta(hours=25))
    editor.post("/own", headers=once("k"))
    editor.post("/own", headers=once("other"))
    assert len({*made}) == 6


def test_one_that_was_too_slow_writes_nothing_once_another_has_taken_over(tmp_path: Path) -> None:
    tries: list[Any] = []

    def slow(caller: Caller) -> Any:
        with caller.change() as change:
            change.put(reel(f"r{len(tries)}"))
            if not tries:
                tries.append(None)
                service.clock.advance(timedelta(minutes=2))
                tries.append(editor.post("/own", headers=once("k")))
            return change.answer({"tries": len(tries)})

    service, editor = own(tmp_path, slow)
    late = editor.post("/own", headers=once("k"))
    assert (late.status_code, tries[1].status_code) == (409, 201)
    assert service.store.lookup(Reel.at(name="r0")) is None
    assert editor.post("/own", headers=once("k")).json() == tries[1].json()


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
