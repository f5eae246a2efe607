"""A webhook's receiver on loopback that misbehaves when told to."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias

PATIENCE = 20.0
"How long a behaviour may go on, should the sender never give up."


@dataclass(slots=True)
class Seen:
    """One request as it arrived."""

    body: bytes
    headers: dict[str, str]
    path: str
    connection: Any

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.body)
        return event


class Receiver:
    """Answers requests by a script, then as usual; keeps everything it saw, and what it took."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.script: deque[Behaviour] = deque()
        self.usually: Behaviour = accepts
        self.seen: list[Seen] = []
        self.taken: list[Seen] = []
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.hung_up = threading.Event()
        "A connection was ended from here."
        self._scheme = "https" if tls else "http"
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.receiver = self
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}/hook?token=in-the-url"

    def behaviour(self, seen: Seen) -> Behaviour:
        with self.lock:
            self.seen.append(seen)
            return self.script.popleft() if self.script else self.usually

    def take(self, seen: Seen) -> None:
        with self.lock:
            self.taken.append(seen)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


_FIN_WAIT1 = 4
"The state of a connection whose end was said, and not yet heard; as Linux counts them."


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    receiver: Receiver

    def shutdown_request(self, request: Any) -> None:
        with suppress(OSError):  # whoever has gone hears nothing
            request.shutdown(socket.SHUT_WR)
            # A busy kernel may take its time to tell the other side, which could use the connection until then.
            while request.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _FIN_WAIT1:
                self.receiver.over.wait(0.001)
        self.close_request(request)
        self.receiver.hung_up.set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A sender that hangs up is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        seen = Seen(body, dict(self.headers.items()), self.path, self.client_address)
        with suppress(OSError):
            self.server.receiver.behaviour(seen)(self, seen)

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: pytest shows what matters."""


Behaviour: TypeAlias = Callable[[_Handler, Seen], None]


def accepts(handler: _Handler, seen: Seen) -> None:
    handler.server.receiver.take(seen)
    handler.answer(200, b"thank you")


def answers(status: int, **headers: str) -> Behaviour:
    return lambda handler, seen: handler.answer(status, b"no", **headers)


def stays_silent(handler: _Handler, seen: Seen) -> None:
    handler.close_connection = True
    handler.server.receiver.over.wait(PATIENCE)


def drops(handler: _Handler, seen: Seen) -> None:
    """Takes the message, and hangs up before saying so."""
    handler.server.receiver.take(seen)
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def hangs_up_later(handler: _Handler, seen: Seen) -> None:
    """Answers as if the connection could be used again, then ends it."""
    accepts(handler, seen)
    handler.close_connection = True


def drips(handler: _Handler, seen: Seen) -> None:
    """Begins an answer and never ends it, a byte at a time, each well within any timeout."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not handler.server.receiver.over.wait(0.02):
        handler.wfile.write(b"a")


def floods(handler: _Handler, seen: Seen) -> None:
    """Says thank you at a length of 50 MB."""
    handler.server.receiver.take(seen)
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Content-Length", str(50_000_000))
    handler.end_headers()
    for _ in range(50):
        handler.wfile.write(b"x" * 1_000_000)


def floods_with_headers(handler: _Handler, seen: Seen) -> None:
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(90):
        handler.wfile.write(b"X-Long: " + b"x" * 60_000 + b"\r\n")
    handler.wfile.write(b"\r\n")


def sends_gzip_nonsense(handler: _Handler, seen: Seen) -> None:
    handler.server.receiver.take(seen)
    handler.answer(200, b"\x1f\x8bthis is no gzip", Content_Encoding="gzip")


def sends_a_negative_chunk(handler: _Handler, seen: Seen) -> None:
    """A chunk size that makes a careless reader read without end."""
    handler.server.receiver.take(seen)
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n")
    for _ in range(50):
        handler.wfile.write(b"x" * 1_000_000)


def speaks_no_http(handler: _Handler, seen: Seen) -> None:
    handler.close_connection = True
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.9\r\n")
