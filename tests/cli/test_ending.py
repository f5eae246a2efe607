"""`penstock up` as somebody starts it, and every way to end it: in order, in time, with nothing left lying about."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import open_store
from penstock.auth.api_keys import list_keys
from penstock.domains.speech.tasks import TASKS
from penstock.work.runner import Runner
from penstock.work.task import Outcome, Task, TaskAttempt, TaskStatus
from tests.servers import free_port
from tests.work.soon import soon

LONG_ENOUGH = 120.0
GRACE = 10
TEXT = "It was the best of times, it was the worst of times. " * 370
"Spoken for far longer than anybody waits here."


class Up:
    """A service in a process of its own."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "penstock", "up", "--port", str(self.port)]
        unlimited = {f"PENSTOCK_SPEECH_{what}_PER_ADDRESS": "0" for what in ("JOBS", "SECONDS", "BYTES")}
        told = {"PENSTOCK_DOMAINS": "speech", "PENSTOCK_GRACE": str(GRACE), "PENSTOCK_WORKER_THREADS": "2"}
        told = {**os.environ, **told, **unlimited, **environment}
        with open(folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=told, stdout=log, stderr=log)

    def await_answer(self) -> None:
        soon(self.answers, seconds=LONG_ENOUGH)

    def answers(self) -> bool:
        assert self.process.poll() is None, self.log
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5):
                return True
        except OSError:
            time.sleep(0.1)
            return False

    def speak(self) -> None:
        body = json.dumps({"text": TEXT}).encode()
        request = urllib.request.Request(f"{self.url}/public/tts/jobs", body, {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=30).close()

    def end(self, *signals: signal.Signals) -> float:
        """Tell it to end; how long it took."""
        began = time.monotonic()
        for number in signals:
            self.process.send_signal(number)
            time.sleep(0.3)
        try:
            assert self.process.wait(GRACE + 30) == 0, self.log
        finally:
            self.process.kill()
        return time.monotonic() - began

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()[-3000:]


def with_store(folder: Path, look: Callable[[Any], Any]) -> Any:
    store = open_store(f"sqlite:///{folder}/.penstock/penstock.db")
    try:
        return look(store)
    finally:
        store.close()


def running(folder: Path) -> int:
    return int(with_store(folder, lambda s: len(list(s.find(Task.by_status(status=TaskStatus.RUNNING))))))


@pytest.mark.parametrize(
    ("signals", "grace"),
    [
        ((signal.SIGTERM,), GRACE),
        pytest.param((signal.SIGHUP, signal.SIGTERM), 30, marks=pytest.mark.long),
        pytest.param((signal.SIGINT, signal.SIGINT), 30, marks=pytest.mark.long),
    ],
)
def test_told_to_stop_under_load_it_hands_back_what_it_cannot_finish(
    tmp_path: Path, signals: tuple[signal.Signals, ...], grace: int
) -> None:
    up = Up(tmp_path, PENSTOCK_GRACE=str(grace))
    up.await_answer()
    for _ in range(4):
        up.speak()
    soon(lambda: running(tmp_path) == 2, seconds=LONG_ENOUGH)
    took = up.end(*signals)
    assert took < grace + 2, up.log
    assert f"waiting up to {int(grace - min(5, grace / 4))} s for 2 tasks; Ctrl-C again hands back" in up.log
    if len(signals) > 1:
        assert took < 20, "who asks twice does not wait for what may run 25 s"
    store = open_store(f"sqlite:///{tmp_path}/.penstock/penstock.db")
    assert not list(store.find(Task.by_status(status=TaskStatus.RUNNING)))
    waiting = list(store.find(Task.by_status(status=TaskStatus.WAITING)))
    assert len(waiting) == 4
    outcomes = [a.outcome for t in waiting for a in store.find(TaskAttempt.of_task(task_id=t.task_id))]
    assert outcomes == [Outcome.HANDED_BACK] * 2
    taken = Runner(store, [TASKS]).take(4)
    assert len(taken) == 4, "whoever looks next has them, without waiting for anything"
    store.close()


def test_killed_and_started_again_it_goes_on_at_once(tmp_path: Path) -> None:
    """Nobody waits for the lease of a process that is gone from this machine."""
    up = Up(tmp_path)
    up.await_answer()
    up.speak()
    soon(lambda: running(tmp_path) == 1, seconds=LONG_ENOUGH)
    up.process.kill()
    up.process.wait()
    again = Up(tmp_path)
    again.await_answer()

    def goes_on() -> bool:
        found = with_store(tmp_path, lambda s: list(s.find(Task.by_status(status=TaskStatus.RUNNING))))
        return any(f":{again.process.pid}:" in (task.lease_owner or "") for task in found)

    soon(goes_on, seconds=10.0)
    again.end(signal.SIGINT, signal.SIGINT)


def test_the_address_is_told_in_time_and_the_folder_the_key_and_the_metrics_are_for_its_owner_alone(
    tmp_path: Path,
) -> None:
    """Keys are needed also on this machine; the one of its own is printed only where no log keeps it."""
    (tmp_path / ".penstock").mkdir(0o755)
    (tmp_path / ".penstock" / "former").write_text("from a former version")
    up = Up(tmp_path)
    soon(lambda: "Penstock is at" in up.log, seconds=LONG_ENOUGH)
    assert up.answers(), "the address is told when somebody answers there"
    header = (tmp_path / ".penstock" / "key").read_text().strip()
    name, _, value = header.partition(": ")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{up.url}/metrics", timeout=30)
    with urllib.request.urlopen(
        urllib.request.Request(f"{up.url}/metrics", headers={name: value}), timeout=30
    ) as found:
        assert b"penstock_requests_total" in found.read()
    up.end(signal.SIGTERM)
    assert value.rsplit("_", 1)[1] not in (tmp_path / "log").read_text()
    loose = [p for p in (tmp_path / ".penstock").rglob("*") if stat.S_IMODE(p.stat().st_mode) & 0o077]
    assert loose == []
    assert stat.S_IMODE((tmp_path / ".penstock").stat().st_mode) == 0o700
    assert len(with_store(tmp_path, lambda s: list(list_keys(s)))) == 1


def test_keys_that_are_off_are_said_aloud(tmp_path: Path) -> None:
    up = Up(tmp_path, PENSTOCK_REQUIRE_KEYS="false")
    up.await_answer()
    with urllib.request.urlopen(f"{up.url}/api/ops/keys", timeout=30) as found:
        assert json.loads(found.read())["items"] == []
    up.end(signal.SIGTERM)
    assert "KEYS ARE OFF" in up.log


def test_told_to_stop_while_it_begins_it_ends_as_well(tmp_path: Path) -> None:
    up = Up(tmp_path)
    soon(lambda: (tmp_path / ".penstock" / "penstock.db").exists(), seconds=LONG_ENOUGH)
    assert up.end(signal.SIGTERM) < GRACE + 2, up.log
    assert "Traceback" not in up.log
