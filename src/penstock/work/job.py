"""The records of jobs of several steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.move import Move, move
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, UtcMicros
from penstock.kernel.change import Change
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.object_key import ObjectKey
from penstock.schema.shape import Rights
from penstock.work.task import BY_PROJECT, BY_STATUS, NO_PROJECT, WORK


class JobStatus(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(Entity, table=WORK, relation="jobs"):
    """One passage through a pipeline."""

    __rights__ = Rights(remove=False)

    job_id: str
    pipeline: str
    project_id: str = NO_PROJECT
    input: dict[str, Any]
    status: JobStatus = JobStatus.RUNNING
    position: Count = 0
    "The step it is at, from 0."
    round: Count = 1
    "Grows whenever a step is run anew, so that each run has its own number."
    task_id: str | None = None
    "The task that runs the present step."
    error: str | None = None
    created_at: UtcMicros = Field(frozen=True)
    updated_at: UtcMicros

    @key("JOB#{job_id}", "JOB")
    def at(self, *, job_id: str) -> None: ...

    in_project = IndexKey(BY_PROJECT, "JOBS#{project_id}#{status}", "{updated_at}")
    in_status = IndexKey(BY_STATUS, "JOBS#{status}", "{updated_at}")

    @pattern(in_project)
    def of_project(self, *, project_id: str, status: JobStatus, updated_at: Range[datetime] = ANYTHING) -> None:
        """A project's jobs in a state, the one that has been in it longest first."""

    @pattern(in_status)
    def by_status(self, *, status: JobStatus, updated_at: Range[datetime] = ANYTHING) -> None:
        """All jobs in a state, for example those that wait for a person."""

    @move(JobStatus.RUNNING, JobStatus.PAUSED, to=JobStatus.RUNNING)
    def go_on(self, *, at: datetime) -> None:
        """The next step."""
        self.position, self.updated_at = self.position + 1, at

    @move(JobStatus.PAUSED, JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.DONE, to=JobStatus.RUNNING)
    def rewind(self, *, position: int, at: datetime) -> None:
        """An earlier step, or the same one, anew."""
        self.position, self.round, self.error, self.updated_at = position, self.round + 1, None, at

    @move(JobStatus.RUNNING, to=JobStatus.PAUSED)
    def pause(self, *, at: datetime) -> None:
        """A person must look at what the step made."""
        self.updated_at, self.task_id = at, None

    @move(JobStatus.RUNNING, JobStatus.PAUSED, to=JobStatus.DONE)
    def finish(self, *, at: datetime) -> None:
        """The last step is done."""
        self.updated_at, self.task_id = at, None

    @move(JobStatus.RUNNING, to=JobStatus.FAILED)
    def fail(self, *, error: str, at: datetime) -> None:
        """A step has failed for good."""
        self.updated_at, self.error = at, error

    @move(JobStatus.FAILED, to=JobStatus.RUNNING)
    def revive(self, *, at: datetime) -> None:
        """The step that failed is tried again."""
        self.updated_at, self.error = at, None

    @move(JobStatus.RUNNING, JobStatus.PAUSED, JobStatus.FAILED, to=JobStatus.CANCELLED)
    def cancel(self, *, at: datetime) -> None:
        """It is not wanted any more."""
        self.updated_at, self.task_id = at, None


class StepStatus(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    APPROVED = "approved"
    REJECTED = "rejected"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step made: keys of objects, and numbers worth keeping."""

    artifacts: Sequence[str] = ()
    metrics: dict[str, Any] = field(default_factory=dict)
    change: Callable[[Change], None] | None = None
    "What else becomes true in the commit that ends the step."


class StepRun(Entity, table=WORK, relation="steps"):
    """One run of one step, and what it made."""

    __rights__ = Rights(remove=False)

    job_id: str
    position: Count
    round: Count
    name: str
    project_id: str
    status: StepStatus = StepStatus.RUNNING
    artifacts: list[ObjectKey] = Field(default_factory=list)
    "Files that the sweep leaves alone for as long as this record stands."
    metrics: dict[str, Any] = Field(default_factory=dict)
    error: str | None = None
    decided_by: str | None = None
    decided_at: UtcMicros | None = None
    note: str | None = None
    created_at: UtcMicros = Field(frozen=True)

    @key("JOB#{job_id}", "STEP#{position:03d}#{round:06d}")
    def at(self, *, job_id: str, position: int, round: int) -> None: ...

    @pattern(at)
    def of_job(self, *, job_id: str, position: Range[int] = ANYTHING) -> None:
        """A job's steps in the order of the pipeline, each run after the one before."""

    @move(StepStatus.RUNNING, to=StepStatus.DONE)
    def finish(self, *, made: StepResult) -> None:
        """What it made is kept."""
        self.artifacts, self.metrics = list(made.artifacts), dict(made.metrics)

    @move(StepStatus.RUNNING, to=StepStatus.PAUSED)
    def pause(self, *, made: StepResult) -> None:
        """What it made is kept, and a person must look at it."""
        self.artifacts, self.metrics = list(made.artifacts), dict(made.metrics)

    @move(StepStatus.RUNNING, to=StepStatus.FAILED)
    def fail(self, *, error: str) -> None:
        """It has failed for good."""
        self.error = error

    @move(StepStatus.FAILED, to=StepStatus.RUNNING)
    def revive(self) -> None:
        """It is tried again."""
        self.error = None

    @move(StepStatus.PAUSED, to=StepStatus.APPROVED)
    def approve(self, *, by: str, at: datetime, note: str | None) -> None:
        """A person is content with what it made."""
        self.decided_by, self.decided_at, self.note = by, at, note

    @move(StepStatus.PAUSED, to=StepStatus.REJECTED)
    def reject(self, *, by: str, at: datetime, note: str | None) -> None:
        """A person is not content with what it made."""
        self.decided_by, self.decided_at, self.note = by, at, note

    cancel = Move(StepStatus.RUNNING, StepStatus.PAUSED, to=StepStatus.CANCELLED)
