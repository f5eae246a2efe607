"""Processes that belong together end together: in order, and at once for whoever asks twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from penstock.workers.processes import Processes
from tests.forked import forked
from tests.work.soon import soon

GRACE = 50.0


def test_told_again_to_stop_each_part_is_told_again(tmp_path: Path) -> None:
    """A part that has work to finish waits for it when it is told once, and hands it back when it is told twice."""
    heard = tmp_path / "heard"

    def part() -> None:
        told = threading.Event()

        def hear(*_: object) -> None:
            if heard.exists():
                told.set()
            heard.touch()

        signal.signal(signal.SIGTERM, hear)
        (tmp_path / "begun").touch()
        assert told.wait(GRACE)

    def tell_twice(family: int) -> None:
        soon((tmp_path / "begun").exists)
        os.kill(family, signal.SIGTERM)
        soon(heard.exists)
        os.kill(family, signal.SIGTERM)

    def family() -> bool:
        threading.Thread(target=tell_twice, args=(os.getpid(),), daemon=True).start()
        began = time.monotonic()
        Processes({"part": part}).run(grace=GRACE)
        return time.monotonic() - began < GRACE / 2

    assert forked(family) == 0
