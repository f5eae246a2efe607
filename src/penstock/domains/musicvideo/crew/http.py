"""Speaking with a service over HTTP; whatever goes wrong leaves here in the words that tasks understand.

| what happened | what is raised |
|---|---|
| 429, 503 | `RetryLater`, as late as the service asks for, within bounds |
| 408, 425, other 5xx, silence, a broken connection, an answer that is no JSON | `Unavailable`: worth another attempt |
| 404, 410 | `Unknown`, which is `Terminal` |
| any other 4xx, a redirect | `Terminal` |

The service's own words are in the message, short and without secrets. No service can hold or flood the caller: an
exchange ends by one moment, however slowly bytes drip, and an answer has a longest length. A token goes to the service
it is for, and nowhere else.
"""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any
from urllib.parse import quote, urlsplit

import httpcore2

from penstock.errors import Misconfigured, Unavailable
from penstock.perprocess import PerProcess
from penstock.work import RetryLater, Terminal

LONGEST_WORDS = 300
"Characters of a service's own words that are repeated."
_LONGEST_ANSWER = 4 * 1024 * 1024
_SOON, _LATE, _USUAL = timedelta(seconds=1), timedelta(minutes=15), timedelta(seconds=30)
_LATER, _AGAIN = frozenset({429, 503}), frozenset({408, 425})
_CONNECTIONS = 16
_SLICE = 64 * 1024

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_TRANSPORT = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError)


