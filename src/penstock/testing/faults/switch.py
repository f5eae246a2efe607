"""A switch on the loopback: what is behind it can be taken away, for whoever comes through here, and given back."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class Switch:
    """Forwards to a port, on one of its own; while it is off, connections are refused and those that were are cut."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._lines: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self.port = 0
        self.refused = 0
        self.on()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.off()

    def on(self) -> None:
        """Give it back, at the same place."""
        if self._listener is None:
            listener = socket.create_server(("127.0.0.1", self.port))
            self._listener, self.port = listener, listener.getsockname()[1]
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def off(self) -> None:
        """Take it away."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # or whoever accepts would go on doing so
            listener.close()
        with self._lock:
            lines, self._lines = self._lines, set()
        for line in lines:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection(self._target)
            except OSError:
                return
            with self._lock:
                self._lines |= {client, server}
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
