"""Jobs, tasks and attempts as the service shows them: to viewers how they stand, to editors what logs say."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from penstock.auth.caller import Caller
from penstock.kernel.history import HistoryEntry, HistoryKind
from penstock.kernel.store import Store
from penstock.operations.reads import Ref
from penstock.runtime.job_titles import job_titles
from penstock.runtime.operated_system import OperatedSystem
from penstock.runtime.record_link import RecordLink, link_to
from penstock.web.operating.operator_route import sees_all
from penstock.work.attempt_log import AttemptLog
from penstock.work.job import JobStatus, PipelineJob, StepRun
from penstock.work.task import NO_PROJECT, Outcome, Progress, Task, TaskAttempt, TaskStatus
from penstock.work.waiting_reason import last_heard_of, step_of

COST = "cost"
"The metric that says what an attempt has cost, as workspaces note it."


class JobStanding(BaseModel):
    """A job of several steps, and where it is."""

    job_id: str
    title: str | None = None
    "What it is for, where the domain's own record of it says so."
    pipeline: str
    project: str | None
    status: JobStatus
    step: str
    steps: list[str]
    position: int
    round: int
    created_at: datetime
    updated_at: datetime
    record: RecordLink | None
    "The domain's own record of it."
    code: str | None
    error: str | None
    "For editors."
    task_id: str | None


class ProgressView(BaseModel):
    fraction: float
    note: str | None
    told_at: datetime


class TaskView(BaseModel):
    """A task, how it stands, and who has it."""

    task_id: str
    name: str
    project: str | None
    status: TaskStatus
    due_at: datetime
    attempts: int
    most_attempts: int
    created_at: datetime
    started_at: datetime | None
    worker: str | None
    lease_ends_at: datetime | None
    heard_of_at: datetime | None
    "When its worker was last heard of, where leases have the usual length."
    waits_for: str | None
    error_class: str | None
    error: str | None
    "For editors."
    progress: ProgressView | None = None
    log: list[str] | None = None
    "For editors: the last lines of the attempt that runs."
    result: dict[str, Any] | None = None
    "For editors."


class JobDetail(JobStanding):
    """A job with what it was asked to do, what it made, and the task that is at work for it."""

    input: dict[str, Any] | None
    "For editors."
    made: dict[str, RecordLink]
    "Of each step of the domain's own the run whose result counts."
    look_at: RecordLink | None
    "What somebody is to look at and decide about, while it waits for a review."
    task: TaskView | None


class AttemptView(BaseModel):
    """One try of one worker."""

    number: int
    outcome: Outcome
    worker: str
    started_at: datetime
    ended_at: datetime
    seconds: float
    error_class: str | None
    error: str | None
    "For editors."
    metrics: dict[str, Any]
    cost: float | None
    "What it has cost, where it says so."
    log_tail: list[str] | None
    "For editors: its last lines."


class MessageTold(BaseModel):
    type: str
    state: str | None


class TimelineEntry(BaseModel):
    """One thing that became of a job."""

    ts: datetime
    kind: str
    "change, review, task, attempt or step."
    title: str
    state: str | None
    by: str | None
    why: str | None
    "A reason or an error; for editors."
    moved: dict[str, tuple[str | None, str | None]]
    messages: list[MessageTold]
    task_id: str | None = None
    round: int | None = None
    files: list[str] = []
    metrics: dict[str, Any] = {}
    cost: float | None = None
    attempt: AttemptView | None = None


def job_view(system: OperatedSystem, job: PipelineJob, caller: Caller, title: str | None) -> dict[str, Any]:
    """A job as its caller may see it."""
    own = own_job(system, job)
    return {
        "job_id": job.job_id,
        "title": title,
        "pipeline": job.pipeline,
        "project": _project(job.project_id),
        "status": job.status,
        "step": step_of(job),
        "steps": job.steps or [],
        "position": job.position,
        "round": job.round,
        "created_at": job.created_at,
        "updated_at": job.updated_at,
        "record": None if own is None else link_to(own),
        "code": job.code,
        "error": job.error if sees_all(caller) else None,
        "task_id": job.task_id,
    }


def job_detail(system: OperatedSystem, job: PipelineJob, caller: Caller) -> JobDetail:
    """A job with what it made and who is at work for it; a few reads, however long it has run."""
    task = None if job.task_id is None else caller.store.lookup(Task.at(task_id=job.task_id))
    pipeline = system.pipelines.get(job.pipeline)
    made = {} if pipeline is None else {n: pipeline.records.step_at(key) for n, key in (job.made or {}).items()}
    return JobDetail(
        **job_view(system, job, caller, job_titles(system, caller.store, [job], caller.role).get(job.job_id)),
        input=job.input if sees_all(caller) else None,
        made={name: link_to(ref) for name, ref in made.items()},
        look_at=waiting_run(system, job) if job.status is JobStatus.PAUSED else None,
        task=None if task is None else task_detail(caller.store, task, caller),
    )


def own_job(system: OperatedSystem, job: PipelineJob) -> Ref[Any] | None:
    """The domain's own record of a job; None where it has none, or the domain is not here any more."""
    pipeline = system.pipelines.get(job.pipeline)
    return None if pipeline is None or job.record is None else pipeline.records.job_ref(job)


