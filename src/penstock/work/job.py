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
from penstock.declare.move import move
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, UtcMicros
from penstock.kernel.change import Change
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.object_key import ObjectKey
from penstock.schema.shape import Rights
from penstock.work.task import BY_PROJECT, BY_RECORD, BY_STATUS, NO_PROJECT, WORK


class JobStatus(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class PipelineJob(Entity, table=WORK, relation="jobs", known_as="Job"):
    """One passage through a pipeline: where it is. Beside a domain's own job it keeps what that has no field for."""

    __rights__ = Rights(remove=False)

    job_id: str
    pipeline: str
    project_id: str = NO_PROJECT
    input: dict[str, Any]
    status: JobStatus = JobStatus.RUNNING
    position: Count = 0
    "The step it is at, from 0, among those it goes through."
    round: Count = 1
    "Grows whenever a step is run anew, so that each run has its own number."
    task_id: str | None = None
    "The task that runs the present step."
    error: str | None = None
    created_at: UtcMicros = Field(frozen=True)
    updated_at: UtcMicros
    steps: list[str] | None = None
    "The steps it goes through, by name; None of a job older than this field: all that its pipeline has."
    code: str | None = None
    "Why it failed or was cancelled, in a word that programs may compare."
    record: dict[str, str] | None = None
    "The key of the domain's own job."
    step: dict[str, str] | None = None
    "The key of the domain's own record of the present run."
    made: dict[str, dict[str, str]] | None = None
    "Of each step the key of the domain's own record whose result counts."
    holds_files: bool | None = None
    "Is it known to be kept beyond its time, as its steps hold files that are nobody else's?"
    forgotten_at: UtcMicros | None = None
    "When its records began to be removed: it cannot be taken up again."

    @key("JOB#{job_id}", "JOB")
    def at(self, *, job_id: str) -> None: ...

    in_project = IndexKey(BY_PROJECT, "JOBS#{project_id}#{status}", "{updated_at}")
    in_status = IndexKey(BY_STATUS, "JOBS#{status}", "{updated_at}")
    in_pipeline = IndexKey(BY_RECORD, "JOBS_OF#{pipeline}", "{updated_at}")

    @pattern(in_project)
    def of_project(self, *, project_id: str, status: JobStatus, updated_at: Range[datetime] = ANYTHING) -> None:
        """A project's jobs in a state, the one that has been in it longest first."""

    @pattern(in_status)
    def by_status(self, *, status: JobStatus, updated_at: Range[datetime] = ANYTHING) -> None:
        """All jobs in a state, for example those that wait for a person."""

    @pattern(in_pipeline)
    def of_pipeline(self, *, pipeline: str, updated_at: Range[datetime] = ANYTHING) -> None:
        """All jobs of a pipeline, the one that has not changed for longest first."""

    @move(JobStatus.RUNNING, JobStatus.PAUSED, to=JobStatus.RUNNING)
    def go_on(self, *, at: datetime) -> None:
        """The next step."""
        self.position, self.updated_at = self.position + 1, at

    @move(JobStatus.PAUSED, JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.DONE, to=JobStatus.RUNNING)
    def rewind(self, *, position: int, at: datetime) -> None:
        """An earlier step, or the same one, anew."""
        self.position, self.round, self.error, self.code, self.updated_at = position, self.round + 1, None, None, at

    @move(JobStatus.RUNNING, to=JobStatus.PAUSED)
    def pause(self, *, at: datetime) -> None:
        """A person must look at what the step made."""
        self.updated_at, self.task_id = at, None

    @move(JobStatus.RUNNING, JobStatus.PAUSED, to=JobStatus.DONE)
    def finish(self, *, at: datetime) -> None:
        """The last step is done."""
        self.updated_at, self.task_id = at, None

    @move(JobStatus.RUNNING, to=JobStatus.FAILED)
    def fail(self, *, error: str, at: datetime, code: str | None = None) -> None:
        """A step has failed for good."""
        self.updated_at, self.error, self.code = at, error, code

    @move(JobStatus.FAILED, to=JobStatus.RUNNING)
    def revive(self, *, at: datetime) -> None:
        """The step that failed is tried again."""
        self.updated_at, self.error, self.code = at, None, None

    @move(JobStatus.RUNNING, JobStatus.PAUSED, JobStatus.FAILED, to=JobStatus.CANCELLED)
    def cancel(self, *, at: datetime, code: str | None = None) -> None:
        """It is not wanted any more."""
        self.updated_at, self.task_id, self.code = at, None, code


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
    then: Sequence[str] | None = None
    "The steps that follow, instead of those chosen before; none at all ends the job."
    outcome: str | None = None
    "What the job has come to, in the domain's words, should it end with this step."
    quarantined: bool = False
    "Should the job end with this step, it is put aside for a person; of a job that has a move `quarantine`."


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
    code: str | None = None
    "Why it failed or was cancelled, in a word that programs may compare."
    input: dict[str, Any] | None = None
    "What it was given, where a person has changed that for this run."

    @key("JOB#{job_id}", "STEP#{position:03d}#{round:06d}")
    def at(self, *, job_id: str, position: int, round: int) -> None: ...

    in_time = IndexKey(BY_RECORD, "STEPS_OF#{job_id}", "{created_at}")

    @pattern(at)
    def of_job(self, *, job_id: str, position: Range[int] = ANYTHING) -> None:
        """A job's steps in the order of the pipeline, each run after the one before."""

    @pattern(in_time)
    def as_begun(self, *, job_id: str, created_at: Range[datetime] = ANYTHING) -> None:
        """A job's steps in the order in which they were begun."""

    @move(StepStatus.RUNNING, to=StepStatus.DONE)
    def finish(self, *, made: StepResult) -> None:
        """What it made is kept."""
        self.artifacts, self.metrics = list(made.artifacts), dict(made.metrics)

    @move(StepStatus.RUNNING, to=StepStatus.PAUSED)
    def pause(self, *, made: StepResult) -> None:
        """What it made is kept, and a person must look at it."""
        self.artifacts, self.metrics = list(made.artifacts), dict(made.metrics)

    @move(StepStatus.RUNNING, to=StepStatus.FAILED)
    def fail(self, *, error: str, code: str | None = None) -> None:
        """It has failed for good."""
        self.error, self.code = error, code

    @move(StepStatus.FAILED, to=StepStatus.RUNNING)
    def revive(self) -> None:
        """It is tried again."""
        self.error = self.code = None

    @move(StepStatus.PAUSED, to=StepStatus.APPROVED)
    def approve(self, *, by: str, at: datetime, note: str | None) -> None:
        """A person is content with what it made."""
        self.decided_by, self.decided_at, self.note = by, at, note

    @move(StepStatus.PAUSED, to=StepStatus.REJECTED)
    def reject(self, *, by: str, at: datetime, note: str | None) -> None:
        """A person is not content with what it made."""
        self.decided_by, self.decided_at, self.note = by, at, note

    @move(StepStatus.RUNNING, StepStatus.PAUSED, to=StepStatus.CANCELLED)
    def cancel(self, *, code: str | None = None) -> None:
        """It is not wanted any more."""
        self.code = code


class ChildStatus(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class ChildRun(Entity, table=WORK, relation="children"):
    """One of several parts of a step that are done at the same time, and what it made."""

    __rights__ = Rights(remove=False)
    __traced__ = False

    job_id: str
    position: Count
    round: Count
    number: Count
    "Among the children of its step, from 0."
    project_id: str
    status: ChildStatus = ChildStatus.RUNNING
    input: dict[str, Any]
    artifacts: list[ObjectKey] = Field(default_factory=list)
    metrics: dict[str, Any] = Field(default_factory=dict)
    code: str | None = None
    error: str | None = None
    created_at: UtcMicros = Field(frozen=True)
    ended_at: UtcMicros | None = None

    @key("JOB#{job_id}", "CHILD#{position:03d}#{round:06d}#{number:05d}")
    def at(self, *, job_id: str, position: int, round: int, number: int) -> None: ...

    @pattern(at)
    def of_step(self, *, job_id: str, position: int, round: int) -> None:
        """The children of one run of a step, in order."""

    @pattern(at)
    def of_job(self, *, job_id: str, position: Range[int] = ANYTHING) -> None:
        """The children of all steps of a job."""

    @move(ChildStatus.RUNNING, to=ChildStatus.DONE)
    def finish(self, *, made: StepResult, at: datetime) -> None:
        """What it made is kept."""
        self.artifacts, self.metrics, self.ended_at = list(made.artifacts), dict(made.metrics), at

    @move(ChildStatus.RUNNING, to=ChildStatus.FAILED)
    def fail(self, *, code: str, error: str, at: datetime) -> None:
        """It has failed for good."""
        self.code, self.error, self.ended_at = code, error, at

    @move(ChildStatus.FAILED, to=ChildStatus.RUNNING)
    def revive(self) -> None:
        """It is tried again."""
        self.code = self.error = self.ended_at = None


class ChildCount(Entity, table=WORK, relation="child_counts"):
    """How many children a run of a step has, and how many have ended: whoever ends the last one has them joined."""

    __rights__ = Rights(remove=False)
    __traced__ = False

    job_id: str
    position: Count
    round: Count
    project_id: str
    total: Count | None = None
    "None while there may come more."
    ended: Count = 0
    joined: bool = False
    failed: Count = 0
    "Those whose failure has failed the job, the plan among them, and that nobody has had tried again."

    @key("JOB#{job_id}", "CHILDREN#{position:03d}#{round:06d}")
    def at(self, *, job_id: str, position: int, round: int) -> None: ...

    @pattern(at)
    def of_job(self, *, job_id: str, position: Range[int] = ANYTHING) -> None:
        """The counts of all steps of a job."""
