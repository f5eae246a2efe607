"""Routes that a declaration has answer as FastAPI would, by one plain call in a thread."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request
from fastapi.dependencies.utils import get_dependant

from penstock.auth.access import Access
from penstock.errors import DeclarationError
from penstock.net.threads import Threads
from penstock.schema.role import Role
from penstock.web import records
from penstock.web.plain_arguments import PlainArguments
from penstock.web.pools import Pools
from penstock.web.route import SegmentRoute
from tests.web.service import Service, film

FILMS = "/api/films/films"
ROBOT = f"{FILMS}/p1/Robot"
OF_PROJECT = f"{FILMS}?pattern=of_project&project_id=p1"
DEEP = b'{"project_id": "p1", "title": "Deep", "notes": ' + b'{"a":' * 70 + b"1" + b"}" * 71
WHOLE = json.dumps(film("Whole")).encode()
JSON = {"content-type": "application/json"}

ASKED: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", ROBOT, {}),
    ("GET", ROBOT, {"headers": {"if-none-match": "*"}}),
    ("GET", f"{FILMS}/p1/None", {}),
    ("GET", f"{ROBOT}?more=1", {}),
    ("GET", f"{ROBOT}/history?limit=1", {}),
    ("GET", f"{ROBOT}/history?limit=nothing", {}),
    ("GET", OF_PROJECT, {}),
    ("GET", f"{OF_PROJECT}&limit=1&fields=title&where=title=Robot&where=!notes", {}),
    ("GET", f"{OF_PROJECT}&limit=0", {}),
    ("GET", f"{OF_PROJECT}&limit=many&count=x", {}),
    ("GET", f"{OF_PROJECT}&limit=1&limit=2", {}),
    ("GET", f"{OF_PROJECT}&cursor=", {}),
    ("GET", f"{OF_PROJECT}&{'&'.join(f'where=title=t{n}' for n in range(11))}", {}),
    ("GET", f"{FILMS}?pattern=unknown", {}),
    ("GET", FILMS, {}),
    ("GET", f"{FILMS}?patern=of_project", {}),
    ("HEAD", ROBOT, {}),
    ("DELETE", ROBOT, {}),
    ("POST", FILMS, {"json": film("New")}),
    ("POST", FILMS, {"json": film("New")}),
    ("POST", FILMS, {"json": {"project_id": 7, "surplus": 1}}),
    ("POST", FILMS, {"json": film("Rated", status="rated")}),
    ("POST", FILMS, {"json": ["a", "list"]}),
    ("POST", FILMS, {"content": b"", "headers": JSON}),
    ("POST", FILMS, {"content": b"{", "headers": JSON}),
    ("POST", FILMS, {"content": b"\xff\xfe", "headers": JSON}),
    ("POST", FILMS, {"content": DEEP, "headers": JSON}),
    ("POST", FILMS, {"content": b"null", "headers": JSON}),
    ("POST", FILMS, {"content": WHOLE, "headers": {"content-type": "text/plain"}}),
    ("POST", FILMS, {"content": WHOLE}),
    ("POST", FILMS, {"content": WHOLE, "headers": {"content-type": "Application/JSON; charset=utf-8"}}),
    ("POST", FILMS, {"data": {"project_id": "p1"}}),
    ("POST", f"{FILMS}?more=1", {"json": film("More")}),
    ("POST", f"{ROBOT}/moves/shoot", {}),
    ("POST", f"{ROBOT}/moves/unknown", {}),
    ("POST", f"{ROBOT}/moves/shoot", {"headers": {"if-match": '"another"'}}),
]


def told(folder: Path) -> list[Any]:
    """What a service answers to all of it, without the ids that each key and each request has for itself."""
    folder.mkdir()
    service = Service(folder)
    key = service.key(Role.EDITOR)
    editor = service.client(key=key)
    assert editor.post(FILMS, json=film(tags=["b", "a"], notes={"z": 1, "ä": [1.5]})).status_code == 201
    found = []
    for method, path, more in ASKED:
        answer = editor.request(method, path, **more)
        headers = dict(answer.headers)
        body = answer.text.replace(headers.pop("x-request-id"), "its id").replace(key.split("_")[1], "its key")
        found.append((method, path, more, answer.status_code, headers, body))
    return found


def test_each_answer_is_that_of_fastapi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of good requests and of those that are refused."""
    ours = told(tmp_path / "ours")
    monkeypatch.setattr(records, "RecordRoute", SegmentRoute)
    assert told(tmp_path / "theirs") == ours
    assert {status for _, _, _, status, _, _ in ours} == {200, 201, 304, 400, 404, 405, 409, 412, 422}


@pytest.mark.parametrize("path", [ROBOT, OF_PROJECT, f"{ROBOT}/history"])
def test_a_read_goes_to_a_thread_once(service: Service, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who calls is found out where the answer is made."""
    editor = service.client(Role.EDITOR)
    editor.post(FILMS, json=film())
    run, gone = Threads.run, []

    async def counted(threads: Threads, function: Any, *arguments: Any) -> Any:
        gone.append(function)
        return await run(threads, function, *arguments)

    monkeypatch.setattr(Threads, "run", counted)
    assert editor.get(path).status_code == 200
    assert len(gone) == 1


def test_where_records_are_busy_strangers_are_told_that_they_are_strangers(service: Service) -> None:
    """And no place is lost by whoever is refused."""
    pools: Pools = service.app.state.pools
    work = pools.work(None)
    editor = service.client(Role.EDITOR)
    editor.post(FILMS, json=film())
    taken = [work.take() for _ in range(work.places)]
    assert all(taken)
    assert service.client().get(ROBOT).status_code == 401
    work.leave()
    for path in (ROBOT, f"{FILMS}/p1/None", f"{ROBOT}?more=1", f"{OF_PROJECT}&limit=0"):
        editor.get(path)
        service.client().get(path)
    assert editor.get(ROBOT).status_code == 200
    for _ in range(work.places - 1):
        work.leave()
    for pool in (work, pools.admission(Access(Role.VIEWER))):
        assert [pool.take() for _ in range(pool.places)] == [True] * pool.places


def test_an_endpoint_that_takes_more_than_a_plain_call_gives_is_refused() -> None:
    def with_default(request: Request, limit: int = 5) -> None: ...

    def without_request(limit: int) -> None: ...

    for endpoint in (with_default, without_request):
        with pytest.raises(DeclarationError, match="takes a request"):
            PlainArguments(get_dependant(path="/x", call=endpoint))
