"""The wire against real sockets whose other end misbehaves on purpose."""

import json
import os
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from email.utils import formatdate
from pathlib import Path
from typing import NamedTuple

import pytest

from penstock.engines.dynamodb.wire import Unreachable, Wire, WireError, WireThrottled


class Request(NamedTuple):
    connection: int
    head: str
    body: bytes

    def header(self, name: str) -> str:
        for line in self.head.splitlines():
            key, _, value = line.partition(":")
            if key.lower() == name:
                return value.strip()
        return ""


class Conversation:
    """One accepted connection, as an action sees it."""

    def __init__(self, connected: socket.socket, server: "Server") -> None:
        self.socket = connected
        self.server = server

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


Action = Callable[[Conversation], None]


def http(body: bytes, status: int = 200, *, crc: int | None = None, headers: str = "") -> bytes:
    checksum = zlib.crc32(body) if crc is None else crc
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nx-amz-crc32: {checksum}\r\n{headers}\r\n"
    return head.encode() + body


def answer(body: bytes = b"{}", status: int = 200, *, crc: int | None = None, headers: str = "") -> Action:
    return lambda talk: talk.socket.sendall(http(body, status, crc=crc, headers=headers))


def refuse(code: str, message: str = "no", status: int = 400, *, headers: str = "") -> Action:
    return answer(json.dumps({"__type": f"x#{code}", "message": message}).encode(), status, headers=headers)


def drop(talk: Conversation) -> None:
    talk.socket.close()


def reset(talk: Conversation) -> None:
    talk.reset()


def hang(talk: Conversation) -> None:
    talk.server.stopping.wait(5)


def answer_then_close(talk: Conversation) -> None:
    answer()(talk)
    talk.socket.close()


def answer_half(talk: Conversation) -> None:
    talk.socket.sendall(http(b"x" * 100)[:-50])
    talk.socket.close()


