"""Whole answers from one URL that the operator has configured, over kept-alive connections: the quickest way there is.

Import this module late: it loads pycurl. libcurl resends a request by itself when a kept-alive connection turns out to
be dead before a byte of answer came. That is the right thing to do, but the first copy may have been executed, so it is
noticed and reported.
"""

from __future__ import annotations

import pycurl
from pycurl import HTTPHEADER, NUM_CONNECTS, POSTFIELDS, REQUEST_SIZE, RESPONSE_CODE

from penstock.net.answer import Lost, PostAnswer
from penstock.net.libcurl import DEAD, HOPELESS, WITHOUT_ASKING, CurlHandle
from penstock.net.per_process import watch

_ASKS_BEFORE_SENDING = 1_000_000


class CurlTransport:
    """Posts requests to one URL. Threads may share it; every thread at work has a connection to itself."""

    def __init__(self, url: str, *, timeout: float, connect_timeout: float, ca_bundle: str | None) -> None:
        self._url = url
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._ca_bundle = ca_bundle
        # The last one used is the first one taken, so that surplus connections fall asleep.
        # list.append and list.pop are atomic, so there is no lock.
        self._idle: list[_PostHandle] = []
        self._closed = False
        watch(self)

    def post(self, headers: list[str], body: bytes, *, fresh: bool = False) -> PostAnswer:
        """One request, one answer; raises Lost. With `fresh`, on a connection opened for it."""
        try:
            handle = self._open() if fresh else self._idle.pop()
        except IndexError:
            handle = self._open()
        try:
            answer = handle.post(headers, body)
        except BaseException:
            handle.close()
            raise
        self._idle.append(handle)
        if self._closed:
            self.close()
        return answer

    def close(self) -> None:
        """Close all connections; those at work close when their answer has come."""
        self._closed = True
        while self._idle:
            try:
                self._idle.pop().close()
            except IndexError:  # another thread was faster
                return

    def forked(self) -> None:
        """What was opened is the parent's."""
        self._idle = []

    def _open(self) -> _PostHandle:
        return _PostHandle(self._url, self._timeout, self._connect_timeout, self._ca_bundle)


class _PostHandle(CurlHandle):
    """A handle with its one connection and the lists its answers arrive in."""

    __slots__ = ("_chunks", "_getinfo", "_heads", "_perform", "_setopt", "_used")

    def __init__(self, url: str, timeout: float, connect_timeout: float, ca_bundle: str | None) -> None:
        self._chunks: list[bytes] = []
        self._heads: list[bytes] = []
        self._used = False
        options = (
            (pycurl.URL, url),
            (pycurl.POST, 1),
            (pycurl.ACCEPT_ENCODING, "identity"),
            (pycurl.WRITEFUNCTION, self._chunks.append),
            (pycurl.HEADERFUNCTION, self._heads.append),
            (pycurl.CONNECTTIMEOUT_MS, int(connect_timeout * 1000)),
            (pycurl.TIMEOUT_MS, int(timeout * 1000)),
        )
        super().__init__(options, ca_bundle=ca_bundle)
        # Bound once: looking methods up costs more than one would think at this rate.
        self._perform = self._curl.perform
        self._setopt = self._curl.setopt
        self._getinfo = self._curl.getinfo

    def post(self, headers: list[str], body: bytes) -> PostAnswer:
        if len(body) > _ASKS_BEFORE_SENDING:
            headers = [*headers, WITHOUT_ASKING]
        self._setopt(HTTPHEADER, headers)
        self._setopt(POSTFIELDS, body)
        try:
            self._perform()
        except pycurl.error as error:
            raise self._lost(error, headers, body) from None
        # A handle that was used before and had to connect again had lost its connection.
        resent = self._used and self._getinfo(NUM_CONNECTS) > 0 and self._copies_sent(headers, body) > 1
        self._used = True
        return PostAnswer(self._getinfo(RESPONSE_CODE), _drain(self._chunks), _drain(self._heads), resent)

    def _lost(self, error: pycurl.error, headers: list[str], body: bytes) -> Lost:
        code, reason = error.args
        reused = self._used and self._getinfo(NUM_CONNECTS) == 0
        return Lost(
            reason,
            sent=self._copies_sent(headers, body) > 0,
            stale=reused and code in DEAD and not self._heads,
            timed_out=code == pycurl.E_OPERATION_TIMEDOUT,
            hopeless=code in HOPELESS,
        )

    def _copies_sent(self, headers: list[str], body: bytes) -> int:
        """How many whole copies of the request went out. May count one too many, never one too few.

        libcurl adds less to a request than our signed headers take, so one copy never passes for two.
        """
        ours = len(body) + sum(map(len, headers))
        sent: int = self._getinfo(REQUEST_SIZE)
        return sent // ours


def _drain(pieces: list[bytes]) -> bytes:
    whole = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    pieces.clear()
    return whole
