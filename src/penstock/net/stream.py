"""One connection to an origin, whose answers are taken piece by piece, each by a moment that the caller names.

It goes to addresses that were checked, and to nothing else: libcurl is given them instead of a resolver, and asks here
before it opens a socket. Once it is connected it never connects again, so that the next connection is checked like
this one. Import this module late: it loads pycurl.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Mapping, Sequence
from ipaddress import IPv6Address, ip_address
from typing import Any, NamedTuple

import pycurl

from penstock.net.libcurl import WITHOUT_ASKING, CurlHandle, abandon
from penstock.net.url import Origin, Url

_NO_HTTP = "the connection ended before the answer did, or the answer is not HTTP"
_TLS = frozenset(
    {
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
    }
)
_READABLE = select.POLLIN | select.POLLHUP
_LONGEST_REASON = 200
_LISTS = frozenset({"content-encoding"})
"Headers that mean the same in several lines as in one; of others the last line counts."


class StreamBroken(Exception):
    """No whole answer came; says why, in our words."""


class StreamStale(Exception):
    """The connection, kept from an earlier exchange, has ended before anything was asked."""


class StreamRequest(NamedTuple):
    """What is asked for; the headers were checked."""

    method: str
    target: str
    headers: Mapping[str, str]
    content: bytes | None


class StreamHead(NamedTuple):
    """How an answer begins."""

    status: int
    headers: Mapping[str, str]
    "By their names in lower case."


def open_socket(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
    """A socket that libcurl will connect to an address that was checked."""
    return socket.socket(family, kind, protocol)


class Stream(CurlHandle):
    """A connection to one origin; one exchange at a time, by one thread."""

    def __init__(self, url: Url, addresses: Sequence[str], *, ca_bundle: str | None, ca_folder: str | None) -> None:
        self.origin: Origin = url.origin
        self._addresses = frozenset(map(ip_address, addresses))
        self._lines: list[bytes] = []
        self._complete = False
        self._pieces: deque[bytes] = deque()
        self._outcome: tuple[int, str] | None = None
        self._at_work = self._used = False
        self._file = -1
        self._opened: set[int] = set()
        self._due: float | None = None
        self._poll = select.poll()
        options: list[tuple[int, Any]] = [
            (pycurl.URL, str(url.at_root())),
            (pycurl.PROXY, ""),
            (pycurl.OPENSOCKETFUNCTION, self._open_socket),
            (pycurl.SOCKOPTFUNCTION, self._note_opened),
            (pycurl.HEADERFUNCTION, self._note_line),
            (pycurl.WRITEFUNCTION, self._pieces.append),
        ]
        if url.literal is None:
            options.append((pycurl.RESOLVE, [f"{url.host}:{url.port}:{','.join(map(_written, addresses))}"]))
        if ca_folder is not None:
            options.append((pycurl.CAPATH, ca_folder))
        super().__init__(options, ca_bundle=ca_bundle)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    @property
    def reusable(self) -> bool:
        """Has the last exchange come to its end, and was all of it taken?"""
        return self._outcome is not None and self._outcome[0] == pycurl.E_OK and not self._pieces

    def ask(self, request: StreamRequest, until: float) -> StreamHead:
        """How the answer begins; TimeoutError, StreamStale or StreamBroken."""
        if self._used and self._seems_ended():
            raise StreamStale
        self._begin(request, until)
        while not self._complete:
            if self._outcome is not None:
                raise self._failure(self._outcome)
            self._go_on(until)
        self._used = True
        return StreamHead(self._curl.getinfo(pycurl.RESPONSE_CODE), _headers(self._lines))

    def piece(self, until: float) -> bytes | None:
        """The next piece of the body, None after the last; TimeoutError or StreamBroken."""
        while not self._pieces:
            if self._outcome is not None:
                if self._outcome[0] != pycurl.E_OK:
                    raise self._failure(self._outcome)
                return None
            self._go_on(until)
        return self._pieces.popleft()

    def close(self) -> None:
        if not self._abandoned:
            self._leave()
            self._multi.close()
        super().close()

    def forked(self) -> None:
        abandon(self._multi)
        super().forked()

    def _seems_ended(self) -> bool:
        """Is there anything to be read though nothing was asked? libcurl looks for that only now and then.

        Should libcurl have closed the socket, its number may be another's; then it wants to connect again, and may not.
        """
        resting = select.poll()
        resting.register(self._file, select.POLLIN)
        return bool(resting.poll(0))

    def _begin(self, request: StreamRequest, until: float) -> None:
        self._lines.clear()
        self._pieces.clear()
        self._complete, self._outcome = False, None
        headers = [*(f"{name}: {value}" for name, value in request.headers.items()), WITHOUT_ASKING]
        if "content-type" not in map(str.lower, request.headers):
            headers.append("Content-Type:")  # libcurl would say of any content that it is a form
        setopt = self._curl.setopt
        setopt(pycurl.HTTPGET, 1)
        if request.method == "HEAD":
            setopt(pycurl.NOBODY, 1)
        elif request.content is not None or request.method not in ("GET", "DELETE"):
            setopt(pycurl.POST, 1)
            setopt(pycurl.POSTFIELDS, request.content or b"")
        setopt(pycurl.CUSTOMREQUEST, request.method)
        setopt(pycurl.REQUEST_TARGET, request.target)
        setopt(pycurl.HTTPHEADER, headers)
        # Our own moment is nearer or the same; this is what libcurl shares out among addresses.
        setopt(pycurl.CONNECTTIMEOUT_MS, max(1, int((until - time.monotonic()) * 1000)))
        self._multi.add_handle(self._curl)
        self._at_work = True
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._note_outcome()

    def _go_on(self, until: float) -> None:
        """Wait until there is something to do, and have libcurl do it."""
        now = time.monotonic()
        if now >= until:
            raise TimeoutError("timed out")
        moment = until if self._due is None else min(until, self._due)
        for file, events in self._poll.poll(max(0.0, (moment - now) * 1000)):
            self._multi.socket_action(file, _of_libcurl(events))
        if self._due is not None and time.monotonic() >= self._due:
            self._due = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._note_outcome()

    def _note_outcome(self) -> None:
        _, well, failed = self._multi.info_read()
        if failed:
            self._outcome = (failed[0][1], failed[0][2])
        elif well:
            self._outcome = (pycurl.E_OK, "")
        else:
            return
        self._leave()

    def _leave(self) -> None:
        """Take the request from the connection, which stays if it can."""
        if self._at_work:
            self._at_work = False
            self._multi.remove_handle(self._curl)

    def _failure(self, outcome: tuple[int, str]) -> Exception:
        code, said = outcome
        if self._used and code == pycurl.E_COULDNT_CONNECT:
            # It wanted to connect again. What it had sent before, if anything, may have been heard.
            return StreamBroken(_NO_HTTP) if self._curl.getinfo(pycurl.REQUEST_SIZE) else StreamStale()
        if code == pycurl.E_COULDNT_CONNECT:
            number = self._curl.getinfo(pycurl.OS_ERRNO)
            return StreamBroken(os.strerror(number) if number else "it cannot be connected to")
        if code in _TLS:
            return StreamBroken(said[:_LONGEST_REASON] or "TLS could not be agreed upon")
        return StreamBroken(_NO_HTTP)

    # What libcurl calls

    def _open_socket(self, purpose: int, address: Any) -> Any:
        if self._used or ip_address(address.addr[0]) not in self._addresses:
            return pycurl.SOCKET_BAD
        return open_socket(*address)

    def _note_opened(self, file: int, purpose: int) -> int:
        self._opened.add(file)
        return int(pycurl.SOCKOPT_OK)

    def _watch_socket(self, what: int, file: int, multi: Any, data: Any) -> None:
        if what == pycurl.POLL_REMOVE:
            self._poll.unregister(file)
        else:
            readable = select.POLLIN if what in (pycurl.POLL_IN, pycurl.POLL_INOUT) else 0
            writable = select.POLLOUT if what in (pycurl.POLL_OUT, pycurl.POLL_INOUT) else 0
            self._poll.register(file, readable | writable)
            if file in self._opened:  # libcurl also has a file to be woken up by
                self._file = file

    def _set_timer(self, milliseconds: int) -> None:
        self._due = None if milliseconds < 0 else time.monotonic() + milliseconds / 1000

    def _note_line(self, line: bytes) -> int | None:
        """Told otherwise than None, libcurl ends the exchange: what comes is not HTTP."""
        if self._complete:
            return None  # after a body in chunks more headers may come
        if line.startswith(b"HTTP/"):
            self._lines.clear()
        if line.rstrip(b"\r\n"):
            self._lines.append(line)
        else:
            words = self._lines[0].split(None, 2) if self._lines else []
            if len(words) < 2:
                return -1
            self._complete = not words[1].startswith(b"1") or words[1] == b"101"
        return None


def _headers(lines: Sequence[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, separator, value in (line.decode("latin-1").partition(":") for line in lines[1:]):
        name, value = name.strip().lower(), value.strip()
        if name in _LISTS and name in headers:
            value = f"{headers[name]}, {value}"
        if separator:
            headers[name] = value
    return headers


def _of_libcurl(events: int) -> int:
    readable = pycurl.CSELECT_IN if events & _READABLE else 0
    writable = pycurl.CSELECT_OUT if events & select.POLLOUT else 0
    broken = pycurl.CSELECT_ERR if events & ~(_READABLE | select.POLLOUT) else 0
    return int(readable | writable | broken)


def _written(address: str) -> str:
    return f"[{address}]" if isinstance(ip_address(address), IPv6Address) else address
