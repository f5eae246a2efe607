"""A service as somebody runs it, in a process of its own, and what an attacker must not change about it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Self

from tests.servers import free_port
from tests.web.siege_watch import watched_health
from tests.work.soon import soon

MEMORY = 1_000_000_000
"Bytes that the service and the processes it started may have, whatever guests send."
PROMPT = 1.0
"Seconds of its own within which it says that it is alive, throughout."
GRACE = 10


class Target:
    """The service under attack."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder, self.port = folder, free_port()
        chosen = {"PENSTOCK_GRACE": str(GRACE), "PENSTOCK_TRUSTED_PROXIES": "127.0.0.1"}
        told = {**os.environ, **chosen, **environment}
        command = [sys.executable, "-m", "penstock", "up", "--port", str(self.port)]
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=told, stdout=log, stderr=log)
        self.answers: list[tuple[str, int]] = []
        "What was answered, by method and path, for whoever asks whether a mistake of ours was among it."

    def start(self) -> None:
        def alive() -> bool:
            assert self.process.poll() is None, self.log
            return self.ask("GET", "/healthz")[0] == 200

        soon(alive, seconds=120)

    def stop(self, *, hurried: bool = False) -> None:
        """It ends in order, also after all that; hurried, without what its guests would still hear."""
        for _ in range(1 + hurried):
            self.process.send_signal(signal.SIGTERM)
            time.sleep(0.3 * hurried)  # two of a kind at once are one
        try:
            assert self.process.wait(GRACE + 20) == 0, self.log
        finally:
            self.process.kill()

    # Asking

    @property
    def headers(self) -> dict[str, str]:
        name, _, value = (self.folder / ".penstock" / "key").read_text().strip().partition(": ")
        return {name: value}

    def key(self, role: str) -> dict[str, str]:
        """A further key, made on the command line."""
        command = [sys.executable, "-m", "penstock", "keys", "create", f"a {role}", "--role", role, "--json"]
        made = subprocess.run(command, cwd=self.folder, capture_output=True, check=True)
        return {"Authorization": f"Bearer {json.loads(made.stdout)['token']}"}

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Any = None,
        headers: dict[str, str] | None = None,
        *,
        patience: float = 60.0,
    ) -> tuple[int, bytes]:
        """One request; a connection that is closed on us counts as status 0."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        told = {"Content-Type": "application/json"} if content is not None else {}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=patience)
        try:
            connection.request(method, path, content, {**told, **(headers or {})})
            answer = connection.getresponse()
            found = answer.status, answer.read(10_000_000)
        except (OSError, HTTPException):
            found = 0, b""
        finally:
            connection.close()
        self.answers.append((f"{method} {path[:80]}", found[0]))
        return found

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    # What must hold

    @contextmanager
    def unharmed(self) -> Iterator[None]:
        """Meanwhile it says that it is alive, keeps to its memory, logs no more than is asked, and fails at nothing."""
        before, asked = self.log_bytes, len(self.answers)
        with _MostMemory(self) as memory, watched_health(self.port, self.process.pid) as health:
            yield
        requests = len(self.answers) - asked + len(health)
        late = [seconds for seconds in health if seconds > PROMPT]
        assert len(late) <= max(1, len(health) // 20), f"/healthz took {late}"
        assert max(health) < 4 * PROMPT, f"/healthz took {late}"
        assert memory.bytes < MEMORY, f"{memory.bytes:,} bytes of memory"
        assert self.log_bytes - before < 20_000 + 2_000 * requests, self.log
        assert [a for a in self.answers[asked:] if a[1] == 500] == [], self.log

    @property
    def memory(self) -> int:
        """Of the process and all that it started."""
        pids, total = [self.process.pid], 0
        while pids:
            pid = pids.pop()
            try:
                pids += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            except (OSError, ValueError):
                continue  # it has just ended
            total += pages * os.sysconf("SC_PAGE_SIZE")
        return total

    @property
    def log_bytes(self) -> int:
        return (self.folder / "log").stat().st_size

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-4000:]


class _MostMemory:
    """Looks at the target's memory all the time."""

    def __init__(self, target: Target) -> None:
        self._target, self._stop = target, threading.Event()
        self.bytes = 0
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(0.05):
            self.bytes = max(self.bytes, self._target.memory)
