"""Dry runs of retention and of the sweep: what would go, and how much that is."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from pydantic import ConfigDict

from penstock.auth.caller import caller_of
from penstock.runtime.operated_system import DryRunInput, OperatedSystem
from penstock.schema.role import Role
from penstock.web.operating.begun_task import BegunTask, begun
from penstock.web.operating.operator_route import add_route, check_unbound


class DryRunOrder(DryRunInput):
    """What is to be looked at: retention, or the sweep."""

    model_config = ConfigDict(extra="forbid")


def add_dry_runs(app: FastAPI, system: OperatedSystem) -> None:
    """The route of dry runs."""

    def dry_run(request: Request, body: DryRunOrder) -> BegunTask:
        """Find out what retention or the sweep would do now; nothing is changed.

        All of it is counted, with its bytes, and the first records and files are named. That takes long where there is
        much, so a task does it: its result is the answer.
        """
        caller = caller_of(request)
        check_unbound(caller, "retention and the sweep")
        with caller.change(why=f"dry run of {body.what}") as change:
            return change.answer(begun(system.dry_run.enqueue(change, DryRunInput(what=body.what))))

    more: dict[str, Any] = {"role": Role.ADMIN, "tag": "ops"}
    add_route(app, "POST", "/api/ops/dry-runs", dry_run, model=BegunTask, name="ops_dry_run", status=202, **more)
