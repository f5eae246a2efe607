"""The client: exchanges with others, each within its limits; what goes wrong is told in a few words of our own.

| what happened | what is raised |
|---|---|
| nobody answers, or not HTTP, or not in time; the answer is cut off, compressed, or of another type | `Unanswered` |
| more bytes than are taken | `AnswerTooLong`, which is one too |
| the URL, or one that a redirect names, leads where nobody may go | `AddressRefused` |
| a header cannot be one | `InvalidValue` |

No message holds more of a URL than its host, nor a word of the answer.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import httpcore2

from penstock.errors import AddressRefused, AnswerTooLong, InvalidValue, Unanswered
from penstock.net.per_process import PerProcess
from penstock.net.policy import Policy
from penstock.net.streams import Pinned, UnfitAnswer, until
from penstock.net.url import Url, joined, read_url

_TRANSPORT = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError)
_MOVED = frozenset({301, 302, 303, 307, 308})
_SAFE = frozenset({"GET", "HEAD"})
_SECRETS = frozenset({"authorization", "cookie", "proxy-authorization"})
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_HEADER_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_LONGEST_HEADER = 8192
_KEPT = 30.0
"Seconds for which a connection is kept that nobody uses."


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """How long an exchange may take, and how much may come."""

    wait: timedelta = timedelta(seconds=30)
    "Until the answer has begun, redirects and all, and then for each piece of it."
    total: timedelta = timedelta(seconds=30)
    "Until all of it has come."
    most: int = 4 * 1024 * 1024
    "Bytes of its body."


USUAL = ClientLimits()


@dataclass(frozen=True, slots=True)
class Response:
    """An answer whose body has yet to be read."""

    host: str
    status: int
    headers: Mapping[str, str]
    "By their names in lower case."
    pieces: Iterator[bytes] = field(repr=False)
    "The body, as it comes."

    @property
    def length(self) -> int | None:
        """How many bytes the body is said to have."""
        told = self.headers.get("content-length", "")
        return int(told) if told.isascii() and told.isdigit() and len(told) <= 18 else None

    def read(self) -> bytes:
        """All of the body."""
        return b"".join(self.pieces)


class Client:
    """Makes requests; may be shared by threads, and by processes that fork."""

    def __init__(self, policy: Policy, *, tls: ssl.SSLContext | None = None, connections: int = 16) -> None:
        self._policy = policy
        # What the operator has configured may be private and may have a certificate of its own; nobody else may, so
        # connections to strangers are made by a pool that knows nothing of either.
        self._pools = {
            trusted: PerProcess(lambda trusted=trusted: self._pool(trusted, tls, connections))  # type: ignore[misc]
            for trusted in (True, False)
        }

    def close(self) -> None:
        """Give back every connection; the client may be used again."""
        for pools in self._pools.values():
            if pool := pools.drop():
                pool.close()

    @contextmanager
    def exchange(
        self,
        method: str,
        url: str | Url,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        limits: ClientLimits = USUAL,
        redirects: int = 0,
        types: tuple[str, ...] = (),
    ) -> Iterator[Response]:
        """The answer to a request.

        Redirects of a GET are followed as often as ``redirects`` says; any other is an answer like others. ``types``
        are what a good answer's content type may begin with, if it tells one.
        """
        there = self._allowed(url)
        sent = _checked({"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "penstock", **(headers or {})})
        begun = time.monotonic()
        clock = _Clock(begun, begun + limits.wait.total_seconds(), begun + limits.total.total_seconds(), limits)
        before: Url | None = None
        for hops_left in range(redirects, -1, -1):
            with self._asked(method, there, sent, content, clock, before) as response:
                moved = response.status in _MOVED and redirects and method in _SAFE
                if not moved:
                    _check_type(response, types)
                    yield response
                    return
                if not hops_left:
                    raise AddressRefused(f"redirects more than {redirects} times", by=response.host)
                before, there = there, self._next(there, response)
            if there.origin != before.origin:
                sent = {name: value for name, value in sent.items() if name.lower() not in _SECRETS}

    def _allowed(self, url: str | Url) -> Url:
        try:
            there = url if isinstance(url, Url) else read_url(url)
            self._policy.check(there)
        except ValueError as wrong:
            raise AddressRefused(str(wrong)) from None
        return there

    def _next(self, here: Url, response: Response) -> Url:
        try:
            there = joined(here, response.headers.get("location", ""))
            if here.is_secure and not there.is_secure:
                raise ValueError("is to be fetched without TLS, though the one before was not")
            self._policy.check(there)
        except ValueError as wrong:
            raise AddressRefused(str(wrong), by=here.host) from None
        return there

    @contextmanager
    def _asked(
        self,
        method: str,
        url: Url,
        headers: Mapping[str, str],
        content: bytes | None,
        clock: _Clock,
        before: Url | None,
    ) -> Iterator[Response]:
        pool = self._pools[self._policy.trusts(url)].get()
        request = httpcore2.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target)
        with ExitStack() as stack:
            with _fit(before), clock.head(url.host):
                stream = pool.stream(
                    method,
                    request,
                    headers=list(headers.items()),
                    content=content,
                    extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), clock.wait)},
                )
                answer = stack.enter_context(stream)
            told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers}
            yield Response(url.host, answer.status, told, _pieces(url.host, told, answer, clock))

    def _pool(self, trusted: bool, tls: ssl.SSLContext | None, connections: int) -> httpcore2.ConnectionPool:
        return httpcore2.ConnectionPool(
            ssl_context=tls if trusted and tls is not None else ssl.create_default_context(),
            max_connections=connections,
            keepalive_expiry=_KEPT,
            network_backend=Pinned(self._policy, trusted=trusted),
        )


@dataclass(frozen=True, slots=True)
class _Clock:
    """The moments by which an exchange, redirects and all, has to have come somewhere."""

    begun: float
    answered_by: float
    over_by: float
    limits: ClientLimits

    @property
    def wait(self) -> float:
        return self.limits.wait.total_seconds()

    @contextmanager
    def head(self, host: str) -> Iterator[None]:
        with self._in_our_words(host, self.wait), until(min(self.answered_by, self.over_by)):
            yield

    @contextmanager
    def piece(self, host: str) -> Iterator[None]:
        moment = min(time.monotonic() + self.wait, self.over_by)
        late = self.limits.total.total_seconds() if moment == self.over_by else self.wait
        with self._in_our_words(host, late), until(moment):
            yield

    @contextmanager
    def _in_our_words(self, host: str, seconds: float) -> Iterator[None]:
        try:
            yield
        except _TRANSPORT as error:
            raise Unanswered(f"{host}: {_reason(error, seconds)}") from error


@contextmanager
def _fit(before: Url | None) -> Iterator[None]:
    """Where a name leads is known only when it is connected to."""
    try:
        yield
    except UnfitAnswer as wrong:
        raise AddressRefused(str(wrong), by=None if before is None else before.host) from None


def _pieces(host: str, headers: Mapping[str, str], answer: httpcore2.Response, clock: _Clock) -> Iterator[bytes]:
    most = clock.limits.most
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Unanswered(f"{host}: the answer is compressed, which was not asked for")
    length = headers.get("content-length", "")
    if length.isdigit() and int(length[:18]) > most:
        raise AnswerTooLong(host, most, bytes=int(length[:18]))
    came, body = 0, answer.iter_stream()
    while True:
        with clock.piece(host):
            piece = next(body, None)
        if piece is None:
            return
        came += len(piece)
        if came > most:
            raise AnswerTooLong(host, most, bytes=came)
        yield piece


def _check_type(response: Response, types: tuple[str, ...]) -> None:
    told = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if types and told and 200 <= response.status < 300 and not told.startswith(types):
        raise Unanswered(f"{response.host}: the answer is not of a type that was asked for")


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that are nothing but headers; what is wrong with one is told without its value."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise InvalidValue("the name of a header holds what none may hold")
        if len(value) > _LONGEST_HEADER or not _HEADER_VALUE.fullmatch(value):
            raise InvalidValue(f"the header {name} is empty, too long, or holds a line break or what is not ASCII")
    return dict(headers)


def _reason(error: Exception, seconds: float) -> str:
    if isinstance(error, httpcore2.TimeoutException):
        return f"no whole answer within {seconds:g} s"
    if isinstance(error, httpcore2.ProtocolError):
        return "the connection ended before the answer did, or the answer is not HTTP"
    return str(error) or type(error).__name__
