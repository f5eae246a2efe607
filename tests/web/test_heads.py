"""What a head, a cookie, a query and a body in small chunks may cost: no more than they weigh, on a real server."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from penstock.schema.role import Role
from penstock.web.connection import served_by
from penstock.web.crowd import Crowd
from tests.web.service import HERE, Service
from tests.web.serving import serving
from tests.web.siege import Siege, besieged

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def siege(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    with besieged(tmp_path_factory.mktemp("heads")) as siege:
        yield siege


def answer(siege: Siege, sent: bytes, *, times: int = 1) -> bytes:
    """The first line of the answer; nothing if the connection was broken off."""
    with socket.create_connection(("127.0.0.1", siege.port), timeout=20) as connection:
        try:
            for _ in range(times):
                connection.sendall(sent)
            return connection.makefile("rb").readline()
        except OSError:
            return b""


def cpu(siege: Siege) -> float:
    """Seconds of CPU that the server has used."""
    fields = Path(f"/proc/{siege.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_a_cookie_is_not_read(siege: Siege) -> None:
    began = cpu(siege)
    for _ in range(10):
        assert b" 200 " in answer(siege, HEALTH + b'Cookie: a="' + b"\\" * 15_000 + b'"\r\n\r\n')
    assert cpu(siege) - began < 1.0


@pytest.mark.parametrize(
    "head",
    [
        HEALTH + b"a:\r\n" * 15_000,
        HEALTH + b"a:\n" * 5_000,
        HEALTH + b"A: " + b"a" * 60_000 + b"\r\n",
        HEALTH + b"\r\n" + HEALTH + b"a:\r\n" * 15_000,
    ],
    ids=["many headers", "by newlines", "a long one", "behind another request"],
)
def test_a_head_that_is_too_much_is_refused_unread(siege: Siege, head: bytes) -> None:
    began = cpu(siege)
    for _ in range(40):
        assert answer(siege, head + b"\r\n")[9:12] in (b"400", b"431", b"200", b"")
    assert cpu(siege) - began < 2.0


def test_a_query_that_is_too_much_is_refused(siege: Siege) -> None:
    for query in (b"a=1&" * 1_000, b"a" * 9_000):
        found = answer(siege, b"GET /objects/x?" + query + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 431 " in found


def test_a_path_and_its_query_may_be_of_so_many_bytes_together(tmp_path: Path) -> None:
    with closing(Service(tmp_path).client()) as client:

        def asked(length: int) -> int:
            return client.get("/healthz?" + "a" * (length - len("/healthz"))).status_code

        assert (asked(8000), asked(8001)) == (200, 431)


def test_a_body_in_the_smallest_chunks_is_broken_off(siege: Siege) -> None:
    head = b"POST /nope HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    began = cpu(siege)
    for _ in range(10):
        answer(siege, head + b"1\r\nx\r\n" * 40_000)
    assert cpu(siege) - began < 3.0


def test_a_head_of_too_many_lines_is_not_read_to_be_refused(siege: Siege) -> None:
    """Some more than are taken are read and told so; very many are not even read."""
    told = [answer(siege, HEALTH + b"a: b\r\n" * count + b"\r\n")[9:12] for count in (50, 110, 200)]
    assert told == [b"200", b"431", b"400"]


def test_a_connection_ends_with_a_body_in_the_smallest_chunks(tmp_path: Path) -> None:
    service = Service(tmp_path)
    head = f"POST /cinema/shouts HTTP/1.1\r\nHost: x\r\nX-API-Key: {service.key(Role.EDITOR)}\r\n".encode()
    with serving(service.app) as port, socket.create_connection(("127.0.0.1", port), 5) as line:
        line.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 600)
        with suppress(ConnectionResetError):
            assert line.recv(1) == b"", "nothing more is waited for"


def test_a_body_in_usual_chunks_arrives_whole(siege: Siege) -> None:
    """Also when its pieces are cut anywhere, and the next request follows at once."""
    text = b'{"shout": "' + b"a" * 5_000 + b'"}'
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (text[i : i + 700] for i in range(0, len(text), 700)))
    head = (
        b"POST /public/cry HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    whole = head + chunks + b"0\r\n\r\n" + HEALTH + b"Connection: close\r\n\r\n"
    for cut in (1, 100, 5_000, len(whole)):
        with socket.create_connection(("127.0.0.1", siege.port), timeout=20) as connection:
            for start in range(0, len(whole), cut) if cut > 50 else [0]:
                connection.sendall(whole[start : start + cut] if cut > 50 else whole)
                time.sleep(0.001)
            said = connection.makefile("rb").read()
        assert said.count(b"HTTP/1.1 ") == 2, said[:200]
        assert said.endswith(b'{"status":"ok"}')


def test_pipelined_requests_are_answered_in_turn(siege: Siege) -> None:
    many = (HEALTH + b"\r\n") * 2_000 + HEALTH + b"Connection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", siege.port), timeout=20) as connection:
        connection.sendall(many)
        assert connection.makefile("rb").read().count(b" 200 ") == 2_001


def test_whoever_was_read_in_slices_makes_nobody_wait_afterwards(tmp_path: Path) -> None:
    """The more are read so, the longer each of them waits; one that has been read whole is none of them."""
    service = Service(tmp_path)
    served = served_by(service.app.state.options)
    crowd: Crowd = served["http"].crowd
    with serving(service.app, served=served) as port, socket.create_connection(("127.0.0.1", port), 20) as line:
        answers = line.makefile("rb")
        for count in (20, 1):
            line.sendall((HEALTH + b"A: " + b"a" * 500 + b"\r\n\r\n") * count)
            for _ in range(count):
                assert any(b"HTTP/1.1 200" in said for said in answers)
            assert not crowd.slicing


# With keys turned off, for development


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "127.0.0.1#.evil.example"},
        {"Host": "evil@127.0.0.1"},
        {"Host": "127.0.0.1/evil"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "chrome-extension://127.0.0.1"},
        {"X-Varnish": "7"},
    ],
)
def test_a_page_of_another_site_cannot_hide(tmp_path: Path, headers: dict[str, str]) -> None:
    here = Service(tmp_path, authentication=False).client(address=HERE)
    assert here.get("/api/ops/keys", headers=headers).json()["type"] == "foreign-page"
    assert here.get("/api/ops/keys", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_a_refused_request_leaves_its_idempotency_key_behind_for_a_minute_only(tmp_path: Path) -> None:
    service = Service(tmp_path)
    client = service.client(Role.EDITOR)
    for number in range(5):
        sent = client.post("/api/films/films", json={}, headers={"Idempotency-Key": f"k{number}"})
        assert sent.status_code == 422
    kept = service.store.engine.connector.rows("select ttl from penstock_once", ())  # type: ignore[attr-defined]
    assert len(kept) == 5
    assert all(ttl - service.clock.now().timestamp() <= 60 for (ttl,) in kept)
