"""What comes of posting one request: a whole answer, or none. Importing this loads no driver."""

from __future__ import annotations

from typing import Protocol

import msgspec


class PostAnswer(msgspec.Struct, frozen=True, gc=False):
    """A complete HTTP answer. `resent`: an earlier copy of the request may have been executed."""

    status: int
    body: bytes
    head: bytes
    resent: bool

    def header(self, name: bytes) -> bytes | None:
        """The value of a header, asked for in lower case with its colon, e.g. b"date:"."""
        start = self.head.lower().find(b"\n" + name)
        if start < 0:
            return None
        start += len(name) + 1
        return self.head[start : self.head.find(b"\r", start)].strip()


class Lost(Exception):
    """No complete HTTP answer came."""

    def __init__(
        self, reason: str, *, sent: bool, stale: bool = False, timed_out: bool = False, hopeless: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent  # the whole request went out, so it may have been executed
        self.stale = stale  # the connection had been idle and was found dead
        self.timed_out = timed_out
        self.hopeless = hopeless  # trying again will not help


class PostTransport(Protocol):
    """Posts requests to one URL."""

    def post(self, headers: list[str], body: bytes, *, fresh: bool = False) -> PostAnswer:
        """One request, one answer; raises Lost. With ``fresh``, on a connection opened for it."""

    def close(self) -> None:
        """Close all connections; those at work close when their answer has come."""
