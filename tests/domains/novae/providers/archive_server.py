"""An archive on loopback that answers by a script, and misbehaves when told to; what it was asked is kept."""

from __future__ import annotations

import re
import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias
from urllib.parse import parse_qs, urlsplit

PATIENCE = 20.0
"How long a behaviour may go on, should the client never give up."


@dataclass(slots=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}


class ArchiveServer:
    """Answers each request by a script, and then as usual."""

    def __init__(self, usual: Behaviour | None = None) -> None:
        self.script: deque[Behaviour] = deque()
        self.usual: Behaviour = usual or answers(404)
        self.asked: list[Asked] = []
        self.over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.archive = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def url(self, path: str = "/") -> str:
        return f"{self.origin}{path}"

    def will(self, *behaviours: Behaviour) -> None:
        """Next time, and the times after that, behave like this."""
        self.script.extend(behaviours)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    archive: ArchiveServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        archive = self.server.archive
        asked = Asked(self.command, self.path, dict(self.headers.items()))
        archive.asked.append(asked)
        behaviour = archive.script.popleft() if archive.script else archive.usual
        with suppress(OSError):
            behaviour(self, asked)

    do_POST = do_GET  # noqa: N815 # as http.server calls it

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.head(status, **{"Content_Length": str(len(body)), **headers})
        self.wfile.write(body)

    def head(self, status: int, **headers: str) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def hang_up(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: pytest shows what matters."""


Behaviour: TypeAlias = Callable[[_Handler, Asked], None]


def answers(status: int = 200, body: bytes = b"", **headers: str) -> Behaviour:
    return lambda handler, asked: handler.answer(status, body, **headers)


def votable(body: bytes) -> Behaviour:
    return answers(200, body, Content_Type="application/x-votable+xml")


def json_text(body: bytes) -> Behaviour:
    return answers(200, body, Content_Type="application/json")


def page(handler: _Handler, asked: Asked) -> None:
    """Something for people, with a good status."""
    handler.answer(200, b"<!DOCTYPE html>\n<html><body>Please log in</body></html>", Content_Type="text/html")


def redirects(to: str, status: int = 302) -> Behaviour:
    return answers(status, b"over there", Location=to)


def stays_silent(handler: _Handler, asked: Asked) -> None:
    handler.close_connection = True
    handler.server.archive.over.wait(PATIENCE)


def cut_off(body: bytes, *, at: float = 0.5, **headers: str) -> Behaviour:
    """Promises all of it and hangs up before the end."""

    def behave(handler: _Handler, asked: Asked) -> None:
        handler.head(200, **{"Content_Length": str(len(body)), **headers})
        handler.wfile.write(body[: int(len(body) * at)])
        handler.hang_up()

    return behave


def overstates(body: bytes) -> Behaviour:
    """Says that there is more than it sends."""

    def behave(handler: _Handler, asked: Asked) -> None:
        handler.head(200, Content_Length=str(len(body) + 1000))
        handler.wfile.write(body)
        handler.hang_up()

    return behave


def floods(handler: _Handler, asked: Asked) -> None:
    """More than anybody wants to hear, and no word of how much."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    for _ in range(60):
        handler.wfile.write(b" " * 1_000_000)


def file(body: bytes, *, etag: str | None = '"one"', ranges: bool = True, **headers: str) -> Behaviour:
    """A file, or the rest of it if that is asked for."""

    def behave(handler: _Handler, asked: Asked) -> None:
        told = {**({"ETag": etag} if etag else {}), **headers}
        if etag and asked.headers.get("If-None-Match") == etag:
            return handler.answer(304, b"", **told)
        wanted = re.fullmatch(r"bytes=(\d+)-", asked.headers.get("Range", ""))
        if ranges and wanted and asked.headers.get("If-Range") == etag:
            start = int(wanted[1])
            told["Content_Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            handler.answer(206, body[start:], **told)
        else:
            handler.answer(200, body, **told)

    return behave
