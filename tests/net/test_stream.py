"""Connections of the client: kept, shared, left alone by children, and never used where another was meant."""

from __future__ import annotations

import os
import re
import resource
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

import penstock
from penstock.errors import Unavailable
from penstock.net import open_client
from penstock.net.exchange import ClientLimits, HttpClient
from tests.forked import forked
from tests.net.misbehaving import Server, answers, certificate, sends

PATIENT = ClientLimits(wait=timedelta(seconds=10), total=timedelta(seconds=20), most=32 * 1024 * 1024)
HASTY = ClientLimits(wait=timedelta(seconds=0.2), total=timedelta(seconds=0.2))


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[HttpClient]:
    client = open_client(trusted=[server.url()])
    yield client
    client.close()


def ask(client: HttpClient, url: str, method: str = "GET", content: bytes | None = None) -> bytes:
    with client.exchange(method, url, content=content, limits=PATIENT) as response:
        return response.read()


def hangs_up(server: Server, connection: socket.socket) -> None:
    """Hears a request, and answers with the end of the connection."""
    sends(b"")(server, connection)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_may_have_been_heard_is_not_said_twice(server: Server, client: HttpClient, method: str) -> None:
    """Whoever asks knows whether to ask again, and counts how often."""
    assert ask(client, server.url(), method) == b"hello"
    server.script.append(hangs_up)
    with pytest.raises(Unavailable, match="ended before the answer did"):
        ask(client, server.url(), method)
    assert (len(server.requests), server.connections) == (2, 1)
    assert ask(client, server.url(), method) == b"hello"


def test_a_fresh_connection_that_ends_is_not_tried_again(server: Server, client: HttpClient) -> None:
    server.script.append(hangs_up)
    with pytest.raises(Unavailable, match="ended before the answer did"):
        ask(client, server.url())
    assert server.connections == 1


@pytest.mark.parametrize(
    ("method", "content", "told"),
    [
        ("GET", None, []),
        ("DELETE", None, []),
        ("POST", None, [b"content-length: 0"]),
        ("POST", b"{}", [b"content-length: 2"]),
        ("PUT", b"{}", [b"content-length: 2"]),
        ("PATCH", b"x" * 1_500_000, [b"content-length: 1500000"]),
    ],
)
def test_each_method_is_sent_as_it_is_and_with_no_header_of_libcurls(
    server: Server, client: HttpClient, method: str, content: bytes | None, told: list[bytes]
) -> None:
    """One after the other on the same connection, so that none leaves anything to the next."""
    if content is None or len(content) < 100:
        ask(client, server.url())
        ask(client, server.url(), "POST")
    ask(client, server.url("/a/../b?c=%2F"), method, content)
    request = next(r for r in reversed(server.requests) if b"\r\n\r\n" in r and r.startswith(method.encode() + b" "))
    head = request.partition(b"\r\n\r\n")[0].lower().split(b"\r\n")
    assert head[0] == f"{method} /a/../b?c=%2F HTTP/1.1".lower().encode()
    assert [line for line in head if line.startswith(b"content-")] == told
    assert not any(line.startswith((b"expect", b"transfer-encoding")) for line in head)
    assert sorted(line for line in head if line.startswith((b"accept", b"user"))) == [
        b"accept-encoding: identity",
        b"accept: */*",
        b"user-agent: penstock",
    ]


def test_an_answer_to_head_has_no_body(server: Server, client: HttpClient) -> None:
    server.script.append(answers(200, b"", Content_Length="5000"))
    with client.exchange("HEAD", server.url(), limits=PATIENT) as response:
        assert (response.length, response.read()) == (5000, b"")
    assert ask(client, server.url()) == b"hello"
    assert server.connections == 1


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[Server, HttpClient]]:
    pem = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with Server(tls=context) as server:
        client = open_client(trusted=[server.url()], ca_bundle=str(pem))
        yield server, client
        client.close()


def test_a_long_answer_over_tls_comes_whole_and_only_as_fast_as_it_is_taken(secure: tuple[Server, HttpClient]) -> None:
    server, client = secure
    long = os.urandom(16) * (512 * 1024)
    sent: list[int] = []

    def slowly(server: Server, connection: socket.socket) -> None:
        answers(200, b"", Content_Length=str(len(long)))(server, connection)
        for start in range(0, len(long), 65536):
            connection.sendall(long[start : start + 65536])
            sent.append(start)

    server.script.append(slowly)
    with client.exchange("GET", server.url(), limits=PATIENT) as response:
        first = next(response.pieces)
        assert first + b"".join(response.pieces) == long
    assert len(sent) == len(long) // 65536
    assert ask(client, server.url()) == b"hello"
    assert server.connections == 1


@pytest.mark.parametrize("leave", ["at once", "in order", "by asking"])
def test_a_child_leaves_its_parents_tls_connection_alone(secure: tuple[Server, HttpClient], leave: str) -> None:
    server, client = secure
    assert ask(client, server.url()) == b"hello"

    def use_and_leave() -> None:
        if leave == "by asking":
            assert ask(client, server.url()) == b"hello"
        elif leave == "in order":
            client.close()

    assert forked(use_and_leave) == 0
    assert ask(client, server.url()) == b"hello"
    assert server.connections == (2 if leave == "by asking" else 1)


def test_a_child_forked_within_an_exchange_leaves_it_to_its_parent(server: Server, client: HttpClient) -> None:
    with client.exchange("GET", server.url(), limits=PATIENT) as response:

        def drop_it_and_ask() -> bool:
            nonlocal response
            response = None  # type: ignore[assignment]
            return ask(client, server.url()) == b"hello"

        assert forked(drop_it_and_ask) == 0
        assert response.read() == b"hello"


def test_no_more_is_asked_at_once_than_there_are_connections(server: Server) -> None:
    client = open_client(trusted=[server.url()], connections=2)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(client.exchange("GET", server.url(), limits=PATIENT))
        with (
            pytest.raises(Unavailable, match=r"no whole answer within 0\.2 s"),
            client.exchange("GET", server.url(), limits=HASTY),
        ):
            pass
    assert server.connections == 2
    assert ask(client, server.url()) == b"hello"
    client.close()


def test_threads_share_a_client(server: Server, client: HttpClient) -> None:
    answered: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: answered.extend(ask(client, server.url()) for _ in range(20))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answered == [b"hello"] * 120
    assert server.connections <= 6


def answers_late(server: Server, connection: socket.socket) -> None:
    server.over.wait(0.5)
    answers()(server, connection)


def test_a_process_with_many_files_open_still_waits_instead_of_spinning(server: Server, client: HttpClient) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4096:
        pytest.skip("this system lets no process open that many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        server.script.append(answers_late)
        before = os.times()
        assert ask(client, server.url()) == b"hello"
        after = os.times()
    finally:
        for file in held:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (after.user + after.system) - (before.user + before.system) < 0.3


def test_http_is_spoken_in_one_room() -> None:
    """AWS's own library, for S3 and EventBridge, brings its own client; the shipped suite asks as a stranger would."""
    source = Path(penstock.__file__).parent
    drivers = re.compile(
        r"^\s*(import|from) (pycurl|http(core|x)2?|urllib\.request|http\.client|urllib3|aiohttp)\b", re.M
    )
    rooms = {path.relative_to(source).parts[0] for path in source.rglob("*.py") if drivers.search(path.read_text())}
    assert rooms - {"testing"} == {"net"}
