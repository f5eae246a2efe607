"""Processes that belong together: one that fails is started again, and all end together, at once if asked twice."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock.workers import processes
from penstock.workers.processes import Processes
from tests.forked import forked
from tests.work.nursery import lives
from tests.work.soon import soon

GRACE = 50.0


@pytest.mark.parametrize("thread", ["the one that waits", "another one"])
def test_told_again_to_stop_each_part_is_told_again(thread: str, tmp_path: Path) -> None:
    """A part that has work to finish waits for it when it is told once, and hands it back when it is told twice.

    The system interrupts any thread by a signal, and then nothing ends what the main thread waits for.
    """
    heard = tmp_path / "heard"
    deaf = set() if thread == "the one that waits" else {signal.SIGTERM}

    def part() -> None:
        told = list[int]()  # and no event: its lock may be held by whom a signal interrupts

        def hear(number: int, _: object) -> None:
            told.append(number)
            heard.touch()

        signal.signal(signal.SIGTERM, hear)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, deaf)
        (tmp_path / "begun").touch()
        soon(lambda: len(told) == 2, seconds=GRACE)

    def tell_twice(family: int) -> None:
        soon((tmp_path / "begun").exists)
        os.kill(family, signal.SIGTERM)
        soon(heard.exists)
        os.kill(family, signal.SIGTERM)

    def family() -> bool:
        threading.Thread(target=tell_twice, args=(os.getpid(),), daemon=True).start()
        signal.pthread_sigmask(signal.SIG_BLOCK, deaf)
        began = time.monotonic()
        Processes({"part": part}).run(grace=GRACE)
        return time.monotonic() - began < GRACE / 2

    assert forked(family) == 0


def test_a_part_that_is_told_to_stop_as_it_is_born_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hears as its parent does then, which is not told what the other was told."""
    begun, told = tmp_path / "begun", tmp_path / "told"
    monkeypatch.setattr(processes, "_RESPITE", 0.0)

    def end_all() -> None:
        os.kill(os.getppid(), signal.SIGTERM)

    def part() -> None:
        begun.touch()
        end_all()

    def be_born() -> None:
        if told.exists():  # and it was started again
            end_all()
        told.touch()
        os.kill(os.getpid(), signal.SIGTERM)

    def family() -> bool:
        monkeypatch.setattr(os, "setsid", be_born)  # which is the first that a part does
        Processes({"part": part}).run(grace=GRACE)
        return not begun.exists()

    assert forked(family) == 0


def test_a_part_that_ends_just_as_it_is_looked_for_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, asked = tmp_path / "begun", list[float]()

    def part() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (tmp_path / "pid").write_text(str(os.getpid()))
        (tmp_path / "pid").rename(begun)
        wait()

    def monotonic() -> float:
        asked.append(time.monotonic())
        if len(asked) == 2:  # it lived a moment ago, and how long to wait for it is asked
            pid = int(begun.read_text())
            os.kill(pid, signal.SIGKILL)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return time.monotonic()

    def tell() -> None:
        soon(begun.exists)
        os.kill(os.getpid(), signal.SIGTERM)

    def family() -> bool:
        monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=monotonic, sleep=time.sleep))
        threading.Thread(target=tell, daemon=True).start()
        Processes({"part": part}).run(grace=GRACE)
        return time.monotonic() - asked[0] < GRACE / 2

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
        Processes({"deaf": hears_nothing, "painter": fails_once}).run(grace=0.2)

    assert forked(run) == 0, "also where one has ended before the other is told to hurry"
    told = log.read_text()
    assert "penstock-painter has failed" in told
    assert "ValueError: out of paint" in told
    assert "painter has ended with 1; starting it again" in told


def wait() -> None:
    while True:
        time.sleep(60)
