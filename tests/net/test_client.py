"""The one client against servers that misbehave, and names that lead where nobody may go."""

from __future__ import annotations

import gzip
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import net
from penstock.errors import AddressRefused, AnswerTooLong, InvalidValue, Misconfigured, Unavailable
from penstock.net import open_client, stream
from penstock.net.exchange import ClientLimits, HttpClient
from tests.forked import forked
from tests.net.loopback import stay_on_loopback
from tests.net.misbehaving import Behaviour, Server, answers, certificate, redirects, sends

PUBLIC = "93.184.216.34"
HASTY = ClientLimits(wait=timedelta(seconds=0.3), total=timedelta(seconds=0.6), most=100_000)
PATIENT = ClientLimits(wait=timedelta(seconds=10), total=timedelta(seconds=10), most=100_000)

Opener = Callable[..., HttpClient]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def open_one() -> Iterator[Opener]:
    opened: list[HttpClient] = []

    def open_it(*trusted: str, **more: Any) -> HttpClient:
        opened.append(open_client(trusted=trusted, **more))
        return opened[-1]

    yield open_it
    for client in opened:
        client.close()


def get(client: HttpClient, url: str, **more: Any) -> bytes:
    with client.exchange("GET", url, **{"limits": PATIENT, **more}) as response:
        return response.read()


class Names:
    """A resolver that is told what to say, answer by answer."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


# Where it goes


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_guard_of_these_tests_stops_the_client_before_it_connects(
    server: Server, open_one: Opener, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stay_on_loopback(monkeypatch, lambda address: False)
    with pytest.raises(Unavailable):
        get(open_one(server.url()), server.url())
    assert server.connections == 0
    assert "LeftTheMachine: 127.0.0.1 was to be connected to" in capfd.readouterr().err


def test_what_is_configured_may_be_private_and_nothing_else_may(server: Server, open_one: Opener) -> None:
    client = open_one(server.url("/base"))
    assert get(client, server.url("/anything")) == b"hello"
    with Server() as other, pytest.raises(AddressRefused, match="without TLS, and the host is none that is configured"):
        get(client, other.url())
    assert other.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        *("https://127.0.0.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://169.254.169.254/latest"),
        *("https://10.0.0.1:8443/", "https://[fd00:ec2::254]/", "https://[64:ff9b::7f00:1]/", "https://0.0.0.0/"),
        *("http://example.com/", "https://example.com:22/", "https://example.com:6379/", "file:///etc/passwd"),
    ],
)
@pytest.mark.parametrize("how", ["asked", "redirected"])
def test_nobody_is_led_where_none_may_go(server: Server, open_one: Opener, url: str, how: str) -> None:
    client = open_one(server.url(), resolve=Names([PUBLIC]))
    server.script.append(redirects(url))
    with pytest.raises(AddressRefused) as refused:
        get(client, url if how == "asked" else server.url(), redirects=5)
    assert refused.value.by == (None if how == "asked" else "127.0.0.1")
    assert len(server.requests) == (how == "redirected")


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], [PUBLIC, "127.0.0.1"], ["10.1.1.1", PUBLIC], ["::ffff:169.254.169.254"], ["fe80::1%lo"], ["::1"]],
)
@pytest.mark.parametrize("how", ["asked", "redirected"])
def test_a_name_with_one_private_address_is_not_connected_to(
    server: Server, open_one: Opener, addresses: list[str], how: str
) -> None:
    names = Names(addresses)
    client = open_one(server.url(), resolve=names)
    server.script.append(redirects("https://files.example/film"))
    with pytest.raises(AddressRefused, match="names a host whose address is not public") as refused:
        get(client, "https://files.example/" if how == "asked" else server.url(), redirects=1)
    assert names.asked == ["files.example"]
    assert not any(address in refused.value.why for address in addresses)


def test_a_connection_goes_to_the_address_that_was_checked(open_one: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the name resolved once more, its second answer would be connected to."""
    connected: list[str] = []

    def refuse(family: int, kind: int, protocol: int, address: Any) -> int:
        connected.append(address[0])
        return -1

    monkeypatch.setattr(stream, "open_socket", refuse)
    names = Names([PUBLIC, "1.1.1.1"], ["127.0.0.1"])
    client = open_one(resolve=names)
    with pytest.raises(Unavailable, match="cannot be connected to"):
        get(client, "https://rebinding.example/")
    assert (connected, names.asked) == ([PUBLIC, "1.1.1.1"], ["rebinding.example"])
    with pytest.raises(AddressRefused):
        get(client, "https://rebinding.example/")
    assert len(connected) == 2


