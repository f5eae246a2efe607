"""Why a job or a task waits, as far as the store and this process can tell: every reason that holds now, each a
sentence, the one that decides first.

All of it takes a fixed number of reads, however much there is to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from penstock.declare.pattern import before, until
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Counted, Store
from penstock.schema.kinds import instant_text
from penstock.work.concurrency import held_slots
from penstock.work.job import ChildCount, JobStatus, PipelineJob
from penstock.work.pipeline import Pipeline
from penstock.work.registry import TaskOf
from penstock.work.review_duty import review_duties
from penstock.work.task import LEASE, Task, TaskStatus
from penstock.work.unserved_queue import live_workers

_AHEAD = 100
"So many tasks that come first are counted."


@dataclass(frozen=True, slots=True)
class WaitingReason:
    """One thing that something waits for."""

    kind: str
    """A word that programs may compare: over, failed, review, children, working, lost, outage, retry, later, slots,
    queue, nobody, quarantine, dead, gone."""
    text: str
    "The same for people."
    since: datetime | None = None
    until: datetime | None = None
    "When something changes by itself, or is looked at again."
    who: str | None = None
    "A worker, a person, or a part of the system."
    task_id: str | None = None
    behind: Counted | None = None
    "How many come first."


class WaitingReasons:
    """Tells what jobs and tasks wait for. The store is the whole one: workers and slots are of no project."""

    def __init__(
        self, store: Store, tasks: Mapping[str, TaskOf[Any]], pipelines: Mapping[str, Pipeline[Any, Any]]
    ) -> None:
        self._store, self._tasks, self._pipelines = store, tasks, pipelines

    # Jobs

    def of_job(self, job: PipelineJob) -> list[WaitingReason]:
        """Why a job does not go on just now, or that it does."""
        match job.status:
            case JobStatus.DONE | JobStatus.CANCELLED:
                return [WaitingReason("over", f"It is {job.status.value} and waits for nothing.", since=job.updated_at)]
            case JobStatus.FAILED:
                return [self._failed(job)]
            case JobStatus.PAUSED:
                return [self._review(job)]
        return [*self._children(job), *self._at_work(job)]

    def _failed(self, job: PipelineJob) -> WaitingReason:
        why = f" ({job.code})" if job.code else ""
        text = f"{step_of(job)} has failed for good{why}; somebody must have it tried again, or cancel it."
        return WaitingReason("failed", text, since=job.updated_at, task_id=job.task_id)

    def _review(self, job: PipelineJob) -> WaitingReason:
        duty = review_duties(self._store, self._pipelines, [job])[job.job_id]
        whom = duty.assignee or "a person, and nobody is assigned"
        by = "" if duty.due_at is None else f", by {_moment(duty.due_at)}"
        text = f"What {step_of(job)} made, run {job.round}, waits for the review of {whom}{by}."
        return WaitingReason("review", text, since=job.updated_at, until=duty.due_at, who=duty.assignee)

    def _children(self, job: PipelineJob) -> Iterator[WaitingReason]:
        at = ChildCount.at(job_id=job.job_id, position=job.position, round=job.round)
        count = self._store.lookup(at)
        if count is not None and not count.joined:
            of = "of those known so far" if count.total is None else f"of {count.total}"
            yield WaitingReason("children", f"{count.ended} {of} parts of {step_of(job)} have ended.")

    def _at_work(self, job: PipelineJob) -> list[WaitingReason]:
        task = None if job.task_id is None else self._store.lookup(Task.at(task_id=job.task_id))
        if task is None:
            return [WaitingReason("gone", f"No task is known that does {step_of(job)}; resume the job from there.")]
        return [] if task.status is TaskStatus.DONE else self.of_task(task)

    # Tasks

    def of_task(self, task: Task) -> list[WaitingReason]:
        """Why a task does not run just now, or who runs it."""
        match task.status:
            case TaskStatus.DONE | TaskStatus.CANCELLED:
                text = f"It is {task.status.value} and waits for nothing."
                return [WaitingReason("over", text, since=task.due_at, task_id=task.task_id)]
            case TaskStatus.FAILED:
                return [self._settle(task, "dead", "is a dead letter; have it tried again, or give it up")]
            case TaskStatus.QUARANTINED:
                return [self._settle(task, "quarantine", "is in quarantine; a person must look at it first")]
            case TaskStatus.RUNNING:
                return [self._running(task)]
        return list(self._waiting(task))

    def _settle(self, task: Task, kind: str, text: str) -> WaitingReason:
        why = f" ({task.error_class})" if task.error_class else ""
        return WaitingReason(kind, f"{task.name}{why} {text}.", since=task.due_at, task_id=task.task_id)

    def _running(self, task: Task) -> WaitingReason:
        who, now = task.lease_owner, self._store.clock.now()
        told: dict[str, Any] = {"since": task.started_at, "until": task.due_at, "who": who, "task_id": task.task_id}
        if task.due_at <= now:
            ended = f"{task.name}: the lease of {who} ended at {_moment(task.due_at)}"
            return WaitingReason("lost", f"{ended}; unless it is heard of, the task is put back in the queue.", **told)
        turn = f"attempt {task.attempts} of {task.most_attempts}"
        return WaitingReason("working", f"{who} works on {task.name}, {turn}.", **told)

    def _waiting(self, task: Task) -> Iterator[WaitingReason]:
        now = self._store.clock.now()
        if task.waits_for is not None:
            yield self._outage(task, task.waits_for)
        elif task.due_at > now:
            yield self._put_off(task)
        if (nobody := self._nobody(task)) is not None:
            yield nobody
        if task.due_at <= now:
            yield from self._full(task)
            yield self._behind(task, now)

    def _outage(self, task: Task, part: str) -> WaitingReason:
        known = " It is away as this process knows it." if part in outages_of(self._store).away else ""
        text = f"{task.name} waits for the {part}, which was away when it was last tried.{known}"
        return WaitingReason("outage", text, since=task.waits_since, until=task.due_at, who=part, task_id=task.task_id)

    def _put_off(self, task: Task) -> WaitingReason:
        until = _moment(task.due_at)
        told: dict[str, Any] = {"until": task.due_at, "task_id": task.task_id}
        if task.error_class is None:
            return WaitingReason("later", f"{task.name} is put off until {until}.", since=task.created_at, **told)
        failed = f"{task.attempts} of {task.most_attempts} attempts have failed, the last with {task.error_class}"
        return WaitingReason("retry", f"{task.name}: {failed}; it is tried again at {until}.", **told)

    def _nobody(self, task: Task) -> WaitingReason | None:
        """That no worker which is heard of takes such tasks."""
        if any(task.name in worker.takes for worker in live_workers(self._store)):
            return None
        known = "" if task.name in self._tasks else " This process knows no such task, either."
        text = f"No worker is heard of that takes {task.name}; does one run?{known}"
        return WaitingReason("nobody", text, task_id=task.task_id)

    def _full(self, task: Task) -> Iterator[WaitingReason]:
        declared = self._tasks.get(task.name)
        limit = None if declared is None else declared.concurrency
        if limit is None:
            return
        held = held_slots(self._store, task.name, task.project_id, limit)
        if len(held) >= limit:
            text = f"All {limit} concurrency slots of {task.name} in project {task.project_id} are taken."
            yield WaitingReason("slots", text, until=min(held.values()), who=next(iter(held)), task_id=task.task_id)

    def _behind(self, task: Task, now: datetime) -> WaitingReason:
        """How many of its queue are due before it, and in all."""
        earlier = Task.of_project(
            project_id=task.project_id, status=TaskStatus.WAITING, name=task.name, due_at=before(task.due_at)
        )
        own = self._store.count(earlier, up_to=_AHEAD)
        everything = self._store.count(Task.by_status(status=TaskStatus.WAITING, due_at=until(now)), up_to=_AHEAD)
        text = (
            f"{task.name} has been due since {_moment(task.due_at)}: {own} of its queue come first, and {everything} "
            f"tasks are due in all; projects are served in turn."
        )
        return WaitingReason("queue", text, since=task.due_at, task_id=task.task_id, behind=own)


def step_of(job: PipelineJob) -> str:
    """The name of the step that a job is at."""
    names = job.steps or []
    return names[job.position] if job.position < len(names) else f"step {job.position}"


def last_heard_of(task: Task) -> datetime:
    """When a running task's lease was taken or last renewed, where workers have leases of the usual length."""
    return task.due_at - LEASE


def _moment(moment: datetime) -> str:
    return instant_text(moment, 0)
