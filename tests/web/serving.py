"""A service behind a real server, in a thread of this process."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any, NamedTuple

import uvicorn
from fastapi import FastAPI

from penstock.web.connection import ListeningServer, served_by
from tests.servers import free_port, is_open


@contextmanager
def serving(app: FastAPI, *, port: int | None = None, served: dict[str, Any] | None = None) -> Iterator[int]:
    """Serve an application on 127.0.0.1; its port. What the server is told may be kept, to look at its connections."""
    port = port or free_port()
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=port,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        **(served or served_by(app.state.options)),
    )
    server = ListeningServer(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not is_open(port):
        assert time.monotonic() < deadline, "the server does not start"
        time.sleep(0.01)
    try:
        yield port
    finally:
        app.state.streams.close()
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server does not stop"


class Event(NamedTuple):
    name: str
    id: str
    data: dict[str, Any]


class Listener:
    """Reads a stream of events."""

    def __init__(
        self,
        port: int,
        path: str,
        key: str | None,
        *,
        cookie: str | None = None,
        last: str | None = None,
        patience: float = 20.0,
    ) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=patience)
        given = {"Authorization": key and f"Bearer {key}", "Cookie": cookie, "Last-Event-ID": last}
        headers = {name: value for name, value in given.items() if value}
        self._connection.request("GET", path, headers=headers)
        self.answer: HTTPResponse = self._connection.getresponse()

    def lines(self) -> Iterator[str]:
        while line := self.answer.readline():
            yield line.decode().rstrip("\n")

    def next(self) -> Event:
        """The next event; comments are passed over."""
        found: dict[str, str] = {}
        for line in self.lines():
            if not line and found:
                return Event(found["event"], found["id"], json.loads(found["data"]))
            name, _, value = line.partition(": ")
            if name:
                found[name] = value
        raise EOFError("the stream has ended")

    def close(self) -> None:
        sock: socket.socket | None = self._connection.sock
        if sock is not None:
            sock.close()
        self.answer.close()
        self._connection.close()
