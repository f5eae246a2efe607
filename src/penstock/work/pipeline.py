"""Jobs of several steps: each a task, in their declared order, with pauses in which a person decides.

What a step made is kept with it. A decision is bound to the very run that was reviewed: a step that ran again meanwhile
must be looked at again. Rejecting goes back; a job can be resumed from any step, and cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel

from penstock.declare.pattern import between
from penstock.errors import Conflict, DeclarationError, InvalidValue, NotFound
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare
from penstock.operations.reads import Ref
from penstock.ports.ids import sortable_text
from penstock.work.context import TaskContext
from penstock.work.dead_letters import end_cancelled
from penstock.work.job import Job, JobStatus, StepResult, StepRun, StepStatus
from penstock.work.registry import MINUTES, USUAL, Retry, TaskOf, Tasks
from penstock.work.task import NO_PROJECT, Outcome, Task, TaskStatus, error_text

StepBody = Callable[[TaskContext, Job, StepRun], StepResult]

_RACES = 5
"How often one may meet a worker that ends the very step one is about to cancel."


class StepInput(BaseModel):
    """Which run of which step a task is."""

    job_id: str
    position: int
    round: int

    @property
    def job(self) -> Ref[Job]:
        return Job.at(job_id=self.job_id)

    @property
    def step(self) -> Ref[StepRun]:
        return StepRun.at(job_id=self.job_id, position=self.position, round=self.round)


@dataclass(frozen=True)
class PipelineStep:
    """One stage of a pipeline; with ``review`` a person decides before the next one begins."""

    name: str
    body: StepBody
    review: bool = False
    retry: Retry = USUAL
    limit: timedelta = MINUTES
    concurrency: int | None = None
    classes: Mapping[type[BaseException], Outcome] | None = None


class Pipeline:
    """Steps in order. Its tasks are registered with the domain's others."""

    def __init__(self, tasks: Tasks, name: str, steps: Sequence[PipelineStep]) -> None:
        if not steps or len({s.name for s in steps}) != len(steps):
            raise DeclarationError(f"pipeline {name} needs at least one step, each with a name of its own")
        self.name, self.steps = f"{tasks.domain}.{name}", tuple(steps)
        self._tasks = [self._register(tasks, f"{name}.{step.name}", step) for step in self.steps]

    # What people do

    def start(self, change: Change, input: dict[str, Any], *, project: str | None = None) -> Job:
        """Begin a job with its first step, in a change."""
        now = change.store.ticks.next()
        job = Job(
            job_id=sortable_text(now),
            pipeline=self.name,
            project_id=project or change.store.project or NO_PROJECT,
            input=input,
            created_at=now,
            updated_at=now,
        )
        self._announce(change, job)
        return change.create(job)

    def decide(
        self,
        store: Store,
        job_id: str,
        *,
        approve: bool,
        round: int,
        by: str,
        note: str | None = None,
        back_to: str | None = None,
    ) -> Job:
        """Approve what a step made, or reject it, which runs a step anew: that one, or an earlier one.

        ``round`` is the run that was looked at; Conflict when another has taken its place since.
        """
        with store.change(by=by, why=note) as change:
            job = self._job(change, job_id)
            if job.status is not JobStatus.PAUSED or job.round != round:
                raise Conflict(
                    f"job {job_id} is {job.status.value} at {self.steps[job.position].name}, run {job.round}; "
                    f"the decision is about run {round}. Look at it again"
                )
            run = self._run(job)
            step = change.get(run.step)
            now = store.clock.now()
            if approve:
                change.save(step.approve(by=by, at=now, note=note))
                self._go_on(change, job, now)
            else:
                change.save(step.reject(by=by, at=now, note=note))
                target = job.position if back_to is None else self._position(back_to)
                if target > job.position:
                    raise InvalidValue(f"{back_to} comes after {step.name}; rejecting goes back")
                self._rewind(change, job, target, now)
            self._save(change, job, run)
        return job

    def resume(self, store: Store, job_id: str, *, from_step: str, by: str) -> Job:
        """Run a job that does not run again from one of its steps; what the earlier ones made still counts."""
        with store.change(by=by, why=f"resume from {from_step}") as change:
            job = self._job(change, job_id)
            position, run = self._position(from_step), self._run(job)
            if job.status is JobStatus.RUNNING:
                raise InvalidValue(f"job {job_id} is running; cancel it first")
            if job.status is JobStatus.PAUSED:
                self._cancel_step(change, run)
            if position > job.position:
                raise InvalidValue(f"job {job_id} has come to {self.steps[job.position].name}; resume from there")
            self._give_up_task(change, job.task_id)
            self._rewind(change, job, position, store.clock.now())
            self._save(change, job, run)
        return job

    def cancel(self, store: Store, job_id: str, *, by: str, why: str | None = None) -> Job:
        """Stop a job; a step that is running changes nothing any more."""
        for _ in range(_RACES - 1):
            try:
                return self._cancel(store, job_id, by=by, why=why)
            except Conflict:
                continue  # a step has just begun or ended
        return self._cancel(store, job_id, by=by, why=why)

    def _cancel(self, store: Store, job_id: str, *, by: str, why: str | None) -> Job:
        with store.change(by=by, why=why) as change:
            job = self._job(change, job_id)
            run, task_id, had_failed = self._run(job), job.task_id, job.status is JobStatus.FAILED
            job.cancel(at=store.clock.now())
            change.emit("job.cancelled", job)
            self._save(change, job, run)
            if not had_failed:
                self._cancel_step(change, run)
            self._give_up_task(change, task_id)
        return job

    def made_by(self, store: Store, job_id: str, step: str) -> StepRun:
        """The last run of a step that counts, with what it made; NotFound if there is none."""
        position = self._position(step)
        runs = list(store.find(StepRun.of_job(job_id=job_id, position=between(position, position))))
        for run in reversed(runs):
            if run.status in (StepStatus.DONE, StepStatus.APPROVED):
                return run
        raise NotFound(f"job {job_id} has no run of {step} that counts")

    # What happens by itself

    def _register(self, tasks: Tasks, name: str, step: PipelineStep) -> TaskOf[StepInput]:
        def run(work: TaskContext, input: StepInput) -> dict[str, Any] | None:
            made = step.body(work, work.store.get(input.job), work.store.get(input.step))
            with work.finish() as change:
                self._end_step(change, input, made, review=step.review)
            return None

        task = tasks.task(name, retry=step.retry, limit=step.limit, concurrency=step.concurrency, classes=step.classes)(
            run
        )
        task.failed(self._fail_step)
        task.revived(self._revive_step)
        return task

    def _end_step(self, change: Change, input: StepInput, made: StepResult, *, review: bool) -> None:
        now = change.store.clock.now()
        job, step = change.get(input.job), change.get(input.step)
        if review:
            change.save(step.pause(made=made))
            job.pause(at=now)
            change.emit("job.paused", job, step=step.name, round=job.round)
        else:
            change.save(step.finish(made=made))
            self._go_on(change, job, now)
        self._save(change, job, input)
        if made.change is not None:
            made.change(change)

    def _fail_step(self, change: Change, input: StepInput, error: BaseException) -> None:
        now = change.store.clock.now()
        job, step = change.get(input.job), change.get(input.step)
        change.save(step.fail(error=error_text(error)))
        change.emit("job.failed", job, step=step.name)
        self._save(change, job.fail(error=error_text(error), at=now), input)

    def _revive_step(self, change: Change, input: StepInput) -> None:
        """The step's task is tried again, and with it the job goes on."""
        job, step = change.get(input.job), change.get(input.step)
        if step.status is StepStatus.FAILED:  # of one in quarantine neither the step nor the job knows
            change.save(step.revive())
            self._save(change, job.revive(at=change.store.clock.now()), input)

    def _go_on(self, change: Change, job: Job, now: datetime) -> None:
        """The next step, or the end."""
        if job.position + 1 == len(self.steps):
            job.finish(at=now)
            change.emit("job.done", job)
        else:
            job.go_on(at=now)
            self._announce(change, job)

    def _rewind(self, change: Change, job: Job, position: int, now: datetime) -> None:
        job.rewind(position=position, at=now)
        self._announce(change, job)

    def _cancel_step(self, change: Change, run: StepInput) -> None:
        step = change.get(run.step)
        if step.status not in (StepStatus.RUNNING, StepStatus.PAUSED):
            raise Conflict(f"job {run.job_id}: {step.name} has just ended")
        change.save(step.cancel())

    def _give_up_task(self, change: Change, task_id: str | None) -> None:
        """Let nobody run a step's task any more, nor find it among the dead letters."""
        task = change.store.lookup(Task.at(task_id=task_id)) if task_id else None
        if task is not None and task.status not in (TaskStatus.DONE, TaskStatus.CANCELLED):
            end_cancelled(change, task)

    def _announce(self, change: Change, job: Job) -> None:
        """The task and the record of the job's present step."""
        job.task_id = self._tasks[job.position].enqueue(change, self._run(job), project=job.project_id)
        change.create(
            StepRun(
                job_id=job.job_id,
                position=job.position,
                round=job.round,
                name=self.steps[job.position].name,
                project_id=job.project_id,
                created_at=change.store.ticks.next(),
            )
        )

    def _save(self, change: Change, job: Job, run: StepInput) -> None:
        """Save a job on the condition that it is still at this run of this step."""
        change.save(job, when=Compare("position", "=", run.position) & Compare("round", "=", run.round))

    def _run(self, job: Job) -> StepInput:
        """The run that a job is at."""
        return StepInput(job_id=job.job_id, position=job.position, round=job.round)

    def _job(self, change: Change, job_id: str) -> Job:
        job = change.get(Job.at(job_id=job_id))
        if job.pipeline != self.name:
            raise InvalidValue(f"job {job_id} is of the pipeline {job.pipeline}, not {self.name}")
        return job

    def _position(self, name: str) -> int:
        for position, step in enumerate(self.steps):
            if step.name == name:
                return position
        raise InvalidValue(f"{self.name} has no step {name!r}; it has {', '.join(s.name for s in self.steps)}")
