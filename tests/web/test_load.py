"""Under load: 64 connections on one process and the embedded store; then the same with the process killed half-way."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from penstock import open_store
from tests.servers import free_port
from tests.web.films import Film
from tests.web.service import film

CONNECTIONS, SECONDS = 64, 60.0
_UP = 30.0
FILMS = "/api/films/films"


class Server:
    """The process, which may be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.port = folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.web.load_server", str(self._folder), str(self.port)]
        with open(self._folder / "server.log", "ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + _UP
        while time.monotonic() < deadline:
            try:
                if ask(HTTPConnection("127.0.0.1", self.port, timeout=5), "GET", "/healthz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError((self._folder / "server.log").read_text())

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def resident(self) -> float:
        """Megabytes."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@dataclass
class Seen:
    """What one client saw."""

    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    acknowledged: dict[str, str] = field(default_factory=dict)
    "The last state of each film that the service has confirmed."
    reconnected: int = 0


def ask(
    connection: HTTPConnection, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    content = None if body is None else json.dumps(body)
    connection.request(method, path, content, {"Content-Type": "application/json", **(headers or {})})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read() or b"null")


class Client:
    """Creates films, moves them to and fro, gets and lists them, without a pause."""

    def __init__(self, port: int, name: int, *, patient: bool) -> None:
        self._port, self._name, self._patient = port, name, patient
        self._chance = random.Random(name)
        self._connection = HTTPConnection("127.0.0.1", port, timeout=30)
        self.seen = Seen()

    def run(self, until: float) -> None:
        number = 0
        while time.monotonic() < until:
            number += 1
            self._step(number)
        self._connection.close()

    def _step(self, number: int) -> None:
        kept = self.seen.acknowledged
        choice = self._chance.random()
        if not kept or choice < 0.2:
            title = f"{self._name}-{number}"
            if self._send("POST", FILMS, film(title, project=f"p{self._name}"), expect=201):
                kept[title] = "draft"
            return
        title = self._chance.choice(list(kept))
        path = f"{FILMS}/p{self._name}/{title}"
        if choice < 0.4:
            move, to = ("shoot", "filmed") if kept[title] == "draft" else ("redo", "draft")
            if self._send("POST", f"{path}/moves/{move}", expect=200):
                kept[title] = to
        elif choice < 0.9:
            self._send("GET", path, expect=200)
        else:
            self._send("GET", f"{FILMS}?pattern=of_project&project_id=p{self._name}&limit=20", expect=200)

    def _send(self, method: str, path: str, body: Any = None, *, expect: int) -> bool:
        """Send until there is an answer: a POST under one key, so that it happens once."""
        headers = {"Idempotency-Key": f"{self._name}-{time.monotonic_ns()}"} if method == "POST" else {}
        while True:
            began = time.perf_counter()
            try:
                status, answer = ask(self._connection, method, path, body, headers)
            except (OSError, HTTPException):
                if not self._patient:
                    raise
                self.seen.reconnected += 1
                self._connection.close()
                time.sleep(0.2)
                continue
            if self._patient and status == 409 and answer["type"] == "in-progress":
                time.sleep(1)  # the process died over it; its turn ends by itself
                continue
            self.seen.latencies.append(time.perf_counter() - began)
            if status != expect:
                self.seen.errors.append(f"{method} {path}: {status} {answer}")
            return status == expect


def load(server: Server, *, kill: bool) -> tuple[list[Seen], list[float]]:
    """All clients at once; what they saw, and the process's memory as time went on."""
    until = time.monotonic() + SECONDS
    clients = [Client(server.port, number, patient=kill) for number in range(CONNECTIONS)]
    threads = [threading.Thread(target=client.run, args=(until,)) for client in clients]
    for thread in threads:
        thread.start()
    memory = []
    for part in range(6):
        time.sleep(SECONDS / 6)
        memory.append(server.resident())
        if kill and part == 2:
            server.kill()
            server.start()
    for thread in threads:
        thread.join()
    return [client.seen for client in clients], memory


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kill", [False, True], ids=["without a break", "killed half-way"])
def test_nothing_fails_and_nothing_acknowledged_is_lost(tmp_path: Path, kill: bool) -> None:
    with running(tmp_path) as server:
        seen, memory = load(server, kill=kill)
    errors = [error for one in seen for error in one.errors]
    latencies = sorted(latency for one in seen for latency in one.latencies)
    p50, p99 = statistics.median(latencies), latencies[int(len(latencies) * 0.99)]
    print(
        f"{len(latencies)} requests, {len(latencies) / SECONDS:.0f}/s; "
        f"p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms; "
        f"memory {', '.join(f'{m:.0f}' for m in memory)} MB; {sum(s.reconnected for s in seen)} connections broke"
    )
    assert not errors, errors[:5]
    store = open_store(f"sqlite:///{tmp_path}/load.db")
    for number, one in enumerate(seen):
        found = {f.title: f.status.value for f in store.find(Film.of_project(project_id=f"p{number}"))}
        lost = {title: state for title, state in one.acknowledged.items() if found.get(title) != state}
        assert not lost, f"acknowledged, but not there: {lost}"
    if not kill:
        assert memory[-1] < memory[1] * 1.3 + 20, f"memory grows: {memory}"
