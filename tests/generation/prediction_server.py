"""A service on loopback that speaks the prediction and the chat interface, and misbehaves when told to.

Every door (create, look, cancel, file, chat) has a script of behaviours, which come first, and then does as usual. What
was asked is kept: how many predictions were paid for, which were cancelled, who was shown the token.
"""

from __future__ import annotations

import itertools
import json
import re
import socket
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias

TOKEN = "r8_5ecret0fTheService"
PATIENCE = 20.0
"How long a behaviour may go on, should the client never give up."
_ROUTES = (
    ("create", "POST", re.compile(r"/v1/(?:models/[^/]+/[^/]+/)?predictions")),
    ("look", "GET", re.compile(r"/v1/predictions/([^/]+)")),
    ("cancel", "POST", re.compile(r"/v1/predictions/([^/]+)/cancel")),
    ("chat", "POST", re.compile(r"/v1/chat/completions")),
    ("file", "GET", re.compile(r"/files/.*")),
)


@dataclass(slots=True)
class Seen:
    """One request as it arrived."""

    door: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    id: str | None = None

    @property
    def json(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.body)
        return told


@dataclass(slots=True)
class Job:
    """A prediction, and the states it has still to go through; in the last of them it stays."""

    id: str
    states: deque[str]
    told: dict[str, Any] = field(default_factory=dict)

    def step(self) -> dict[str, Any]:
        status = self.states.popleft() if len(self.states) > 1 else self.states[0]
        done = self.told if status not in ("starting", "processing") else {}
        urls = {"get": f"http://127.0.0.1:9/{self.id}", "cancel": f"http://127.0.0.1:9/{self.id}/cancel"}
        return {"id": self.id, "status": status, "output": None, "error": None, "urls": urls, **done}


class PredictionServer:
    """Answers by a script for each door, then as usual."""

    def __init__(self, film: bytes = b"") -> None:
        self.film = film
        "What it has made; of this type, under a name that ends like that."
        self.type, self.ending = "video/mp4", ".mp4"
        self.etag: str | None = '"the-film"'
        self.states: Sequence[str] = ("starting", "processing", "succeeded")
        "What a new prediction goes through, beginning with the answer to its creation."
        self.told: dict[str, Any] = {"metrics": {"predict_time": 12.5}}
        "What a prediction says once it is over, beside its output."
        self.answers: deque[str] = deque()
        "What the model says in a chat."
        self.scripts: dict[str, deque[Behaviour]] = defaultdict(deque)
        self.seen: list[Seen] = []
        self.jobs: dict[str, Job] = {}
        self.over = threading.Event()
        self._by_key: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.service = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def will(self, door: str, *behaviours: Behaviour) -> None:
        """Next time, and the times after that, behave like this at a door."""
        self.scripts[door].extend(behaviours)

    def asked(self, door: str) -> list[Seen]:
        return [seen for seen in self.seen if seen.door == door]

    def behaviour(self, seen: Seen) -> Behaviour:
        with self._lock:
            self.seen.append(seen)
            script = self.scripts[seen.door]
            return script.popleft() if script else _USUAL.get(seen.door, answers(404))

    def create(self, seen: Seen) -> Job:
        """A prediction is paid for; the same key is given the same one."""
        with self._lock:
            key = seen.headers["Idempotency-Key"]
            if key not in self._by_key:
                job = f"job-{next(self._numbers)}"
                told = {"output": [f"{self.origin}/files/{job}{self.ending}?signature=opensesame"], **self.told}
                self.jobs[job] = Job(job, deque(self.states), told)
                self._by_key[key] = job
            return self.jobs[self._by_key[key]]

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
    service: PredictionServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        door, job = "nowhere", None
        for name, method, path in _ROUTES:
            if method == self.command and (found := path.fullmatch(self.path)):
                door, job = name, found[1] if found.groups() else None
        seen = Seen(door, self.command, self.path, dict(self.headers.items()), body, job)
        with suppress(OSError):
            self.server.service.behaviour(seen)(self, seen)

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


Behaviour: TypeAlias = Callable[[_Handler, Seen], None]


# As usual


def creates(handler: _Handler, seen: Seen) -> None:
    handler.answer(201, json.dumps(handler.server.service.create(seen).step()).encode())


