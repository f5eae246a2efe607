"""A proxy before PostgreSQL that shares few server sessions among many clients, one transaction at a time.

It plays what pgbouncer is in transaction mode: nothing that belongs to a session survives a transaction, nothing is
cleaned up between two, and the settings that a client starts with are swallowed, or refused. Each transaction is given
the session that has rested longest, so that a client hardly ever meets the same one twice in a row.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections import deque
from types import TracebackType
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

_SSL, _GSS, _CANCEL = 80877103, 80877104, 80877102
_ENDS_IN_READY = b"QSF"
"A query, a Sync and a function call are each answered by one ReadyForQuery."


class _Message(NamedTuple):
    kind: bytes
    body: bytes

    @property
    def wire(self) -> bytes:
        return self.kind + struct.pack("!i", len(self.body) + 4) + self.body


class _Line:
    """One side's socket, read message by message."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self._buffer = b""

    def message(self) -> _Message | None:
        """The next message; None at the end."""
        head = self._exactly(5)
        if head is None:
            return None
        body = self._exactly(struct.unpack("!i", head[1:])[0] - 4)
        return None if body is None else _Message(head[:1], body)

    def startup(self) -> tuple[int, bytes] | None:
        head = self._exactly(8)
        if head is None:
            return None
        length, code = struct.unpack("!ii", head)
        body = self._exactly(length - 8)
        return None if body is None else (code, body)

    def _exactly(self, size: int) -> bytes | None:
        while len(self._buffer) < size:
            try:
                data = self.sock.recv(1 << 16)
            except OSError:
                return None
            if not data:
                return None
            self._buffer += data
        out, self._buffer = self._buffer[:size], self._buffer[size:]
        return out

    def has_message(self) -> bool:
        """Is a whole message here already?"""
        buffer = self._buffer
        return len(buffer) >= 5 and len(buffer) > struct.unpack("!i", buffer[1:5])[0]

    def fill(self) -> bool:
        """Take what has arrived; False at the end."""
        data = self.sock.recv(1 << 16)
        self._buffer += data
        return bool(data)

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)


class _Server(_Line):
    """One session of the real server."""

    def __init__(self, port: int, settings: dict[str, str]) -> None:
        super().__init__(socket.create_connection(("127.0.0.1", port)))
        body = b"".join(f"{k}\0{v}\0".encode() for k, v in settings.items()) + b"\0"
        self.send(struct.pack("!ii", len(body) + 8, 3 << 16) + body)
        self.greeting: list[_Message] = []
        self.key = b""
        while (message := self.message()) is not None and message.kind != b"Z":
            if message.kind == b"E":
                raise ConnectionError(message.body.decode(errors="replace"))
            if message.kind == b"S":
                self.greeting.append(message)
            if message.kind == b"K":
                self.key = message.body


