"""Jobs and tasks: found, looked at, and asked why they wait."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import FastAPI, Query, Request
from pydantic import BaseModel

from penstock.auth.caller import Caller, caller_of
from penstock.errors import InvalidValue, NotFound
from penstock.kernel.store import Store
from penstock.operations.reads import Ref
from penstock.runtime.job_titles import job_titles
from penstock.runtime.operated_system import OperatedSystem
from penstock.schema.role import Role
from penstock.web.operating.job_views import (
    AttemptView,
    JobDetail,
    JobStanding,
    TaskView,
    TimelineEntry,
    attempt_view,
    job_detail,
    job_view,
    own_job,
    task_detail,
    timeline_entry,
)
from penstock.web.operating.operator_route import Cursor, Id, Limit, Name, add_route
from penstock.work.job import JobStatus, PipelineJob
from penstock.work.job_list import JobQuestion, beginning_with
from penstock.work.job_timeline import job_timeline
from penstock.work.registry import by_name
from penstock.work.task import Task, TaskAttempt
from penstock.work.waiting_reason import WaitingReason, WaitingReasons


class JobStandings(BaseModel):
    """Some jobs, the one that has changed last first; pass `next` back as `cursor`, until it is null."""

    items: list[JobStanding]
    next: str | None


class TimelinePage(BaseModel):
    """Some entries in order; pass `next` back as `cursor` for those behind them, until it is null."""

    items: list[TimelineEntry]
    next: str | None


class AttemptPage(BaseModel):
    """Some attempts, the last first; pass `next` back as `cursor`, until it is null."""

    items: list[AttemptView]
    next: str | None


class WhyView(BaseModel):
    """Every reason that holds now, the one that decides first."""

    reasons: list[WaitingReason]


def add_jobs(app: FastAPI, store: Store, system: OperatedSystem) -> None:
    """The routes of jobs and tasks. The store is the whole one: workers and slots are of no project."""
    reasons = WaitingReasons(store, by_name(system.tasks), system.pipelines)

    def jobs(
        request: Request,
        status: Annotated[JobStatus | None, Query(description="Only those in this state.")] = None,
        name: Annotated[str | None, MaxLen(200), Query(description="How the name of the pipeline begins.")] = None,
        project: Name = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> JobStandings:
        """Jobs of several steps, the one that has changed last first."""
        caller = caller_of(request)
        pipelines = None if name is None else beginning_with(system.pipelines, name)
        asked = JobQuestion(_project(caller, project), () if status is None else (status,), pipelines)
        page = asked.page(caller.store, limit=limit, cursor=cursor)
        titles = job_titles(system, caller.store, page.records, caller.role)
        items = [JobStanding(**job_view(system, job, caller, titles.get(job.job_id))) for job in page.records]
        return JobStandings(items=items, next=page.cursor)

    def job(request: Request, job_id: Id) -> JobDetail:
        """One job: where it is, what it made, and the task that is at work for it."""
        caller = caller_of(request)
        return job_detail(system, caller.store.get(PipelineJob.at(job_id=job_id)), caller)

    def timeline(
        request: Request, job_id: Id, oldest_first: bool = False, limit: Limit = 50, cursor: Cursor = None
    ) -> TimelinePage:
        """A job's changes, decisions, steps, tasks and attempts, its messages and what it made, in one order."""
        caller = caller_of(request)
        found = caller.store.get(PipelineJob.at(job_id=job_id))
        own: Ref[Any] | None = own_job(system, found)
        page = job_timeline(caller.store, found, own, oldest_first=oldest_first, limit=limit, cursor=cursor)
        return TimelinePage(items=[timeline_entry(e, caller) for e in page.entries], next=page.cursor)

    def why_job(request: Request, job_id: Id) -> WhyView:
        """Why a job does not go on just now, or who is at work for it."""
        return WhyView(reasons=reasons.of_job(caller_of(request).store.get(PipelineJob.at(job_id=job_id))))

    def task(request: Request, task_id: Id) -> TaskView:
        """One task: who has it, how far it has come, and what it has logged up to now."""
        caller = caller_of(request)
        return task_detail(caller.store, caller.store.get(Task.at(task_id=task_id)), caller)

    def why_task(request: Request, task_id: Id) -> WhyView:
        """Why a task does not run just now, or who runs it."""
        return WhyView(reasons=reasons.of_task(caller_of(request).store.get(Task.at(task_id=task_id))))

    def attempts(request: Request, task_id: Id, limit: Limit = 20, cursor: Cursor = None) -> AttemptPage:
        """The attempts at a task, the last first, with the last lines of their logs and what they cost."""
        caller = caller_of(request)
        if cursor is None and caller.store.lookup(Task.at(task_id=task_id)) is None:
            raise NotFound(f"there is no task {task_id!r}; one that is over is forgotten after 30 days")
        query = TaskAttempt.of_task(task_id=task_id).reversed()
        page = caller.store.page(query, limit=limit, cursor=cursor)
        return AttemptPage(items=[attempt_view(a, caller) for a in page.records], next=page.cursor)

    more: dict[str, Any] = {"role": Role.VIEWER, "tag": "work"}
    add_route(app, "GET", "/api/work/jobs", jobs, model=JobStandings, name="work_jobs", **more)
    more["gives"] = (404,)
    for path, function, model, name in (
        ("/api/work/jobs/{job_id}", job, JobDetail, "work_job"),
        ("/api/work/jobs/{job_id}/timeline", timeline, TimelinePage, "work_job_timeline"),
        ("/api/work/jobs/{job_id}/why", why_job, WhyView, "work_job_why"),
        ("/api/work/tasks/{task_id}", task, TaskView, "work_task"),
        ("/api/work/tasks/{task_id}/why", why_task, WhyView, "work_task_why"),
        ("/api/work/tasks/{task_id}/attempts", attempts, AttemptPage, "work_task_attempts"),
    ):
        add_route(app, "GET", path, function, model=model, name=name, **more)


def _project(caller: Caller, asked: str | None) -> str | None:
    """The project that is meant; whoever is bound to one cannot mean another."""
    if caller.project is not None and asked not in (None, caller.project):
        raise InvalidValue(f"the key is bound to {caller.project}, and cannot ask for another project's jobs")
    return caller.project or asked
