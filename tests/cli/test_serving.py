"""`penstock serve`: several processes on one port, one of which may die; and a store that comes later than they."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from penstock.testing.faults.switch import Switch
from tests.servers import Postgres, free_port
from tests.work.nursery import children, lives
from tests.work.soon import soon

LONG_ENOUGH = 120.0


@contextmanager
def serving(
    folder: Path, *words: str, at: int | None = None, **environment: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A command that serves, and where; whoever kills it waits for its end."""
    port = at or free_port()
    told = {**os.environ, "PENSTOCK_DOMAINS": "speech", "PENSTOCK_GRACE": "10", **environment}
    command = [sys.executable, "-m", "penstock", *words, "--port", str(port)]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=told, stdout=log, stderr=log)
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        if process.returncode != -signal.SIGKILL:
            process.send_signal(signal.SIGTERM)
            assert process.wait(40) == 0, (folder / "log").read_text()[-3000:]


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        time.sleep(0.1)
        return False


def answering(folder: Path, url: str) -> int:
    """Which process answers, this time."""
    return int(json.loads(_asked(folder, f"{url}/api/ops/health"))["process"])


def counted(folder: Path, url: str) -> int:
    """How often that was asked, as whoever answers tells."""
    lines = _asked(folder, f"{url}/metrics").decode().splitlines()
    told = [line for line in lines if line.startswith("penstock_requests_total{") and "/api/ops/health" in line]
    return sum(int(float(line.rpartition(" ")[2])) for line in told)


def charted(folder: Path, url: str) -> int:
    """How often anything was asked in the last hour, as whoever answers has it for a chart."""
    points = json.loads(_asked(folder, f"{url}/api/ops/metrics/series"))["points"]
    return sum(point["requests"] for point in points)


def _asked(folder: Path, url: str) -> bytes:
    """The answer to somebody who comes anew."""
    key = (folder / ".penstock/key").read_text().partition(": ")[2].strip()
    request = urllib.request.Request(url, headers={"Authorization": key, "Connection": "close"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as refused:
        log = (folder / "log").read_text()[-3000:]
        raise AssertionError(f"{url}: {refused.code} {refused.read()!r}\n{log}") from None


def test_two_processes_answer_and_one_that_dies_is_started_again(tmp_path: Path) -> None:
    with serving(tmp_path, "serve", "--processes", "2") as (process, url):
        soon(lambda: is_ready(url), seconds=LONG_ENOUGH)
        found, asked = set[int](), list[int]()

        def both() -> bool:
            asked.append(answering(tmp_path, url))
            found.add(asked[-1])
            return len(found) == 2

        soon(both, seconds=LONG_ENOUGH)
        soon(lambda: counted(tmp_path, url) == len(asked))  # what is answered is counted a moment later
        for _ in range(5):
            assert counted(tmp_path, url) == len(asked), "whoever answers tells what all of them were asked"
        for more in range(4, 10):  # all but the last of each, which may just be over
            assert charted(tmp_path, url) >= len(asked) + more, "and has it for a chart"
        family = children(process.pid)
        assert len(family) == 3, "two who answer, and one for the rest"
        assert found < set(family)
        killed = min(found)
        os.kill(killed, signal.SIGKILL)
        assert answering(tmp_path, url) in found - {killed}, "the other goes on"
        soon(lambda: len(set(children(process.pid)) - set(family)) == 1)
        family = children(process.pid)
        soon(lambda: answering(tmp_path, url) not in found, seconds=LONG_ENOUGH)
        assert counted(tmp_path, url) > len(asked) + 1, "what the one who died was asked is counted as well"
        assert charted(tmp_path, url) > len(asked) + 12
    assert not any(lives(each) for each in family)


def test_a_database_that_is_not_there_yet_is_waited_for(tmp_path: Path, postgres_server: Postgres) -> None:
    database = urlsplit(postgres_server.create_database("late"))
    with Switch(database.port or 0) as switch:
        switch.off()
        store = database._replace(netloc=f"postgres@127.0.0.1:{switch.port}").geturl()
        with serving(tmp_path, "up", PENSTOCK_STORE=store) as (process, at):
            soon(lambda: "is waited for" in (tmp_path / "log").read_text(), seconds=LONG_ENOUGH)
            assert process.poll() is None
            switch.on()
            soon(lambda: is_ready(at), seconds=LONG_ENOUGH)


def test_one_that_never_comes_is_told_in_a_sentence(tmp_path: Path) -> None:
    told = {"PENSTOCK_STORE": f"postgresql://127.0.0.1:{free_port()}/x", "PENSTOCK_START_WAIT": "0"}
    told["PENSTOCK_DOMAINS"] = "speech"
    command = [sys.executable, "-m", "penstock", "up", "--port", str(free_port())]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **told}, capture_output=True, text=True, timeout=LONG_ENOUGH
    )
    assert done.returncode == 2
    assert "cannot reach PostgreSQL" in done.stderr
    assert "Traceback" not in done.stderr
