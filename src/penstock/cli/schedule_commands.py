"""Commands for schedules: when each is due, and running one now."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from penstock.cli.installed import installed
from penstock.cli.terminal import AsJson, By, StoreUrl, busy, settings, show, tell
from penstock.errors import Conflict
from penstock.events.schedule import Scheduler, ScheduleState
from penstock.runtime.service import Service

schedules = typer.Typer(no_args_is_help=True, help="What is due by the clock.")


@schedules.command("list")
def list_schedules(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """Every schedule: when it is due next, and how it has been doing."""
    service = Service(settings(store=store), installed())
    try:
        handle, known = service.context.store, service.schedules
        states = handle.get_many(ScheduleState.at(name=s.name) for s in known)
        now = handle.clock.now()
        rows = [
            {
                "name": s.name,
                "cron": s.cron,
                "next": s.next_after(now),
                "last success": state.last_success_at if state else None,
                "failures": state.failures if state else 0,
                "error": state.last_error if state else None,
            }
            for s, state in zip(known, states, strict=True)
        ]
    finally:
        service.stop()
    show(rows, title="Schedules", as_json=as_json, empty="Nothing is due by the clock.")


@schedules.command("run")
def run(
    name: Annotated[str, typer.Argument(help="The name of the schedule.")],
    by: By = "penstock schedules",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Run a schedule now, as it would run by itself: under its lease, for all the time since its last period."""
    service = Service(settings(store=store), installed())
    try:
        with busy(f"Running {name}"):
            done = Scheduler(service.context.store, service.schedules, owner=service.owner).run_now(name, by=by)
    finally:
        service.stop()
    if done.outcome != "done":
        raise Conflict(f"{name}: {done.outcome}, {done.error}")
    if as_json:
        print(json.dumps({"schedule": name, "until": done.period.until.isoformat()}))
        return
    tell(f"{name} is done, up to {done.period.until.isoformat()}.")
