"""The records of work: a task, its attempts, its progress, and the hints which queues have some.

A task is to workers what a message is to sinks: it commits with the data it is about, waits in an index, and is taken
by one worker at a time under a lease. ``due_at`` says when somebody must look at it next: while it waits, when it may
run; while a broker has it, when it counts as lost there; while it runs, when its lease ends. Once it is over, it says
since when.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.move import move
from penstock.declare.pattern import pattern
from penstock.declare.table import Table
from penstock.declare.units import Count, EpochSeconds, UtcMicros, UtcSeconds
from penstock.errors import told
from penstock.kernel.lease import Leased
from penstock.operations.conditions import Compare, Condition, Missing
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.documents import kept
from penstock.schema.shape import RECORD_BYTES, Rights

WORK = Table("penstock_work", partition="PK", sort="SK", expiry="ttl")
BY_PROJECT = WORK.index("GSI1", partition="GSI1PK", sort="GSI1SK")
BY_STATUS = WORK.index("GSI2", partition="GSI2PK", sort="GSI2SK")
BY_RECORD = WORK.index("GSI3", partition="GSI3PK", sort="GSI3SK")
PROGRESS = Table("penstock_progress", partition="PK", sort="SK", expiry="ttl", feed=True)

NO_PROJECT = "-"
"The project of work that belongs to none."
LONGEST_ERROR = 2000
"Characters of an error's text that are kept."
LARGEST_INPUT = RECORD_BYTES - 16 * 1024
"Bytes of a task's input. What workers write beside it, of which an error's text is the most, needs the rest."
LEASE = timedelta(seconds=60)
"How long a worker has a task without being heard of, where a deployment says nothing else."
KEPT = timedelta(days=30)
"So long attempts are remembered, and tasks that are done or cancelled. Dead letters stay until somebody settles them."


class TaskStatus(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    QUARANTINED = "quarantined"
    CANCELLED = "cancelled"


class Task(Leased, table=WORK, relation="tasks", lifetimes=(Expires("ttl"),)):
    """Something to be done."""

    __rights__ = Rights(remove=False)
    __wakes__ = True
    __told__ = ("task_id", "name", "project_id", "due_at")
    __traced__ = False

    task_id: str
    name: str
    project_id: str = NO_PROJECT
    input: dict[str, Any]
    status: TaskStatus = TaskStatus.WAITING
    due_at: UtcMicros
    attempts: Count = 0
    "Since it was enqueued, or tried again by a person; those that were handed back do not count."
    most_attempts: Count
    "So many may end badly; after the last it is a dead letter."
    started_at: UtcMicros | None = None
    "When the last attempt was begun."
    result: dict[str, Any] | None = None
    error_class: str | None = None
    error: str | None = None
    waits_for: str | None = None
    "The part of the system that was away when it was last tried; such attempts do not count."
    waits_since: UtcMicros | None = None
    doubts: dict[str, Any] | None = None
    "Which lease was found over by those who could not be sure of it, how often, and when last (`doubted_lease`)."
    created_at: UtcMicros = Field(frozen=True)
    about: str | None = None
    "The name (`record_name`) of the record it is done for."
    trace: str | None = None
    "The span in which it was enqueued, as W3C's traceparent, where spans are told."
    ttl: EpochSeconds | None = None

    @key("TASK#{task_id}", "TASK")
    def at(self, *, task_id: str) -> None: ...

    in_project = IndexKey(BY_PROJECT, "TASKS#{project_id}#{status}", "{name}#{due_at}")
    in_status = IndexKey(BY_STATUS, "TASKS#{status}", "{due_at}")
    for_record = IndexKey(BY_RECORD, "TASKS_FOR#{about}", "{created_at}")

    @pattern(in_project)
    def of_project(
        self,
        *,
        project_id: str,
        status: TaskStatus,
        name: str | None = None,
        due_at: Range[datetime] = ANYTHING,
    ) -> None:
        """A project's tasks in a state, by their names, and of one name the one that is due first, first."""

    @pattern(in_status)
    def by_status(self, *, status: TaskStatus, due_at: Range[datetime] = ANYTHING) -> None:
        """All tasks in a state, the one that is due first, first."""

    @pattern(for_record)
    def of_record(self, *, about: str, created_at: Range[datetime] = ANYTHING) -> None:
        """The tasks that were enqueued for a record, in order."""

    @move(TaskStatus.WAITING, to=TaskStatus.RUNNING)
    def start(self, *, owner: str, until: datetime, at: datetime) -> None:
        """A worker has it."""
        self.lease_owner, self.lease_epoch = owner, (self.lease_epoch or 0) + 1
        self.attempts += 1
        self.due_at, self.started_at = until, at

    @move(TaskStatus.RUNNING, to=TaskStatus.DONE)
    def finish(self, *, result: dict[str, Any] | None, at: datetime) -> None:
        """It is done."""
        self.lease_owner, self.due_at = None, at
        if result is not None:
            self.result = result
        if self.error_class is not None:
            self.error_class = self.error = self.waits_for = self.waits_since = None
        self.ttl = forgotten_at(at)

    @move(TaskStatus.RUNNING, to=TaskStatus.WAITING)
    def put_off(self, *, part: str, at: datetime, due_at: datetime, error_class: str, error: str) -> None:
        """A part of the system was away; that is no fault of the task's."""
        if self.waits_for != part:
            self.waits_for, self.waits_since = part, at
        self.lease_owner, self.due_at, self.error_class, self.error = None, due_at, error_class, error
        self.attempts -= 1

    @move(TaskStatus.RUNNING, to=TaskStatus.WAITING)
    def retry(self, *, due_at: datetime, error_class: str, error: str) -> None:
        """An attempt ended badly; there will be another."""
        self.waits_for = self.waits_since = None
        self.lease_owner, self.due_at, self.error_class, self.error = None, due_at, error_class, error

    @move(TaskStatus.RUNNING, to=TaskStatus.WAITING)
    def hand_back(self, *, at: datetime) -> None:
        """The worker stops before it is done; that is no fault of the task's."""
        self.lease_owner, self.due_at = None, at
        self.attempts -= 1

    @move(TaskStatus.RUNNING, to=TaskStatus.FAILED)
    def fail(self, *, at: datetime, error_class: str, error: str) -> None:
        """It is a dead letter now."""
        self.lease_owner, self.due_at, self.error_class, self.error = None, at, error_class, error

    @move(TaskStatus.RUNNING, to=TaskStatus.QUARANTINED)
    def quarantine(self, *, at: datetime, error_class: str, error: str) -> None:
        """It waits for a person."""
        self.lease_owner, self.due_at, self.error_class, self.error = None, at, error_class, error

    @move(TaskStatus.FAILED, TaskStatus.QUARANTINED, to=TaskStatus.WAITING)
    def revive(self, *, at: datetime) -> None:
        """Try again, from the beginning."""
        self.due_at, self.attempts = at, 0

    @move(TaskStatus.WAITING, TaskStatus.RUNNING, TaskStatus.QUARANTINED, TaskStatus.FAILED, to=TaskStatus.CANCELLED)
    def cancel(self, *, at: datetime) -> None:
        """It is not wanted any more; a worker that has it will change nothing."""
        self.lease_owner, self.due_at, self.ttl = None, at, forgotten_at(at)

    @move(TaskStatus.WAITING, to=TaskStatus.WAITING)
    def postpone(self, *, until: datetime) -> None:
        """A broker has it, and will have lost it if no worker takes it by then; or it cannot be run just now."""
        self.due_at = until


