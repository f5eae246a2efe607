"""Whatever is full, frozen or silent, the process says that it is alive, does everything else, and recovers."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from penstock.schema.role import Role
from penstock.web.connection import log_accept_errors_seldom
from tests.conftest import chosen_engines
from tests.servers import Postgres
from tests.web.freezer import Freezer
from tests.web.service import Service
from tests.web.siege import AT_ALL, Siege, besieged, together
from tests.work.soon import soon

LIST = "/api/films/films?pattern=by_status&status=draft"
HALF_A_HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-More: "


def long(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.long)


def told(line: socket.socket) -> bytes:
    """What comes on a connection until it ends."""
    line.settimeout(20)
    said = b""
    with suppress(OSError):
        while piece := line.recv(65536):
            said += piece
    return said


def post(path: str, size: int, *headers: str) -> bytes:
    """The head of a request that says how much follows."""
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", f"Content-Length: {size}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


# Uploads


@pytest.mark.parametrize("count", [40, long(300)])
def test_idle_uploads_to_one_url_stop_nobody_else(tmp_path: Path, count: int) -> None:
    with besieged(tmp_path) as siege, siege.watched():
        _, head = siege.upload_url(1000)
        lines = [siege.hold(head + b"1234567890") for _ in range(count)]
        path, _ = siege.upload_url(7)
        assert siege.ask("PUT", path, b"1234567", Content_Type="text/plain")[0] == 200
        assert siege.with_key("GET", LIST)[0] == 200
        answers = [told(line) for line in lines]
        assert {a.split()[1] for a in answers if a} <= {b"408", b"503"}
        assert any(b'"too-slow"' in a for a in answers)
        assert any(b'"busy"' in a and b"retry-after: " in a.lower() for a in answers)
        assert siege.works()
        assert not list((tmp_path / "objects" / "unfinished").iterdir())


def test_an_upload_by_drops_ends_and_one_without_a_pause_does_not(tmp_path: Path) -> None:
    with besieged(tmp_path, silence=1) as siege:
        _, head = siege.upload_url(1000)
        line = siege.hold(head)
        began = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - began < 20:
                line.sendall(b"x")
                time.sleep(0.2)
        assert time.monotonic() - began < 10, "five bytes a second are as good as none"
        _, head = siege.upload_url(6_000_000)
        line = siege.hold(head)
        for _ in range(6):
            line.sendall(b"x" * 1_000_000)
            time.sleep(0.3)
        assert line.recv(100).startswith(b"HTTP/1.1 200")


# Heavy work


@pytest.mark.parametrize("count", [60, long(400)])
def test_guests_who_speak_take_each_others_places_only(tmp_path: Path, count: int) -> None:
    with besieged(tmp_path) as siege, siege.watched():
        got = together(count, lambda n: siege.ask("POST", "/public/speak") if n else siege.with_key("GET", LIST))
        assert got[0][0] == 200
        assert {status for status, _, _ in got} == {200, 503}
        for status, headers, answer in got:
            if status == 503:
                assert answer["type"] == "busy"
                assert int(headers["retry-after"]) >= 1
        assert siege.works()


# A store that does not answer


@pytest.mark.skipif("postgres" not in chosen_engines(), reason="PENSTOCK_TEST_ENGINES leaves PostgreSQL out")
def test_a_database_that_freezes_stops_what_needs_it_only(tmp_path: Path, postgres_server: Postgres) -> None:
    url = postgres_server.create_database("siege")
    with Freezer(postgres_server.port) as freezer:
        reached = url.replace(f":{urlsplit(url).port}/", f":{freezer.port}/")
        with besieged(tmp_path, store=url, reached_at=reached) as siege, siege.watched():
            assert siege.works()
            assert siege.ask("GET", "/readyz")[0] == 200
            freezer.freeze()
            time.sleep(1.1)  # an answer is fresh for a second
            asked = f"GET {LIST} HTTP/1.1\r\nHost: x\r\nX-API-Key: {siege.key}\r\n\r\n".encode()
            lines = [siege.hold(asked) for _ in range(60)]
            lines += [siege.hold(post("/public/cry", 2) + b"{}") for _ in range(60)]
            began = time.monotonic()
            assert siege.ask("GET", "/readyz")[0] == 503
            path, _ = siege.upload_url(7)
            assert siege.ask("PUT", path, b"1234567", Content_Type="text/plain")[0] == 200
            assert siege.ask("POST", "/public/speak")[2]["type"] == "busy"
            assert time.monotonic() - began < 3 * AT_ALL
            freezer.thaw()
            for line in lines:
                line.close()
            soon(siege.works)
            soon(lambda: siege.ask("GET", "/readyz")[0] == 200)


def test_a_database_that_is_locked_stops_what_writes_only(tmp_path: Path) -> None:
    with besieged(tmp_path) as siege, siege.watched():
        with closing(sqlite3.connect(tmp_path / "siege.db", isolation_level=None)) as other:
            other.execute("begin immediate")
            lines = [siege.hold(post("/public/cry", 2) + b"{}") for _ in range(60)]
            soon(lambda: siege.ask("POST", "/public/cry", b"{}")[0] == 503)
            assert siege.with_key("GET", LIST)[0] == 200
            assert siege.ask("GET", "/readyz")[0] == 503, "it cannot write"
            other.execute("rollback")
        for line in lines:
            line.close()
        soon(siege.works)
        soon(lambda: siege.ask("GET", "/readyz")[0] == 200)


def test_a_probe_that_is_not_answered_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(tmp_path)
    asked: list[str] = []
    thawed = threading.Event()

    def frozen(*_: Any) -> None:
        asked.append("store")
        thawed.wait(60)

    monkeypatch.setattr(service.store, "lookup", frozen)
    began = time.monotonic()
    client = service.client()
    for _ in "12":
        refused = client.get("/readyz")
        assert (refused.status_code, refused.json()["type"]) == (503, "not-ready")
        assert "store" in refused.json()["detail"]
    took = time.monotonic() - began
    thawed.set()
    assert took < 5.5
    assert asked == ["store"]
    assert service.client(key=service.key(Role.VIEWER)).get("/healthz").status_code == 200


# Connections


@pytest.mark.parametrize(("count", "loop"), [(300, "asyncio"), (300, "uvloop"), long(1500, "asyncio")])
def test_half_open_requests_take_no_more_files_than_there_are(tmp_path: Path, count: int, loop: str) -> None:
    if loop == "uvloop":
        pytest.importorskip("uvloop")
    with besieged(tmp_path, files=256, loop=loop) as siege, siege.watched():
        lines = [siege.hold(HALF_A_HEAD) for _ in range(count)]
        assert siege.with_key("GET", LIST)[0] == 200
        assert siege.files() < 256
        assert all(told(line) == b"" for line in lines), "each has ended"
        assert siege.works()
        assert siege.log.stat().st_size < 100_000


def test_a_head_or_a_next_request_that_never_ends_ends(tmp_path: Path) -> None:
    with besieged(tmp_path, silence=1) as siege:
        again = siege.hold(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        refused = siege.hold(post("/api/films/films", 1000))
        assert again.recv(100).startswith(b"HTTP/1.1 200")
        assert refused.recv(100).startswith(b"HTTP/1.1 401")
        began = time.monotonic()
        left = {again: HALF_A_HEAD, refused: b"{", siege.hold(b""): b"G", siege.hold(b"GET / HT"): b"T"}
        while left and time.monotonic() - began < 20:
            for line, sent in list(left.items()):
                try:
                    line.sendall(sent)
                    left[line] = b"x"
                except OSError:
                    del left[line]
            time.sleep(0.1)
        assert not left
        assert time.monotonic() - began < 10


def test_connections_that_cannot_be_taken_are_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        log_accept_errors_seldom(loop)
        for _ in range(1000):
            error = OSError(24, "Too many open files")
            loop.call_exception_handler({"message": "socket.accept() out of system resource", "exception": error})
        loop.call_exception_handler({"message": "something else"})

    asyncio.run(story())
    assert [r.getMessage() for r in caplog.records] == [
        "no connection can be taken: [Errno 24] Too many open files",
        "something else",
    ]


def test_one_client_leaves_room_for_others_and_may_still_ask_for_health(tmp_path: Path) -> None:
    with besieged(tmp_path, connections=260) as siege, siege.watched():
        busy = [siege.hold(post("/public/read", 1000, f"X-API-Key: {siege.key}") + b"{") for _ in range(65)]
        status, headers, answer = siege.with_key("GET", LIST)
        assert (status, answer["type"], headers["connection"]) == (503, "busy", "close")
        assert siege.ask("GET", "/healthz")[0] == 200
        assert all(told(line).startswith(b"HTTP/1.1 408") for line in busy)
        assert siege.works()


def test_behind_a_proxy_that_is_trusted_one_address_may_have_all_connections(tmp_path: Path) -> None:
    with besieged(tmp_path, connections=260, trusted_proxies=["127.0.0.1"]) as siege:
        for _ in range(80):
            siege.hold(post("/public/read", 1000, f"X-API-Key: {siege.key}") + b"{")
        assert siege.with_key("GET", LIST)[0] == 200


@pytest.mark.parametrize("count", [20, long(150)])
def test_answers_that_nobody_takes_are_not_kept(tmp_path: Path, count: int) -> None:
    with besieged(tmp_path) as siege, siege.watched():
        before, film = siege.connections(), siege.download(30_000_000)
        for _ in range(count):
            siege.hold(film)
        soon(lambda: siege.connections() > before + 10)
        soon(lambda: siege.connections() <= before + 5)
        assert siege.works()
        assert siege.resident() < 400


# Bodies


@pytest.mark.parametrize("count", [20, long(100)])
def test_large_bodies_of_guests_are_refused_unread(tmp_path: Path, count: int) -> None:
    body = b'{"words": [' + b"[]," * 3_200_000 + b"0]}"
    with besieged(tmp_path, silence=20) as siege, siege.watched():
        before = siege.resident()
        got = together(count, lambda n: siege.ask("POST", "/public/cry", body, patience=60))
        assert {status for status, _, _ in got} == {413}
        assert siege.resident() < before + 150
        assert siege.works()


@pytest.mark.parametrize("count", [6, long(40)])
def test_large_bodies_of_others_are_read_beside_the_event_loop(tmp_path: Path, count: int) -> None:
    many = b'{"words": [' + b"[]," * 3_200_000 + b"0]}"
    flat = json.dumps({"words": ["x" * 50] * 150_000}).encode()
    with besieged(tmp_path) as siege, siege.watched():
        assert {siege.with_key("POST", "/public/read", many)[0] for _ in range(count)} == {413}
        got = together(count, lambda n: siege.with_key("POST", "/public/read", flat))
        assert {answer[0] for answer in got} <= {200, 503}
        assert any(answer[0] == 200 for answer in got)
        assert siege.works()


@pytest.mark.parametrize("opened", [b"[", b'{"words":', b'[{"words":'])
@pytest.mark.parametrize("depth", [65, 900, 5_000])
def test_json_that_nests_too_deeply_cannot_be_read(service: Service, opened: bytes, depth: int) -> None:
    editor = service.client(Role.EDITOR)
    for content in (opened * depth, b'{"title": ' + opened * depth):
        refused = editor.post("/api/films/films", content=content, headers={"Content-Type": "application/json"})
        assert refused.status_code in (400, 422)
        assert len(refused.content) < 1000
    closing = {b"[": b"]", b'{"words":': b"}", b'[{"words":': b"}]"}[opened]
    whole = b'{"title": ' + opened * depth + b"1" + closing * depth + b"}"
    refused = editor.post("/api/films/films", content=whole, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["detail"]) == (400, "the JSON is nested more than 64 deep")


def test_what_nests_as_records_do_is_taken(service: Service) -> None:
    notes: dict[str, Any] = {}
    inner = notes
    for _ in range(20):
        inner["a"] = {"b": [{}] * 5}
        inner = inner["a"]
    sent = {"project_id": "p", "title": "deep", "created_at": "2037-01-01T00:00:00Z", "notes": notes}
    assert service.client(Role.EDITOR).post("/api/films/films", json=sent).status_code == 201


@pytest.mark.parametrize("count", [30, long(120)])
def test_bodies_that_stall_are_not_kept(tmp_path: Path, count: int) -> None:
    with besieged(tmp_path, body_memory=40_000_000) as siege, siege.watched():
        before = siege.resident()
        head = post("/public/read", 10_000_000, f"X-API-Key: {siege.key}")
        lines = together(count, lambda n: siege.hold(head + b"[" + b" " * 9_900_000))
        assert siege.with_key("GET", LIST)[0] == 200
        assert siege.with_key("POST", "/public/read", b"{}")[0] == 200, "what is small is always read"
        answers = [told(line) for line in lines if isinstance(line, socket.socket)]
        assert any(b'"too-slow"' in a for a in answers)
        assert any(b'"busy"' in a for a in answers)
        assert siege.resident() < before + 200
        soon(lambda: siege.with_key("POST", "/public/read", b" " * 9_000_000 + b"{}")[0] == 200)
        assert siege.works()


def test_a_large_form_is_read_as_ever(service: Service) -> None:
    editor = service.client(Role.EDITOR)
    for _ in "12":
        sent = editor.post("/cinema/posters", files={"poster": b"x" * 900_000}, headers={"Idempotency-Key": "one"})
        assert (sent.status_code, sent.json()) == (201, {"size": 900_000})


# Everything at once


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_siege_on_all_sides(tmp_path: Path) -> None:
    with besieged(tmp_path, files=512) as siege, siege.watched():
        before = siege.resident()
        for _ in range(5):
            _all_sides(siege)
            assert siege.resident() < before + 700
        soon(siege.works)
        assert siege.files() < 512


def _all_sides(siege: Siege) -> None:
    (_, head), film = siege.upload_url(1000), siege.download(30_000_000)
    attacks = [
        lambda: siege.hold(head + b"x"),
        lambda: siege.hold(HALF_A_HEAD),
        lambda: siege.hold(post("/public/speak", 0)),
        lambda: siege.hold(post("/public/cry", 9_600_000) + b"[" * 1_000_000),
        lambda: siege.hold(post("/public/read", 9_000_000, f"X-API-Key: {siege.key}") + b" " * 8_000_000),
        lambda: siege.hold(film),
    ]
    lines = together(180, lambda n: attacks[n % len(attacks)]())
    for line in lines:
        if isinstance(line, socket.socket):
            line.close()
