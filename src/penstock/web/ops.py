"""What operators look after: work, dead letters, audit trails, schedules, keys. For administrators.

One who is bound to a project sees the work and the trail of that project, and is refused what belongs to none.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import FastAPI, Query, Request
from pydantic import BaseModel

from penstock.auth.access import Access, again
from penstock.auth.api_keys import ApiKey, list_keys, revoke_key
from penstock.auth.caller import caller_of
from penstock.declare.entity import Entity
from penstock.events.feed_records import FeedLetter
from penstock.events.schedule import Schedule, ScheduleState
from penstock.kernel.audit import SystemAudit
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.outbox import SystemMessage
from penstock.kernel.seals import Seal
from penstock.kernel.store import Store
from penstock.schema.role import Role
from penstock.web.records import RecordRoutes
from penstock.web.route import AdmittedRoute
from penstock.work.dead_letters import cancel, retry
from penstock.work.job import PipelineJob, StepRun
from penstock.work.registry import Tasks
from penstock.work.task import Task, TaskAttempt, TaskStatus

_ADMIN = Access(Role.ADMIN)
_ENTITIES: tuple[type[Entity], ...] = (
    *(Task, TaskAttempt, PipelineJob, StepRun),
    *(SystemMessage, HeldMessage, FeedLetter, SystemAudit, Seal),
)
"What can be looked at; a dead message may be revived or dismissed, and all other moves are made by workers and relays."


class ScheduleNow(BaseModel):
    """A schedule, and how it has been doing."""

    name: str
    cron: str
    overdue: bool
    last_period: datetime | None
    last_success_at: datetime | None
    last_error: str | None
    failures: int


class ScheduleList(BaseModel):
    items: list[ScheduleNow]
    next: None = None


class KeyNow(BaseModel):
    """A key, without its secret."""

    key_id: str
    name: str
    role: Role
    project: str | None
    created_at: datetime
    created_by: str
    revoked_at: datetime | None


class KeyList(BaseModel):
    items: list[KeyNow]
    next: None = None


class TaskNow(BaseModel):
    """A task, and what became of it."""

    task_id: str
    name: str
    status: TaskStatus


def add_ops(app: FastAPI, store: Store, schedules: Sequence[Schedule], tasks: Sequence[Tasks]) -> None:
    """The routes under /api/ops. The store is the whole one: no scope has keys, so their routes look whose each is."""
    for entity in _ENTITIES:
        RecordRoutes(app, entity, prefix="/api/ops", tag="ops").add_all(least=Role.ADMIN)
    _add(
        app, "/api/ops/tasks/retry", "POST", _settling(retry, tasks, "Try a dead letter again."), TaskNow, gives=(404,)
    )
    _add(app, "/api/ops/tasks/cancel", "POST", _settling(cancel, tasks, "Give a task up."), TaskNow, gives=(404,))
    _add(app, "/api/ops/schedules", "GET", _schedules(schedules), ScheduleList)
    _add(app, "/api/ops/keys", "GET", _keys(store), KeyList)
    _add(app, "/api/ops/keys/revoke", "POST", _revoke(store), KeyNow, gives=(404,))


def _add(
    app: FastAPI, path: str, method: str, function: Any, model: type[BaseModel], *, gives: tuple[int, ...] = ()
) -> None:
    function.__access__, function.__gives__ = _ADMIN, gives
    app.router.add_api_route(
        path,
        function,
        methods=[method],
        route_class_override=AdmittedRoute,
        response_model=model,
        tags=["ops"],
        operation_id="_".join(path.split("/")[2:]),
    )


def _settling(settle: Any, tasks: Sequence[Tasks], about: str) -> Any:
    @again(lambda request, told: TaskNow(**told))
    def settled(request: Request, task_id: Annotated[str, MaxLen(200), Query()]) -> TaskNow:
        caller = caller_of(request)
        task = settle(caller.store, tasks, task_id, by=caller.name, once=caller.claim)
        return TaskNow(task_id=task.task_id, name=task.name, status=task.status)

    settled.__doc__ = f"{about} What its domain declares to follow becomes true with it."
    return settled


def _schedules(schedules: Sequence[Schedule]) -> Any:
    def list_schedules(request: Request) -> ScheduleList:
        """Every schedule, and whether it is overdue."""
        store = caller_of(request).store
        states = store.get_many(ScheduleState.at(name=s.name) for s in schedules)
        return ScheduleList(
            items=[_schedule_now(s, state, store.clock.now()) for s, state in zip(schedules, states, strict=True)]
        )

    return list_schedules


def _schedule_now(schedule: Schedule, state: ScheduleState | None, now: datetime) -> ScheduleNow:
    return ScheduleNow(
        name=schedule.name,
        cron=schedule.cron,
        overdue=state is not None and state.is_overdue(now, schedule.overdue),
        last_period=state.last_period if state else None,
        last_success_at=state.last_success_at if state else None,
        last_error=state.last_error if state else None,
        failures=state.failures if state else 0,
    )


def _keys(store: Store) -> Any:
    def keys(request: Request) -> KeyList:
        """Every key, without its secret. To make one, use `penstock keys create`: nobody must keep its token."""
        return KeyList(items=[_key_now(k) for k in list_keys(store, project=caller_of(request).project)])

    return keys


def _revoke(store: Store) -> Any:
    @again(lambda request, told: _key_now(store.get(ApiKey.at(key_id=told["key_id"]))))
    def revoke(request: Request, key_id: Annotated[str, MaxLen(100), Query()]) -> KeyNow:
        """End a key at once."""
        caller = caller_of(request)
        return _key_now(revoke_key(store, key_id, by=caller.name, project=caller.project, once=caller.claim))

    return revoke


def _key_now(key: Any) -> KeyNow:
    return KeyNow(**{name: getattr(key, name) for name in KeyNow.model_fields})
