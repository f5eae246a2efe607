"""Bulk actions on all that match: looked at first, then carried out by a task, whose result can be read."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict

from penstock.auth.caller import Caller, caller_of
from penstock.errors import OutOfScope
from penstock.kernel.store import Counted, Store
from penstock.runtime.operated_system import OperatedSystem
from penstock.schema.role import Role
from penstock.web.operating.operator_route import Cursor, Id, Limit, add_route
from penstock.work.bulk_kinds import shown
from penstock.work.bulk_question import BulkQuestion, BulkToken, opened_token
from penstock.work.bulk_run import BulkRun, BulkStatus, begin_bulk, bulk_id_of

COUNTED, _EXAMINED, _SAMPLE = 1000, 10_000, 20
"So many are counted, so many looked at for that, and so many shown."


class BulkSample(BaseModel):
    """One of the records that match."""

    id: str
    name: str
    project: str | None
    status: str
    since: datetime
    error_class: str | None
    error: str | None


class BulkPreview(BaseModel):
    """What would be done to how many: send the token to have it done."""

    question: BulkQuestion
    count: Counted
    sample: list[BulkSample]
    as_of: datetime
    "What comes later is not meant."
    token: str


class BulkOrder(BaseModel):
    """A preview's token, and why."""

    model_config = ConfigDict(extra="forbid")

    token: Annotated[str, MaxLen(8000)]
    why: Annotated[str | None, MaxLen(500)] = None


class BulkView(BaseModel):
    """What was asked for, and how far it has come."""

    bulk_id: str
    question: BulkQuestion
    as_of: datetime
    status: BulkStatus
    expected: Counted
    done: int
    refused: int
    refusals: dict[str, str]
    "Why, by the record's id; of the first hundred."
    asked_by: str
    why: str | None
    asked_at: datetime
    ended_at: datetime | None
    task_id: str


class BulkPage(BaseModel):
    """What was asked for, newest first; pass `next` back as `cursor`, until it is null."""

    items: list[BulkView]
    next: str | None


def add_bulk(app: FastAPI, store: Store, system: OperatedSystem) -> None:
    """The routes of bulk actions. The store is the whole one, and signs tokens."""

    def preview(request: Request, question: BulkQuestion) -> BulkPreview:
        """How many records match, up to 1000, some of them, and a token for having it done. Nothing is changed."""
        caller = caller_of(request)
        asked, now = _scoped(question.checked(), caller), store.clock.now()
        queries = system.settling.queries(asked, now)
        count = _counted([caller.store.count(q, up_to=COUNTED, examining=_EXAMINED) for q in queries])
        found = system.settling.page(caller.store, asked, now, limit=_SAMPLE).records
        token = BulkToken(question=asked, as_of=now, expected=count.number, more=count.more, by=caller.name)
        sample = [BulkSample(**shown(record)) for record in found]
        return BulkPreview(question=asked, count=count, sample=sample, as_of=now, token=token.signed(store))

    def begin(request: Request, order: BulkOrder) -> BulkView:
        """Have done what a preview has shown, to all that match and were there then; a token is carried out once."""
        caller, bulk_id = caller_of(request), bulk_id_of(order.token)
        token = opened_token(store, order.token, by=caller.name, now=store.clock.now())
        with caller.change(why=order.why) as change:
            known = caller.store.lookup(BulkRun.at(bulk_id=bulk_id))
            return change.answer(_view(known or begin_bulk(change, system.bulk, token, bulk_id, why=order.why)))

    def runs(request: Request, limit: Limit = 20, cursor: Cursor = None) -> BulkPage:
        """What was asked for in bulk, newest first."""
        page = caller_of(request).store.page(BulkRun.newest(), limit=limit, cursor=cursor)
        return BulkPage(items=[_view(run) for run in page.records], next=page.cursor)

    def one(request: Request, bulk_id: Id) -> BulkView:
        """How far something has come that was asked for in bulk."""
        return _view(caller_of(request).store.get(BulkRun.at(bulk_id=bulk_id)))

    more: dict[str, Any] = {"role": Role.ADMIN, "tag": "ops"}
    path = "/api/ops/bulk"
    add_route(app, "POST", f"{path}/preview", preview, model=BulkPreview, name="ops_bulk_preview", **more)
    add_route(app, "POST", path, begin, model=BulkView, name="ops_bulk_begin", status=202, **more)
    add_route(app, "GET", path, runs, model=BulkPage, name="ops_bulk_list", **more)
    add_route(app, "GET", f"{path}/{{bulk_id}}", one, model=BulkView, name="ops_bulk", gives=(404,), **more)


def _scoped(asked: BulkQuestion, caller: Caller) -> BulkQuestion:
    """The question within what its caller may change."""
    if caller.project is None:
        return asked
    if asked.what == "feed_letters" or asked.project not in (None, caller.project):
        raise OutOfScope(f"the key is bound to {caller.project}; these are of another project, or of none")
    return asked.model_copy(update={"project": caller.project})


def _counted(counts: list[Counted]) -> Counted:
    number = sum(c.number for c in counts)
    return Counted(min(number, COUNTED), number > COUNTED or any(c.more for c in counts))


def _view(run: BulkRun) -> BulkView:
    return BulkView(
        bulk_id=run.bulk_id,
        question=BulkQuestion.model_validate(run.question),
        as_of=run.as_of,
        status=run.status,
        expected=Counted(run.expected, run.more),
        done=run.done,
        refused=run.refused,
        refusals=run.refusals,
        asked_by=run.asked_by,
        why=run.why,
        asked_at=run.asked_at,
        ended_at=run.ended_at,
        task_id=run.task_id,
    )
