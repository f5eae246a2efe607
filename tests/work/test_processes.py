"""Processes that belong together end together: in order, and at once for whoever asks twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from penstock.workers.processes import Processes
from tests.forked import forked
from tests.work.nursery import lives
from tests.work.soon import soon

GRACE = 50.0


def test_told_again_to_stop_each_part_is_told_again(tmp_path: Path) -> None:
    """A part that has work to finish waits for it when it is told once, and hands it back when it is told twice."""
    heard = tmp_path / "heard"

    def part() -> None:
        told = list[int]()  # and no event: its lock may be held by whom a signal interrupts

        def hear(number: int, _: object) -> None:
            told.append(number)
            heard.touch()

        signal.signal(signal.SIGTERM, hear)
        (tmp_path / "begun").touch()
        soon(lambda: len(told) == 2, seconds=GRACE)

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


def test_no_part_outlives_by_more_than_the_grace_the_one_that_started_it(tmp_path: Path) -> None:
    """Nobody is left who would end a part that clings to its work, so it is ended by itself."""
    begun = tmp_path / "begun"

    def part() -> None:
        for name in (signal.SIGTERM, signal.SIGQUIT):
            signal.signal(name, signal.SIG_IGN)
        (tmp_path / "pid").write_text(str(os.getpid()))
        (tmp_path / "pid").rename(begun)
        threading.Event().wait(GRACE)

    def die() -> None:
        soon(begun.exists)
        os.kill(os.getpid(), signal.SIGKILL)

    def family() -> None:
        threading.Thread(target=die, daemon=True).start()
        Processes({"part": part}).run(grace=0.2)

    assert forked(family) == -signal.SIGKILL
    soon(lambda: not lives(int(begun.read_text())), seconds=GRACE / 2)
