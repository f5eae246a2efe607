"""A proxy on the loopback that loses answers: the server does what it was told, and nobody hears of it."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable
from types import TracebackType


class LosingProxy:
    """Forwards to a port; an answer that is to be lost is read, thrown away, and the line is cut."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._losing = threading.Semaphore(0)
        self._passing: int | None = None
        self._lock = threading.Lock()
        self.lost = 0
        self.meanwhile: Callable[[], object] | None = None
        "What happens once, after an answer was lost and before anybody knows."
        self._open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> LosingProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._listener.close()

    def lose_next_answer(self, times: int = 1) -> None:
        """The next answers are lost."""
        for _ in range(times):
            self._losing.release()

    def lose_answer(self, *, after: int) -> None:
        """So many answers pass, and the next one is lost."""
        with self._lock:
            self._passing = after

    def lose_none(self) -> None:
        """What was still to be lost is not."""
        self.meanwhile = None
        with self._lock:
            self._passing = None
        while self._losing.acquire(blocking=False):
            pass

    def _is_to_be_lost(self) -> bool:
        with self._lock:
            if self._passing is not None:
                self._passing -= 1
                if self._passing < 0:
                    self._passing = None
                    return True
        return self._losing.acquire(blocking=False)

    def _accept(self) -> None:
        while self._open:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as server, selectors.DefaultSelector() as selector:
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            with contextlib.suppress(OSError):
                while self._open and self._step(selector, server):
                    pass

    def _step(self, selector: selectors.BaseSelector, server: socket.socket) -> bool:
        """Carry what has arrived; False when the line is to be cut."""
        for key, _ in selector.select(timeout=1):
            source = key.fileobj
            assert isinstance(source, socket.socket)
            data = source.recv(1 << 16)
            if not data:
                return False
            if source is server and self._is_to_be_lost():
                self.lost += 1
                happens, self.meanwhile = self.meanwhile, None
                if happens is not None:
                    happens()
                return False
            key.data.sendall(data)
        return True