class Outcome(StrEnum):
    """How an attempt ended."""

    DONE = "done"
    RETRYABLE = "retryable"
    TERMINAL = "terminal"
    QUARANTINE = "quarantine"
    HANDED_BACK = "handed_back"
    CANCELLED = "cancelled"
    LOST = "lost"
    "The worker died, or outlived its lease."


class TaskAttempt(Entity, table=WORK, relation="attempts", known_as="Attempt", lifetimes=(Expires("ttl"),)):
    """One try of one worker, written down with its end; while it lasts, the task tells who has it and since when."""

    __rights__ = Rights(remove=False)
    __traced__ = False

    task_id: str
    epoch: Count
    "The lease under which it was made: unlike the task's number of attempts, it only grows."
    name: str
    project_id: str
    worker: str
    outcome: Outcome
    started_at: UtcMicros
    ended_at: UtcMicros
    error_class: str | None = None
    error: str | None = None
    metrics: dict[str, Any] = Field(default_factory=dict)
    log_tail: list[str] = Field(default_factory=list)
    about: str | None = None
    "The name (`record_name`) of the record that the task was done for."
    ttl: EpochSeconds

    @key("TASK#{task_id}", "ATTEMPT#{epoch:06d}")
    def at(self, *, task_id: str, epoch: int) -> None: ...

    for_record = IndexKey(BY_RECORD, "ATTEMPTS_FOR#{about}", "{started_at}")

    @pattern(at)
    def of_task(self, *, task_id: str, epoch: Range[int] = ANYTHING) -> None:
        """A task's attempts, in order."""

    @pattern(for_record)
    def of_record(self, *, about: str, started_at: Range[datetime] = ANYTHING) -> None:
        """The attempts at all tasks that were enqueued for a record, in the order they began."""


