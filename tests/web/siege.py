"""A besieged service: its process, connections that are held on purpose, and somebody who keeps asking for health."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from penstock import open_store
from penstock.auth.api_keys import create_key
from penstock.objects import LocalObjects, RouteSigner
from penstock.schema.role import Role
from penstock.work.working import WORKING
from tests.servers import free_port
from tests.web.siege_server import INSTALLED, SECRET
from tests.web.siege_watch import watched_health

SOON, AT_ALL = 1.0, 4.0
"Seconds to an answer: of all but a few, and of each."
_UP = 60.0
Answer = tuple[int, dict[str, str], Any]


class Siege:
    """A service in a process of its own, and what is done to it."""

    def __init__(self, folder: Path, stack: ExitStack, *, store: str | None = None, **options: Any) -> None:
        self.folder, self.port, self._stack = folder, free_port(), stack
        url = store or f"sqlite:///{folder}/siege.db"
        with closing(open_store(url)) as opened:
            opened.ensure(*(i.domain for i in INSTALLED), WORKING)
            self.key = create_key(opened, name="besieged", role=Role.EDITOR, by="tests").token
        reached = options.pop("reached_at", url)
        told = json.dumps({"silence": 2, "loop": "auto", "store": reached, **options})
        self.log = folder / "siege.log"
        with self.log.open("wb") as log:
            command = [sys.executable, "-m", "tests.web.siege_server", str(folder), str(self.port), told]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        stack.callback(self._end)
        self._await()

    def _await(self) -> None:
        end = time.monotonic() + _UP
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError):
                if self.ask("GET", "/healthz")[0] == 200:
                    return
            time.sleep(0.05)
        raise AssertionError(self.log.read_text())

    def _end(self) -> None:
        self.process.kill()
        self.process.wait()

    def ask(
        self, method: str, path: str, body: bytes | None = None, *, patience: float = 30.0, **headers: str
    ) -> Answer:
        """One request on a connection of its own."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=patience)
        try:
            told = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
            connection.request(method, path, body, told)
            answer = connection.getresponse()
            content = answer.read()
            kind = answer.getheader("content-type", "")
            named = {k.lower(): v for k, v in answer.getheaders()}
            return answer.status, named, json.loads(content) if "json" in kind else content
        finally:
            connection.close()

    def with_key(self, method: str, path: str, body: bytes | None = None, **more: Any) -> Answer:
        return self.ask(method, path, body, Authorization=f"Bearer {self.key}", **more)

    def hold(self, sent: bytes) -> socket.socket:
        """A connection on which this is sent, and nothing more."""
        line = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        self._stack.callback(line.close)
        with suppress(OSError):
            line.sendall(sent)
        return line

    def upload_url(self, size: int) -> tuple[str, bytes]:
        """Where a file of this size may be sent, and the head of the request that sends it."""
        parts = urlsplit(self._signer.upload_url(f"siege/{size}.bin", size=size, content_type="text/plain").url)
        path = f"{parts.path}?{parts.query}"
        head = f"PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: {size}\r\n\r\n"
        return path, head.encode()

    def download(self, size: int) -> bytes:
        """A request for a file of this size."""
        LocalObjects(self.folder / "objects").put("siege/large.bin", bytes(size))
        parts = urlsplit(self._signer.download_url("siege/large.bin").url)
        return f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: x\r\n\r\n".encode()

    @property
    def _signer(self) -> RouteSigner:
        return RouteSigner(SECRET, url=f"http://127.0.0.1:{self.port}/objects")

    def resident(self) -> float:
        """Megabytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def files(self) -> int:
        """Descriptors that the process has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def connections(self) -> int:
        """Of those, sockets."""
        found = 0
        for file in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                found += os.readlink(file).startswith("socket:")
        return found

    @contextmanager
    def watched(self) -> Iterator[None]:
        """All the while the process says soon that it is alive, and in the end it works as ever."""
        with watched_health(self.port, self.process.pid) as taken:
            yield
        assert taken[int(len(taken) * 0.95)] < SOON, taken[-10:]
        assert taken[-1] < AT_ALL, taken[-10:]

    def works(self) -> bool:
        """Is everything as it was?"""
        listed = self.with_key("GET", "/api/films/films?pattern=by_status&status=draft")[0]
        cried = self.ask("POST", "/public/cry", b'{"words": "help"}')[0]
        path, _ = self.upload_url(5)
        sent = self.ask("PUT", path, b"12345", Content_Type="text/plain")[0]
        spoken = self.ask("POST", "/public/speak")[0]
        return [listed, cried, sent, spoken] == [200] * 4


@contextmanager
def besieged(folder: Path, **options: Any) -> Iterator[Siege]:
    with ExitStack() as stack:
        yield Siege(folder, stack, **options)


def together(count: int, act: Any) -> list[Any]:
    """What so many got who did it at the same time."""
    got: list[Any] = [None] * count

    def run(number: int) -> None:
        try:
            got[number] = act(number)
        except OSError as error:
            got[number] = error

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got