class Unknown(Terminal):
    """The service does not know what it was asked about, or not any more."""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer whose body has yet to be read."""

    host: str
    status: int
    headers: Mapping[str, str]
    pieces: Iterator[bytes]

    def read(self, most: int = _LONGEST_ANSWER) -> bytes:
        """All of the body."""
        body = bytearray()
        for piece in self.pieces:
            body += piece
            if len(body) > most:
                raise Unavailable(f"{self.host}: the answer is longer than {most} bytes")
        return bytes(body)


class Service:
    """A service at a base URL; may be shared by threads, and by processes that fork."""

    def __init__(
        self, url: str, token: str, *, timeout: timedelta = timedelta(seconds=60), tls: ssl.SSLContext | None = None
    ) -> None:
        try:
            self._base = _address(url)
        except ValueError as wrong:
            raise Misconfigured(f"the URL of a service {wrong}; write https://host/path") from None
        if b"?" in self._base.target:
            raise Misconfigured("the URL of a service holds a query; write https://host/path")
        # A broken header would be repeated in an error, with the token in it.
        if not _PRINTABLE.fullmatch(token):
            raise Misconfigured("the token of a service is empty, or holds a space or a character that is not ASCII")
        self._path = self._base.target.decode().rstrip("/")
        self._token = token
        self._timeout = timeout.total_seconds()
        self._pool = PerProcess(
            lambda: httpcore2.ConnectionPool(
                ssl_context=tls,
                max_connections=_CONNECTIONS,
                keepalive_expiry=30.0,
                network_backend=_Punctual(),
            )
        )

    def __repr__(self) -> str:
        return f"<Service at {self.host}>"

    @property
    def host(self) -> str:
        """Who is spoken with, without the parts of the URL that may be secret."""
        return self._base.host.decode()

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """What the service answers to a request under its base URL, an object of JSON."""
        url = httpcore2.URL(
            scheme=self._base.scheme,
            host=self._base.host,
            port=self._base.port,
            target=(self._path + path).encode(),
        )
        content = None if body is None else json.dumps(body).encode()
        sent = {"Accept": "application/json", **(headers or {})}
        if content is not None:
            sent["Content-Type"] = "application/json"
        with _within(self._timeout), self._exchange(method, url, sent, content) as response:
            said = response.read()
        if not 200 <= response.status < 300:
            raise self.refusal(response, said)
        try:
            answer = json.loads(said)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Unavailable(f"{self.host} answered {response.status} with something that is no object of JSON")
        return answer

    @contextmanager
    def open(self, url: str, headers: Mapping[str, str]) -> Iterator[Response]:
        """The answer to a GET of any URL the service has named; redirects are the caller's to follow.

        What was asked for over TLS is never fetched without it. Only the headers have to arrive by one moment: a body
        may be long, so it is for whoever reads the pieces to say when it takes too long.
        """
        try:
            there = _address(url)
        except ValueError as wrong:
            raise Terminal(f"{self.host} names a file whose URL {wrong}") from None
        if there.scheme != self._base.scheme and there.scheme != b"https":
            raise Terminal(f"{self.host} is spoken to over TLS and names a file that is not; it is not fetched")
        with self._exchange("GET", there, {"Accept": "*/*", **headers}, None, within=self._timeout) as response:
            yield response

    def refusal(self, response: Response, said: bytes) -> Exception:
        """What an answer other than 2xx means."""
        status = response.status
        message = f"{response.host} answered {status}"
        if words := self.words(said):
            message += f": {words}"
        if status in _LATER:
            return RetryLater(message, after=_pause(response.headers))
        if status in _AGAIN or status >= 500 or status < 200:
            return Unavailable(message)
        if status < 400:
            return Terminal(f"{message}; redirects are not followed here, give the service its new URL")
        return Unknown(message) if status in (404, 410) else Terminal(message)

    def words(self, said: bytes | str) -> str:
        """What the service has said, as far as it may be repeated."""
        text = said if isinstance(said, str) else _told(said.decode(errors="replace"))
        for secret in (self._token, quote(self._token, safe="")):
            text = text.replace(secret, "…")
        for found, shown in _SECRETS:
            text = found.sub(shown, text)
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text if len(text) <= LONGEST_WORDS else text[: LONGEST_WORDS - 1] + "…"

    def close(self) -> None:
        """Give back every connection; the service may be used again."""
        if pool := self._pool.drop():
            pool.close()

    @contextmanager
    def _exchange(
        self,
        method: str,
        url: httpcore2.URL,
        headers: Mapping[str, str],
        content: bytes | None,
        *,
        within: float | None = None,
    ) -> Iterator[Response]:
        sent = {"Accept-Encoding": "identity", "User-Agent": "penstock", **headers}
        if url.origin == self._base.origin:
            sent["Authorization"] = f"Bearer {self._token}"
        limits = dict.fromkeys(("connect", "read", "write", "pool"), self._timeout)
        host = url.host.decode()
        with self._in_our_words(host):
            stream = self._pool.get().stream(
                method, url, headers=list(sent.items()), content=content, extensions={"timeout": limits}
            )
            with _within(within):
                response = stream.__enter__()
        try:
            told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            yield Response(host, response.status, told, self._pieces(host, response))
        finally:
            stream.__exit__(None, None, None)

    def _pieces(self, host: str, response: httpcore2.Response) -> Iterator[bytes]:
        with self._in_our_words(host):
            yield from response.iter_stream()

    @contextmanager
    def _in_our_words(self, host: str) -> Iterator[None]:
        try:
            yield
        except _TRANSPORT as error:
            raise Unavailable(f"{host}: {_reason(error, self._timeout)}") from error


_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def _within(seconds: float | None) -> Iterator[None]:
    """Whatever is sent and received in here has to be over by one moment."""
    if seconds is None:
        yield
        return
    before = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(before)


class _Punctual(httpcore2.SyncBackend):
    """Connections that keep to `_within`: the usual timeouts begin anew with every byte."""

    def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore2.NetworkStream:
        return _PunctualStream(super().connect_tcp(*args, **kwargs))


class _PunctualStream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _SLICE):
            self._stream.write(buffer[start : start + _SLICE], _left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *args: Any, **kwargs: Any) -> httpcore2.NetworkStream:
        return _PunctualStream(self._stream.start_tls(*args, **kwargs))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(timeout: float | None) -> float | None:
    deadline = _deadline.get()
    if deadline is None:
        return timeout
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout("timed out")
    return left if timeout is None else min(left, timeout)


def _address(url: str) -> httpcore2.URL:
    """A URL that may be spoken to; ValueError says what is wrong without repeating it: it may hold a token."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("cannot be read") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"begins with {parts.scheme[:20]!r} and not with http or https")
    if not host:
        raise ValueError("names no host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("holds a user or a password")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not _PRINTABLE.fullmatch(host + target):
        raise ValueError("holds a space or a character that is not ASCII")
    return httpcore2.URL(scheme=parts.scheme.encode(), host=host.encode(), port=port, target=target.encode())


def _pause(headers: Mapping[str, str]) -> timedelta:
    """How long the service wants to be left alone; a date is read by the service's own clock."""
    told = headers.get("retry-after", "").strip()
    try:
        seconds = float(told)
    except ValueError:
        try:
            wanted = parsedate_to_datetime(told) - parsedate_to_datetime(headers["date"])
            seconds = wanted.total_seconds()
        except (KeyError, TypeError, ValueError, IndexError):
            return _USUAL
    if not isfinite(seconds):
        return _USUAL
    return timedelta(seconds=min(max(seconds, _SOON.total_seconds()), _LATE.total_seconds()))


def _without_query(address: re.Match[str]) -> str:
    plain, mark, _ = address[0].partition("?")
    return f"{plain}?…" if mark else plain


_SECRETS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\b(bearer|token|basic)\s+(?=\S*\d)[\w.~+/=-]{8,}", re.I), r"\1 …"),
    (re.compile(r"data:[\w/+.;=-]*,[\w+/=%-]*"), "data:…"),
    (re.compile(r"(https?://)[^\s/@\"'<>]*@", re.I), r"\1"),
    # All of an address is taken, and then cut: looking for the mark would begin anew at each address within.
    (re.compile(r"https?://[^\s\"'<>]*", re.I), _without_query),
    (re.compile(r"<[^<>]*>"), " "),
)
"What may open something, should a service repeat it: and tags of a page, which say nothing."


def _told(text: str) -> str:
    """The sentence in an error's body, wherever services put it."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "detail", "message", "msg", "title"):
        while isinstance(said, dict) and said.get(name):
            said = said[name]
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def _reason(error: Exception, seconds: float) -> str:
    if isinstance(error, httpcore2.TimeoutException):
        return f"no whole answer within {seconds:g} s"
    if isinstance(error, httpcore2.ProtocolError):
        return "the connection ended before the answer did, or the answer is not HTTP"
    return str(error) or type(error).__name__