class QueueHintStatus(StrEnum):
    ACTIVE = "active"
    IDLE = "idle"


class QueueHint(Entity, table=WORK, relation="lanes", lifetimes=(Expires("ttl"),)):
    """A project that has tasks of a name, or had some a short while ago. One that rests is forgotten in the end."""

    __rights__ = Rights(remove=False)
    __traced__ = False

    project_id: str
    name: str
    status: QueueHintStatus = QueueHintStatus.ACTIVE
    touched_at: UtcSeconds
    ttl: EpochSeconds | None = None

    @key("LANE#{project_id}", "{name}")
    def at(self, *, project_id: str, name: str) -> None: ...

    active = IndexKey(BY_STATUS, "LANES#{status}", "{project_id}#{name}", when={"status": QueueHintStatus.ACTIVE})

    @pattern(active)
    def by_status(self, *, status: QueueHintStatus) -> None:
        """The queues worth looking at."""

    @move(QueueHintStatus.ACTIVE, to=QueueHintStatus.IDLE)
    def rest(self, *, at: datetime) -> None:
        """Nothing has been in its queue for long; the next task makes it anew."""
        self.ttl = forgotten_at(at)


class Progress(Entity, table=PROGRESS, relation="progress", lifetimes=(Expires("ttl"),)):
    """How far a task has come, for whoever watches the feed."""

    __rights__ = Rights(remove=False)
    __traced__ = False

    task_id: str
    project_id: str
    epoch: Count = 0
    "The attempt that tells; an earlier one is not heard any more."
    fraction: float
    note: str | None = None
    about: str | None = None
    "The name (`record_name`) of the record that the task is done for."
    told_at: UtcMicros
    ttl: EpochSeconds

    @key("TASK#{task_id}", "PROGRESS")
    def at(self, *, task_id: str) -> None: ...


def attempt_at(
    task: Task, outcome: Outcome, *, at: datetime, error: BaseException | None = None, **more: Any
) -> TaskAttempt:
    """The record of a running task's attempt, at its end."""
    known = {
        "task_id": task.task_id,
        "epoch": task.lease_epoch,
        "name": task.name,
        "project_id": task.project_id,
        "worker": task.lease_owner,
        "outcome": outcome,
        "started_at": task.started_at,
        "ended_at": at,
        "about": task.about,
        "ttl": forgotten_at(at),
    }
    if error is not None:
        known |= {"error_class": type(error).__name__, "error": error_text(error)}
    return TaskAttempt(**{**known, **more})


def as_read(task: Task) -> Condition:
    """That nobody has taken a task since it was read."""
    return after_lease(task.lease_epoch)


def after_lease(epoch: int | None) -> Condition:
    """That nobody has taken a task since a certain lease."""
    return Missing("lease_epoch") if epoch is None else Compare("lease_epoch", "=", epoch)


def error_text(error: BaseException) -> str:
    """What is kept of an error's text, for all who may read the task."""
    return kept(told(error), LONGEST_ERROR)


def forgotten_at(moment: datetime) -> int:
    return int((moment + KEPT).timestamp())


def actor(task: Task) -> str:
    """Who did it, in the audit trail."""
    return f"task:{task.name}"


def audited_project(task: Task) -> str | None:
    """In whose trail it is."""
    return None if task.project_id == NO_PROJECT else task.project_id
