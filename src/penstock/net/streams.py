"""Connections that go where was checked, and end by the moment the exchange has to be over."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore2

from penstock.net.policy import Policy

_SLICE = 64 * 1024
_MOST_TRIED = 4
"Addresses of one name that are connected to, one after the other."

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def until(moment: float) -> Iterator[None]:
    """Whatever is sent and received in here has to be over by one moment of the monotonic clock."""
    before = _deadline.set(moment)
    try:
        yield
    finally:
        _deadline.reset(before)


class UnfitAnswer(Exception):
    """The addresses of a host are none to speak to; what follows "the URL"."""


class Pinned(httpcore2.SyncBackend):
    """Resolves a name once and connects to what it has checked; TLS and the Host header still go by the name."""

    def __init__(self, policy: Policy, *, trusted: bool) -> None:
        self._policy, self._trusted = policy, trusted

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            addresses = self._policy.addresses(host, port, trusted=self._trusted, within=_left(timeout))
        except TimeoutError as slow:
            raise httpcore2.ConnectTimeout("timed out") from slow
        except OSError as unknown:
            raise httpcore2.ConnectError(str(unknown)) from unknown
        except ValueError as wrong:
            raise UnfitAnswer(str(wrong)) from None
        tried = addresses[:_MOST_TRIED]
        for remaining in range(len(tried), 0, -1):
            left = _left(timeout)
            try:
                share = None if left is None else left / remaining
                stream = super().connect_tcp(tried[-remaining], port, share, local_address, socket_options)
                return _Punctual(stream)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if remaining == 1:
                    raise
        raise AssertionError("the last one raises")


class _Punctual(httpcore2.NetworkStream):
    """A stream that keeps to `until`: the usual timeouts begin anew with every byte."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _SLICE):
            self._stream.write(buffer[start : start + _SLICE], _left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Punctual:
        return _Punctual(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))

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
