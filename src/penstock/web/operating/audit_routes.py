"""The audit trails: looked through, exported, and verified."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen
from fastapi import FastAPI, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict
from starlette.responses import Response, StreamingResponse

from penstock.auth.caller import Caller, caller_of
from penstock.errors import InvalidValue, OutOfScope
from penstock.kernel.audit import EVERYWHERE, AuditLine
from penstock.kernel.audit_search import AuditQuestion
from penstock.operations.reads import Range
from penstock.runtime.operated_system import OperatedSystem, VerifyInput
from penstock.schema.role import Role
from penstock.web.forms import json_of
from penstock.web.operating.begun_task import BegunTask, begun
from penstock.web.operating.operator_route import Cursor, Limit, add_route

MOST_EXPORTED = 100_000
_LINES = "application/x-ndjson"
Beginning = Annotated[str | None, MaxLen(500)]


class AuditView(BaseModel):
    """Who did what, when and why."""

    trail: str
    project: str
    ts: datetime
    actor: str
    action: str
    details: dict[str, Any]
    hash: str | None


class AuditPage(BaseModel):
    """Some lines, newest first; a page may be short, and have a `next`, where few lines fit."""

    items: list[AuditView]
    next: str | None
    examined: int
    "How many lines were looked at."


class VerifyOrder(BaseModel):
    """Whose trails are to be verified: a project's, or all."""

    model_config = ConfigDict(extra="forbid")

    project: Annotated[str | None, MaxLen(200)] = None


def add_audit(app: FastAPI, system: OperatedSystem) -> None:
    """The routes of the audit trails."""

    def lines(
        request: Request,
        project: Annotated[str | None, MaxLen(200), Query(description="Whose trail; - for what is of none.")] = None,
        trail: Annotated[str | None, MaxLen(200), Query(description="The kind of line, if not the kernel's.")] = None,
        actor: Annotated[Beginning, Query(description="How the name of whoever did it begins.")] = None,
        action: Annotated[Beginning, Query(description="How the action begins.")] = None,
        record: Annotated[Beginning, Query(description="How the name of the record begins: films.Film(…")] = None,
        since: AwareDatetime | None = None,
        until: AwareDatetime | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> AuditPage:
        """Lines of a trail by who, what, which record and when, newest first; at most 2000 are looked at for a page."""
        caller = caller_of(request)
        kind = _trail(system, trail)
        asked = AuditQuestion(_project(caller, project), actor, action, record, Range(since, until))
        page = asked.page(caller.store, kind, limit=limit, cursor=cursor)
        items = [_view(line) for line in page.records]
        return AuditPage(items=items, next=page.cursor, examined=page.examined or 0)

    def export(
        request: Request,
        project: Annotated[str | None, MaxLen(200), Query(description="Whose trail; - for what is of none.")] = None,
        trail: Annotated[str | None, MaxLen(200), Query(description="The kind of line, if not the kernel's.")] = None,
        actor: Annotated[Beginning, Query(description="How the name of whoever did it begins.")] = None,
        action: Annotated[Beginning, Query(description="How the action begins.")] = None,
        record: Annotated[Beginning, Query(description="How the name of the record begins: films.Film(…")] = None,
        since: AwareDatetime | None = None,
        until: AwareDatetime | None = None,
        most: Annotated[int, Ge(1), Le(MOST_EXPORTED), Query(description="At most so many lines.")] = MOST_EXPORTED,
    ) -> Response:
        """Lines of a trail as JSON Lines, oldest first. The last line says how many there were, and if that was all."""
        caller = caller_of(request)
        kind = _trail(system, trail)
        asked = AuditQuestion(_project(caller, project), actor, action, record, Range(since, until))
        written = _written(asked.lines(caller.store, kind, most=most))
        first = next(written)  # what is wrong with the question is told before the answer has begun
        headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"', "Cache-Control": "no-store"}
        return StreamingResponse(_after(first, written), media_type=_LINES, headers=headers)

    def verify(request: Request, body: VerifyOrder) -> BegunTask:
        """Compute all hashes and seals of trails anew. A task does it: its result says what was found."""
        caller = caller_of(request)
        project = caller.project if body.project is None else body.project
        if caller.project not in (None, project):
            raise OutOfScope(f"the key is bound to {caller.project}, and cannot verify another project's trail")
        with caller.change(why="verify the audit trails") as change:
            task = system.verify_audit.enqueue(
                change, VerifyInput(project=project), project=caller.project, goes_on=True
            )
            return change.answer(begun(task))

    more: dict[str, Any] = {"role": Role.ADMIN, "tag": "ops"}
    text = {200: {"description": "JSON Lines.", "content": {_LINES: {"schema": {"type": "string"}}}}}
    add_route(app, "GET", "/api/ops/audit", lines, model=AuditPage, name="ops_audit", **more)
    add_route(
        app,
        "GET",
        "/api/ops/audit/export",
        export,
        model=None,
        name="ops_audit_export",
        response_class=Response,
        responses=text,
        **more,
    )
    add_route(
        app, "POST", "/api/ops/audit/verify", verify, model=BegunTask, name="ops_audit_verify", status=202, **more
    )


def _project(caller: Caller, asked: str | None) -> str:
    if caller.project is not None and asked not in (None, caller.project):
        raise OutOfScope(f"the key is bound to {caller.project}; another project's trail is not for it")
    return caller.project or asked or EVERYWHERE


def _trail(system: OperatedSystem, label: str | None) -> type[AuditLine]:
    if label is None:
        return system.trails[0]
    known = {trail.__shape__.label: trail for trail in system.trails}
    if label not in known:
        raise InvalidValue(f"there is no trail {label[:100]!r}; there are {', '.join(known)}")
    return known[label]


def _view(line: AuditLine) -> AuditView:
    return AuditView(
        trail=line.__shape__.label,
        project=line.project_id,
        ts=line.ts,
        actor=line.actor,
        action=line.action,
        details=line.details,
        hash=line.hash,
    )


def _written(found: Iterator[AuditLine | str | None]) -> Iterator[bytes]:
    number = 0
    for each in found:
        if isinstance(each, AuditLine):
            number += 1
            yield json_of(_view(each).model_dump()) + b"\n"
        else:
            yield json_of({"end": True, "lines": number, "complete": each is None}) + b"\n"


def _after(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest
