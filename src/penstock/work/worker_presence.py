"""Who works: each process that runs tasks says now and then that it is there, and which tasks it takes.

Nothing depends on it but what people are told, and how soon one that has died on this machine is found: whether a
task's worker lives, is decided by the task's lease, or by proof that its process is gone (`worker_name`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds, UtcMicros
from penstock.errors import PenstockError
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.shape import Rights
from penstock.work.task import BY_STATUS, WORK, Outcome

log = logging.getLogger("penstock.work")

EVERY = timedelta(seconds=20)
SILENT = 3 * EVERY
"One who has said nothing for so long is probably gone."
_FORGOTTEN = timedelta(hours=1)
_MOST_NAMES = 500
_MOST_COUNTED, OTHERS = 100, "others"
"Of so many tasks the attempts are counted by name."


class WorkerPresence(Entity, table=WORK, relation="workers", lifetimes=(Expires("ttl"),)):
    """A process that runs tasks, or did so until a short while ago."""

    __rights__ = Rights(remove=False)
    __traced__ = False

    worker: str
    takes: list[str]
    "The names of the tasks that it takes."
    since: UtcMicros
    seen_at: UtcMicros
    busy: Count = 0
    "How many tasks it had when it was seen."
    ending: bool = False
    "It takes nothing more: it finishes what it has, or hands it back."
    ended: dict[str, Any] = Field(default_factory=dict)
    "How many attempts it has ended, and in how many seconds, by task and outcome; since it began."
    ttl: EpochSeconds

    @key("WORKER#{worker}", "WORKER")
    def at(self, *, worker: str) -> None: ...

    in_line = IndexKey(BY_STATUS, "WORKERS", "{worker}")

    @pattern(in_line)
    def all_there_are(self, *, worker: Range[str] = ANYTHING) -> None:
        """Every process that runs tasks, by its name, which begins with that of its machine."""

    def is_silent(self, now: datetime) -> bool:
        """Has it said nothing for so long that it is probably gone?"""
        return now - self.seen_at > SILENT


class Presence:
    """Tells others that a worker is there. What fails in it keeps nobody from working."""

    def __init__(self, store: Store, worker: str, takes: Iterable[str]) -> None:
        self._store, self._worker = store, worker
        self._takes, self._since = sorted(takes)[:_MOST_NAMES], store.clock.now()
        self._told: float | None = None
        self._telling, self._ending = Lock(), False
        self._lock = Lock()
        self._ended: dict[str, dict[str, list[float]]] = {}

    def count(self, name: str, outcome: Outcome, *, seconds: float) -> None:
        """An attempt has ended here; others are told with the next sign of life."""
        with self._lock:
            known = name if name in self._ended or len(self._ended) < _MOST_COUNTED else OTHERS
            counted = self._ended.setdefault(known, {}).setdefault(outcome.value, [0, 0.0])
            counted[0] += 1
            counted[1] = round(counted[1] + seconds, 3)

    def tell(self, busy: int, *, ending: bool = False) -> None:
        """Say so, if it is time, or if this is the end, which every later sign of life says too."""
        with self._telling:  # or one that was begun before the end would be told behind it
            self._ending = self._ending or ending
            passed = self._store.clock.monotonic()
            if self._told is not None and passed - self._told < EVERY.total_seconds() and not ending:
                return
            self._told, now = passed, self._store.clock.now()
            there = WorkerPresence(
                worker=self._worker,
                takes=self._takes,
                since=self._since,
                seen_at=now,
                busy=busy,
                ending=self._ending,
                ended=self._counts(),
                ttl=int((now + _FORGOTTEN).timestamp()),
            )
            self._quietly(lambda: self._store.put(there))

    def _counts(self) -> dict[str, Any]:
        with self._lock:
            return {name: {outcome: list(c) for outcome, c in by.items()} for name, by in self._ended.items()}

    def leave(self) -> None:
        """It is there no longer."""
        self._quietly(lambda: self._store.delete(WorkerPresence.at(worker=self._worker)))

    def _quietly(self, write: Callable[[], object]) -> None:
        try:
            write()
        except PenstockError as error:
            if outages_of(self._store).met(error) is None:
                log.debug("nobody could be told that %s is there", self._worker, exc_info=True)
