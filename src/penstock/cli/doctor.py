"""The doctor: what is configured, what can be reached, what is overdue."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import islice
from typing import Any

import typer

from penstock.cli.running import without_password
from penstock.cli.terminal import AsJson, ObjectsUrl, StoreUrl, console, settings, show
from penstock.domains import INSTALLED
from penstock.errors import PenstockError
from penstock.outbox import MessageStatus
from penstock.schedule import ScheduleState
from penstock.service import Service
from penstock.settings import SETTINGS
from penstock.work.task import Task, TaskStatus

_EXTRAS = {
    "postgres": "psycopg",
    "dynamodb": "pycurl",
    "s3": "boto3",
    "celery": "celery",
    "kafka": "confluent_kafka",
    "web": "fastapi",
}
_WITH_PASSWORD = ("broker", "store", "sink")
_MANY = 1000


def doctor(store: StoreUrl = None, objects: ObjectsUrl = None, as_json: AsJson = False) -> None:
    """Say what is configured, whether it can be reached, and what is overdue; end with 1 if something is wrong."""
    chosen = settings(store=store, objects=objects)
    service = Service(chosen, INSTALLED)
    checks = [
        _check("store", lambda: _store(service)),
        _check("tables", lambda: _tables(service)),
        _check("files", lambda: _files(service)),
        _check("messages", lambda: _messages(service)),
        _check("tasks", lambda: _tasks(service)),
        _check("schedules", lambda: _schedules(service)),
        *({"what": f"extra {extra}", "state": _installed(extra, package)} for extra, package in _EXTRAS.items()),
    ]
    for row in checks:
        row.setdefault("ok", True)
    if as_json:
        show(checks, title="", as_json=True)
    else:
        rows = [{"setting": s.variable, "value": _value(s.name, chosen), "what": s.help} for s in SETTINGS]
        show(rows, title="Settings", as_json=False)
        show([{"what": c["what"], "state": c["state"]} for c in checks], title="Checks", as_json=False)
    service.stop()
    if not all(c["ok"] for c in checks):
        if not as_json:
            console().print("Something is wrong; see above.")
        raise typer.Exit(1)


def _check(what: str, look: Callable[[], str]) -> dict[str, Any]:
    try:
        told = look()
    except PenstockError as error:
        return {"what": what, "state": f"wrong: {error}", "ok": False}
    return {"what": what, "state": told, "ok": not told.startswith("wrong")}


def _store(service: Service) -> str:
    service.around.store.ensure(dry_run=True)
    return "reachable"


def _tables(service: Service) -> str:
    missing = [s for s in service.around.store.ensure(*service.domains, dry_run=True) if not s.is_advice]
    return f"wrong: {len(missing)} steps are missing; run: penstock tables apply" if missing else "complete"


def _files(service: Service) -> str:
    service.around.objects.list("", limit=1)
    return "reachable"


def _messages(service: Service) -> str:
    store = service.around.store
    told = []
    for outbox in service.outboxes():
        by_status = outbox.by_status  # type: ignore[attr-defined]
        pending = sum(1 for _ in islice(store.find(by_status(status=MessageStatus.PENDING)), _MANY))
        dead = sum(1 for _ in islice(store.find(by_status(status=MessageStatus.DEAD)), _MANY))
        told.append(f"{outbox.__shape__.label}: {pending} pending, {dead} dead")
    return "; ".join(told)


def _tasks(service: Service) -> str:
    store = service.around.store
    counts = {s: sum(1 for _ in islice(store.find(Task.by_status(status=s)), _MANY)) for s in TaskStatus}
    told = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
    return told or "none"


def _schedules(service: Service) -> str:
    store = service.around.store
    now = store.clock.now()
    told = []
    overdue = False
    for schedule in service.schedules:
        state = store.lookup(ScheduleState.at(name=schedule.name))
        late = state is not None and state.is_overdue(now, schedule.overdue)
        overdue = overdue or late
        last = "never run" if state is None or state.last_success_at is None else f"last done {state.last_success_at}"
        told.append(f"{schedule.name} ({schedule.cron} UTC): {last}{', OVERDUE' if late else ''}")
    return ("wrong: " if overdue else "") + ("; ".join(told) or "none")


def _installed(extra: str, package: str) -> str:
    return "installed" if find_spec(package) else f"not installed; for it: pip install 'penstock[{extra}]'"


def _value(name: str, chosen: Any) -> str:
    value = getattr(chosen, name)
    if value is None or value == ():
        return ""
    if name in ("secret", "webhook_secret"):
        return "(set)"
    if name in _WITH_PASSWORD:
        return without_password(value)
    return str(value)
