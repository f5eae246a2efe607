"""The heartbeat: holds the leases of tasks that run, from a thread of its own, however long the tasks take."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.work.context import TaskContext
from penstock.work.runner import Runner

log = logging.getLogger("penstock.work")


class Heartbeat:
    """Renews a lease three times in its life, and ends an attempt that has had its time."""

    def __init__(self, runner: Runner, *, on_over: Callable[[TaskContext], None] = lambda work: None) -> None:
        self._runner, self._on_over = runner, on_over
        self._held: set[TaskContext] = set()
        "Each use of it is one step of the interpreter's, so that its threads need no lock."
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="penstock-heartbeat", daemon=True)
        self._thread.start()

    @contextmanager
    def holding(self, work: TaskContext) -> Iterator[None]:
        """Keep the lease meanwhile."""
        self.hold(work)
        try:
            yield
        finally:
            self.let_go(work)

    def hold(self, work: TaskContext) -> None:
        self._held.add(work)

    def let_go(self, work: TaskContext) -> None:
        self._held.discard(work)

    @property
    def held(self) -> list[TaskContext]:
        """Whose leases are kept."""
        return list(self._held)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(timeout=2.0)
        self._runner.presence.leave()

    def tell_end(self) -> None:
        """Let others know that no more is taken here."""
        self._runner.presence.tell(len(self.held), ending=True)

    def _keep(self) -> None:
        # Twice as often as a lease is renewed, so that it never waits for much longer than it should.
        pause = 0.0
        while not self._stop.wait(pause):
            pause = self._runner.lease.total_seconds() / 6
            try:
                for work in self._runner.renew(self.held):
                    self._on_over(work)
                self._runner.presence.tell(len(self.held))
            except Exception:
                log.exception("leases could not be renewed; trying again")
