"""A worker's name tells others on its machine whether its process has died; never of one that lives."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from penstock.ports.worker_name import is_proven_dead, worker_name

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is ever proven")
WAITS = "import sys; from penstock.ports.worker_name import worker_name; print(worker_name(), flush=True); input()"


@contextmanager
def a_process(code: str = WAITS) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """One that has told its name, and waits."""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_one_who_lives_or_is_stopped_is_not_dead_and_one_who_was_killed_is() -> None:
    with a_process() as (process, name):
        assert f":{process.pid}:" in name
        assert not is_proven_dead(name)
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        assert not is_proven_dead(name), "it may be woken"
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert is_proven_dead(name), "also before its parent has heard of it"
        process.wait()
        assert is_proven_dead(name)


def test_a_process_whose_first_thread_has_ended_lives() -> None:
    """What the system calls dead is only the thread by whose number it goes."""
    code = (
        "import ctypes, threading, time; from penstock.ports.worker_name import worker_name\n"
        "name = worker_name()\n"
        "threading.Thread(target=lambda: (time.sleep(0.1), print(name, flush=True), input())).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    with a_process(code) as (process, name):
        with open(f"/proc/{process.pid}/stat") as told:
            assert ") Z " in told.read()
        assert not is_proven_dead(name)
        process.kill()
        process.wait()
        assert is_proven_dead(name)


def test_a_number_that_another_process_has_by_now_proves_it() -> None:
    mine = worker_name()
    assert not is_proven_dead(mine)
    started = re.search(r":(\d+)-", mine)
    assert started is not None
    assert is_proven_dead(mine.replace(f":{started[1]}-", f":{int(started[1]) - 1}-"))


def test_of_what_is_elsewhere_nothing_is_proven() -> None:
    """Another machine, another boot or another container has other processes of the same numbers."""
    with a_process() as (process, name):
        process.kill()
        process.wait()
        assert is_proven_dead(name)
        head, _, mark = name.rpartition("-")
        elsewhere = mark[:11] + ("1" if mark[11] == "0" else "0") + mark[12:]
        assert not is_proven_dead(f"{head}-{elsewhere}")
        assert not is_proven_dead(f"{head}-{'0' * 12}{mark[12:]}"), "where nothing could be told"
    for name in ("", "dead", "manual", f"box:{process.pid}:ab12cd34", "box:-1:1-" + "a" * 16):
        assert not is_proven_dead(name)


def test_no_two_names_are_the_same() -> None:
    assert len({worker_name() for _ in range(20)}) == 20
