"""All routes under /api/work and /api/ops: for those who work with a system, and for those who operate it.

One who is bound to a project sees the work and the trail of that project, and is refused what belongs to none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import FastAPI, Query, Request
from pydantic import BaseModel

from penstock.auth.access import again
from penstock.auth.caller import caller_of
from penstock.declare.entity import Entity
from penstock.events.feed_records import FeedLetter
from penstock.files.upload import Upload
from penstock.kernel.audit import SystemAudit
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.outbox import SystemMessage
from penstock.kernel.seals import Seal
from penstock.kernel.store import Store
from penstock.runtime.operated_system import OperatedSystem
from penstock.schema.role import Role
from penstock.web.metrics import Metrics
from penstock.web.operating.audit_routes import add_audit
from penstock.web.operating.bulk_routes import add_bulk
from penstock.web.operating.dry_run_routes import add_dry_runs
from penstock.web.operating.health_routes import add_health
from penstock.web.operating.inbox_routes import add_inbox
from penstock.web.operating.job_order_routes import add_job_orders
from penstock.web.operating.job_routes import add_jobs
from penstock.web.operating.key_routes import add_keys
from penstock.web.operating.metric_series import MetricSeries
from penstock.web.operating.operator_route import add_route
from penstock.web.operating.schedule_routes import add_schedules
from penstock.web.operating.worker_routes import add_workers
from penstock.web.records import RecordRoutes
from penstock.work.dead_letters import cancel, retry
from penstock.work.job import PipelineJob, StepRun
from penstock.work.task import Task, TaskAttempt, TaskStatus

OPERATED: tuple[type[Entity], ...] = (
    *(Task, TaskAttempt, PipelineJob, StepRun),
    *(SystemMessage, HeldMessage, FeedLetter, SystemAudit, Seal, Upload),
)
"What can be looked at; a dead message may be revived or dismissed, and all other moves are made by workers and relays."


class TaskNow(BaseModel):
    """A task, and what became of it."""

    task_id: str
    name: str
    status: TaskStatus


def add_operating(app: FastAPI, store: Store, system: OperatedSystem, metrics: Metrics, series: MetricSeries) -> None:
    """Add all of them. The store is the whole one."""
    add_inbox(app, system)
    add_jobs(app, store, system)
    add_workers(app, store, system)
    _add_settling(app, system)
    add_job_orders(app, system)
    add_bulk(app, store, system)
    add_schedules(app, system)
    add_dry_runs(app, system)
    add_audit(app, system)
    add_keys(app, store)
    add_health(app, store, system, metrics, series)
    for entity in OPERATED:
        RecordRoutes(app, entity, prefix="/api/ops", tag="ops").add_all(least=Role.ADMIN)


def _add_settling(app: FastAPI, system: OperatedSystem) -> None:
    for name, settle, about in (("retry", retry, "Try a dead letter again."), ("cancel", cancel, "Give a task up.")):
        add_route(
            app,
            "POST",
            f"/api/ops/tasks/{name}",
            _settling(settle, system, about),
            role=Role.ADMIN,
            model=TaskNow,
            name=f"ops_tasks_{name}",
            tag="ops",
            gives=(404,),
        )


def _settling(settle: Callable[..., Task], system: OperatedSystem, about: str) -> Any:
    @again(lambda request, told: TaskNow(**told))
    def settled(request: Request, task_id: Annotated[str, MaxLen(200), Query()]) -> TaskNow:
        caller = caller_of(request)
        task = settle(caller.store, system.tasks, task_id, by=caller.name, once=caller.claim)
        return TaskNow(task_id=task.task_id, name=task.name, status=task.status)

    settled.__doc__ = f"{about} What its domain declares to follow becomes true with it."
    return settled