def waiting_run(system: OperatedSystem, job: PipelineJob) -> RecordLink | None:
    """The domain's own record of what a job waits with, or else of the job; None where it has neither."""
    pipeline = system.pipelines.get(job.pipeline)
    own = own_job(system, job)
    if pipeline is not None and job.step is not None and pipeline.records.has_own_step:
        return link_to(pipeline.records.step_ref(job))
    return None if own is None else link_to(own)


def task_view(task: Task, caller: Caller) -> TaskView:
    """A task as its caller may see it."""
    running = task.status is TaskStatus.RUNNING
    return TaskView(
        task_id=task.task_id,
        name=task.name,
        project=_project(task.project_id),
        status=task.status,
        due_at=task.due_at,
        attempts=task.attempts,
        most_attempts=task.most_attempts,
        created_at=task.created_at,
        started_at=task.started_at,
        worker=task.lease_owner,
        lease_ends_at=task.due_at if running else None,
        heard_of_at=last_heard_of(task) if running else None,
        waits_for=task.waits_for,
        error_class=task.error_class,
        error=task.error if sees_all(caller) else None,
        result=task.result if sees_all(caller) else None,
    )


def task_detail(store: Store, task: Task, caller: Caller) -> TaskView:
    """A task with how far it has come, and what its attempt has logged up to now."""
    view = task_view(task, caller)
    told = store.lookup(Progress.at(task_id=task.task_id))
    log = store.lookup(AttemptLog.at(task_id=task.task_id)) if sees_all(caller) else None
    if told is not None and told.epoch == task.lease_epoch:
        view.progress = ProgressView(fraction=told.fraction, note=told.note, told_at=told.told_at)
    if log is not None and log.epoch == task.lease_epoch and task.status is TaskStatus.RUNNING:
        view.log = log.lines
    return view


def attempt_view(attempt: TaskAttempt, caller: Caller) -> AttemptView:
    """An attempt as its caller may see it."""
    return AttemptView(
        number=attempt.epoch,
        outcome=attempt.outcome,
        worker=attempt.worker,
        started_at=attempt.started_at,
        ended_at=attempt.ended_at,
        seconds=max(0.0, (attempt.ended_at - attempt.started_at).total_seconds()),
        error_class=attempt.error_class,
        error=attempt.error if sees_all(caller) else None,
        metrics=attempt.metrics,
        cost=cost_in(attempt.metrics),
        log_tail=attempt.log_tail if sees_all(caller) else None,
    )


def timeline_entry(entry: HistoryEntry, caller: Caller) -> TimelineEntry:
    """An entry of a timeline as its caller may see it."""
    told = TimelineEntry(
        ts=entry.ts,
        kind=_kind(entry),
        title=entry.action,
        state=entry.state,
        by=entry.by,
        why=entry.why if sees_all(caller) else None,
        moved=dict(entry.moved),
        messages=[MessageTold(type=p.action, state=p.state) for p in entry.parts if p.kind is HistoryKind.MESSAGE],
        task_id=entry.id if entry.kind in (HistoryKind.TASK, HistoryKind.ATTEMPT) else None,
    )
    if isinstance(entry.record, TaskAttempt):
        told.attempt, told.metrics = attempt_view(entry.record, caller), entry.record.metrics
        told.cost = cost_in(entry.record.metrics)
    elif isinstance(entry.record, StepRun):
        told.files, told.metrics, told.round = entry.record.artifacts, entry.record.metrics, entry.record.round
    return told


def cost_in(metrics: dict[str, Any]) -> float | None:
    """What the metrics of an attempt say of its cost."""
    cost = metrics.get(COST)
    return float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _kind(entry: HistoryEntry) -> str:
    """A change that ends a pause is somebody's decision."""
    decided = any(was == JobStatus.PAUSED.value for was, _ in entry.moved.values())
    return "review" if entry.kind is HistoryKind.CHANGE and decided else entry.kind.value


def _project(project_id: str) -> str | None:
    return None if project_id == NO_PROJECT else project_id
