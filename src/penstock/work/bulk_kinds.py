"""What can be settled in bulk: for each kind of record how all that match are found, shown, and dealt with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.pattern import until
from penstock.errors import InvalidValue, Unavailable, told
from penstock.events.feed import Feed
from penstock.events.feed_records import FeedLetter, LetterStatus
from penstock.events.relay import dismiss, revive
from penstock.kernel.merged_page import merged_page
from penstock.kernel.outbox import Message, MessageStatus
from penstock.kernel.store import Listing, Store
from penstock.operations.conditions import Compare, Condition, OneOf
from penstock.operations.reads import Query
from penstock.schema.kinds import instant_text
from penstock.work.bulk_question import BulkQuestion
from penstock.work.dead_letters import Settled, cancel, retry, retry_some
from penstock.work.job import JobStatus, PipelineJob
from penstock.work.job_list import beginning_with
from penstock.work.pipeline import Pipeline
from penstock.work.registry import Tasks
from penstock.work.task import Task, TaskStatus


@dataclass(frozen=True)
class Settling:
    """Everything in a running system that can be settled in bulk."""

    tasks: Sequence[Tasks] = ()
    outboxes: Sequence[type[Message]] = ()
    feeds: Callable[[], Mapping[str, Feed]] = dict
    pipelines: Mapping[str, Pipeline[Any, Any]] = field(default_factory=dict)

    def page(
        self, store: Store, asked: BulkQuestion, as_of: datetime, *, limit: int, cursor: str | None = None
    ) -> Listing[Any]:
        """Some of the records that match, oldest first, and the cursor of the next; a page may be short."""
        order = _ORDERS[asked.what]
        return merged_page(
            store, self.queries(asked, as_of), order=order, newest_first=False, limit=limit, cursor=cursor
        )

    def queries(self, asked: BulkQuestion, as_of: datetime) -> list[Query[Any]]:
        """The patterns that find all that match; what came after a moment is not meant."""
        match asked.what:
            case "tasks":
                return [_tasks(asked, as_of)]
            case "messages":
                found = [_messages(outbox, asked, as_of) for outbox in self.outboxes]
            case "feed_letters":
                found = [FeedLetter.by_status(status=LetterStatus.DEAD, ts=until(as_of))]
                found = [_where(q, handler=asked.name) for q in found]
            case "jobs":
                found = [_jobs(asked, as_of, self.pipelines)]
        return found

    def settle(self, store: Store, asked: BulkQuestion, records: Sequence[Any], *, by: str, why: str | None) -> Settled:
        """Do with records what is asked for; what was settled meanwhile is none of ours, and no refusal."""
        stands = _status(asked)
        fresh = [r for r in store.get_many([r.ref for r in records]) if r is not None and r.status is stands]
        if asked.what == "tasks" and asked.action == "retry":
            refused = retry_some(store, self.tasks, fresh, by=by, why=why)
        else:
            refused = _each(fresh, self._settling(store, asked, by=by, why=why))
        return Settled([name for name in map(id_of, fresh) if name not in refused], refused)

    def _settling(self, store: Store, asked: BulkQuestion, *, by: str, why: str | None) -> Callable[[Any], object]:
        match asked.what, asked.action:
            case "tasks", _:
                return lambda task: cancel(store, self.tasks, task.task_id, by=by, why=why)
            case "messages", "replay":
                return lambda message: revive(store, message, by=by)
            case "messages", _:
                return lambda message: dismiss(store, message, by=by)
            case "feed_letters", _:
                feeds = self.feeds()
                return lambda letter: _feed(feeds, letter).retry(letter, by=by)
            case _, "retry":
                return lambda job: retry(store, self.tasks, job.task_id or "", by=by, why=why)
        return lambda job: _pipeline(self.pipelines, job).cancel(store, job, by=by, why=why)


def shown(record: Any) -> dict[str, Any]:
    """A record as a preview shows it."""
    match record:
        case Task():
            more = {"name": record.name, "error_class": record.error_class, "error": record.error}
        case Message():
            more = {"name": record.type, "error_class": None, "error": record.error}
        case FeedLetter():
            more = {"name": record.handler, "error_class": None, "error": record.error}
        case _:
            more = {"name": record.pipeline, "error_class": record.code, "error": record.error}
    since = _ORDER_OF[type(record)](record) if type(record) in _ORDER_OF else record.ts
    project = getattr(record, "project_id", None)
    return {"id": id_of(record), "project": project, "status": record.status.value, "since": since, **more}


def id_of(record: Any) -> str:
    """What a record is called in a result."""
    match record:
        case Task():
            return record.task_id
        case Message():
            return record.event_id
        case FeedLetter():
            return f"{record.name}@{instant_text(record.ts, 6)}"
    return str(record.job_id)


def _each(records: Sequence[Entity], settle: Callable[[Any], object]) -> dict[str, str]:
    refused: dict[str, str] = {}
    for record in records:
        try:
            settle(record)
        except Unavailable:
            raise
        except Exception as error:  # whatever a domain's handler may meet: it keeps no other from it
            refused[id_of(record)] = told(error)
    return refused


def _tasks(asked: BulkQuestion, as_of: datetime) -> Query[Any]:
    status = TaskStatus(asked.status or "")
    over = status in (TaskStatus.FAILED, TaskStatus.QUARANTINED)
    if asked.project is not None and asked.name is not None:
        bounds = {"due_at": until(as_of)} if over else {}
        query = Task.of_project(project_id=asked.project, status=status, name=asked.name, **bounds)
    elif asked.project is not None:
        # By their names, and not by when they ended: one that has failed again since is left out here.
        query = Task.of_project(project_id=asked.project, status=status)
        query = query.where(Compare("due_at", "<=", as_of)) if over else query
    else:
        query = _where(Task.by_status(status=status, **({"due_at": until(as_of)} if over else {})), name=asked.name)
    query = query if over else query.where(Compare("created_at", "<=", as_of))
    return _where(query, error_class=asked.error_class)


def _messages(outbox: Any, asked: BulkQuestion, as_of: datetime) -> Query[Any]:
    query: Query[Any] = outbox.by_status(status=MessageStatus.DEAD, ts=until(as_of))
    return _where(query, type=asked.name, project_id=asked.project)


def _jobs(asked: BulkQuestion, as_of: datetime, pipelines: Iterable[str]) -> Query[Any]:
    status = JobStatus(asked.status or "")
    if asked.project is not None:
        found = PipelineJob.of_project(project_id=asked.project, status=status, updated_at=until(as_of))
    else:
        found = PipelineJob.by_status(status=status, updated_at=until(as_of))
    if asked.name is None:
        return found
    return found.where(OneOf("pipeline", tuple(beginning_with(pipelines, asked.name)) or (asked.name,)))


def _where(query: Query[Any], **equal: str | None) -> Query[Any]:
    for name, value in equal.items():
        if value is not None:
            condition: Condition = Compare(name, "=", value)
            query = query.where(condition)
    return query


def _status(asked: BulkQuestion) -> Any:
    kinds: dict[str, Any] = {"tasks": TaskStatus, "messages": MessageStatus, "feed_letters": LetterStatus}
    return kinds.get(asked.what, JobStatus)(asked.status)


def _feed(feeds: Mapping[str, Feed], letter: FeedLetter) -> Feed:
    if letter.name not in feeds:
        raise InvalidValue(f"no feed {letter.name} is known here; does its domain still have one?")
    return feeds[letter.name]


def _pipeline(pipelines: Mapping[str, Pipeline[Any, Any]], job: PipelineJob) -> Pipeline[Any, Any]:
    if job.pipeline not in pipelines:
        raise InvalidValue(f"no pipeline {job.pipeline} is known here; does its domain still have one?")
    return pipelines[job.pipeline]


_ORDER_OF: dict[type, Callable[[Any], datetime]] = {
    Task: lambda task: task.due_at,
    PipelineJob: lambda job: job.updated_at,
    FeedLetter: lambda letter: letter.ts,
}
_ORDERS: dict[str, Callable[[Any], Any]] = {
    "tasks": _ORDER_OF[Task],
    "jobs": _ORDER_OF[PipelineJob],
    "feed_letters": _ORDER_OF[FeedLetter],
    "messages": lambda message: message.ts,
}
