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
from typing import Any

from tests.servers import free_port
from tests.work.soon import soon

MEMORY = 1_000_000_000
"Bytes that the service and the processes it started may have, whatever guests send."
PROMPT = 1.0
"Seconds within which it says that it is alive, throughout."
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
            return self.ask_health() is not None

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

    def ask_health(self) -> float | None:
        """How long it takes to say that it is alive, on a connection of its own; None when it does not."""
        began = time.monotonic()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().status != 200:
                return None
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()
        return time.monotonic() - began

    # What must hold

    @contextmanager
    def unharmed(self) -> Iterator[None]:
        """Meanwhile it says that it is alive, keeps to its memory, logs no more than is asked, and fails at nothing."""
        before, asked, watch = self.log_bytes, len(self.answers), _Watch(self)
        with watch:
            yield
        requests = len(self.answers) - asked + watch.asked
        # The one that asks is attacked as well: it shares two cores with those who attack, and with other tests.
        assert len(watch.late) <= max(1, watch.asked // 20), f"/healthz took {watch.late}"
        assert max(watch.late, default=0.0) < 4 * PROMPT, f"/healthz took {watch.late}"
        assert watch.silent == 0, f"/healthz did not answer {watch.silent} times of {watch.asked}"
        assert watch.most < MEMORY, f"{watch.most:,} bytes of memory"
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


class _Watch:
    """Looks at the target all the time."""

    def __init__(self, target: Target) -> None:
        self._target, self._stop = target, threading.Event()
        self.silent, self.asked, self.most = 0, 0, 0
        self.late: list[float] = []
        self._threads = [threading.Thread(target=t, daemon=True) for t in (self._health, self._memory)]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _health(self) -> None:
        while not self._stop.wait(0.1):
            took = self._target.ask_health()
            self.asked += 1
            self.silent += took is None
            if took is not None and took > PROMPT:
                self.late.append(took)

    def _memory(self) -> None:
        while not self._stop.wait(0.05):
            self.most = max(self.most, self._target.memory)
