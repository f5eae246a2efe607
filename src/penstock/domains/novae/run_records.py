"""Runs: each execution of a workflow, what it tried, where it is found, and which request it answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from penstock.declare import (
    ANYTHING,
    SYSTEM,
    Count,
    Entity,
    EpochSeconds,
    Expires,
    Milliseconds,
    Range,
    UtcMicros,
    key,
    move,
    pattern,
)
from penstock.domains.novae.nova_table import NOVA_CAT
from penstock.domains.novae.states import ErrorClass, RunStatus


def _end(run: WorkflowRun, *, outcome: str, at: datetime, error: str | None = None) -> None:
    run.outcome, run.finished_at, run.error_message = outcome, at, error


class WorkflowRun(Entity):
    """One execution of a workflow."""

    started_at: UtcMicros
    job_run_id: UUID
    workflow_name: str
    correlation_id: str | None = None
    status: RunStatus = RunStatus.RUNNING
    outcome: str | None = None
    finished_at: UtcMicros | None = None
    ttl: EpochSeconds | None = None
    idempotency_key: str | None = None
    asked_for: dict[str, Any] | None = None
    "What it was given."
    parent_run_id: UUID | None = None
    "The run that has launched it."
    continues: UUID | None = None
    "The run that a person has decided about, which goes on as this one."
    error_message: str | None = None
    error_fingerprint: str | None = None
    "The same for the same error of the same task, whichever run met it."
    results: dict[str, Any] | None = None
    "What came of it, in numbers and ids."

    succeed = move(RunStatus.RUNNING, to=RunStatus.SUCCEEDED, by=SYSTEM)(_end)
    quarantine = move(RunStatus.RUNNING, to=RunStatus.QUARANTINED, by=SYSTEM)(_end)
    fail = move(RunStatus.RUNNING, to=RunStatus.FAILED, by=SYSTEM)(_end)


class JobRun(WorkflowRun, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """One execution of a workflow for a nova."""

    nova_id: UUID

    @key("NOVA#{nova_id}", "JOBRUN#{started_at}#{job_run_id}")
    def at(self, *, nova_id: UUID, started_at: datetime, job_run_id: UUID) -> None: ...

    @pattern(at)
    def of_nova(self, *, nova_id: UUID, started_at: Range[datetime] = ANYTHING) -> None:
        """The runs for a nova, in the order they began."""


class NameRun(WorkflowRun, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """One execution of a workflow for a name of which it is not known yet whose it is."""

    normalized_name: str
    nova_id: UUID | None = None
    "Whose name it proved to be."

    @key("NAME#{normalized_name}", "JOBRUN#{started_at}#{job_run_id}")
    def at(self, *, normalized_name: str, started_at: datetime, job_run_id: UUID) -> None: ...

    @pattern(at)
    def of_name(self, *, normalized_name: str, started_at: Range[datetime] = ANYTHING) -> None:
        """The runs for a name, in the order they began."""


class JobRunPlace(Entity, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """Where a run is, for those who know only its id; until its nova has one, all that is known of it."""

    job_run_id: UUID
    workflow_name: str
    started_at: UtcMicros
    candidate_name: str | None = None
    nova_id: UUID | None = None
    ttl: EpochSeconds | None = None

    @key("JOBRUN#{job_run_id}", "META")
    def at(self, *, job_run_id: UUID) -> None: ...


class RunLock(Entity, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """The run that answers a request. Whoever begins another counts its turn up, so of many at once one does."""

    request: str
    "The idempotency key without its time: of two requests at 14:59 and 15:00 the second finds the first."
    turn: Count
    workflow_name: str
    job_run_id: UUID
    started_at: UtcMicros
    ttl: EpochSeconds | None = None

    @key("IDEMPOTENCY#{request}", "LOCK")
    def at(self, *, request: str) -> None: ...


class Tried(Entity):
    """One invocation of one task of a run."""

    job_run_id: UUID
    task: str
    attempt: Annotated[int, Field(ge=1, le=999)]
    ts: UtcMicros
    dataset_id: UUID | None = None
    succeeded: bool
    error_class: ErrorClass | None = None
    error_message: str | None = None
    duration_ms: Milliseconds | None = None
    ttl: EpochSeconds | None = None
    correlation_id: str | None = None
    error_fingerprint: str | None = None


class Attempt(Tried, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """One invocation of one task of a run."""

    nova_id: UUID

    @key("NOVA#{nova_id}", "ATTEMPT#{job_run_id}#{task}#{attempt:03d}#{ts}")
    def at(self, *, nova_id: UUID, job_run_id: UUID, task: str, attempt: int, ts: datetime) -> None: ...

    @pattern(at)
    def of_run(self, *, nova_id: UUID, job_run_id: UUID, task: str | None = None) -> None:
        """What a run tried, task by task."""


class NameAttempt(Tried, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """One invocation of one task of a run for a name."""

    normalized_name: str

    @key("NAME#{normalized_name}", "ATTEMPT#{job_run_id}#{task}#{attempt:03d}#{ts}")
    def at(self, *, normalized_name: str, job_run_id: UUID, task: str, attempt: int, ts: datetime) -> None: ...

    @pattern(at)
    def of_run(self, *, normalized_name: str, job_run_id: UUID, task: str | None = None) -> None:
        """What a run tried, task by task."""
