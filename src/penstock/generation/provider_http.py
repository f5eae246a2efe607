"""Speaking with a service over HTTP; whatever goes wrong leaves here in the words that tasks understand.

| what happened | what is raised |
|---|---|
| 429, 503 | `RetryLater`, as late as the service asks for, within bounds |
| 408, 425, other 5xx, silence, a broken connection, an answer that is no JSON | `Unavailable`: worth another attempt |
| 404, 410 | `Unknown`, which is `Terminal` |
| so many failures that it is left alone | `ProviderResting`, which is `PutOff` |
| any other 4xx, a redirect, a file that lies where nobody may go | `Terminal` |

The service's own words are in the message, short and without secrets, for the log; others are told the status. No
service can hold or flood the caller, nor lead it where it has no business: see `penstock.net`. A token goes to the
service it is for, and nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from penstock.errors import AddressRefused, Misconfigured, Unanswered, Unavailable, telling
from penstock.generation.circuit_breaker import CircuitBreaker
from penstock.net import open_client
from penstock.net.exchange import ClientLimits, Response
from penstock.net.policy import Resolver
from penstock.net.url import Url, read_url
from penstock.net.words import LONGEST_WORDS, excerpt
from penstock.work import RetryLater, Terminal

__all__ = ["LONGEST_DOWNLOAD", "LONGEST_WORDS", "ProviderService", "Response", "Unknown"]

_SOON, _LATE, _USUAL = timedelta(seconds=1), timedelta(minutes=15), timedelta(seconds=30)
_LATER, _AGAIN = frozenset({429, 503}), frozenset({408, 425})
_LONGEST_ANSWER = 4 * 1024 * 1024
LONGEST_DOWNLOAD = timedelta(hours=1)
_REDIRECTS = 5
_JSON = ("application/json", "text/json", "application/problem+json")

_PRINTABLE = re.compile(r"[\x21-\x7e]+")


class Unknown(Terminal):
    """The service does not know what it was asked about, or not any more."""


class ProviderService:
    """A service at a base URL; may be shared by threads, and by processes that fork."""

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        timeout: timedelta = timedelta(seconds=60),
        ca_bundle: str | None = None,
        trusted: Iterable[str] = (),
        resolve: Resolver | None = None,
        breaker: CircuitBreaker | None = None,
        turn: Callable[[str], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """``token`` is None for a service that asks for none. ``trusted`` are origins that the operator allows its
        files to be at, though they are private or without TLS; that of the service itself always is. ``breaker``
        refuses requests while it fails, and ``turn`` is held for every request to a host.
        """
        self._base = _address(url)
        if "?" in self._base.target:
            raise Misconfigured("the URL of a service holds a query; write https://host/path")
        # A broken header would be repeated in an error, with the token in it.
        if token is not None and not _PRINTABLE.fullmatch(token):
            raise Misconfigured("the token of a service is empty, or holds a space or a character that is not ASCII")
        self._path = self._base.target.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._breaker = breaker
        self._turn = turn
        own = [str(_address(each)) for each in (url, *trusted)]
        self._client = open_client(trusted=own, ca_bundle=ca_bundle, resolve=resolve)

    def __repr__(self) -> str:
        return f"<ProviderService at {self.host}>"

    @property
    def host(self) -> str:
        """Who is spoken with, without the parts of the URL that may be secret."""
        return self._base.host

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """What the service answers to a request under its base URL, an object of JSON."""
        with self._guarded(self.host):
            return self._ask(method, path, body, headers)

    def fetch(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        most: int = _LONGEST_ANSWER,
    ) -> tuple[Response, bytes]:
        """What is answered to a request to any URL the operator has configured, whole, whatever it is.

        A GET is led on by redirects as `open` is; AddressRefused becomes Terminal there and here.
        """
        limits = ClientLimits(wait=self._timeout, total=self._timeout, most=most)
        with self._led(), self._guarded((there := _named(url)).host):
            sent = {**self._credentials(there), **(headers or {})}
            with self._client.exchange(
                method, there, headers=sent, content=content, limits=limits, redirects=_REDIRECTS
            ) as response:
                said = response.read()
            if not 200 <= response.status < 300:
                raise self.refusal(response, said)
            return response, said

    @contextmanager
    def _guarded(self, host: str) -> Iterator[None]:
        # Its turn first: to wait for that is no failure of the service.
        with self._turn(host), nullcontext() if self._breaker is None else self._breaker.guard(host):
            yield

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str] | None
    ) -> dict[str, Any]:
        url = Url(self._base.scheme, self._base.host, self._base.port, self._path + path)
        content = None if body is None else json.dumps(body).encode()
        sent = {"Accept": "application/json", **self._credentials(url), **(headers or {})}
        if content is not None:
            sent["Content-Type"] = "application/json"
        limits = ClientLimits(wait=self._timeout, total=self._timeout, most=_LONGEST_ANSWER)
        with self._client.exchange(method, url, headers=sent, content=content, limits=limits, types=_JSON) as response:
            said = response.read()
        if not 200 <= response.status < 300:
            raise self.refusal(response, said)
        try:
            answer = json.loads(said)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Unanswered(f"{self.host} answered {response.status} with something that is no object of JSON")
        return answer

    @contextmanager
    def open(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        most: int = _LONGEST_ANSWER,
        types: tuple[str, ...] = (),
        longest: timedelta = LONGEST_DOWNLOAD,
    ) -> Iterator[Response]:
        """The answer to a GET of any URL the service has named, after some redirects.

        What was asked for over TLS is never fetched without it. What says that it is of another type than begins like
        one of ``types`` is not read; without any, all are. All of it has come after the ``longest`` time, or none.
        """
        limits = ClientLimits(wait=min(self._timeout, longest), total=longest, most=most)
        with self._led():
            there = _named(url)
            if self._base.is_secure and not there.is_secure:
                raise Terminal(f"{self.host} is spoken to over TLS and names a file that is not; it is not fetched")
            sent = {**self._credentials(there), **headers}
            with (
                self._turn(there.host),
                self._client.exchange(
                    "GET", there, headers=sent, limits=limits, redirects=_REDIRECTS, types=types
                ) as response,
            ):
                yield response

    @contextmanager
    def _led(self) -> Iterator[None]:
        try:
            yield
        except AddressRefused as refused:
            raise Terminal(f"{refused.by or self.host} names a file whose URL {refused.why}") from None

    def refusal(self, response: Response, said: bytes) -> Exception:
        """What an answer other than 2xx means."""
        status = response.status
        brief = message = f"{response.host} answered {status}"
        if words := self.words(said):
            message += f": {words}"
        if status in _LATER:
            return telling(RetryLater(message, after=_pause(response.headers)), brief)
        if status in _AGAIN or status >= 500 or status < 200:
            return telling(Unavailable(message, part=None), brief)
        if status < 400:
            moved = "; redirects are not followed here, give the service its new URL"
            return telling(Terminal(message + moved), brief + moved)
        return telling(Unknown(message) if status in (404, 410) else Terminal(message), brief)

    def count(self, failure: Unavailable | RetryLater) -> None:
        """A failure of the service that its answers do not show, such as a file that cannot be used."""
        if self._breaker is not None:
            self._breaker.count(failure)

    def words(self, said: bytes | str) -> str:
        """What the service has said, as far as it may be repeated."""
        return excerpt(said, secrets=[] if self._token is None else [self._token])

    def close(self) -> None:
        """Give back every connection; the service may be used again."""
        self._client.close()

    def _credentials(self, url: Url) -> dict[str, str]:
        if self._token is None or url.origin != self._base.origin:
            return {}
        return {"Authorization": f"Bearer {self._token}"}


def _address(url: str) -> Url:
    """The URL of a service; no error repeats it: it may hold a token."""
    try:
        return read_url(url)
    except ValueError as wrong:
        raise Misconfigured(f"the URL of a service {wrong}; write https://host/path") from None


def _named(url: str) -> Url:
    try:
        return read_url(url)
    except ValueError as wrong:
        raise AddressRefused(str(wrong)) from None


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
