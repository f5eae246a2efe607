"""A process that starts workers as quickly as they are killed: it has imported everything, and only forks.

``python -m tests.work.nursery SETTINGS`` reads roles from its input, one a line, and prints the process of each.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Self

from penstock import Store, SystemClock, open_objects, open_store
from penstock.events.schedule import Schedule
from penstock.work import WORKING
from penstock.work.domain_context import DomainContext
from penstock.workers.celery import CeleryWorkers
from penstock.workers.inline import InlineWorkers
from tests.work.plant import TASKS

LEASE = timedelta(seconds=1.5)


class Nursery:
    """Starts workers on one store, and on one broker if there is one."""

    def __init__(
        self, store: str, *, broker: str | None = None, objects: str | None = None, log: Path, lease: timedelta = LEASE
    ) -> None:
        self._log = log.open("ab")
        settings = {"store": store, "broker": broker, "objects": objects, "lease": lease.total_seconds()}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.work.nursery", json.dumps(settings)],
            cwd=Path(__file__).parents[2],
            env={"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", **os.environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._started: list[int] = []

    def start(self, role: str) -> int:
        """A new process of this role."""
        print(role, file=self._input, flush=True)
        pid = int(self._output.readline())
        self._started.append(pid)
        return pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self._started:
            kill(pid, group=True)
        self._process.communicate()  # whose input ends, and it with that
        self._log.close()

    @property
    def _input(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _output(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout


def kill(pid: int, *, group: bool = False) -> None:
    """End a process, or it and all it has started, without a word."""
    with suppress(ProcessLookupError):
        (os.killpg if group else os.kill)(pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    try:
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def lives(pid: int) -> bool:
    """Has a process not ended yet?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def main(settings: dict[str, Any]) -> None:
    signal.signal(signal.SIGCHLD, _bury)
    while line := sys.stdin.readline():
        pid = os.fork()
        if not pid:
            _be(line.strip(), settings)
        print(pid, flush=True)


def _bury(*_: object) -> None:
    """Take note of those that have ended, so that none remains as a zombie."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _be(role: str, settings: dict[str, Any]) -> None:
    os.setsid()
    os.dup2(2, 1)  # what it says is for the log
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        # All of them have the clock of one machine; and none lives long enough to see how long another is silent.
        store = open_store(settings["store"], clock=SystemClock(skew=timedelta(0)))
        lease = timedelta(seconds=settings["lease"])
        if role == "inline":
            workers = InlineWorkers(store, [TASKS], threads=4, lease=lease, context=_context(store, settings))
            _until_told(workers.start, workers.stop)
        else:
            _by_celery(role, store, settings, lease)
    finally:
        os._exit(0)


def _context(store: Store, settings: dict[str, Any]) -> DomainContext | None:
    place = settings["objects"]
    return None if place is None else DomainContext(store, open_objects(place), lambda name: None)


def _by_celery(role: str, store: Store, settings: dict[str, Any], lease: timedelta) -> None:
    minutely = Schedule("plant.minutely", "* * * * *", lambda period: None)
    celery = CeleryWorkers(
        store,
        [TASKS],
        settings["broker"],
        context=_context(store, settings),
        schedules=[minutely] if role != "all" else [],
        processes=2,
        lease=lease,
        redelivery=2 * lease,
        depth=20,
    )
    store.ensure(WORKING)  # as the command does, so that connections are open when it forks
    parts = {"worker": celery.run_worker, "dispatcher": celery.run_dispatcher, "beat": celery.run_beat}
    parts.get(role, lambda: celery.run(grace=timedelta(seconds=0.5)))()


def _until_told(start: Callable[[], None], stop: Callable[[], None]) -> None:
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    start()
    told.wait()
    stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
