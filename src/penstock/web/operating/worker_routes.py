"""Queues, workers, and who has what under a lease."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI, Request
from pydantic import BaseModel

from penstock.auth.caller import caller_of
from penstock.kernel.lease import NamedLease
from penstock.kernel.store import Store
from penstock.runtime.operated_system import OperatedSystem
from penstock.schema.role import Role
from penstock.web.operating.job_views import TaskView, task_view
from penstock.web.operating.operator_route import Cursor, Limit, add_route, check_unbound
from penstock.work.queue_standing import QueueStanding, WorkerStanding, queues, running, workers


class QueuePage(BaseModel):
    """Some queues; pass `next` back as `cursor`, until it is null."""

    items: list[QueueStanding]
    next: str | None


class WorkerPage(BaseModel):
    """Some workers by their names; pass `next` back as `cursor`, until it is null."""

    items: list[WorkerStanding]
    next: str | None


class LeasePage(BaseModel):
    """Some tasks that run, the one whose lease ends first, first; pass `next` back as `cursor`, until it is null."""

    items: list[TaskView]
    next: str | None


class DutyView(BaseModel):
    """Something that one process at a time does, and which."""

    name: str
    owner: str | None
    until: datetime | None


class DutyList(BaseModel):
    items: list[DutyView]
    next: None = None


def add_workers(app: FastAPI, store: Store, system: OperatedSystem) -> None:
    """The routes of queues and workers. The store is the whole one: workers and duties are of no project."""

    def list_queues(request: Request, limit: Limit = 20, cursor: Cursor = None) -> QueuePage:
        """The queues that have something or had some lately: the tasks of one name that a project has."""
        page = queues(caller_of(request).store, limit=limit, cursor=cursor)
        return QueuePage(items=page.records, next=page.cursor)

    def list_workers(request: Request, limit: Limit = 50, cursor: Cursor = None) -> WorkerPage:
        """The processes that run tasks: what each takes, how much it has, and when it was last heard of."""
        check_unbound(caller_of(request), "workers")
        page = workers(store, limit=limit, cursor=cursor)
        return WorkerPage(items=page.records, next=page.cursor)

    def list_leases(request: Request, limit: Limit = 50, cursor: Cursor = None) -> LeasePage:
        """Who works on what, since when, and until when the lease lasts unless it is renewed."""
        caller = caller_of(request)
        page = running(caller.store, limit=limit, cursor=cursor)
        return LeasePage(items=[task_view(t, caller) for t in page.records], next=page.cursor)

    def list_duties(request: Request) -> DutyList:
        """What one process at a time does, such as a schedule or the sweep, and who does so now."""
        check_unbound(caller_of(request), "duties")
        names = [*(f"schedule:{s.name}" for s in system.schedules), "sweep:objects", "past-jobs"]
        found = store.get_many([NamedLease.at(name=name) for name in names])
        return DutyList(items=[_duty(name, lease) for name, lease in zip(names, found, strict=True)])

    more: dict[str, Any] = {"tag": "work"}
    add_route(
        app, "GET", "/api/work/queues", list_queues, role=Role.EDITOR, model=QueuePage, name="work_queues", **more
    )
    more["role"] = Role.ADMIN
    add_route(app, "GET", "/api/work/leases", list_leases, model=LeasePage, name="work_leases", **more)
    add_route(app, "GET", "/api/work/workers", list_workers, model=WorkerPage, name="work_workers", **more)
    add_route(app, "GET", "/api/work/duties", list_duties, model=DutyList, name="work_duties", **more)


def _duty(name: str, lease: NamedLease | None) -> DutyView:
    held = lease is not None and lease.lease_owner is not None and lease.lease_expires_at is not None
    if not held:
        return DutyView(name=name, owner=None, until=None)
    assert lease is not None
    until = datetime.fromtimestamp(lease.lease_expires_at or 0, UTC)
    return DutyView(name=name, owner=lease.lease_owner, until=until)
