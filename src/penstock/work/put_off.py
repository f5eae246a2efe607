"""Tasks that are put off because a part of the system is away: how long they wait, and how they go on at once after it.

An outage costs a task time, and never an attempt. While it lasts the task is looked at ever less often, and not even
tried where this process knows of the outage; when the part is back, all that wait for it are due at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from threading import Event

from penstock.declare.pattern import between
from penstock.errors import PenstockError
from penstock.kernel.batch import BatchRefused
from penstock.kernel.outages import LOOK, Outages
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare
from penstock.work.errors import TimeOver
from penstock.work.fair_queue import Chosen
from penstock.work.task import Task, TaskStatus, as_read

_SOONEST, _LATEST = timedelta(seconds=1), timedelta(minutes=1)
"A task that waits for a part is looked at again after half the time that it has waited, within these."
_PATIENCE = timedelta(days=3)
"If the part answers whenever it is asked, and yet fails for one task for so long, then it is the task."
_AT_ONCE = 100


class PutOffTasks:
    """What one who runs tasks knows of those that wait for a part of the system."""

    def __init__(self, store: Store, outages: Outages, *, asks: bool) -> None:
        """With ``asks`` a part that is away is asked here; else somebody else does."""
        self._store, self._outages, self._asks = store, outages, asks
        self._heard_of: set[str] = set()
        self._back: set[str] = set()
        "Parts that are back, while those who wait for them do not know yet."

    def reason(self, task: Task, error: BaseException) -> str | None:
        """The part of the system that an attempt failed for, if that is what it failed for."""
        part = self._outages.met(error)
        if part is None:
            # Whoever waits for an answer that does not come has had its time taken.
            return min(self._outages.away, default=None) if isinstance(error, TimeOver) else None
        if part not in self._heard_of:
            self._heard_of.add(part)
            self._outages.lookout(part).on_return(lambda: self._back.add(part))
        since = task.waits_since if task.waits_for == part else None
        in_vain = since is not None and self._store.clock.now() - since > _PATIENCE
        return None if in_vain and part not in self._outages.away else part

    def catch_up(self) -> None:
        """Have those go on that wait for what is back."""
        if self._asks:
            self._outages.ask()
        for part in list(self._back):  # which another thread may be at as well, and does no harm
            let_go_on(self._store, part)
            self._back.discard(part)

    def keep_asking(self, stop: Event) -> None:
        """Have those go on as soon as a part is back, also while nobody takes any task here."""
        while not stop.wait(LOOK):
            try:
                self.catch_up()
            except PenstockError as error:
                self._outages.met(error)

    def without_waiting(self, chosen: list[Chosen]) -> list[Chosen]:
        """Those that need not wait for a part that is away; the others are looked at later, and not tried till then."""
        away = self._outages.away
        held = [one.task for one in chosen if one.task.waits_for in away] if away else []
        if not held:
            return chosen
        now = self._store.clock.now()
        postpone(self._store, held, now + min(pause_of(task, task.waits_for or "", now) for task in held))
        return [one for one in chosen if one.task.waits_for not in away]


def pause_of(task: Task, part: str, now: datetime) -> timedelta:
    """How long a task waits for a part before it is looked at again."""
    waited = now - task.waits_since if task.waits_since is not None and task.waits_for == part else timedelta(0)
    return min(max(waited / 2, _SOONEST), _LATEST)


def let_go_on(store: Store, part: str) -> int:
    """Have all tasks looked at now that wait for a part, as it is back; how many. None is put off by more than that."""
    now = store.clock.now()
    soon = Task.by_status(status=TaskStatus.WAITING, due_at=between(now, now + _LATEST))
    waiting = [task for task in store.find(soon) if task.waits_for == part]
    for first in range(0, len(waiting), _AT_ONCE):
        postpone(store, waiting[first : first + _AT_ONCE], now)
    return len(waiting)


def postpone(store: Store, tasks: Iterable[Task], until: datetime, *, unless_postponed: bool = False) -> None:
    """Look at tasks that wait, and that nobody has taken meanwhile, not before a moment."""
    try:
        with store.batch() as batch:
            for task in tasks:
                with batch.change() as change:
                    untaken = as_read(task)
                    if unless_postponed:
                        untaken &= Compare("due_at", "=", task.due_at)
                    # Of two who postpone it the later one is right, unless it is said otherwise.
                    change.overwrite(change.track(task).postpone(until=until), when=untaken)
    except BatchRefused:
        pass
