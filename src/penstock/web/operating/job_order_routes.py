"""One job, ordered to stop, or to go on from one of its steps."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict

from penstock.auth.caller import caller_of
from penstock.errors import InvalidValue
from penstock.runtime.operated_system import OperatedSystem
from penstock.schema.role import Role
from penstock.web.operating.operator_route import add_route
from penstock.work.job import JobStatus, PipelineJob
from penstock.work.pipeline import Pipeline


class JobOrder(BaseModel):
    """Which job is meant, and why."""

    model_config = ConfigDict(extra="forbid")

    job_id: Annotated[str, MaxLen(2000)]
    why: Annotated[str | None, MaxLen(500)] = None


class ResumeOrder(BaseModel):
    """Which job is to go on, and from which of its steps."""

    model_config = ConfigDict(extra="forbid")

    job_id: Annotated[str, MaxLen(2000)]
    from_step: Annotated[str, MaxLen(200)]


class JobOrdered(BaseModel):
    """A job, and what became of it."""

    job_id: str
    status: JobStatus


def add_job_orders(app: FastAPI, system: OperatedSystem) -> None:
    """The routes by which an administrator stops a job, or has it go on."""

    def cancel(request: Request, body: JobOrder) -> JobOrdered:
        """Stop a job wherever it is; a step that is running changes nothing any more."""
        caller = caller_of(request)

        def attempt() -> JobOrdered:
            with caller.change(why=body.why) as change:
                job = change.store.get(PipelineJob.at(job_id=body.job_id))
                _pipeline(system, job).cancel(change, job, by=caller.name, why=body.why)
                return change.answer(JobOrdered(job_id=job.job_id, status=JobStatus.CANCELLED))

        return caller.store.retried(attempt)  # a step may just have begun or ended

    def resume(request: Request, body: ResumeOrder) -> JobOrdered:
        """Run a job that does not run again from one of its steps; what the earlier ones made still counts."""
        caller = caller_of(request)
        with caller.change(why=f"resume from {body.from_step}") as change:
            job = change.store.get(PipelineJob.at(job_id=body.job_id))
            _pipeline(system, job).resume(change, job, from_step=body.from_step, by=caller.name)
            return change.answer(JobOrdered(job_id=job.job_id, status=JobStatus.RUNNING))

    more: dict[str, Any] = {"role": Role.ADMIN, "model": JobOrdered, "tag": "ops", "gives": (404, 409)}
    add_route(app, "POST", "/api/ops/jobs/cancel", cancel, name="ops_jobs_cancel", **more)
    add_route(app, "POST", "/api/ops/jobs/resume", resume, name="ops_jobs_resume", **more)


def _pipeline(system: OperatedSystem, job: PipelineJob) -> Pipeline[Any, Any]:
    if job.pipeline not in system.pipelines:
        raise InvalidValue(f"no pipeline {job.pipeline} is known here; does its domain still have one?")
    return system.pipelines[job.pipeline]
