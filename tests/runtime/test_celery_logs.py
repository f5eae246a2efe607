"""Celery's processes log as all others do: one JSON object a line, if that is asked for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.servers import free_port

COMMANDS = {
    "our command": ("-m", "penstock", "worker", "--celery", "--threads", "1"),
    "Celery's own": ("-m", "celery", "-A", "penstock.runtime.celery_app", "worker", "--concurrency", "1"),
}


@pytest.fixture(params=COMMANDS)
def worker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Popen[str]]:
    """One whose broker is not there, of which Celery complains by its own loggers."""
    command: Sequence[str] = COMMANDS[request.param]
    ours = {"PENSTOCK_LOG_FORMAT": "json", "PENSTOCK_BROKER": f"redis://127.0.0.1:{free_port()}/0"}
    environment = {**os.environ, **ours, "PENSTOCK_DOMAINS": "speech"}
    if "celery" in command:
        environment["PYTHONWARNINGS"] = "ignore"  # of root, it warns before it asks how to log
    process = Popen([sys.executable, *command], cwd=tmp_path, env=environment, stdout=PIPE, stderr=PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


def test_every_line_is_an_object(worker: Popen[str]) -> None:
    assert worker.stderr is not None
    for line in worker.stderr:
        told = json.loads(line)
        assert {"at", "level", "logger", "message"} <= told.keys()
        if told["logger"].startswith("celery"):
            assert "Cannot connect" in told["message"]
            break
    else:
        pytest.fail("Celery has said nothing")
    worker.send_signal(signal.SIGTERM)
    try:
        _, rest = worker.communicate(timeout=40)
    except subprocess.TimeoutExpired:
        pytest.fail("it does not end")
    assert all(json.loads(line) for line in rest.splitlines() if line)
