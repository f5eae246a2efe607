"""The log of an attempt while it lasts: its last lines, for whoever wants to see what a task is doing.

It is written with progress and with the heartbeat, if there is something new, so that a task which logs much costs no
more than one that logs a little. The lines are kept with the attempt when that has ended; this record goes soon after.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.lifetime import Expires
from penstock.declare.units import Count, EpochSeconds, UtcMicros
from penstock.schema.shape import Rights
from penstock.work.task import WORK

LINES = 50
"So many lines of an attempt are kept, the last ones."
KEPT = timedelta(days=1)


class AttemptLog(Entity, table=WORK, relation="attempt_logs", lifetimes=(Expires("ttl"),)):
    """The last lines that a running attempt has logged."""

    __rights__ = Rights(remove=False)
    __traced__ = False

    task_id: str
    epoch: Count
    "The attempt whose lines they are."
    project_id: str
    lines: list[str] = Field(default_factory=list)
    told_at: UtcMicros
    ttl: EpochSeconds

    @key("TASK#{task_id}", "LOG")
    def at(self, *, task_id: str) -> None: ...


def log_of(task_id: str, epoch: int, project_id: str, lines: list[str], *, now: datetime) -> AttemptLog:
    """The record of what a running attempt has logged up to now."""
    ttl = int((now + KEPT).timestamp())
    return AttemptLog(task_id=task_id, epoch=epoch, project_id=project_id, lines=lines, told_at=now, ttl=ttl)