def test_a_configured_name_may_be_private_but_never_the_machines_own(server: Server, open_one: Opener) -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    client = open_one(server.url(host="inside.example"), resolve=names)
    assert get(client, server.url("/a", host="inside.example")) == b"hello"
    assert get(client, server.url("/b", host="inside.example")) == b"hello"
    assert (names.asked, server.connections) == (["inside.example"], 1), "it was resolved again"
    assert f"host: inside.example:{server.port}".encode() in server.requests[0].lower()
    client.close()
    with pytest.raises(AddressRefused, match="a machine's own"):
        get(client, server.url(host="inside.example"))


def test_an_address_that_does_not_answer_leaves_time_for_the_next(server: Server, open_one: Opener) -> None:
    names = Names(["127.0.0.9", "127.0.0.1"])
    assert get(open_one(server.url(host="two.example"), resolve=names), server.url(host="two.example")) == b"hello"


def test_a_name_nobody_knows_and_a_resolver_that_sleeps_are_troubles_of_the_moment(open_one: Opener) -> None:
    def unknown(host: str, port: int) -> Sequence[str]:
        raise OSError("the name cannot be resolved")

    woken = threading.Event()

    def asleep(host: str, port: int) -> Sequence[str]:
        woken.wait(10)
        return []

    with pytest.raises(Unavailable, match=r"^a\.example: the name cannot be resolved"):
        get(open_one(resolve=unknown), "https://a.example/")
    with pytest.raises(Unavailable, match=r"^a\.example: no whole answer within 0\.3 s"):
        get(open_one(resolve=asleep), "https://a.example/", limits=HASTY)
    woken.set()