def looks(handler: _Handler, seen: Seen) -> None:
    job = handler.server.service.jobs.get(seen.id or "")
    if job is None:
        handler.answer(404, b'{"detail": "no such prediction"}')
    else:
        handler.answer(200, json.dumps(job.step()).encode())


def cancels(handler: _Handler, seen: Seen) -> None:
    job = handler.server.service.jobs[seen.id or ""]
    job.states = deque(["canceled"])
    job.told = {}
    handler.answer(200, json.dumps(job.step()).encode())


def sends_the_film(handler: _Handler, seen: Seen) -> None:
    service = handler.server.service
    headers = {"Content_Type": service.type} | ({"ETag": service.etag} if service.etag else {})
    wanted = re.fullmatch(r"bytes=(\d+)-", seen.headers.get("Range", ""))
    if wanted and seen.headers.get("If-Range") == service.etag:
        start, size = int(wanted[1]), len(service.film)
        headers["Content_Range"] = f"bytes {start}-{size - 1}/{size}"
        handler.answer(206, service.film[start:], **headers)
    else:
        handler.answer(200, service.film, **headers)


def chats(handler: _Handler, seen: Seen) -> None:
    says(handler.server.service.answers.popleft())(handler, seen)


_USUAL: dict[str, Behaviour] = {
    "create": creates,
    "look": looks,
    "cancel": cancels,
    "file": sends_the_film,
    "chat": chats,
}


# Not as usual


def answers(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    return lambda handler, seen: handler.answer(status, body, **headers)


def says(text: Any, **more: Any) -> Behaviour:
    """The model says this."""
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **more}
    body = json.dumps({"id": "chat-1", "choices": [choice]}).encode()
    return answers(200, body)


def echoes(status: int) -> Behaviour:
    """Repeats what it was sent, the token too, and the start of a body that is refused."""

    def behave(handler: _Handler, seen: Seen) -> None:
        detail = (
            f"bad request: {seen.headers.get('Authorization')} ({TOKEN}) for https://u:pw@host/x?X-Amz-Signature=f00 "
        )
        detail += f"with data:video/mp4;base64,QUJD and {'much more ' * 100}"
        handler.answer(status, json.dumps({"error": {"message": detail}}).encode())

    return behave


def stays_silent(handler: _Handler, seen: Seen) -> None:
    handler.close_connection = True
    handler.server.service.over.wait(PATIENCE)


def drops(handler: _Handler, seen: Seen) -> None:
    handler.hang_up()


def creates_and_drops(handler: _Handler, seen: Seen) -> None:
    """The prediction is made and paid for; the answer is lost."""
    handler.server.service.create(seen)
    handler.hang_up()


def speaks_no_http(handler: _Handler, seen: Seen) -> None:
    handler.close_connection = True
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.9\r\n")


def drips_headers(handler: _Handler, seen: Seen) -> None:
    """A byte at a time, each well within any timeout, without end."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not handler.server.service.over.wait(0.02):
        handler.wfile.write(b"a")


def drips(handler: _Handler, seen: Seen) -> None:
    handler.close_connection = True
    handler.head(200, Content_Length="100000")
    while not handler.server.service.over.wait(0.02):
        handler.wfile.write(b" ")


def floods(handler: _Handler, seen: Seen) -> None:
    """More than anybody wants to hear, and no word of how much."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    for _ in range(50):
        handler.wfile.write(b" " * 1_000_000)


def truncates(part: float = 0.5) -> Behaviour:
    """Promises the film and hangs up before its end."""

    def behave(handler: _Handler, seen: Seen) -> None:
        service = handler.server.service
        headers = {"ETag": service.etag} if service.etag else {}
        handler.head(200, Content_Length=str(len(service.film)), **headers)
        handler.wfile.write(service.film[: int(len(service.film) * part)])
        handler.hang_up()

    return behave


def understates(handler: _Handler, seen: Seen) -> None:
    """Says that half of the film is all of it."""
    handler.close_connection = True
    film = handler.server.service.film
    handler.head(200, Content_Length=str(len(film) // 2))
    handler.wfile.write(film)


def sends_another_part(handler: _Handler, seen: Seen) -> None:
    """Asked for the rest of the film, it sends its beginning."""
    film = handler.server.service.film
    handler.answer(206, film[:100], Content_Range=f"bytes 0-99/{len(film)}")


def redirects(to: str, status: int = 302) -> Behaviour:
    return answers(status, b"over there", Location=to)