class Server:
    """Answers every request with the next planned action, and with an empty success when the plan is over."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.plan: list[Action] = []
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self._tls = _server_tls(certificate) if certificate else None
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"https://localhost:{self.port}" if certificate else f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.stopping.set()
        self._listener.close()

    def _accept(self) -> None:
        number = 0
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            number += 1
            threading.Thread(target=self._serve, args=(accepted, number), daemon=True).start()

    def _serve(self, accepted: socket.socket, number: int) -> None:
        try:
            connected = self._tls.wrap_socket(accepted, server_side=True) if self._tls else accepted
            talk = Conversation(connected, self)
            while True:
                request = _read(connected, number)
                if request is None:
                    connected.close()
                    return
                self.requests.append(request)
                action = self.plan.pop(0) if self.plan else answer()
                action(talk)
        except OSError:
            return


def _server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    return context


def _read(connected: socket.socket, number: int) -> Request | None:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connected.recv(65536)
        if not piece:
            return None
        received += piece
    raw_head, _, body = received.partition(b"\r\n\r\n")
    request = Request(number, raw_head.decode(), b"")
    length = int(request.header("content-length"))
    while len(body) < length:
        body += connected.recv(65536)
    return request._replace(body=body)


class Sleeper:
    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command to make a certificate")
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    name = ["-addext", "subjectAltName=DNS:localhost"]
    files = ["-out", str(path), "-keyout", str(path.with_suffix(".key"))]
    subprocess.run([*command.split(), *name, *files], check=True, capture_output=True)
    return path


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[Server]:
    server = Server(certificate)
    yield server
    server.close()


@pytest.fixture
def sleeper() -> Sleeper:
    return Sleeper()


@pytest.fixture
def wire(server: Server, sleeper: Sleeper) -> Iterator[Wire]:
    wire = open_wire(server.url, sleep=sleeper)
    yield wire
    wire.close()


def open_wire(
    url: str,
    *,
    sleep: Callable[[float], None] = time.sleep,
    token: str | None = None,
    ca_bundle: Path | None = None,
    timeout: float = 10.0,
    now: Callable[[], float] = time.time,
) -> Wire:
    return Wire(
        endpoint=url,
        region="eu-west-1",
        access_key="AKID",
        secret_key="hidden-secret",
        session_token=token,
        ca_bundle=str(ca_bundle) if ca_bundle else None,
        timeout=timeout,
        sleep=sleep,
        random=lambda: 1.0,
        now=now,
    )


# A request as it should be


def test_a_plain_call(server: Server, wire: Wire) -> None:
    server.plan = [answer(b'{"Item":{}}')]
    reply = wire.call("GetItem", b'{"TableName":"t"}')
    assert (reply.body, reply.ambiguous) == (b'{"Item":{}}', False)
    (request,) = server.requests
    assert request.head.startswith("POST / HTTP/1.1")
    assert request.body == b'{"TableName":"t"}'
    assert request.header("host") == f"127.0.0.1:{server.port}"
    assert request.header("x-amz-target") == "DynamoDB_20120810.GetItem"
    assert request.header("content-type") == "application/x-amz-json-1.0"
    assert request.header("accept-encoding") == "identity"
    assert request.header("authorization").startswith("AWS4-HMAC-SHA256 Credential=AKID/")


@pytest.mark.parametrize("operation", ["DescribeStream", "GetShardIterator", "GetRecords", "ListStreams"])
def test_streams_have_their_own_target(server: Server, wire: Wire, operation: str) -> None:
    wire.call(operation, b"{}")
    assert server.requests[0].header("x-amz-target") == f"DynamoDBStreams_20120810.{operation}"


def test_the_connection_is_kept(server: Server, wire: Wire) -> None:
    for _ in range(5):
        wire.call("GetItem", b"{}")
        wire.call("PutItem", b"{}")
    assert {request.connection for request in server.requests} == {1}


def test_large_bodies_both_ways(server: Server, wire: Wire) -> None:
    large = os.urandom(3_000_000).hex().encode()
    server.plan = [answer(large)]
    assert wire.call("BatchWriteItem", large).body == large
    assert server.requests[0].body == large
    assert server.requests[0].header("expect") == ""


def test_an_answer_without_a_checksum_is_taken(server: Server, wire: Wire) -> None:
    server.plan = [lambda talk: talk.socket.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")]
    assert wire.call("GetItem", b"{}").body == b"{}"


# Answers that get lost


@pytest.mark.parametrize("lose", [drop, reset, answer_half])
def test_a_lost_answer_is_fetched_again_and_ambiguous(
    server: Server, wire: Wire, sleeper: Sleeper, lose: Action
) -> None:
    server.plan = [lose]
    reply = wire.call("PutItem", b"{}")
    assert reply.ambiguous
    assert len(server.requests) == 2
    assert sleeper.slept == [0.025]


@pytest.mark.parametrize("lose", [drop, reset])
def test_an_answer_lost_on_a_kept_connection_is_ambiguous(
    server: Server, wire: Wire, sleeper: Sleeper, lose: Action
) -> None:
    server.plan = [answer(), lose, answer()]
    assert not wire.call("PutItem", b"{}").ambiguous
    assert wire.call("PutItem", b"{}").ambiguous
    assert not wire.call("PutItem", b"{}").ambiguous
    assert [request.connection for request in server.requests] == [1, 1, 2, 2]
    assert sleeper.slept == []


@pytest.mark.parametrize("pause", [0.0, 0.1])
def test_a_connection_closed_while_idle_is_no_error(server: Server, wire: Wire, sleeper: Sleeper, pause: float) -> None:
    server.plan = [answer_then_close]
    wire.call("PutItem", b"{}")
    time.sleep(pause)
    assert wire.call("PutItem", b"{}").body == b"{}"
    assert sleeper.slept == []
    assert len(server.requests) == 2


def test_a_timeout_is_ambiguous(server: Server, sleeper: Sleeper) -> None:
    server.plan = [hang]
    wire = open_wire(server.url, sleep=sleeper, timeout=0.2)
    assert wire.call("PutItem", b"{}").ambiguous
    assert sleeper.slept == [0.025]


def test_a_damaged_body_is_fetched_again(server: Server, wire: Wire) -> None:
    server.plan = [answer(b'{"Item":1}', crc=1), answer(b'{"Item":2}')]
    reply = wire.call("UpdateItem", b"{}")
    assert (reply.body, reply.ambiguous) == (b'{"Item":2}', True)


# Servers that fail, refuse or slow down


def test_a_failing_server_is_asked_again(server: Server, wire: Wire, sleeper: Sleeper) -> None:
    server.plan = [refuse("InternalServerError", status=500), refuse("", status=503)]
    assert wire.call("PutItem", b"{}").ambiguous
    assert sleeper.slept == [0.025, 0.05]


def test_a_server_that_keeps_failing_is_unreachable(server: Server, wire: Wire) -> None:
    server.plan = [refuse("InternalServerError", status=500, headers="x-amzn-RequestId: R1\r\n")] * 5
    with pytest.raises(Unreachable, match=r"500 InternalServerError.*R1") as caught:
        wire.call("PutItem", b"{}")
    assert caught.value.ambiguous
    assert len(server.requests) == 5


def test_throttling_slows_down_and_ends(server: Server, wire: Wire, sleeper: Sleeper) -> None:
    server.plan = [refuse("ProvisionedThroughputExceededException")] * 5
    with pytest.raises(WireThrottled) as caught:
        wire.call("PutItem", b"{}")
    assert caught.value.code == "ProvisionedThroughputExceededException"
    assert not caught.value.ambiguous
    assert sleeper.slept == [0.05, 0.1, 0.2, 0.4]


def test_the_quota_stops_retries_when_all_fails(server: Server, wire: Wire, sleeper: Sleeper) -> None:
    server.plan = [refuse("InternalServerError", status=500)] * 126
    for _ in range(26):
        with pytest.raises(Unreachable):
            wire.call("GetItem", b"{}")
    assert len(sleeper.slept) == 500 // 5
    assert len(server.requests) == 25 * 5 + 1


def test_a_refusal_is_raised_at_once(server: Server, wire: Wire, sleeper: Sleeper) -> None:
    server.plan = [refuse("ConditionalCheckFailedException", "The conditional request failed")]
    with pytest.raises(WireError) as caught:
        wire.call("PutItem", b"{}")
    error = caught.value
    assert (error.code, error.status, error.ambiguous) == ("ConditionalCheckFailedException", 400, False)
    assert str(error) == "ConditionalCheckFailedException: The conditional request failed"
    assert b"conditional request" in error.body
    assert sleeper.slept == []


def test_a_refusal_after_a_lost_answer_is_ambiguous(server: Server, wire: Wire) -> None:
    server.plan = [drop, refuse("ConditionalCheckFailedException")]
    with pytest.raises(WireError) as caught:
        wire.call("PutItem", b"{}")
    assert caught.value.ambiguous


def test_nobody_there(server: Server, sleeper: Sleeper) -> None:
    server.close()
    with socket.socket() as placeholder:
        placeholder.bind(("127.0.0.1", 0))
        wire = open_wire(f"http://127.0.0.1:{placeholder.getsockname()[1]}", sleep=sleeper)
        with pytest.raises(Unreachable) as caught:
            wire.call("PutItem", b"{}")
    assert not caught.value.ambiguous
    assert len(sleeper.slept) == 4


# Signatures that are refused


@pytest.mark.parametrize("code", ["InvalidSignatureException", "RequestTimeTooSkewed"])
def test_a_wrong_clock_follows_the_servers(server: Server, sleeper: Sleeper, code: str) -> None:
    local, remote = 1_700_000_000.0, 1_700_003_600.0
    server.plan = [refuse(code, headers=f"Date: {formatdate(remote, usegmt=True)}\r\n")]
    wire = open_wire(server.url, sleep=sleeper, now=lambda: local)
    assert not wire.call("PutItem", b"{}").ambiguous
    wire.call("PutItem", b"{}")
    dates = [request.header("x-amz-date") for request in server.requests]
    assert dates == ["20231114T221320Z", "20231114T231320Z", "20231114T231320Z"]
    assert sleeper.slept == []


@pytest.mark.parametrize(("ahead", "sent"), [(59, 1), (60, 2), (-59, 1), (-60, 2)])
def test_a_clock_that_is_a_minute_wrong_is_wrong(server: Server, sleeper: Sleeper, ahead: int, sent: int) -> None:
    local = 1_700_000_000.0
    server.plan = [refuse("InvalidSignatureException", headers=f"Date: {formatdate(local + ahead, usegmt=True)}\r\n")]
    wire = open_wire(server.url, sleep=sleeper, now=lambda: local)
    with nullcontext() if sent > 1 else pytest.raises(WireError):
        wire.call("PutItem", b"{}")
    assert len(server.requests) == sent


def test_a_wrong_key_is_not_the_clocks_fault(server: Server, wire: Wire) -> None:
    server.plan = [refuse("InvalidSignatureException", headers=f"Date: {formatdate(usegmt=True)}\r\n")]
    with pytest.raises(WireError, match="InvalidSignatureException"):
        wire.call("PutItem", b"{}")
    assert len(server.requests) == 1


def test_a_refusal_that_is_no_signature_s_is_not_sent_again_however_wrong_the_clock(server: Server, wire: Wire) -> None:
    server.plan = [refuse("ValidationException", headers="Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n")]
    with pytest.raises(WireError, match="ValidationException"):
        wire.call("PutItem", b"{}")
    assert len(server.requests) == 1


def test_a_time_that_cannot_be_read_is_not_followed(server: Server, wire: Wire) -> None:
    server.plan = [refuse("RequestTimeTooSkewed", headers="Date: some day\r\n")]
    with pytest.raises(WireError, match="RequestTimeTooSkewed"):
        wire.call("PutItem", b"{}")
    assert len(server.requests) == 1


def test_the_clock_is_followed_once_per_call(server: Server, wire: Wire) -> None:
    server.plan = [
        refuse("RequestTimeTooSkewed", headers=f"Date: {formatdate(time.time() + hours * 3600, usegmt=True)}\r\n")
        for hours in (1, 2)
    ]
    with pytest.raises(WireError, match="RequestTimeTooSkewed"):
        wire.call("PutItem", b"{}")
    assert len(server.requests) == 2


def test_expired_keys_are_fetched_again(
    server: Server, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "credentials"
    file.write_text("[default]\naws_access_key_id = OLD\naws_secret_access_key = s\naws_session_token = t\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))

    def expire(talk: Conversation) -> None:
        file.write_text("[default]\naws_access_key_id = NEW\naws_secret_access_key = s\naws_session_token = u\n")
        refuse("ExpiredTokenException")(talk)

    server.plan = [expire]
    wire = Wire(endpoint=server.url, region="eu-west-1", sleep=sleeper)
    assert wire.call("GetItem", b"{}").body == b"{}"
    old, new = server.requests
    assert "Credential=OLD/" in old.header("authorization")
    assert "Credential=NEW/" in new.header("authorization")
    assert new.header("x-amz-security-token") == "u"
    assert sleeper.slept == []


def test_expired_keys_that_were_passed_in_are_an_error(server: Server, wire: Wire) -> None:
    server.plan = [refuse("ExpiredTokenException")]
    with pytest.raises(WireError, match="ExpiredTokenException"):
        wire.call("GetItem", b"{}")


def test_a_token_that_the_service_quotes_is_cut_out(server: Server) -> None:
    message = "The Canonical String should have been 'x-amz-security-token:hidden-token'"
    server.plan = [refuse("InvalidSignatureException", message)]
    wire = open_wire(server.url, token="hidden-token")
    with pytest.raises(WireError) as caught:
        wire.call("GetItem", b"{}")
    assert server.requests[0].header("x-amz-security-token") == "hidden-token"
    assert "hidden" not in f"{caught.value} {caught.value!r} {caught.value.args} {wire!r}"


def test_an_item_that_a_refusal_shows_is_as_it_stands_whatever_it_says(server: Server) -> None:
    body = b'{"__type": "x#ConditionalCheckFailedException", "Item": {"note": {"S": "like a-token"}}}'
    server.plan = [answer(body, 400)]
    with pytest.raises(WireError) as caught:
        open_wire(server.url, token="a-token").call("PutItem", b"{}")
    assert caught.value.body == body


# TLS


def test_tls(tls_server: Server, certificate: Path) -> None:
    wire = open_wire(tls_server.url, ca_bundle=certificate)
    for _ in range(3):
        assert wire.call("GetItem", b"{}").body == b"{}"
    assert {request.connection for request in tls_server.requests} == {1}


def test_tls_bundle_from_the_environment(
    tls_server: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate))
    assert open_wire(tls_server.url).call("GetItem", b"{}").body == b"{}"


def test_an_unknown_certificate_is_refused_at_once(
    tls_server: Server, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    with pytest.raises(Unreachable, match="certificate") as caught:
        open_wire(tls_server.url, sleep=sleeper).call("GetItem", b"{}")
    assert not caught.value.ambiguous
    assert sleeper.slept == []


# Threads, forks, the end


def test_eight_threads(server: Server, wire: Wire) -> None:
    def work(number: int) -> None:
        for step in range(50):
            wire.call("PutItem", f'{{"n":"{number}-{step}"}}'.encode())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len({request.body for request in server.requests}) == len(server.requests) == 400
    assert len({request.connection for request in server.requests}) <= 8


_FORKING = """
import os, sys
from penstock.engines.dynamodb.wire import Wire
url, bundle, leave = sys.argv[1:]
wire = Wire(endpoint=url, region="r", access_key="a", secret_key="b", ca_bundle=bundle or None)
wire.call("GetItem", b'{"who":"parent"}')
for calls in (0, 2):
    child = os.fork()
    if child == 0:
        for _ in range(calls):
            wire.call("GetItem", b'{"who":"child"}')
        if leave == "close":
            wire.close()
        sys.exit(0)  # with the whole of Python's tidying up, which must not touch the parent's connection
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not wire.call("GetItem", b'{"who":"parent"}').ambiguous
"""


@pytest.mark.parametrize("leave", ["exit", "close"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_fork_leaves_the_parents_connection_alone(request: pytest.FixtureRequest, scheme: str, leave: str) -> None:
    server: Server = request.getfixturevalue("server" if scheme == "http" else "tls_server")
    bundle = str(request.getfixturevalue("certificate")) if scheme == "https" else ""
    command = [sys.executable, "-c", _FORKING, server.url, bundle, leave]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    used = {who: {r.connection for r in server.requests if who in r.body} for who in (b"parent", b"child")}
    assert used == {b"parent": {1}, b"child": {2}}


def test_a_closed_wire_leaves_no_connection_open(server: Server, wire: Wire) -> None:
    ended = threading.Event()

    def listen_on(talk: Conversation) -> None:
        answer()(talk)
        if talk.socket.recv(1) == b"":
            ended.set()

    server.plan = [listen_on]
    wire.call("GetItem", b"{}")
    assert not ended.is_set()
    wire.close()
    assert ended.wait(5)


def test_a_closed_wire_stays_closed(server: Server, wire: Wire) -> None:
    wire.call("GetItem", b"{}")
    wire.close()
    wire.close()
    with pytest.raises(RuntimeError, match="closed"):
        wire.call("GetItem", b"{}")
    assert len(server.requests) == 1


def test_closing_lets_calls_under_way_finish(server: Server, wire: Wire) -> None:
    def close_first(talk: Conversation) -> None:
        wire.close()
        answer(b'{"late":1}')(talk)

    server.plan = [close_first]
    assert wire.call("GetItem", b"{}").body == b'{"late":1}'
