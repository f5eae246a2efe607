"""An exchange with somebody else over HTTP: its limits, and the answer as it comes. Importing this loads no driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from penstock.net.url import Url


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


class HttpClient(Protocol):
    """Makes requests; may be shared by threads, and by processes that fork."""

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
    ) -> AbstractContextManager[Response]:
        """The answer to a request.

        Redirects of a GET are followed as often as ``redirects`` says; any other is an answer like others. ``types``
        are what a good answer's content type may begin with, if it tells one.
        """

    def close(self) -> None:
        """Give back every connection; the client may be used again."""
