"""A bulk run: what a person wants done with all records that match, carried out by a task, page by page.

Each page is settled and then noted with the place behind it, under the task's lease. A worker that dies in between
leaves a page whose records are settled but not counted; the next one finds them settled, and goes on. So nothing is
done twice, and what is counted is never more than what was done.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.move import move
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds, UtcMicros
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.reads import ANYTHING, Range
from penstock.operations.updates import Set
from penstock.schema.documents import kept
from penstock.schema.shape import Rights
from penstock.work.bulk_kinds import Settling
from penstock.work.bulk_question import BulkQuestion, BulkToken, shown_question
from penstock.work.context import TaskContext
from penstock.work.registry import Retry, TaskOf, Tasks
from penstock.work.task import BY_STATUS, NO_PROJECT, WORK, forgotten_at

PAGE = 100
"So many records are settled before that is noted."
MOST_TOLD = 100
"So many refusals are told by name; all are counted."
_LONGEST_REFUSAL = 300


class BulkStatus(StrEnum):
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    "Its task has failed for good, or was cancelled; what was settled until then is."


class BulkRun(Entity, table=WORK, relation="bulk_runs", lifetimes=(Expires("ttl"),)):
    """What a person has asked for in bulk, and how far it has come."""

    __rights__ = Rights(remove=False)
    __moved_by_work__ = True

    bulk_id: str
    project_id: str = NO_PROJECT
    question: dict[str, Any]
    as_of: UtcMicros
    expected: Count
    "How many there were, as far as they were counted."
    more: bool = False
    "There were more than that."
    status: BulkStatus = BulkStatus.RUNNING
    asked_by: str
    why: str | None = None
    asked_at: UtcMicros
    task_id: str
    done: Count = 0
    refused: Count = 0
    refusals: dict[str, str] = Field(default_factory=dict)
    "Why, by the record's id; the first of them."
    place: str | None = None
    "Behind what was settled."
    ended_at: UtcMicros | None = None
    ttl: EpochSeconds

    @key("BULK#{bulk_id}", "BULK")
    def at(self, *, bulk_id: str) -> None: ...

    in_time = IndexKey(BY_STATUS, "BULK_RUNS", "{asked_at}")

    @pattern(in_time, backwards=True)
    def newest(self, *, asked_at: Range[datetime] = ANYTHING) -> None:
        """What was asked for, newest first."""

    @move(BulkStatus.RUNNING, to=BulkStatus.DONE)
    def finish(self, *, at: datetime) -> None:
        """All that matched was looked at."""
        self.ended_at, self.place = at, None

    @move(BulkStatus.RUNNING, to=BulkStatus.STOPPED)
    def stop(self, *, at: datetime) -> None:
        """It goes no further, unless its task is tried again."""
        self.ended_at = at

    @move(BulkStatus.STOPPED, to=BulkStatus.RUNNING)
    def go_on(self) -> None:
        """Its task is tried again."""
        self.ended_at = None


class BulkInput(BaseModel):
    bulk_id: str


def bulk_id_of(token: str) -> str:
    """The run that a token begins: the same one, however often it is sent."""
    return hashlib.sha256(token.encode()).hexdigest()[:32]


def begin_bulk(change: Change, task: TaskOf[BulkInput], token: BulkToken, bulk_id: str, *, why: str | None) -> BulkRun:
    """Have a question carried out, in a change."""
    now, project = change.store.clock.now(), token.question.scope or NO_PROJECT
    task_id = task.enqueue(change, BulkInput(bulk_id=bulk_id), project=project, key=bulk_id, goes_on=True)
    return change.create(
        BulkRun(
            bulk_id=bulk_id,
            project_id=project,
            question=shown_question(token.question),
            as_of=token.as_of,
            expected=token.expected,
            more=token.more,
            asked_by=token.by,
            why=why,
            asked_at=now,
            task_id=task_id,
            ttl=forgotten_at(now),
        )
    )


def declare_bulk(tasks: Tasks, settling: Settling) -> TaskOf[BulkInput]:
    """The task that carries bulk runs out."""

    @tasks.task("bulk", retry=Retry(attempts=20), limit=timedelta(hours=12))
    def bulk(work: TaskContext, input: BulkInput) -> None:
        run = work.store.get(BulkRun.at(bulk_id=input.bulk_id))
        asked = BulkQuestion.model_validate(run.question)
        store = work.store if asked.scope is None else work.store.scoped(asked.scope)
        over = False
        while not over:
            over = _settle_page(work, store, settling, run, asked)
        with work.finish({"done": run.done, "refused": run.refused}) as change:
            ended = change.get(run.ref)
            change.save(ended.finish(at=work.store.clock.now()))

    @bulk.failed
    def stop(change: Change, input: BulkInput, error: BaseException) -> None:
        run = change.get(BulkRun.at(bulk_id=input.bulk_id))
        change.save(run.stop(at=change.store.clock.now()))

    @bulk.revived
    def go_on(change: Change, input: BulkInput) -> None:
        change.save(change.get(BulkRun.at(bulk_id=input.bulk_id)).go_on())

    return bulk


def _settle_page(work: TaskContext, store: Store, settling: Settling, run: BulkRun, asked: BulkQuestion) -> bool:
    """Settle the next records and note it; is nothing left?"""
    work.check()
    page = settling.page(store, asked, run.as_of, limit=PAGE, cursor=run.place)
    settled = settling.settle(store, asked, page.records, by=run.asked_by, why=run.why)
    run.done += len(settled.done)
    run.refused += len(settled.refused)
    for name, why in settled.refused.items():
        if len(run.refusals) < MOST_TOLD:
            run.refusals[name] = kept(why, _LONGEST_REFUSAL)
    run.place = page.cursor
    noted = {"done": run.done, "refused": run.refused, "refusals": run.refusals, "place": run.place}
    with work.change() as change:
        change.patch(run.ref, *(Set(name, value) for name, value in noted.items() if value is not None))
    known = max(run.expected, 1)
    work.progress(min((run.done + run.refused) / known, 0.99), f"{run.done} done, {run.refused} refused")
    return page.cursor is None
