"""Processes that belong together: one that fails is started again, and all end with the one that started them."""

from __future__ import annotations

import logging
import os
import signal
import time
from pathlib import Path

import pytest

from penstock.workers import processes
from penstock.workers.processes import Processes
from tests.forked import forked


def test_one_that_fails_is_logged_and_started_again_and_all_end_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, failed = tmp_path / "log", tmp_path / "failed"
    monkeypatch.setattr(processes, "_RESPITE", 0.0)

    def fails_once() -> None:
        if not failed.exists():
            failed.touch()
            raise ValueError("out of paint")
        os.kill(os.getppid(), signal.SIGTERM)
        wait()

    def hears_nothing() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        wait()

    def run() -> None:
        handler = logging.FileHandler(log)
        logging.getLogger("penstock.workers").addHandler(handler)
        Processes({"painter": fails_once, "deaf": hears_nothing}).run(grace=0.2)

    assert forked(run) == 0, "also where one has ended before the other is told to hurry"
    told = log.read_text()
    assert "penstock-painter has failed" in told
    assert "ValueError: out of paint" in told
    assert "painter has ended with 1; starting it again" in told


def wait() -> None:
    while True:
        time.sleep(60)
