"""The route of signed URLs: what it says to browsers, what it refuses, and that it keeps nothing of what broke off."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio
import pytest

from penstock import FrozenClock
from penstock.errors import Misconfigured
from penstock.files.object_reads import every
from penstock.media.content_type import SHOWN_INLINE
from penstock.objects import LocalObjects
from penstock.objects.disposition import disposition
from penstock.objects.objects_route import objects_route
from penstock.ports.clock import Clock
from penstock.testing.object_promises.promise import HTML, PNG, WAV, send, soon

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


@pytest.fixture
def served(open_local: Callable[[Clock | None], LocalObjects], clock: FrozenClock) -> LocalObjects:
    return open_local(clock)


def test_every_answer_forbids_guessing_running_and_keeping(served: LocalObjects) -> None:
    served.put("a", WAV)
    url = served.download_url("a")
    for answer in (send(url), send(url, headers={"Range": "bytes=99999-"}), send(url.url + "0"), send(url, "HEAD")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
        assert answer.headers["content-security-policy"].endswith("; sandbox")
        assert answer.headers["cache-control"] == "private, no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("content", [HTML, SVG, b'<?xml version="1.0"?><x/>', b"%PDF-1.7\n"])
def test_what_could_run_is_served_as_mere_bytes(served: LocalObjects, content: bytes) -> None:
    served.put("a.png", content)
    said = send(served.download_url("a.png", filename="a.html")).headers
    assert said["content-type"] == "application/octet-stream"
    assert said["content-disposition"].startswith("attachment")


def test_a_head_is_a_get_without_the_body(served: LocalObjects) -> None:
    served.put("a", WAV)
    url = served.download_url("a", filename="a.wav")
    got, head = send(url), send(url, "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert {**head.headers, "date": ""} == {**got.headers, "date": ""}
    part = send(url, "HEAD", headers={"Range": "bytes=0-3"})
    assert (part.status, part.headers["content-length"]) == (206, "4")
    assert send(served.upload_url("a", size=1, content_type="audio/wav"), "HEAD", headers={}).status == 403


@pytest.mark.parametrize("asked", ["bytes=5-2", "bytes=-", "items=0-1", "bytes=0-1,3-4", "bytes=a-b", "0-1"])
def test_a_range_that_cannot_be_read_is_as_good_as_none(served: LocalObjects, asked: str) -> None:
    served.put("a", WAV)
    answer = send(served.download_url("a"), headers={"Range": asked})
    assert (answer.status, answer.body) == (200, WAV)


def test_a_range_of_other_bytes_than_before_is_not_given(served: LocalObjects) -> None:
    """A download that goes on must not join two files."""
    served.put("a", WAV)
    url = served.download_url("a")
    etag = send(url).headers["etag"]
    assert send(url, headers={"Range": "bytes=4-", "If-Range": etag}).status == 206
    served.put("a", PNG)
    answer = send(url, headers={"Range": "bytes=4-", "If-Range": etag})
    assert (answer.status, answer.body) == (200, PNG)


def test_the_end_of_an_empty_file_is_no_range(served: LocalObjects) -> None:
    served.put("a", b"")
    url = served.download_url("a")
    assert (send(url).status, send(url).headers["content-length"]) == (200, "0")
    for asked in ("bytes=-1", "bytes=0-", "bytes=-0"):
        answer = send(url, headers={"Range": asked})
        assert (answer.status, answer.headers["content-range"]) == (416, "bytes */0")


def test_a_refusal_is_a_problem_with_a_slug_and_without_the_signature(served: LocalObjects) -> None:
    url = served.download_url("secret/key").url
    signature = dict(parse_qsl(urlsplit(url).query))["signature"]
    for asked, slug, status in ((url[:-1] + "x", "url-refused", 403), (url, "not-found", 404)):
        answer = send(asked)
        problem = json.loads(answer.body)
        assert (answer.status, problem["type"], problem["status"]) == (status, slug, status)
        assert answer.headers["content-type"] == "application/problem+json"
        assert signature[:20] not in answer.body.decode()


def test_what_is_said_twice_or_beyond_the_grant_is_refused(served: LocalObjects) -> None:
    served.put("a", WAV)
    url = served.download_url("a").url
    path, _, query = url.partition("?")
    said = dict(parse_qsl(query))
    for other in (
        f"{url}&method=GET",
        f"{url}&more=1",
        f"{path}?{urlencode({k: v for k, v in said.items() if k != 'method'})}",
        f"{path}?{urlencode({**said, 'signature': said['signature'].upper()})}",
        f"{path}?{urlencode({**said, 'signature': 'é'})}",
        path,
    ):
        assert send(other).status == 403, other


def test_a_key_is_read_once(served: LocalObjects) -> None:
    """A percent sign in a key is one, not the beginning of another character."""
    served.put("100%25.txt", b"mine")
    served.put("100%.txt", b"other")
    assert send(served.download_url("100%25.txt")).body == b"mine"
    assert send(served.download_url("100%.txt")).body == b"other"


@pytest.mark.parametrize(
    "path", ["..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "a%00b", "//etc/passwd", "a%5cb"]
)
def test_a_path_that_is_no_key_is_refused(served: LocalObjects, path: str) -> None:
    served.put("a", WAV)
    base, _, query = served.download_url("a").url.rpartition("/a?")[0], "", urlsplit(served.download_url("a").url).query
    assert send(f"{base}/{path}?{query}").status in (403, 404, 422)


def test_an_upload_that_breaks_off_leaves_nothing(served: LocalObjects) -> None:
    url = served.upload_url("a", size=1_000_000, content_type="audio/wav")
    parts = urlsplit(url.url)
    with closing(socket.create_connection((parts.hostname, parts.port))) as connection:
        connection.sendall(
            f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: x\r\nContent-Type: audio/wav\r\n"
            f"Content-Length: 1000000\r\n\r\n".encode()
            + bytes(500_000)
        )
        assert soon(lambda: len(list((served.folder / "unfinished").glob("*"))), 1)
    assert soon(lambda: len(list((served.folder / "unfinished").glob("*"))), 0)
    assert list(every(served)) == []
    assert send(url, body=WAV + bytes(1_000_000 - len(WAV))).status == 200
    assert [found.size for found in every(served)] == [1_000_000]


@pytest.mark.parametrize(("sent", "status"), [([4], 422), ([5], 200), ([6], 422), ([3] * 99, 422)])
def test_a_server_that_does_not_count_is_not_relied_upon(served: LocalObjects, sent: list[int], status: int) -> None:
    url = served.upload_url("a", size=5, content_type="audio/wav")
    answers: list[dict[str, Any]] = []
    left = list(sent)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": bytes(left.pop()), "more_body": bool(left)}

    async def answer(message: dict[str, Any]) -> None:
        answers.append(message)

    scope = {
        "type": "http",
        "method": "PUT",
        "path": "/a",
        "query_string": urlsplit(url.url).query.encode(),
        "headers": [(b"content-type", b"audio/wav"), (b"content-length", b"5")],
    }
    anyio.run(objects_route(served), scope, receive, answer)  # type: ignore[arg-type]
    assert answers[0]["status"] == status
    assert [found.size for found in every(served)] == ([5] if status == 200 else [])
    assert len(sent) - len(left) <= 2, "nobody listens to the rest"


def test_without_its_length_nothing_is_taken(served: LocalObjects) -> None:
    url = served.upload_url("a", size=5, content_type="audio/wav")
    parts = urlsplit(url.url)
    with closing(socket.create_connection((parts.hostname, parts.port), timeout=10)) as connection:
        connection.sendall(
            f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: x\r\nContent-Type: audio/wav\r\n"
            f"Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 403")
    assert list(every(served)) == []


def test_the_route_needs_a_signer(served: LocalObjects) -> None:
    with pytest.raises(Misconfigured, match="signer"):
        objects_route(LocalObjects(served.folder))


@pytest.mark.parametrize("content_type", sorted(SHOWN_INLINE))
def test_what_is_shown_is_shown_as_what_was_signed(served: LocalObjects, content_type: str) -> None:
    served.put("a", HTML)
    said = send(served.download_url("a", show_as=content_type)).headers
    assert (said["content-type"], said["content-disposition"]) == (content_type, "inline")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (None, "attachment"),
        ("", "attachment"),
        ("a.wav", 'attachment; filename="a.wav"'),
        ("/etc/passwd", 'attachment; filename="passwd"'),
        ("C:\\x\\a.wav", 'attachment; filename="a.wav"'),
        ('a"b.wav', "attachment; filename=\"a_b.wav\"; filename*=UTF-8''a%22b.wav"),
        ("a\r\nb: c", 'attachment; filename="ab: c"'),
        ("50%.wav", "attachment; filename=\"50_.wav\"; filename*=UTF-8''50%25.wav"),
        ("日本.wav", "attachment; filename=\"__.wav\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.wav"),
        ("x" * 300, f'attachment; filename="{"x" * 200}"'),
    ],
)
def test_a_name_is_written_as_the_standards_have_it(name: str | None, said: str) -> None:
    """RFC 6266 and RFC 5987."""
    assert disposition(name, inline=False) == said
    assert disposition(name, inline=True) == said.replace("attachment", "inline")