def test_no_proxy_of_the_environment_is_used(server: Server, open_one: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
        assert get(open_one(server.url()), server.url()) == b"hello"
        assert proxy.connections == 0


# Redirects


def test_redirects_are_answers_unless_they_are_asked_for(server: Server, open_one: Opener) -> None:
    client = open_one(server.url())
    server.script.extend([redirects("/b"), redirects("/b"), redirects("/b")])
    assert get(client, server.url("/a")) == b"over there"
    with client.exchange("POST", server.url("/a"), redirects=5, limits=PATIENT) as response:
        assert response.status == 302
    assert get(client, server.url("/a"), redirects=1) == b"hello"
    server.script.extend([redirects("/again")] * 3)
    with pytest.raises(AddressRefused, match="redirects more than 2 times"):
        get(client, server.url("/a"), redirects=2)


@pytest.mark.parametrize("location", ["", "http://[::1", "/a b", "/\xe9", "https://u:p@127.0.0.1/"])
def test_a_redirect_that_cannot_be_read_is_not_followed(server: Server, open_one: Opener, location: str) -> None:
    server.script.append(
        sends(f"HTTP/1.1 302 X\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode("latin-1"))
    )
    with pytest.raises(AddressRefused, match=r"^127\.0\.0\.1 redirects to a URL that "):
        get(open_one(server.url()), server.url(), redirects=5)


def test_credentials_stay_with_the_origin_they_are_for(server: Server, open_one: Opener) -> None:
    secret = {"Authorization": "Bearer x", "cookie": "a=b", "Proxy-Authorization": "y", "X-Kind": "film"}
    with Server() as other:
        server.script.extend([redirects("/same"), redirects(other.url())])
        other.script.append(redirects(server.url("/back")))
        get(open_one(server.url(), other.url()), server.url(), headers=secret, redirects=5)
        kept = [b"Authorization: Bearer x" in request for request in (*server.requests[:2], *other.requests)]
        assert kept == [True, True, False]
        back = server.requests[2]
        assert all(word not in other.requests[0] + back for word in (b"Bearer", b"a=b", b": y"))
        assert b"X-Kind: film" in back


def test_what_was_asked_for_over_tls_is_never_fetched_without(tmp_path: Path, server: Server, open_one: Opener) -> None:
    pem = certificate(tmp_path, "files.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with Server(answers(), redirects(server.url()), tls=context) as secure:
        there = secure.url(host="files.example")
        client = open_one(there, server.url(), ca_bundle=str(pem), resolve=Names(["127.0.0.1"]))
        assert get(client, there) == b"hello", "the certificate is checked by the name"
        with pytest.raises(AddressRefused, match="without TLS, though the one before was not"):
            get(client, there, redirects=5)
        with pytest.raises(Unavailable, match="certificate"):
            get(open_one(there, resolve=Names(["127.0.0.1"])), there)
    assert server.requests == []


# What comes back

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
BOMB = gzip.compress(b"\0" * 50_000_000)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (sends(HEAD + b"\r\n", again=b"x" * 65536), "longer than 100000 bytes"),
        (sends(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", again=b"400\r\n" + b"x" * 1024 + b"\r\n"), "longer than"),
        (sends(HEAD + b"Content-Length: 999999999999\r\n\r\n"), "longer than"),
        (sends(HEAD + b"Content-Length: 5\r\n\r\n", again=b"", every=0), "ended before the answer did"),
        (sends(HEAD + b"Content-Length: -5\r\n\r\n"), "not HTTP"),
        (sends(HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), "not HTTP"),
        (sends(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", again=b"x" * 65536), "not HTTP"),
        (sends(HEAD + b"Transfer-Encoding: gzip\r\n\r\n" + BOMB), "not HTTP"),
        (sends(HEAD + b"Content-Length: %d\r\nContent-Encoding: gzip\r\n\r\n%s" % (len(BOMB), BOMB)), "is compressed"),
        (answers(200, b"x", Content_Encoding="br"), "is compressed"),
        (answers(200, b"x", Content_Encoding="identity, gzip"), "is compressed"),
        (sends(HEAD + b"Content-Encoding: gzip\r\nContent-Encoding: identity\r\n\r\n" + BOMB), "is compressed"),
        (sends(HEAD + b"Content-Encoding: identity\r\ncontent-encoding: br\r\n\r\nx"), "is compressed"),
        (sends(b"\r\n\r\n" + HEAD + b"Content-Length: 2\r\n\r\n{}"), "not HTTP"),
        (sends(b"\n" + HEAD + b"Content-Length: 2\r\n\r\n{}"), "not HTTP"),
        (sends(b"HTTP/1.1\r\n\r\n"), "not HTTP"),
        (sends(b"HTTP/1.1 200 OK\r\n", again=b"X-Long: " + b"x" * 60_000 + b"\r\n"), "not HTTP"),
        (sends(b"HTTP/1.1 200 OK\r\nX-Long: ", again=b"x" * 65536), "not HTTP"),
        (sends(b"HTTP/1.1 200 OK\r\nX-Evil: a\x00b\r\n\r\n"), "not HTTP"),
        (sends(b"SSH-2.0-OpenSSH_9.9\r\n"), "not HTTP"),
        (sends(b""), "ended before the answer did"),
        (answers(200, b"<html>", Content_Type="text/html; charset=utf-8"), "not of a type that was asked for"),
    ],
)
def test_an_answer_that_is_too_long_or_none_is_left(
    server: Server, open_one: Opener, behaviour: Behaviour, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    server.script.append(behaviour)
    client = open_one(server.url())
    begun = time.monotonic()
    with pytest.raises(Unavailable, match=rf"^127\.0\.0\.1: .*{words}"):
        get(client, server.url(), types=("application/json",))
    assert time.monotonic() - begun < 8
    assert "Traceback" not in capfd.readouterr().err
    assert get(client, server.url()) == b"hello", "the next exchange suffers from the last one"


@pytest.mark.parametrize(
    "behaviour",
    [
        sends(b"", again=b"", every=0.0),
        sends(HEAD + b"X-Slow: ", again=b"a", every=0.02),
        sends(HEAD + b"Content-Length: 99999\r\n\r\n", again=b"a", every=0.02),
        sends(b"", again=b"HTTP/1.1 100 Continue\r\n\r\n", every=0.02),
        lambda server, connection: server.over.wait(10),
    ],
    ids=["hangs up", "headers", "body", "continue", "silence"],
)
def test_an_exchange_ends_by_one_moment_however_slowly_it_drips(
    server: Server, open_one: Opener, behaviour: Behaviour
) -> None:
    server.script.append(behaviour)
    begun = time.monotonic()
    with pytest.raises(Unavailable):
        get(open_one(server.url()), server.url(), limits=HASTY)
    assert time.monotonic() - begun < 5


def test_what_is_too_long_says_by_how_much(server: Server, open_one: Opener) -> None:
    server.script.append(answers(200, b"x" * 200_000))
    with pytest.raises(AnswerTooLong) as long:
        get(open_one(server.url()), server.url())
    assert long.value.bytes == 200_000


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "b\r\nX-Evil: 1"},
        {"X-A\r\nX-Evil": "1"},
        {"X-A": "b\n"},
        {"X A": "b"},
        {"X-A": "é"},
        {"X-A": "x" * 9000},
    ],
)
def test_a_header_cannot_become_two(server: Server, open_one: Opener, headers: dict[str, str]) -> None:
    with pytest.raises(InvalidValue) as refused:
        get(open_one(server.url()), server.url(), headers=headers)
    assert "Evil" not in str(refused.value)
    assert server.requests == []


def test_a_forked_child_opens_its_own_connection(server: Server, open_one: Opener) -> None:
    client = open_one(server.url())
    get(client, server.url())
    assert forked(lambda: get(client, server.url()) == b"hello") == 0
    get(client, server.url())
    assert server.connections == 2


def test_a_missing_package_is_answered_with_the_line_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net, "find_spec", lambda name: None)
    with pytest.raises(Misconfigured, match=r"pip install 'penstock\[http\]'"):
        open_client(trusted=[])
