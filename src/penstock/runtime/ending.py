"""How a service ends: in order, in time, and at once for whoever asks twice.

Ctrl-C, SIGTERM and a terminal that is closed mean the same. What runs may finish until shortly before the grace is
over; the rest is handed back to other workers. If something keeps the process from ending by then, it is ended.
A task that was handed back may still be in the middle of foreign code, which no thread of Python can end: see `leave`.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import NoReturn

from penstock.runtime.service import Service
from penstock.workers.inline import TASK_THREAD

log = logging.getLogger("penstock.service")

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_UNNOTICED = 1.0
"Seconds that nobody wonders about."
_LAST = 5.0
"Of the grace, the seconds that are kept for handing back and closing; of a short one, a quarter."


def leave(status: int) -> NoReturn:
    """End the process at once: what it had open is closed, and all that it wrote is told.

    Python takes itself apart otherwise. It is seconds at that in a large process, and where a task that was handed back
    is still in the middle of foreign code, some libraries wait for it and others abort.
    """
    logging.shutdown()
    with suppress(OSError, ValueError):  # closed, or nobody reads it any more
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def is_at_work() -> bool:
    """Does a task still run here, though nobody waits for it any more?"""
    return any(thread.name.startswith(TASK_THREAD) for thread in threading.enumerate())


class Ending:
    """The end of one service, which may come at any time."""

    def __init__(self, service: Service, *, grace: float, say: Callable[[str], None]) -> None:
        self._service, self._grace, self._say = service, grace, say
        last = min(_LAST, grace / 4)
        self._parting = timedelta(seconds=last / 2)
        self.for_work = timedelta(seconds=grace - last)
        "As long requests and tasks may go on."
        self._told = False
        self.begun = threading.Event()
        self._over = threading.Event()
        self._listeners: list[Callable[[], None]] = []
        self._others = set(threading.enumerate())

    def listen(self, listener: Callable[[], None]) -> None:
        """Have somebody told whenever the end begins, and again when it is hurried."""
        self._listeners.append(listener)

    def begin(self) -> None:
        """Begin to end; told again, hurry. It does not wait, so that a handler of a signal may call it."""
        again, self._told = self._told, True
        if not again:  # whoever waits for it may hold its lock just now, and would be interrupted by this for ever
            self.begun.set()
        self._service.begin_stop(grace=self.for_work, parting=self._parting)
        for listener in self._listeners:
            listener()
        if not again:
            threading.Thread(target=self._watch, name="penstock-ending", daemon=True).start()

    def complete(self) -> None:
        """Wait for whatever still runs, and close."""
        if not self.begun.is_set():
            self.begin()
        self._service.stop()
        # A thread that Python would wait for keeps the watch awake.
        if all(t.daemon for t in threading.enumerate() if t not in self._others):
            self._over.set()

    @contextmanager
    def by_signal(self) -> Iterator[None]:
        """Meanwhile, whatever tells the process to stop begins the end; what it was started to ignore it ignores."""
        heard = [s for s in _SIGNALS if signal.getsignal(s) is not signal.SIG_IGN]
        before = {s: signal.signal(s, lambda *_: self.begin()) for s in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _watch(self) -> None:
        end = time.monotonic() + self._grace
        seconds = int(self.for_work.total_seconds())
        if busy := self._service.busy:
            running = "a task" if busy == 1 else f"{busy} tasks"
            self._say(f"Stopping: waiting up to {seconds} s for {running}; Ctrl-C again hands back and stops now.")
        elif not self._over.wait(_UNNOTICED):
            self._say(f"Stopping: waiting up to {seconds} s for requests; Ctrl-C again stops now.")
        if not self._over.wait(end - time.monotonic()):
            log.error("something would not end within %d s, so the process is ended", self._grace)
            os._exit(1)
