"""Commands for work: what needs a person, jobs, why they wait, queues and workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from penstock.cli.installed import installed
from penstock.cli.terminal import AsJson, StoreUrl, settings, show
from penstock.runtime.inbox import Inbox, Person
from penstock.runtime.inbox_sources import inbox_sources
from penstock.runtime.service import Service
from penstock.schema.role import Role
from penstock.work.job import JobStatus, PipelineJob
from penstock.work.job_list import JobQuestion, beginning_with
from penstock.work.queue_standing import queues, workers
from penstock.work.registry import by_name
from penstock.work.task import Task
from penstock.work.waiting_reason import WaitingReasons, step_of

work = typer.Typer(no_args_is_help=True, help="What needs a person, what is running, and why it waits.")

Project = Annotated[str | None, typer.Option("--project", help="Only this one; else all.")]
_Limit = Annotated[int, typer.Option("--limit", min=1, max=200, help="At most so many.")]


@work.command("inbox")
def inbox(
    name: Annotated[str, typer.Option("--as", help="Whose inbox, by the name that others assign to.")] = "local",
    project: Project = None,
    limit: _Limit = 20,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """What needs a person, with the right to decide everything."""
    with _service(store) as service:
        handle = service.context.store
        seen = Person(handle if project is None else handle.scoped(project), name, Role.ADMIN, project)
        groups = list(Inbox(lambda: inbox_sources(service.operated)).groups(seen, limit=limit))
    rows = [
        {
            "group": f"{group.title} ({group.count})",
            "what": item.title,
            "since": item.since,
            "assignee": item.assignee,
            "due": item.due_at,
            "detail": item.detail,
        }
        for group in groups
        for item in group.items
    ]
    show(rows, title="Needs you", as_json=as_json, empty="Nothing needs you.")


@work.command("jobs")
def jobs(
    name: Annotated[str | None, typer.Option("--name", help="How the name of the pipeline begins.")] = None,
    status: Annotated[JobStatus | None, typer.Option("--status", help="Only those in this state.")] = None,
    project: Project = None,
    limit: _Limit = 50,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Jobs of several steps, the one that has changed last first."""
    with _service(store) as service:
        pipelines = None if name is None else beginning_with(service.operated.pipelines, name)
        asked = JobQuestion(project, () if status is None else (status,), pipelines)
        found = asked.page(service.context.store, limit=limit).records
    rows = [
        {
            "id": job.job_id,
            "pipeline": job.pipeline,
            "project": job.project_id,
            "status": job.status.value,
            "step": step_of(job),
            "round": job.round,
            "changed": job.updated_at,
        }
        for job in found
    ]
    show(rows, title="Jobs", as_json=as_json, empty="There are no such jobs.")


@work.command("why")
def why(
    name: Annotated[str, typer.Argument(metavar="ID", help="The id of a job or of a task.")],
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Why a job or a task waits, or who is at work for it."""
    with _service(store) as service:
        handle = service.context.store
        reasons = WaitingReasons(handle, by_name(service.tasks), service.operated.pipelines)
        job = handle.lookup(PipelineJob.at(job_id=name))
        found = reasons.of_job(job) if job is not None else reasons.of_task(handle.get(Task.at(task_id=name)))
    rows: list[dict[str, Any]] = [
        {"why": r.kind, "text": r.text, "since": r.since, "until": r.until, "who": r.who} for r in found
    ]
    show(rows, title=name, as_json=as_json)


@work.command("queues")
def list_queues(limit: _Limit = 50, store: StoreUrl = None, as_json: AsJson = False) -> None:
    """The queues that have something, or had some lately."""
    with _service(store) as service:
        found = queues(service.context.store, limit=limit).records
    rows = [
        {
            "project": q.project_id,
            "tasks": q.name,
            "due": str(q.due),
            "running": str(q.running),
            "dead": str(q.dead),
            "oldest due": q.oldest_due_at,
        }
        for q in found
    ]
    show(rows, title="Queues", as_json=as_json, empty="There is nothing to do.")


@work.command("workers")
def list_workers(limit: _Limit = 50, store: StoreUrl = None, as_json: AsJson = False) -> None:
    """The processes that run tasks."""
    with _service(store) as service:
        found = workers(service.context.store, limit=limit).records
    rows = [
        {
            "worker": w.worker,
            "since": w.since,
            "heard of": w.seen_at,
            "busy": w.busy,
            "state": "silent" if w.silent else "ending" if w.ending else "at work",
        }
        for w in found
    ]
    show(rows, title="Workers", as_json=as_json, empty="No worker is heard of.")


@contextmanager
def _service(store: str | None) -> Iterator[Service]:
    service = Service(settings(store=store), installed())
    try:
        yield service
    finally:
        service.stop()
