"""Processes that belong together: one that dies is started again, and all end with the one that started them."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess

log = logging.getLogger("penstock.workers")

_FORK = multiprocessing.get_context("fork")
_RESPITE = 1.0
"Seconds before one that has died is started again."
_LAST = 6.0
_WATCH = 1.0
"Seconds after which a process notices that its parent is gone."
_TOLD_BY = (signal.SIGTERM, signal.SIGINT)
"How a process is told to stop."


class Processes:
    """Runs each part in a process of its own, forked before any thread is started."""

    def __init__(self, parts: Mapping[str, Callable[[], object]]) -> None:
        self._parts = dict(parts)
        self._running: dict[str, ForkProcess] = {}
        self._stopping = False
        self._grace = 0.0

    def run(self, *, grace: float) -> None:
        """Run until SIGTERM or Ctrl-C; then each part has this time to end in order. Told again, they are told, too."""
        self._grace = grace
        told = self._listen()
        for part in self._parts:
            self._start(part)
        while not self._stopping:
            wait([told, *(p.sentinel for p in self._running.values())])
            for part, process in list(self._running.items()):
                if not process.is_alive() and not self._stopping:
                    log.error("%s has ended with %s; starting it again", part, process.exitcode)
                    time.sleep(_RESPITE)
                    self._start(part)
        os.read(told, 1)
        self._end(told)

    def _listen(self) -> int:
        """Hear of what tells it to stop: each time a byte comes out of this pipe.

        Python's handler of a signal waits for the main thread, which may have begun to wait just then, or not be the
        one that was interrupted; what the system calls writes at once.
        """
        told, tell = os.pipe()
        os.set_blocking(tell, False)
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        for name in _TOLD_BY:
            signal.signal(name, self._stop)
        return told

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _start(self, part: str) -> None:
        # Until it hears for itself, a new process would hear as this one does: what it is told meanwhile has to wait.
        heard = signal.pthread_sigmask(signal.SIG_BLOCK, _TOLD_BY)
        told = (self._parts[part], os.getpid(), self._grace, heard)
        process = _FORK.Process(target=_in_child, args=told, name=f"penstock-{part}")
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        self._running[part] = process

    def _end(self, told: int) -> None:
        for with_signal, seconds in _insistence(self._grace):
            self._tell(with_signal)
            end = time.monotonic() + seconds
            # Asked once: whoever ended between two questions would be waited for, and nobody would tell of it.
            while (alive := self._alive) and (left := end - time.monotonic()) > 0:
                if told in wait([told, *(process.sentinel for process in alive)], left):
                    os.read(told, 1)
                    self._tell(signal.SIGTERM)

    @property
    def _alive(self) -> list[ForkProcess]:
        return [process for process in self._running.values() if process.is_alive()]

    def _tell(self, with_signal: signal.Signals) -> None:
        for process in self._alive:
            os.kill(process.pid, with_signal)  # type: ignore[arg-type]


def _insistence(grace: float) -> tuple[tuple[signal.Signals, float], ...]:
    """How a process is told to end, ever more clearly, and the seconds that it has each time."""
    last = min(_LAST, grace / 2)  # in which a part hands back what it has not finished
    return (signal.SIGTERM, grace - last), (signal.SIGQUIT, last), (signal.SIGKILL, 1.0)


def _in_child(part: Callable[[], object], parent: int, grace: float, heard: Collection[int]) -> None:
    # What is typed at the terminal is for the parent, which tells the others in order.
    os.setsid()
    signal.set_wakeup_fd(-1)
    for name in _TOLD_BY:
        signal.signal(name, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, heard)
    end_with_parent(parent, grace=grace)
    try:
        part()
    except Exception:
        log.exception("%s has failed", multiprocessing.current_process().name)  # or it would be printed, and not logged
        raise SystemExit(1) from None


def end_with_parent(parent: int, *, grace: float | None = None) -> None:
    """Have this process end, in order, when its parent is gone; after the grace, however it clings to its work."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        for with_signal, seconds in ((signal.SIGTERM, 0.0),) if grace is None else _insistence(grace):
            os.kill(os.getpid(), with_signal)
            time.sleep(seconds)

    threading.Thread(target=watch, name="penstock-parent", daemon=True).start()
