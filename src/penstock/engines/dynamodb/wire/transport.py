"""HTTP/1.1 over kept-alive connections, by libcurl. Import this module late: it loads pycurl.

libcurl resends a request by itself when a kept-alive connection turns out to be dead before a byte of answer
came. That is the right thing to do, but the first copy may have been executed, so it is noticed and reported.
"""

import ctypes

import pycurl
from pycurl import HTTPHEADER, NUM_CONNECTS, POSTFIELDS, REQUEST_SIZE, RESPONSE_CODE

from penstock.engines.dynamodb.wire.exchange import Lost, WireAnswer
from penstock.net.per_process import watch

# From one megabyte on libcurl would ask before sending a body, and wait for the answer.
_ASKS_BEFORE_SENDING = 1_000_000
_RECEIVE_BUFFER = 128 * 1024

# What a connection that the server has closed while it was idle looks like.
_DEAD = frozenset({pycurl.E_GOT_NOTHING, pycurl.E_SEND_ERROR, pycurl.E_RECV_ERROR})
# What will not get better by trying again.
_HOPELESS = frozenset(
    {
        pycurl.E_UNSUPPORTED_PROTOCOL,
        pycurl.E_URL_MALFORMAT,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
    }
)


class Transport:
    """Posts requests to one URL. Threads may share it; every thread at work has a connection to itself."""

    def __init__(self, url: str, *, timeout: float, connect_timeout: float, ca_bundle: str | None) -> None:
        self._url = url
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._ca_bundle = ca_bundle
        # The last one used is the first one taken, so that surplus connections fall asleep.
        # list.append and list.pop are atomic, so there is no lock.
        self._idle: list[_Line] = []
        self._closed = False
        watch(self)

    def post(self, headers: list[str], body: bytes, *, fresh: bool = False) -> WireAnswer:
        """One request, one answer; raises Lost. With `fresh`, on a connection opened for it."""
        try:
            line = self._open() if fresh else self._idle.pop()
        except IndexError:
            line = self._open()
        try:
            answer = line.post(headers, body)
        except BaseException:
            line.close()
            raise
        self._idle.append(line)
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
        """Leave the connections to the parent: even a polite TLS goodbye from here would break them."""
        inherited, self._idle = self._idle, []
        for line in inherited:
            line.abandon()

    def _open(self) -> "_Line":
        return _Line(self._url, self._timeout, self._connect_timeout, self._ca_bundle)


class _Line:
    """A libcurl handle with its one connection and the lists its answers arrive in."""

    __slots__ = ("_chunks", "_curl", "_getinfo", "_heads", "_perform", "_setopt", "_used")

    def __init__(self, url: str, timeout: float, connect_timeout: float, ca_bundle: str | None) -> None:
        curl = pycurl.Curl()
        self._curl = curl
        # Bound once: looking methods up costs more than one would think at this rate.
        self._perform = curl.perform
        self._setopt = curl.setopt
        self._getinfo = curl.getinfo
        self._chunks: list[bytes] = []
        self._heads: list[bytes] = []
        self._used = False
        for option, value in (
            (pycurl.URL, url),
            (pycurl.POST, 1),
            (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1),
            (pycurl.USERAGENT, "penstock"),
            (pycurl.ACCEPT_ENCODING, "identity"),
            (pycurl.WRITEFUNCTION, self._chunks.append),
            (pycurl.HEADERFUNCTION, self._heads.append),
            (pycurl.CONNECTTIMEOUT_MS, int(connect_timeout * 1000)),
            (pycurl.TIMEOUT_MS, int(timeout * 1000)),
            (pycurl.BUFFERSIZE, _RECEIVE_BUFFER),
            (pycurl.TCP_NODELAY, 1),
            (pycurl.TCP_KEEPALIVE, 1),
            (pycurl.NOSIGNAL, 1),
        ):
            curl.setopt(option, value)
        if ca_bundle is not None:
            curl.setopt(pycurl.CAINFO, ca_bundle)

    def post(self, headers: list[str], body: bytes) -> WireAnswer:
        if len(body) > _ASKS_BEFORE_SENDING:
            headers = [*headers, "Expect:"]
        self._setopt(HTTPHEADER, headers)
        self._setopt(POSTFIELDS, body)
        try:
            self._perform()
        except pycurl.error as error:
            raise self._lost(error, headers, body) from None
        # A handle that was used before and had to connect again had lost its connection.
        resent = self._used and self._getinfo(NUM_CONNECTS) > 0 and self._copies_sent(headers, body) > 1
        self._used = True
        return WireAnswer(self._getinfo(RESPONSE_CODE), _drain(self._chunks), _drain(self._heads), resent)

    def close(self) -> None:
        self._curl.close()

    def abandon(self) -> None:
        """Never touch the handle again, nor let anybody else: not even Python when it ends."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._curl))

    def _lost(self, error: pycurl.error, headers: list[str], body: bytes) -> Lost:
        code, reason = error.args
        reused = self._used and self._getinfo(NUM_CONNECTS) == 0
        return Lost(
            reason,
            sent=self._copies_sent(headers, body) > 0,
            stale=reused and code in _DEAD and not self._heads,
            timed_out=code == pycurl.E_OPERATION_TIMEDOUT,
            hopeless=code in _HOPELESS,
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
