"""Schedules: how each has been doing, when it is due next, and running one now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict

from penstock.auth.caller import caller_of
from penstock.events.schedule import Schedule, ScheduleState
from penstock.runtime.operated_system import OperatedSystem, ScheduleInput, known_schedule
from penstock.schema.role import Role
from penstock.web.operating.begun_task import BegunTask, begun
from penstock.web.operating.operator_route import add_route, check_unbound


class ScheduleNow(BaseModel):
    """A schedule, how it has been doing, and when it is due next."""

    name: str
    cron: str
    overdue: bool
    next_at: datetime | None
    last_period: datetime | None
    last_success_at: datetime | None
    last_error: str | None
    failures: int
    retry_at: datetime | None


class ScheduleList(BaseModel):
    items: list[ScheduleNow]
    next: None = None


class RunNow(BaseModel):
    """Which schedule is to run."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, MaxLen(200)]


def add_schedules(app: FastAPI, system: OperatedSystem) -> None:
    """The routes of schedules."""

    def list_schedules(request: Request) -> ScheduleList:
        """Every schedule, whether it is overdue, and when it is due next."""
        return ScheduleList(items=standings_of(caller_of(request).store, system.schedules))

    def run(request: Request, body: RunNow) -> BegunTask:
        """Run a schedule now, as it would run by itself: under its lease, for all the time since its last period."""
        caller = caller_of(request)
        check_unbound(caller, "schedules")
        schedule = known_schedule(system.schedules, body.name)
        with caller.change(why=f"run {schedule.name} now") as change:
            order = ScheduleInput(schedule=schedule.name, by=caller.name)
            return change.answer(begun(system.run_schedule.enqueue(change, order)))

    more: dict[str, Any] = {"role": Role.ADMIN, "tag": "ops"}
    add_route(app, "GET", "/api/ops/schedules", list_schedules, model=ScheduleList, name="ops_schedules", **more)
    add_route(app, "POST", "/api/ops/schedules/run", run, model=BegunTask, name="ops_schedules_run", status=202, **more)


def standings_of(store: Any, schedules: Sequence[Schedule]) -> list[ScheduleNow]:
    """How schedules stand."""
    states = store.get_many(ScheduleState.at(name=s.name) for s in schedules)
    now = store.clock.now()
    return [_schedule_now(s, state, now) for s, state in zip(schedules, states, strict=True)]


def _schedule_now(schedule: Schedule, state: ScheduleState | None, now: datetime) -> ScheduleNow:
    return ScheduleNow(
        name=schedule.name,
        cron=schedule.cron,
        overdue=state is not None and state.is_overdue(now, schedule.overdue),
        next_at=schedule.next_after(now),
        last_period=state.last_period if state else None,
        last_success_at=state.last_success_at if state else None,
        last_error=state.last_error if state else None,
        failures=state.failures if state else 0,
        retry_at=state.retry_at if state else None,
    )
