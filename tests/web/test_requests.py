"""What surrounds every request: ids, logs, limits, CORS, probes, numbers, traces."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.types import Message

from penstock import open_store
from penstock.errors import BROKER, Unavailable
from penstock.events.schedule import Schedule, Scheduler
from penstock.plugin import DomainPlugin
from penstock.runtime.logs import JsonLines
from penstock.schema.role import Role
from penstock.web import health
from penstock.web.bodylimit import limited
from penstock.web.errors import BodyTooLarge
from penstock.web.route import AdmittedRoute
from penstock.work.context import TaskContext
from penstock.work.registry import Tasks
from tests.web.films import DOMAIN, Reel
from tests.web.routes import doors
from tests.web.service import Service, film
from tests.web.serving import serving
from tests.work.soon import soon

LIST = "/api/films/films?pattern=by_status&status=draft"


@pytest.mark.parametrize("given", ["abc-1.2_3", "x" * 64])
def test_a_sane_request_id_is_kept(service: Service, given: str) -> None:
    assert service.client().get("/healthz", headers={"X-Request-ID": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "<script>", "a\tb"])
def test_any_other_is_replaced(service: Service, given: str) -> None:
    found = service.client().get("/healthz", headers={"X-Request-ID": given}).headers["x-request-id"]
    assert found != given
    assert len(found) == 36


def test_each_request_is_logged_without_anything_secret(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "penstock.access")
    key = service.key(Role.VIEWER)
    service.client(key=key).get(LIST, headers={"X-Request-ID": "id1"})
    url = service.objects.download_url("a/b").url
    service.client().get(url)
    service.client().get("/api/%0Aforged")
    lines = [json.loads(JsonLines().format(r)) for r in caplog.records if r.name == "penstock.access"]
    assert len(lines) == 3
    told = lines[0]
    assert (told["request_id"], told["status"], told["route"]) == ("id1", 200, "/api/films/films")
    assert told["caller"].startswith("a viewer#")
    text = json.dumps(lines)
    assert key not in text
    assert "signature" not in text
    assert "status=draft" not in text
    assert "\\n" not in lines[2]["path"]
    assert lines[1]["route"] == "/objects/{key}"


# Body limits


def test_a_body_that_says_it_is_too_large_is_not_read(tmp_path: Path) -> None:
    service = Service(tmp_path, body_limit=1000)
    editor = service.client(Role.EDITOR)
    assert editor.post("/api/films/films", json=film()).status_code == 201
    refused = editor.post("/api/films/films", json=film("b", notes={"x": "y" * 1000}))
    assert (refused.status_code, refused.json()["type"]) == (413, "body-too-large")


def test_a_body_that_does_not_say_is_counted(tmp_path: Path) -> None:
    service = Service(tmp_path, body_limit=1000)

    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * 100

    refused = service.client(Role.EDITOR).post("/api/films/films", content=pieces())
    assert (refused.status_code, refused.json()["type"]) == (413, "body-too-large")
    assert service.client().post("/api/films/films", content=pieces()).status_code == 401, "nor is a stranger's read"


def test_no_more_is_read_than_shows_that_it_is_too_much() -> None:
    read = 0

    async def endless() -> Message:
        nonlocal read
        read += 400
        return {"type": "http.request", "body": b"x" * 400, "more_body": True}

    with pytest.raises(BodyTooLarge, match="1000 bytes"):
        anyio.run(limited(Request({"type": "http", "headers": []}, endless), 1000).body)
    assert read == 1200
    with pytest.raises(BodyTooLarge):
        limited(Request({"type": "http", "headers": [(b"content-length", b"1001")]}, endless), 1000)
    assert read == 1200, "what says it is too large is not read at all"


def test_a_route_may_take_more_than_the_others(tmp_path: Path) -> None:
    service = Service(tmp_path, body_limit=1000)
    editor = service.client(Role.EDITOR)

    def hang(size: int) -> Any:
        return editor.post("/cinema/posters", files={"poster": b"x" * size}, headers={"Idempotency-Key": str(size)})

    assert [hang(900_000).json() for _ in "12"] == [{"size": 900_000}] * 2
    assert (hang(1_000_000).status_code, hang(1_000_000).json()["type"]) == (413, "body-too-large")
    assert editor.post("/cinema/shouts", json={"name": "x" * 1000}).status_code == 413
    roomy = Service(tmp_path, body_limit=2_000_000).client(Role.EDITOR)
    assert roomy.post("/cinema/posters", files={"poster": b"x" * 1_000_000}).status_code == 201, "and never less"


def test_a_stranger_is_not_told_how_much_a_route_takes(tmp_path: Path) -> None:
    service = Service(tmp_path, body_limit=1000)
    assert service.client().post("/api/films/films", json=film("b" * 2000)).status_code == 401


def test_whoever_sends_too_much_is_told_so_and_may_go_on(tmp_path: Path) -> None:
    """The rest is read and thrown away: to cut the line would lose the answer before its client could read it."""
    service = Service(tmp_path, body_limit=1000)
    key = service.key(Role.EDITOR)
    with serving(service.app) as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=20)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        for _ in "12":
            connection.request("POST", "/api/films/films", b"x" * 5_000_000, headers)
            refused = connection.getresponse()
            assert (refused.status, json.loads(refused.read())["type"]) == (413, "body-too-large")
        connection.close()


def test_files_are_not_counted(tmp_path: Path) -> None:
    service = Service(tmp_path, body_limit=10)
    url = service.objects.upload_url("a.bin", size=1000, content_type="application/octet-stream")
    put = service.client().put(url.url, content=b"x" * 1000, headers=dict(url.headers))
    assert put.status_code == 200, put.text


# CORS


def test_no_other_origin_may_use_the_api_unless_it_is_allowed(service: Service, tmp_path: Path) -> None:
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    silent = service.client().get("/healthz", headers=asked)
    assert not any(name.startswith("access-control") for name in silent.headers)
    assert service.client().options("/api/films/films", headers=asked).status_code == 405
    open_to = Service(tmp_path, cors_origins=("https://app.example",))
    allowed = open_to.client().options("/api/films/films", headers=asked)
    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    other = open_to.client().options("/api/films/films", headers={**asked, "Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers
    told = open_to.client().get("/nowhere", headers=asked)
    assert "x-request-id" in told.headers["access-control-expose-headers"].lower()


def test_a_page_that_may_use_the_api_is_also_told_of_a_mistake_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path, cors_origins=("https://app.example",))

    def gone(*_: Any, **__: Any) -> None:
        raise OSError("no disk")

    key = service.key(Role.EDITOR)
    monkeypatch.setattr(service.store.engine, "find", gone)
    told = service.client(key=key).get(LIST, headers={"Origin": "https://app.example", "X-Request-ID": "id1"})
    assert (told.status_code, told.json()["type"], told.json()["request_id"]) == (500, "unexpected", "id1")
    assert told.headers["access-control-allow-origin"] == "https://app.example"
    assert told.headers["x-request-id"] == "id1"


def test_a_refused_preflight_is_a_problem_as_every_error_is(tmp_path: Path) -> None:
    client = Service(tmp_path, cors_origins=("https://app.example",)).client()
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}
    resumed = client.options(LIST, headers={**asked, "Access-Control-Request-Headers": "last-event-id"})
    assert resumed.status_code == 200, "a stream of events can be taken up where it broke off"
    refused = client.options(LIST, headers={**asked, "Access-Control-Request-Headers": "x-other"})
    assert (refused.status_code, refused.headers["content-type"]) == (400, "application/problem+json")
    assert (refused.json()["type"], refused.json()["detail"]) == ("bad-request", "Disallowed CORS headers")
    assert refused.headers["access-control-allow-origin"] == "https://app.example"


# Who goes away


def test_a_client_that_breaks_off_its_body_is_no_mistake_of_ours(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    key = service.key(Role.EDITOR)
    with serving(service.app) as port:
        with socket.create_connection(("127.0.0.1", port)) as line:
            head = f"POST /cinema/shouts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            line.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        soon(lambda: any(r.name == "penstock.access" for r in caplog.records))
    (told,) = [r for r in caplog.records if r.name == "penstock.access"]
    assert (told.levelname, told.__dict__["status"]) == ("INFO", 499)
    assert not [r for r in caplog.records if r.exc_info]


# Probes


def test_alive_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(tmp_path)
    client = service.client()
    assert client.get("/readyz").json() == {"status": "ready", "checks": {"store": "ok", "objects": "ok"}}
    away = Service(tmp_path)

    def gone(*_: Any, **__: Any) -> None:
        raise OSError("no route to postgres://user:secret@host")

    monkeypatch.setattr(away.store, "lookup", gone)
    assert away.client().get("/healthz").status_code == 200
    refused = away.client().get("/readyz")
    assert (refused.status_code, refused.json()["type"]) == (503, "not-ready")
    assert refused.json()["detail"] == "store cannot be reached or written to"
    assert refused.headers["retry-after"] == "1"


def test_a_broker_that_is_away_is_told_and_refuses_nobody(tmp_path: Path) -> None:
    broker: dict[str, Exception | None] = {"why": None}

    def ask() -> None:
        if broker["why"] is not None:
            raise broker["why"]

    there = Service(tmp_path, told_parts={"broker": ask}).client().get("/readyz").json()
    assert (there["status"], there["checks"]["broker"]) == ("ready", "ok")
    broker["why"] = Unavailable("gone", part=BROKER)
    answer = Service(tmp_path, told_parts={"broker": ask}).client().get("/readyz")
    assert answer.status_code == 200, "tasks wait in the store, and all else goes on"
    assert answer.json() == {"status": "degraded", "checks": {"store": "ok", "objects": "ok", "broker": "away"}}


def test_probes_do_not_wear_out_what_they_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(health, "_FRESH", 3600.0)
    service = Service(tmp_path, told_parts={"broker": lambda: asked.append("broker")})

    async def together() -> None:
        (ready,) = [r for r in service.app.routes if isinstance(r, AdmittedRoute) and r.path == "/readyz"]
        await asyncio.gather(*(ready.endpoint() for _ in range(5)))

    asyncio.run(together())
    assert service.client().get("/readyz").status_code == 200
    assert asked == ["broker"], "five at once and one a moment later have one answer"
    monkeypatch.setattr(health, "_FRESH", 0.0)
    client = Service(tmp_path, told_parts={"broker": lambda: asked.append("later")}).client()
    assert [client.get("/readyz").status_code for _ in "12"] == [200, 200]
    assert asked == ["broker", "later", "later"], "and an old one is used no more"


def test_probes_are_never_limited(service: Service) -> None:
    limits = {door.path: door.access.per_minute for door in doors(service.app) if door.access.role is None}
    assert limits.pop("/healthz") is limits.pop("/readyz") is None
    shells = ("/", "/docs", "/console", "/console/{place}", "/console/api", "/console/api/")
    files = ("/assets/{name}", "/console-pages/{domain}/{version}/{file}")
    assert {limits.pop(page) for page in (*shells, *files)} == {None}, "a page has many files, all in memory"
    assert all(limits.values()), "and every other public route is"


# Numbers


def numbers(service: Service) -> dict[str, float]:
    lines = service.client(Role.ADMIN).get("/metrics").text.splitlines()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("#")}


def test_requests_are_counted_by_route_and_status(service: Service, editor: Any) -> None:
    for title in ("a", "b"):
        editor.post("/api/films/films", json=film(title))
        editor.get(f"/api/films/films/p1/{title}")
    editor.get("/api/films/films/p1/c")
    for number in range(3):
        editor.get(f"/nowhere/{number}")
    found = numbers(service)
    assert found['penstock_requests_total{method="POST",route="/api/films/films",status="201"}'] == 2
    assert (
        found['penstock_requests_total{method="GET",route="/api/films/films/{project_id}/{title}",status="404"}'] == 1
    )
    assert found['penstock_request_seconds_count{method="GET",route="/api/films/films/{project_id}/{title}"}'] == 3
    assert found['penstock_requests_total{method="GET",route="other",status="404"}'] == 3, "paths are no labels"


def test_waiting_work_is_counted(service: Service) -> None:
    tasks = Tasks("films")

    @tasks.task("wait")
    def wait(work: TaskContext, input: dict[str, Any]) -> None: ...

    with service.store.change() as change:
        change.emit("reel.made", change.create(Reel(name="r")))
        for number in range(3):
            wait.enqueue(change, {"number": number})
    found = numbers(service)
    assert found['penstock_tasks{state="waiting"}'] == 3
    assert found['penstock_tasks{state="running"}'] == found['penstock_tasks{state="dead"}'] == 0
    assert found['penstock_messages{state="pending"}'] == 1
    assert found['penstock_oldest_message_seconds{state="dead"}'] == 0
    assert found["penstock_change_log_entries"] >= 0
    assert found["penstock_feeds_behind"] == 0
    assert found["penstock_store_reachable"] == 1


def test_an_overdue_schedule_is_told(tmp_path: Path) -> None:
    hourly = Schedule("hourly", "0 * * * *", lambda period: None, overdue=timedelta(hours=2))
    service = Service(tmp_path, installed=(DomainPlugin(DOMAIN, schedules=lambda context: [hourly]),))
    Scheduler(service.store, [hourly], owner="tests").run_due()
    service.clock.advance(timedelta(hours=3))
    assert numbers(service)['penstock_schedule_overdue{schedule="hourly"}'] == 1
    (told,) = service.client(Role.ADMIN).get("/api/ops/schedules").json()["items"]
    assert (told["name"], told["overdue"]) == ("hourly", True)


# Traces


def test_a_request_is_a_span_of_its_callers_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    service = Service(tmp_path, tracing=True)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    service.client().get(LIST, headers={"traceparent": parent})
    (span,) = exporter.get_finished_spans()
    assert span.name == "GET /api/films/films"
    assert format(span.context.trace_id, "032x") == parent.split("-")[1]
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == 401
    assert "draft" not in str(dict(span.attributes))


def test_without_tracing_nothing_of_it_is_imported() -> None:
    probe = (
        "import sys, penstock.web.api; print([m for m in sys.modules if m.endswith(('.tracing', 'opentelemetry.sdk'))])"
    )
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True).stdout.strip() == "[]"


def test_two_services_of_one_process_count_apart(tmp_path: Path) -> None:
    one, other = Service(tmp_path), Service(tmp_path, store=open_store(f"sqlite:///{tmp_path}/web.db"))
    one.client().get("/healthz")
    assert 'penstock_requests_total{method="GET",route="/healthz",status="200"}' not in numbers(other)
