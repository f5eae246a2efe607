"""Posting to one URL: connections are kept and reused, and no receiver can hold or flood the sender.

The standard library speaks HTTP well enough for this, and is always there. What it lacks, a bound on the whole exchange
in time and in bytes (its own timeout starts anew with every byte), is added beneath it, at the socket.
"""

from __future__ import annotations

import http.client
import io
import re
import selectors
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from penstock.errors import Misconfigured, Unavailable
from penstock.perprocess import PerProcess

_LONGEST_ANSWER = 256 * 1024
_LONGEST_BODY = 64 * 1024
_PRINTABLE = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """What matters of an HTTP response."""

    status: int
    retry_after: str | None


class Postbox:
    """Posts bodies to one URL; may be shared by threads, each of which gets a connection of its own."""

    def __init__(self, url: str, *, timeout: timedelta, tls: ssl.SSLContext | None = None) -> None:
        self._secure, self._host, self._port, self._target = _parsed(url)
        self._seconds = timeout.total_seconds()
        self._tls = (tls or ssl.create_default_context()) if self._secure else None
        self._idle: PerProcess[list[_Line]] = PerProcess(list)

    @property
    def receiver(self) -> str:
        """Who is posted to, without the parts of the URL that may be secret."""
        return self._host

    def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send a body and tell the answer, or raise Unavailable: it may have arrived all the same."""
        deadline = time.monotonic() + self._seconds
        line: _Line | None = None
        try:
            line = self._take() or _Line(self._connect())
            answer = line.exchange(self._target, body, headers, deadline)
        except (OSError, http.client.HTTPException) as error:
            if line is not None:
                line.close()
            raise Unavailable(f"{self._host}: {_reason(error, self._seconds)}") from error
        if line.reusable:
            self._idle.get().append(line)
        else:
            line.close()
        return answer

    def close(self) -> None:
        """Give back every connection; the postbox may be used again."""
        for line in self._idle.drop() or ():
            line.close()

    def _take(self) -> _Line | None:
        """A connection that was kept and still stands."""
        idle = self._idle.get()
        while True:
            try:
                line = idle.pop()
            except IndexError:
                return None
            if line.quiet():
                return line
            line.close()

    def _connect(self) -> http.client.HTTPConnection:
        connection = (
            http.client.HTTPSConnection(self._host, self._port, timeout=self._seconds, context=self._tls)
            if self._secure
            else http.client.HTTPConnection(self._host, self._port, timeout=self._seconds)
        )
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        return connection


class _Line:
    """One connection, and whether another request may follow on it."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._bounded = _BoundedSocket(connection.sock)
        self._socket = connection.sock
        connection.sock = self._bounded
        self.reusable = False

    def exchange(self, target: str, body: bytes, headers: Mapping[str, str], deadline: float) -> Answer:
        self.reusable = False
        self._bounded.begin(deadline)
        # A receiver may refuse a body before it has read all of it; its answer is worth more than the broken pipe.
        with suppress(BrokenPipeError):
            self._connection.request("POST", target, body, dict(headers))
        response = self._connection.getresponse()
        try:
            # The status is the answer. The body is read for the sake of the next request only, undecoded, to a bound.
            with suppress(OSError, ValueError, http.client.HTTPException):
                response.read(_LONGEST_BODY)
                self.reusable = response.isclosed() and not response.will_close
            return Answer(response.status, _short(response.getheader("Retry-After")))
        finally:
            response.close()

    def quiet(self) -> bool:
        """Nothing has come since the last answer, neither bytes out of turn nor the end of the connection."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            return not selector.select(timeout=0)

    def close(self) -> None:
        self._connection.close()


class _BoundedSocket:
    """A socket on which an exchange ends by one moment and within a number of bytes, however slowly they drip."""

    def __init__(self, sock: Any) -> None:
        self._sock: socket.socket = sock
        self._deadline = 0.0
        self._left = 0

    def begin(self, deadline: float) -> None:
        self._deadline, self._left = deadline, _LONGEST_ANSWER

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self.hurry()
            view = view[self._sock.send(view) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_BoundedReader(self, self._sock.makefile(mode, buffering=0)))  # type: ignore[call-overload]

    def close(self) -> None:
        self._sock.close()

    def hurry(self) -> None:
        """Let the next operation take no longer than is left."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)

    def count(self, received: int) -> None:
        self._left -= received
        if self._left < 0:
            raise OSError(f"the answer is longer than {_LONGEST_ANSWER} bytes")


class _BoundedReader(io.RawIOBase):
    def __init__(self, bounded: _BoundedSocket, raw: Any) -> None:
        self._bounded, self._raw = bounded, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._bounded.hurry()
        received: int | None = self._raw.readinto(buffer)
        self._bounded.count(received or 0)
        return received

    def close(self) -> None:
        self._raw.close()
        super().close()


def _parsed(url: str) -> tuple[bool, str, int | None, str]:
    """Whether TLS is wanted, the host, the port and the target of a URL. No error repeats it: it may hold a token."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Misconfigured("the webhook's URL cannot be read; write https://host/path") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Misconfigured("the webhook's URL names no host to post to; write https://host/path")
    if parts.username is not None or parts.password is not None:
        raise Misconfigured("the webhook's URL holds a user or a password; messages are signed instead, leave it out")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not _PRINTABLE.fullmatch(target):
        raise Misconfigured("the webhook's URL holds a space or a character that is not ASCII; percent-encode it")
    return parts.scheme == "https", parts.hostname, port, target


def _reason(error: Exception, seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no whole answer within {seconds:g} s"
    if isinstance(error, http.client.RemoteDisconnected):
        return "the connection was closed without an answer"
    if isinstance(error, http.client.HTTPException):
        return f"the answer is not HTTP ({type(error).__name__})"
    return str(error) or type(error).__name__


def _short(value: str | None) -> str | None:
    """A header's value if it is fit to be shown."""
    return value if value and len(value) <= 40 and value.isascii() and value.isprintable() else None
