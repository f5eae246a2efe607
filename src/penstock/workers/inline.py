"""Workers as threads of this process: they wake at once when work is enqueued, and finish or hand back on the way out.

One thread takes work, others run it, the heartbeat keeps the leases, and one rescues what was lost anywhere. A failure
of the database stops none of them: they try again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from datetime import timedelta

from penstock.kernel.store import Store
from penstock.work.context import TaskContext
from penstock.work.domain_context import DomainContext
from penstock.work.heartbeat import Heartbeat
from penstock.work.registry import Tasks
from penstock.work.rescue import keep_rescuing
from penstock.work.runner import LEFT, Runner

log = logging.getLogger("penstock.workers")

TASK_THREAD = "penstock-run"
"How the names of threads begin in which tasks run."
_IDLE = 1.0
"Seconds after which idle workers look for work that became due without being enqueued."
_AFTER_ERROR = 1.0
_SHORT, _AHEAD = 0.1, 4
"Of tasks shorter than this, so many are taken ahead for each thread: taking several at once is cheaper."
_GLANCE = 0.2
"Seconds after which one who waits for running tasks sees that there is no more time."
_STUCK = 1.0
"Seconds after which tasks that were taken ahead are handed back, if nothing was begun meanwhile."


class InlineWorkers:
    """So many tasks at once, in this process."""

    def __init__(
        self,
        store: Store,
        tasks: Iterable[Tasks],
        *,
        threads: int = 4,
        lease: timedelta = timedelta(seconds=60),
        owner: str | None = None,
        context: DomainContext | None = None,
    ) -> None:
        self._store, self._tasks, self._threads = store, list(tasks), threads
        self._stop, self._hurry = threading.Event(), threading.Event()
        self.runner = Runner(
            store, self._tasks, owner=owner, lease=lease, context=context, sit_out=self._sit_out, asks=False
        )
        # Guards what follows. Who runs tasks waits for work, who takes them waits for room.
        self._lock = threading.Lock()
        self._work_came, self._room_came = threading.Condition(self._lock), threading.Condition(self._lock)
        self._ready: deque[TaskContext] = deque()
        "Taken, but not yet running."
        self._running: set[TaskContext] = set()
        self._seconds = 60.0
        "What a task has taken lately, on average."
        self._begun_at = 0.0
        self._pool: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to work."""
        store = self._store
        self._waiter = store.engine.listen()
        self._heartbeat = Heartbeat(self.runner, on_over=self._replace)
        self._thread("penstock-take", self._take)
        self._thread("penstock-ask", lambda: self.runner.outages.keep_asking(self._stop))
        self._thread("penstock-rescue", lambda: keep_rescuing(store, self._tasks, self._stop, lease=self.runner.lease))
        for number in range(self._threads):
            self._thread(f"{TASK_THREAD}-{number}", self._run)

    def stop(self, *, grace: timedelta = timedelta(seconds=30), parting: timedelta = timedelta(seconds=2)) -> None:
        """Take nothing more; finish what is running within the grace, and hand back the rest.

        Threads are waited for as long as ``parting`` says. One that is in the middle of foreign code ends later.
        """
        self._stop.set()
        self._waiter.close()
        end = time.monotonic() + grace.total_seconds()
        if self.busy:
            self._heartbeat.tell_end()
        with self._lock:
            self._work_came.notify_all()
            self._room_came.notify_all()
            unbegun = list(self._ready)
            self._ready.clear()
        self._hand_back(unbegun)
        with self._lock:
            while self._running and not self._hurry.is_set() and time.monotonic() < end:
                self._room_came.wait(_GLANCE)
            unfinished = list(self._running)
        for work in unfinished:
            log.warning("%s is handed back unfinished", work.task.name)
        self._hand_back(unfinished)
        self._heartbeat.stop()
        end = time.monotonic() + parting.total_seconds()
        for thread in self._pool:
            thread.join(timeout=max(0.0, end - time.monotonic()))

    def hurry(self) -> None:
        """Wait no longer, on the way out; safe in a handler of a signal, which may come while the lock is held."""
        self._hurry.set()

    @property
    def busy(self) -> int:
        """How many tasks are taken."""
        with self._lock:
            return len(self._running) + len(self._ready)

    # Taking

    def _take(self) -> None:
        while not self._stop.is_set():
            try:
                if not (room := self._await_room()):
                    continue
                if works := self.runner.take(room):
                    self._waiter.busy()
                    self._hand_out(works)
                else:
                    self._waiter.wait(_IDLE)
            except Exception as error:
                # A database that restarts must not end the workers.
                if not self.runner.outages.sit_out(error, self._stop):
                    log.exception("work could not be taken; trying again")
                    self._stop.wait(_AFTER_ERROR)

    def _sit_out(self, error: BaseException) -> bool:
        """Wait for a part of the system that is away, with what is done already at hand."""
        return self.runner.outages.sit_out(error, self._stop) and not self._stop.is_set()

    def _await_room(self) -> int:
        """How many tasks to take, once a thread is free or soon will be; 0 when it is time to give some back."""
        with self._lock:
            while not self._stop.is_set():
                if room := self._room():
                    return room
                self._room_came.wait(_STUCK)
                if self._ready and time.monotonic() - self._begun_at > _STUCK:
                    break
            stuck = list(self._ready)
            self._ready.clear()
            self._seconds = max(self._seconds, _STUCK)
        self._hand_back(stuck)
        return 0

    def _room(self) -> int:
        ahead = self._threads * _AHEAD if self._seconds < _SHORT else 0
        free = self._threads + ahead - len(self._running) - len(self._ready)
        # Not before half of what is taken ahead is used up, so that the next ones are again several.
        return free if free > ahead // 2 else 0

    def _hand_out(self, works: list[TaskContext]) -> None:
        for work in works:
            self._heartbeat.hold(work)
        with self._lock:
            if not self._stop.is_set():
                self._ready.extend(works)
                self._work_came.notify(len(works))
                return
        self._hand_back(works)

    def _hand_back(self, works: Iterable[TaskContext]) -> None:
        for work in works:
            self._heartbeat.let_go(work)
            self.runner.hand_back(work)

    # Running

    def _run(self) -> None:
        while (work := self._next()) is not None:
            began = time.monotonic()
            try:
                self.runner.run(work)
            except LEFT:
                log.exception("what became of %s could not be written down; its lease will end", work.task.name)
            self._heartbeat.let_go(work)
            with self._lock:
                self._seconds += (time.monotonic() - began - self._seconds) / 8
                if work not in self._running:
                    return  # it was given up, and another thread is in the place of this one
                self._running.remove(work)
                self._room_came.notify_all()

    def _next(self) -> TaskContext | None:
        with self._lock:
            while not self._stop.is_set():
                if self._ready:
                    work = self._ready.popleft()
                    self._running.add(work)
                    self._begun_at = time.monotonic()
                    return work
                self._work_came.wait()
        return None

    def _replace(self, work: TaskContext) -> None:
        """A task that has had its time cannot be ended, but another thread can take the place of its one."""
        with self._lock:
            if work not in self._running:
                return
            self._running.remove(work)
            self._room_came.notify_all()
        self._heartbeat.let_go(work)
        log.error("%s has taken longer than %s and still runs; its thread is given up", work.task.name, work.limit)
        self._thread(f"{TASK_THREAD}-instead", self._run)

    def _thread(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        self._pool.append(thread)
        thread.start()
