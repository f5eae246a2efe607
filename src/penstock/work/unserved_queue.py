"""Queues that nobody works on: something waits in them, and no worker is heard of that takes such tasks.

That is silence which looks like patience, so it is told wherever a system says how it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from penstock.declare.pattern import until
from penstock.kernel.store import Store
from penstock.work import queue_hints
from penstock.work.task import QueueHint, Task, TaskStatus
from penstock.work.worker_presence import WorkerPresence

_WORKERS, _QUEUES = 200, 200
"So many workers are asked, and queues looked at."
_PATIENCE = timedelta(minutes=1)
"A task that waits for less may meet a worker that has just begun."
_SOON = timedelta(minutes=2)
"What a broker was told of is due again by then; what is due later waits for its time and not for a worker."


@dataclass(frozen=True, slots=True)
class UnservedQueue:
    """Tasks of one name that a project has, and nobody takes."""

    project_id: str
    name: str
    waiting_since: datetime
    "When the first of them was enqueued."

    def __str__(self) -> str:
        since = f"{self.waiting_since:%Y-%m-%d %H:%M} UTC"
        return f"{self.name} of project {self.project_id} has waited since {since}, and no worker takes it"


def live_workers(store: Store) -> list[WorkerPresence]:
    """The processes that take tasks and were heard of within a minute; so many as are looked at."""
    now = store.clock.now()
    there = islice(store.find(WorkerPresence.all_there_are()), _WORKERS)
    return [each for each in there if not each.is_silent(now) and not each.ending]


def unserved_queues(store: Store) -> list[UnservedQueue]:
    """Every queue in which something has waited for a minute, and that no worker takes."""
    taken = {name for worker in live_workers(store) for name in worker.takes}
    hints = (hint for hint in queue_hints.active(store) if hint.name not in taken)
    return list(_waiting(store, islice(hints, _QUEUES)))


def _waiting(store: Store, hints: Iterator[QueueHint]) -> Iterator[UnservedQueue]:
    now = store.clock.now()
    for hint in hints:
        query = Task.of_project(
            project_id=hint.project_id, status=TaskStatus.WAITING, name=hint.name, due_at=until(now + _SOON)
        )
        first = store.first(query)
        if first is not None and now - first.created_at >= _PATIENCE:
            yield UnservedQueue(hint.project_id, hint.name, first.created_at)
