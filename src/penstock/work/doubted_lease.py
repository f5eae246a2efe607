"""Doubted leases: that one was found over is written down by those who may not end it for that.

Whoever has only come cannot tell a dead worker from a clock that was set, and where processes come and go more often
than a lease lasts nobody ever watches for a whole one. So each writes down that it has found the same lease over, and
the third one believes it: a worker that lives has renewed it in between, also after an outage in which it could not.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from penstock.errors import Conflict
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare
from penstock.operations.updates import Set
from penstock.schema.kinds import instant_text
from penstock.work.task import Task, TaskStatus, as_read

_TIMES = 2
"So many have to have found it over before."


def is_believed(task: Task, now: datetime, *, apart: timedelta) -> bool:
    """Have enough others found a task's lease over, each so long after the one before, and the last so long ago?"""
    doubts = _doubts(task)
    return doubts is not None and doubts["times"] >= _TIMES and _ago(doubts, now) >= apart


def note(store: Store, task: Task, now: datetime, *, apart: timedelta) -> None:
    """Write down that a task's lease was found over, unless that was done a short while ago."""
    doubts = _doubts(task)
    times = 0 if doubts is None else int(doubts["times"])
    if doubts is not None and timedelta(0) <= _ago(doubts, now) < apart:
        return
    if doubts is not None and _ago(doubts, now) < timedelta(0):
        times = 0  # by a clock that was ahead
    found = {"due_at": instant_text(task.due_at, 6), "times": times + 1, "at": instant_text(now, 6)}
    running = Compare("status", "=", TaskStatus.RUNNING) & Compare("due_at", "=", task.due_at)
    try:
        store.patch(task.ref, Set("doubts", found), when=running & as_read(task))
    except Conflict:
        return  # it has just ended, or was renewed


def _doubts(task: Task) -> dict[str, Any] | None:
    """What was written down of the lease that it has now."""
    doubts = task.doubts
    return doubts if doubts is not None and doubts["due_at"] == instant_text(task.due_at, 6) else None


def _ago(doubts: dict[str, Any], now: datetime) -> timedelta:
    return now - datetime.fromisoformat(doubts["at"])