class PoolingProxy:
    """Hands out server sessions by transaction.

    ``refuses`` startup settings, as pgbouncer does unless it is told to ignore them; or, ``disguised``, starts its
    sessions with the settings of its first client and gives out a true server process's key: hardest to tell.
    """

    def __init__(self, port: int, *, sessions: int = 2, refuses: bool = False, disguised: bool = False) -> None:
        self._port, self._refuses, self._disguised = port, refuses, disguised
        self._most = sessions
        self._idle: dict[tuple[str, str], deque[_Server]] = {}
        self._opened: dict[tuple[str, str], int] = {}
        self._changed = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.transactions = 0
        self.changes = 0
        "How often a client was given another session than the time before."
        self._open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> PoolingProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._listener.close()
        with self._changed:
            for servers in self._idle.values():
                for server in servers:
                    server.sock.close()
            self._changed.notify_all()

    def url_of(self, url: str) -> str:
        """The URL of a database, through the proxy."""
        parts = urlsplit(url)
        user = f"{parts.username}@" if parts.username else ""
        return urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{self.port}"))

    def _accept(self) -> None:
        while self._open:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(_Line(client),), daemon=True).start()

    def _serve(self, client: _Line) -> None:
        with client.sock:
            try:
                settings = self._greet(client)
                if settings is not None:
                    self._transactions(client, settings)
            except OSError:
                pass

    # Beginning

    def _greet(self, client: _Line) -> dict[str, str] | None:
        while (said := client.startup()) is not None:
            code, body = said
            if code in (_SSL, _GSS):
                client.send(b"N")
            elif code == _CANCEL:
                return None
            else:
                return self._admit(client, body)
        return None

    def _admit(self, client: _Line, body: bytes) -> dict[str, str] | None:
        words = [w.decode() for w in body.split(b"\0")]
        settings = dict(zip(words[0::2], words[1::2], strict=False))
        if "options" in settings and self._refuses:
            text = "SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: options\0\0"
            client.send(_Message(b"E", text.encode()).wire)
            return None
        kept = ("user", "database", "options") if self._disguised else ("user", "database")
        own = {k: v for k, v in settings.items() if k in kept and v} | {"client_encoding": "UTF8"}
        server = self._take(own)
        greeting = b"".join(m.wire for m in server.greeting)
        key = server.key if self._disguised else struct.pack("!ii", 1, 1)
        with self._changed:  # first in line again, so that its key is that of whoever answers next
            self._idle[_place(own)].appendleft(server)
            self._changed.notify()
        ready = _Message(b"K", key).wire + _Message(b"Z", b"I").wire
        client.send(_Message(b"R", b"\0\0\0\0").wire + greeting + ready)
        return own

    # Sessions

    def _take(self, settings: dict[str, str]) -> _Server:
        place = _place(settings)
        with self._changed:
            idle = self._idle.setdefault(place, deque())
            # Only when as many as may be are there is the one that rested longest another than the last.
            if self._opened.get(place, 0) >= self._most:
                self._changed.wait_for(lambda: idle or not self._open)
                if not idle:
                    raise OSError("closed")
                return idle.popleft()
            self._opened[place] = self._opened.get(place, 0) + 1
        try:
            return _Server(self._port, settings)
        except OSError:
            self._lose(settings)
            raise

    def _keep(self, settings: dict[str, str], server: _Server) -> None:
        with self._changed:
            self._idle[_place(settings)].append(server)
            self._changed.notify()

    def _lose(self, settings: dict[str, str]) -> None:
        with self._changed:
            self._opened[_place(settings)] -= 1
            self._changed.notify()

    # Transactions

    def _transactions(self, client: _Line, settings: dict[str, str]) -> None:
        last: _Server | None = None
        while (message := client.message()) is not None and message.kind != b"X":
            server = self._take(settings)
            self.transactions += 1
            self.changes += last is not None and server is not last
            last = server
            try:
                whole = self._transaction(client, server, message)
            except OSError:
                whole = False
            if not whole:  # as of a client that left in the middle
                server.sock.close()
                self._lose(settings)
                return
            self._keep(settings, server)

    def _transaction(self, client: _Line, server: _Server, message: _Message) -> bool:
        """Carry everything until the session is idle again; False when one side has left."""
        server.send(message.wire)
        waits = message.kind in _ENDS_IN_READY
        while True:
            if not waits and client.has_message():
                following = client.message()
                if following is None or following.kind == b"X":
                    return False
                server.send(following.wire)
                waits = following.kind in _ENDS_IN_READY
            elif server.has_message():
                answer = server.message()
                if answer is None:
                    return False
                client.send(answer.wire)
                if answer.kind == b"Z":
                    waits = False
                    if answer.body == b"I":
                        return True
            else:
                watched = [server.sock] if waits else [server.sock, client.sock]
                ready, _, _ = select.select(watched, [], [])
                for line in (server, client):
                    if line.sock in ready and not line.fill():
                        return False


def _place(settings: dict[str, str]) -> tuple[str, str]:
    return settings.get("user", ""), settings.get("database", "")
