"""A task as a broker tells of it: enough to start it in one request, without reading it first.

All of it stands for as long as the task waits after the same lease; whoever starts it does so on that condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, cast

from penstock.kernel.lease import Lease
from penstock.operations.conditions import Compare, Condition
from penstock.operations.updates import Set, Update
from penstock.work.task import Task, TaskStatus, after_lease


class ToldTask(NamedTuple):
    """What is told of a task that waits, in this order."""

    task_id: str
    epoch: int | None
    "Its last lease: a message that comes late or twice, when it was taken since, is about something that is over."
    name: str
    project_id: str
    attempts: int

    @classmethod
    def of(cls, task: Task) -> ToldTask:
        return cls(task.task_id, task.lease_epoch, task.name, task.project_id, task.attempts)

    def lease(self, owner: str, until: datetime) -> Lease:
        """The lease under which it is started."""
        return Lease(Task.at(task_id=self.task_id), owner, (self.epoch or 0) + 1, until)

    def waits(self) -> Condition:
        """That it is still as it was told."""
        return after_lease(self.epoch) & Compare("status", "=", TaskStatus.WAITING)

    def started(self, lease: Lease, *, at: datetime) -> tuple[Update, ...]:
        """What `Task.start` does, where the task was not read."""
        return (
            Set("status", TaskStatus.RUNNING),
            Set("lease_owner", lease.owner),
            Set("lease_epoch", lease.epoch),
            Set("attempts", self.attempts + 1),
            Set("due_at", lease.expires_at),
            Set("started_at", at),
        )

    def as_read(self) -> Task:
        """Of a record only what the keys of its indexes are made of."""
        return _indexed(self.name, self.project_id)


_UNTAKEN = {"lease_epoch": None, "attempts": 0}


def enqueued(told: Mapping[str, Any]) -> Task:
    """A task as it was enqueued, of the record only what is told of it then (`Task.__told__`)."""
    return cast(Task, Task.__shape__.build({**_UNTAKEN, **told}))


@lru_cache(maxsize=1000)
def _indexed(name: str, project_id: str) -> Task:
    return Task.model_construct(name=name, project_id=project_id)
