"""The client: exchanges with others, each within its limits; what goes wrong is told in a few words of our own.

| what happened | what is raised |
|---|---|
| nobody answers, or not HTTP, or not in time; the answer is cut off, compressed, or of another type | `Unanswered` |
| more bytes than are taken | `AnswerTooLong`, which is one too |
| the URL, or one that a redirect names, leads where nobody may go | `AddressRefused` |
| a header cannot be one | `InvalidValue` |

No message holds more of a URL than its host, nor a word of the answer. Import this module late: it loads pycurl.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from penstock.errors import AddressRefused, AnswerTooLong, InvalidValue, Unanswered
from penstock.net.exchange import USUAL, ClientLimits, Response
from penstock.net.kept_streams import KeptStreams
from penstock.net.policy import Policy
from penstock.net.stream import Stream, StreamBroken, StreamHead, StreamRequest, StreamStale
from penstock.net.url import Url, joined, read_url

_MOVED = frozenset({301, 302, 303, 307, 308})
_SAFE = frozenset({"GET", "HEAD"})
_SECRETS = frozenset({"authorization", "cookie", "proxy-authorization"})
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_HEADER_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_LONGEST_HEADER = 8192
_MOST_TRIED = 4
"Addresses of one name that are connected to."


class Client:
    """Makes requests; may be shared by threads, and by processes that fork."""

    def __init__(self, policy: Policy, *, ca_bundle: str | None = None, connections: int = 16) -> None:
        self._policy = policy
        self._ca_bundle = ca_bundle
        self._system = ssl.get_default_verify_paths()
        self._streams = KeptStreams(connections)

    def close(self) -> None:
        """Give back every connection; the client may be used again."""
        self._streams.close()

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
        request = StreamRequest(method, url.target, headers, content)
        with ExitStack() as stack:
            with clock.head(url.host) as until:
                stack.enter_context(self._streams.place(until))
                stream, head = self._begun(url, request, until, before)
            stack.callback(self._streams.give_back, stream)
            yield Response(url.host, head.status, head.headers, _pieces(url.host, head, stream, clock))

    def _begun(self, url: Url, request: StreamRequest, until: float, before: Url | None) -> tuple[Stream, StreamHead]:
        """The connection on which a request was answered, and how the answer begins."""
        kept = self._streams.take(url.origin)
        if kept is not None:
            with suppress(StreamStale):
                return kept, _answered(kept, request, until)
        stream = self._connection(url, until, before)
        return stream, _answered(stream, request, until)

    def _connection(self, url: Url, until: float, before: Url | None) -> Stream:
        """A connection to where the name leads now, which is known only when it is to be connected to."""
        trusted = self._policy.trusts(url)
        try:
            found = self._policy.addresses(url.host, url.port, trusted=trusted, within=until - time.monotonic())
        except ValueError as wrong:
            raise AddressRefused(str(wrong), by=None if before is None else before.host) from None
        # What the operator has configured may be private and have a certificate of its own; nobody else may.
        own = self._ca_bundle if trusted and self._ca_bundle is not None else None
        return Stream(
            url,
            found[:_MOST_TRIED],
            ca_bundle=own or self._system.cafile,
            ca_folder=None if own else self._system.capath,
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
    def head(self, host: str) -> Iterator[float]:
        with _in_our_words(host, self.wait):
            yield min(self.answered_by, self.over_by)

    @contextmanager
    def piece(self, host: str) -> Iterator[float]:
        moment = min(time.monotonic() + self.wait, self.over_by)
        with _in_our_words(host, self.limits.total.total_seconds() if moment == self.over_by else self.wait):
            yield moment


@contextmanager
def _in_our_words(host: str, seconds: float) -> Iterator[None]:
    try:
        yield
    except TimeoutError as late:
        raise Unanswered(f"{host}: no whole answer within {seconds:g} s") from late
    except (StreamBroken, OSError) as error:
        raise Unanswered(f"{host}: {error}") from error


def _answered(stream: Stream, request: StreamRequest, until: float) -> StreamHead:
    try:
        return stream.ask(request, until)
    except BaseException:
        stream.close()
        raise


def _pieces(host: str, head: StreamHead, stream: Stream, clock: _Clock) -> Iterator[bytes]:
    most = clock.limits.most
    if {coding.strip().lower() for coding in head.headers.get("content-encoding", "").split(",")} - {"", "identity"}:
        raise Unanswered(f"{host}: the answer is compressed, which was not asked for")
    length = head.headers.get("content-length", "")
    if length.isdigit() and int(length[:18]) > most:
        raise AnswerTooLong(host, most, bytes=int(length[:18]))
    came = 0
    while True:
        with clock.piece(host) as until:
            piece = stream.piece(until)
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
